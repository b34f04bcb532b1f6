//! What makes the slow responses of a task or ISR slow. Not how they are compared (see view `slow_part`).

use super::refused::unknown;
use super::{Asked, RESPONSE, some};
use crate::engine::{Param, Session};
use crate::error::{Error, Result};
use arrow::array::RecordBatch;

/// What makes the slow responses of an entity slow: rows of view `slow_part`, and which of their columns hold
/// times. Of each recording, the greatest difference comes first.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when one instance or another metric than `ResponseTime` is asked for,
/// or there are no two responses; those of a query.
pub fn slow_parts(session: &Session, asked: &Asked) -> Result<(Vec<RecordBatch>, Vec<bool>)> {
    let Asked { metric, entity, is_chosen, .. } = asked;
    if session.queries().metric(metric)?.name != RESPONSE || *is_chosen {
        return Err(Error::usage(
            "--slow compares the responses of a task or ISR, not one of them, nor another metric",
        )
        .hint(format!("write {RESPONSE}:{entity} --slow")));
    }
    let statement = "SELECT * FROM slow_part WHERE process = $entity \
         ORDER BY recording, difference DESC, kind, by_process, runnable, object, reason";
    let found = session.sql(statement, &[("entity", Param::Text(entity.clone()))])?;
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
