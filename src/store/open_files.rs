//! Files of tables that scans of SQL read: each range of bytes is checked as in `source`. The tails of the
//! files are kept, because a scan asks for its parts one after the other. Not for code that reads without
//! SQL.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::location::Location;
use super::page_sums::{PageSums, cut};
use super::place::Place;
use super::recording::FileEntry;
use super::source::{damaged, read_pages, sums_of};
use crate::error::Result;

/// All kept tails have at most about this size, in bytes.
const KEPT: usize = 64 << 20;

/// The files that scans were told to read, by path.
#[derive(Debug)]
pub(crate) struct OpenFiles {
    location: Location,
    files: Mutex<HashMap<String, Arc<OpenFile>>>,
    memory: AtomicUsize,
}

/// A file that scans read.
#[derive(Debug)]
pub(crate) struct OpenFile {
    entry: FileEntry,
    /// `None` before the first read, and when others needed the memory.
    sums: Mutex<Option<Arc<PageSums>>>,
}

impl OpenFiles {
    pub(super) fn new(location: Location) -> Self {
        Self { location, files: Mutex::default(), memory: AtomicUsize::default() }
    }

    /// Scans read this file from now on.
    pub fn add(&self, entry: &FileEntry) {
        let new = || Arc::new(OpenFile { entry: entry.clone(), sums: Mutex::default() });
        locked(&self.files).entry(entry.path.clone()).or_insert_with(new);
    }

    pub fn get(&self, path: &str) -> Option<Arc<OpenFile>> {
        locked(&self.files).get(path).cloned()
    }

    /// Some ranges of a file; blocks until they are there.
    ///
    /// # Errors
    /// As of [`super::read_batches`].
    pub fn read(&self, file: &OpenFile, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let sums = self.sums(file)?;
        let in_tail: Vec<_> = ranges.iter().map(|range| sums.in_tail(range)).collect();
        let others = ranges.iter().zip(&in_tail).filter(|(_, found)| found.is_none());
        let pages: Vec<_> = others.map(|(range, _)| sums.around(range)).collect();
        let read = match pages.is_empty() {
            true => Vec::new(),
            false => self.found(file, |place| read_pages(place, &sums, &pages))?,
        };
        let mut read = pages.into_iter().zip(read);
        let found = ranges.iter().zip(in_tail).map(|(range, in_tail)| {
            let of_pages = |(pages, bytes): (Range<u64>, Bytes)| cut(pages.start, &bytes, range);
            in_tail.or_else(|| read.next().and_then(of_pages)).ok_or_else(|| damaged(&self.place(file)))
        });
        found.collect()
    }

    fn place(&self, file: &OpenFile) -> Place {
        self.location.place_now(&file.entry.path).sealed(file.entry.seal())
    }

    /// A commit may take a file out of its place between the look and the opening.
    fn found<T>(&self, file: &OpenFile, read: impl Fn(&Place) -> Result<T>) -> Result<T> {
        read(&self.place(file)).or_else(|_| read(&self.place(file)))
    }

    /// Several threads begin to read a file at the same time: one reads the tail, the others wait for it.
    fn sums(&self, file: &OpenFile) -> Result<Arc<PageSums>> {
        let mut known = locked(&file.sums);
        if let Some(sums) = &*known {
            return Ok(Arc::clone(sums));
        }
        let sums = Arc::new(self.found(file, sums_of)?);
        *known = Some(Arc::clone(&sums));
        drop(known);
        if self.memory.fetch_add(sums.memory(), Ordering::Relaxed) > KEPT {
            self.memory.store(0, Ordering::Relaxed);
            let all: Vec<_> = locked(&self.files).values().cloned().collect();
            all.iter().for_each(|file| *locked(&file.sums) = None);
        }
        Ok(sums)
    }
}

impl OpenFile {
    /// Its size in bytes, by the log.
    pub fn bytes(&self) -> u64 {
        self.entry.bytes
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
