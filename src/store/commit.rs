//! The commit of a transaction. A database is either the old one or the new one, always and after any
//! failure:
//!
//! 1. New files lie in the staging folder, synced, under names that no glob for Parquet files finds.
//! 2. The new manifest is written next to the old one, synced, and renamed over it: **this is the commit.**
//!    It names the new files by their final paths, and has their staged paths and the old files to
//!    remove.
//! 3. The files are moved, the old ones removed, and the manifest is written again without that list.
//!
//! Step 3 can be interrupted anywhere and repeated, if need be by the next writer. Until then, readers look
//! in both places.

use std::collections::BTreeSet;

use super::folder::Folder;
use super::layout::{self, MANIFEST, NEXT_MANIFEST, STAGING};
use super::manifest::Manifest;
use crate::error::Result;

/// Steps 1 and 2. After an error, nothing has changed.
pub(super) fn publish(folder: &Folder, manifest: &Manifest) -> Result<()> {
    if folder.exists(STAGING)? {
        folder.sync_tree(STAGING)?;
    }
    folder.sync("")?;
    replace_manifest(folder, manifest)
}

/// Step 3. After an error, it can be called again.
pub(super) fn settle(folder: &Folder, manifest: &Manifest) -> Result<Manifest> {
    // The commit must survive a power cut before anything it replaces is removed.
    folder.sync("")?;
    let mut changed = BTreeSet::from([""]);
    for (from, to) in manifest.moves() {
        // Missing: moved by an earlier call, or removed from outside, which `verify` reports.
        if folder.exists(from)? {
            folder.rename(from, to)?;
        }
        changed.extend(layout::folders_of(to));
    }
    changed.iter().try_for_each(|f| folder.sync(f))?;
    for path in &manifest.removals {
        folder.remove_file(path)?;
        folder.remove_empty_parents(path)?;
    }
    let settled = manifest.settled();
    if settled != *manifest {
        replace_manifest(folder, &settled)?;
        folder.sync("")?;
    }
    sweep(folder)?;
    Ok(settled)
}

/// Removes the files of transactions that were not committed.
pub(super) fn sweep(folder: &Folder) -> Result<()> {
    folder.remove_tree(STAGING)?;
    folder.remove_file(NEXT_MANIFEST)
}

fn replace_manifest(folder: &Folder, manifest: &Manifest) -> Result<()> {
    folder.write(NEXT_MANIFEST, &manifest.to_json()?)?;
    folder.rename(NEXT_MANIFEST, MANIFEST)
}
