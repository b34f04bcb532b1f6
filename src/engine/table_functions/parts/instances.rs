//! The instances of a recording, before anything is explained: which of them are complete, and when those
//! were activated whose names in events several processes share. Not their ends (see `blocks`).

use std::sync::atomic::AtomicBool;

use arrow::array::RecordBatch;

use super::handlers::Shared;
use super::names::Names;
use crate::error::Result;
use crate::explain::Actor;
use crate::names::{IdSet, Memo};
use crate::schema::columns::process_instance;
use crate::schema::{NumberView, find_column, tables, view};
use crate::store::{Database, Scan, Scanner, Within};

view! {
    struct Wholes of process_instance { process, instance, complete }
}

/// Which instances are to be explained: those that are complete, of one process or of all.
#[derive(Debug, Default)]
pub(super) struct Complete {
    /// By process: its instances are to be explained.
    processes: Vec<bool>,
    incomplete: IdSet<Actor>,
}

impl Complete {
    /// Of all instances of a recording, looked at by so many threads; and when those were activated whose
    /// names in events are shared, in no order.
    pub fn of(
        (database, recording): (&Database, &str),
        threads: usize,
        (names, shared): (&Names, &Shared),
        process: Option<u32>,
    ) -> Result<(Self, Vec<(i64, Actor)>)> {
        let mut columns = Wholes::COLUMNS.to_vec();
        if !shared.is_empty() {
            columns.push(process_instance::ACTIVATE_AT);
        }
        let (begin, end) = (process_instance::ACTIVATE_AT, process_instance::TERMINATE_AT);
        let within = Within { begin, end, from: i64::MIN, to: i64::MAX };
        let scan =
            Scan { table: tables::PROCESS_INSTANCE, recording, columns: &columns, within, having: None };
        let interrupt = AtomicBool::new(false);
        let scanner = Scanner { database, threads, interrupt: &interrupt };
        let mut complete = Self::default();
        // Here, so that a number does not depend on which thread comes first.
        for name in scanner.names_of(&scan, process_instance::PROCESS)? {
            let number = names.intern(&name);
            let place = number as usize;
            if complete.processes.len() <= place {
                complete.processes.resize(place + 1, false);
            }
            if let Some(is_wanted) = complete.processes.get_mut(place) {
                *is_wanted = process.is_none_or(|process| process == number);
            }
        }
        let add = |seen: &mut Seen, batch: &RecordBatch| seen.add(batch, names, shared);
        let mut activations = Vec::new();
        for seen in scanner.scan(&scan, Seen::default, add)? {
            complete.incomplete.extend(seen.incomplete);
            activations.extend(seen.activations);
        }
        Ok((complete, activations))
    }

    pub fn has(&self, actor: Actor) -> bool {
        self.processes.get(actor.process as usize) == Some(&true) && !self.incomplete.contains(&actor)
    }
}

/// What one thread has seen of a recording.
#[derive(Debug, Default)]
struct Seen {
    /// What is known of the names in dictionaries: its number, and whether its name in events is shared.
    known: Memo<(u32, bool)>,
    incomplete: Vec<Actor>,
    activations: Vec<(i64, Actor)>,
}

impl Seen {
    fn add(&mut self, batch: &RecordBatch, names: &Names, shared: &Shared) -> Result<()> {
        let rows = Wholes::of(batch)?;
        self.known.follow(rows.process.dictionary(), |name| (names.intern(name), shared.has(name)));
        let known = &self.known;
        let instance = |row| {
            let (process, is_shared) = *known.get(rows.process.key(row)?)?;
            Some((Actor { process, instance: rows.instance.value(row) }, is_shared))
        };
        let incomplete = (0..rows.len()).filter(|row| !rows.complete.value(*row));
        self.incomplete.extend(incomplete.filter_map(|row| Some(instance(row)?.0)));
        if !shared.is_empty() {
            let table = tables::PROCESS_INSTANCE.name;
            let times: NumberView<'_, i64> = find_column(batch, table, process_instance::ACTIVATE_AT)?;
            self.activations.extend((0..rows.len()).filter_map(|row| {
                let (actor, is_shared) = instance(row)?;
                Some((times.get(row).filter(|_| is_shared)?, actor))
            }));
        }
        Ok(())
    }
}
