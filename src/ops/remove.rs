//! `remove`: removes a recording from a database. Not the transaction (see [`crate::store`]).

use crate::error::{Error, Result};
use crate::store::{Database, Disk};
use std::path::Path;
use std::sync::Arc;

/// Removes a recording.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such recording; another writer; the disk. The database
/// is then unchanged.
pub fn remove(disk: Arc<dyn Disk>, database: &Path, recording: &str) -> Result<()> {
    let mut tx = Database::begin(disk, database, None)?;
    if !tx.has_recording(recording) {
        let names: Vec<&str> = tx.manifest().recordings.iter().map(|r| r.name.as_str()).collect();
        return Err(Error::usage(format!("the database has no recording '{recording}'"))
            .hint(format!("it has: {}", names.join(", "))));
    }
    tx.drop_recording(recording);
    tx.commit()
}
