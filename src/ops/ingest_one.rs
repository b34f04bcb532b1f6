//! `ingest` of one recording, which is the same for all formats:
//!
//! ```text
//!  plan ─► recognise: which format      ─► streams: an input and its reader, each
//!       ─► read: chunks ─► reader ─► rows ─► sorter ─► parts of tables        one pipeline per input
//!       ─► gaps, setup ─► map by the setup ─► rows left out ─► source, diagnostic, recording; the report
//! ```
//!
//! Everything about a recording is written in this one place. Not the choice of a format (see `recognise`),
//! what a piece of a recording that is there already has to be (see `continued`), the reading (see `read`),
//! the order of rows (see `order`), the mapping (see `map`), nor which of several inputs is
//! ingested when (see `ingest`).

use super::continued::{Continued, Ends};
use super::control::Control;
use super::coverage::uncovered;
use super::describe::{stored_header, time_range, write_recording_row};
use super::entities::{idle_tasks_of, unmatched, write_entities};
use super::ingest_options::{Keep, Options};
use super::keep::keep;
use super::map::{MAPPERS, MapReport, map_stored};
use super::parts::{SOFTWARE_EVENTS, locked};
use super::read::{ReadInput, Target, read_all};
use super::recognise;
use super::setup::MappingSetup;
use crate::btf::IdleTasks;
use crate::derive::{Dialect, Violations};
use crate::description::{Plan, Profile, StoredSetup};
use crate::diagnostics::{Diagnostic, Log, Severity, UNKNOWN_NAME};
use crate::error::{Error, Result};
use crate::formats::{Counts, FROM_BEGIN, Gap, Header};
use crate::map::Mapper;
use crate::map::hooks::HookMapper;
use crate::map::osek::OsekMapper;
use crate::schema::{DiagnosticRow, DiagnosticRows, GapRow, GapRows, SourceRow, SourceRows, tables};
use crate::store::Transaction;
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::sync::{Arc, Mutex};

/// What became of one recording.
#[derive(Debug)]
pub struct Report {
    /// Its name in the database.
    pub name: String,
    /// The inputs, each with the counts of its lines or records.
    pub sources: Vec<(String, Counts)>,
    /// The unit of these counts: `lines` or `records`.
    pub unit: &'static str,
    /// The findings in them.
    pub log: Log,
    /// The result of the mapping; `None` if the recording was not mapped.
    pub mapped: Option<MapReport>,
    /// The result of the import; `None` for recordings of software events.
    pub imported: Option<ImportReport>,
    /// The tasks that are no load.
    pub idle_tasks: Vec<String>,
    /// Unit of every tick.
    pub time_scale: TimeScale,
}

impl Report {
    /// Adds what became of a further piece of the recording.
    pub(super) fn continue_with(&mut self, piece: Self) {
        self.sources.extend(piece.sources);
        self.log.merge(piece.log);
        self.mapped = piece.mapped;
    }
}

/// The result of importing a trace of system events.
#[derive(Debug, Clone, Copy)]
pub struct ImportReport {
    pub events: u64,
    /// How the events of tasks were interpreted.
    pub dialect: Dialect,
    /// Events that break a state chart of BTF.
    pub violations: Violations,
}

/// The code of the finding that a recording is not mapped because its description names no OS.
pub const NOT_MAPPED: &str = "not-mapped";
/// Its message.
pub const NOT_MAPPED_WHY: &str = "not mapped to system events, because no operating system is named: add os = \"osek\" \
    (or \"erika2\", or the path of a profile) and an orti = \"…\" in each [[core]] to its recording.toml, or give --os \
    and --core";

