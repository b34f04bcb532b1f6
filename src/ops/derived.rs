//! Writes what is derived from imported events. Not the charts (see `derive`), nor mapped events (`mapped`).

use super::parts::{Begin, DerivedTables, ROWS_OUT, span_of};
use crate::derive::{Derive, Dialect, FromRecords, Violations};
use crate::error::Result;
use crate::schema::view;
use crate::store::StagedFile;
use arrow::array::RecordBatch;

view! {
    struct Times of btf_event { time }
}

pub(super) struct Derived<'a> {
    records: FromRecords,
    derive: Option<Derive>,
    tables: DerivedTables<'a>,
    /// Time of the last event.
    latest: i64,
    /// The latest time of all events.
    end: i64,
    violations: Violations,
}

impl<'a> Derived<'a> {
    pub fn new(begin: Begin<'a>, dialect: Dialect) -> Self {
        let (records, tables) = (FromRecords::new(dialect), DerivedTables::new(begin));
        let violations = Violations::default();
        Self { records, derive: None, tables, latest: 0, end: i64::MIN, violations }
    }

    /// Adds the next rows of `btf_event`, sorted by time.
    pub fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some((first, last)) = span_of(Times::of(batch)?.time) else { return Ok(()) };
        if first < self.latest {
            // Open instances end here: what follows is another trace, or its clock was set back.
            self.cut(self.latest)?;
        }
        let derive = self.derive.get_or_insert_with(|| Derive::of_foreign_trace(first));
        self.records.batch(batch, derive)?;
        (self.latest, self.end) = (last, self.end.max(last));
        self.tables.take(&mut derive.rows, ROWS_OUT)
    }

    fn cut(&mut self, end: i64) -> Result<()> {
        if let Some(mut derive) = self.derive.take() {
            let violations = derive.finish(end, &self.records.names);
            self.violations.process += violations.process;
            self.violations.runnable += violations.runnable;
            self.tables.take(&mut derive.rows, 1)?;
            self.tables.end_parts()?;
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<(Vec<StagedFile>, Violations)> {
        self.cut(self.end)?;
        Ok((self.tables.finish()?, self.violations))
    }
}
