//! A disk that fails on command; it does not sync. Part of two test programs, the unit tests of `store` and
//! `it`, of which each has the names of the interface around this module.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Disk, DiskFile, RealDisk};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is full; nothing is written.
    NoSpace,
    /// The device fails.
    Device,
    /// A write gets half through, then the device fails. Other operations fail as with [`Fault::Device`].
    TornWrite,
    /// A write takes only half of the bytes, which must not become an error. Other operations succeed.
    ShortWrite,
}

/// A real disk on which one operation, or that one and all later ones, go wrong.
#[derive(Debug, Clone)]
pub struct FaultyDisk {
    plan: Plan,
    log: Arc<Mutex<Vec<String>>>,
}

#[derive(Debug, Clone, Copy)]
struct Plan {
    fault: Fault,
    at: usize,
    for_ever: bool,
}

impl FaultyDisk {
    /// A disk whose operation number `at`, counted from 1, goes wrong; with `for_ever` also all after it.
    pub fn new(fault: Fault, at: usize, for_ever: bool) -> Self {
        Self { plan: Plan { fault, at, for_ever }, log: Arc::default() }
    }

    /// A disk on which nothing goes wrong, for its log.
    pub fn sound() -> Self {
        Self::new(Fault::Device, 0, false)
    }

    /// All operations so far, e.g. `sync commit.json`; only the last part of a path is named.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts an operation; true when it must go wrong.
    fn is_bad(&self, what: &str, path: &Path) -> bool {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        log.push(format!("{what} {name}"));
        let Plan { at, for_ever, .. } = self.plan;
        log.len() == at || (for_ever && at > 0 && log.len() > at)
    }

    /// An operation that is not a write.
    fn step(&self, what: &str, path: &Path) -> io::Result<()> {
        let bad = self.is_bad(what, path) && self.plan.fault != Fault::ShortWrite;
        if bad { Err(self.error()) } else { Ok(()) }
    }

    fn error(&self) -> io::Error {
        let kind = match self.plan.fault {
            Fault::NoSpace => io::ErrorKind::StorageFull,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, "the disk fails on command")
    }
}

impl Disk for FaultyDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.step("create folder", path)?;
        RealDisk.create_dir_all(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.step("create", path)?;
        let file = RealDisk.create(path)?;
        Ok(Box::new(FaultyFile { file, disk: self.clone(), path: path.into() }))
    }

    fn open_lock(&self, path: &Path) -> io::Result<File> {
        self.step("open lock", path)?;
        RealDisk.open_lock(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("rename", from)?;
        RealDisk.rename(from, to)
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("publish", from)?;
        RealDisk.publish(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step("remove", path)?;
        RealDisk.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.step("remove folder", path)?;
        RealDisk.remove_dir(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.step("remove tree", path)?;
        RealDisk.remove_dir_all(path)
    }

    fn check_rights(&self, folder: &Path) -> io::Result<()> {
        self.step("check rights", folder)?;
        RealDisk.check_rights(folder)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step("sync folder", path)
    }
}

struct FaultyFile {
    file: Box<dyn DiskFile>,
    disk: FaultyDisk,
    path: Box<Path>,
}

impl Write for FaultyFile {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if !self.disk.is_bad("write", &self.path) {
            return self.file.write(buffer);
        }
        let half = buffer.get(..buffer.len().div_ceil(2)).unwrap_or(buffer);
        match self.disk.plan.fault {
            Fault::ShortWrite => self.file.write(half),
            Fault::TornWrite => {
                self.file.write_all(half)?;
                Err(self.disk.error())
            }
            Fault::NoSpace | Fault::Device => Err(self.disk.error()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DiskFile for FaultyFile {
    fn sync(&mut self) -> io::Result<()> {
        self.disk.step("sync", &self.path)
    }
}
