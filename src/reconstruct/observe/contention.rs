//! Which tasks meet on a core, and who gets it: what a trace shows of priorities. Not the priorities
//! themselves (see `priorities`).

use std::collections::BTreeMap;

use super::{Key, Live};
use crate::btf::{EntityType, NameId, State};

/// How often tasks met, and who went first. Times are in ns.
#[derive(Debug, Default)]
pub struct Contention {
    /// The first task took the core, although the second one was running, or ready for longer.
    pub wins: BTreeMap<(NameId, NameId), u64>,
    /// The first task kept the core, although the second one was ready.
    pub stays: BTreeMap<(NameId, NameId), u64>,
    /// The same while it had a lock: lock, who has it, who is ready.
    pub held: BTreeMap<(NameId, NameId, NameId), u64>,
    /// How often another task took the core from a task.
    pub preempted: BTreeMap<NameId, u64>,
    /// How often an ISR interrupted another one: core, the first one, the second one.
    pub nests: BTreeMap<(NameId, NameId, NameId), u64>,
    /// Where each task ran last.
    home: BTreeMap<NameId, NameId>,
    /// The task that left each core last, if it could have run on.
    left: BTreeMap<NameId, (Key, i64)>,
}

/// A task that is ready for so long was not overlooked: the scheduler has run.
const SEEN: i64 = 5_000;

/// With more instances alive, only those of a core that are known to be there would be worth a look.
const MOST_ALIVE: usize = 512;

impl Contention {
    /// A task leaves a core that it had for a time.
    pub fn leaves(&mut self, key: Key, core: NameId, (since, at): (i64, i64), live: &BTreeMap<Key, Live>) {
        self.left.insert(core, (key, at));
        let Some(own) = live.get(&key) else { return };
        for other in self.ready(key, core, live) {
            let Some(of) = live.get(&other).filter(|of| of.state != State::Parking) else { continue };
            let from = since.max(of.since).max(own.gave);
            if at - from < SEEN {
                continue;
            }
            if own.holds.is_empty() {
                *self.stays.entry((key.0, other.0)).or_default() += 1;
            }
            for lock in &own.holds {
                *self.held.entry((*lock, key.0, other.0)).or_default() += 1;
            }
        }
    }

    /// A task takes a core. The result are the locks of the task that it takes it from.
    pub fn takes(&mut self, key: Key, core: NameId, at: i64, live: &BTreeMap<Key, Live>) -> Vec<NameId> {
        self.home.insert(key.0, core);
        let left = self.left.remove(&core);
        let Some(own) = live.get(&key) else { return Vec::new() };
        let mut locks = Vec::new();
        for other in self.ready(key, core, live) {
            let Some(of) = live.get(&other) else { continue };
            let is_preempted = left == Some((other, of.since)) && of.state != State::Active && of.since <= at;
            if is_preempted {
                *self.preempted.entry(other.0).or_default() += 1;
                locks.extend(of.holds.iter().copied());
            }
            let passes = of.state != State::Parking && of.since < own.since;
            if (is_preempted || passes) && own.holds.is_empty() {
                *self.wins.entry((key.0, other.0)).or_default() += 1;
            }
        }
        locks
    }

    /// Where a task ran last.
    pub fn home(&self, task: NameId) -> Option<NameId> {
        self.home.get(&task).copied()
    }

    /// The other tasks that could run on a core, or lost it while they polled.
    fn ready(&self, key: Key, core: NameId, live: &BTreeMap<Key, Live>) -> Vec<Key> {
        if live.len() > MOST_ALIVE {
            return Vec::new();
        }
        let could_run = |(other, of): &(&Key, &Live)| {
            other.0 != key.0
                && of.kind == EntityType::Task
                && matches!(of.state, State::Ready | State::Active | State::Parking)
                && self.home.get(&other.0) == Some(&core)
        };
        live.iter().filter(could_run).map(|(other, _)| *other).collect()
    }
}
