//! Reads the inputs of a recording into tables with the readers of its format: the one loop for all formats.
//! Each input is a pipeline of its own, so several are read at the same time. Not what is written about a
//! recording afterwards (see `ingest`).

use super::after::After;
use super::control::Control;
use super::derived::{Derived, Ended};
use super::extent::Extent;
use super::order::{Sorter, note_expected};
use super::parts::{Parts, Runs, locked};
use crate::btf::IdleTasks;
use crate::derive::{Dialect, Entity, Violations};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{
    ChunkParser, Counts, Disorder, Ending, Gap, Output, Parsed, Reader, Remark, RowOrder, RowSink, Rows,
    RowsToMake, Stream, TraceFormat, most_times_do_not_fit,
};
use crate::input::{Buffer, Piece, Provenance, Source, Used};
use crate::pipeline::{Pipeline, Sink, Transform, fan_out};
use crate::schema::{TableSpec, tables};
use crate::store::{StagedFile, Transaction};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// More parsers would only wait for the disk.
const MOST_PARSERS: usize = 16;

#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    pub tx: &'a Mutex<Transaction>,
    pub recording: &'a str,
    pub format: &'static dyn TraceFormat,
    /// The end of the recording, if it is there already.
    pub after: Option<&'a After>,
    /// The idle tasks of a trace of system events.
    pub idle_tasks: &'a IdleTasks,
    /// The most bytes that the names of system events may have together.
    pub max_names: u64,
}

pub(super) struct ReadInput {
    /// The name given by the user or the description.
    pub name: String,
    pub path: PathBuf,
    pub core: Option<String>,
    pub counts: Counts,
    pub gaps: Vec<Gap>,
    /// How many of the gaps begin in the input that this one continues.
    pub gaps_before: usize,
    pub provenance: Provenance,
    pub log: Log,
    /// Rows that are earlier than the row before them.
    pub steps_back: u64,
    /// The times of its rows.
    pub extent: Option<Extent>,
    pub files: Vec<StagedFile>,
    pub ending: Ending,
    /// How its system events were interpreted, and how many violate a state chart, if it has system events.
    pub derived: Option<(Dialect, Violations)>,
    /// What occurs in its system events.
    pub entities: Vec<Entity>,
}

/// Reads all inputs, several at the same time with several threads; results are in the order of the inputs.
pub(super) fn read_all(
    streams: Vec<Stream>,
    target: Target<'_>,
    threads: usize,
    control: &Control,
) -> Result<Vec<ReadInput>> {
    let workers = threads.min(streams.len());
    let work = |streams: &mut dyn Iterator<Item = (usize, Stream)>| {
        let read = |(n, stream)| Ok((n, read(stream, target, threads, control)?));
        streams.map(read).collect::<Result<Vec<_>>>()
    };
    let read = fan_out(workers, streams.into_iter().enumerate(), work)?;
    let mut inputs: Vec<_> = read.into_iter().flatten().collect();
    inputs.sort_by_key(|(n, _)| *n);
    Ok(inputs.into_iter().map(|(_, input)| input).collect())
}

