//! The instances of a recording, before anything is explained: which of them are complete, and when those
//! were activated whose names in events several processes share. Not their ends (see `blocks`).

use arrow::array::RecordBatch;

use super::handlers::Shared;
use super::names::Names;
use crate::error::Result;
use crate::explain::Actor;
use crate::names::{IdSet, Memo};
use crate::schema::{NumberView, find_column, tables, view};
use crate::store::{Database, read_batches};

const BATCH_ROWS: usize = 16 * 1024;

view! {
    struct Wholes of process_instance { process, instance, complete }
}

/// The column of the activations of instances.
const ACTIVATE_AT: &str = "activate_at";

/// Some instances of a recording.
pub(super) struct Instances {
    /// Each, and whether it is complete.
    pub all: Vec<(Actor, bool)>,
    /// When those were activated whose names in events are shared.
    pub handlers: Vec<(i64, Actor)>,
}

/// All instances of a recording, in no order.
pub(super) fn instances<'a>(
    database: &'a Database,
    recording: &str,
    names: &Names,
    shared: &Shared,
) -> Result<impl Iterator<Item = Result<Instances>> + Send + 'a> {
    let mut columns = Wholes::COLUMNS.to_vec();
    if !shared.is_empty() {
        columns.push(ACTIVATE_AT);
    }
    let with_activations = !shared.is_empty();
    let (names, shared, mut known) = (names.clone(), shared.clone(), Memo::default());
    let mut of = move |batch: &RecordBatch| -> Result<Instances> {
        let rows = Wholes::of(batch)?;
        known.follow(rows.process.dictionary(), |name| (names.intern(name), shared.has(name)));
        let instance = |row| {
            let (process, is_shared) = *known.get(rows.process.key(row)?)?;
            Some((Actor { process, instance: rows.instance.value(row) }, is_shared))
        };
        let all = (0..rows.len()).filter_map(|row| Some((instance(row)?.0, rows.complete.value(row))));
        let mut made = Instances { all: all.collect(), handlers: Vec::new() };
        if with_activations {
            let times: NumberView<'_, i64> = find_column(batch, tables::PROCESS_INSTANCE.name, ACTIVATE_AT)?;
            let handlers = (0..rows.len()).filter_map(|row| {
                let (actor, is_shared) = instance(row)?;
                Some((times.get(row).filter(|_| is_shared)?, actor))
            });
            made.handlers.extend(handlers);
        }
        Ok(made)
    };
    let files = database.files(tables::PROCESS_INSTANCE, Some(recording))?.into_iter();
    let batches = files.flat_map(move |file| {
        let place = database.place_of(&file);
        match read_batches(&place, tables::PROCESS_INSTANCE, Some(&columns), BATCH_ROWS) {
            Ok(batches) => Box::new(batches) as Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    });
    Ok(batches.map(move |batch| of(&batch?)))
}

/// Which instances are to be explained: those that are complete, of one process or of all.
pub(super) struct Complete {
    /// By process: its instances are to be explained.
    processes: Vec<bool>,
    incomplete: IdSet<Actor>,
}

impl Complete {
    /// Of all instances, and the activations of handlers.
    pub fn of(
        instances: impl Iterator<Item = Result<Instances>>,
        process: Option<u32>,
    ) -> Result<(Self, Vec<(i64, Actor)>)> {
        let (mut processes, mut incomplete, mut activations) = (Vec::new(), IdSet::default(), Vec::new());
        for instances in instances {
            let Instances { all, handlers } = instances?;
            activations.extend(handlers);
            for (actor, is_complete) in all {
                let place = actor.process as usize;
                if processes.len() <= place {
                    processes.resize(place + 1, false);
                }
                if let Some(known) = processes.get_mut(place) {
                    *known = process.is_none_or(|process| actor.process == process);
                }
                if !is_complete {
                    incomplete.insert(actor);
                }
            }
        }
        Ok((Self { processes, incomplete }, activations))
    }

    pub fn has(&self, actor: Actor) -> bool {
        self.processes.get(actor.process as usize) == Some(&true) && !self.incomplete.contains(&actor)
    }
}
