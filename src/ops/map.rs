//! `map`: stored software events to system events and instances. Decoding, rows and encoding are stages of a pipeline of
//! threads around the machine, which this thread runs; the rules are in `crate::map`.

use super::control::Control;
use super::describe::{stored_facts, time_range, write_recording_row};
use super::grasp;
use super::ingest::write_diagnostics;
use super::kernel;
use super::mapped::{Events, Instances, note_violations};
use super::parts::ROWS_OUT;
use super::{runs, setup};
use crate::derive::Violations;
use crate::description::StoredSetup;
use crate::diagnostics::Log;
use crate::error::{Error, ErrorKind, Result};
use crate::map::{CoreInput, Gap, Kind, MAP_SOURCE, Model, Reader, Setup, map};
use crate::pipeline::Pipeline;
use crate::schema::columns::{data_event, diagnostic, function_event, gap};
use crate::schema::{TableSpec, tables};
use crate::store::{Database, Disk, FileEntry, Transaction, read_batches};
use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Int64Type, UInt32Type};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What mapping gave.
#[derive(Debug)]
pub struct MapReport {
    /// System events written.
    pub events: u64,
    /// Software events that a rule looked at.
    pub relevant: u64,
    /// Broken state charts; 0 unless the recording or a profile is wrong.
    pub violations: Violations,
    /// Findings of the mapping.
    pub log: Log,
}

