//! An open file of a table as the Parquet reader wants it. Nothing of a page is given before its sum was
//! checked, and nothing of the footer before its checksum: a file that is damaged, or is another one, gives
//! an error. Not for scans of SQL (see `open_files`).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf as _, Bytes};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use super::page_sums::{PageSums, cut};
use super::place::{Place, range_of};
use crate::error::{Error, ErrorKind, Result};

/// A file that is open.
pub(super) struct Source {
    place: Place,
    sums: Arc<PageSums>,
    /// `None` for an object.
    file: Option<Mutex<File>>,
    /// Pages that were read before, by their begins.
    fetched: Vec<(u64, Bytes)>,
    /// The last pages that were read, and where they begin.
    last: Mutex<(u64, Bytes)>,
}

impl Source {
    /// Opens a file of a table.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] when there is none, or it cannot be read; [`ErrorKind::Database`] when its tail is
    /// not that of the log.
    pub fn open(place: &Place) -> Result<Self> {
        Ok(Self::of(place, Arc::new(sums_of(place)?), place.open()?))
    }

    fn of(place: &Place, sums: Arc<PageSums>, file: Option<File>) -> Self {
        let (file, fetched, last) = (file.map(Mutex::new), Vec::new(), Mutex::default());
        Self { place: place.clone(), sums, file, fetched, last }
    }

    /// The same file for a reader of these ranges only; those of an object are read now, at once.
    pub fn for_ranges(&self, ranges: &[Range<u64>]) -> Result<Self> {
        let mut source = Self::of(&self.place, Arc::clone(&self.sums), self.place.open()?);
        if self.is_remote() {
            let pages: Vec<_> = ranges.iter().map(|range| self.sums.around(range)).collect();
            let parts = read_pages(&self.place, &self.sums, &pages)?;
            source.fetched = pages.iter().map(|pages| pages.start).zip(parts).collect();
        }
        Ok(source)
    }

    /// Whether each row group is fetched at once.
    pub fn is_remote(&self) -> bool {
        self.file.is_none()
    }

    /// Reads all of it.
    pub fn check(&self) -> Result<()> {
        /// Bytes at once, or one page if it is larger.
        const PIECE: u64 = 8 << 20;
        let mut at = 0;
        while at < self.sums.bytes() {
            let pages = self.sums.around(&(at..self.sums.bytes().min(at + PIECE)));
            self.read(&pages)?;
            at = pages.end;
        }
        Ok(())
    }

    /// Pages that are as they were written.
    fn read(&self, pages: &Range<u64>) -> Result<Bytes> {
        let Some(file) = &self.file else {
            let read = read_pages(&self.place, &self.sums, std::slice::from_ref(pages))?;
            return read.into_iter().next().ok_or_else(|| damaged(&self.place));
        };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = range_of(&mut file, pages.clone()).map_err(|e| unreadable(&self.place, e))?;
        if self.sums.are_sound(pages, &bytes) { Ok(bytes) } else { Err(damaged(&self.place)) }
    }

    /// The bytes of `range`.
    fn bytes(&self, range: &Range<u64>) -> Result<Bytes> {
        let before = self.fetched.iter().rev().find(|(begin, _)| *begin <= range.start);
        let of_before = before.and_then(|(begin, bytes)| cut(*begin, bytes, range));
        if let Some(found) = of_before.or_else(|| self.sums.in_tail(range)) {
            return Ok(found);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = cut(last.0, &last.1, range) {
            return Ok(found);
        }
        let pages = self.sums.around(range);
        *last = (pages.start, self.read(&pages)?);
        cut(last.0, &last.1, range).ok_or_else(|| damaged(&self.place))
    }
}

/// The sums of the pages of a file, from its tail.
pub(super) fn sums_of(place: &Place) -> Result<PageSums> {
    let Some(seal) = place.seal() else {
        return Err(
            Error::new(ErrorKind::Bug, "a file is read of which the log says nothing").at(place.path())
        );
    };
    let begin = seal.bytes.saturating_sub(seal.tail);
    let tail = place.range(begin..seal.bytes);
    let tail = tail.map_err(|e| damaged_if_short(place, e))?.ok_or_else(|| missing(place))?;
    let sums = PageSums::open(tail.clone(), seal).ok_or_else(|| damaged(place))?;
    place.keep(begin, &tail)?;
    Ok(sums)
}

/// Pages of a file, as they were written; those of an object come in few requests, at once.
pub(super) fn read_pages(place: &Place, sums: &PageSums, pages: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let read = place.ranges(pages).map_err(|e| damaged_if_short(place, e))?.ok_or_else(|| missing(place))?;
    if !pages.iter().zip(&read).all(|(pages, bytes)| sums.are_sound(pages, bytes)) {
        return Err(damaged(place));
    }
    pages.iter().zip(&read).try_for_each(|(pages, bytes)| place.keep(pages.start, bytes))?;
    Ok(read)
}

/// A file that is not what was written.
pub(super) fn damaged(place: &Place) -> Error {
    Error::database("the file is damaged, or not of this table")
        .at(place.path())
        .hint("run `btfdb verify DB` to see what else is; then ingest the recording again")
}

fn missing(place: &Place) -> Error {
    Error::io("open", place.path(), io::ErrorKind::NotFound.into())
        .hint("a vacuum may have deleted it since the database was opened: open it again")
}

/// A file that ends too early is damaged; other errors say nothing of it.
fn unreadable(place: &Place, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged(place),
        _ => Error::io("read", place.path(), error),
    }
}

fn damaged_if_short(place: &Place, error: Error) -> Error {
    let io = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>());
    let is_short = io.is_some_and(|io| io.kind() == io::ErrorKind::UnexpectedEof);
    if is_short { damaged(place) } else { error }
}

fn external(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.sums.bytes()
    }
}

impl ChunkReader for Source {
    type T = bytes::buf::Reader<Bytes>;

    /// What is behind `start`, up to the end of its page.
    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        let page = self.sums.around(&(start..start.saturating_add(1)));
        Ok(self.bytes(&(start..page.end)).map_err(external)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let end = start.saturating_add(length as u64);
        if end > self.sums.bytes() {
            return Err(ParquetError::EOF(format!("there are no {length} bytes behind byte {start}")));
        }
        self.bytes(&(start..end)).map_err(external)
    }
}
