//! One BTF file into the database: chunks are parsed on several threads, assembled in order on one, and written and
//! turned into instances on two more. Not the grammar (see `formats::btf`) nor the charts (see `derive`).

use super::assemble::{Assembler, Trace};
use super::control::Control;
use super::describe::Facts;
use super::ingest::locked;
use super::order::Ordered;
use super::parts::{Begin, DerivedTables, Parts, ROWS_OUT};
use crate::derive::{Derive, Dialect, FromRecords, Violations};
use crate::diagnostics::Severity;
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Counts;
use crate::formats::btf::{self, EventRows, Keyword, Parser};
use crate::input::{Beside, Buffer, Digest, HashBeside, Source};
use crate::schema::columns::btf_event;
use crate::schema::tables;
use crate::store::{StagedFile, Transaction};
use crate::time::TimeScale;
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// More sorted runs than this are no trace that anybody can look at.
const MAX_RUNS: usize = 4096;

/// An opened trace file.
pub(super) struct TraceFile {
    path: PathBuf,
    /// As the user gave it.
    name: String,
    source: Source,
    dialect: Dialect,
}

/// The unit of time that the first lines of a file name. `None` when they name none, and when the file cannot be
/// looked at twice; what is wrong with it is said when it is read.
pub(super) fn unit_of(path: &Path) -> Option<TimeScale> {
    if !path.is_file() {
        return None;
    }
    let mut source = Source::open(path).ok()?;
    let head = source.head().ok()?;
    let lines = head.split(|b| *b == b'\n').take_while(|line| !line.first().is_some_and(u8::is_ascii_digit));
    let value = lines.filter_map(|line| match Keyword::split(std::str::from_utf8(line).ok()?) {
        Some((Keyword::TimeScale, value)) => TimeScale::parse(&value.to_ascii_lowercase()),
        _ => None,
    });
    value.last()
}

/// What became of it.
pub(super) struct Imported {
    pub path: PathBuf,
    pub name: String,
    pub counts: Counts,
    pub digest: Digest,
    pub trace: Trace,
    pub dialect: Dialect,
    pub violations: Violations,
}

impl TraceFile {
    /// Looks at the first bytes of a file. `dialect`: as the user wants it read; told by content when `None`.
    ///
    /// # Errors
    /// A file that is missing, empty, or of no format that btfdb reads.
    pub fn open(path: &Path, mut source: Source, dialect: Option<Dialect>) -> Result<Self> {
        let head = source.head()?;
        if head.is_empty() {
            return Err(Error::input("the file is empty").at(path).hint("export the trace again"));
        }
        if !btf::probe(head) {
            return Err(Error::input("this is no BTF trace").at(path).hint(
                "BTF begins with '#version' or has lines like '100,Core_0,0,T,Task_1,0,start'; \
                 kernel traces of QNX begin with 'TRACE_HEADER_BEGIN::'; exports of TRACE32 are named CORE_data.csv and CORE_func.csv, or given with --core name=…,data=…",
            ));
        }
        let spoken = if btf::speaks_freertos(head) { Dialect::FreeRtos } else { Dialect::Standard };
        let dialect = dialect.unwrap_or(spoken);
        Ok(Self { path: path.to_owned(), name: path.to_string_lossy().into_owned(), source, dialect })
    }

    /// Size on disk, when it is known.
    pub fn size(&self) -> Option<u64> {
        self.source.progress().1
    }

