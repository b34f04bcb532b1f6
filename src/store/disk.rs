//! The one door through which a database is written, so that a test can make every step of it fail (see
//! [`super::faults`]). Not for reading, which has no consequences.

#![expect(clippy::disallowed_methods, reason = "this is the disk")]

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::write_behind::WriteBehind;

/// What a database needs of a disk. Every function does one thing and does not retry.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Creates a folder and the folders around it; fine when it exists.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Creates a file, or empties the one that is there. The real one goes to the disk while it is written; what fails there fails
    /// the next write or the sync.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens a file to lock it, creates it when it is not there, and leaves its content alone.
    fn open_lock(&self, path: &Path) -> io::Result<File>;
    /// Renames a file, over another one if need be, in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder and everything in it.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder survive a power cut.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// A file being written.
pub trait DiskFile: Write + Send {
    /// Makes the content survive a power cut.
    fn sync(&mut self) -> io::Result<()>;
}

/// The disk of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(WriteBehind::new(File::create(path)?)))
    }

    fn open_lock(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    #[cfg(unix)]
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// Folders cannot be opened elsewhere; there the file system keeps renames in order by itself.
    #[cfg(not(unix))]
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}
