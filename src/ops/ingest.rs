//! `ingest`: recordings into a database, mapped on the way, in one commit. Not the parsing of an export (see
//! `files`) nor the mapping (see `map`).

use super::control::Control;
use super::describe::{Facts, write_recording_row};
use super::files::{ExportFile, Reading, Stored};
use super::grasp::{self, GraspFile};
use super::import::{TraceFile, unit_of};
use super::kernel::{self, KernelFile};
use super::map::{MapReport, map_stored};
use super::setup::MappingSetup;
use crate::derive::{Dialect, Violations};
use crate::description::{Plan, StoredSetup};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Counts;
use crate::formats::trace32::Radix;
use crate::input::Source;
use crate::map::Mapper;
use crate::map::osek::OsekMapper;
use crate::qnx::Version;
use crate::schema::{DiagnosticRow, DiagnosticRows, GapRow, GapRows, SourceRow, SourceRows, tables};
use crate::store::{Database, Disk, Transaction};
use crate::time::{TimeScale, parse_time_argument};
use arrow::array::{BooleanArray, RecordBatch};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// `source.format` of a BTF file that names entities by number.
pub const NUMERIC_FORMAT: &str = "btf-numeric";

/// All columns of a table in, true or false for each row out.
pub type Choice = dyn Fn(&RecordBatch) -> Result<BooleanArray> + Send + Sync;

/// Which rows of a table are wanted.
#[derive(Clone)]
pub struct Keep(pub Arc<Choice>);

impl std::fmt::Debug for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keep")
    }
}

/// How a kernel trace is mapped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelOptions {
    /// Blocking states that end an instance of a task, e.g. `RECEIVE`: each awakening begins another.
    pub jobs: Vec<String>,
    /// Interrupts leave the states of threads alone, instead of preempting them.
    pub overlay_irqs: bool,
    /// Idle threads are tasks, too.
    pub idle: bool,
}

/// What an input is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKind {
    /// A BTF trace.
    Btf,
    /// A kernel trace of QNX, or a listing of one.
    Kernel,
    /// A Grasp trace.
    Grasp,
}

/// How to ingest.
#[derive(Debug, Clone)]
pub struct Options {
    /// Time scale of a new database; an existing one keeps its own.
    pub time_scale: Option<TimeScale>,
    /// Map as well, where a recording says how.
    pub map: bool,
    /// Refuse everything when there is any finding of severity error.
    pub strict: bool,
    /// How traces of tasks are to be read; told by content when `None`.
    pub dialect: Option<Dialect>,
    /// What traces must be; told by content when `None`.
    pub trace: Option<TraceKind>,
    /// Which Neutrino wrote a kernel trace; as its header says when `None`.
    pub qnx_version: Option<Version>,
    /// Which events of a kernel trace are kept; all when `None`. What is derived from them comes from all of them.
    pub keep: Option<Keep>,
    /// How a kernel trace is mapped.
    pub kernel: KernelOptions,
    /// How long a unit of time of a Grasp trace is, e.g. `1ms`, which it is when `None`.
    pub tick: Option<String>,
    /// Make the SHA-256 of each input, for table `source`.
    pub hash: bool,
    /// Threads to use, besides those that only wait for the disk; tables do not depend on it.
    pub threads: usize,
}

impl Default for Options {
    /// Everything that can be is mapped and told by content, findings are kept, one thread.
    fn default() -> Self {
        Self {
            time_scale: None,
            map: true,
            strict: false,
            dialect: None,
            trace: None,
            qnx_version: None,
            keep: None,
            kernel: KernelOptions::default(),
            tick: None,
            hash: true,
            threads: 1,
        }
    }
}

