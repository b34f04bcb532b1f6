//! Transactions in the folder of a database, or in one that becomes it: beginning, commit under the lock, and
//! end. Not the order of the steps of a commit on the disk (see `publish`).

use std::fs;
use std::path::Path;

use super::super::database::Database;
use super::super::draft::Change;
use super::super::folder::Folder;
use super::super::layout::{LOCK, LOG, LogFile, REMOVED, STAGING, TIP};
use super::super::lock::Lock;
use super::super::log::{Head, Snapshot, tip};
use super::super::place::is_missing;
use super::super::reserve;
use super::super::staging::Staging;
use super::{publish, tip_without_conflict};
use crate::error::{Error, Result};
use crate::time::TimeScale;

#[derive(Debug)]
pub(in crate::store) struct FolderTarget {
    pub(super) folder: Folder,
    pub(super) staging: Staging,
    created_folder: bool,
}

impl FolderTarget {
    pub(super) fn begin(folder: Folder, time_scale: Option<TimeScale>) -> Result<(Self, Snapshot)> {
        let created_folder = prepare_folder(&folder, time_scale.is_some())?;
        let begun = begin(&folder, time_scale);
        if begun.is_err() {
            let _ = leave(&folder, created_folder);
        }
        let (base, staging) = begun.map_err(|e| reserve::on_full_disk(e, &folder))?;
        Ok((Self { folder, staging, created_folder }, base))
    }

    /// Tidying up afterwards may fail and is left to the next writer; that is no error, because the new state
    /// is complete without it.
    pub(super) fn commit(&self, base: &Snapshot, change: &Change) -> Result<()> {
        let (folder, staging) = (&self.folder, &self.staging);
        let _lock = Lock::for_made(folder)?;
        publish::recover(folder)?;
        let location = folder.location();
        let newer = tip_without_conflict(location, base, change, tip(location)?)?;
        let commit = change.to_commit(base, newer.as_ref().unwrap_or(base.head()))?;
        if self.created_folder {
            self.sync_parent()?;
        }
        let published = publish::publish(folder, staging, &commit, &change.moves(&commit));
        let is_made = published.is_ok() || matches!(publish::begun(location, staging), Ok(Some((_, true))));
        // What cannot be done now is done by the next writer.
        let _ = publish::finish(folder, staging);
        if is_made { Ok(()) } else { published }
    }

    /// The next writer removes what cannot be removed now, and finishes a commit that was begun.
    pub(super) fn end(&self, base: &Snapshot) {
        // Under the lock: other writers make their folders next to this one.
        if self.folder.exists(self.staging.name()).unwrap_or(true) {
            let _lock = Lock::for_commit(&self.folder);
            if let Ok(None) = publish::begun(self.folder.location(), &self.staging) {
                let _ = self.staging.remove(&self.folder);
            }
        }
        if base.head().number == 0 {
            let _ = leave(&self.folder, self.created_folder);
        }
        reserve::keep(&self.folder);
    }

    /// Makes the name of a new database survive a power cut.
    fn sync_parent(&self) -> Result<()> {
        let parent_of = parent_of(self.folder.root());
        self.folder.disk().sync_dir(parent_of).map_err(|e| Error::io("sync", parent_of, e))
    }
}

/// The state to begin from, and a folder for what is new.
fn begin(folder: &Folder, time_scale: Option<TimeScale>) -> Result<(Snapshot, Staging)> {
    let _lock = Lock::for_commit(folder)?;
    let base = Snapshot::open(folder.location())?;
    if base.is_none() {
        // What is of somebody else is not tidied up.
        check_foreign(folder, Looked::AtOurNames)?;
    }
    publish::recover(folder)?;
    let base = match base {
        Some(base) => base,
        None => {
            check_foreign(folder, Looked::AtAll)?;
            Snapshot::empty(Head::new(time_scale.unwrap_or(TimeScale::Ns)))
        }
    };
    Ok((base, Staging::new(folder)?))
}

