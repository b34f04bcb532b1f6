//! Locks on files. The operating system releases them when the process ends, in whatever way, so that no
//! stale lock remains. Readers need none.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::folder::Folder;
use super::layout::LOCK;
use crate::error::{Error, Result};

/// How long a writer that begins or ends waits for the commit of another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// The right to do something that only one may do, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// The right to commit. Waits for some time while another process, or another part of this one, has it.
    pub(super) fn for_commit(folder: &Folder) -> Result<Self> {
        Self::within(folder, PATIENCE)
    }

    /// The same, when all is made that is to be committed: it would be lost. Waits as long as another one has
    /// the right, which ends with its process; a signal ends this one.
    pub(super) fn for_made(folder: &Folder) -> Result<Self> {
        Self::within(folder, Duration::MAX)
    }

    fn within(folder: &Folder, patience: Duration) -> Result<Self> {
        let begun = Instant::now();
        loop {
            if let Some(lock) = Self::try_take(folder, LOCK)? {
                return Ok(lock);
            }
            if begun.elapsed() > patience {
                let root = folder.root().display();
                return Err(Error::database(format!("another btfdb is writing to '{root}' for long"))
                    .hint("try again when it is done; the lock ends with the process that holds it"));
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Takes the lock of a file, which is made if need be; `None` when another has it.
    pub(super) fn try_take(folder: &Folder, name: &str) -> Result<Option<Self>> {
        folder.create_parents(name)?;
        let path = folder.path(name);
        let file = folder.disk().open_lock(&path).map_err(|e| Error::io("open", &path, e))?;
        match file.try_lock() {
            Ok(()) => Ok(is_the_file_at(&file, &path).then_some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Interrupted => Ok(None),
            Err(TryLockError::Error(e)) => Err(Error::io("lock", &path, e)),
        }
    }
}

/// False if the file was removed between opening and locking: a writer that gives up the creation of a
/// database removes it together with the folder, and a lock on it would not exclude others.
#[cfg(unix)]
fn is_the_file_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let here = file.metadata().map(|m| (m.dev(), m.ino()));
    let there = std::fs::metadata(path).map(|m| (m.dev(), m.ino()));
    matches!((here, there), (Ok(a), Ok(b)) if a == b)
}

/// On other systems, an open file cannot be removed.
#[cfg(not(unix))]
fn is_the_file_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::error::ErrorKind;
    use crate::store::RealDisk;

    #[test]
    fn the_second_writer_waits_for_the_first_one() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(Arc::new(RealDisk), dir.path());
        let first = Lock::for_commit(&folder).unwrap();
        let refused = Lock::within(&folder, Duration::from_millis(20)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Database);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| Lock::for_commit(&folder).map(drop));
            // Whoever has something to lose waits without an end.
            let third = scope.spawn(|| Lock::for_made(&folder).map(drop));
            sleep(Duration::from_millis(20));
            assert!(!second.is_finished() && !third.is_finished());
            drop(first);
            second.join().unwrap().unwrap();
            third.join().unwrap().unwrap();
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_file_elsewhere_is_no_lock() {
        let (dir, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), dir.path().join(LOCK)).unwrap();
        let folder = Folder::new(Arc::new(RealDisk), dir.path());
        let refused = Lock::for_commit(&folder).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Io);
        fs::remove_file(dir.path().join(LOCK)).unwrap();
        Lock::for_commit(&folder).unwrap();
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
