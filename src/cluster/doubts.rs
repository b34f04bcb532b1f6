//! The findings that make results of recordings doubtful, read by a cluster: a file for each recording that
//! has any. Not which those are (see [`crate::ops::findings`]).

use arrow::array::RecordBatch;

use super::ask::Fleet;
use super::task::Work;
use super::texts;
use crate::error::Result;
use crate::ops::findings::{self, Found};
use crate::schema::tables;
use crate::store::Database;

/// As [`findings::doubts`] of all recordings.
///
/// # Errors
/// The same; when the cluster is not there, or fails.
pub(crate) fn doubts(fleet: &Fleet<'_>) -> Result<Vec<Found>> {
    if !fleet.session.database().has(tables::DIAGNOSTIC, None)? {
        return Ok(Vec::new());
    }
    let mut all: Vec<(String, Found)> = texts::gathered(fleet, Work::Doubts)?;
    // The order of the files.
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(all.into_iter().map(|(_, found)| found).collect())
}

/// The work of an executor, on a database of its recordings only.
pub(super) fn of_some(database: &Database, rows: &mut dyn FnMut(RecordBatch) -> bool) -> Result<()> {
    let found = findings::doubts(database, None)?;
    let named: Vec<_> = found.into_iter().map(|found| (found.recording.clone(), found)).collect();
    if !named.is_empty() {
        rows(texts::passed(&named)?);
    }
    Ok(())
}
