//! Timing requirements of the recordings of a cluster, as one process measures them. Not their measurement.

use std::path::Path;

use arrow::array::RecordBatch;

use super::ask::Fleet;
use super::task::Work;
use crate::engine::Session;
use crate::error::Result;
use crate::require::{Outcome, Requirements, measure, outcome_columns, outcome_schema, outcomes_of};

/// The outcomes of requirements in all recordings of a session, in the order of [`measure`]: recording by
/// recording. `text` and `file`: those of their file.
///
/// # Errors
/// Those of [`measure`]; when the cluster is not there, or fails.
pub(crate) fn requirements(fleet: &Fleet<'_>, text: &str, file: &Path) -> Result<Vec<Outcome>> {
    let work = Work::Requirements { text: text.to_owned(), file: file.to_string_lossy().into_owned() };
    let mut outcomes = Vec::new();
    for batch in fleet.run_in_order(work, &outcome_schema())? {
        outcomes.extend(outcomes_of(&batch)?);
    }
    Ok(outcomes)
}

/// The work of an executor.
pub(super) fn measure_all(
    session: &Session,
    text: &str,
    file: &Path,
    recordings: &[String],
    rows: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<()> {
    let requirements = Requirements::parse(text, file)?;
    for recording in recordings {
        let outcomes = measure(session, &requirements, recording)?;
        if !rows(outcome_columns(&outcomes)?) {
            break;
        }
    }
    Ok(())
}
