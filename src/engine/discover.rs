//! The chains and links that a recording of a session shows. Not which events they are made of, nor their
//! rows (see `discovery`).

use super::discovery::{events_of, take_in};
use super::session::Session;
use crate::chain::{Discovery, Limits};
use crate::error::Result;

/// What a recording shows, in one pass over its events.
///
/// # Errors
/// Those of a query.
pub(crate) fn discover(session: &Session, recording: &str, limits: Limits) -> Result<Discovery> {
    let mut discovery = Discovery::new(limits);
    for batch in session.sql(&events_of(recording), &[])? {
        take_in(&mut discovery, &batch?)?;
    }
    Ok(discovery)
}