/// What became of one recording.
#[derive(Debug)]
pub struct Report {
    /// Its name in the database.
    pub name: String,
    /// Inputs read, with where their lines or records went.
    pub sources: Vec<(String, Counts)>,
    /// What is counted there: `lines` or `records`.
    pub unit: &'static str,
    /// What was found in them.
    pub log: Log,
    /// What mapping gave; `None` when the recording was not mapped.
    pub mapped: Option<MapReport>,
    /// What importing gave; `None` for recordings of software events.
    pub imported: Option<ImportReport>,
    /// Unit of every tick.
    pub time_scale: TimeScale,
}

/// What came of a trace of system events.
#[derive(Debug, Clone, Copy)]
pub struct ImportReport {
    /// System events.
    pub events: u64,
    /// How the events of tasks were read.
    pub dialect: Dialect,
    /// Events that break a state chart of BTF.
    pub violations: Violations,
}

/// Ingests `plans` into the database at `path`, all or nothing.
///
/// # Errors
/// Input that is missing or not what it is said to be; a recording of the same name; another writer; the disk.
/// With `strict`, [`ErrorKind::Findings`]. The database is as it was then.
pub fn ingest(
    disk: Arc<dyn Disk>,
    path: &Path,
    plans: &[Plan],
    options: &Options,
    control: &Arc<Control>,
) -> Result<Vec<Report>> {
    if plans.is_empty() {
        return Err(Error::usage("nothing to ingest")
            .hint("give a recording folder, e.g. btfdb ingest my.db recording/"));
    }
    let wanted = options.time_scale.unwrap_or_else(|| finest(plans));
    let tx = Database::begin(disk, path, Some(wanted))?;
    let scale = tx.time_scale();
    if options.time_scale.is_some_and(|wanted| wanted != scale) {
        let message = format!("the database counts time in {}, which cannot be changed", scale.as_str());
        return Err(Error::usage(message).hint("leave --time-scale out, or make a new database"));
    }
    let tx = Mutex::new(tx);
    let mut reports = Vec::new();
    for plan in plans {
        reports.push(one(&tx, plan, options, scale, control)?);
    }
    control.check()?;
    if options.strict {
        let bad: u64 = reports.iter().map(|r| r.log.count_at_least(Severity::Error)).sum();
        if let Some(first) =
            reports.iter().flat_map(|r| r.log.entries()).find(|d| d.severity == Severity::Error)
        {
            let message =
                format!("{bad} findings of severity error, first: {} [{}]", first.message, first.code);
            let mut error = Error::new(ErrorKind::Findings, message).at(&first.source);
            if let Some(line) = first.line {
                error = error.line(line);
            }
            return Err(error.hint("nothing was written; leave --strict out to keep what is good"));
        }
    }
    control.begin("committing", 0);
    into_inner(tx)?.commit()?;
    Ok(reports)
}

/// The time scale of a new database: nanoseconds, unless a trace counts finer.
fn finest(plans: &[Plan]) -> TimeScale {
    let units = plans.iter().filter_map(|plan| plan.trace.as_deref()).filter_map(unit_of);
    units.fold(TimeScale::Ns, |finest, unit| if unit.decimals() > finest.decimals() { unit } else { finest })
}

fn into_inner(tx: Mutex<Transaction>) -> Result<Transaction> {
    tx.into_inner().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))
}

