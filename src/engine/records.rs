//! System events as records in the order of their file, with its line numbers. Not for reading BTF text.

use super::events::{EventOrder, Events, events, imported_as};
use super::param::Param;
use super::result_stream::ResultStream;
use super::session::Session;
use crate::btf::{Place, Record, Records};
use crate::error::Result;
use crate::schema::result::{self, Integers, Texts};
use crate::schema::tables;
use arrow::array::RecordBatch;

pub struct StoredRecords {
    events: Events,
    batch: Option<Batch>,
    row: usize,
    others: Others,
}

/// The lines of the imported file that are not events.
struct Others {
    lines: ResultStream,
    /// Number of the line, number of the event after it, text.
    batch: Option<([Integers; 2], Texts)>,
    row: usize,
    /// Lines passed so far.
    passed: u64,
    /// The recording was imported: its events have lines.
    any: bool,
}

struct Batch {
    time: Integers,
    seq: Integers,
    source: Texts,
    source_instance: Integers,
    target_type: Texts,
    target: Texts,
    target_instance: Integers,
    action: Texts,
    note: Texts,
}

impl StoredRecords {
    /// In the order of the file.
    pub fn open(session: &Session, recording: &str) -> Result<Self> {
        Self::open_in(session, recording, EventOrder::File)
    }

    /// In this order.
    pub fn open_in(session: &Session, recording: &str, order: EventOrder) -> Result<Self> {
        let params = [("recording", Param::from(recording))];
        let condition = ("WHERE recording = $recording", &params[..]);
        let events = events(session, recording, condition, true, order)?;
        let lines = tables::BTF_LINE.name;
        let sql =
            format!("SELECT line, next_seq, text FROM {lines} WHERE recording = $recording ORDER BY line");
        let lines = session.sql(&sql, &params)?;
        let any = imported_as(session, recording)?.is_some();
        let others = Others { lines, batch: None, row: 0, passed: 0, any };
        Ok(Self { events, batch: None, row: 0, others })
    }

    /// True when the recording was imported from a file whose lines are known.
    pub fn has_lines(&self) -> bool {
        self.others.any
    }

    /// As [`Records::next`]; passes the lines before the event, or the end, to `other` by number and text.
    pub fn next_with(&mut self, mut other: impl FnMut(u64, &str)) -> Result<Option<(Place, Record<'_>)>> {
        while self.batch.as_ref().is_none_or(|b| self.row >= b.seq.len()) {
            self.row = 0;
            self.batch = match self.events.next() {
                Some(batch) => Some(Batch::of(&batch?)?),
                None => {
                    self.others.before(None, &mut other)?;
                    return Ok(None);
                }
            };
        }
        let Some(batch) = &self.batch else { return Ok(None) };
        let row = self.row;
        self.row += 1;
        let seq = batch.seq.value(row);
        self.others.before(Some(seq), &mut other)?;
        let line = self.others.any.then(|| self.others.passed + seq.unsigned_abs() + 1);
        let record = Record {
            time: batch.time.value(row),
            source: batch.source.value(row),
            source_instance: batch.source_instance.get(row),
            target_type: batch.target_type.value(row),
            target: batch.target.value(row),
            target_instance: batch.target_instance.get(row),
            action: batch.action.value(row),
            note: batch.note.get(row),
        };
        Ok(Some((Place { seq, line }, record)))
    }
}

impl Records for StoredRecords {
    fn next(&mut self) -> Result<Option<(Place, Record<'_>)>> {
        self.next_with(|_, _| {})
    }
}

impl Others {
    fn before(&mut self, seq: Option<i64>, other: &mut impl FnMut(u64, &str)) -> Result<()> {
        while self.fill()? {
            let Some(([line, next_seq], text)) = &self.batch else { return Ok(()) };
            if seq.is_some_and(|seq| next_seq.value(self.row) > seq) {
                return Ok(());
            }
            other(line.value(self.row).unsigned_abs(), text.value(self.row));
            self.passed += 1;
            self.row += 1;
        }
        Ok(())
    }

    /// True if there is a current line.
    fn fill(&mut self) -> Result<bool> {
        while self.batch.as_ref().is_none_or(|(_, texts)| self.row >= texts.len()) {
            let Some(batch) = self.lines.next() else { return Ok(false) };
            self.batch = Some(result::columns(&batch?)?);
            self.row = 0;
        }
        Ok(true)
    }
}

impl Batch {
    fn of(batch: &RecordBatch) -> Result<Self> {
        let (time, seq, source, source_instance, target_type, target, target_instance, action, note) =
            result::columns(batch)?;
        Ok(Self { time, seq, source, source_instance, target_type, target, target_instance, action, note })
    }
}
