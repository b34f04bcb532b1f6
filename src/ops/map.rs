//! Maps the stored events of a recording: the driver of all mappers, with its threads. Decoding, rows and
//! encoding are pipeline stages around the mapper, which runs on this thread. Not the rules (see
//! [`crate::map`]), nor what is mapped again and when (see `map_again`).

use super::control::Control;
use super::describe::time_range;
use super::entities::write_entities;
use super::mapped::{Events, Instances, MappedBatch, NativeTables, note_violations};
use super::parts::{ROWS_OUT, locked};
use super::runs;
use super::setup::{MappingSetup, STATE, STATE_FILE};
use crate::btf::{IdleTasks, MOST_NAMES};
use crate::derive::{Derive, Violations};
use crate::diagnostics::Log;
use crate::error::{Error, ErrorKind, Result};
use crate::map::grasp::{self, GraspMapper};
use crate::map::hooks::HookMapper;
use crate::map::osek::OsekMapper;
use crate::map::qnx::QnxMapper;
use crate::map::scheduler::SchedulerMapper;
use crate::map::task_events::TaskEventMapper;
use crate::map::{Gap, Mapper, Recording, SavedState, StoredRows};
use crate::pipeline::Pipeline;
use crate::schema::{GapView, TABLES, TableSpec, tables};
use crate::store::{Database, FileEntry, Place, Transaction, read_batches};
use arrow::array::RecordBatch;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

pub(super) const MAPPERS: &[MapperEntry] = &[
    MapperEntry::of::<OsekMapper>(),
    MapperEntry::of::<HookMapper>(),
    MapperEntry::of::<QnxMapper>(),
    MapperEntry::of::<GraspMapper>(),
    MapperEntry::of::<SchedulerMapper>(),
    MapperEntry::of::<TaskEventMapper>(),
];

/// Events that are mapped between two checks for final output.
const TURN: u64 = 1024;
/// System events, or native rows of a table, per batch.
const OUTPUTS: usize = 8192;

/// The result of a mapping.
#[derive(Debug)]
pub struct MapReport {
    /// System events written.
    pub events: u64,
    /// Software events that a rule used.
    pub relevant: u64,
    /// Violations of state charts; 0 unless the recording or a profile is wrong.
    pub violations: Violations,
    /// Findings of the mapping.
    pub log: Log,
}

/// What a mapping may take.
#[derive(Debug, Clone, Copy)]
pub struct MapOptions {
    /// Threads to use; events do not depend on it.
    pub threads: usize,
    /// The most bytes that the different names in the events of a recording may have together.
    pub max_names: u64,
}

impl Default for MapOptions {
    /// One thread, 1 GiB of names.
    fn default() -> Self {
        Self { threads: 1, max_names: MOST_NAMES }
    }
}

#[derive(Clone, Copy)]
pub(super) struct MapperEntry {
    name: &'static str,
    pub native_tables: &'static [&'static TableSpec],
    map: fn(&mut Transaction, &str, MappingSetup, MapOptions, &Arc<Control>) -> Result<MapReport>,
}

impl MapperEntry {
    const fn of<M: Mapper>() -> Self {
        Self { name: M::NAME, native_tables: M::NATIVE_TABLES, map: map_recording::<M> }
    }

    /// The mapper of that name. Fails when there is none.
    pub fn named(mappers: &[Self], name: &str, recording: &str) -> Result<Self> {
        mappers.iter().copied().find(|mapper| mapper.name == name).ok_or_else(|| {
            Error::database(format!("recording '{recording}' is to be mapped by an unknown mapper, '{name}'"))
                .hint("was the database written by a later version of btfdb?")
        })
    }
}

/// Maps the events of a recording in `tx` according to its stored setup, and stages the result. `None` if the
/// setup names no mapper, or there is no setup. Fails for a setup or rows that cannot be read.
pub(super) fn map_stored(
    mappers: &[MapperEntry],
    tx: &mut Transaction,
    recording: &str,
    options: MapOptions,
    control: &Arc<Control>,
) -> Result<Option<MapReport>> {
    let Some(setup) = MappingSetup::read(tx, recording)? else { return Ok(None) };
    let Some(mapper) = &setup.mapper else { return Ok(None) };
    let mapper = MapperEntry::named(mappers, mapper, recording)?;
    (mapper.map)(tx, recording, setup, options, control).map(Some)
}

