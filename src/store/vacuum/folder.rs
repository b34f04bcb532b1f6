//! The vacuum of a folder: commits have moved what they took out into a folder of its own. What may go is
//! decided under the lock and deleted without it, because deleting takes long. Not the rule of what may go
//! (see `super`).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::super::database::Database;
use super::super::folder::Folder;
use super::super::layout::{self, LOG, REMOVED};
use super::super::lock::Lock;
use super::super::log::files_of_log;
use super::super::place::is_missing;
use super::super::reserve;
use super::super::staging::Staging;
use super::super::target::publish;
use super::{Superseded, VacuumReport};
use crate::error::{Error, Result};

pub(super) fn vacuum(folder: &Folder, taken_out_before: SystemTime) -> Result<VacuumReport> {
    let report = delete(folder, taken_out_before).map_err(|e| reserve::on_full_disk(e, folder))?;
    reserve::keep(folder);
    Ok(report)
}

fn delete(folder: &Folder, taken_out_before: SystemTime) -> Result<VacuumReport> {
    let location = folder.location();
    Database::open(location.clone())?;
    let lock = Lock::for_commit(folder)?;
    if publish::recover(folder).is_err() {
        let is_old = |number| is_older(&folder.path(&layout::commit(number)), taken_out_before);
        publish::discard(folder, |commit| is_old(commit.head.number))?;
        publish::recover(folder)?;
    }
    let tip = Database::open(location.clone())?.generation();
    let mut report = VacuumReport::default();
    let mut aside = Aside { folder, staging: None, names: Vec::new() };
    for name in location.names(REMOVED)? {
        let removed = format!("{REMOVED}/{name}");
        let (files, bytes) = size_of(&folder.path(&removed))?;
        if is_older(&folder.path(&removed), taken_out_before)? {
            aside.put(&removed)?;
            (report.files, report.bytes) = (report.files + files, report.bytes + bytes);
        } else {
            (report.kept, report.kept_bytes) = (report.kept + files, report.kept_bytes + bytes);
        }
    }
    folder.remove_empty_parents(&format!("{REMOVED}/x"))?;
    let mut made = BTreeMap::new();
    for file in files_of_log(location)? {
        // Another vacuum may have just deleted it.
        made.extend(changed(&folder.path(&file.path()))?.map(|at| (file, at)));
    }
    let superseded = Superseded::of(location, tip, made)?;
    // Nobody makes or moves a file of the log that is superseded.
    drop(lock);
    for file in superseded.before(Some(taken_out_before)) {
        let name = file.path();
        report.bytes += size_of(&folder.path(&name))?.1;
        report.files += 1;
        folder.remove_file(&name)?;
    }
    folder.sync(LOG)?;
    aside.delete()?;
    Ok(report)
}

/// Folders that nobody needs, in the folder of a writer, which has its own lock: to be deleted when others
/// may commit again.
struct Aside<'f> {
    folder: &'f Folder,
    staging: Option<Staging>,
    names: Vec<String>,
}

impl Aside<'_> {
    /// Puts a folder there. A full disk may have no room for a new name: then it is deleted at once.
    fn put(&mut self, name: &str) -> Result<()> {
        if self.staging.is_none() {
            self.staging = Staging::new(self.folder).ok();
        }
        let to = self.staging.as_ref().map(|staging| format!("{}/{}", staging.name(), self.names.len()));
        match to.filter(|to| self.folder.rename(name, to).is_ok()) {
            Some(to) => self.names.push(to),
            None => self.folder.remove_tree(name)?,
        }
        Ok(())
    }

    fn delete(self) -> Result<()> {
        self.names.iter().try_for_each(|name| self.folder.remove_tree(name))?;
        match (self.staging, Lock::for_commit(self.folder)) {
            (Some(staging), Ok(_lock)) => staging.remove(self.folder),
            // The next writer removes what is left, an empty folder.
            _ => Ok(()),
        }
    }
}

/// The number of files that commits took out of a folder, and their size.
pub(in crate::store) fn waiting(root: &Path) -> Result<(u64, u64)> {
    size_of(&root.join(REMOVED))
}

fn is_older(path: &Path, than: SystemTime) -> Result<bool> {
    Ok(changed(path)?.is_some_and(|changed| changed <= than))
}

/// When a file was written, or names in a folder changed; `None` if it is not there.
fn changed(path: &Path) -> Result<Option<SystemTime>> {
    match fs::metadata(path).and_then(|found| found.modified()) {
        Ok(changed) => Ok(Some(changed)),
        Err(e) if is_missing(&e) => Ok(None),
        Err(e) => Err(Error::io("look at", path, e)),
    }
}

/// Number and size of the files in a folder or of a file; none if it is not there.
fn size_of(path: &Path) -> Result<(u64, u64)> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return Ok((0, 0)) };
    if !metadata.is_dir() {
        return Ok((1, metadata.len()));
    }
    let mut sum = (0, 0);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        // Another vacuum has just removed it.
        Err(e) if is_missing(&e) => return Ok((0, 0)),
        Err(e) => return Err(Error::io("list", path, e)),
    };
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("list", path, e))?;
        let (files, bytes) = size_of(&entry.path())?;
        sum = (sum.0 + files, sum.1 + bytes);
    }
    Ok(sum)
}
