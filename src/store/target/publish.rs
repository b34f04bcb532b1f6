//! The commit of a transaction. A database is either the old one or the new one, always and after any
//! failure:
//!
//! 1. New files lie in the folder of their writer, synced, under names that no glob for Parquet files finds.
//! 2. Under the lock: the log is read again. If another writer has changed one of the recordings meanwhile,
//!    the commit fails; otherwise it takes the next number.
//!    It also fails if files that it takes out of the database may not be moved: no writer could begin then.
//! 3. The commit is written into the folder of the writer, and its files are moved into their places, where
//!    nothing is: on a file system that takes names of other letters for the same, it may be of another
//!    recording.
//! 4. The commit is moved into the log, if there is none of that number: **this is the commit.**
//! 5. Files that it takes out of the database are moved out of sight, which is synced; a checkpoint may be
//!    due, and the folder of the writer is removed.
//!
//! A process that dies in step 3 leaves files in places where other engines find them; the next writer moves
//! them back out, and until then `verify` says so. Step 5 can be repeated by the next writer.

use std::collections::BTreeSet;

use super::super::folder::Folder;
use super::super::layout::{self, LOG, STAGING, TIP};
use super::super::location::Location;
use super::super::log::{Commit, Snapshot, due_levels, folded_log, note};
use super::super::recording::Recording;
use super::super::staging::Staging;
use crate::error::{Error, Result};

/// Steps 3 and 4. `moves` has, for each new file, where it is and where it belongs. After an error, nothing
/// has changed for readers; [`finish`] tidies up.
pub(in crate::store) fn publish(
    folder: &Folder,
    staging: &Staging,
    commit: &Commit,
    moves: &[(String, String)],
) -> Result<()> {
    let number = commit.head.number;
    // Folders that become empty are removed, too.
    let left: BTreeSet<&str> = commit.freed.iter().flat_map(|path| layout::folders_of(path)).collect();
    left.into_iter()
        .filter(|name| folder.path(name).is_dir())
        .try_for_each(|name| folder.check_rights(name))?;
    // What is there now is not taken back when a commit fails that was begun.
    moves.iter().try_for_each(|(_, to)| check_free(folder, to))?;
    folder.write(&staging.commit(), &commit.to_json()?)?;
    folder.sync_tree(staging.name())?;
    // After a power cut, what was begun is written down wherever files of it are found.
    [STAGING, ""].iter().try_for_each(|name| folder.sync(name))?;
    let mut changed = BTreeSet::from([""]);
    for (from, to) in moves {
        // Two new recordings may have one place.
        check_free(folder, to)?;
        folder.rename(from, to)?;
        changed.extend(layout::folders_of(to));
    }
    folder.create_parents(TIP)?;
    changed.iter().try_for_each(|f| folder.sync(f))?;
    folder.publish(&staging.commit(), &layout::commit(number))?;
    folder.sync(LOG)
}

/// Fails if there is something in the place of a new file.
fn check_free(folder: &Folder, to: &str) -> Result<()> {
    if !folder.exists(to)? {
        return Ok(());
    }
    let message = "there is a file already where a new one of the database belongs; nothing was written";
    Err(Error::database(message).at(folder.path(to)).hint(
        "it is of a recording whose name has other capital letters, which this file system takes for the same: \
         choose another name; or `btfdb verify` says that it is not part of the database: remove it",
    ))
}

/// Step 5, or the way back if the commit was not made. After an error, it can be called again, by any writer
/// that holds the lock.
pub(in crate::store) fn finish(folder: &Folder, staging: &Staging) -> Result<()> {
    if let Some((commit, is_made)) = begun(folder.location(), staging)? {
        if is_made {
            settle(folder, staging, &commit)?;
        } else {
            take_back(folder, staging, &commit)?;
        }
    }
    staging.remove(folder)
}

