//! A database folder through a [`Disk`], by relative paths. Knows nothing of what the files mean.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::checksum::{Seal, SealedFile};
use super::disk::Disk;
use super::layout;
use super::location::Location;
use crate::error::{Error, Result};

#[derive(Debug, Clone)]
pub(super) struct Folder {
    disk: Arc<dyn Disk>,
    /// A folder.
    location: Location,
    root: PathBuf,
}

impl Folder {
    pub(super) fn new(disk: Arc<dyn Disk>, root: &Path) -> Self {
        Self { disk, location: root.into(), root: root.to_path_buf() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(super) fn exists(&self, name: &str) -> Result<bool> {
        let path = self.path(name);
        path.try_exists().map_err(|e| Error::io("look at", path, e))
    }

    /// Creates a file, and the folders around it.
    pub(super) fn create(&self, name: &str) -> Result<SealedFile> {
        self.create_parents(name)?;
        let path = self.path(name);
        let file = self.disk.create(&path).map_err(|e| Error::io("create", path, e))?;
        Ok(SealedFile::new(file))
    }

    /// Writes a whole file and syncs it.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<Seal> {
        let mut file = self.create(name)?;
        let written = file.write_all(content).and_then(|()| file.finish());
        written.map_err(|e| Error::io("write", self.path(name), e))
    }

    /// Moves a file, and creates the folders around its new place.
    pub(super) fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.create_parents(to)?;
        let to = self.path(to);
        self.disk.rename(&self.path(from), &to).map_err(|e| Error::io("move a file to", to, e))
    }

    /// Moves a file to a place where none is, in one step; fails if there is one.
    pub(super) fn publish(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.path(from), self.path(to));
        self.disk.publish(&from, &to).map_err(|e| Error::io("make", to, e))
    }

    /// Removes a file; fine when it is gone already.
    pub(super) fn remove_file(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        ignore_missing(self.disk.remove_file(&path)).map_err(|e| Error::io("remove", path, e))
    }

    /// Removes a folder with its content; fine when it is gone already.
    pub(super) fn remove_tree(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        ignore_missing(self.disk.remove_dir_all(&path)).map_err(|e| Error::io("remove", path, e))
    }

    /// Removes the folders around `name` that are empty.
    pub(super) fn remove_empty_parents(&self, name: &str) -> Result<()> {
        for folder in layout::folders_of(name) {
            let path = self.path(folder);
            if !path.exists() {
                continue;
            }
            if !is_empty(&path) {
                break;
            }
            ignore_missing(self.disk.remove_dir(&path)).map_err(|e| Error::io("remove", path, e))?;
        }
        Ok(())
    }

    /// Fails if files may not be taken out of a folder.
    pub(super) fn check_rights(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        self.disk.check_rights(&path).map_err(|e| Error::io("take files out of", path, e))
    }

    /// Syncs the names in one folder; `""` is the database itself.
    pub(super) fn sync(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        self.disk.sync_dir(&path).map_err(|e| Error::io("sync", path, e))
    }

    /// Syncs the names in a folder and in all folders in it.
    pub(super) fn sync_tree(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        for entry in fs::read_dir(&path).map_err(|e| Error::io("list", &path, e))? {
            let entry = entry.map_err(|e| Error::io("list", &path, e))?;
            if entry.path().is_dir() {
                self.sync_tree(&format!("{name}/{}", entry.file_name().to_string_lossy()))?;
            }
        }
        self.sync(name)
    }

    /// Creates the folders around `name`.
    pub(super) fn create_parents(&self, name: &str) -> Result<()> {
        let path = layout::folders_of(name).next().map_or_else(|| self.root.clone(), |f| self.path(f));
        if path.is_dir() {
            return Ok(());
        }
        self.disk.create_dir_all(&path).map_err(|e| Error::io("create", path, e))
    }
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}
