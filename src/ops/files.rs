//! One export file into one table: chunks are read, parsed and written, in order, the three at the same time. Not the
//! choice of files, nor what happens to their rows later.

use super::control::Control;
use super::reading::read_all;
use super::rows::{Batch, Parsed, Told};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::trace32::{
    Counts, DataLayout, DataParser, FunctionParser, Kind, Radix, Settings, detect_data_layout, probe,
};
use crate::input::{Digest, Source};
use crate::pipeline::Pipeline;
use crate::schema::{TableSpec, tables};
use crate::store::{StagedFile, TableWriter, Transaction};
use crate::time::TimeScale;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A table that times run backwards in more often than this is not one trace.
const MAX_BACKWARDS: usize = 256;
/// A part ends after this many rows (64 row groups), so that its footer, which is kept in memory, stays small.
const PART_ROWS: u64 = 64 << 20;

/// An opened export, ready to be read.
pub(super) struct ExportFile {
    pub core: String,
    pub path: PathBuf,
    /// As the recording names it.
    pub name: String,
    source: Source,
    kind: Kind,
    layout: Option<DataLayout>,
    settings: Settings,
}

/// What became of an export.
pub(super) struct Stored {
    pub core: String,
    pub path: PathBuf,
    pub name: String,
    pub format: &'static str,
    pub files: Vec<StagedFile>,
    pub counts: Counts,
    pub gaps: Vec<(i64, i64, String)>,
    pub digest: Digest,
    pub first_at: Option<i64>,
    pub last_at: Option<i64>,
    pub log: Log,
}

/// How an export is to be read.
pub(super) struct Reading<'a> {
    pub radix: Radix,
    pub scale: TimeScale,
    pub offset: i64,
    pub columns: Option<&'a [String]>,
    /// The description says that it holds functions, not data.
    pub functions: bool,
    /// Its SHA-256 is wanted.
    pub hash: bool,
}

impl ExportFile {
    /// Opens an export and looks at its first bytes.
    ///
    /// # Errors
    /// A file that is missing, empty, or no TRACE32 export of the kind it is said to be.
    pub fn open(core: &str, base: &Path, name: &str, reading: &Reading<'_>) -> Result<Self> {
        let path = if name == "-" { PathBuf::from(name) } else { base.join(name) };
        let mut source = Source::open(&path)?;
        if !reading.hash {
            source.skip_hash();
        }
        let head = source.head()?;
        if head.is_empty() {
            return Err(Error::input("the file is empty")
                .at(&path)
                .hint("export the trace again, or leave the file out"));
        }
        let kind = probe(head).ok_or_else(|| {
            Error::input("this is no TRACE32 data or function export")
                .at(&path)
                .hint("expected lines like '-0000004788,0.0000000300,\"NAME\",\"wr-data\",33' or '+437050; NAME; fentry'")
        })?;
        if (kind == Kind::Data) == reading.functions {
            let (is, said) =
                if reading.functions { ("data accesses", "functions") } else { ("functions", "data") };
            let message = format!("the file holds {is}, but is described as {said} of core '{core}'");
            return Err(Error::input(message).at(&path));
        }
        let layout = match kind {
            Kind::Data => Some(detect_data_layout(head, reading.columns).map_err(|e| e.at(&path))?),
            Kind::Functions | Kind::TaskEvents => None,
        };
        let settings = Settings {
            radix: reading.radix,
            scale: reading.scale,
            offset: reading.offset,
            source: name.to_owned(),
        };
        Ok(Self { core: core.to_owned(), path, name: name.to_owned(), source, kind, layout, settings })
    }

    /// Size on disk, when it is known.
    pub fn size(&self) -> Option<u64> {
        self.source.progress().1
    }

