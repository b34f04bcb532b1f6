//! What a database needs of a disk for writing, as a trait: tests make every step of it fail (see
//! `tests/faulty_disk`). Not the disk itself (see `real_disk`), and not for reading, which has no
//! consequences.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// What a database needs of a disk. Every function does one thing and does not retry.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Creates a folder and the folders around it; fine when it exists.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Creates a file, or empties the one that is there. The real disk syncs large files in the background;
    /// an error there is the error of the next write or sync.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens a file to lock it, creates it when it is not there, and leaves its content alone.
    fn open_lock(&self, path: &Path) -> io::Result<File>;
    /// Renames a file, over another one if need be, in one step.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file a second name, in one step; fails if there is a file of that name.
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder and everything in it.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Fails if the names in a folder may not be changed.
    fn check_rights(&self, folder: &Path) -> io::Result<()>;
    /// Makes the names in a folder survive a power cut.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
}

/// A file being written.
pub trait DiskFile: Write + Send {
    /// Makes the content survive a power cut.
    fn sync(&mut self) -> io::Result<()>;
}