fn one(
    tx: &Mutex<Transaction>,
    plan: &Plan,
    options: &Options,
    scale: TimeScale,
    control: &Arc<Control>,
) -> Result<Report> {
    let name = plan.name.as_str();
    if locked(tx)?.has_recording(name) {
        return Err(Error::database(format!("the database already has a recording '{name}'")).hint(format!(
            "choose another name with --name, or remove it first: btfdb remove DB --recording {name}"
        )));
    }
    if let Some(path) = &plan.trace {
        return import(tx, name, path, options, scale, control);
    }
    not_for_kernel_traces(options, &plan.base)?;
    not_for_grasp_traces(options, &plan.base)?;
    let setup = StoredSetup::read(plan)?;
    let mut log = Log::default();
    // Contradictions between description files are found before gigabytes are read.
    if options.map {
        setup.for_mapping(scale, &mut log)?;
    }
    let files = open_all(plan, scale, options.hash)?;
    let total: Option<u64> = files.iter().map(ExportFile::size).sum();
    control.begin(format!("reading {name}"), total.unwrap_or(0));
    let mut stored = store_all(files, tx, name, options.threads, control)?;
    let mut tx = locked(tx)?;
    for file in stored.iter_mut().flat_map(|s| s.files.drain(..)) {
        tx.add(file);
    }
    let gaps = stored.iter().flat_map(|s| {
        s.gaps.iter().map(|(begin, end, reason)| (*begin, *end, Some(s.core.clone()), reason.clone()))
    });
    write_gaps(&mut tx, name, gaps.collect())?;
    let paths: Vec<_> = stored.iter().map(|s| s.path.to_string_lossy()).collect();
    write_sources(&mut tx, name, stored.iter().zip(&paths).map(|(s, path)| source_row(s, path)))?;
    for s in &mut stored {
        log.merge(std::mem::take(&mut s.log));
    }
    MappingSetup::new(setup.os.as_ref().map(|_| OsekMapper::NAME), &setup)?.write(&mut tx, name)?;
    let mapped = match options.map {
        true => map_stored(&mut tx, name, options.threads, control)?,
        false => None,
    };
    let mut all = log.clone();
    if let Some(m) = &mapped {
        all.merge(m.log.clone());
    }
    write_diagnostics(&mut tx, name, &[], &all)?;
    write_recording_row(&mut tx, name, Facts { os: setup.os.as_deref(), ..Facts::default() })?;
    let sources = stored.iter().map(|s| (s.name.clone(), s.counts)).collect();
    Ok(Report {
        name: name.to_owned(),
        sources,
        unit: "lines",
        log: all,
        mapped,
        imported: None,
        time_scale: scale,
    })
}

/// A trace that is one file, with system events in it.
fn import(
    tx: &Mutex<Transaction>,
    name: &str,
    path: &Path,
    options: &Options,
    scale: TimeScale,
    control: &Arc<Control>,
) -> Result<Report> {
    let mut source = Source::open(path)?;
    if !options.hash {
        source.skip_hash();
    }
    let source = match KernelFile::recognise(path, source, options.qnx_version)? {
        Ok(_) if matches!(options.trace, Some(TraceKind::Btf | TraceKind::Grasp)) => {
            return Err(Error::input("this is a kernel trace of QNX").at(path).hint("use --format qnx"));
        }
        Ok(file) => {
            not_for_grasp_traces(options, path)?;
            return kernel::ingest(tx, name, file, options, scale, control);
        }
        Err(source) => source,
    };
    not_for_kernel_traces(options, path)?;
    // What is said to be BTF is read as BTF.
    let source = match options.trace {
        Some(TraceKind::Btf) => source,
        said => match GraspFile::recognise(path, source, said == Some(TraceKind::Grasp))? {
            Ok(file) => return grasp::ingest(tx, name, file, options, scale, control),
            Err(source) => source,
        },
    };
    not_for_grasp_traces(options, path)?;
    let file = TraceFile::open(path, source, options.dialect)?;
    control.begin(format!("reading {name}"), file.size().unwrap_or(0));
    let mut imported = file.store(tx, name, scale, options.threads, control)?;
    let mut log = std::mem::take(&mut imported.trace.log);
    if imported.counts.rows == 0 {
        log.push(Diagnostic {
            source: imported.name.clone(),
            line: None,
            severity: Severity::Warning,
            code: "no-events",
            message: "the trace holds no event".into(),
            text: String::new(),
        });
    }
    let mut tx = locked(tx)?;
    let (c, trace) = (imported.counts, &imported.trace);
    let row = SourceRow {
        source: imported.name.as_str().into(),
        path: &imported.path.to_string_lossy(),
        format: (if trace.numeric { NUMERIC_FORMAT } else { "btf" }).into(),
        core: None,
        bytes: imported.digest.bytes as i64,
        sha256: imported.digest.sha256.as_deref().map(Into::into),
        records: c.lines as i64,
        rows: c.rows as i64,
        rejected: c.rejected as i64,
        skipped: c.skipped as i64,
        gaps: 0,
        inexact_times: c.inexact_times as i64,
        backwards: log.count_of("time-backwards") as i64,
        first_at: trace.begin_at,
        last_at: trace.end_at,
    };
    write_sources(&mut tx, name, [row])?;
    write_diagnostics(&mut tx, name, &[], &log)?;
    write_recording_row(&mut tx, name, imported.facts())?;
    let sources = vec![(imported.name.clone(), c)];
    let events = c.rows;
    let imported = Some(ImportReport { events, dialect: imported.dialect, violations: imported.violations });
    Ok(Report {
        name: name.to_owned(),
        sources,
        unit: "lines",
        log,
        mapped: None,
        imported,
        time_scale: scale,
    })
}

