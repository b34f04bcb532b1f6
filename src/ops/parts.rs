//! Tables on their way to the disk: in parts of bounded size, so that what is kept of a file in memory, its footer, is
//! too. Not aware of what the rows mean, nor of how a part is written (see `store::TableWriter`).

use crate::derive::Rows;
use crate::error::Result;
use crate::schema::{TableSpec, tables};
use crate::store::{StagedFile, TableWriter};
use arrow::array::RecordBatch;

/// A part ends after this many rows.
const PART_ROWS: u64 = 16 << 20;
/// Rows of a derived table that are written at once.
pub(super) const ROWS_OUT: usize = 64 * 1024;

/// Begins the next part of a table.
pub(super) type Begin<'a> = &'a (dyn Fn(&'static TableSpec) -> Result<TableWriter> + Sync);

/// A table in the making.
pub(super) struct Parts<'a> {
    begin: Begin<'a>,
    table: &'static TableSpec,
    writer: Option<TableWriter>,
    in_part: u64,
    files: Vec<StagedFile>,
}

impl<'a> Parts<'a> {
    pub fn new(begin: Begin<'a>, table: &'static TableSpec) -> Self {
        Self { begin, table, writer: None, in_part: 0, files: Vec::new() }
    }

    /// Appends rows, in the order of the table within a part.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.in_part >= PART_ROWS {
            self.end_part()?;
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => self.writer.insert((self.begin)(self.table)?),
        };
        writer.write(batch)?;
        self.in_part += batch.num_rows() as u64;
        Ok(())
    }

    /// What follows goes into another file.
    pub fn end_part(&mut self) -> Result<()> {
        self.in_part = 0;
        if let Some(writer) = self.writer.take() {
            self.files.push(writer.finish()?);
        }
        Ok(())
    }

    /// How many parts have ended.
    pub fn ended(&self) -> usize {
        self.files.len()
    }

    pub fn finish(mut self) -> Result<Vec<StagedFile>> {
        self.end_part()?;
        Ok(self.files)
    }
}

/// The tables that are derived from `btf_event`: process instances, their states, and runnable instances.
pub(super) struct DerivedTables<'a> {
    instances: Parts<'a>,
    states: Parts<'a>,
    runnables: Parts<'a>,
}

impl<'a> DerivedTables<'a> {
    pub fn new(begin: Begin<'a>) -> Self {
        Self {
            instances: Parts::new(begin, tables::PROCESS_INSTANCE),
            states: Parts::new(begin, tables::PROCESS_STATE),
            runnables: Parts::new(begin, tables::RUNNABLE_INSTANCE),
        }
    }

    /// Takes the rows of those tables that have `at_least` so many.
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
        Ok(())
    }

    /// What follows may be earlier: every file of a table is sorted.
    pub fn end_parts(&mut self) -> Result<()> {
        self.instances.end_part()?;
        self.states.end_part()?;
        self.runnables.end_part()
    }

    pub fn finish(self) -> Result<Vec<StagedFile>> {
        let parts = [self.instances, self.states, self.runnables].map(Parts::finish);
        let files: Vec<Vec<StagedFile>> = parts.into_iter().collect::<Result<_>>()?;
        Ok(files.into_iter().flatten().collect())
    }
}