/// Ingests one recording, or one more piece of it.
pub(super) fn one(
    tx: &Mutex<Transaction>,
    plan: &Plan,
    options: &Options,
    scale: TimeScale,
    control: &Arc<Control>,
) -> Result<Report> {
    let continued = options.continues.as_deref();
    let name = continued.unwrap_or(plan.name.as_str());
    let continued = match continued {
        Some(name) => {
            let tx = locked(tx)?;
            Some(Continued::read(&tx, name, options.formats)?)
        }
        None => None,
    };
    if continued.is_none() && options.replace {
        locked(tx)?.drop_recording(name)?;
    } else if continued.is_none() && locked(tx)?.has_recording(name)? {
        return Err(Error::database(format!("the database already has a recording '{name}'"))
            .hint(format!(
                "choose another name with --name, or remove it first: btfdb remove DB --recording {name}"
            ))
            .hint(format!("if it is the next piece of the same trace: --continue {name}")));
    }
    if let Some(file) = plan.outside.as_ref().filter(|_| !options.allow_outside) {
        return Err(Error::input(format!("'{}' is outside of the folder of the recording", file.display()))
            .at(&plan.base)
            .hint("the description names it; copy it into the folder, or allow it: --allow-outside"));
    }
    let mut opened = recognise::open(plan, options, scale, control)?;
    let format = opened.format;
    let mut log = Log::default();
    // A recording of software events is mapped according to its description.
    let is_of_software = SOFTWARE_EVENTS.iter().any(|table| format.info().fills(table));
    let described = is_of_software.then(|| StoredSetup::read(plan, options.encoding)).transpose()?;
    let values = match &continued {
        Some(continued) => continued.options(&plan.description, &options.of_formats),
        None => plan.description.options_under(&options.of_formats),
    };
    match (&continued, &described) {
        (Some(continued), _) => {
            continued.admit(&mut opened, described.as_ref(), (options, &values), &plan.name)?;
        }
        // Find contradictions between description files before gigabytes are read.
        (None, Some(setup)) if options.map => setup.check(scale, &mut log)?,
        (None, _) => {}
    }
    let streams = opened.streams(&values, scale)?;
    let total: Option<u64> = streams.iter().map(|s| s.input.source.progress().1).sum();
    control.begin(format!("reading {name}"), total.unwrap_or(0));
    let more_idle_tasks = plan.description.idle_tasks.read(&plan.base, options.encoding)?;
    let patterns = more_idle_tasks.clone();
    let idle_tasks = IdleTasks::new(Profile::generic()?.idle_tasks.iter().chain(&more_idle_tasks));
    let after = continued.as_ref().map(|c| &c.after);
    let target =
        Target { tx, recording: name, format, after, idle_tasks: &idle_tasks, max_names: options.max_names };
    let mut inputs = read_all(streams, target, options.threads, control)?;
    let mut tables = locked(tx)?;
    inputs.iter_mut().flat_map(|i| i.files.drain(..)).try_for_each(|file| tables.add(file))?;
    let mut gaps: Vec<_> = match &continued {
        Some(continued) => continued.gaps(&mut tables, &inputs)?,
        None => inputs.iter().flat_map(|i| i.gaps.iter().cloned()).collect(),
    };
    let ends = Ends::new(format, &values, &inputs);
    let ends = match &continued {
        Some(continued) => continued.ends(ends),
        None => ends,
    };
    ends.write(&mut tables, name)?;
    gaps.extend(uncovered(&tables, name, ends.extents(), &gaps, &mut log)?);
    write_gaps(&mut tables, name, gaps)?;
    let mut header = Header::default();
    let of_format = inputs.iter().find_map(|input| input.ending.setup.as_ref());
    let setup = match &described {
        Some(setup) => {
            header.os.clone_from(&setup.os);
            let by_os = if setup.has_hooks() { HookMapper::NAME } else { OsekMapper::NAME };
            let mapper = setup.os.as_ref().map(|_| by_os).or(of_format.map(|setup| setup.mapper));
            if options.map && continued.is_none() && mapper.is_none() {
                log.push(Diagnostic {
                    source: name.to_owned(),
                    line: None,
                    severity: Severity::Info,
                    code: NOT_MAPPED,
                    message: NOT_MAPPED_WHY.to_owned(),
                    text: String::new(),
                });
            }
            Some(MappingSetup::new(mapper, setup)?)
        }
        None => of_format.map(|setup| MappingSetup::new(Some(setup.mapper), &setup.settings)).transpose()?,
    };
    let mut kept = Vec::new();
    match (&continued, setup) {
        (Some(continued), _) => {
            header = stored_header(&tables, name)?;
            kept = continued.forget_mapping(&mut tables, more_idle_tasks)?;
        }
        (None, Some(setup)) => {
            MappingSetup { left_out: options.keep.is_some(), idle_tasks: more_idle_tasks, ..setup }
                .write(&mut tables, name)?;
        }
        (None, None) => {}
    }
    let occurring: Vec<_> = inputs.iter_mut().flat_map(|input| input.entities.drain(..)).collect();
    write_entities(&mut tables, name, Vec::new(), occurring, &idle_tasks)?;
    let mapped = match options.map {
        true => map_stored(MAPPERS, &mut tables, name, options.of_mapping(), control)?,
        false => None,
    };
    drop(tables);
    for input in &mut inputs {
        log.merge(std::mem::take(&mut input.log));
        header = header.or(&input.ending.header);
    }
    if let Some(wanted) = &options.keep {
        leave_out(tx, name, wanted, &mut inputs, &mut log)?;
    }
    let mut tx = locked(tx)?;
    write_sources(&mut tx, name, &inputs)?;
    if let Some(m) = &mapped {
        log.merge(m.log.clone());
    }
    for message in unmatched(tx.files(tables::ENTITY, name)?, &patterns)? {
        let (source, severity, code) = (name.to_owned(), Severity::Warning, UNKNOWN_NAME);
        log.push(Diagnostic { source, line: None, severity, code, message, text: String::new() });
    }
    write_diagnostics(&mut tx, name, kept, &log)?;
    super::labels::add(&mut tx, name, &plan.description.labels)?;
    write_recording_row(&mut tx, name, &header)?;
    let idle_tasks = idle_tasks_of(tx.files(tables::ENTITY, name)?)?;
    let imported = inputs.iter().find_map(|i| {
        let (dialect, violations) = i.derived?;
        Some(ImportReport { events: i.counts.rows, dialect, violations })
    });
    let unit = if inputs.iter().any(|i| i.ending.counts_records) { "records" } else { "lines" };
    let sources = inputs.into_iter().map(|i| (i.name, i.counts)).collect();
    Ok(Report { name: name.to_owned(), sources, unit, log, mapped, imported, idle_tasks, time_scale: scale })
}

