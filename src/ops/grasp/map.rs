//! Stored commands of a Grasp trace to system events and instances. Decoding, rows and encoding are stages of a pipeline around the
//! mapper, which this thread runs; the rules are in `crate::map::grasp`.

use super::super::control::Control;
use super::super::describe::time_range;
use super::super::map::MapReport;
use super::super::mapped::{Events, Handover, Instances, note_violations};
use super::super::setup;
use super::stored::Known;
use crate::diagnostics::{Diagnostic, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::map::MAP_SOURCE;
use crate::map::grasp::{Mapper, Occurrence};
use crate::pipeline::Pipeline;
use crate::schema::tables;
use crate::store::Transaction;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};

/// System events that are handed over at once.
const HANDOVER: usize = 8192;
/// Where the way a recording was read is kept, so that it can be mapped again.
const SETUP: &str = "grasp.json";

/// How a Grasp trace was read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Mapping {
    /// Ticks of the database per unit of time of the trace.
    pub tick: i64,
}

impl Mapping {
    /// How a stored recording was read; `None` when it is no Grasp trace.
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
}

/// Maps the commands that `tx` holds of a recording, and stages what they give.
///
/// # Errors
/// The disk; stored commands that cannot be read.
pub(in super::super) fn map(
    tx: &mut Transaction,
    name: &str,
    threads: usize,
    control: &Arc<Control>,
) -> Result<MapReport> {
    let files = tx.files(tables::GRASP_EVENT, name);
    control.begin(format!("mapping {name}"), files.iter().map(|(file, _)| file.rows).sum());
    let mut known = Known::of(&files)?;
    // Times on one clock may be outside of those that were written.
    let (begin, end) = time_range(tx, name);
    let (mut begin, mut end) = (begin.unwrap_or(0), end.unwrap_or(0));
    // How many jobs never arrive decides the numbers of all: they are mapped twice, the first time for that alone.
    let mut scout = Mapper::new(known.directory.clone());
    let looking = |o: &Occurrence<'_>| {
        scout.occurrence(o);
        scout.take(HANDOVER);
        (begin, end) = (begin.min(o.effect_at), end.max(o.effect_at));
        Ok(())
    };
    known.in_order(&files, looking, |_| control.check())?;
    known.directory = scout.into_directory(std::mem::take(&mut known.directory));
    let known = &known;
    let shared = Mutex::new(&mut *tx);
    let writer = |table| {
        let mut tx = shared.lock().map_err(|_| Error::new(ErrorKind::Bug, "a writer thread died"))?;
        tx.writer(table, name, None)
    };
    let (mut log, relevant, events, instances) = Pipeline::run(threads, |pipeline| {
        let events = pipeline.sink(Events::new(&writer), Events::take);
        let instances = pipeline.sink(Instances::of_foreign_trace(&writer, (begin, end)), Instances::take);
        let mut mapper = Mapper::new(known.directory.clone());
        let mut named = 0;
        let mut hand_over = |mapper: &Mapper, outputs| {
            let names: Vec<String> = mapper.names.since(named).map(str::to_owned).collect();
            named += names.len();
            let mapped = Arc::new((outputs, names));
            events.push(Some(Arc::clone(&mapped)))?;
            instances.push(Some(mapped))
        };
        let mapping = |o: &Occurrence<'_>| {
            mapper.occurrence(o);
            match mapper.take(HANDOVER) {
                Some(outputs) => hand_over(&mapper, outputs),
                None => Ok(()),
            }
        };
        let reading = |rows| {
            control.advance(rows, rows);
            control.check()
        };
        known.in_order(&files, mapping, reading)?;
        let (outputs, log, relevant) = mapper.finish(end);
        hand_over(&mapper, outputs)?;
        events.push(Handover::None)?;
        instances.push(Handover::None)?;
        Ok((log, relevant, events.finish()?, instances.finish()?))
    })?;
    let mut find = |severity, code, message| {
        let (source, text) = (MAP_SOURCE.to_owned(), String::new());
        log.push(Diagnostic { source, line: None, severity, code, message, text });
    };
    for id in known.directory.undeclared() {
        find(
            Severity::Warning,
            "undeclared-task",
            format!("nothing declares task '{id}'; it is named by its id"),
        );
    }
    for id in known.corrected() {
        let message =
            format!("the clock of processor '{id}' was put onto that of another, by messages between them");
        find(Severity::Info, "clock-corrected", message);
    }
    let (events_written, violations) = (events.seq as u64, instances.violations);
    let files = [events.table.finish()?, instances.tables.finish()?];
    files.into_iter().flatten().for_each(|file| tx.add(file));
    note_violations(violations, &mut log);
    Ok(MapReport { events: events_written, relevant, violations, log })
}
