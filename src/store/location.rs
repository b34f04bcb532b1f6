//! Where a database is: a folder of a disk, or a bucket of an object store. All that is read of a database is
//! found by way of its location. Not the reading (see `place`), and not for writing (see `target`).

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bucket::{Bucket, Remote, is_url};
use super::place::{Place, is_missing};
use crate::error::{Error, Result};

/// The location of a database. A path is the location of a folder.
#[derive(Debug, Clone)]
pub struct Location(pub(super) Kind);

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Folder(PathBuf),
    Bucket(Arc<Bucket>),
}

impl Location {
    /// The location that a text names: a URL of an object store, e.g. `s3://bucket/fleet.db`, else a path.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when it is a URL that cannot be used.
    pub fn parse(text: &OsStr, remote: &Remote) -> Result<Self> {
        match text.to_str().filter(|text| is_url(text)) {
            Some(url) => Ok(Self(Kind::Bucket(Arc::new(Bucket::open(url, remote)?)))),
            None => Ok(Self::from(text)),
        }
    }

    /// The path of the folder; `None` for a bucket.
    pub fn folder(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Folder(root) => Some(root),
            Kind::Bucket(_) => None,
        }
    }
    /// The path or URL, for messages.
    pub fn path(&self) -> &Path {
        match &self.0 {
            Kind::Folder(root) => root,
            Kind::Bucket(bucket) => Path::new(bucket.url()),
        }
    }

    /// The location as another process in another folder names it: a URL, or an absolute path.
    ///
    /// # Errors
    /// When the folder does not exist.
    #[cfg(feature = "cluster")]
    pub(crate) fn shared(&self) -> Result<String> {
        let path = match &self.0 {
            Kind::Folder(root) if root.exists() => {
                fs::canonicalize(root).map_err(|e| Error::io("find", root, e))?
            }
            // A database that is going to be made.
            Kind::Folder(root) => {
                let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty());
                let parent = parent.unwrap_or(Path::new("."));
                let parent = fs::canonicalize(parent).map_err(|e| Error::io("find", parent, e))?;
                parent.join(root.file_name().unwrap_or_default())
            }
            Kind::Bucket(bucket) => return Ok(bucket.url().to_owned()),
        };
        path.into_os_string().into_string().map_err(|path| {
            Error::usage(format!("the path '{}' is no text that a cluster could be told", path.display()))
        })
    }

    /// The place of a file, by its path in the database.
    pub(super) fn place(&self, name: &str) -> Place {
        match &self.0 {
            Kind::Folder(root) => Place::file(root.join(name)),
            Kind::Bucket(bucket) => Place::object(Arc::clone(bucket), name),
        }
    }

    /// Where a file lies now: in its place, or, in a folder, with what commits took out.
    pub(super) fn place_now(&self, name: &str) -> Place {
        match &self.0 {
            Kind::Folder(root) => Place::in_folder(root, name),
            Kind::Bucket(_) => self.place(name),
        }
    }

    /// The names in a folder of the database; none if there is no such folder.
    pub(super) fn names(&self, folder: &str) -> Result<Vec<String>> {
        let root = match &self.0 {
            Kind::Folder(root) => root,
            Kind::Bucket(bucket) => {
                let objects = bucket.list(folder)?.into_iter();
                let below = |object: super::bucket::Object| {
                    object.name.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned)
                };
                return Ok(objects.filter_map(below).filter(|name| !name.contains('/')).collect());
            }
        };
        let path = root.join(folder);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(e) if is_missing(&e) => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("list", path, e)),
        };
        let name = |entry: io::Result<fs::DirEntry>| {
            let entry = entry.map_err(|e| Error::io("list", &path, e))?;
            Ok(entry.file_name().to_string_lossy().into_owned())
        };
        entries.map(name).collect()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path().display().fmt(f)
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self(Kind::Folder(path))
    }
}

impl From<&Location> for Location {
    fn from(location: &Location) -> Self {
        location.clone()
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Location {
    fn from(path: &P) -> Self {
        Self(Kind::Folder(path.as_ref().to_path_buf()))
    }
}
