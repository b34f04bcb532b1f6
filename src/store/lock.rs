//! The lock of the only writer. The operating system releases it when the process ends, in whatever way, so
//! that no stale lock remains. Readers need none.

use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::Path;

use super::folder::Folder;
use super::layout::LOCK;
use crate::error::{Error, Result};

/// The right to write, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a database. Fails when another process, or another part of this one, has it.
    pub(super) fn take(folder: &Folder) -> Result<Self> {
        let path = folder.path(LOCK);
        let mut file = folder.disk().open_lock(&path).map_err(|e| Error::io("open", &path, e))?;
        match file.try_lock() {
            Ok(()) if is_the_file_at(&file, &path) => {}
            Ok(()) | Err(TryLockError::WouldBlock) => return Err(busy(folder.root(), &path)),
            Err(TryLockError::Error(e)) => return Err(Error::io("lock", &path, e)),
        }
        // For the message of the second writer only; the lock holds without it.
        let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

fn busy(root: &Path, lock: &Path) -> Error {
    let holder = fs::read_to_string(lock).ok().and_then(|pid| pid.trim().parse::<u32>().ok());
    let holder = holder.map_or_else(String::new, |pid| format!(" (process {pid})"));
    Error::database(format!("another btfdb{holder} is writing to '{}'", root.display()))
        .hint("try again when it is done; the lock ends with the process that holds it")
}

/// False if the file was removed between opening and locking: a writer that gives up the creation of a
/// database removes it together with the folder, and a lock on it would not exclude others.
#[cfg(unix)]
fn is_the_file_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let here = file.metadata().map(|m| (m.dev(), m.ino()));
    let there = fs::metadata(path).map(|m| (m.dev(), m.ino()));
    matches!((here, there), (Ok(a), Ok(b)) if a == b)
}

/// On other systems, an open file cannot be removed.
#[cfg(not(unix))]
fn is_the_file_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::error::ErrorKind;
    use crate::store::RealDisk;

    #[test]
    fn the_second_writer_learns_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(Arc::new(RealDisk), dir.path());
        let first = Lock::take(&folder).unwrap();
        let refused = Lock::take(&folder).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Database);
        assert!(refused.to_string().contains(&format!("process {}", std::process::id())), "{refused}");
        drop(first);
        Lock::take(&folder).unwrap();
    }

    #[test]
    fn a_lock_on_a_removed_file_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LOCK);
        let file = File::create(&path).unwrap();
        assert!(is_the_file_at(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_the_file_at(&file, &path));
    }
}
