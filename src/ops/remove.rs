//! `remove`: removes recordings from a database. Not the transaction (see [`crate::store`]).

use crate::error::Result;
use crate::store::{Database, Disk};
use std::path::Path;
use std::sync::Arc;

/// Removes recordings, in one commit.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when one of them is not there; another writer; the disk. The database
/// is then unchanged.
pub fn remove(disk: Arc<dyn Disk>, database: &Path, recordings: &[String]) -> Result<()> {
    let mut tx = Database::begin(disk, database, None)?;
    for name in recordings {
        tx.before().check_recording(Some(name))?;
        tx.drop_recording(name)?;
    }
    tx.commit()
}