fn map_recording<M: Mapper>(
    tx: &mut Transaction,
    name: &str,
    setup: MappingSetup,
    options: MapOptions,
    control: &Arc<Control>,
) -> Result<MapReport> {
    let settings = setup.settings_as(name)?;
    let files = Files::of(tx, name)?;
    control.begin(format!("mapping {name}"), files.rows(M::TABLES));
    let gaps = read_gaps(tx, name)?;
    let (begin, end) = time_range(tx, name)?;
    let (begin, end) = (begin.unwrap_or(0), end.unwrap_or(0));
    let recording = Recording { begin, end, time_scale: tx.time_scale(), gaps: &gaps };
    let mut mapper = M::new(settings, &recording)?;
    let idle_tasks = IdleTasks::new(mapper.idle_tasks()?.into_iter().chain(setup.idle_tasks));
    let shared = Mutex::new(&mut *tx);
    let writer = |table| locked(&shared)?.writer(table, name, None);
    let (finished, events, instances, native) = Pipeline::run(options.threads, |pipeline| {
        let rows = |counts| Rows { pipeline, files: &files, control, counts };
        for pass in 0..M::LOOK_AHEADS {
            look_ahead(&mut mapper, pass, &rows(false), &gaps)?;
        }
        let events = pipeline.sink(Events::new(&writer), Events::take);
        let derive =
            if M::TELLS_ACTIVATIONS { Derive::default() } else { Derive::of_foreign_trace(mapper.range().0) };
        let derive = derive.with_idle_tasks(idle_tasks.clone());
        let instances = Instances::new(&writer, derive, mapper.range().1, options.max_names);
        let instances = pipeline.sink(instances, Instances::take);
        let native = pipeline.sink(NativeTables::new(&writer, M::NATIVE_TABLES), NativeTables::take);
        let (mut named, mut idle) = (0, 0);
        let mut send = |mapper: &M, outputs| {
            let names: Vec<String> = mapper.names().since(named).map(str::to_owned).collect();
            named += names.len();
            let idle_tasks = mapper.known_idle_tasks().get(idle..).unwrap_or_default().to_vec();
            idle += idle_tasks.len();
            let batch = Arc::new(MappedBatch { outputs, names, idle_tasks });
            events.push(Some(Arc::clone(&batch)))?;
            instances.push(Some(batch))
        };
        let (mut gaps, mut count) = (gaps.iter().peekable(), 0);
        mapper.read(&rows(true), M::LOOK_AHEADS, |mapper, event| {
            while let Some(gap) = gaps.next_if(|gap| gap.begin < M::time_of(event)) {
                mapper.gap(gap);
            }
            mapper.event(event);
            count += 1;
            if count % TURN == 0 {
                if let Some(outputs) = mapper.take(OUTPUTS) {
                    send(mapper, outputs)?;
                }
                if let Some(rows) = mapper.take_rows(OUTPUTS) {
                    native.push(rows)?;
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        gaps.for_each(|gap| mapper.gap(gap));
        let mut finished = mapper.finish();
        send(&mapper, std::mem::take(&mut finished.outputs))?;
        native.push(std::mem::take(&mut finished.rows))?;
        events.push(None)?;
        instances.push(None)?;
        Ok((finished, events.finish()?, instances.finish()?, native.finish()?))
    })?;
    let (written, violations) = (events.seq as u64, instances.violations);
    let occurring = instances.entities;
    let files = [events.table.finish()?, instances.tables.finish()?, native.finish()?];
    files.into_iter().flatten().try_for_each(|file| tx.add(file))?;
    write_entities(tx, name, mapper.entities(), occurring, &idle_tasks)?;
    let state = serde_json::to_vec_pretty(&SavedState::of(&mapper, &finished.state)?)
        .map_err(|e| Error::new(ErrorKind::Bug, "a state is no JSON").because(e))?;
    tx.put_blob(STATE, name, STATE_FILE, &state)?;
    let mut log = finished.log;
    note_violations(violations, &mut log);
    Ok(MapReport { events: written, relevant: finished.relevant, violations, log })
}

/// Passes all events and gaps to a mapper before it maps them.
fn look_ahead<M: Mapper>(mapper: &mut M, pass: usize, rows: &Rows<'_, '_>, gaps: &[Gap]) -> Result<()> {
    let mut gaps = gaps.iter().peekable();
    mapper.read(rows, pass, |mapper, event| {
        while let Some(gap) = gaps.next_if(|gap| gap.begin < M::time_of(event)) {
            mapper.look_ahead_gap(pass, gap);
        }
        Ok(mapper.look_ahead(pass, event))
    })?;
    gaps.for_each(|gap| mapper.look_ahead_gap(pass, gap));
    mapper.end_look_ahead(pass);
    Ok(())
}

/// The faults of servers and mutexes of a stored Grasp trace, each with its line; none for other recordings.
pub fn grasp_faults(db: &Database, recording: &str) -> Result<Vec<(i64, grasp::Fault)>> {
    let files = db.files(tables::GRASP_EVENT, Some(recording))?;
    let files =
        Files(files.into_iter().map(|file| (db.place_of(&file), file)).map(|(p, f)| (f, p)).collect());
    if files.0.is_empty() {
        return Ok(Vec::new());
    }
    let control = Arc::new(Control::default());
    Pipeline::run(1, |pipeline| {
        grasp::faults(&Rows { pipeline, files: &files, control: &control, counts: false })
    })
}

struct Files(Vec<(FileEntry, Place)>);

impl Files {
    fn of(tx: &Transaction, recording: &str) -> Result<Self> {
        let of_table = TABLES.iter().map(|table| tx.files(table, recording));
        Ok(Self(of_table.collect::<Result<Vec<_>>>()?.concat()))
    }

    fn rows(&self, of: &[&TableSpec]) -> u64 {
        let files = self.0.iter().filter(|(file, _)| of.iter().any(|table| table.name == file.table));
        files.map(|(file, _)| file.rows).sum()
    }
}

/// Rows that pipeline stages read and decode.
struct Rows<'p, 'a> {
    pipeline: &'p Pipeline<'a>,
    files: &'p Files,
    control: &'p Arc<Control>,
    /// They count as progress, unlike those of look-aheads.
    counts: bool,
}

impl StoredRows for Rows<'_, '_> {
    fn cores(&self, table: &TableSpec) -> Vec<String> {
        let files = self.files.0.iter().filter(|(file, _)| file.table == table.name);
        let mut cores: Vec<String> = files.filter_map(|(file, _)| file.core.clone()).collect();
        cores.dedup();
        cores
    }

    fn read<T: Send + 'static>(
        &self,
        table: &'static TableSpec,
        core: Option<String>,
        columns: &'static [&'static str],
        mut decode: impl FnMut(RecordBatch) -> Result<T> + Send + 'static,
    ) -> impl Iterator<Item = Result<T>> {
        let is_wanted = |(file, _): &&(FileEntry, Place)| file.table == table.name && file.core == core;
        let files = self.files.0.iter().filter(is_wanted).cloned().collect();
        let (control, counts) = (Arc::clone(self.control), self.counts);
        let read = move |batch: Result<RecordBatch>| {
            control.check()?;
            let batch = batch?;
            if counts {
                control.advance(batch.num_rows() as u64, batch.num_rows() as u64);
            }
            decode(batch)
        };
        self.pipeline.prefetch(runs::in_order(files, table, columns).map(read))
    }
}

/// The gaps of a recording, in the order of the table. Several exports of a core may have the same one.
fn read_gaps(tx: &Transaction, name: &str) -> Result<Vec<Gap>> {
    let mut gaps = Vec::new();
    for (_, path) in tx.files(tables::GAP, name)? {
        for batch in read_batches(&path, tables::GAP, None, ROWS_OUT)? {
            let batch = batch?;
            gaps.extend(GapView::of(&batch)?.rows().map(|row| Gap {
                core: row.core.map(|core| core.text().to_owned()),
                begin: row.begin_at,
                end: row.end_at,
            }));
        }
    }
    gaps.dedup();
    Ok(gaps)
}

#[cfg(test)]
mod tests;
