//! Deletes what no reader needs any more: files that commits took out of the database, and files of the log
//! that checkpoints replace. What was taken out a short time ago stays, because a reader that was opened
//! before may still read it. Not what writers that are gone have left, which each writer removes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::commit;
use super::database::Database;
use super::disk::Disk;
use super::folder::Folder;
use super::layout::{self, LOG, REMOVED};
use super::lock::Lock;
use super::log::{numbers, pieces_of};
use crate::error::{Error, Result};

/// This many of the last commits stay in the log as they are: writers that began before look at them.
const COMMITS_KEPT: u64 = 64;

/// What was deleted, and what stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VacuumReport {
    /// Number of files that were deleted.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// Number of files that are not part of the database and stay, because they were taken out later.
    pub kept: u64,
    /// Their size.
    pub kept_bytes: u64,
}

/// Deletes what was taken out of the database at `path` before that time.
///
/// # Errors
/// [`crate::error::ErrorKind::Database`] when there is no database; the disk. What was deleted until then
/// stays deleted; the database is the same.
pub fn vacuum(disk: Arc<dyn Disk>, path: &Path, taken_out_before: SystemTime) -> Result<VacuumReport> {
    Database::open(path)?;
    let folder = Folder::new(disk, path);
    let _lock = Lock::for_commit(&folder)?;
    commit::recover(&folder)?;
    let tip = Database::open(path)?.generation();
    let mut report = VacuumReport::default();
    for name in entries(&folder, REMOVED)? {
        let removed = format!("{REMOVED}/{name}");
        let (files, bytes) = size_of(&folder.path(&removed))?;
        if is_older(&folder.path(&removed), taken_out_before)? {
            folder.remove_tree(&removed)?;
            (report.files, report.bytes) = (report.files + files, report.bytes + bytes);
        } else {
            (report.kept, report.kept_bytes) = (report.kept + files, report.kept_bytes + bytes);
        }
    }
    if entries(&folder, REMOVED)?.is_empty() {
        folder.remove_tree(REMOVED)?;
    }
    let needed: BTreeSet<_> = pieces_of(path, tip)?.into_iter().collect();
    for (number, level) in numbers(path)? {
        let name = if level == 0 { layout::commit(number) } else { layout::checkpoint(number, level) };
        let is_recent = number + COMMITS_KEPT > tip;
        if is_recent || needed.contains(&(number, level)) || !is_older(&folder.path(&name), taken_out_before)?
        {
            continue;
        }
        report.bytes += size_of(&folder.path(&name))?.1;
        report.files += 1;
        folder.remove_file(&name)?;
    }
    folder.sync(LOG)?;
    Ok(report)
}

/// The number of files that [`vacuum`] would look at, and their size.
pub(super) fn waiting(root: &Path) -> Result<(u64, u64)> {
    size_of(&root.join(REMOVED))
}

fn entries(folder: &Folder, name: &str) -> Result<Vec<String>> {
    let path = folder.path(name);
    if !folder.exists(name)? {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(&path).map_err(|e| Error::io("list", &path, e))?;
    Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
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
    for entry in fs::read_dir(path).map_err(|e| Error::io("list", path, e))? {
        let entry = entry.map_err(|e| Error::io("list", path, e))?;
        let (files, bytes) = size_of(&entry.path())?;
        sum = (sum.0 + files, sum.1 + bytes);
    }
    Ok(sum)
}