fn read(stream: Stream, target: Target<'_>, threads: usize, control: &Control) -> Result<ReadInput> {
    let Stream { input, mut reader } = stream;
    let begin = |table| locked(target.tx)?.writer(table, target.recording, None);
    let dialect = reader.dialect();
    let derives = target.format.info().fills(tables::BTF_EVENT);
    let gaps_before = input.after.as_ref().map_or(0, |end| end.open_gaps.len());
    let threads = threads.min(target.format.info().threads_per_input);
    Pipeline::run(threads, |pipeline| {
        let derive = |derived: &mut Derived<'_>, rows: ToDerive| match rows {
            ToDerive::Batch(batch) => derived.take(&batch),
            ToDerive::NewTrace => derived.end_trace(),
            ToDerive::Remark(remark) => {
                derived.remark(remark);
                Ok(())
            }
        };
        let transcoded = input.source.transcoded();
        let mut tables = Tables {
            pipeline,
            target,
            control,
            source: &input.name,
            tables: Vec::new(),
            derived: derives.then(|| {
                let idle_tasks = target.idle_tasks.clone();
                pipeline.sink(Derived::new(&begin, dialect, idle_tasks, target.max_names), derive)
            }),
            sorted: Vec::new(),
            noted: 0,
        };
        let mut out = Output::new(&input.name, &mut tables);
        if let Some(how) = transcoded {
            out.find(None, Severity::Info, "transcoded", format!("the text is {how}; it is read as UTF-8"));
        }
        let provenance = read_chunks(pipeline, input.source, (control, threads), &mut *reader, &mut out)?;
        out.note_end();
        let ending = reader.finish(&mut out);
        refuse_times(&out.log, out.counts, &input.path, locked(target.tx)?.time_scale())?;
        let ending = ending?;
        out.note_end();
        if out.counts.rows == 0 && !ending.describes {
            out.find(None, Severity::Warning, "no-events", target.format.info().no_events);
        }
        let Output { mut log, counts, mut gaps, .. } = out;
        let steps_back = ending.backwards + tables.steps_back();
        let Finished { files, extent, derived } = tables.finish()?;
        refuse_span(extent, &input.path)?;
        if provenance.replaced > 0 {
            let message = format!("{} characters are not those of the encoding", provenance.replaced);
            log.push(of_input(&input.name, Severity::Warning, "not-utf16", message));
        }
        let mut entities = Vec::new();
        let derived = derived.map(|derived| {
            gaps.extend(derived.gaps);
            entities = derived.entities;
            derived.doubts.iter().for_each(|(code, message)| {
                log.push(of_input(&input.name, Severity::Warning, code, message.clone()));
            });
            (dialect, derived.violations)
        });
        let (name, path, core) = (input.name.clone(), input.path.clone(), input.core.clone());
        Ok(ReadInput {
            name,
            path,
            core,
            counts,
            gaps,
            gaps_before,
            provenance,
            log,
            steps_back,
            extent,
            files,
            ending,
            derived,
            entities,
        })
    })
}

fn of_input(source: &str, severity: Severity, code: &'static str, message: String) -> Diagnostic {
    Diagnostic { source: source.to_owned(), line: None, severity, code, message, text: String::new() }
}

/// The code of times that do not fit 64 bits in the database's time scale.
const TIME_OVERFLOW: &str = "time-overflow";

/// Refuses an input most of whose times do not fit: what is left of it would be no trace.
fn refuse_times(log: &Log, counts: Counts, path: &Path, scale: TimeScale) -> Result<()> {
    let cut = log.count_of(TIME_OVERFLOW);
    if cut == 0 || cut <= counts.rows {
        return Ok(());
    }
    Err(most_times_do_not_fit(scale, path))
}

/// Refuses an input whose duration does not fit: no time between two of its events would be true.
fn refuse_span(extent: Option<Extent>, path: &Path) -> Result<()> {
    match extent {
        Some(Extent { first, last, .. }) if last.checked_sub(first).is_none() => {
            Err(Error::input(format!("the times {first} and {last} are too far apart for 64 bits"))
                .at(path)
                .hint("nothing was written; is one of them damaged?"))
        }
        _ => Ok(()),
    }
}

/// Passes all chunks of an input to its reader, in order; parsers of the reader run on several threads.
fn read_chunks(
    pipeline: &Pipeline<'_>,
    source: Source,
    (control, threads): (&Control, usize),
    reader: &mut dyn Reader,
    out: &mut Output<'_>,
) -> Result<Provenance> {
    // With two threads, one parser keeps the following stages busy.
    let most = threads.saturating_sub(1).clamp(1, MOST_PARSERS);
    let parse = |parser: &mut Box<dyn ChunkParser>, (buffer, inside_line): (Buffer, bool)| {
        (parser.parse(&buffer, inside_line), buffer)
    };
    let parsers: Vec<_> =
        reader.parsers(most).into_iter().map(|parser| pipeline.transform(parser, parse)).collect();
    // Maximum number of chunks that are parsed, or wait for it.
    let room = if threads < 2 { 1 } else { 2 * parsers.len() };
    // The parsers of the pending chunks, in the order of the chunks.
    let mut pending = VecDeque::new();
    let (pieces, used) = source.pieces();
    let (mut provenance, mut inside_line) = (None, false);
    for piece in pipeline.prefetch_first(pieces) {
        control.check()?;
        match piece? {
            Piece::Chunk { chunk, raw } => {
                control.advance(raw, 0);
                if parsers.is_empty() {
                    reader.chunk(&chunk, out)?;
                    used.give(chunk.bytes);
                    continue;
                }
                if pending.len() >= room {
                    take_parsed(&mut pending, &parsers, reader, out, &used)?;
                }
                let number = chunk.index as usize % parsers.len();
                let ends_inside = chunk.bytes.last() != Some(&b'\n');
                if let Some(parser) = parsers.get(number) {
                    parser.push((chunk.bytes, std::mem::replace(&mut inside_line, ends_inside)));
                    pending.push_back(number);
                }
            }
            Piece::End(end) => provenance = Some(end),
        }
    }
    while !pending.is_empty() {
        take_parsed(&mut pending, &parsers, reader, out, &used)?;
    }
    provenance.ok_or_else(|| Error::new(ErrorKind::Bug, "an input has no end"))
}

