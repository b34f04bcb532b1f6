//! How a recording was read and mapped, kept with it as JSON so that it can be mapped again. Not what that is: each kind
//! of recording has a setup of its own, in a file of its own name.

use crate::error::{Error, ErrorKind, Result};
use crate::store::{Database, Transaction};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The kind of these files, for the store.
const KIND: &str = "setup";
/// The name of the file of exports, whose setup is [`crate::description::StoredSetup`].
pub(super) const OF_EXPORTS: &str = "setup.json";

/// What was kept of a recording in the file `name`; `None` when it is of another kind.
///
/// # Errors
/// When it cannot be read.
pub(super) fn stored<T: DeserializeOwned>(db: &Database, recording: &str, name: &str) -> Result<Option<T>> {
    let Some(text) = db.blob(KIND, recording, name)? else { return Ok(None) };
    let bad = |e| Error::database(format!("the setup of '{recording}' cannot be read")).because(e);
    Ok(Some(serde_json::from_slice(&text).map_err(bad)?))
}

/// Keeps it with the recording.
///
/// # Errors
/// The disk.
pub(super) fn keep<T: Serialize>(tx: &mut Transaction, recording: &str, name: &str, setup: &T) -> Result<()> {
    let text =
        serde_json::to_vec_pretty(setup).map_err(|e| Error::new(ErrorKind::Bug, "setup").because(e))?;
    tx.put_blob(KIND, recording, name, &text)
}
