//! Timing requirements of the recordings of a cluster, as one process measures them. Not their measurement.

use std::path::Path;

use arrow::array::RecordBatch;

use super::ask::Fleet;
use super::task::Work;
use crate::engine::Session;
use crate::error::Result;
use crate::require::{Known, Outcome, Requirements, measure, outcome_columns, outcome_schema, outcomes_of};

/// As [`measure`], of all recordings of a session. `text` and `file`: those of their file.
///
/// # Errors
/// Those of [`measure`]; when the cluster is not there, or fails.
pub(crate) fn requirements(fleet: &Fleet<'_>, text: &str, file: &Path) -> Result<Vec<Outcome>> {
    let known = Box::new(Known::of(&fleet.statements()?, &Requirements::parse(text, file)?)?);
    let (text, file) = (text.to_owned(), file.to_string_lossy().into_owned());
    let work = Work::Requirements { text, file, known };
    let mut outcomes = Vec::new();
    for batch in fleet.run_in_order(work, &outcome_schema())? {
        outcomes.extend(outcomes_of(&batch)?);
    }
    Ok(outcomes)
}

/// The work of an executor, in a session of its recordings.
pub(super) fn measure_all(
    session: &Session,
    (text, file, known): (&str, &Path, &Known),
    recordings: &[String],
    rows: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<()> {
    let requirements = Requirements::parse(text, file)?;
    rows(outcome_columns(&measure(session, &requirements, known, recordings)?)?);
    Ok(())
}
