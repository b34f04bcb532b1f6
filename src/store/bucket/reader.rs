//! An object as the Parquet reader wants it: its end, where the footer is, is read at once, and so is each
//! piece that several small reads fall into. Not for whole columns (see `place::Source::for_ranges`).

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf as _, Bytes};
use parquet::errors::{ParquetError, Result as ParquetResult};

use super::Bucket;
use crate::error::{Error, ErrorKind, Result};

/// The end of an object that is read at first: most footers are smaller.
const TAIL: u64 = 64 << 10;
/// The size of a piece, in bytes.
const PIECE: u64 = 64 << 10;
/// The same where a whole object is read.
const LARGE_PIECE: u64 = 8 << 20;
/// An object that is open.
#[derive(Clone)]
pub struct ObjectReader(Arc<Opened>);

struct Opened {
    bucket: Arc<Bucket>,
    name: String,
    bytes: u64,
    tail: Bytes,
    /// The last piece that was read, and where it begins.
    piece: Mutex<(u64, Bytes)>,
}

impl ObjectReader {
    /// Reads the end of an object, whose size may be known; `None` when there is none.
    pub(in crate::store) fn open(
        bucket: &Arc<Bucket>,
        name: &str,
        bytes: Option<u64>,
    ) -> Result<Option<Self>> {
        let found = match bytes {
            Some(bytes) if bytes > 0 => {
                bucket.range(name, bytes.saturating_sub(TAIL)..bytes)?.map(|tail| (tail, bytes))
            }
            _ => bucket.tail(name, TAIL)?,
        };
        Ok(found.map(|(tail, bytes)| {
            let (bucket, name) = (Arc::clone(bucket), name.to_owned());
            Self(Arc::new(Opened { bucket, name, bytes, tail, piece: Mutex::default() }))
        }))
    }

    pub(in crate::store) fn len(&self) -> u64 {
        self.0.bytes
    }

    pub(in crate::store) fn ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.bucket.ranges(&self.0.name, ranges)
    }

    pub(in crate::store) fn bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let found = self.read(start, length as u64).map_err(|e| ParquetError::External(e.into()))?;
        let short = || ParquetError::EOF(format!("there are no {length} bytes behind byte {start}"));
        found.get(..length).map(|_| found.slice(..length)).ok_or_else(short)
    }

    /// The bytes behind `start`, in small pieces.
    pub(in crate::store) fn behind(&self, start: u64) -> impl Read + use<> {
        Reading { object: self.clone(), at: start, left: Bytes::new(), piece: PIECE }
    }

    /// All bytes, in large pieces.
    pub(in crate::store) fn all(&self) -> impl Read + use<> {
        Reading { object: self.clone(), at: 0, left: Bytes::new(), piece: LARGE_PIECE }
    }

    /// At least `length` bytes behind `start`, if there are as many.
    fn read(&self, start: u64, length: u64) -> Result<Bytes> {
        let Opened { bucket, name, bytes, tail, piece } = &*self.0;
        let end = start.saturating_add(length).min(*bytes);
        if start >= end {
            return Ok(Bytes::new());
        }
        let part = |begin: u64, of: &Bytes| {
            let at = usize::try_from(start.checked_sub(begin)?).ok()?;
            (end <= begin + of.len() as u64).then(|| of.slice(at..))
        };
        if let Some(found) = part(bytes.saturating_sub(tail.len() as u64), tail) {
            return Ok(found);
        }
        let last = || piece.lock().unwrap_or_else(PoisonError::into_inner);
        let (begin, of) = last().clone();
        if let Some(found) = part(begin, &of) {
            return Ok(found);
        }
        let gone = || {
            let what = format!("'{}/{name}' is gone: the database was opened long ago", bucket.url());
            Error::new(ErrorKind::Database, what).hint("open the database again")
        };
        let read = bucket.range(name, start..end)?.ok_or_else(gone)?;
        *last() = (start, read.clone());
        Ok(read)
    }
}

struct Reading {
    object: ObjectReader,
    at: u64,
    left: Bytes,
    piece: u64,
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() && self.at < self.object.len() {
            let length = self.piece.min(self.object.len() - self.at);
            self.left = self.object.read(self.at, length).map_err(io::Error::other)?;
            self.at += self.left.len() as u64;
        }
        let length = buffer.len().min(self.left.len());
        if let Some(buffer) = buffer.get_mut(..length) {
            self.left.copy_to_slice(buffer);
        }
        Ok(length)
    }
}
