//! Events → what each process did: its executions with steps and net times, what released it, and what it
//! met. One pass, in the order of time. Not what a model makes of it (see `assemble`).

mod actions;
mod causes;
mod changes;
mod contention;
mod gaps;
mod live;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::body::{Body, Sets};
use super::facts::Facts;
use crate::btf::spec::process_transition;
use crate::btf::{Action, EntityType, Event, NameId};

use contention::Contention;
pub use live::Live;

/// An instance of a process: its name and number.
pub type Key = (NameId, i64);

/// A process: a task, or an ISR on one core.
pub type ProcessId = (NameId, Option<NameId>);

/// What was seen of a process.
#[derive(Debug, Default)]
pub struct Process {
    /// How long it ran on each core.
    pub cores: BTreeMap<NameId, i64>,
    /// When it was activated.
    pub activations: Vec<i64>,
    /// Activations that were refused, and how many were active then.
    pub refused: u64,
    /// The greatest number of active instances.
    pub most: usize,
    /// Active instances now.
    active: usize,
    pub body: Body,
    /// When it was released although no event says what it waited for.
    pub wakes: Vec<i64>,
    /// Tasks that it activated as its last step, and whether they never ran before its end.
    pub chains: BTreeMap<NameId, bool>,
    /// Instances of an ISR that served a call of another core.
    pub called: u64,
    /// Instances that ended, and how long they had the core, together.
    pub ended: u64,
    pub busy: i64,
    /// Sum of the times from the activation to the end.
    pub response: i64,
}

/// What an outside stimulus does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Activates a task.
    Activate(NameId),
    /// Sets an event for a task.
    SetEvent(NameId, NameId),
}

/// One time that a stimulus acts from outside.
#[derive(Debug, Clone)]
pub struct Release {
    pub at: i64,
    /// The ISRs that ran then, by core, with their begins.
    pub isrs: Vec<(NameId, NameId, i64)>,
}

/// What was seen of a lock.
#[derive(Debug, Default)]
pub struct Lock {
    pub users: BTreeSet<ProcessId>,
    pub cores: BTreeSet<NameId>,
    pub taken: u64,
    pub polled: u64,
    pub parked: u64,
    /// The tasks that took the core from one that had it.
    pub preemptors: BTreeSet<NameId>,
    /// The longest time from the end of one to the begin of the next that polls for it.
    pub delay: i64,
    /// When it was given back last, if that is known.
    given: Option<i64>,
    /// Why no model can have it.
    pub broken: Option<&'static str>,
}

/// A trigger of a stimulus.
#[derive(Debug, Clone)]
enum Trigger {
    Outside(Release),
    /// By a process: the instance, how many frames it had, and the place of the step there.
    By {
        key: Key,
        depth: usize,
        place: usize,
        at: i64,
    },
}

/// All that was seen.
#[derive(Debug, Default)]
pub struct Observer {
    pub sets: Sets,
    pub processes: BTreeMap<ProcessId, Process>,
    pub kinds: BTreeMap<NameId, EntityType>,
    pub runnables: BTreeMap<NameId, Body>,
    pub releases: BTreeMap<(NameId, Target), Vec<Release>>,
    /// Triggers of outside stimuli of which nothing followed: an event may be set already.
    pub orphans: BTreeMap<NameId, Vec<Release>>,
    /// From what a stimulus does in an ISR to the end of that ISR.
    pub exits: Vec<i64>,
    pub locks: BTreeMap<NameId, Lock>,
    /// The values that were written: of each signal the first, and whether all are the same.
    pub written: BTreeMap<NameId, (u64, bool, u64)>,
    pub signals: BTreeSet<NameId>,
    pub contention: Contention,
    /// From the decision to a start.
    pub dispatches: Vec<i64>,
    /// From a call of another core to the interrupt there.
    pub calls: Vec<i64>,
    /// The first and the last event.
    pub span: Option<(i64, i64)>,
    /// Events that could not be used, by their reason.
    pub unused: BTreeMap<&'static str, u64>,
    live: BTreeMap<Key, Live>,
    /// Instances of tasks that may have ended in a gap, and when they were activated.
    lost: BTreeMap<Key, i64>,
    /// Gaps that have begun: the first instant behind each, and its core.
    gaps: Vec<(i64, Option<NameId>)>,
    /// Cores of which nobody knows since when they are free.
    unsure: BTreeSet<NameId>,
    /// The process that has each core, and since when the core has none.
    pub cores: BTreeMap<NameId, (Option<Key>, i64)>,
    triggers: HashMap<NameId, VecDeque<(i64, Trigger)>>,
}

/// What runs at the end of a recording runs for so long, in ns, after it: it does not end before.
const BEYOND: i64 = 1_000_000;

/// Triggers of one stimulus that can still act.
const TRIGGERS: usize = 64;

impl Observer {
    /// Takes the next event; its time is in ns.
    pub fn event(&mut self, event: &Event, facts: &Facts) {
        let begin = self.span.map_or(event.time, |(begin, _)| begin);
        self.span = Some((begin, event.time.max(begin)));
        self.pass_gaps(event.time);
        if facts.idle.contains(&event.target) || facts.idle.contains(&event.source) {
            return self.idle(event);
        }
        self.find_acting(event);
        match event.target_type {
            EntityType::Stimulus if event.action == Action::Trigger => self.trigger(event),
            EntityType::Task | EntityType::Isr => match event.action {
                Action::Activate | Action::MtaLimitExceeded => self.activate(event),
                action => match process_transition(action) {
                    Some((_, to)) => self.change(event, to),
                    None => self.unused("process"),
                },
            },
            EntityType::Runnable => self.runnable(event),
            EntityType::Signal => self.signal(event),
            EntityType::OsEvent => self.os_event(event),
            EntityType::Semaphore => self.semaphore(event),
            _ => self.unused("other"),
        }
    }

    /// An idle task has the core: nobody does.
    fn idle(&mut self, event: &Event) {
        if event.action == Action::Start || event.action == Action::Resume {
            self.cores.entry(event.source).or_insert((None, event.time));
        }
    }

    fn unused(&mut self, why: &'static str) {
        *self.unused.entry(why).or_default() += 1;
    }

    /// The instance that acts: the source, or what has the core that is the source.
    fn acting(&self, source: NameId, instance: i64) -> Option<Key> {
        let key = (source, instance);
        if self.live.contains_key(&key) {
            return Some(key);
        }
        self.cores.get(&source).and_then(|(running, _)| *running)
    }
}
