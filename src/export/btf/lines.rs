//! The lines that are not events: the header, and those that the imported file had between its events. Splits
//! the output into jobs, in order. Not for the events themselves (see `events`).

use super::events::{Job, Piece, Style};
use super::gaps::{Counting, Gaps};
use super::original::Original;
use super::texts::expressible;
use super::{BtfCounts, BtfOptions, Facts};
use crate::btf::date;
use crate::btf::spec::{Parameter, Version};
use crate::error::Result;
use crate::formats::btf::Keyword;
use crate::render::PORTION;
use crate::schema::columns::btf_event;
use crate::schema::result::{self, Integers};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::mem::take;

/// All events of the export, with the lines between them.
pub(super) struct Lines<'a, I> {
    events: I,
    /// The rest of a batch, from this row on.
    rest: Option<(RecordBatch, usize)>,
    ended: bool,
    /// The lines of the current job.
    lines: Vec<u8>,
    style: &'a Style,
    /// The unit of the output.
    unit: TimeScale,
    /// The unit of the imported file, as far as it has been read.
    file_unit: TimeScale,
    /// The recording was imported from BTF.
    imported: bool,
    options: BtfOptions,
    original: Original,
    gaps: Gaps,
    /// The version of the header, unless the lines of an imported file are kept.
    version: Option<Version>,
    /// The parameter with the unit has been written.
    unit_written: bool,
    /// See [`Lines::own_header`].
    own_header_written: bool,
    /// Lines that the version cannot express.
    inexpressible: u64,
    /// Times in comments of our own that had to be rounded.
    rounded: u64,
}

impl<'a, I: Iterator<Item = Result<RecordBatch>>> Lines<'a, I> {
    /// Starts with the lines before the first event of an imported file, or with a header of our own.
    pub fn new(
        style: &'a Style,
        options: BtfOptions,
        facts: &Facts,
        (original, gaps): (Original, Gaps),
        events: I,
    ) -> Self {
        let imported = facts.imported;
        // An imported file counts in nanoseconds until it states a unit.
        let own = if imported { TimeScale::Ns } else { style.scale };
        let mut lines = Self {
            events,
            rest: None,
            ended: false,
            lines: Vec::new(),
            style,
            unit: options.time_scale.unwrap_or(own),
            file_unit: own,
            imported,
            options,
            original,
            gaps,
            version: options.version,
            unit_written: false,
            own_header_written: false,
            inexpressible: 0,
            rounded: 0,
        };
        lines.header(facts);
        lines
    }

    pub fn done(&self) -> BtfCounts {
        BtfCounts {
            shifted_by: self.style.zero.unsigned_abs(),
            inexpressible: self.inexpressible,
            left_out: self.original.rejected,
            rounded: self.rounded,
            ..BtfCounts::default()
        }
    }

    fn header(&mut self, facts: &Facts) {
        let Some(version) = self.version else { return };
        let mut text = format!("#version {version}\n#creator btfdb {}\n", env!("CARGO_PKG_VERSION"));
        if let Some(created) = &facts.created {
            text += &match date::to_iso(created) {
                Some(iso) => format!("#creationDate {iso}\n"),
                None => format!("# created: {}\n", expressible(created, true)),
            };
        }
        if self.options.time_scale.is_none() && self.imported {
            self.unit = self.original.unit.unwrap_or(self.unit);
        }
        text += &self.unit_line();
        if let Some(creator) = facts.creator.as_deref().filter(|_| self.imported) {
            text += &format!("# from a trace of {}\n", expressible(creator, true));
        }
        self.lines.extend_from_slice(text.as_bytes());
        self.own_header();
    }

    /// The parameters of our own: the shift of all times, the numbers of names. They must follow `#version`
    /// (BTF 2.2.1 §2.2.1), in an imported file that keeps its own header too.
    fn own_header(&mut self) {
        if self.own_header_written {
            return;
        }
        self.own_header_written = true;
        let mut text = String::new();
        let Style { scale, zero, numbers, .. } = self.style;
        if *zero < 0 {
            let by = zero.unsigned_abs();
            text += &format!(
                "# times shifted by {by} {scale}: the recording begins at {zero}, and BTF has no times below 0\n"
            );
        }
        if let Some(numbers) = numbers {
            text += &numbers.header(self.version.or(self.original.version));
        }
        for comment in &self.style.comments {
            text += &format!("# {}\n", expressible(comment, true));
        }
        self.lines.extend_from_slice(text.as_bytes());
    }

