//! The interface of readers: chunks in, rows and findings out. Not the formats, nor what becomes of rows.

use super::{Counts, InputEnd, RowLines};
use crate::derive::Dialect;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Chunk;
use crate::schema::TableSpec;
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use serde_json::Value;
use std::any::Any;
use std::path::Path;
use std::sync::Arc;

/// Reads the chunks of one input, in order.
pub trait Reader: Send {
    /// Reads the next chunk.
    ///
    /// # Errors
    /// An input that cannot be read at all; errors of `out`.
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()>;

    /// Ends the input. `out` has all findings and counts so far.
    ///
    /// # Errors
    /// As [`Reader::chunk`]; an input without anything usable.
    fn finish(self: Box<Self>, out: &mut Output<'_>) -> Result<Ending>;

    /// At most `most` parsers for chunks that are read independently of each other. With parsers,
    /// [`Reader::parsed`] is called instead of [`Reader::chunk`]; chunks go to the parsers round-robin.
    fn parsers(&self, _most: usize) -> Vec<Box<dyn ChunkParser>> {
        Vec::new()
    }

    /// Takes the result of the parser of this number for the next chunk.
    ///
    /// # Errors
    /// As [`Reader::chunk`].
    fn parsed(&mut self, _parser: usize, _parsed: Parsed, _out: &mut Output<'_>) -> Result<()> {
        Err(Error::new(ErrorKind::Bug, "a reader without parsers was given a parsed chunk"))
    }

    /// The dialect of the rows of `btf_event`, for formats that fill that table.
    fn dialect(&self) -> Dialect {
        Dialect::Standard
    }
}

/// Parses some of the chunks of an input, on any thread.
pub trait ChunkParser: Send {
    /// Parses a chunk. `inside_line`: the previous chunk ended inside a line.
    fn parse(&mut self, chunk: &[u8], inside_line: bool) -> Parsed;
}

/// A parsed chunk on its way from a [`ChunkParser`] to its [`Reader`].
pub struct Parsed(Box<dyn Any + Send>);

impl Parsed {
    /// Wraps the result of a parser.
    pub fn new<T: Send + 'static>(rows: T) -> Self {
        Self(Box::new(rows))
    }

    /// Unwraps it.
    ///
    /// # Errors
    /// [`ErrorKind::Bug`] when it is of another type.
    pub fn take<T: 'static>(self) -> Result<T> {
        let rows = self.0.downcast().map_err(|_| Error::new(ErrorKind::Bug, "a chunk of another parser"))?;
        Ok(*rows)
    }
}

/// The output of a reader.
pub struct Output<'a> {
    /// Findings so far.
    pub log: Log,
    /// The counts of lines or records so far.
    pub counts: Counts,
    /// Spans of lost data, as stated by the trace.
    pub gaps: Vec<Gap>,
    /// The name of the input, as given by the user.
    source: String,
    sink: &'a mut dyn RowSink,
}

impl<'a> Output<'a> {
    /// For the input that the user calls `source`.
    pub fn new(source: &str, sink: &'a mut dyn RowSink) -> Self {
        let source = source.to_owned();
        Self { log: Log::default(), counts: Counts::default(), gaps: Vec::new(), source, sink }
    }

    /// Passes rows on.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn rows(&mut self, rows: Rows) -> Result<()> {
        self.sink.take(rows, &mut self.log)
    }

    /// To be called after the last row of a chunk, or of the input: see [`RowSink::note_end`].
    pub fn note_end(&mut self) {
        self.sink.note_end(&mut self.log);
    }

    /// Adds a finding about a line, or about the whole input.
    pub fn find(
        &mut self,
        line: Option<u64>,
        severity: Severity,
        code: &'static str,
        message: impl Into<String>,
    ) {
        let (source, message, text) = (self.source.clone(), message.into(), String::new());
        self.log.push(Diagnostic { source, line, severity, code, message, text });
    }

    /// Says how many times do not fit the time scale of the database, which are cut.
    ///
    /// # Errors
    /// When these are most: what is left would be no trace.
    pub(super) fn cut_times(&mut self, count: u64, scale: TimeScale, path: &Path) -> Result<()> {
        if count > self.counts.rows / 2 {
            return Err(most_times_do_not_fit(scale, path));
        }
        if count > 0 {
            let message = format!("{count} times do not fit 64 bits in the database's scale; they are cut");
            self.find(None, Severity::Error, "time-overflow", message);
        }
        Ok(())
    }
}

/// The error for an input most of whose times do not fit the time scale of the database.
pub(crate) fn most_times_do_not_fit(scale: TimeScale, path: &Path) -> Error {
    Error::input("most times do not fit 64 bits in the time scale of the database")
        .at(path)
        .hint(scale.hint_if_too_fine())
}

/// Takes the rows of an input.
pub trait RowSink {
    /// Takes the next rows; may add findings about them.
    ///
    /// # Errors
    /// When they cannot be written.
    fn take(&mut self, rows: Rows, log: &mut Log) -> Result<()>;

