//! System events → BTF text (version 2.1.5). Streams: memory does not grow with the recording. Not for reading BTF.

use std::borrow::Cow;
use std::io::{self, Write};

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};

use super::Selection;
use crate::error::{Error, ErrorKind, Result};
use crate::query::{Param, Session};
use crate::render::write_integer;
use crate::schema::{columns, tables};

/// What was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    /// Number of event lines.
    pub events: u64,
    /// Ticks added to every time, because BTF has no negative times; 0 for nearly every recording.
    pub shifted_by: u64,
    /// Names and notes in which a character that BTF cannot express was replaced by `_`.
    pub altered: u64,
}

/// Bytes that are collected before they are written.
const PORTION: usize = 1 << 16;

/// The fields of a line in the order of BTF, the time first.
const FIELDS: [&str; 8] = [
    columns::btf_event::TIME,
    columns::btf_event::SOURCE,
    columns::btf_event::SOURCE_INSTANCE,
    columns::btf_event::TARGET_TYPE,
    columns::btf_event::TARGET,
    columns::btf_event::TARGET_INSTANCE,
    columns::btf_event::ACTION,
    columns::btf_event::NOTE,
];

/// Writes the selected system events as BTF, in the order of `(time, seq)`. An entity is selected when it is the
/// source or the target of an event.
///
/// # Errors
/// [`ErrorKind::Usage`] when the recording is not clear, [`ErrorKind::Io`] when `out` fails (the cause is then the
/// [`io::Error`]), otherwise those of a query.
pub fn export_btf(session: &Session, selection: &Selection, out: &mut dyn Write) -> Result<Exported> {
    let recording = selection.recording(session)?;
    let begin = session.database().manifest().recording(&recording).and_then(|r| r.begin_at);
    let mut lines = Lines { zero: begin.filter(|b| *b < 0).unwrap_or(0), ..Lines::default() };
    lines.header(session, &recording)?;
    let condition = selection.condition(tables::BTF_EVENT, &recording);
    let sql = format!(
        "SELECT {} FROM {} {} ORDER BY {}",
        FIELDS.join(", "),
        tables::BTF_EVENT.name,
        condition.sql(),
        tables::BTF_EVENT.sort.join(", "),
    );
    for batch in session.sql(&sql, &condition.params())? {
        lines.events(&batch?, out)?;
    }
    lines.write(out)?;
    Ok(Exported { events: lines.events, shifted_by: lines.zero.unsigned_abs(), altered: lines.altered })
}

/// Lines on their way to the output.
#[derive(Default)]
struct Lines {
    buffer: Vec<u8>,
    /// The instant that is written as 0.
    zero: i64,
    events: u64,
    altered: u64,
}

impl Lines {
    fn header(&mut self, session: &Session, recording: &str) -> Result<()> {
        let scale = session.database().time_scale().as_str();
        let mut text = format!("#version 2.1.5\n#creator btfdb {}\n", env!("CARGO_PKG_VERSION"));
        if let Some(created) = creation_date(session, recording)? {
            text += &format!("#creationDate {}\n", expressible(&created, false));
        }
        text += &format!("#timeScale {scale}\n");
        if self.zero < 0 {
            let by = self.zero.unsigned_abs();
            text += &format!(
                "# times shifted by {by} {scale}: the recording begins at {}, and BTF has no times below 0\n",
                self.zero
            );
        }
        self.buffer.extend(text.as_bytes());
        Ok(())
    }

    fn events(&mut self, batch: &RecordBatch, out: &mut dyn Write) -> Result<()> {
        let [time, source, source_instance, target_type, target, target_instance, action, note] =
            batch.columns()
        else {
            return Err(misfit());
        };
        let [time, source_instance, target_instance] = integers([time, source_instance, target_instance])?;
        let [source, target_type, target, action, note] = texts([source, target_type, target, action, note])?;
        for row in 0..batch.num_rows() {
            self.time(time.value(row));
            self.name(source.value(row));
            self.integer(source_instance.value(row));
            self.name(target_type.value(row));
            self.name(target.value(row));
            self.integer(target_instance.value(row));
            self.name(action.value(row));
            if note.is_valid(row) {
                self.text(note.value(row), true);
            }
            self.buffer.push(b'\n');
            if self.buffer.len() >= PORTION {
                self.write(out)?;
            }
        }
        self.events += batch.num_rows() as u64;
        Ok(())
    }

    fn time(&mut self, time: i64) {
        // Never below 0: no event is earlier than the begin of its recording.
        crate::render::write_unsigned(time.wrapping_sub(self.zero) as u64, &mut self.buffer);
    }

    fn integer(&mut self, value: i64) {
        self.buffer.push(b',');
        write_integer(value, &mut self.buffer);
    }

    fn name(&mut self, name: &str) {
        self.text(name, false);
    }

    fn text(&mut self, text: &str, last: bool) {
        self.buffer.push(b',');
        let text = expressible(text, last);
        self.altered += u64::from(matches!(text, Cow::Owned(_)));
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
    let bad = |c: char| c.is_control() || (c == ',' && !last);
    if text.bytes().all(|b| (0x20..0x7f).contains(&b) && b != b',') || !text.contains(bad) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(bad, "_"))
}

/// The date of the trace, if it is known.
fn creation_date(session: &Session, recording: &str) -> Result<Option<String>> {
    let table = tables::RECORDING.name;
    let (name, created) = (columns::recording::RECORDING, columns::recording::CREATED);
    let sql = format!("SELECT {created} FROM {table} WHERE {name} = $recording");
    let mut date = None;
    for batch in session.sql(&sql, &[("recording", Param::from(recording))])? {
        let batch = batch?;
        let [column] = batch.columns() else {
            return Err(misfit());
        };
        let [column] = texts([column])?;
        date = column.iter().flatten().next().map(str::to_owned).or(date);
    }
    Ok(date)
}

fn texts<const N: usize>(columns: [&ArrayRef; N]) -> Result<[StringArray; N]> {
    let plain = columns.map(|c| cast(c, &DataType::Utf8));
    let mut out = [const { None }; N];
    for (slot, column) in out.iter_mut().zip(plain) {
        *slot = column.map_err(|e| misfit().because(e))?.as_string_opt::<i32>().cloned();
    }
    all(out)
}

fn integers<const N: usize>(columns: [&ArrayRef; N]) -> Result<[Int64Array; N]> {
    all(columns.map(|c| c.as_primitive_opt::<Int64Type>().cloned()))
}

fn all<T, const N: usize>(columns: [Option<T>; N]) -> Result<[T; N]> {
    let columns: Option<Vec<T>> = columns.into_iter().collect();
    columns.and_then(|c| c.try_into().ok()).ok_or_else(misfit)
}

fn misfit() -> Error {
    Error::new(ErrorKind::Bug, "the events of a query do not have the columns of their table")
}
