//! Opens files of a database for reading without SQL: one of the places that an object store would change.
//! The others are scans of SQL (`engine/table/object_store`), and `checksum` and `folder`, which read by
//! themselves. Not for writing (see `disk`).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::layout;
use crate::error::{Error, Result};

/// Opens a file for reading.
///
/// # Errors
/// [`crate::error::ErrorKind::Io`].
pub(super) fn for_reading(path: &Path) -> Result<File> {
    if_there(path)?.ok_or_else(|| Error::io("open", path, io::ErrorKind::NotFound.into()))
}

/// Opens a file for reading; `None` when there is none.
pub(super) fn if_there(path: &Path) -> Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if is_missing(&e) => Ok(None),
        Err(e) => Err(Error::io("open", path, e)),
    }
}

/// The content of a file; `None` when there is none.
pub(super) fn content(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(e) if is_missing(&e) => Ok(None),
        Err(e) => Err(Error::io("read", path, e)),
    }
}

/// Whether there is no such file, or a file where a folder should be.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Where a file of the database at `root` lies now: in its place, or with what commits took out.
pub(super) fn place(root: &Path, path: &str) -> PathBuf {
    let place = root.join(path);
    if place.exists() {
        return place;
    }
    kept(root, Path::new(path)).unwrap_or(place)
}

/// Where a file is kept that a commit took out of its place.
pub(super) fn kept(root: &Path, path: &Path) -> Option<PathBuf> {
    let commits = fs::read_dir(root.join(layout::REMOVED)).into_iter().flatten().flatten();
    let mut name = path.as_os_str().to_owned();
    name.push(layout::KEPT);
    commits.map(|commit| commit.path().join(&name)).find(|kept| kept.exists())
}