/// What can only be done with a kernel trace is not left out in silence.
fn not_for_kernel_traces(options: &Options, input: &Path) -> Result<()> {
    if options.trace == Some(TraceKind::Kernel) {
        return Err(Error::input("this is no kernel trace of QNX")
            .at(input)
            .hint("a .kev file begins with 'TRACE_HEADER_BEGIN::'; --format auto tells by content"));
    }
    if options.keep.is_some() || options.qnx_version.is_some() || options.kernel != KernelOptions::default() {
        return Err(Error::usage(format!("'{}' is no kernel trace", input.display())).hint(
            "--class, --event, --where, --jobs and the like are for kernel traces of QNX: ingest those by themselves",
        ));
    }
    Ok(())
}

/// The same for what can only be done with a Grasp trace.
fn not_for_grasp_traces(options: &Options, input: &Path) -> Result<()> {
    if options.tick.is_some() {
        return Err(Error::usage(format!("'{}' is no Grasp trace", input.display()))
            .hint("--tick is the unit of time of Grasp traces; others say theirs themselves"));
    }
    Ok(())
}

pub(super) fn locked(tx: &Mutex<Transaction>) -> Result<std::sync::MutexGuard<'_, Transaction>> {
    tx.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))
}

fn open_all(plan: &Plan, scale: TimeScale, hash: bool) -> Result<Vec<ExportFile>> {
    let d = &plan.description;
    let radix = d.data_radix.as_deref().and_then(Radix::parse).unwrap_or_default();
    let mut files = Vec::new();
    for core in &d.core {
        let offset = core.time_offset.as_deref().unwrap_or("0");
        let offset = parse_time_argument(offset, scale)
            .map_err(|e| Error::input(format!("time_offset of core '{}': {e}", core.name)))?;
        for (path, functions) in [(&core.data, false), (&core.functions, true)] {
            if let Some(path) = path {
                let columns = d.data_columns.as_deref();
                let reading = Reading { radix, scale, offset, columns, functions, hash };
                files.push(ExportFile::open(&core.name, &plan.base, path, &reading)?);
            }
        }
    }
    Ok(files)
}

/// Reads several files at once, each as a pipeline of its own; results are in the order of `files`.
fn store_all(
    files: Vec<ExportFile>,
    tx: &Mutex<Transaction>,
    recording: &str,
    threads: usize,
    control: &Arc<Control>,
) -> Result<Vec<Stored>> {
    let count = files.len();
    let queue = Mutex::new(files.into_iter().enumerate().collect::<std::collections::VecDeque<_>>());
    let results = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<Result<Stored>>>>());
    let work = || {
        loop {
            let next = queue.lock().ok().and_then(|mut q| q.pop_front());
            let Some((n, file)) = next else { return };
            let result = file.store(tx, recording, threads, control);
            if result.is_err()
                && let Ok(mut q) = queue.lock()
            {
                q.clear();
            }
            if let Ok(mut r) = results.lock()
                && let Some(slot) = r.get_mut(n)
            {
                *slot = Some(result);
            }
        }
    };
    if threads > 1 {
        std::thread::scope(|scope| {
            for _ in 0..threads.min(count) {
                scope.spawn(work);
            }
        });
    } else {
        work();
    }
    let results = results.into_inner().map_err(|_| Error::new(ErrorKind::Bug, "a reader thread died"))?;
    let mut stored = Vec::new();
    let mut unread = false;
    for result in results {
        match result {
            Some(result) => stored.push(result?),
            None => unread = true,
        }
    }
    if unread {
        return Err(Error::new(ErrorKind::Bug, "an input was not read"));
    }
    Ok(stored)
}

