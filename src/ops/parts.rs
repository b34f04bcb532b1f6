//! Writes tables in parts of bounded size, which also bounds the footer of a file, which is held in memory.
//! Does not know what the rows mean, nor how a part is written (see `store::TableWriter`).

use super::extent::{Extent, span_of};
use crate::derive::Rows;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{TableSpec, find_column, tables};
use crate::store::{StagedFile, TableWriter, Transaction};
use arrow::array::RecordBatch;
use std::sync::{Arc, Mutex, MutexGuard};

pub(super) const SOFTWARE_EVENTS: [&TableSpec; 2] = [tables::DATA_EVENT, tables::FUNCTION_EVENT];
/// A part of a table ends after this many rows.
const PART_ROWS: u64 = 16 << 20;
/// The same for software events, whose rows are small: 64 row groups.
const PART_ROWS_OF_SOFTWARE_EVENTS: u64 = 64 << 20;
/// With more far steps backwards in time than this, a table is not one trace.
const MAX_RUNS: usize = 4096;
/// Rows of a derived table per batch.
pub(super) const ROWS_OUT: usize = 64 * 1024;

/// The transaction that the writers of tables share.
pub(super) fn locked<T>(tx: &Mutex<T>) -> Result<MutexGuard<'_, T>> {
    tx.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))
}

pub(super) type Begin<'a> = &'a (dyn Fn(&'static TableSpec) -> Result<TableWriter> + Sync);

/// How to begin the next part of a table.
enum Beginning<'a> {
    By(Begin<'a>),
    /// For a recording, or for one of its cores.
    OfCore(&'a Mutex<Transaction>, &'a str, Option<Arc<str>>),
}

/// A table that is being written.
pub(super) struct Parts<'a> {
    table: &'static TableSpec,
    begin: Beginning<'a>,
    most_rows: u64,
    writer: Option<TableWriter>,
    in_part: u64,
    files: Vec<StagedFile>,
}

impl<'a> Parts<'a> {
    pub fn new(begin: Begin<'a>, table: &'static TableSpec) -> Self {
        Self::begun(table, Beginning::By(begin))
    }

    pub fn of_core(
        tx: &'a Mutex<Transaction>,
        recording: &'a str,
        table: &'static TableSpec,
        core: Option<Arc<str>>,
    ) -> Self {
        Self::begun(table, Beginning::OfCore(tx, recording, core))
    }

    fn begun(table: &'static TableSpec, begin: Beginning<'a>) -> Self {
        let is_software = SOFTWARE_EVENTS.iter().any(|t| t.name == table.name);
        let most_rows = if is_software { PART_ROWS_OF_SOFTWARE_EVENTS } else { PART_ROWS };
        Self { table, begin, most_rows, writer: None, in_part: 0, files: Vec::new() }
    }

    /// Appends rows, in the order of the table within a part.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.in_part >= self.most_rows {
            self.end_part()?;
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let begun = match &self.begin {
                    Beginning::By(begin) => begin(self.table)?,
                    Beginning::OfCore(tx, recording, core) => {
                        locked(tx)?.writer(self.table, recording, core.as_deref())?
                    }
                };
                self.writer.insert(begun)
            }
        };
        writer.write(batch)?;
        self.in_part += batch.num_rows() as u64;
        Ok(())
    }

    pub fn end_part(&mut self) -> Result<()> {
        self.in_part = 0;
        if let Some(writer) = self.writer.take() {
            self.files.push(writer.finish()?);
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<Vec<StagedFile>> {
        self.end_part()?;
        Ok(self.files)
    }
}

/// A table of sorted batches: a batch that begins before the end of the previous one begins another part.
pub(super) struct Runs<'a> {
    parts: Parts<'a>,
    table: &'static str,
    /// The column that rows are sorted by, and that of their times, which may be missing in some rows.
    columns: [&'static str; 2],
    latest: Option<i64>,
    runs: usize,
    /// The input, for messages.
    source: String,
    /// The instant before which no row may be, and the error about one.
    after: Option<(i64, Refusal<'a>)>,
    /// The times of all rows; `None` if none has one.
    pub extent: Option<Extent>,
}

/// Makes the error about a row that is too early, given its time.
pub(super) type Refusal<'a> = Box<dyn Fn(i64) -> Error + Send + 'a>;

impl<'a> Runs<'a> {
    pub fn new(parts: Parts<'a>, table: &'static TableSpec, source: &str) -> Self {
        let sort = table.sort.first().copied().unwrap_or_default();
        let time = table.column("time").map_or(sort, |column| column.name);
        let (table, columns, source) = (table.name, [sort, time], source.to_owned());
        Self { parts, table, columns, latest: None, runs: 0, source, after: None, extent: None }
    }

    /// The same, for rows that are not before an instant.
    pub fn after(self, end: i64, refusal: Refusal<'a>) -> Self {
        Self { after: Some((end, refusal)), ..self }
    }

    /// Appends a sorted batch. Fails when time runs backwards too often.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let [sort, time] = self.columns.map(|column| find_column(batch, self.table, column));
        let Some((first, last)) = span_of(sort?) else { return Ok(()) };
        if let Some((_, refusal)) = self.after.as_ref().filter(|(end, _)| first < *end) {
            return Err(refusal(first).at(&self.source));
        }
        if self.latest.is_some_and(|latest| first < latest) {
            self.runs += 1;
            if self.runs > MAX_RUNS {
                let message = format!("time runs far backwards more than {MAX_RUNS} times");
                return Err(Error::new(ErrorKind::Limit, message)
                    .at(&self.source)
                    .hint("were several traces put together into one file? Give each core its own"));
            }
            self.parts.end_part()?;
        }
        self.latest = Some(last);
        if let Some(next) = Extent::of(time?) {
            self.extent = Some(self.extent.map_or(next, |before| before.then(next)));
        }
        self.parts.write(batch)
    }

    pub fn finish(self) -> Result<Vec<StagedFile>> {
        self.parts.finish()
    }
}

/// The tables that are derived from `btf_event`: instances of processes and runnables, and their states.
pub(super) struct DerivedTables<'a> {
    instances: Parts<'a>,
    states: Parts<'a>,
    runnables: Parts<'a>,
    runnable_states: Parts<'a>,
}

