//! Room on the disk that a database in a folder keeps for itself, so that a recording can be removed when the
//! disk is full: that takes a commit, and a commit takes a few blocks. Not for other commits, which would use
//! it up and fail all the same.

use std::io;

use super::database::Database;
use super::folder::Folder;
use super::layout::{REMOVED, RESERVE, STAGING};
use crate::error::{Error, Result};

/// Enough for the commit of a removal and the folders around it, in blocks of 4 KiB.
const BYTES: usize = 64 << 10;

/// Makes the reserve of a database that has none. A disk that has no room for it is no error: the next writer
/// tries again.
pub(super) fn keep(folder: &Folder) {
    if folder.exists(RESERVE).unwrap_or(true) || !Database::is_at(folder.root()).unwrap_or(false) {
        return;
    }
    if folder.write(RESERVE, &incompressible()).is_err() {
        let _ = folder.remove_file(RESERVE);
    }
}

/// Gives the room of the reserve back to the disk. `folder` may be none of a database: then nothing is done.
pub(super) fn spend(folder: &Folder) -> Result<()> {
    if Database::is_at(folder.root())? { folder.remove_file(RESERVE) } else { Ok(()) }
}

/// The same error, with the next step when the disk is full and files of the database wait to be deleted.
pub(super) fn on_full_disk(error: Error, folder: &Folder) -> Error {
    let is_full = |e: &(dyn std::error::Error + 'static)| {
        e.downcast_ref().is_some_and(|e: &io::Error| e.kind() == io::ErrorKind::StorageFull)
    };
    let waits = [REMOVED, STAGING].iter().any(|name| folder.exists(name).unwrap_or_default());
    if !waits || !std::error::Error::source(&error).is_some_and(is_full) {
        return error;
    }
    error.hint(format!(
        "`btfdb vacuum {} --older-than 0s` deletes what was removed, which a reader may still need",
        folder.location()
    ))
}

/// Bytes that take their room also where the file system compresses or leaves out zeros.
fn incompressible() -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    blake3::Hasher::new().finalize_xof().fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::{Disk, RealDisk};
    use crate::time::TimeScale;

    #[test]
    fn a_removal_spends_the_reserve_and_makes_it_again() {
        let dir = tempfile::tempdir().unwrap();
        let (disk, at) = (Arc::new(RealDisk) as Arc<dyn Disk>, dir.path());
        let folder = Folder::new(Arc::clone(&disk), at);
        let size = || folder.path(RESERVE).metadata().map(|file| file.len()).ok();
        // Not in a folder that is no database, and neither before the first commit.
        std::fs::write(folder.path("other"), "").unwrap();
        keep(&folder);
        std::fs::remove_file(folder.path("other")).unwrap();
        drop(Database::begin(Arc::clone(&disk), at, Some(TimeScale::Ns)).unwrap());
        assert_eq!(size(), None);
        let mut tx = Database::begin(Arc::clone(&disk), at, Some(TimeScale::Ns)).unwrap();
        tx.set_recording("idle", None, None).unwrap();
        tx.commit().unwrap();
        assert_eq!(size(), Some(BYTES as u64));
        let mut tx = Database::begin_removal(disk, at).unwrap();
        assert_eq!(size(), None);
        tx.drop_recording("idle").unwrap();
        tx.commit().unwrap();
        assert_eq!(size(), Some(BYTES as u64));
    }

    #[test]
    fn a_file_of_somebody_else_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(Arc::new(RealDisk), dir.path());
        std::fs::write(folder.path(RESERVE), "theirs").unwrap();
        spend(&folder).unwrap();
        assert!(folder.exists(RESERVE).unwrap());
    }
}
