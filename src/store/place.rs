//! Where a file of a database lies, and reading it: whole, in pieces, or as Parquet. The only way to the
//! bytes of a database but for scans of SQL (see `engine/table/object_store`). Not which files there are.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

use super::bucket::{Bucket, ObjectReader};
use crate::error::{Error, Result};

/// The place of a file: a path of a disk, or an object of a bucket.
#[derive(Debug, Clone)]
pub struct Place {
    /// The path, or the URL of the object.
    path: PathBuf,
    object: Option<Object>,
}

#[derive(Debug, Clone)]
struct Object {
    bucket: Arc<Bucket>,
    name: String,
    /// Its size, if that is known.
    bytes: Option<u64>,
}

impl Place {
    pub(super) fn file(path: PathBuf) -> Self {
        Self { path, object: None }
    }

    pub(super) fn object(bucket: Arc<Bucket>, name: &str) -> Self {
        let path = PathBuf::from(format!("{}/{name}", bucket.url()));
        Self { path, object: Some(Object { bucket, name: name.to_owned(), bytes: None }) }
    }

    /// The same place of a file whose size is known.
    pub(super) fn of_size(mut self, bytes: u64) -> Self {
        if let Some(object) = &mut self.object {
            object.bytes = Some(bytes);
        }
        self
    }

    /// Its path, or the URL of the object.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The key of an object in its store; `None` for a file.
    #[cfg(feature = "remote")]
    pub(crate) fn key(&self) -> Option<Result<object_store::path::Path>> {
        self.object.as_ref().map(|object| object.bucket.key(&object.name))
    }

    /// Whether reading a few bytes of it costs as much as reading many: it is behind a network.
    pub fn is_remote(&self) -> bool {
        self.object.is_some()
    }

    pub(super) fn exists(&self) -> Result<bool> {
        match &self.object {
            Some(object) => object.bucket.has(&object.name),
            None => match self.path.try_exists() {
                Err(e) if !is_missing(&e) => Err(Error::io("look at", &self.path, e)),
                found => Ok(found.unwrap_or(false)),
            },
        }
    }

    /// The content; `None` when there is no such file.
    pub(super) fn content(&self) -> Result<Option<Bytes>> {
        match &self.object {
            Some(object) => object.bucket.content(&object.name),
            None => match fs::read(&self.path) {
                Ok(content) => Ok(Some(content.into())),
                Err(e) if is_missing(&e) => Ok(None),
                Err(e) => Err(Error::io("read", &self.path, e)),
            },
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

    /// The bytes of a file, one after the other, as many as there are.
    pub(super) fn reader(&self) -> Result<Box<dyn Read>> {
        let mut place = self.clone();
        if let Some(object) = &mut place.object {
            object.bytes = None;
        }
        Ok(match place.source()? {
            Source::File(file) => Box::new(file),
            Source::Object(object) => Box::new(object.all()),
            Source::Fetched(_) => Box::new(io::empty()),
        })
    }

    /// Opens the file for the Parquet reader.
    pub(super) fn source(&self) -> Result<Source> {
        let missing = || Error::io("open", &self.path, io::ErrorKind::NotFound.into());
        match &self.object {
            None => Ok(Source::File(self.local()?.ok_or_else(missing)?)),
            Some(object) => {
                let opened = ObjectReader::open(&object.bucket, &object.name, object.bytes)?;
                Ok(Source::Object(opened.ok_or_else(missing)?))
            }
        }
    }

    fn local(&self) -> Result<Option<File>> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(e) if is_missing(&e) => Ok(None),
            Err(e) => Err(Error::io("open", &self.path, e)),
        }
    }
}

/// Whether there is no such file, or a file where a folder should be.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn range_of(file: &mut File, range: Range<u64>) -> io::Result<Bytes> {
    let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(io::Error::other)?;
    let mut content = vec![0; length];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut content)?;
    Ok(content.into())
}

/// A file as the Parquet reader wants it.
pub(super) enum Source {
    File(File),
    Object(ObjectReader),
    Fetched(Fetched),
}

impl Source {
    /// The same file for a reader of these ranges only, in order; those of an object are read now, at once.
    pub(super) fn for_ranges(&self, ranges: &[Range<u64>]) -> Result<Self> {
        Ok(match self {
            Self::File(file) => Self::File(file.try_clone().map_err(|e| {
                Error::new(crate::error::ErrorKind::Io, "cannot read an open file").because(e)
            })?),
            Self::Object(object) => {
                let parts = object.ranges(ranges)?;
                let parts = ranges.iter().map(|range| range.start).zip(parts).collect();
                Self::Fetched(Fetched { parts, bytes: object.len() })
            }
            Self::Fetched(fetched) => Self::Fetched(fetched.clone()),
        })
    }

    /// Whether each row group is fetched at once.
    pub(super) fn is_remote(&self) -> bool {
        !matches!(self, Self::File(_))
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        match self {
            Self::File(file) => Length::len(file),
            Self::Object(object) => object.len(),
            Self::Fetched(fetched) => fetched.bytes,
        }
    }
}

impl ChunkReader for Source {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(match self {
            Self::File(file) => Box::new(ChunkReader::get_read(file, start)?),
            Self::Object(object) => Box::new(object.behind(start)),
            Self::Fetched(fetched) => Box::new(io::Cursor::new(fetched.behind(start)?)),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        match self {
            Self::File(file) => ChunkReader::get_bytes(file, start, length),
            Self::Object(object) => object.bytes(start, length),
            Self::Fetched(fetched) => {
                let bytes = fetched.behind(start)?;
                bytes.get(..length).map(|_| bytes.slice(..length)).ok_or_else(|| not_fetched(start))
            }
        }
    }
}

/// Ranges of an object in memory, by their begins.
#[derive(Clone)]
pub(super) struct Fetched {
    parts: Vec<(u64, Bytes)>,
    bytes: u64,
}

impl Fetched {
    /// What is behind `start` in the range that has it.
    fn behind(&self, start: u64) -> ParquetResult<Bytes> {
        let part = self.parts.iter().rev().find(|(begin, _)| *begin <= start);
        let found = part.and_then(|(begin, bytes)| {
            let at = usize::try_from(start - begin).ok()?;
            (at <= bytes.len()).then(|| bytes.slice(at..))
        });
        found.ok_or_else(|| not_fetched(start))
    }
}

fn not_fetched(at: u64) -> parquet::errors::ParquetError {
    parquet::errors::ParquetError::General(format!("the bytes at {at} are in none of its columns"))
}
