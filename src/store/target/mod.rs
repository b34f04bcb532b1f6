//! Where a transaction puts what it makes, and its commit: in the folder of a database, or in a bucket. Both
//! keep the same log and know the same conflicts. Not what is changed (see `transaction`).

mod bucket;
mod folder;
pub(super) mod publish;

use std::sync::Arc;

use bucket::BucketTarget;
use folder::FolderTarget;

use super::disk::Disk;
use super::draft::Change;
use super::folder::Folder;
use super::location::{Kind, Location};
use super::log::{Head, Snapshot, pieces};
use super::staging::Staging;
use crate::error::{Error, Result};
use crate::time::TimeScale;

/// The place of one transaction.
#[derive(Debug)]
pub(super) enum Target {
    Folder(FolderTarget),
    Bucket(BucketTarget),
}

impl Target {
    /// Finishes what writers that are gone have left. Returns the state to begin from, too. `time_scale` is
    /// that of a new database; `None` means that there must be one already.
    pub fn begin(
        disk: Arc<dyn Disk>,
        location: &Location,
        time_scale: Option<TimeScale>,
    ) -> Result<(Self, Snapshot)> {
        match &location.0 {
            Kind::Folder(root) => {
                let (target, base) = FolderTarget::begin(Folder::new(disk, root), time_scale)?;
                Ok((Self::Folder(target), base))
            }
            Kind::Bucket(bucket) => {
                let (target, base) = BucketTarget::begin(disk, Arc::clone(bucket), location, time_scale)?;
                Ok((Self::Bucket(target), base))
            }
        }
    }

    pub fn location(&self) -> &Location {
        match self {
            Self::Folder(target) => target.folder.location(),
            Self::Bucket(target) => &target.location,
        }
    }

    /// Where files are until the commit: the folder, and the part of it that is this transaction's.
    pub fn scratch(&self) -> (&Folder, &Staging) {
        match self {
            Self::Folder(target) => (&target.folder, &target.staging),
            Self::Bucket(target) => (&target.folder, &target.staging),
        }
    }

    /// What makes the names of files unique, where no lock keeps other writers away.
    pub fn writer(&self) -> Option<&str> {
        match self {
            Self::Folder(_) => None,
            Self::Bucket(target) => Some(&target.id),
        }
    }

    /// Makes the change the newest commit; see [`super::Transaction::commit`].
    pub fn commit(&self, base: &Snapshot, change: &Change) -> Result<()> {
        match self {
            Self::Folder(target) => target.commit(base, change),
            Self::Bucket(target) => target.commit(base, change),
        }
    }

    /// Removes what was not committed.
    pub fn end(&self, base: &Snapshot) {
        match self {
            Self::Folder(target) => target.end(base),
            Self::Bucket(target) => target.end(),
        }
    }
}

/// The head of the newest commit; fails if one behind that of `base` has changed a recording of `change`.
fn tip_without_conflict(
    location: &Location,
    base: &Snapshot,
    change: &Change,
    tip: u64,
) -> Result<Option<Head>> {
    let after = base.head().number;
    if tip <= after {
        return Ok(None);
    }
    let newer = pieces(location, after, tip)
        .map_err(|e| e.hint("the transaction was in the making for too long: try again"))?;
    for piece in &newer {
        check_conflict(change, &piece.changed()?)?;
    }
    let Some(newest) = newer.first() else { return Ok(None) };
    check_time_scale(base, newest.head())?;
    Ok(Some(newest.head().clone()))
}

fn check_conflict(change: &Change, changed: &[String]) -> Result<()> {
    let Some(name) = changed.iter().find(|name| change.drafts.contains_key(*name)) else { return Ok(()) };
    let message = format!("another btfdb has just changed the recording '{name}'");
    Err(Error::database(message).hint("nothing was written; try again"))
}

/// Another writer may have made the database in the meantime.
fn check_time_scale(base: &Snapshot, head: &Head) -> Result<()> {
    if head.time_scale == base.head().time_scale {
        return Ok(());
    }
    let scale = head.time_scale;
    let message = format!("another btfdb has just made the database, which counts time in {scale}");
    Err(Error::database(message).hint("nothing was written; try again"))
}