/// Maps recordings again, after a change of profile or program; `only` names one of them.
///
/// # Errors
/// No such database or recording; a recording that has no setup to map by; the disk.
pub fn map_again(
    disk: Arc<dyn Disk>,
    path: &Path,
    only: Option<&str>,
    threads: usize,
    control: &Arc<Control>,
) -> Result<Vec<(String, MapReport)>> {
    let db = Database::open(path)?;
    let mut tx = Database::begin(disk, path, None)?;
    let names: Vec<String> = db.recordings().iter().map(|r| r.name.clone()).collect();
    if let Some(wanted) = only
        && !names.iter().any(|n| n == wanted)
    {
        return Err(Error::usage(format!("the database has no recording '{wanted}'"))
            .hint(format!("it has: {}", names.join(", "))));
    }
    let mut reports = Vec::new();
    for name in names.iter().filter(|n| only.is_none_or(|o| o == *n)) {
        let facts = stored_facts(&tx, name)?;
        let remap = |tx: &mut Transaction, derived: &[&'static TableSpec], map: &mut MapAgain<'_>| {
            let kept = kept_diagnostics(tx, name)?;
            for table in AGAIN.iter().chain(derived) {
                tx.drop_table(table, name);
            }
            let report = map(tx)?;
            write_diagnostics(tx, name, &kept, &report.log)?;
            write_recording_row(tx, name, facts.as_facts())?;
            Ok(report)
        };
        if let Some(mapping) = kernel::Mapping::stored(&db, name)? {
            mapping.check_whole(name)?;
            let mut map = |tx: &mut Transaction| kernel::map(tx, name, &mapping, threads, control);
            reports.push((name.clone(), remap(&mut tx, &kernel::NATIVE, &mut map)?));
            continue;
        }
        if grasp::Mapping::stored(&db, name)?.is_some() {
            let mut map = |tx: &mut Transaction| grasp::map(tx, name, threads, control);
            reports.push((name.clone(), remap(&mut tx, &[], &mut map)?));
            continue;
        }
        let Some(setup) = setup::stored::<StoredSetup>(&db, name, setup::OF_EXPORTS)? else { continue };
        let Some(mapping) = setup.for_mapping(tx.time_scale(), &mut Log::default())? else { continue };
        let mut map = |tx: &mut Transaction| map_recording(tx, name, &mapping, threads, control);
        reports.push((name.clone(), remap(&mut tx, &[], &mut map)?));
    }
    if reports.is_empty() {
        return Err(Error::usage("no recording says how it is to be mapped")
            .hint("ingest it with os = \"…\" in its recording.toml, or with --os"));
    }
    control.check()?;
    tx.commit()?;
    Ok(reports)
}

/// Maps one recording.
type MapAgain<'a> = dyn FnMut(&mut Transaction) -> Result<MapReport> + 'a;

/// What mapping again makes anew.
const AGAIN: [&TableSpec; 5] = [
    tables::BTF_EVENT,
    tables::PROCESS_INSTANCE,
    tables::PROCESS_STATE,
    tables::RUNNABLE_INSTANCE,
    tables::DIAGNOSTIC,
];

/// The findings of the ingest, which mapping again does not change.
fn kept_diagnostics(tx: &Transaction, name: &str) -> Result<Vec<RecordBatch>> {
    let mut kept = Vec::new();
    for (_, path) in tx.files(tables::DIAGNOSTIC, name) {
        for batch in read_batches(&path, tables::DIAGNOSTIC, None, ROWS_OUT)? {
            let batch = batch?;
            let wanted: BooleanArray = (0..batch.num_rows())
                .map(|row| Some(dictionary_text(&batch, diagnostic::SOURCE, row) != MAP_SOURCE))
                .collect();
            let rows = filter_record_batch(&batch, &wanted);
            kept.push(rows.map_err(|e| Error::new(ErrorKind::Bug, "cannot filter diagnostics").because(e))?);
        }
    }
    Ok(kept)
}

fn dictionary_text(batch: &RecordBatch, column: &str, row: usize) -> String {
    let array = batch.column_by_name(column).and_then(|c| c.as_dictionary_opt::<UInt32Type>());
    let Some(array) = array.filter(|a| a.is_valid(row)) else { return String::new() };
    let values = array.values().as_string_opt::<i32>();
    values.map(|v| v.value(array.keys().value(row) as usize).to_owned()).unwrap_or_default()
}

/// Maps the software events that `tx` holds of a recording, and stages what they give.
pub(super) fn map_recording(
    tx: &mut Transaction,
    name: &str,
    setup: &Setup,
    threads: usize,
    control: &Arc<Control>,
) -> Result<MapReport> {
    let cores: Vec<String> = setup.cores.iter().map(|c| c.name.clone()).collect();
    let files = |table: &TableSpec, core: &str| {
        let of_core = |(file, _): &(FileEntry, _)| file.core.as_deref() == Some(core);
        tx.files(table, name).into_iter().filter(of_core).collect::<Vec<_>>()
    };
    let files: Vec<_> =
        cores.iter().map(|c| (files(tables::DATA_EVENT, c), files(tables::FUNCTION_EVENT, c))).collect();
    let rows = |t: &TableSpec| tx.files(t, name).iter().map(|(f, _)| f.rows).sum::<u64>();
    control.begin(format!("mapping {name}"), rows(tables::DATA_EVENT) + rows(tables::FUNCTION_EVENT));
    let gaps = read_gaps(tx, name, &cores)?;
    let (begin, end) = time_range(tx, name);
    let (begin, end) = (begin.unwrap_or(0), end.unwrap_or(0));
    let shared = Mutex::new(&mut *tx);
    let writer = |table| {
        let mut tx = shared.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))?;
        tx.writer(table, name, None)
    };
    let model = Model::new(setup);
    let relevance = model.relevance();
    let (mapped, events, instances) = Pipeline::run(threads, |pipeline| {
        let events = pipeline.sink(Events::new(&writer), Events::take);
        let instances = pipeline.sink(Instances::new(&writer, (begin, end)), Instances::take);
        let mut first = true;
        let open = || {
            // The look-ahead pass reads the same rows; only one of the two passes counts as progress.
            let counts = !std::mem::take(&mut first);
            let blocks = |core: usize, kind: Kind, files: &[(FileEntry, PathBuf)]| {
                let (table, columns) = match kind {
                    Kind::Data => (tables::DATA_EVENT, &DATA_COLUMNS[..]),
                    Kind::Functions => (tables::FUNCTION_EVENT, &FUNCTION_COLUMNS[..]),
                };
                let mut reader = Reader::new(Arc::clone(&relevance), core, kind);
                let control = Arc::clone(control);
                let read = move |batch: Result<RecordBatch>| {
                    control.check()?;
                    let batch = batch?;
                    if counts {
                        control.advance(batch.num_rows() as u64, batch.num_rows() as u64);
                    }
                    reader.read(&batch)
                };
                Box::new(pipeline.prefetch(runs::in_order(files.to_vec(), table, columns).map(read)))
            };
            let inputs = files.iter().enumerate().map(|(core, (data, functions))| CoreInput {
                data: blocks(core, Kind::Data, data),
                functions: blocks(core, Kind::Functions, functions),
            });
            Ok(inputs.collect())
        };
        let mut known = 0;
        let mapped = map(model, begin, &gaps, open, |outputs, all| {
            let names: Vec<String> = all.since(known).map(str::to_owned).collect();
            known += names.len();
            let mapped = Arc::new((outputs, names));
            events.push(Some(Arc::clone(&mapped)))?;
            instances.push(Some(mapped))
        })?;
        events.push(None)?;
        instances.push(None)?;
        Ok((mapped, events.finish()?, instances.finish()?))
    })?;
    let (events_written, violations) = (events.seq as u64, instances.violations);
    let files = [events.table.finish()?, instances.tables.finish()?];
    files.into_iter().flatten().for_each(|file| tx.add(file));
    let mut log = mapped.log;
    note_violations(violations, &mut log);
    let state = serde_json::to_vec_pretty(&mapped.state)
        .map_err(|e| Error::new(ErrorKind::Bug, "state").because(e))?;
    tx.put_blob("state", name, "state.json", &state)?;
    Ok(MapReport { events: events_written, relevant: mapped.relevant, violations, log })
}

const DATA_COLUMNS: [&str; 4] =
    [data_event::TIME, data_event::VARIABLE, data_event::ACCESS, data_event::VALUE];
const FUNCTION_COLUMNS: [&str; 3] = [function_event::TIME, function_event::FUNCTION, function_event::KIND];

fn read_gaps(tx: &Transaction, name: &str, cores: &[String]) -> Result<Vec<Gap>> {
    let mut gaps = Vec::new();
    for (_, path) in tx.files(tables::GAP, name) {
        for batch in read_batches(&path, tables::GAP, None, ROWS_OUT)? {
            let batch = batch?;
            let time = |column: &str| {
                batch.column_by_name(column).and_then(|c| c.as_primitive_opt::<Int64Type>().cloned())
            };
            let (Some(begin), Some(end)) = (time(gap::BEGIN_AT), time(gap::END_AT)) else { continue };
            for row in 0..batch.num_rows() {
                let core = dictionary_text(&batch, gap::CORE, row);
                let (begin, end) = (begin.value(row), end.value(row));
                let hit = cores.iter().enumerate().filter(|(_, c)| core.is_empty() || **c == core);
                gaps.extend(hit.map(|(core, _)| Gap { core, begin, end }));
            }
        }
    }
    // Both exports of a core may tell of the same hole.
    gaps.dedup();
    Ok(gaps)
}
