//! Where a file of a database lies, and reading it, whole or in pieces. The only way to the bytes of a
//! database. Not which files there are, and not whether the bytes are right (see `source`).

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::bucket::Bucket;
use super::layout::{KEPT, REMOVED};
use super::page_sums::TableSeal;
use crate::error::{Error, Result};

/// The place of a file: a path of a disk, or an object of a bucket.
#[derive(Debug, Clone)]
pub struct Place {
    /// The path, or the URL of the object.
    path: PathBuf,
    object: Option<Object>,
    /// Of a file of a table.
    seal: Option<Arc<TableSeal>>,
    /// The folder of its database, and its path in it: a commit may take it out of its place at any moment.
    origin: Option<Arc<(PathBuf, String)>>,
}

#[derive(Debug, Clone)]
struct Object {
    bucket: Arc<Bucket>,
    name: String,
}

impl Place {
    pub(super) fn file(path: PathBuf) -> Self {
        Self { path, object: None, seal: None, origin: None }
    }

    /// A file of the database in the folder `root`, wherever it lies when it is opened: in its place, or with
    /// what commits took out.
    pub(super) fn in_folder(root: &Path, name: &str) -> Self {
        let mut path = root.join(name);
        if !path.exists() {
            path = kept(root, Path::new(name)).unwrap_or(path);
        }
        Self { path, object: None, seal: None, origin: Some(Arc::new((root.to_path_buf(), name.to_owned()))) }
    }

    pub(super) fn object(bucket: Arc<Bucket>, name: &str) -> Self {
        let path = PathBuf::from(format!("{}/{name}", bucket.url()));
        Self { path, object: Some(Object { bucket, name: name.to_owned() }), seal: None, origin: None }
    }

    /// The same place, of a file of which the log says this.
    pub(super) fn sealed(mut self, seal: TableSeal) -> Self {
        self.seal = Some(Arc::new(seal));
        self
    }

    /// Its path, or the URL of the object.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether reading a few bytes of it costs as much as reading many: it is behind a network.
    pub fn is_remote(&self) -> bool {
        self.object.is_some()
    }

    pub(super) fn exists(&self) -> Result<bool> {
        match &self.object {
            Some(object) => Ok(object.bucket.size(&object.name)?.is_some()),
            None => Ok(self.on_disk("look at", |path| fs::metadata(path).map(drop))?.is_some()),
        }
    }

    /// The size of the file in bytes; `None` when there is none.
    pub(super) fn size(&self) -> Result<Option<u64>> {
        if let Some(object) = &self.object {
            return object.bucket.size(&object.name);
        }
        self.on_disk("look at", |path| fs::metadata(path).map(|found| found.len()))
    }

    /// The content; `None` when there is no such file.
    pub(super) fn content(&self) -> Result<Option<Bytes>> {
        match &self.object {
            Some(object) => object.bucket.content(&object.name),
            None => self.on_disk("read", |path| fs::read(path).map(Into::into)),
        }
    }

    /// The last bytes of a file, at most so many, and the size of the file; `None` when there is none.
    pub(super) fn tail(&self, most: u64) -> Result<Option<(Bytes, u64)>> {
        if let Some(object) = &self.object {
            return object.bucket.tail(&object.name, most);
        }
        let Some(mut file) = self.local()? else { return Ok(None) };
        let io = |e| Error::io("read", &self.path, e);
        let bytes = file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok(Some((range_of(&mut file, bytes.saturating_sub(most)..bytes).map_err(io)?, bytes)))
    }

    /// A piece of a file; `None` when there is none.
    pub(super) fn range(&self, range: Range<u64>) -> Result<Option<Bytes>> {
        if let Some(object) = &self.object {
            return object.bucket.range(&object.name, range);
        }
        let Some(mut file) = self.local()? else { return Ok(None) };
        range_of(&mut file, range).map(Some).map_err(|e| Error::io("read", &self.path, e))
    }

    /// Pieces of a file; `None` when there is none. Those of an object come in few requests, at once.
    pub(super) fn ranges(&self, ranges: &[Range<u64>]) -> Result<Option<Vec<Bytes>>> {
        if let Some(object) = &self.object {
            return object.bucket.ranges(&object.name, ranges);
        }
        let Some(mut file) = self.local()? else { return Ok(None) };
        let io = |e| Error::io("read", &self.path, e);
        let read = |range: &Range<u64>| range_of(&mut file, range.clone()).map_err(io);
        ranges.iter().map(read).collect::<Result<_>>().map(Some)
    }

    /// Keeps a piece of an object of a table whose sum is right: it is likely to be asked for again.
    pub(super) fn keep(&self, begin: u64, bytes: &Bytes) -> Result<()> {
        self.object.as_ref().map_or(Ok(()), |object| object.bucket.keep(&object.name, begin, bytes))
    }

    /// What the log says of the file, if it is one of a table.
    pub(super) fn seal(&self) -> Option<&TableSeal> {
        self.seal.as_deref()
    }

    /// Opens a file that is one of a disk; `None` when there is none.
    pub(super) fn open(&self) -> Result<Option<File>> {
        match &self.object {
            Some(_) => Ok(None),
            None => self.local(),
        }
    }

    fn local(&self) -> Result<Option<File>> {
        self.on_disk("open", |path| File::open(path))
    }

    /// Does something with the file where it lies now; `None` when there is none. Each file has a name of its
    /// own, so that it is always the same one.
    fn on_disk<T>(&self, doing: &str, work: impl Fn(&Path) -> io::Result<T>) -> Result<Option<T>> {
        let done = match work(&self.path) {
            Err(e) if is_missing(&e) => {
                let kept = self.origin.as_deref().and_then(|(root, name)| kept(root, Path::new(name)));
                kept.map_or(Err(e), |kept| work(&kept))
            }
            done => done,
        };
        match done {
            Ok(done) => Ok(Some(done)),
            Err(e) if is_missing(&e) => Ok(None),
            Err(e) => Err(Error::io(doing, &self.path, e)),
        }
    }
}

/// Where a file of the database in folder `root` is kept that a commit took out of its place.
fn kept(root: &Path, path: &Path) -> Option<PathBuf> {
    let commits = fs::read_dir(root.join(REMOVED)).into_iter().flatten().flatten();
    let mut name = path.as_os_str().to_owned();
    name.push(KEPT);
    commits.map(|commit| commit.path().join(&name)).find(|kept| kept.exists())
}

/// Whether there is no such file, or a file where a folder should be.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

pub(super) fn range_of(file: &mut File, range: Range<u64>) -> io::Result<Bytes> {
    let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
    let mut content = vec![0; length];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut content)?;
    Ok(content.into())
}