type ParserStage<'c, 'a> = Transform<'c, 'a, Box<dyn ChunkParser>, (Buffer, bool), (Parsed, Buffer)>;

/// Passes the first pending chunk to the reader, as soon as it is parsed.
fn take_parsed(
    pending: &mut VecDeque<usize>,
    parsers: &[ParserStage<'_, '_>],
    reader: &mut dyn Reader,
    out: &mut Output<'_>,
    used: &Used,
) -> Result<()> {
    let Some((number, parser)) = pending.pop_front().and_then(|n| Some((n, parsers.get(n)?))) else {
        return Ok(());
    };
    let (parsed, buffer) = parser.next()?;
    used.give(buffer);
    reader.parsed(number, parsed, out)
}

/// The tables of an input that are being written.
struct Tables<'c, 'a> {
    pipeline: &'c Pipeline<'a>,
    target: Target<'a>,
    control: &'a Control,
    source: &'c str,
    tables: Vec<TableInMaking<'c, 'a>>,
    derived: Option<Sink<'c, 'a, Derived<'a>, ToDerive>>,
    /// Batches between the sorter and the sinks.
    sorted: Vec<RecordBatch>,
    /// Steps back in time that were already reported.
    noted: u64,
}

struct TableInMaking<'c, 'a> {
    table: &'static TableSpec,
    core: Option<Arc<str>>,
    order: RowOrder,
    sorter: Sorter,
    sink: Sink<'c, 'a, TableWriting<'a>, ToWrite>,
}

/// Events for the thread that derives tables from them, and what is said about those that follow.
enum ToDerive {
    Batch(RecordBatch),
    NewTrace,
    Remark(Remark),
}

/// A batch for the writer thread, or the end of a part.
enum ToWrite {
    Batch(RecordBatch),
    Later(Box<dyn FnOnce() -> Result<Vec<RecordBatch>> + Send>),
}

