//! Writes files of the log again that are damaged and say nothing that other files do not say: checkpoints,
//! and the number of the newest commit. Not commits, which are the database, and not tables (see
//! `ops::repair`).

use std::sync::Arc;

use super::disk::Disk;
use super::folder::Folder;
use super::layout::{self, LogFile};
use super::location::{Kind, Location};
use super::lock::Lock;
use super::log::{files_of_log, folded_log, is_sound, levels, note, noted, tip};
use super::staging::Staging;
use super::target::publish;
use crate::error::Result;

/// Writes damaged files of the log again; returns the paths of those that were.
///
/// # Errors
/// The disk, or the store; when a commit is damaged, too, whose content only that file had.
pub fn repair_log(disk: Arc<dyn Disk>, at: impl Into<Location>) -> Result<Vec<String>> {
    let location = at.into();
    let log = match &location.0 {
        Kind::Folder(root) => {
            let folder = Folder::new(disk, root);
            let lock = Lock::for_commit(&folder)?;
            publish::recover(&folder)?;
            let staging = Staging::new(&folder)?;
            Log { location: &location, folder: Some((folder, staging, lock)) }
        }
        Kind::Bucket(_) => Log { location: &location, folder: None },
    };
    let repaired = log.repair();
    if let Some((folder, staging, _)) = &log.folder {
        staging.remove(folder)?;
    }
    repaired
}

struct Log<'l> {
    location: &'l Location,
    /// Of a folder, with the right to commit.
    folder: Option<(Folder, Staging, Lock)>,
}

impl Log<'_> {
    fn repair(&self) -> Result<Vec<String>> {
        let mut repaired = Vec::new();
        // The smaller checkpoints first: the larger ones are made of them.
        let mut checkpoints = files_of_log(self.location)?;
        // One of a level that its number does not have was not made by a writer, and nobody reads it.
        checkpoints.retain(|file| file.level.is_some_and(|level| level <= levels(file.number)));
        checkpoints.sort_by_key(|file| (file.level, file.number));
        for file @ LogFile { number, level } in checkpoints {
            let (path, level) = (file.path(), level.unwrap_or_default());
            let place = self.location.place(&path);
            let Some(damaged) = place.content()? else { continue };
            if is_sound(file, &place)? {
                continue;
            }
            self.remove(&path)?;
            match folded_log(self.location, number, level) {
                Ok(content) => self.put(&path, &content)?,
                Err(e) => {
                    self.put(&path, &damaged)?;
                    return Err(e);
                }
            }
            repaired.push(path);
        }
        let found = self.location.place(layout::TIP).content()?;
        if found.is_some_and(|text| noted(&text).is_none()) {
            self.put(layout::TIP, &note(tip(self.location)?))?;
            repaired.push(layout::TIP.to_owned());
        }
        Ok(repaired)
    }

    fn remove(&self, path: &str) -> Result<()> {
        match (&self.folder, &self.location.0) {
            (Some((folder, ..)), _) => folder.remove_file(path),
            (None, Kind::Bucket(bucket)) => bucket.delete(&[path.to_owned()]),
            (None, Kind::Folder(_)) => Ok(()),
        }
    }

    fn put(&self, path: &str, content: &[u8]) -> Result<()> {
        match (&self.folder, &self.location.0) {
            (Some((folder, staging, _)), _) => {
                let staged = staging.place("log");
                folder.write(&staged, content)?;
                folder.rename(&staged, path)
            }
            (None, Kind::Bucket(bucket)) => bucket.put(path, content.to_vec().into()),
            (None, Kind::Folder(_)) => Ok(()),
        }
    }
}