/// Does what writers that are gone have left to do. The caller holds the lock.
pub(in crate::store) fn recover(folder: &Folder) -> Result<()> {
    Staging::left_behind(folder)?.iter().try_for_each(|staging| finish(folder, staging)).map_err(|e| {
        e.hint(format!(
            "a change that an earlier command made is not finished, and no other one can begin before: `btfdb verify {}` \
             says what is left to do",
            folder.root().display()
        ))
    })
}

/// The commit that a writer has begun to publish, and whether it is in the log.
pub(in crate::store) fn begun(location: &Location, staging: &Staging) -> Result<Option<(Commit, bool)>> {
    let place = location.place(&staging.commit());
    let Some(json) = place.content()? else { return Ok(None) };
    // Cut off while it was written: nothing was moved yet.
    let Ok(commit) = Commit::parse(&json, place.path()) else { return Ok(None) };
    let in_log = location.place(&layout::commit(commit.head.number)).content()?;
    let is_made = in_log.is_some_and(|made| made == json);
    Ok(Some((commit, is_made)))
}

/// The new files of a commit that was not made. No other writer has changed its recordings: each one calls
/// [`recover`] first.
pub(in crate::store) fn strays(location: &Location, commit: &Commit) -> Result<Vec<String>> {
    let tip = Snapshot::open(location)?;
    let mut strays = Vec::new();
    for put in &commit.puts {
        let live = match &tip {
            Some(tip) => tip.recording(&put.name)?,
            None => None,
        };
        let live: BTreeSet<&str> = live.iter().flat_map(|live| Recording::paths(live)).collect();
        strays.extend(put.paths().filter(|path| !live.contains(path)).map(str::to_owned));
    }
    Ok(strays)
}

/// Deletes what commits took out whose writers are gone, if it may be deleted anyway: on a full disk, it
/// cannot be put away, and the next writers could not begin.
pub(in crate::store) fn discard(folder: &Folder, may_go: impl Fn(&Commit) -> Result<bool>) -> Result<()> {
    for staging in Staging::left_behind(folder)? {
        if let Some((commit, true)) = begun(folder.location(), &staging)?
            && may_go(&commit)?
        {
            commit.freed.iter().try_for_each(|path| folder.remove_file(path))?;
            sync_around(folder, &commit.freed)?;
        }
    }
    Ok(())
}

fn take_back(folder: &Folder, staging: &Staging, commit: &Commit) -> Result<()> {
    let strays = strays(folder.location(), commit)?;
    strays.iter().try_for_each(|path| folder.remove_file(path))?;
    sync_around(folder, &strays)?;
    strays.iter().try_for_each(|path| folder.remove_empty_parents(path))?;
    folder.remove_file(&staging.commit())
}

/// Syncs the names in the folders around some files.
fn sync_around(folder: &Folder, paths: &[String]) -> Result<()> {
    let folders: BTreeSet<&str> =
        paths.iter().flat_map(|path| layout::folders_of(path)).chain([""]).collect();
    let mut there = folders.into_iter().filter(|name| folder.path(name).is_dir());
    if paths.is_empty() { Ok(()) } else { there.try_for_each(|name| folder.sync(name)) }
}

fn settle(folder: &Folder, staging: &Staging, commit: &Commit) -> Result<()> {
    let number = commit.head.number;
    let mut moved = Vec::new();
    for path in &commit.freed {
        if folder.exists(path)? {
            let kept = layout::removed(number, path);
            folder.rename(path, &kept)?;
            moved.extend([path.clone(), kept]);
        }
    }
    // The folder of the writer, which says what is left to do, is removed afterwards.
    sync_around(folder, &moved)?;
    commit.freed.iter().try_for_each(|path| folder.remove_empty_parents(path))?;
    let staged = staging.place("log");
    folder.write(&staged, &note(number))?;
    folder.rename(&staged, TIP)?;
    for level in due_levels(number, commit.to_json()?.len()) {
        folder.write(&staged, &folded_log(folder.location(), number, level)?)?;
        folder.rename(&staged, &layout::checkpoint(number, level))?;
    }
    Ok(())
}