    /// Reads everything and stages it.
    pub fn store(
        mut self,
        tx: &Mutex<Transaction>,
        recording: &str,
        scale: TimeScale,
        threads: usize,
        control: &Control,
    ) -> Result<Imported> {
        let begin = |table| locked(tx)?.writer(table, recording, None);
        let mut events = Parts::new(&begin, tables::BTF_EVENT);
        let mut instances = Instances::new(&begin, self.dialect);
        let lines = Parts::new(&begin, tables::BTF_LINE);
        let mut assembler = Assembler::new(self.name.clone(), scale, self.dialect, lines);
        // With two threads, one parser keeps the assembler and the two writers busy; a single one makes the hash as well.
        let parsers = threads.saturating_sub(1).clamp(1, 16);
        let mut hash = (parsers == 1).then(|| self.source.hash_beside());
        if threads > 1 {
            self.pipeline(parsers, &mut hash, control, &mut assembler, &mut events, &mut instances)?;
        } else {
            let (mut out, mut inside) = (Vec::new(), false);
            let name = self.name.clone();
            let mut parser = Parser::new(&name);
            while let Some(chunk) = self.next(control, &mut inside)? {
                let rows = parse(&mut parser, &chunk, hash.as_mut());
                assembler.take(0, rows, &mut out)?;
                self.source.recycle(chunk.0);
                for ordered in out.drain(..) {
                    take_events(&mut events, &ordered, control)?;
                    instances.take(&ordered)?;
                }
            }
            assembler.rest(&mut out)?;
            for ordered in out {
                take_events(&mut events, &ordered, control)?;
                instances.take(&ordered)?;
            }
        }
        let (trace, lines) = assembler.finish()?;
        let files = events.finish()?;
        let (derived, violations) = instances.finish(trace.end_at.unwrap_or_default())?;
        let mut tx = locked(tx)?;
        for file in files.into_iter().chain(derived).chain(lines) {
            tx.add(file);
        }
        let counts = trace.counts;
        let Self { path, name, dialect, source } = self;
        let digest = source.finish()?;
        let digest = match hash {
            Some(hash) => hash.complete(digest)?,
            None => digest,
        };
        if counts.rows == 0 && counts.rejected > 0 {
            let first = trace.log.entries().iter().find(|d| d.severity == Severity::Error);
            let line = first.and_then(|d| d.line).unwrap_or(1);
            let message = first.map_or_else(String::new, |d| format!("{}; ", d.message));
            let message = format!("{message}no event of the {} lines could be read", counts.lines);
            return Err(Error::input(message).at(&path).line(line));
        }
        Ok(Imported { path, name, counts, digest, trace, dialect, violations })
    }

    /// The next chunk, and whether it begins inside a line.
    fn next(&mut self, control: &Control, inside_line: &mut bool) -> Result<Option<(Buffer, bool)>> {
        control.check()?;
        let before = self.source.progress().0;
        let Some(chunk) = self.source.next_chunk()? else { return Ok(None) };
        control.advance(self.source.progress().0.saturating_sub(before), 0);
        let inside = std::mem::replace(inside_line, chunk.bytes.last() != Some(&b'\n'));
        Ok(Some((chunk.bytes, inside)))
    }

    /// Parsers take chunks in turns and are asked in turns, so that the order of the file needs no bookkeeping.
    fn pipeline(
        &mut self,
        parsers: usize,
        hash: &mut Option<HashBeside>,
        control: &Control,
        assembler: &mut Assembler<'_>,
        events: &mut Parts<'_>,
        instances: &mut Instances<'_>,
    ) -> Result<()> {
        let mut hash = hash.as_mut();
        let name = self.name.clone();
        let mut failure = Ok(());
        std::thread::scope(|scope| -> Result<()> {
            let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
            let (spare, used) = channel::<Buffer>();
            for _ in 0..parsers {
                let (to_parser, chunks) = sync_channel::<(Buffer, bool)>(1);
                let (parsed, from_parser) = sync_channel::<EventRows>(1);
                let (name, hash, spare) = (&name, hash.take(), spare.clone());
                scope.spawn(move || parse_all(&chunks, &parsed, &spare, name, hash));
                inputs.push(to_parser);
                outputs.push(from_parser);
            }
            let failure = &mut failure;
            scope.spawn(move || {
                let mut inside = false;
                for to in inputs.iter().cycle() {
                    used.try_iter().for_each(|buffer| self.source.recycle(buffer));
                    match self.next(control, &mut inside) {
                        // A parser is gone only when somebody behind it failed, who says why.
                        Ok(Some(chunk)) => {
                            if to.send(chunk).is_err() {
                                return;
                            }
                        }
                        Ok(None) => return,
                        Err(e) => {
                            *failure = Err(e);
                            return;
                        }
                    }
                }
            });
            let (to_events, rows) = sync_channel::<Ordered>(2);
            let writing =
                scope.spawn(move || rows.into_iter().try_for_each(|o| take_events(events, &o, control)));
            let (to_instances, rows) = sync_channel::<Ordered>(2);
            let deriving = scope.spawn(move || rows.into_iter().try_for_each(|o| instances.take(&o)));
            let assembled = assemble_all(&outputs, assembler, &to_events, &to_instances);
            drop((outputs, to_events, to_instances));
            for worker in [writing, deriving] {
                worker.join().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))??;
            }
            assembled
        })?;
        failure
    }
}