/// Removes unwanted rows, after everything has been derived from them.
fn leave_out(
    tx: &Mutex<Transaction>,
    name: &str,
    wanted: &Keep,
    inputs: &mut [ReadInput],
    log: &mut Log,
) -> Result<()> {
    let left_out = keep(tx, name, wanted)?;
    let Some(input) = inputs.first_mut() else { return Ok(()) };
    input.counts.rows -= left_out;
    input.counts.skipped += left_out;
    if input.counts.rows == 0 && left_out > 0 {
        log.push(Diagnostic {
            source: input.name.clone(),
            line: None,
            severity: Severity::Warning,
            code: "all-left-out",
            message: format!(
                "none of the {left_out} events is kept: the filters of the ingest select nothing"
            ),
            text: String::new(),
        });
    }
    log.push(Diagnostic {
        source: input.name.clone(),
        line: None,
        severity: Severity::Info,
        code: "left-out",
        message: format!("{left_out} events were left out, as the filters of the ingest say; what is derived comes from all"),
        text: String::new(),
    });
    Ok(())
}

/// A gap that nothing is before begins with the recording, and one that nothing follows lasts until its end:
/// other cores may tell both.
fn write_gaps(tx: &mut Transaction, name: &str, mut gaps: Vec<Gap>) -> Result<()> {
    gaps.sort_unstable();
    let (first, last) = time_range(tx, name)?;
    let mut rows = GapRows::new();
    for Gap { begin, end, core, reason } in &gaps {
        let core = core.as_deref().map(Into::into);
        let begin = if *begin == FROM_BEGIN { first.unwrap_or(0) } else { *begin };
        let end = end.or(last).unwrap_or(begin).max(begin);
        rows.push(GapRow { core, begin_at: begin, end_at: end, reason: reason.as_str().into() });
    }
    tx.put_rows(tables::GAP, name, &[rows.take_batch()?])
}

fn write_sources(tx: &mut Transaction, name: &str, inputs: &[ReadInput]) -> Result<()> {
    let mut rows = SourceRows::new();
    for input in inputs {
        let c = input.counts;
        let gaps = c.gaps.max((input.gaps.len() - input.gaps_before) as u64);
        rows.push(SourceRow {
            source: input.name.as_str().into(),
            path: &input.path.to_string_lossy(),
            format: input.ending.source_format.into(),
            core: input.core.as_deref().map(Into::into),
            bytes: input.provenance.bytes as i64,
            digest: input.provenance.digest.as_deref().map(Into::into),
            records: c.lines as i64,
            rows: (c.rows + c.gaps) as i64,
            rejected: c.rejected as i64,
            skipped: c.skipped as i64,
            gaps: gaps as i64,
            inexact_times: c.inexact_times as i64,
            backwards: input.steps_back as i64,
            first_at: input.extent.map(|extent| extent.first),
            last_at: input.extent.map(|extent| extent.last),
        });
    }
    tx.put_rows(tables::SOURCE, name, &[rows.take_batch()?])
}

/// Writes the rows `before`, every stored finding, and per code with more of them a row that counts the rest.
pub(super) fn write_diagnostics(
    tx: &mut Transaction,
    name: &str,
    mut before: Vec<RecordBatch>,
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
    before.push(rows.take_batch()?);
    tx.put_rows(tables::DIAGNOSTIC, name, &before)
}
