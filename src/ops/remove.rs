//! `remove`: removes recordings from a database. Not the transaction (see [`crate::store`]).

use crate::error::Result;
use crate::store::{Database, Disk, Location};
use std::sync::Arc;

/// Removes recordings, in one commit.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when one of them is not there; another writer; the disk. The database
/// is then unchanged.
pub fn remove(disk: Arc<dyn Disk>, at: impl Into<Location>, recordings: &[String]) -> Result<()> {
    let mut tx = Database::begin_removal(disk, at)?;
    for name in recordings {
        tx.before().check_recording(Some(name))?;
        tx.drop_recording(name)?;
    }
    tx.commit()
}