fn parse_all(
    chunks: &Receiver<(Buffer, bool)>,
    parsed: &SyncSender<EventRows>,
    spare: &Sender<Buffer>,
    name: &str,
    mut hash: Option<&mut HashBeside>,
) {
    let mut parser = Parser::new(name);
    for chunk in chunks {
        let rows = parse(&mut parser, &chunk, hash.as_deref_mut());
        // Who reads may be done and need no buffer any more.
        drop(spare.send(chunk.0));
        if parsed.send(rows).is_err() {
            return;
        }
    }
}

fn parse(
    parser: &mut Parser<'_>,
    (bytes, inside): &(Buffer, bool),
    hash: Option<&mut HashBeside>,
) -> EventRows {
    let mut beside = hash.map_or_else(Beside::nothing, |hash| hash.chunk(bytes));
    parser.chunk(bytes, *inside, &mut beside)
}

fn assemble_all(
    parsed: &[Receiver<EventRows>],
    assembler: &mut Assembler<'_>,
    events: &SyncSender<Ordered>,
    instances: &SyncSender<Ordered>,
) -> Result<()> {
    let mut out = Vec::new();
    let mut rest = false;
    for (parser, from) in parsed.iter().enumerate().cycle() {
        match from.recv() {
            Ok(rows) => assembler.take(parser, rows, &mut out)?,
            Err(_) => {
                assembler.rest(&mut out)?;
                rest = true;
            }
        }
        for ordered in out.drain(..) {
            // A receiver that is gone has failed; its own error is the one to show.
            if instances.send(ordered.clone()).is_err() || events.send(ordered).is_err() {
                return Ok(());
            }
        }
        if rest {
            break;
        }
    }
    Ok(())
}

/// Writes the rows of `btf_event`: a part for every sorted run.
fn take_events(events: &mut Parts<'_>, ordered: &Ordered, control: &Control) -> Result<()> {
    let Ordered::Rows(batch) = ordered else {
        if events.ended() > MAX_RUNS {
            let message = format!("time runs far backwards more than {MAX_RUNS} times");
            return Err(
                Error::new(ErrorKind::Limit, message).hint("were many traces put together into one file?")
            );
        }
        return events.end_part();
    };
    events.write(batch)?;
    control.advance(0, batch.num_rows() as u64);
    Ok(())
}

/// The derived tables.
struct Instances<'a> {
    records: FromRecords,
    derive: Option<Derive>,
    tables: DerivedTables<'a>,
    /// The latest time seen.
    latest: i64,
    violations: Violations,
}

impl<'a> Instances<'a> {
    fn new(begin: Begin<'a>, dialect: Dialect) -> Self {
        let (records, tables) = (FromRecords::new(dialect), DerivedTables::new(begin));
        Self { records, derive: None, tables, latest: 0, violations: Violations::default() }
    }

    fn take(&mut self, ordered: &Ordered) -> Result<()> {
        let batch = match ordered {
            Ordered::Rows(batch) => batch,
            // What is open ends with the run: the next one is another trace, or its clock was set back.
            Ordered::NewRun => return self.cut(self.latest),
        };
        let (first, last) = times(batch);
        let derive = self.derive.get_or_insert_with(|| Derive::of_foreign_trace(first));
        self.records.batch(batch, derive)?;
        self.latest = last;
        self.tables.take(&mut derive.rows, ROWS_OUT)
    }

    fn cut(&mut self, end: i64) -> Result<()> {
        if let Some(mut derive) = self.derive.take() {
            let violations = derive.finish(end, &self.records.names);
            self.violations.process += violations.process;
            self.violations.runnable += violations.runnable;
            self.tables.take(&mut derive.rows, 1)?;
            self.tables.end_parts()?;
        }
        Ok(())
    }

    fn finish(mut self, end: i64) -> Result<(Vec<StagedFile>, Violations)> {
        self.cut(end.max(self.latest))?;
        Ok((self.tables.finish()?, self.violations))
    }
}

/// First and last time of rows that are sorted.
fn times(batch: &RecordBatch) -> (i64, i64) {
    let times = batch.column_by_name(btf_event::TIME).and_then(|c| c.as_primitive_opt::<Int64Type>());
    let values = times.map(|t| t.values());
    let at = |end: fn(&[i64]) -> Option<&i64>| values.and_then(|v| end(v)).copied().unwrap_or_default();
    (at(<[i64]>::first), at(<[i64]>::last))
}

impl Imported {
    /// What the header of the file says.
    pub fn facts(&self) -> Facts<'_> {
        let os = (self.dialect == Dialect::FreeRtos).then_some("freertos");
        Facts {
            os,
            creator: self.trace.header.creator.as_deref(),
            created: self.trace.header.created.as_deref(),
            tick: None,
        }
    }
}
