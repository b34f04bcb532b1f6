//! The operating system's [`Disk`]. The one file that may create, rename and remove files of a database.

#![expect(clippy::disallowed_methods, reason = "this is the disk")]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use super::disk::{Disk, DiskFile};
use super::write_behind::WriteBehind;

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
        // A database from elsewhere may have a link there, to a file that is none of it.
        if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            return Err(io::Error::other("there is a link in place of the file; remove it"));
        }
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// File systems without links get a copy, which is renamed: the lock of the database keeps others away
    /// between the look at the place and the renaming.
    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        match fs::hard_link(from, to) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists && !to.try_exists()? => {
                let copy = from.with_extension("copy");
                fs::copy(from, &copy)?;
                File::open(&copy)?.sync_all()?;
                fs::rename(copy, to)
            }
            linked => linked,
        }
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
    fn check_rights(&self, folder: &Path) -> io::Result<()> {
        Ok(rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)?)
    }

    /// On other systems, only a try tells.
    #[cfg(not(unix))]
    fn check_rights(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    #[cfg(unix)]
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// On other systems, folders cannot be opened; the file system keeps renames in order there.
    #[cfg(not(unix))]
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}