/// Removes what a database that was not made has left in its folder, and the folder if it was created for it,
/// unless another writer makes a database there. Nothing is removed with what is in it, and nothing from a
/// folder that holds something else.
fn leave(folder: &Folder, created_folder: bool) -> Result<()> {
    let _lock = Lock::for_commit(folder)?;
    if Database::is_at(folder.root())? || folder.exists(STAGING)? {
        return Ok(());
    }
    check_foreign(folder, Looked::AtAll)?;
    folder.remove_empty_parents(TIP)?;
    folder.remove_file(LOCK)?;
    if created_folder {
        let root = folder.root();
        folder.disk().remove_dir(root).map_err(|e| Error::io("remove", root, e))?;
    }
    Ok(())
}

/// Makes sure that the folder is a database, or can become one: then it is new, or holds only leftovers of a
/// first transaction. Returns true if it was created here.
fn prepare_folder(folder: &Folder, may_create: bool) -> Result<bool> {
    let root = folder.root();
    if Database::is_at(root)? {
        return Ok(false);
    }
    if !may_create || root.is_file() {
        return Database::open(root).map(|_| false);
    }
    if root.is_dir() {
        // With a lock, it may be a database in the making: then only its holder knows (see `begin`).
        let looked = if folder.exists(LOCK)? { Looked::AtOurNames } else { Looked::AtAll };
        return check_foreign(folder, looked).map(|()| false);
    }
    if !parent_of(root).is_dir() {
        return Err(Error::database(format!(
            "there is no folder '{}' to make a database in",
            parent_of(root).display()
        )));
    }
    folder.disk().create_dir_all(root).map_err(|e| Error::io("create", root, e))?;
    Ok(true)
}

/// What is looked at in a folder without a database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    AtAll,
    /// A commit in the making may have put files into their places.
    AtOurNames,
}

/// Fails if a folder without a database holds what is not of a database in the making.
fn check_foreign(folder: &Folder, looked: Looked) -> Result<()> {
    let root = folder.root();
    for entry in fs::read_dir(root).map_err(|e| Error::io("list", root, e))? {
        let name = entry.map_err(|e| Error::io("list", root, e))?.file_name().to_string_lossy().into_owned();
        let foreign = match [LOCK, STAGING, LOG, REMOVED].contains(&name.as_str()) {
            true => foreign_in(folder, &name)?,
            false => Some(name).filter(|_| looked == Looked::AtAll),
        };
        if let Some(name) = foreign {
            let root = root.display();
            return Err(Error::database(format!(
                "'{root}' is neither a btfdb database nor empty: it holds '{name}'"
            ))
            .hint("choose another folder for the database"));
        }
    }
    Ok(())
}

/// What is not of a writer at one of our names: others call folders `log`, and files `.lock`.
fn foreign_in(folder: &Folder, name: &str) -> Result<Option<String>> {
    let path = folder.path(name);
    let found = match fs::symlink_metadata(&path) {
        Ok(found) => found,
        // Another writer has just removed it.
        Err(e) if is_missing(&e) => return Ok(None),
        Err(e) => return Err(Error::io("look at", path, e)),
    };
    let is_ours: fn(&str) -> bool = match name {
        LOCK => {
            let is_lock = found.is_file() && found.len() == 0;
            return Ok((!is_lock).then(|| name.to_owned()));
        }
        STAGING => Staging::is_name,
        REMOVED => |name| name.parse::<u64>().is_ok(),
        _ => |name| TIP == format!("{LOG}/{name}") || LogFile::named(name).is_some(),
    };
    if !found.is_dir() {
        return Ok(Some(name.to_owned()));
    }
    let names = folder.location().names(name)?;
    Ok(names.into_iter().find(|inner| !is_ours(inner)).map(|inner| format!("{name}/{inner}")))
}

fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
