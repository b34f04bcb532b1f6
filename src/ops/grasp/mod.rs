//! Grasp traces into the database: one file, in one pass, its commands as rows of `grasp_event`. Not the reading of commands
//! (see `formats::grasp`), nor what they say about tasks (see `map::grasp`).

mod ingest;
mod rows;

use super::control::Control;
use super::ingest::locked;
use super::reading::read_all;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Counts;
use crate::formats::grasp::{Reader, probe};
use crate::input::{Digest, Source};
use crate::pipeline::Pipeline;
use crate::store::Transaction;
use rows::{Builder, Table};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub(super) use ingest::ingest;

/// An opened trace, ready to be read.
pub(super) struct GraspFile {
    path: PathBuf,
    /// As the user gave it.
    name: String,
    source: Source,
}

/// What became of it.
pub(super) struct Stored {
    pub path: PathBuf,
    pub name: String,
    pub counts: Counts,
    pub digest: Digest,
    pub log: Log,
    pub backwards: u64,
    pub first_at: Option<i64>,
    pub last_at: Option<i64>,
}

impl GraspFile {
    /// The trace in `source`, if it is one of Grasp, or is said to be; else gives the source back.
    ///
    /// # Errors
    /// When reading fails.
    pub fn recognise(
        path: &Path,
        mut source: Source,
        said: bool,
    ) -> Result<std::result::Result<Self, Source>> {
        let head = source.head()?;
        if !said && !probe(head) {
            return Ok(Err(source));
        }
        let name = path.to_string_lossy().into_owned();
        Ok(Ok(Self { path: path.to_owned(), name, source }))
    }

    /// Size on disk, when it is known.
    pub fn size(&self) -> Option<u64> {
        self.source.progress().1
    }

    /// Reads everything and stages it. `tick`: ticks of the database per unit of time of the trace.
    ///
    /// # Errors
    /// Nothing in it is a command of Grasp; time that runs far backwards again and again; the disk.
    pub fn store(
        self,
        tx: &Mutex<Transaction>,
        recording: &str,
        tick: i64,
        threads: usize,
        control: &Control,
    ) -> Result<Stored> {
        let Self { path, name, source } = self;
        let begin = |table| locked(tx)?.writer(table, recording, None);
        let mut reader = Reader::new(&name, tick);
        let (builder, files, digest) = Pipeline::run(threads, |pipeline| {
            let table = pipeline.sink(Table::new(&begin), Table::take);
            let mut builder = Builder::default();
            let digest = read_all(pipeline, source, control, |chunk| {
                let before = builder.rows();
                reader.chunk(&chunk.bytes, chunk.last, &mut |place, command| {
                    builder.push(place, command);
                    match builder.full()? {
                        Some(batch) => table.push(batch),
                        None => Ok(()),
                    }
                })?;
                Ok(builder.rows() - before)
            })?;
            table.push(builder.rest()?)?;
            Ok((builder, table.finish()?.finish()?, digest))
        })?;
        let (counts, unended) = (reader.counts(), reader.is_unended());
        let mut log = reader.into_log();
        let mut find = |severity, code, message: String| {
            let (source, text) = (name.clone(), String::new());
            log.push(Diagnostic { source, line: None, severity, code, message, text });
        };
        if builder.commands == 0 && counts.lines > 0 {
            let message = format!("no command of Grasp is in the {} lines", counts.lines);
            return Err(Error::input(message)
                .at(&path)
                .hint("a trace has lines like 'plot 5 jobResumed job1.1'"));
        }
        if builder.backwards > 0 {
            let message = format!(
                "time runs backwards {} times, as where processors are listed one after the other; rows are in the order of time",
                builder.backwards
            );
            find(Severity::Info, "time-backwards", message);
        }
        if unended {
            find(Severity::Info, "no-line-end", "the last line has no line end".to_owned());
        }
        let mut tx = locked(tx)?;
        files.into_iter().for_each(|file| tx.add(file));
        let (first_at, last_at, backwards) = (builder.first_at, builder.last_at, builder.backwards);
        Ok(Stored { path, name, counts, digest, log, backwards, first_at, last_at })
    }
}

fn too_many_runs(most: usize) -> Error {
    Error::new(ErrorKind::Limit, format!("time runs far backwards more than {most} times"))
        .hint("were many traces put together into one file?")
}
