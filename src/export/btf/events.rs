//! The lines of the output: header, events, and the lines of the imported file in between.

use super::numbers::Numbers;
use super::original::Original;
use super::translate::translated;
use super::{BtfOptions, Exported, Facts, misfit};
use crate::btf::Record;
use crate::btf::spec::{Parameter, Version};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::btf::Keyword;
use crate::render::{write_integer, write_unsigned};
use crate::time::{TimeScale, divide_half_even};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use std::borrow::Cow;
use std::io::{self, Write};

/// Bytes that are collected before they are written.
const PORTION: usize = 1 << 16;

/// Lines on their way to the output.
pub(super) struct Writer {
    buffer: Vec<u8>,
    scale: TimeScale,
    /// The unit of the times that are written.
    unit: TimeScale,
    /// The recording was imported from BTF.
    imported: bool,
    options: BtfOptions,
    original: Original,
    numbers: Option<Numbers>,
    /// The version to translate to, when that is asked for or there is nothing to be true to.
    version: Option<Version>,
    /// The parameter that tells the unit has been written.
    unit_said: bool,
    /// See [`Writer::own_header`].
    own_header_said: bool,
    /// The instant that is written as 0.
    zero: i64,
    done: Exported,
}

impl Writer {
    /// `zero` is the instant that is written as 0.
    pub fn new(
        scale: TimeScale,
        zero: i64,
        options: BtfOptions,
        facts: &Facts,
        original: Original,
        numbers: Option<Numbers>,
    ) -> Self {
        let imported = facts.imported;
        let version = options.version.or((!imported).then_some(Version::V2_1_5));
        // A file that was imported counted in nanoseconds until it said something else.
        let own = if imported { TimeScale::Ns } else { scale };
        let unit = options.time_scale.unwrap_or(own);
        let done = Exported { shifted_by: zero.unsigned_abs(), ..Exported::default() };
        Self {
            buffer: Vec::new(),
            scale,
            unit,
            imported,
            options,
            original,
            numbers,
            version,
            unit_said: false,
            own_header_said: false,
            zero,
            done,
        }
    }

    /// What stands above the first line of an imported file, or all of the header when there is none.
    pub fn header(&mut self, facts: &Facts) -> Result<()> {
        let mut text = String::new();
        if let Some(version) = self.version {
            text += &format!("#version {version}\n#creator btfdb {}\n", env!("CARGO_PKG_VERSION"));
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
        }
        self.buffer.extend(text.as_bytes());
        if self.version.is_some() {
            self.own_header();
        }
        Ok(())
    }

    /// What only we know: the shift of all times, the numbers of names. `#version` stands before it (BTF 2.2.1 §2.2.1),
    /// so in an imported file that keeps its own header it follows that.
    fn own_header(&mut self) {
        if self.own_header_said {
            return;
        }
        self.own_header_said = true;
        let mut text = String::new();
        if self.zero < 0 {
            let (by, scale) = (self.zero.unsigned_abs(), self.scale);
            text += &format!(
                "# times shifted by {by} {scale}: the recording begins at {}, and BTF has no times below 0\n",
                self.zero
            );
        }
        if let Some(numbers) = &self.numbers {
            text += &numbers.header(self.version.or(self.original.version));
        }
        self.buffer.extend(text.as_bytes());
    }

    fn unit_line(&mut self) -> String {
        self.unit_said = true;
        let new = self.version.is_some_and(|v| v > Version::V2_1_5);
        format!("#{} {}\n", if new { "timescale" } else { "timeScale" }, self.unit)
    }

