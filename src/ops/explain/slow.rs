//! What makes the slow responses of a task or ISR slow. Not how they are compared (see view `slow_part`).

use super::{Asked, RESPONSE, Which, some, unknown};
use crate::engine::{Param, Session};
use crate::error::{Error, Result};
use arrow::array::RecordBatch;

/// The columns of view `response_part` that the kinds of parts of view `slow_part` do not have.
const OF_ONE: &str = "0 AS begin_at, 0 AS end_at, CAST(NULL AS VARCHAR) AS state, CAST(NULL AS VARCHAR) AS core, \
     CAST(NULL AS BIGINT) AS by_instance, CAST(NULL AS VARCHAR) AS holder_state, \
     CAST(NULL AS VARCHAR) AS behind_process, CAST(NULL AS BIGINT) AS behind_instance, \
     CAST(NULL AS VARCHAR) AS activated_by, CAST(NULL AS BIGINT) AS activated_by_instance, \
     CAST(NULL AS VARCHAR) AS triggered_by, CAST(NULL AS BIGINT) AS triggered_by_instance";

/// What makes the slow responses of an entity slow: rows of view `slow_part`, and which of their columns hold
/// times. Of each recording, the greatest difference comes first.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when one instance or another metric than `ResponseTime` is asked for,
/// or there are no two responses; those of a query.
pub fn slow_parts(session: &Session, asked: &Asked) -> Result<(Vec<RecordBatch>, Vec<bool>)> {
    compared(session, asked, "*")
}

/// The same, with all columns that [`super::Parts`] has words for.
///
/// # Errors
/// Those of [`slow_parts`].
pub(crate) fn slow_parts_for_words(session: &Session, asked: &Asked) -> Result<Vec<RecordBatch>> {
    Ok(compared(session, asked, &format!("*, {OF_ONE}"))?.0)
}

fn compared(session: &Session, asked: &Asked, columns: &str) -> Result<(Vec<RecordBatch>, Vec<bool>)> {
    let Asked { metric, entity, which } = asked;
    if session.queries().metric(metric)?.name != RESPONSE || *which != Which::Greatest {
        return Err(Error::usage(
            "--slow compares the responses of a task or ISR, not one of them, nor another metric",
        )
        .hint(format!("write {RESPONSE}:{entity} --slow")));
    }
    let statement = format!(
        "SELECT {columns} FROM slow_part WHERE process = $entity \
         ORDER BY recording, difference DESC, kind, by_process, runnable, object, reason"
    );
    let found = session.sql(&statement, &[("entity", Param::Text(entity.clone()))])?;
    let times = found.times().to_vec();
    let found = some(found)?;
    if !found.is_empty() {
        return Ok((found, times));
    }
    Err(match unknown(session, entity)? {
        Some(error) => error,
        None => Error::usage(format!("no recording has two complete responses of {entity} to compare")),
    })
}
