//! The vacuum of a folder, under its lock: commits have moved what they took out into a folder of its own.

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
    let _lock = Lock::for_commit(folder)?;
    if publish::recover(folder).is_err() {
        let is_old = |number| is_older(&folder.path(&layout::commit(number)), taken_out_before);
        publish::discard(folder, |commit| is_old(commit.head.number))?;
        publish::recover(folder)?;
    }
    let tip = Database::open(location.clone())?.generation();
    let mut report = VacuumReport::default();
    for name in location.names(REMOVED)? {
        let removed = format!("{REMOVED}/{name}");
        let (files, bytes) = size_of(&folder.path(&removed))?;
        if is_older(&folder.path(&removed), taken_out_before)? {
            folder.remove_tree(&removed)?;
            (report.files, report.bytes) = (report.files + files, report.bytes + bytes);
        } else {
            (report.kept, report.kept_bytes) = (report.kept + files, report.kept_bytes + bytes);
        }
    }
    if location.names(REMOVED)?.is_empty() {
        folder.remove_tree(REMOVED)?;
    }
    let superseded = Superseded::of(location, tip)?;
    for file in files_of_log(location)? {
        let name = file.path();
        let path = folder.path(&name);
        if superseded.has(file) && is_older(&path, taken_out_before)? {
            report.bytes += size_of(&path)?.1;
            report.files += 1;
            folder.remove_file(&name)?;
        }
    }
    folder.sync(LOG)?;
    Ok(report)
}

/// The number of files that commits took out of a folder, and their size.
pub(in crate::store) fn waiting(root: &Path) -> Result<(u64, u64)> {
    size_of(&root.join(REMOVED))
}

fn is_older(path: &Path, than: SystemTime) -> Result<bool> {
    let changed = fs::metadata(path).and_then(|m| m.modified()).map_err(|e| Error::io("look at", path, e))?;
    Ok(changed < than)
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