/// Rows of `gap`: begin, end, core if it is of one, reason.
pub(super) fn write_gaps(
    tx: &mut Transaction,
    name: &str,
    mut gaps: Vec<(i64, i64, Option<String>, String)>,
) -> Result<()> {
    gaps.sort_unstable();
    let mut rows = GapRows::new();
    for (begin_at, end_at, core, reason) in &gaps {
        let core = core.as_deref().map(Into::into);
        rows.push(GapRow { core, begin_at: *begin_at, end_at: *end_at, reason: reason.as_str().into() });
    }
    let mut writer = tx.writer(tables::GAP, name, None)?;
    writer.write(&rows.take_batch()?)?;
    tx.add(writer.finish()?);
    Ok(())
}

/// Rows of `source`.
pub(super) fn write_sources<'a>(
    tx: &mut Transaction,
    name: &str,
    sources: impl IntoIterator<Item = SourceRow<'a>>,
) -> Result<()> {
    let mut rows = SourceRows::new();
    sources.into_iter().for_each(|row| rows.push(row));
    let mut writer = tx.writer(tables::SOURCE, name, None)?;
    writer.write(&rows.take_batch()?)?;
    tx.add(writer.finish()?);
    Ok(())
}

fn source_row<'a>(s: &'a Stored, path: &'a str) -> SourceRow<'a> {
    let c = s.counts;
    SourceRow {
        source: s.name.as_str().into(),
        path,
        format: s.format.into(),
        core: Some(s.core.as_str().into()),
        bytes: s.digest.bytes as i64,
        sha256: s.digest.sha256.as_deref().map(Into::into),
        records: c.lines as i64,
        rows: (c.rows + c.gaps) as i64,
        rejected: c.rejected as i64,
        skipped: c.skipped as i64,
        gaps: c.gaps as i64,
        inexact_times: c.inexact_times as i64,
        backwards: s.log.count_of("time-backwards") as i64,
        first_at: s.first_at,
        last_at: s.last_at,
    }
}

/// Rows that are there already, then every finding that was kept, and for each code that found more one row that says how many more.
pub(super) fn write_diagnostics(
    tx: &mut Transaction,
    name: &str,
    before: &[RecordBatch],
    log: &Log,
) -> Result<()> {
    let mut rows = DiagnosticRows::new();
    let push = |rows: &mut DiagnosticRows, d: &Diagnostic| {
        rows.push(DiagnosticRow {
            source: d.source.as_str().into(),
            line: d.line.map(|l| l as i64),
            severity: d.severity.as_str().into(),
            code: d.code.into(),
            message: &d.message,
            text: &d.text,
        });
    };
    for d in log.entries() {
        push(&mut rows, d);
    }
    for (source, code, severity, count) in log.counts() {
        if count > Log::KEPT_PER_CODE {
            let message = format!("… and {} more", count - Log::KEPT_PER_CODE);
            let (source, text) = (source.to_owned(), String::new());
            push(&mut rows, &Diagnostic { source, line: None, severity, code, message, text });
        }
    }
    let mut writer = tx.writer(tables::DIAGNOSTIC, name, None)?;
    for batch in before {
        writer.write(batch)?;
    }
    writer.write(&rows.take_batch()?)?;
    tx.add(writer.finish()?);
    Ok(())
}
