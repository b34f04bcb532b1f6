//! What reads the chunks of an input, and what it gives. Not the formats themselves, nor what becomes of the
//! rows.

use super::{Counts, RowLines};
use crate::derive::Dialect;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::input::Chunk;
use crate::schema::TableSpec;
use arrow::array::RecordBatch;
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;

/// Reads the chunks of one input, in order.
pub trait Reader: Send {
    /// Takes the next chunk.
    ///
    /// # Errors
    /// An input that cannot be read at all; what `out` fails with.
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()>;

    /// The end of the input. `out` has all findings and counts of before.
    ///
    /// # Errors
    /// As [`Reader::chunk`]; an input of which nothing could be used.
    fn finish(self: Box<Self>, out: &mut Output<'_>) -> Result<Ending>;

    /// Parsers for chunks that are read independently of each other, `most` at most. With any,
    /// [`Reader::parsed`] is called in place of [`Reader::chunk`]; chunks go to the parsers in turns.
    fn parsers(&self, _most: usize) -> Vec<Box<dyn ChunkParser>> {
        Vec::new()
    }

    /// Takes what the parser of this number made of the next chunk.
    ///
    /// # Errors
    /// As [`Reader::chunk`].
    fn parsed(&mut self, _parser: usize, _parsed: Parsed, _out: &mut Output<'_>) -> Result<()> {
        Err(Error::new(ErrorKind::Bug, "a reader without parsers was given a parsed chunk"))
    }

    /// How rows of `btf_event` are meant, for formats that fill that table.
    fn dialect(&self) -> Dialect {
        Dialect::Standard
    }
}

/// Parses some of the chunks of an input, on whatever thread.
pub trait ChunkParser: Send {
    /// Parses a chunk. `inside_line`: the chunk before it ended inside a line.
    fn parse(&mut self, chunk: &[u8], inside_line: bool) -> Parsed;
}

/// A parsed chunk on its way from a [`ChunkParser`] to its [`Reader`].
pub struct Parsed(Box<dyn Any + Send>);

impl Parsed {
    /// Packs what a parser made.
    pub fn new<T: Send + 'static>(rows: T) -> Self {
        Self(Box::new(rows))
    }

    /// Unpacks it.
    ///
    /// # Errors
    /// [`ErrorKind::Bug`] when it is of another type.
    pub fn take<T: 'static>(self) -> Result<T> {
        let rows = self.0.downcast().map_err(|_| Error::new(ErrorKind::Bug, "a chunk of another parser"))?;
        Ok(*rows)
    }
}

/// Where a reader puts what it reads.
pub struct Output<'a> {
    /// Findings so far.
    pub log: Log,
    /// Where lines or records went so far.
    pub counts: Counts,
    /// Stretches for which the trace says that something was lost.
    pub gaps: Vec<Gap>,
    /// The input, as the user names it.
    source: String,
    sink: &'a mut dyn RowSink,
}

impl<'a> Output<'a> {
    /// For the input that the user calls `source`.
    pub fn new(source: &str, sink: &'a mut dyn RowSink) -> Self {
        let source = source.to_owned();
        Self { log: Log::default(), counts: Counts::default(), gaps: Vec::new(), source, sink }
    }

    /// Hands rows over.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn rows(&mut self, rows: Rows) -> Result<()> {
        self.sink.take(rows, &mut self.log)
    }

    /// To be called when there are no more rows, or no more chunks: see [`RowSink::note_end`].
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
}

/// What takes the rows of an input.
pub trait RowSink {
    /// Takes the next rows; may add findings about them.
    ///
    /// # Errors
    /// When they cannot be written.
    fn take(&mut self, rows: Rows, log: &mut Log) -> Result<()>;

    /// Adds findings about all rows since this was last called.
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

/// Rows, made or to be made.
pub enum RowsToMake {
    /// Made, in the order of the input, and the lines where they stood, where lines matter.
    Batch(RecordBatch, Option<Lines>),
    /// To be made, sorted by time, on another thread. What a reader hands over for one table and core is made
    /// in order.
    Later(Box<dyn FnOnce() -> Result<Vec<RecordBatch>> + Send>),
    /// None: what follows is another trace, whatever its times.
    NewTrace,
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

    /// The end of a trace to which another one was appended.
    pub fn new_trace(table: &'static TableSpec) -> Self {
        Self { table, core: None, content: RowsToMake::NewTrace }
    }

    /// The same rows, of a core.
    pub fn of_core(self, core: &Arc<str>) -> Self {
        Self { core: Some(Arc::clone(core)), ..self }
    }

    /// The same rows, with the lines of the chunk in which they stand; `before`: the lines in front of the
    /// chunk.
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

/// A stretch of time for which a trace says that something was lost.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// Its begin, in ticks.
    pub begin: i64,
    /// The first instant after it that is known again, in ticks.
    pub end: i64,
    /// The core it is of; `None`: of all.
    pub core: Option<String>,
    /// What the trace says.
    pub reason: String,
}

/// What is known of an input when all of it has been read.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// `source.format`.
    pub source_format: &'static str,
    /// The input has records, not lines.
    pub counts_records: bool,
    /// What it says of itself.
    pub header: Header,
    /// How the recording is mapped; `None` where the description says that, or where nothing is mapped.
    pub setup: Option<Setup>,
    /// Times that the reader has found to run backwards, and put right.
    pub backwards: u64,
}

/// What a recording says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Operating system, or what stands in for it.
    pub os: Option<String>,
    /// Who wrote it.
    pub creator: Option<String>,
    /// When, as it is written there.
    pub created: Option<String>,
    /// Ticks per unit of time of the trace, where the trace leaves that open.
    pub tick: Option<i64>,
}

impl Header {
    /// This, and where it says nothing, what another input of the recording says.
    pub fn or(self, other: &Self) -> Self {
        Self {
            os: self.os.or_else(|| other.os.clone()),
            creator: self.creator.or_else(|| other.creator.clone()),
            created: self.created.or_else(|| other.created.clone()),
            tick: self.tick.or(other.tick),
        }
    }
}

/// How a recording is mapped, as it is kept with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Name of the mapper.
    pub mapper: &'static str,
    /// Its settings.
    pub settings: Value,
}