enum TableWriting<'a> {
    AsGiven(Parts<'a>),
    Sorted(Runs<'a>),
}

struct Finished {
    files: Vec<StagedFile>,
    extent: Option<Extent>,
    derived: Option<Ended>,
}

impl<'a> Tables<'_, 'a> {
    fn steps_back(&self) -> u64 {
        self.tables.iter().map(|table| table.sorter.steps_back).sum()
    }

    /// The index of `table` for `core`; begins it if it is new.
    fn place(&mut self, table: &'static TableSpec, core: Option<Arc<str>>) -> Result<usize> {
        let same = |t: &TableInMaking<'_, '_>| t.table.name == table.name && t.core == core;
        if let Some(place) = self.tables.iter().position(same) {
            return Ok(place);
        }
        let Target { tx, recording, format, after, .. } = self.target;
        let declared = format.info().tables.iter().find(|t| t.table.name == table.name);
        let order = declared.map(|t| t.order).ok_or_else(|| {
            let message =
                format!("format {} does not say that it fills table {}", format.info().name, table.name);
            Error::new(ErrorKind::Bug, message)
        })?;
        let parts = Parts::of_core(tx, recording, table, core.clone());
        let writing = match order {
            RowOrder::AsGiven => TableWriting::AsGiven(parts),
            _ => TableWriting::Sorted(Runs::new(parts, table, self.source)),
        };
        let end = after.and_then(|after| Some((after, after.end_of(table, core.as_deref())?)));
        let writing = match (writing, end) {
            (TableWriting::Sorted(runs), Some((after, end))) => {
                let core = core.clone();
                let refusal = move |first| after.refusal((first, end), core.as_deref());
                TableWriting::Sorted(runs.after(end, Box::new(refusal)))
            }
            (writing, _) => writing,
        };
        let control = self.control;
        let sink = self
            .pipeline
            .sink(writing, move |writing: &mut TableWriting<'a>, rows| writing.take(rows, control));
        let sorter = Sorter::new(table.sort.first().copied().unwrap_or_default(), order);
        self.tables.push(TableInMaking { table, core, order, sorter, sink });
        Ok(self.tables.len() - 1)
    }

    fn give(&mut self, place: usize) -> Result<()> {
        let Some(table) = self.tables.get(place) else { return Ok(()) };
        for batch in self.sorted.drain(..) {
            if let Some(derived) = &self.derived
                && table.table.name == tables::BTF_EVENT.name
            {
                derived.push(ToDerive::Batch(batch.clone()))?;
            }
            table.sink.push(ToWrite::Batch(batch))?;
        }
        Ok(())
    }

    /// Writes everything that is held back, and ends all tables.
    fn finish(mut self) -> Result<Finished> {
        for place in 0..self.tables.len() {
            if let Some(table) = self.tables.get_mut(place) {
                table.sorter.end_trace(&mut self.sorted);
            }
            self.give(place)?;
        }
        let mut finished = Finished { files: Vec::new(), extent: None, derived: None };
        for table in self.tables {
            let (files, extent) = table.sink.finish()?.finish()?;
            finished.files.extend(files);
            finished.extent = finished.extent.into_iter().chain(extent).reduce(Extent::with);
        }
        if let Some(derived) = self.derived {
            let mut ended = derived.finish()?.finish()?;
            finished.files.append(&mut ended.files);
            finished.derived = Some(ended);
        }
        Ok(finished)
    }
}

impl RowSink for Tables<'_, '_> {
    fn take(&mut self, rows: Rows, log: &mut Log) -> Result<()> {
        let Rows { table, core, content } = rows;
        if matches!(&content, RowsToMake::Batch(batch, _) if batch.num_rows() == 0) {
            return Ok(());
        }
        if let RowsToMake::Remark(remark) = content {
            return self.derived.as_ref().map_or(Ok(()), |derived| derived.push(ToDerive::Remark(remark)));
        }
        let place = self.place(table, core)?;
        let Some(table) = self.tables.get_mut(place) else { return Ok(()) };
        match content {
            RowsToMake::Remark(_) => Ok(()),
            RowsToMake::Batch(batch, lines) => {
                if table.order != RowOrder::AsGiven {
                    let policy = (self.source, self.target.format.info().disorder);
                    table.sorter.note_steps_back(&batch, lines.as_ref(), policy, log)?;
                }
                table.sorter.push(batch, &mut self.sorted)?;
                self.give(place)
            }
            RowsToMake::Later(make) => table.sink.push(ToWrite::Later(make)),
            RowsToMake::NewTrace(why) => {
                table.sorter.begin_another(why, &mut self.sorted);
                let is_derived = table.table.name == tables::BTF_EVENT.name;
                self.give(place)?;
                match &self.derived {
                    Some(derived) if is_derived => derived.push(ToDerive::NewTrace),
                    _ => Ok(()),
                }
            }
        }
    }

    fn note_end(&mut self, log: &mut Log) {
        let count = self.steps_back() - self.noted;
        if count > 0 && self.target.format.info().disorder == Disorder::Expected {
            note_expected(count, self.source, log);
            self.noted += count;
        }
    }
}

/// The files of a table, and the times of its rows if they are sorted.
type WrittenTable = (Vec<StagedFile>, Option<Extent>);

impl TableWriting<'_> {
    fn take(&mut self, rows: ToWrite, control: &Control) -> Result<()> {
        match rows {
            ToWrite::Batch(batch) => self.write(&batch, control),
            ToWrite::Later(make) => make()?.iter().try_for_each(|batch| self.write(batch, control)),
        }
    }

    fn write(&mut self, batch: &RecordBatch, control: &Control) -> Result<()> {
        match self {
            Self::AsGiven(parts) => parts.write(batch),
            Self::Sorted(runs) => {
                control.advance(0, batch.num_rows() as u64);
                runs.write(batch)
            }
        }
    }

    fn finish(self) -> Result<WrittenTable> {
        match self {
            Self::AsGiven(parts) => Ok((parts.finish()?, None)),
            Self::Sorted(runs) => {
                let extent = runs.extent;
                Ok((runs.finish()?, extent))
            }
        }
    }
}
