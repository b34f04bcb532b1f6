//! The parts of the response of one instance, as rows. Not which instance that is (see `find`), nor how a
//! response is cut (see [`crate::explain`]).

use super::find::with_instance;
use super::refused::no_instance;
use super::{Chosen, Parts, some};
use crate::engine::{Param, Session};
use crate::error::{Error, Result};
use arrow::array::RecordBatch;

/// The parts of the response of an instance, in order: rows of view `response_part`, and which of their
/// columns hold times.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such instance, or it is not complete; those of a
/// query.
pub fn parts(session: &Session, chosen: &Chosen) -> Result<(Vec<RecordBatch>, Vec<bool>)> {
    if let Some((begin, end)) = chosen.response {
        let found = parts_where(session, chosen, &format!(" AND begin_at >= {begin} AND end_at <= {end}"))?;
        // A metric of the user may have the name of another one.
        if span(&found.0)? == Some((begin, end)) {
            return Ok(found);
        }
    }
    let found = parts_where(session, chosen, "")?;
    if !found.0.is_empty() {
        return Ok(found);
    }
    let recording = std::slice::from_ref(&chosen.recording);
    if with_instance(session, &chosen.process, chosen.instance, recording)?.is_empty() {
        return Err(no_instance(session, &chosen.process, chosen.instance)?);
    }
    Err(Error::usage(format!("instance {} of {} is not complete", chosen.instance, chosen.process))
        .hint("the recording, or a gap of it, cuts its response off: nobody knows how long that was"))
}

fn parts_where(session: &Session, chosen: &Chosen, and: &str) -> Result<(Vec<RecordBatch>, Vec<bool>)> {
    let params = [
        ("recording", Param::Text(chosen.recording.clone())),
        ("process", Param::Text(chosen.process.clone())),
        ("instance", Param::Int(chosen.instance)),
    ];
    let statement = format!(
        "SELECT * FROM response_part \
         WHERE recording = $recording AND process = $process AND instance = $instance{and} ORDER BY part"
    );
    let parts = session.sql(&statement, &params)?;
    let times = parts.times().to_vec();
    Ok((some(parts)?, times))
}

/// The first begin and the last end of rows of view `response_part`; `None` if there are none.
pub(crate) fn span(rows: &[RecordBatch]) -> Result<Option<(i64, i64)>> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(None) };
    let Some(row) = last.num_rows().checked_sub(1) else { return Ok(None) };
    Ok(Some((Parts::of(first)?.span(0).0, Parts::of(last)?.span(row).1)))
}