    /// Reads everything and stages it. `threads` > 1: reading, parsing and writing overlap.
    pub fn store(
        self,
        tx: &Mutex<Transaction>,
        recording: &str,
        threads: usize,
        control: &Control,
    ) -> Result<Stored> {
        let Self { core, path, name, mut source, kind, layout, settings } = self;
        let table = if kind == Kind::Data { tables::DATA_EVENT } else { tables::FUNCTION_EVENT };
        let out = Writer::new(tx, table, recording, &core, &name);
        let mut hash = source.hash_beside();
        let mut data = layout.as_ref().map(|layout| DataParser::new(layout, &settings));
        let mut functions = FunctionParser::new(&settings);
        // A reader, a parser and a writer: more would have nothing to do.
        let (out, digest) = Pipeline::run(threads.min(3), |pipeline| {
            let writing = pipeline.sink(out, |out, parsed| out.write(parsed, control));
            let digest = read_all(pipeline, source, control, |chunk| {
                let (bytes, first) = (&chunk.bytes, chunk.index == 0);
                let mut beside = hash.chunk(bytes);
                let parsed = match &mut data {
                    Some(data) => Parsed::Data(data.chunk(bytes, first, &mut beside)),
                    None => Parsed::Functions(functions.chunk(bytes, &mut beside)),
                };
                drop(beside);
                // Rows count when they are written.
                writing.push(parsed).map(|()| 0)
            })?;
            Ok((writing.finish()?, digest))
        })?;
        let digest = hash.complete(digest)?;
        let format = match kind {
            Kind::Data => "trace32-data",
            Kind::Functions => "trace32-functions",
            Kind::TaskEvents => "trace32-task-events",
        };
        out.finish(path, format, digest)
    }
}

/// The writing end of a file.
struct Writer<'a> {
    tx: &'a Mutex<Transaction>,
    table: &'static TableSpec,
    recording: &'a str,
    writer: Option<TableWriter>,
    names: Told,
    /// Latest time in the present part.
    written: Option<i64>,
    /// Rows in the present part.
    in_part: u64,
    /// Parts that had to begin because time ran backwards.
    backwards: usize,
    /// Time of the row before, in file order.
    before: Option<i64>,
    /// Gaps that reach to the next row; true when they begin there as well, for want of a time before it.
    open_gaps: Vec<(usize, bool)>,
    stored: Stored,
}

impl<'a> Writer<'a> {
    fn new(
        tx: &'a Mutex<Transaction>,
        table: &'static TableSpec,
        recording: &'a str,
        core: &str,
        name: &str,
    ) -> Self {
        let stored = Stored {
            core: core.to_owned(),
            path: PathBuf::new(),
            name: name.to_owned(),
            format: "",
            files: Vec::new(),
            counts: Counts::default(),
            gaps: Vec::new(),
            digest: Digest { bytes: 0, sha256: None },
            first_at: None,
            last_at: None,
            log: Log::default(),
        };
        Self {
            tx,
            table,
            recording,
            writer: None,
            names: Told::default(),
            written: None,
            in_part: 0,
            backwards: 0,
            before: None,
            open_gaps: Vec::new(),
            stored,
        }
    }

