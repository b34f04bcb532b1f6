//! Kernel traces into the database: one file, in one pass, its events by CPU in the order of time. Not the decoding (see
//! `formats::qnx`), nor what the events say about tasks (see `map::qnx`). The other rooms of QNX are listed in [`crate::qnx`].

mod ingest;
mod keep;
mod rows;
mod spread;
mod window;

use super::control::Control;
use super::ingest::locked;
use super::reading::read_all;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Counts;
use crate::formats::qnx::{Batch, Decoder, Listed, Preamble, listing, probe};
use crate::input::{Beside, Digest, Source};
use crate::pipeline::Pipeline;
use crate::qnx::Version;
use crate::store::Transaction;
use crate::time::TimeScale;
use spread::Spread;

pub(super) use ingest::ingest;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// An opened trace, ready to be read.
pub(super) struct KernelFile {
    path: PathBuf,
    /// As the user gave it.
    name: String,
    source: Source,
    version: Option<Version>,
    /// It is the printer's text, not records.
    is_listing: bool,
}

/// What reads a trace.
enum Reader<'s> {
    Records(Decoder),
    Listing(Listed<'s>),
}

/// What became of it.
pub(super) struct Stored {
    /// `source.format`.
    pub format: &'static str,
    /// What `counts.lines` counts.
    pub unit: &'static str,
    pub path: PathBuf,
    pub name: String,
    pub counts: Counts,
    pub digest: Digest,
    pub log: Log,
    pub first_at: Option<i64>,
    pub last_at: Option<i64>,
    pub preamble: Preamble,
    /// Holes in the trace: begin, end, and the CPU if it is of one.
    pub holes: Vec<Hole>,
}

/// Records that were lost, `[begin, end)` in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hole {
    pub begin: i64,
    pub end: i64,
    /// `None`: of all CPUs.
    pub cpu: Option<u8>,
}

impl KernelFile {
    /// The trace in `source`, if it is one of the kernel; else gives the source back. `version` overrides what the trace says.
    ///
    /// # Errors
    /// When reading fails.
    pub fn recognise(
        path: &Path,
        mut source: Source,
        version: Option<Version>,
    ) -> Result<std::result::Result<Self, Source>> {
        let head = source.head()?;
        let is_listing = listing::probe(head);
        if !is_listing && !probe(head) {
            return Ok(Err(source));
        }
        let name = path.to_string_lossy().into_owned();
        Ok(Ok(Self { path: path.to_owned(), name, source, version, is_listing }))
    }

    /// Size on disk, when it is known.
    pub fn size(&self) -> Option<u64> {
        self.source.progress().1
    }

    /// Reads everything and stages it.
    ///
    /// # Errors
    /// A header that cannot be read; time that runs backwards again and again; the disk.
    pub fn store(
        self,
        tx: &Mutex<Transaction>,
        recording: &str,
        scale: TimeScale,
        threads: usize,
        control: &Control,
    ) -> Result<Stored> {
        let Self { path, name, mut source, version, is_listing } = self;
        let begins = rows::begins(tx, recording);
        let mut reader = match is_listing {
            true => Reader::Listing(Listed::new(&name, version)),
            false => Reader::Records(Decoder::new(&name, version)),
        };
        let mut hash = source.hash_beside();
        let (spread, digest) = Pipeline::run(threads, |pipeline| {
            let mut spread = Spread::new(pipeline, &begins, scale, !is_listing);
            let digest = read_all(pipeline, source, control, |chunk| {
                let read = reader.chunk(&chunk.bytes, &mut hash.chunk(&chunk.bytes));
                let batch = read.map_err(|e| e.at(&path))?;
                let records = batch.len() as u64;
                spread.take(batch, reader.preamble())?;
                Ok(records)
            })?;
            let batch = reader.finish().map_err(|e| e.at(&path))?;
            spread.take(batch, reader.preamble())?;
            Ok((spread.finish()?, digest))
        })?;
        let digest = hash.complete(digest)?;
        let Some(preamble) = reader.preamble().cloned() else {
            return Err(Error::new(ErrorKind::Bug, "a trace without a header was read"));
        };
        let mut log = spread.log;
        let mut find = |line, severity, code, message| {
            let (source, text) = (name.clone(), String::new());
            log.push(Diagnostic { source, line, severity, code, message, text });
        };
        for buffer in &spread.lost {
            let message = format!("{} buffers are missing before number {}", buffer.lost, buffer.number);
            find(Some(reader.place_of(buffer.record)), Severity::Warning, "lost-buffers", message);
        }
        if spread.cut_times > 0 {
            let message = format!(
                "{} times do not fit 64 bits in the database's scale; they are cut",
                spread.cut_times
            );
            find(None, Severity::Error, "time-overflow", message);
        }
        let (format, unit, counts) = reader.account(spread.counts, &mut log);
        let mut tx = locked(tx)?;
        spread.files.into_iter().for_each(|file| tx.add(file));
        rows::write_attributes(&mut tx, recording, &name, &preamble)?;
        let (first_at, last_at) = (spread.first_at, spread.last_at);
        Ok(Stored {
            format,
            unit,
            path,
            name,
            counts,
            digest,
            log,
            first_at,
            last_at,
            preamble,
            holes: spread.holes,
        })
    }
}

impl Reader<'_> {
    fn chunk(&mut self, bytes: &[u8], beside: &mut Beside<'_>) -> Result<Batch> {
        match self {
            Self::Records(decoder) => decoder.chunk(bytes, beside),
            Self::Listing(listed) => listed.chunk(bytes),
        }
    }

    fn finish(&mut self) -> Result<Batch> {
        match self {
            Self::Records(decoder) => decoder.finish(),
            Self::Listing(listed) => listed.finish(),
        }
    }

    fn preamble(&self) -> Option<&Preamble> {
        match self {
            Self::Records(decoder) => decoder.preamble(),
            Self::Listing(listed) => listed.preamble(),
        }
    }

    /// Where a diagnostic about a record points.
    fn place_of(&self, record: u64) -> u64 {
        match self {
            Self::Records(decoder) => decoder.offset_of(record),
            Self::Listing(_) => record,
        }
    }

    /// `source.format`, what is counted, and where all of it went.
    fn account(self, counts: Counts, log: &mut Log) -> (&'static str, &'static str, Counts) {
        match self {
            Self::Records(decoder) => {
                let tail = u64::from(decoder.has_tail());
                let (lines, rejected) = (counts.lines + tail, tail);
                let skipped = lines - counts.rows - rejected;
                ("qnx-kev", "records", Counts { lines, rejected, skipped, ..counts })
            }
            Self::Listing(listed) => {
                let (counts, found) = listed.into_parts();
                log.merge(found);
                ("qnx-traceprinter", "lines", counts)
            }
        }
    }
}
