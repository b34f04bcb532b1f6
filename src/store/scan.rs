//! Columns of a table in stored order, row group by row group, on several threads: for code that looks at
//! every row once and needs no order. Row groups without rows of interest, by their statistics or
//! dictionaries, are not read. Not for SQL.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::RecordBatch;

use super::place::Place;
use super::{Database, names_in, read_batches, read_row_groups, row_group_spans, row_groups_with};
use crate::error::{Error, Result};
use crate::pipeline::fan_out;
use crate::schema::{NameView, TableSpec, find_column};

/// Rows of a batch: many, because each batch costs a look at its dictionaries.
const BATCH_ROWS: usize = 32 * 1024;

#[derive(Clone, Copy)]
pub(crate) struct Scan<'a> {
    pub table: &'static TableSpec,
    pub recording: &'a str,
    /// The columns of the batches; they come in the order of the table.
    pub columns: &'a [&'a str],
    /// Only row groups with rows in this window.
    pub within: Within<'a>,
    /// Only row groups that have such a name in this column.
    pub having: Option<Having<'a>>,
}

/// A column, and which of its names are wanted.
#[derive(Clone, Copy)]
pub(crate) struct Having<'a> {
    pub column: &'a str,
    pub wanted: &'a (dyn Fn(&str) -> bool + Sync),
}

/// A window of time `[from, to)`, and the columns that say when a row begins and ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Within<'a> {
    pub begin: &'a str,
    pub end: &'a str,
    pub from: i64,
    pub to: i64,
}

type Groups = (Place, Vec<usize>);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Scanner<'a> {
    pub database: &'a Database,
    pub threads: usize,
    /// A scan stops, with [`crate::error::ErrorKind::Interrupted`], soon after this becomes true.
    pub interrupt: &'a AtomicBool,
}

impl Scanner<'_> {
    /// Gives each batch with rows of interest, and possibly others, to one of as many workers as there are
    /// threads, and returns the workers. Which worker gets which batch is not defined. Fails for damaged
    /// files, with the first error of `add`, and when the scan is interrupted.
    pub(crate) fn scan<W: Send>(
        &self,
        scan: &Scan<'_>,
        worker: impl Fn() -> W + Sync,
        add: impl Fn(&mut W, &RecordBatch) -> Result<()> + Sync,
    ) -> Result<Vec<W>> {
        let jobs: Vec<(Place, usize)> = self
            .groups(scan)?
            .into_iter()
            .flat_map(|(place, groups)| groups.into_iter().map(move |group| (place.clone(), group)))
            .collect();
        let threads = self.threads.min(jobs.len());
        fan_out(threads, jobs.into_iter(), |jobs| {
            let mut worker = worker();
            for (place, group) in jobs {
                let (columns, groups) = (Some(scan.columns), Some(vec![group]));
                for batch in read_row_groups(&place, scan.table, columns, groups, BATCH_ROWS)? {
                    if self.interrupt.load(Ordering::Relaxed) {
                        return Err(Error::interrupted());
                    }
                    add(&mut worker, &batch?)?;
                }
            }
            Ok(worker)
        })
    }

    /// The names in a column of the row groups of a scan, sorted; possibly some that its rows do not have.
    pub(crate) fn names_of(&self, scan: &Scan<'_>, column: &str) -> Result<Vec<String>> {
        let mut names = BTreeSet::new();
        for (place, groups) in self.groups(scan)? {
            if let Some(some) = names_in(&place, column, &groups)? {
                names.extend(some);
                continue;
            }
            let batches = read_row_groups(&place, scan.table, Some(&[column]), Some(groups), BATCH_ROWS)?;
            for batch in batches {
                let batch = batch?;
                let found: NameView<'_> = find_column(&batch, scan.table.name, column)?;
                names.extend(found.dictionary().iter().flatten().map(str::to_owned));
            }
        }
        Ok(names.into_iter().collect())
    }

    /// Columns of all rows of a recording in a small table: reading them is faster than planning a statement.
    pub(crate) fn rows(
        &self,
        table: &'static TableSpec,
        recording: &str,
        columns: &[&str],
    ) -> Result<Vec<RecordBatch>> {
        let mut rows = Vec::new();
        for file in self.database.files(table, Some(recording))? {
            let batches = read_batches(&self.database.place_of(&file), table, Some(columns), BATCH_ROWS)?;
            rows.extend(batches.collect::<Result<Vec<_>>>()?);
        }
        Ok(rows)
    }

    fn groups(&self, scan: &Scan<'_>) -> Result<Vec<Groups>> {
        let Within { begin, end, from, to } = scan.within;
        let mut all = Vec::new();
        for file in self.database.files(scan.table, Some(scan.recording))? {
            let outside = |(first, last): (i64, i64)| last < from || first >= to;
            if file.begin_at.zip(file.end_at).is_some_and(outside) {
                continue;
            }
            let place = self.database.place_of(&file);
            let mut wanted: Vec<bool> = row_group_spans(&place, begin, end)?
                .into_iter()
                .map(|span| !span.is_some_and(outside))
                .collect();
            // To look at a dictionary behind a network costs as much as to read the columns.
            if let Some(having) = scan.having.filter(|_| !place.is_remote()) {
                let present = row_groups_with(&place, having.column, &|name| (having.wanted)(name))?;
                wanted.iter_mut().zip(present).for_each(|(wanted, present)| *wanted &= present);
            }
            let groups: Vec<usize> =
                wanted.iter().enumerate().filter(|(_, wanted)| **wanted).map(|(group, _)| group).collect();
            if !groups.is_empty() {
                all.push((place, groups));
            }
        }
        Ok(all)
    }
}
