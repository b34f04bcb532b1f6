//! The system events of a recording as records, in the order of their file, with the lines they were read from. Not for
//! reading BTF text.

use super::run::{Param, ResultStream};
use super::session::Session;
use crate::btf::{Place, Record, Records};
use crate::error::{Error, Result};
use crate::schema::result::{self, Integers, Texts};
use crate::schema::{BtfEventView, TableSpec, columns::btf_event, tables, view};
use crate::store::{FileEntry, Resequenced, read_batches};
use arrow::array::RecordBatch;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The columns of the batches of [`Session::events`], in this order: those of a file.
const EVENT_COLUMNS: &[&str] = BtfEventView::COLUMNS;

view! {
    /// How a recording came to be.
    struct Origins of source { format, backwards }
}

/// Rows of a batch that is read without the engine: few enough to stay in the cache until they are used.
const BATCH_ROWS: usize = 8 * 1024;

/// Events, batch by batch.
type Events = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// As in the file that they were read from.
    File,
    /// Time, then the order of the file.
    Time,
}

/// A recording, read from first to last.
pub struct StoredRecords {
    events: Events,
    batch: Option<Batch>,
    row: usize,
    others: Others,
}

/// The lines of the imported file that are no events.
struct Others {
    lines: ResultStream,
    /// Number of the line, number of the event behind it, text.
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

impl Session {
    /// The events of a recording, names as views or, where they are read as they lie, as dictionaries. `condition` is that
    /// of the recording and whatever else is asked for; `whole` says that nothing else is.
    ///
    /// # Errors
    /// Those of a query.
    pub(crate) fn events(
        &self,
        recording: &str,
        (condition, params): (&str, &[(&str, Param)]),
        whole: bool,
        order: Order,
    ) -> Result<Events> {
        let (columns, table) = (EVENT_COLUMNS.join(", "), tables::BTF_EVENT.name);
        let sorted = |by: &str| -> Result<Events> {
            let sql = format!("SELECT {columns} FROM {table} {condition} ORDER BY {by}");
            Ok(Box::new(self.sql(&sql, params)?))
        };
        // The rows lie sorted by time, which is the order of the file unless its times run backwards.
        let as_they_lie = order == Order::Time || !self.runs_backwards(recording)?;
        match whole && self.is_one_run(recording) {
            true if as_they_lie => Ok(self.stored(recording)),
            true => Ok(Box::new(Resequenced::new(self.stored(recording)))),
            false => sorted(if as_they_lie { "time, seq" } else { btf_event::SEQ }),
        }
    }

    /// All events of a recording, part after part, without the engine: a sort that has nothing to do, and names without
    /// their keys, would cost more than reading them.
    fn stored(&self, recording: &str) -> Events {
        let (database, interrupt) = (self.database().clone(), Arc::clone(self.interrupt()));
        let files = database.files(tables::BTF_EVENT, Some(recording));
        let batches = move |file: FileEntry| -> Events {
            let path = database.path_of(&file);
            match read_batches(&path, tables::BTF_EVENT, Some(EVENT_COLUMNS), BATCH_ROWS) {
                Ok(batches) => Box::new(batches),
                Err(e) => Box::new(std::iter::once(Err(e))),
            }
        };
        let unless_stopped = move |batch| match interrupt.load(Ordering::Relaxed) {
            true => Err(Error::interrupted()),
            false => batch,
        };
        Box::new(files.into_iter().flat_map(batches).map(unless_stopped))
    }

    /// The parts of `btf_event` follow each other in time: disorder is small, or was put right.
    fn is_one_run(&self, recording: &str) -> bool {
        let files = self.database().files(tables::BTF_EVENT, Some(recording));
        files.is_sorted_by(|a, b| a.end_at.zip(b.begin_at).is_some_and(|(end, begin)| end <= begin))
    }

    /// Columns of the rows of a recording in a table that has a few: to plan a statement takes longer than to read them.
    ///
    /// # Errors
    /// When a file is missing or damaged.
    pub(crate) fn few_rows(
        &self,
        table: &'static TableSpec,
        recording: &str,
        columns: &[&str],
    ) -> Result<Vec<RecordBatch>> {
        let mut rows = Vec::new();
        for file in self.database().files(table, Some(recording)) {
            let batches = read_batches(&self.database().path_of(&file), table, Some(columns), BATCH_ROWS)?;
            rows.extend(batches.collect::<Result<Vec<_>>>()?);
        }
        Ok(rows)
    }

    fn runs_backwards(&self, recording: &str) -> Result<bool> {
        let mut backwards = false;
        for batch in self.few_rows(tables::SOURCE, recording, Origins::COLUMNS)? {
            backwards |= Origins::of(&batch)?.backwards.values().iter().any(|count| *count > 0);
        }
        Ok(backwards)
    }

    /// The format of the BTF file that a recording was imported from; `None` when it was mapped.
    ///
    /// # Errors
    /// When a file is missing or damaged.
    pub fn imported_as(&self, recording: &str) -> Result<Option<String>> {
        for batch in self.few_rows(tables::SOURCE, recording, Origins::COLUMNS)? {
            let origins = Origins::of(&batch)?;
            let mut formats = (0..origins.len()).map(|row| origins.format.value(row));
            if let Some(format) = formats.find(|format| format.starts_with("btf")) {
                return Ok(Some(format.to_owned()));
            }
        }
        Ok(None)
    }

    /// The events of a recording in the order of their file.
    ///
    /// # Errors
    /// Those of a query.
    pub fn records(&self, recording: &str) -> Result<StoredRecords> {
        let params = [("recording", Param::from(recording))];
        let condition = ("WHERE recording = $recording", &params[..]);
        let events = self.events(recording, condition, true, Order::File)?;
        let lines = tables::BTF_LINE.name;
        let sql =
            format!("SELECT line, next_seq, text FROM {lines} WHERE recording = $recording ORDER BY line");
        let lines = self.sql(&sql, &params)?;
        let any = self.imported_as(recording)?.is_some();
        let others = Others { lines, batch: None, row: 0, passed: 0, any };
        Ok(StoredRecords { events, batch: None, row: 0, others })
    }
}

impl StoredRecords {
    /// True when the recording was imported from a file whose lines are known.
    pub fn has_lines(&self) -> bool {
        self.others.any
    }

    /// [`Records::next`], with the lines in front of the event, or of the end, given to `other` by number and text.
    ///
    /// # Errors
    /// Those of a query.
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

    /// True when there is a line at hand.
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