    /// Adds findings about all rows since the last call.
    fn note_end(&mut self, _log: &mut Log) {}
}

impl<F: FnMut(Rows) -> Result<()>> RowSink for F {
    fn take(&mut self, rows: Rows, _log: &mut Log) -> Result<()> {
        self(rows)
    }
}

/// Rows of a table.
pub struct Rows {
    /// The table.
    pub table: &'static TableSpec,
    /// The core or CPU, for tables that are divided by it.
    pub core: Option<Arc<str>>,
    /// The rows.
    pub content: RowsToMake,
}

/// Rows that exist, or that are made later.
pub enum RowsToMake {
    /// Rows in the order of the input, and their lines if these matter.
    Batch(RecordBatch, Option<Lines>),
    /// Rows sorted by time that another thread makes. Those of one table and core are made in order.
    Later(Box<dyn FnOnce() -> Result<Vec<RecordBatch>> + Send>),
    /// None: what follows is another trace, or of a clock that was set back, whatever its times. The text is
    /// for the finding about its first time.
    NewTrace(String),
    /// None: what the trace says about the rows that follow.
    Remark(Remark),
}

/// What a trace says about its rows, apart from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// Data were lost.
    Gap(Gap),
    /// ISRs of this name are another process on each core.
    Handlers(String),
}

impl Rows {
    /// Rows of a table that is not divided by core.
    pub fn new(table: &'static TableSpec, batch: RecordBatch) -> Self {
        Self { table, core: None, content: RowsToMake::Batch(batch, None) }
    }

    /// Rows that are made later.
    pub fn later(
        table: &'static TableSpec,
        make: impl FnOnce() -> Result<Vec<RecordBatch>> + Send + 'static,
    ) -> Self {
        Self { table, core: None, content: RowsToMake::Later(Box::new(make)) }
    }

    /// The end of a trace that is followed by another one in the same input; `why` is for a finding.
    pub fn new_trace(table: &'static TableSpec, why: String) -> Self {
        Self { table, core: None, content: RowsToMake::NewTrace(why) }
    }

    /// What is said about the rows that follow.
    pub fn remark(table: &'static TableSpec, remark: Remark) -> Self {
        Self { table, core: None, content: RowsToMake::Remark(remark) }
    }

    /// The same rows, of a core.
    pub fn of_core(self, core: &Arc<str>) -> Self {
        Self { core: Some(Arc::clone(core)), ..self }
    }

    /// The same rows with their lines in the chunk; `before`: the number of lines before the chunk.
    pub fn in_lines(self, before: u64, lines: RowLines) -> Self {
        match self.content {
            RowsToMake::Batch(batch, _) => {
                Self { content: RowsToMake::Batch(batch, Some(Lines { before, lines })), ..self }
            }
            _ => self,
        }
    }
}

/// The lines of rows within their input.
#[derive(Debug, Clone)]
pub struct Lines {
    before: u64,
    lines: RowLines,
}

impl Lines {
    /// The line of a row, from 1.
    pub fn line(&self, row: usize) -> u64 {
        self.before + u64::from(self.lines.line(row)) + 1
    }
}

/// The begin of a gap that nothing is before in its input: it begins with the recording, which other inputs
/// may tell.
pub const FROM_BEGIN: i64 = i64::MIN;

/// A span of time for which a trace states a loss.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// Its begin, in ticks, or [`FROM_BEGIN`].
    pub begin: i64,
    /// The first instant after it, in ticks; `None` if nothing follows it in the trace.
    pub end: Option<i64>,
    /// Its core; `None`: all cores.
    pub core: Option<String>,
    /// The reason stated by the trace.
    pub reason: String,
}

/// The results of an input that are known at its end.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// `source.format`.
    pub source_format: &'static str,
    /// The input has records, not lines.
    pub counts_records: bool,
    /// The input describes others, and has no events of its own.
    pub describes: bool,
    /// Its metadata.
    pub header: Header,
    /// How the recording is mapped; `None` if the description says that, or if nothing is mapped.
    pub setup: Option<Setup>,
    /// Where it ended, for formats whose recordings can be continued.
    pub end: Option<InputEnd>,
    /// Number of times that ran backwards and that the reader has sorted.
    pub backwards: u64,
}

/// The metadata of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Operating system, or its substitute.
    pub os: Option<String>,
    /// The program that wrote it.
    pub creator: Option<String>,
    /// The date, as it is written there.
    pub created: Option<String>,
    /// Ticks per unit of time of the trace, if the format does not define the unit.
    pub tick: Option<i64>,
}

impl Header {
    /// This header, completed by that of another input of the recording.
    pub fn or(self, other: &Self) -> Self {
        Self {
            os: self.os.or_else(|| other.os.clone()),
            creator: self.creator.or_else(|| other.creator.clone()),
            created: self.created.or_else(|| other.created.clone()),
            tick: self.tick.or(other.tick),
        }
    }
}

/// The stored setup of the mapping of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Name of the mapper.
    pub mapper: &'static str,
    /// Its settings.
    pub settings: Value,
}
