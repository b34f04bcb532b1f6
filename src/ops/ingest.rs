//! `ingest`: recordings into a database, mapped on the way, in one commit. Not the parsing of an export (see
//! `files`) nor the mapping (see `map`).

use super::control::Control;
use super::describe::{Facts, write_recording_row};
use super::files::{ExportFile, Reading, Stored};
use super::import::{TraceFile, unit_of};
use super::map::{MapReport, map_recording};
use crate::derive::{Dialect, Violations};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::Counts;
use crate::formats::trace32::Radix;
use crate::recording::{Plan, StoredSetup};
use crate::schema::{DiagnosticRow, DiagnosticRows, GapRow, GapRows, SourceRow, SourceRows, tables};
use crate::store::{Database, Disk, Transaction};
use crate::time::{TimeScale, parse_time_argument};
use arrow::array::RecordBatch;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// `source.format` of a BTF file that names entities by number.
pub const NUMERIC_FORMAT: &str = "btf-numeric";

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
    /// Threads to use; tables do not depend on it.
    pub threads: usize,
}

/// What became of one recording.
#[derive(Debug)]
pub struct Report {
    /// Its name in the database.
    pub name: String,
    /// Exports read, with where their lines went.
    pub sources: Vec<(String, Counts)>,
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
    let setup = StoredSetup::read(plan)?;
    let mut log = Log::default();
    // Contradictions between description files are found before gigabytes are read.
    let mapping = if options.map { setup.for_mapping(scale, &mut log)? } else { None };
    let files = open_all(plan, scale)?;
    let total: Option<u64> = files.iter().map(ExportFile::size).sum();
    control.begin(format!("reading {name}"), total.unwrap_or(0));
    let mut stored = store_all(files, tx, name, options.threads, control)?;
    let mut tx = locked(tx)?;
    for file in stored.iter_mut().flat_map(|s| s.files.drain(..)) {
        tx.add(file);
    }
    write_gaps(&mut tx, name, &stored)?;
    write_sources(&mut tx, name, &stored)?;
    for s in &mut stored {
        log.merge(std::mem::take(&mut s.log));
    }
    let text =
        serde_json::to_vec_pretty(&setup).map_err(|e| Error::new(ErrorKind::Bug, "setup").because(e))?;
    tx.put_blob("setup", name, "setup.json", &text)?;
    let mapped = match &mapping {
        Some(setup) => Some(map_recording(&mut tx, name, setup, options.threads, control)?),
        None => None,
    };
    let mut all = log.clone();
    if let Some(m) = &mapped {
        all.merge(m.log.clone());
    }
    write_diagnostics(&mut tx, name, &[], &all)?;
    write_recording_row(&mut tx, name, Facts { os: setup.os.as_deref(), ..Facts::default() })?;
    let sources = stored.iter().map(|s| (s.name.clone(), s.counts)).collect();
    Ok(Report { name: name.to_owned(), sources, log: all, mapped, imported: None, time_scale: scale })
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
    let file = TraceFile::open(path, options.dialect)?;
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
    let mut rows = SourceRows::new();
    rows.push(SourceRow {
        source: imported.name.as_str().into(),
        path: &imported.path.to_string_lossy(),
        format: (if trace.numeric { NUMERIC_FORMAT } else { "btf" }).into(),
        core: None,
        bytes: imported.digest.bytes as i64,
        sha256: Some(imported.digest.sha256.as_str().into()),
        records: c.lines as i64,
        rows: c.rows as i64,
        rejected: c.rejected as i64,
        skipped: c.skipped as i64,
        gaps: 0,
        inexact_times: c.inexact_times as i64,
        backwards: log.count_of("time-backwards") as i64,
        first_at: trace.begin_at,
        last_at: trace.end_at,
    });
    let mut writer = tx.writer(tables::SOURCE, name, None)?;
    writer.write(&rows.take_batch()?)?;
    tx.add(writer.finish()?);
    write_diagnostics(&mut tx, name, &[], &log)?;
    write_recording_row(&mut tx, name, imported.facts())?;
    let sources = vec![(imported.name.clone(), c)];
    let events = c.rows;
    let imported = Some(ImportReport { events, dialect: imported.dialect, violations: imported.violations });
    Ok(Report { name: name.to_owned(), sources, log, mapped: None, imported, time_scale: scale })
}

fn locked(tx: &Mutex<Transaction>) -> Result<std::sync::MutexGuard<'_, Transaction>> {
    tx.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))
}

fn open_all(plan: &Plan, scale: TimeScale) -> Result<Vec<ExportFile>> {
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
                let reading = Reading { radix, scale, offset, columns, functions };
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

fn write_gaps(tx: &mut Transaction, name: &str, stored: &[Stored]) -> Result<()> {
    let mut gaps: Vec<_> = stored
        .iter()
        .flat_map(|s| s.gaps.iter().map(|(b, e, reason)| (*b, *e, s.core.as_str(), reason.as_str())))
        .collect();
    gaps.sort_unstable();
    let mut rows = GapRows::new();
    for (begin_at, end_at, core, reason) in gaps {
        rows.push(GapRow { core: Some(core.into()), begin_at, end_at, reason: reason.into() });
    }
    let mut writer = tx.writer(tables::GAP, name, None)?;
    writer.write(&rows.take_batch()?)?;
    tx.add(writer.finish()?);
    Ok(())
}

fn write_sources(tx: &mut Transaction, name: &str, stored: &[Stored]) -> Result<()> {
    let mut rows = SourceRows::new();
    for s in stored {
        let c = s.counts;
        rows.push(SourceRow {
            source: s.name.as_str().into(),
            path: &s.path.to_string_lossy(),
            format: s.format.into(),
            core: Some(s.core.as_str().into()),
            bytes: s.digest.bytes as i64,
            sha256: Some(s.digest.sha256.as_str().into()),
            records: c.lines as i64,
            rows: (c.rows + c.gaps) as i64,
            rejected: c.rejected as i64,
            skipped: c.skipped as i64,
            gaps: c.gaps as i64,
            inexact_times: c.inexact_times as i64,
            backwards: s.log.count_of("time-backwards") as i64,
            first_at: s.first_at,
            last_at: s.last_at,
        });
    }
    let mut writer = tx.writer(tables::SOURCE, name, None)?;
    writer.write(&rows.take_batch()?)?;
    tx.add(writer.finish()?);
    Ok(())
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
