//! Deletes what no reader needs any more: files that commits took out of the database, and files of the log
//! that checkpoints replace. What was taken out a short time ago stays, because a reader that was opened
//! before may still read it. Not what is part of the database.

mod bucket;
mod folder;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::disk::Disk;
use super::folder::Folder;
use super::layout::LogFile;
use super::location::{Kind, Location};
use super::log::{folded_in, pieces_of};
use crate::error::Result;

pub(super) use folder::waiting;

/// This many of the last commits stay in the log as they are: writers that began before look at them.
const COMMITS_KEPT: u64 = 64;

/// True if a vacuum, when the newest commit is `tip`, may delete the one of that number from the log.
pub(super) fn may_be_deleted(number: u64, tip: u64) -> bool {
    number.saturating_add(COMMITS_KEPT) <= tip
}

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

/// Deletes what was taken out of a database longer ago than `age`. `now` is the present time. In a bucket,
/// what writers that are gone have left is deleted, too, when it is a day old; in a folder, each writer does
/// that.
///
/// # Errors
/// [`crate::error::ErrorKind::Database`] when there is no database; the disk. What was deleted until then
/// stays deleted; the database is the same.
pub fn vacuum(
    disk: Arc<dyn Disk>,
    at: impl Into<Location>,
    now: SystemTime,
    age: Duration,
) -> Result<VacuumReport> {
    let location = at.into();
    match &location.0 {
        Kind::Folder(root) => {
            let before = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
            folder::vacuum(&Folder::new(disk, root), before)
        }
        Kind::Bucket(bucket) => bucket::vacuum(bucket, &location, now, age),
    }
}

/// The files of a log whose newest commit is `tip` that no new reader or writer needs.
struct Superseded {
    needed: BTreeSet<LogFile>,
    tip: u64,
    /// When each file of the log was made.
    made: BTreeMap<LogFile, SystemTime>,
}

impl Superseded {
    fn of(location: &Location, tip: u64, made: BTreeMap<LogFile, SystemTime>) -> Result<Self> {
        let mut needed: BTreeSet<_> = pieces_of(location, tip)?.into_iter().collect();
        // A commit is looked for before a checkpoint of it alone.
        let alone = needed.iter().filter(|file| file.level == Some(0));
        let alone: Vec<_> = alone.map(|file| LogFile { level: None, ..*file }).collect();
        needed.extend(alone);
        Ok(Self { needed, tip, made })
    }

    /// Those that were replaced at some time or before it: readers that began earlier still read them. `None`
    /// is before all times.
    fn before(&self, time: Option<SystemTime>) -> impl Iterator<Item = LogFile> {
        let all = self.made.iter().map(|(file, made)| (*file, *made));
        let unneeded =
            all.filter(|(file, _)| may_be_deleted(file.number, self.tip) && !self.needed.contains(file));
        let replaced = unneeded.map(move |(file, made)| {
            let by = folded_in(file).find_map(|checkpoint| self.made.get(&checkpoint));
            (file, by.copied().unwrap_or(made).max(made))
        });
        replaced.filter(move |(_, at)| time.is_some_and(|time| *at <= time)).map(|(file, _)| file)
    }
}