    fn write(&mut self, mut parsed: Parsed, control: &Control) -> Result<()> {
        let counts = parsed.counts();
        let lines_before = self.stored.counts.lines;
        let mut log = std::mem::take(parsed.log());
        log.shift_lines(lines_before);
        self.stored.log.merge(log);
        self.gaps(&mut parsed);
        let names = self.names.with(&parsed);
        let times = parsed.times();
        let (mut low, mut high) = (times.first().copied(), times.last().copied());
        let sorted = self.before.zip(low).is_none_or(|(before, first)| before <= first) && times.is_sorted();
        if sorted {
            self.before = high.or(self.before);
        } else {
            for (row, time) in times.iter().enumerate() {
                if let Some(before) = self.before.replace(*time).filter(|b| time < b) {
                    self.stored.log.push(Diagnostic {
                        source: self.stored.name.clone(),
                        line: Some(lines_before + u64::from(parsed.lines().line(row)) + 1),
                        severity: Severity::Error,
                        code: "time-backwards",
                        message: format!(
                            "time runs backwards by {} ticks, to {time}",
                            before.abs_diff(*time)
                        ),
                        text: String::new(),
                    });
                }
            }
            (low, high) = (times.iter().min().copied(), times.iter().max().copied());
        }
        if let (Some(low), Some(high)) = (low, high) {
            self.stored.first_at = Some(self.stored.first_at.map_or(low, |t| t.min(low)));
            self.stored.last_at = Some(self.stored.last_at.map_or(high, |t| t.max(high)));
            if self.written.is_some_and(|w| low < w) {
                self.backwards += 1;
                self.end_part()?;
            } else if self.in_part >= PART_ROWS {
                self.end_part()?;
            }
            self.written = Some(high);
            self.in_part += times.len() as u64;
            let first_seq = self.stored.counts.rows as i64;
            let batch = Batch::new(parsed, first_seq, sorted).take(names)?;
            let writer = match &mut self.writer {
                Some(w) => w,
                None => {
                    let core = self.stored.core.clone();
                    let mut tx =
                        self.tx.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))?;
                    self.writer.insert(tx.writer(self.table, self.recording, Some(&core))?)
                }
            };
            writer.write(&batch)?;
        }
        self.stored.counts.add(&counts);
        control.advance(0, counts.rows);
        Ok(())
    }

    /// Gaps reach to the next row, which may be in the next chunk.
    fn gaps(&mut self, parsed: &mut Parsed) {
        if let Some(first) = parsed.times().first().copied() {
            for (n, begins) in self.open_gaps.drain(..) {
                if let Some(gap) = self.stored.gaps.get_mut(n) {
                    gap.0 = if begins { first } else { gap.0 };
                    gap.1 = first.max(gap.0);
                }
            }
        }
        for gap in std::mem::take(parsed.gaps()) {
            let begin = if gap.begin_open { self.before.unwrap_or(gap.begin) } else { gap.begin };
            if gap.end.is_none() {
                let begins = gap.begin_open && self.before.is_none();
                self.open_gaps.push((self.stored.gaps.len(), begins));
            }
            self.stored.gaps.push((begin, gap.end.unwrap_or(begin).max(begin), gap.reason));
        }
    }

    fn end_part(&mut self) -> Result<()> {
        self.in_part = 0;
        if let Some(writer) = self.writer.take() {
            self.stored.files.push(writer.finish()?);
        }
        if self.backwards > MAX_BACKWARDS {
            let message = format!("time runs far backwards more than {MAX_BACKWARDS} times");
            return Err(Error::new(ErrorKind::Limit, message)
                .at(&self.stored.name)
                .hint("were several exports put together into one file? Give each core its own"));
        }
        Ok(())
    }

    fn finish(mut self, path: PathBuf, format: &'static str, digest: Digest) -> Result<Stored> {
        self.end_part()?;
        let mut stored = self.stored;
        let c = stored.counts;
        if c.rows + c.gaps == 0 && c.rejected > 0 {
            let first = stored.log.entries().iter().find(|d| d.severity == Severity::Error);
            let mut error = Error::input(format!("none of the {} lines could be read", c.lines)).at(&path);
            if let Some(d) = first {
                error = Error::input(format!(
                    "{} ('{}'); none of the {} lines could be read",
                    d.message, d.text, c.lines
                ))
                .at(&path)
                .line(d.line.unwrap_or(1));
            }
            return Err(error.hint("check data_radix and data_columns in recording.toml"));
        }
        if c.rows == 0 {
            stored.log.push(Diagnostic {
                source: stored.name.clone(),
                line: None,
                severity: Severity::Warning,
                code: "no-events",
                message: "the export holds no event; did the trace host decode the program flow?".into(),
                text: String::new(),
            });
        }
        Ok(Stored { path, format, digest, ..stored })
    }
}
