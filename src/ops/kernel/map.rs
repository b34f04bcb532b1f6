//! Stored kernel events to system events, instances and native tables. Decoding, rows and encoding are stages of a pipeline around
//! the mapper, which this thread runs; the rules are in `crate::map::kernel`.

use super::super::control::Control;
use super::super::describe::time_range;
use super::super::map::MapReport;
use super::super::mapped::{Events, Handover, Instances, note_violations};
use super::super::setup;
use super::native::Native;
use super::stored::{Rows, files, in_order, rows};
use crate::error::{Error, ErrorKind, Result};
use crate::map::kernel::{Directory, Irq, KernelMapper, KernelSetup};
use crate::pipeline::Pipeline;
use crate::qnx::{Flavour, Version};
use crate::schema::columns::gap;
use crate::schema::{TableSpec, tables};
use crate::store::{Transaction, read_batches};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// Events that are mapped between two looks at what is ready.
const TURN: u64 = 1024;
/// System events that are handed over at once.
const HANDOVER: usize = 8192;
/// Where the way a recording was mapped is kept, so that it can be mapped again.
const SETUP: &str = "kernel.json";

/// The tables that only kernel traces have, made by the mapping.
pub(in super::super) const NATIVE: [&TableSpec; 6] = [
    tables::KERNEL_PROCESS,
    tables::KERNEL_THREAD,
    tables::KERNEL_STATE,
    tables::KERNEL_CALL,
    tables::KERNEL_INTERRUPT,
    tables::KERNEL_MESSAGE,
];

/// How a kernel trace is mapped.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Mapping {
    /// Who wrote the trace.
    pub version: String,
    /// The target is big endian.
    pub big_endian: bool,
    /// CPUs of the target.
    pub cpus: u32,
    /// Blocking states that end an instance.
    pub jobs: Vec<String>,
    /// Interrupts leave the state of threads alone.
    pub overlay_irqs: bool,
    /// Idle threads are tasks.
    pub idle: bool,
    /// Events were left out at the ingest, after the mapping.
    pub left_out: bool,
}

impl Mapping {
    /// How a stored recording was mapped; `None` when it is no kernel trace.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn stored(db: &crate::store::Database, recording: &str) -> Result<Option<Self>> {
        setup::stored(db, recording, SETUP)
    }

    /// Keeps it with the recording.
    ///
    /// # Errors
    /// The disk.
    pub fn store(&self, tx: &mut Transaction, recording: &str) -> Result<()> {
        setup::keep(tx, recording, SETUP, self)
    }

    /// Refuses to map what is not there.
    ///
    /// # Errors
    /// Usage, when events were left out at the ingest.
    pub fn check_whole(&self, recording: &str) -> Result<()> {
        if !self.left_out {
            return Ok(());
        }
        Err(Error::usage(format!(
            "events of '{recording}' were left out when it was ingested: it cannot be mapped again"
        ))
        .hint("ingest the trace again; a mapping needs all events"))
    }

    fn setup(&self) -> KernelSetup {
        KernelSetup {
            flavour: Flavour {
                version: Version::of_release(&self.version).unwrap_or_default(),
                big_endian: self.big_endian,
            },
            cpus: self.cpus,
            jobs: self.jobs.clone(),
            irq: if self.overlay_irqs { Irq::Overlay } else { Irq::Preempt },
            idle: self.idle,
        }
    }
}