impl<'a> DerivedTables<'a> {
    pub fn new(begin: Begin<'a>) -> Self {
        Self {
            instances: Parts::new(begin, tables::PROCESS_INSTANCE),
            states: Parts::new(begin, tables::PROCESS_STATE),
            runnables: Parts::new(begin, tables::RUNNABLE_INSTANCE),
            runnable_states: Parts::new(begin, tables::RUNNABLE_STATE),
        }
    }

    /// Writes the rows of those tables that have at least `at_least`.
    pub fn take(&mut self, rows: &mut Rows, at_least: usize) -> Result<()> {
        if rows.instances.len() >= at_least {
            self.instances.write(&rows.instances.take_batch()?)?;
        }
        if rows.states.len() >= at_least {
            self.states.write(&rows.states.take_batch()?)?;
        }
        if rows.runnables.len() >= at_least {
            self.runnables.write(&rows.runnables.take_batch()?)?;
        }
        if rows.runnable_states.len() >= at_least {
            self.runnable_states.write(&rows.runnable_states.take_batch()?)?;
        }
        Ok(())
    }

    /// Ends the current files: what follows may be earlier, and every file is sorted.
    pub fn end_parts(&mut self) -> Result<()> {
        self.instances.end_part()?;
        self.states.end_part()?;
        self.runnables.end_part()?;
        self.runnable_states.end_part()
    }

    pub fn finish(self) -> Result<Vec<StagedFile>> {
        let parts = [self.instances, self.states, self.runnables, self.runnable_states].map(Parts::finish);
        let files: Vec<Vec<StagedFile>> = parts.into_iter().collect::<Result<_>>()?;
        Ok(files.into_iter().flatten().collect())
    }
}
