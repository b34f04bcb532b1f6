//! The lines that are no events: the header, and what the imported file had in between. Makes the jobs of
//! which the output is made, in order. Not for the events themselves (see `events`).

use super::events::{Job, Piece, Style};
use super::original::Original;
use super::texts::expressible;
use super::{BtfCounts, BtfOptions, Facts};
use crate::btf::spec::{Parameter, Version};
use crate::error::Result;
use crate::formats::btf::Keyword;
use crate::render::PORTION;
use crate::schema::columns::btf_event;
use crate::schema::result::{self, Integers};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::mem::take;

/// Events of all the export, with what stands between them.
pub(super) struct Lines<'a, I> {
    events: I,
    /// A batch that the events before this row are done with.
    rest: Option<(RecordBatch, usize)>,
    ended: bool,
    /// Lines in the making.
    lines: Vec<u8>,
    style: &'a Style,
    /// The unit of the times that are written.
    unit: TimeScale,
    /// The recording was imported from BTF.
    imported: bool,
    options: BtfOptions,
    original: Original,
    /// The version of the header, when there is nothing to be true to.
    version: Option<Version>,
    /// The parameter that tells the unit has been written.
    unit_said: bool,
    /// See [`Lines::own_header`].
    own_header_said: bool,
    /// Lines that the version cannot say.
    unsaid: u64,
}

impl<'a, I: Iterator<Item = Result<RecordBatch>>> Lines<'a, I> {
    /// Begins with what stands above the first line of an imported file, or all of the header when there is
    /// none.
    pub fn new(style: &'a Style, options: BtfOptions, facts: &Facts, original: Original, events: I) -> Self {
        let imported = facts.imported;
        // A file that was imported counted in nanoseconds until it said something else.
        let own = if imported { TimeScale::Ns } else { style.scale };
        let mut lines = Self {
            events,
            rest: None,
            ended: false,
            lines: Vec::new(),
            style,
            unit: options.time_scale.unwrap_or(own),
            imported,
            options,
            original,
            version: options.version.or((!imported).then_some(Version::V2_1_5)),
            unit_said: false,
            own_header_said: false,
            unsaid: 0,
        };
        lines.header(facts);
        lines
    }

    /// What became of the lines, and of all times.
    pub fn done(&self) -> BtfCounts {
        BtfCounts {
            shifted_by: self.style.zero.unsigned_abs(),
            unsaid: self.unsaid,
            left_out: self.original.rejected,
            ..BtfCounts::default()
        }
    }

    fn header(&mut self, facts: &Facts) {
        let Some(version) = self.version else { return };
        let mut text = format!("#version {version}\n#creator btfdb {}\n", env!("CARGO_PKG_VERSION"));
        if let Some(created) = &facts.created {
            text += &format!("#creationDate {}\n", expressible(created, true));
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

    /// What only we know: the shift of all times, the numbers of names. `#version` stands before it (BTF
    /// 2.2.1 §2.2.1), so in an imported file that keeps its own header it follows that.
    fn own_header(&mut self) {
        if self.own_header_said {
            return;
        }
        self.own_header_said = true;
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
        self.lines.extend_from_slice(text.as_bytes());
    }

    fn unit_line(&mut self) -> String {
        self.unit_said = true;
        let new = self.version.is_some_and(|v| v > Version::V2_1_5);
        format!("#{} {}\n", if new { "timescale" } else { "timeScale" }, self.unit)
    }

    /// The events of a batch from a row on, and what belongs before each.
    fn job(&mut self, batch: RecordBatch, mut row: usize) -> Result<Job> {
        let numbers: Integers = result::column(&batch, btf_event::SEQ)?;
        let numbers = numbers.values();
        let (mut pieces, mut size) = (Vec::new(), 0);
        while let Some(first) = numbers.get(row).filter(|_| size < PORTION) {
            let complete = self.before(Some(*first))?;
            let end = match self.original.next_seq() {
                _ if !complete => row,
                None => numbers.len(),
                Some(next) => {
                    let rows = numbers.iter().skip(row).take_while(|number| **number < next);
                    row + rows.count()
                }
            };
            size += self.lines.len();
            pieces.push(Piece { lines: take(&mut self.lines), rows: row..end, unit: self.unit });
            row = end;
        }
        self.rest = (row < numbers.len()).then(|| (batch.clone(), row));
        Ok(Job { batch: Some(batch), pieces })
    }

    /// The lines before the event `seq`, or all that are left; false when there are more than one portion of
    /// them.
    fn before(&mut self, seq: Option<i64>) -> Result<bool> {
        while let Some(line) = self.original.before(seq)? {
            if line.parameter {
                self.parameter(&line.text);
            } else {
                self.line(&line.text);
            }
            if self.lines.len() >= PORTION {
                return Ok(false);
            }
        }
        if !self.unit_said && self.options.time_scale.is_some() {
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
            if self.options.time_scale.is_some() || self.version.is_some() {
                if !self.unit_said {
                    let line = self.unit_line();
                    self.lines.extend_from_slice(line.as_bytes());
                }
                return;
            }
            self.unit = TimeScale::parse(&value.to_ascii_lowercase()).unwrap_or(self.unit);
        }
        let Some(version) = self.version else { return self.line(text) };
        // The header has been written for this version; tables are written only with numbers, and by these.
        let row = text.trim().starts_with("#-");
        if known.is_some() || row {
            return;
        }
        let word = text.trim().trim_start_matches('#').split_whitespace().next().unwrap_or_default();
        if Parameter::find_any_case(word).is_some_and(|p| p.versions.has(version)) {
            self.line(text);
        } else {
            self.unsaid += 1;
            let comment = format!("# {}", text.trim().trim_start_matches('#'));
            self.line(&comment);
        }
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
                let piece = Piece { lines: take(&mut self.lines), rows: 0..0, unit: self.unit };
                Job { batch: None, pieces: vec![piece] }
            }),
        })
    }
}
