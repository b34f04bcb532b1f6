//! The folder in which one writer keeps what is not committed yet. The writer has a lock on a file in it,
//! which the operating system releases when the process ends, so that others can tell what a dead writer
//! left. Not the commit (see `target::publish`).

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use super::folder::Folder;
use super::id;
use super::layout::STAGING;
use super::lock::Lock;
use crate::error::{Error, Result};

/// The lock of the writer.
const LOCK: &str = ".lock";
/// The commit that is being made: as long as it is there, others may find files of it in their places.
const COMMIT: &str = "commit.json";

/// How often, and how far apart, is looked whether a writer is there.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);

/// A folder for files that are not committed.
#[derive(Debug)]
pub(super) struct Staging {
    /// Relative to the database.
    name: String,
    /// How many places were given.
    places: AtomicU64,
    /// Until it is removed.
    lock: Mutex<Option<Lock>>,
}

impl Staging {
    /// A new folder, of this writer alone. Its name is never used again: what a writer removes at its end,
    /// without a lock, cannot be the folder of another one.
    pub(super) fn new(folder: &Folder) -> Result<Self> {
        let name = format!("{STAGING}/{}-{}", std::process::id(), id::fresh());
        let lock = || Lock::try_take(folder, &format!("{name}/{LOCK}")).transpose();
        // `verify` has the lock for an instant when it looks whether the writer is there.
        let mut looks = (0..LOOKS).map(|_| {
            lock().or_else(|| {
                sleep(PAUSE);
                None
            })
        });
        match looks.find_map(|lock| lock) {
            Some(Ok(lock)) => Ok(Self::with(name, Some(lock))),
            other => {
                let _ = Self::to_look_at(name).remove(folder);
                let taken = || Error::database("another process holds the lock of a new folder");
                Err(other.and_then(Result::err).unwrap_or_else(taken))
            }
        }
    }

    /// The folders of writers that are gone.
    pub(super) fn left_behind(folder: &Folder) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for name in all(folder.root())? {
            if let Some(lock) = Lock::try_take(folder, &format!("{name}/{LOCK}"))? {
                found.push(Self::with(name, Some(lock)));
            }
        }
        Ok(found)
    }

    /// Removes it with all that is in it. The caller holds the lock of the database, so that nobody takes it
    /// for one that was left behind: its own is given back before, because file systems of a network keep a
    /// file that is open, under another name, and its folder with it.
    pub(super) fn remove(&self, folder: &Folder) -> Result<()> {
        drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner).take());
        match folder.remove_tree(&self.name) {
            // Somebody looks whether the writer is there. The next writer removes it.
            Err(_) if holds_nothing(&folder.path(&self.name)) => Ok(()),
            Err(e) => Err(e),
            Ok(()) => folder.remove_empty_parents(&self.name),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the folder of a writer can have this name.
    pub(super) fn is_name(name: &str) -> bool {
        name.split_once('-').is_some_and(|(process, id)| process.parse::<u32>().is_ok() && id::is_one(id))
    }

    /// The folder of a writer that is gone, without its lock: to look at it.
    pub(super) fn to_look_at(name: String) -> Self {
        Self::with(name, None)
    }

    fn with(name: String, lock: Option<Lock>) -> Self {
        Self { name, places: AtomicU64::new(0), lock: Mutex::new(lock) }
    }

    /// Where a file of the path `path` is until its commit: another place for each call. All are in one
    /// folder: those of the paths would be as many as there are files, and each is made, synced and removed.
    pub(super) fn place(&self, path: &str) -> String {
        let number = self.places.fetch_add(1, Ordering::Relaxed);
        let name = path.rsplit('/').next().unwrap_or_default();
        format!("{}/{number}-{name}.staged", self.name)
    }

    /// The commit that is being made.
    pub(super) fn commit(&self) -> String {
        format!("{}/{COMMIT}", self.name)
    }
}

/// Whether the folder of a writer has only its lock, or what a file system made of that.
fn holds_nothing(path: &Path) -> bool {
    let is_hidden = |entry: io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| entry.file_name().as_encoded_bytes().starts_with(b"."))
    };
    fs::read_dir(path).is_ok_and(|mut entries| entries.all(is_hidden))
}

/// Whether the writer of a folder is still there; `None` if the folder is not. A writer that begins or ends
/// at this moment has no lock for an instant, so that this looks again before it says no.
pub(super) fn is_alive(root: &Path, name: &str) -> Option<bool> {
    for _ in 0..LOOKS {
        let lock = File::open(root.join(name).join(LOCK));
        if lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))) {
            return Some(true);
        }
        sleep(PAUSE);
        if !root.join(name).exists() {
            return None;
        }
    }
    Some(false)
}

/// The folders of all writers, in order.
pub(super) fn all(root: &Path) -> Result<Vec<String>> {
    let path = root.join(STAGING);
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io("list", path, e)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("list", &path, e))?;
        names.push(format!("{STAGING}/{}", entry.file_name().to_string_lossy()));
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::RealDisk;

    #[test]
    fn who_removes_his_folder_twice_removes_none_of_another_writer() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(Arc::new(RealDisk), dir.path());
        let first = Staging::new(&folder).unwrap();
        first.remove(&folder).unwrap();
        let second = Staging::new(&folder).unwrap();
        let place = second.place("table");
        folder.write(&place, b"rows").unwrap();
        first.remove(&folder).unwrap();
        assert!(folder.exists(&place).unwrap());
    }
}