    /// Writes the events of a batch, and what belongs before each.
    pub fn events(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
        let [seq, time, source, source_instance, target_type, target, target_instance, action, note] =
            batch.columns()
        else {
            return Err(misfit());
        };
        let [seq, time, source_instance, target_instance] =
            integers([seq, time, source_instance, target_instance])?;
        let [source, target_type, target, action, note] = texts([source, target_type, target, action, note])?;
        let number = |column: &Int64Array, row: usize| column.is_valid(row).then(|| column.value(row));
        for row in 0..batch.num_rows() {
            self.lines_before(Some(seq.value(row)))?;
            let record = Record {
                time: time.value(row),
                source: source.value(row),
                source_instance: number(&source_instance, row),
                target_type: target_type.value(row),
                target: target.value(row),
                target_instance: number(&target_instance, row),
                action: action.value(row),
                note: note.is_valid(row).then(|| note.value(row)),
            };
            self.event(&record);
            if self.buffer.len() >= PORTION {
                self.write(out)?;
            }
        }
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(mut self, out: &mut dyn Write) -> Result<Exported> {
        self.lines_before(None)?;
        self.write(out)?;
        Ok(Exported { left_out: self.original.rejected, ..self.done })
    }

    fn event(&mut self, record: &Record<'_>) {
        let said = match self.version {
            // What the mapper writes is of the version that it is written in.
            Some(version) if self.imported || self.options.version.is_some() => translated(record, version),
            _ => Some(*record),
        };
        match said {
            Some(_) => self.done.events += 1,
            None => {
                self.done.unsaid += 1;
                self.buffer.extend(b"# ");
            }
        }
        let record = said.unwrap_or(*record);
        self.time(record.time);
        self.entity(record.source);
        self.instance(record.source_instance);
        self.kind(record.target_type);
        self.entity(record.target);
        self.instance(record.target_instance);
        self.text(record.action, false);
        if let Some(note) = record.note {
            self.text(note, true);
        }
        self.buffer.push(b'\n');
    }

    fn lines_before(&mut self, seq: Option<i64>) -> Result<()> {
        while let Some(line) = self.original.before(seq)? {
            if line.parameter {
                self.parameter(&line.text);
            } else {
                self.line(&line.text);
            }
        }
        if !self.unit_said && self.options.time_scale.is_some() {
            let line = self.unit_line();
            self.buffer.extend(line.as_bytes());
        }
        self.own_header();
        Ok(())
    }

    /// A parameter or table row of the imported file.
    fn parameter(&mut self, text: &str) {
        let known = Keyword::split(text);
        if let Some((Keyword::TimeScale, value)) = known {
            if self.options.time_scale.is_some() || self.version.is_some() {
                if !self.unit_said {
                    let line = self.unit_line();
                    self.buffer.extend(line.as_bytes());
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
            self.done.unsaid += 1;
            let comment = format!("# {}", text.trim().trim_start_matches('#'));
            self.line(&comment);
        }
    }

    fn line(&mut self, text: &str) {
        self.buffer.extend(text.as_bytes());
        self.buffer.push(b'\n');
    }

    fn time(&mut self, time: i64) {
        // Never below 0: no event is earlier than the begin of its recording.
        let ticks = time.wrapping_sub(self.zero) as u64;
        let (unit, scale) = (self.unit.decimals(), self.scale.decimals());
        if unit < scale {
            let (units, inexact) = divide_half_even(ticks, 10u64.pow(scale - unit));
            self.done.rounded += u64::from(inexact);
            write_unsigned(units, &mut self.buffer);
        } else {
            write_unsigned(ticks, &mut self.buffer);
            // A finer unit is more digits, exactly.
            let zeros = if ticks == 0 { 0 } else { unit - scale };
            self.buffer.extend(std::iter::repeat_n(b'0', zeros as usize));
        }
    }

    fn instance(&mut self, value: Option<i64>) {
        self.buffer.push(b',');
        if let Some(value) = value {
            write_integer(value, &mut self.buffer);
        }
    }

    fn entity(&mut self, name: &str) {
        let id = self.numbers.as_ref().and_then(|n| n.entity(name));
        match id {
            Some(id) => {
                self.buffer.push(b',');
                self.buffer.extend(id.as_bytes());
            }
            None => self.text(name, false),
        }
    }

    fn kind(&mut self, name: &str) {
        let id = self.numbers.as_ref().and_then(|n| n.kind(name));
        match id {
            Some(id) => {
                self.buffer.push(b',');
                self.buffer.extend(id.as_bytes());
            }
            None => self.text(name, false),
        }
    }

    fn text(&mut self, text: &str, last: bool) {
        self.buffer.push(b',');
        let text = expressible(text, last);
        self.done.altered += u64::from(matches!(text, Cow::Owned(_)));
        self.buffer.extend(text.as_bytes());
    }

    fn write(&mut self, out: &mut dyn Write) -> Result<()> {
        let failed = |e: io::Error| Error::new(ErrorKind::Io, "cannot write the BTF").because(e);
        out.write_all(&self.buffer).map_err(failed)?;
        self.buffer.clear();
        Ok(())
    }
}

/// BTF has no quoting: a line break ends the event, and a comma the field, but for the last one.
fn expressible(text: &str, last: bool) -> Cow<'_, str> {
    let comma = if last { b'\n' } else { b',' };
    match memchr::memchr3(b'\n', b'\r', comma, text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(text.replace(['\n', '\r', char::from(comma)], "_")),
    }
}

/// Names as the engine gives them, without copying their texts.
fn texts<const N: usize>(columns: [&ArrayRef; N]) -> Result<[StringViewArray; N]> {
    all(columns.map(|c| cast(c, &DataType::Utf8View).ok()?.as_string_view_opt().cloned()))
}

fn integers<const N: usize>(columns: [&ArrayRef; N]) -> Result<[Int64Array; N]> {
    all(columns.map(|c| c.as_primitive_opt::<Int64Type>().cloned()))
}

fn all<T, const N: usize>(columns: [Option<T>; N]) -> Result<[T; N]> {
    let columns: Option<Vec<T>> = columns.into_iter().collect();
    columns.and_then(|c| c.try_into().ok()).ok_or_else(misfit)
}