    fn unit_line(&mut self) -> String {
        self.unit_written = true;
        let new = self.version.is_some_and(|v| v > Version::V2_1_5);
        format!("#{} {}\n", if new { "timescale" } else { "timeScale" }, self.unit)
    }

    /// The events of a batch from a row on, with the lines before each.
    fn job(&mut self, batch: RecordBatch, mut row: usize) -> Result<Job> {
        let numbers: Integers = result::column(&batch, btf_event::SEQ)?;
        let numbers = numbers.values();
        let times: Integers = result::column(&batch, btf_event::TIME)?;
        let (mut pieces, mut size) = (Vec::new(), 0);
        while let Some(first) = numbers.get(row).filter(|_| size < PORTION) {
            let complete = self.before(Some(*first))?;
            let counting = self.counting();
            self.rounded += self.gaps.write_before(times.value(row), counting, &mut self.lines);
            let mut end = match self.original.next_seq() {
                _ if !complete => row,
                None => numbers.len(),
                Some(next) => {
                    let rows = numbers.iter().skip(row).take_while(|number| **number < next);
                    row + rows.count()
                }
            };
            if let Some(begin) = self.gaps.next_begin() {
                let before = times.values().iter().take(end).skip(row).take_while(|time| **time <= begin);
                end = row + before.count();
            }
            size += self.lines.len();
            pieces.push(Piece { lines: take(&mut self.lines), rows: row..end, unit: self.unit });
            row = end;
        }
        self.rest = (row < numbers.len()).then(|| (batch.clone(), row));
        Ok(Job { batch: Some(batch), pieces })
    }

    /// The lines before the event `seq`, or all that are left; false if they do not fit into one job.
    fn before(&mut self, seq: Option<i64>) -> Result<bool> {
        while let Some(line) = self.original.before(seq)? {
            if line.parameter {
                self.parameter(&line.text);
            } else {
                let again = self.counting().again(&line.text, self.file_unit);
                self.line(&again.unwrap_or(line.text));
            }
            if self.lines.len() >= PORTION {
                return Ok(false);
            }
        }
        if !self.unit_written && self.options.time_scale.is_some() {
            let line = self.unit_line();
            self.lines.extend_from_slice(line.as_bytes());
        }
        self.own_header();
        Ok(true)
    }

    /// A parameter or table row of the imported file.
    fn parameter(&mut self, text: &str) {
        let known = Keyword::split(text);
        if let Some((Keyword::TimeScale, value)) = known {
            self.file_unit = TimeScale::parse(&value.to_ascii_lowercase()).unwrap_or(self.file_unit);
            if self.options.time_scale.is_some() || self.version.is_some() {
                if !self.unit_written {
                    let line = self.unit_line();
                    self.lines.extend_from_slice(line.as_bytes());
                }
                return;
            }
            self.unit = self.file_unit;
        }
        let Some(version) = self.version else { return self.line(text) };
        // The header is already that of this version; tables are written only in numeric mode, and generated.
        let row = text.trim().starts_with("#-");
        if known.is_some() || row {
            return;
        }
        let word = text.trim().trim_start_matches('#').split_whitespace().next().unwrap_or_default();
        if Parameter::find_any_case(word).is_some_and(|p| p.versions.has(version)) {
            self.line(text);
        } else {
            self.inexpressible += 1;
            let comment = format!("# {}", text.trim().trim_start_matches('#'));
            self.line(&comment);
        }
    }

    /// How times in comments count from here on.
    fn counting(&self) -> Counting {
        Counting { scale: self.style.scale, zero: self.style.zero, unit: self.unit }
    }

    fn line(&mut self, text: &str) {
        self.lines.extend_from_slice(text.as_bytes());
        self.lines.push(b'\n');
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Lines<'_, I> {
    type Item = Result<Job>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.rest.take().map(Ok).or_else(|| Some(self.events.next()?.map(|batch| (batch, 0))));
        Some(match next {
            Some(rows) => rows.and_then(|(batch, row)| self.job(batch, row)),
            None => self.before(None).map(|complete| {
                self.ended = complete;
                if complete {
                    let counting = self.counting();
                    self.rounded += self.gaps.write_before(i64::MAX, counting, &mut self.lines);
                }
                let piece = Piece { lines: take(&mut self.lines), rows: 0..0, unit: self.unit };
                Job { batch: None, pieces: vec![piece] }
            }),
        })
    }
}
