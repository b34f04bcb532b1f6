//! Kernel traces into the database: one file, in one pass, its events by CPU in the order of time. Not the decoding (see
//! `formats::qnx`), nor what the events say about tasks (see `map::kernel`).

mod ingest;
mod keep;
mod map;
mod native;
mod rows;
mod spread;
mod stored;
mod window;

use super::control::Control;
use super::crew::Crew;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Counts;
use crate::formats::qnx::{Decoder, Preamble, probe};
use crate::input::{Digest, Source};
use crate::qnx::Version;
use crate::store::Transaction;
use crate::time::TimeScale;
use spread::Spread;

pub(super) use ingest::ingest;
pub(super) use map::{Mapping, NATIVE, map};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// An opened trace, ready to be read.
pub(super) struct KernelFile {
    path: PathBuf,
    /// As the user gave it.
    name: String,
    source: Source,
    version: Option<Version>,
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
        if !probe(source.head()?) {
            return Ok(Err(source));
        }
        let name = path.to_string_lossy().into_owned();
        Ok(Ok(Self { path: path.to_owned(), name, source, version }))
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
        let Self { path, name, source, version } = self;
        let begins = rows::begins(tx, recording);
        let mut decoder = Decoder::new(&name, version);
        let mut chunks = source.chunks(threads > 1);
        let spread = Crew::run(threads, |crew| {
            let mut spread = Spread::new(crew, &begins, scale);
            while let Some((chunk, raw)) = chunks.next_chunk()? {
                control.check()?;
                let batch = decoder.chunk(&chunk.bytes).map_err(|e| e.at(&path))?;
                chunks.recycle(chunk.bytes);
                control.advance(raw, batch.len() as u64);
                spread.take(batch, decoder.preamble())?;
            }
            let batch = decoder.finish().map_err(|e| e.at(&path))?;
            spread.take(batch, decoder.preamble())?;
            spread.finish()
        })?;
        let digest = chunks.finish()?;
        let Some(preamble) = decoder.preamble().cloned() else {
            return Err(Error::new(ErrorKind::Bug, "a trace without a header was read"));
        };
        let mut counts = spread.counts;
        if decoder.has_tail() {
            (counts.lines, counts.rejected) = (counts.lines + 1, counts.rejected + 1);
        }
        counts.skipped = counts.lines - counts.rows - counts.rejected;
        let mut log = spread.log;
        for hole in &spread.lost {
            let message = format!("{} buffers are missing before number {}", hole.lost, hole.number);
            let (source, text) = (name.clone(), String::new());
            let line = Some(decoder.offset_of(hole.record));
            log.push(Diagnostic {
                source,
                line,
                severity: Severity::Warning,
                code: "lost-buffers",
                message,
                text,
            });
        }
        let mut tx = tx.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))?;
        spread.files.into_iter().for_each(|file| tx.add(file));
        rows::write_attributes(&mut tx, recording, &name, &preamble)?;
        let (first_at, last_at) = (spread.first_at, spread.last_at);
        let (format, unit) = ("qnx-kev", "records");
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