/// Maps the kernel events that `tx` holds of a recording, and stages what they give.
///
/// # Errors
/// The disk; stored events that cannot be read.
pub(in super::super) fn map(
    tx: &mut Transaction,
    name: &str,
    mapping: &Mapping,
    threads: usize,
    control: &Arc<Control>,
) -> Result<MapReport> {
    let cpus = files(tx, name);
    let all: u64 = cpus.values().flatten().map(|(file, _)| file.rows).sum();
    control.begin(format!("mapping {name}"), all);
    let gaps = gaps(tx, name)?;
    let (begin, end) = time_range(tx, name);
    let (begin, end) = (begin.unwrap_or(0), end.unwrap_or(0));
    let shared = Mutex::new(&mut *tx);
    let writer = |table| {
        let mut tx = shared.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))?;
        tx.writer(table, name, None)
    };
    let setup = mapping.setup();
    let (mut log, events, instances, native) = Pipeline::run(threads, |pipeline| {
        let events = pipeline.sink(Events::new(&writer), Events::take);
        let instances = pipeline.sink(Instances::new(&writer, (begin, end)), Instances::take);
        let native = pipeline.sink(Native::new(&writer), Native::take);
        let open = |counts: bool| {
            let stream = |(cpu, files): (&u8, &Vec<_>)| {
                let control = Arc::clone(control);
                let read = move |rows: Result<Rows>| {
                    control.check()?;
                    let rows = rows?;
                    if counts {
                        control.advance(rows.read(), rows.read());
                    }
                    Ok(rows)
                };
                (*cpu, pipeline.prefetch(rows(files.clone()).map(read)))
            };
            cpus.iter().map(stream).collect::<Vec<_>>()
        };
        // What is there already, and who idles, shows in events of all kinds.
        let mut directory = Directory::new(setup.flavour.version);
        in_order(open(false), |occurrence| {
            directory.event(occurrence);
            Ok(())
        })?;
        let mut mapper = KernelMapper::new(setup, directory, begin);
        let mut known = 0;
        let mut hand_over = |mapper: &KernelMapper, outputs| {
            let names: Vec<String> = mapper.names.since(known).map(str::to_owned).collect();
            known += names.len();
            let mapped = Arc::new((outputs, names));
            events.push(Some(Arc::clone(&mapped)))?;
            instances.push(Some(mapped))
        };
        let (mut gaps, mut turn) = (gaps.iter().peekable(), 0);
        in_order(open(true), |occurrence| {
            while let Some((begin, end)) = gaps.next_if(|(begin, _)| *begin < occurrence.time) {
                mapper.gap(*begin, *end);
            }
            mapper.event(occurrence);
            turn += 1;
            if turn % TURN == 0 {
                if let Some(outputs) = mapper.take(HANDOVER) {
                    hand_over(&mapper, outputs)?;
                }
                if let Some(rows) = mapper.rows.take(HANDOVER) {
                    native.push(rows)?;
                }
            }
            Ok(())
        })?;
        gaps.for_each(|(begin, end)| mapper.gap(*begin, *end));
        let finished = mapper.finish(end);
        hand_over(&mapper, finished.outputs)?;
        native.push(std::mem::take(&mut mapper.rows))?;
        events.push(Handover::None)?;
        instances.push(Handover::None)?;
        Ok((finished.log, events.finish()?, instances.finish()?, native.finish()?))
    })?;
    let (written, violations) = (events.seq as u64, instances.violations);
    let files = [events.table.finish()?, instances.tables.finish()?, native.finish()?];
    files.into_iter().flatten().for_each(|file| tx.add(file));
    note_violations(violations, &mut log);
    Ok(MapReport { events: written, relevant: all, violations, log })
}

/// The holes of a recording: begin and end, by begin.
fn gaps(tx: &Transaction, name: &str) -> Result<Vec<(i64, i64)>> {
    let mut gaps = Vec::new();
    for (_, path) in tx.files(tables::GAP, name) {
        for batch in read_batches(&path, tables::GAP, None, HANDOVER)? {
            let batch = batch?;
            let time =
                |column: &str| batch.column_by_name(column).and_then(|c| c.as_primitive_opt::<Int64Type>());
            if let (Some(begins), Some(ends)) = (time(gap::BEGIN_AT), time(gap::END_AT)) {
                gaps.extend(begins.values().iter().zip(ends.values()).map(|(b, e)| (*b, *e)));
            }
        }
    }
    gaps.sort_unstable();
    gaps.dedup();
    Ok(gaps)
}
