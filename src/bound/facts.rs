//! What the analysis knows of a system: its processes, when they arrive, how long they execute, what they
//! hold, and what was measured. From a recording (see `observe`), or filled in by hand from a timing model.
//! Not what follows from it (see `analysis`).

use super::curve::Curve;
use super::order::{Order, Place, ProcessId};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A core: any number that names it.
pub type CoreId = usize;
/// A resource or spinlock: an index of the list that the observer was made with.
pub type LockId = usize;

/// What a process is. An ISR goes before all tasks of its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Scheduled by the operating system.
    Task,
    /// An interrupt service routine.
    Isr,
}

/// Who may take the core from a process that has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preemption {
    /// Each process with a higher priority: a task with `SCHEDULE = FULL`, an ISR that nests.
    Full,
    /// No process of the same kind: a task with `SCHEDULE = NON`, which only ISRs interrupt, or an ISR that
    /// no other one interrupts.
    Never,
    /// Processes with a priority above this one, such as the ceiling of the internal resource of a group.
    Above(u32),
    /// Nothing says it; taken as [`Preemption::Full`].
    Unknown,
}

/// What is said about a process before anything is observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Task or ISR.
    pub kind: Kind,
    /// A higher number goes first among those of the same kind. Without one, and without a place that says
    /// it, it is taken to interfere with all, and all with it.
    pub priority: Option<u32>,
    /// Who may take the core from it.
    pub preemption: Preemption,
    /// Its core, if that is known; else the one on which it is seen.
    pub core: Option<CoreId>,
    /// Its place among all, for what priorities do not say.
    pub place: Option<Place>,
}

impl Process {
    /// How the priority of a process compares to that of another one; `None` if that is unknown.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match self.kind.cmp(&other.kind) {
            Ordering::Equal => match (self.priority, other.priority) {
                (Some(own), Some(other)) => Some(own.cmp(&other)),
                _ => self.seen_order(other),
            },
            unequal => Some(unequal),
        }
    }

    /// How it compares to another one whose priority, or its own, is not described.
    fn seen_order(&self, other: &Self) -> Option<Ordering> {
        let (own, other) = (self.place.as_ref()?, other.place.as_ref()?);
        own.order.compare(own.process, other.process)
    }

    /// Whether it can take the core from another one that has started and is preemptable, or is to be taken
    /// so.
    pub(super) fn takes_from(&self, other: &Self, preemption: Preemption) -> bool {
        let above_kind = self.kind > other.kind;
        match preemption {
            Preemption::Never => above_kind,
            Preemption::Above(threshold) if self.kind == other.kind => {
                self.priority.is_none_or(|priority| priority > threshold)
            }
            _ => above_kind || self.compare(other).is_none_or(|order| order == Ordering::Greater),
        }
    }
}

/// What a lock does to the scheduling of its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockKind {
    /// A resource with an immediate ceiling: who holds it has the highest priority of its users.
    Ceiling,
    /// A spinlock: who waits for it keeps its core, and who holds it has no other priority.
    Spin,
}

/// How often, and how long, something of a process was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessFacts {
    /// What was said about it.
    pub process: Process,
    /// The cores on which it ran.
    pub cores: BTreeSet<CoreId>,
    /// Activations of instances, without those that were lost.
    pub activations: Curve,
    /// Arrivals of jobs. A job is an instance; of a process that waits for events, each part of an instance
    /// from the activation, or the end of a wait, to the next wait or the end.
    pub arrivals: Curve,
    /// The least time in ticks that a complete job had its core.
    pub least: Option<i64>,
    /// The greatest one, also of incomplete jobs. Time spent spinning for a lock is part of it.
    pub most: i64,
    /// The greatest time in ticks that one, two, three … consecutive jobs had their core. Empty: as many
    /// times [`ProcessFacts::most`]. An observer fills it for processes that wait, whose jobs are different
    /// parts.
    pub demand: Vec<i64>,
    /// The greatest part of a job in ticks that was spent spinning for a lock.
    pub spinning: i64,
    /// Per lock: the greatest time in ticks that the process had its core while it held the lock.
    pub sections: BTreeMap<LockId, i64>,
    /// The longest time in ticks in which the core ran no process although one was ready, right before a job
    /// of this process ran first: the switch to it.
    pub start_switch: i64,
    /// The same, right before it went on after another process had taken its core.
    pub resume_switch: i64,
    /// What was seen of its jobs.
    pub seen: Seen,
}

/// What was seen of the jobs of a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The slowest complete job of those before which its core was seen without work of its priority or a
    /// higher one, so that all that delayed it is in the recording.
    pub worst: Option<Job>,
    /// The slowest complete job of the others.
    pub worst_cut: Option<Job>,
    /// The longest time in ticks from the activation to the end of a complete instance, waits included.
    pub worst_instance: Option<i64>,
    /// Complete jobs, all of them measured.
    pub jobs: u64,
    /// Jobs that a gap, the begin or the end of the recording cut.
    pub incomplete: u64,
    /// Lost activations: the limit of pending ones was reached.
    pub lost: u64,
    /// The greatest number of pending instances, the current one included.
    pub pending: u64,
    /// How often it waited for an event.
    pub waits: u64,
    /// Jobs that ran on several cores.
    pub migrations: u64,
    /// Instances that started without an activation in the recording.
    pub unactivated: u64,
    /// How often another task ran while it was preempted.
    pub yields: u64,
    /// Per process of lower priority: the longest time in ticks that it ran while one job of this process was
    /// ready.
    pub inversions: BTreeMap<ProcessId, i64>,
    /// The longest time in ticks that processes of lower priority ran while one job of this process was
    /// ready.
    pub inversion: i64,
    /// Per process of lower priority: how often it started although this process had been ready before the
    /// core was free.
    pub overtaken: BTreeMap<ProcessId, u64>,
    /// Processes of its kind from which it took the core, or which it passed although they had been ready for
    /// longer: it has a higher priority.
    pub passed: BTreeSet<ProcessId>,
    /// Processes of its kind that had started and had lost the core when it went on: they have no higher
    /// priority, or the scheduler shares time.
    pub resumed_over: BTreeSet<ProcessId>,
    /// Events that came with a time before that of the one before them.
    pub early: u64,
}

/// A complete job. Times are in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// When it arrived.
    pub arrival: i64,
    /// When it ended.
    pub end: i64,
    /// How long it had its core.
    pub cost: i64,
    /// How long processes of lower priority ran while it was ready.
    pub inversion: i64,
}

impl Job {
    /// From its arrival to its end, in ticks.
    pub fn response(&self) -> i64 {
        self.end.saturating_sub(self.arrival)
    }
}

impl ProcessFacts {
    /// A process of a model: when it arrives, and how long it executes at most. Nothing of it was seen.
    pub fn of_model(process: Process, arrivals: Curve, most: i64) -> Self {
        let cores = process.core.into_iter().collect();
        Self {
            process,
            cores,
            activations: arrivals.clone(),
            arrivals,
            least: None,
            most: most.max(0),
            demand: Vec::new(),
            spinning: 0,
            sections: BTreeMap::new(),
            start_switch: 0,
            resume_switch: 0,
            seen: Seen::default(),
        }
    }

    /// The greatest time in ticks that so many consecutive jobs need; more than were seen in a row need no
    /// more than their parts.
    pub(super) fn work(&self, jobs: u64) -> i128 {
        let known = self.demand.len() as u64;
        let Some(all) = self.demand.last() else { return i128::from(jobs) * i128::from(self.most) };
        let rest = usize::try_from(jobs % known).ok().and_then(|rest| rest.checked_sub(1));
        let rest = rest.and_then(|rest| self.demand.get(rest)).copied().unwrap_or(0);
        i128::from(jobs / known) * i128::from(*all) + i128::from(rest)
    }

    /// Whether it has, or had, work on a core.
    pub(super) fn is_on(&self, core: CoreId) -> bool {
        self.cores.contains(&core)
    }
}

/// How events of one instant are to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Instants {
    /// Times are rounded to ticks, and the order within a tick may be any: a process that arrives in the tick
    /// in which another one ends may delay it, and one that started in the tick of an arrival blocks it for
    /// all its time. This is right for recordings.
    #[default]
    Rounded,
    /// Times are exact: what ends is not delayed by what arrives at its end, and what blocks has started at
    /// least a tick before. This gives the numbers of the literature.
    Exact,
}

/// All that the analysis needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The processes; their index is their [`ProcessId`].
    pub processes: Vec<ProcessFacts>,
    /// The kind of each lock, and the processes that take it.
    pub locks: Vec<LockFacts>,
    /// How events of one instant are to be taken.
    pub instants: Instants,
    /// Gaps of the recording, of all cores.
    pub gaps: u64,
}

impl Facts {
    /// Who goes before whom, as far as it was seen.
    pub fn order(&self) -> Option<Arc<Order>> {
        // Where the one that was passed goes on before the one that passed it, there is no order of the two:
        // a scheduler that shares time starts each of them at some moment.
        let goes_on = |low: &ProcessId, high: &ProcessId| {
            self.processes.get(*low).is_some_and(|low| low.seen.resumed_over.contains(high))
        };
        let passed = self.processes.iter().enumerate().map(|(high, process)| {
            process.seen.passed.iter().copied().filter(|low| !goes_on(low, &high)).collect()
        });
        Order::seen(&passed.collect::<Vec<_>>())
    }
}

/// A lock and who takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockFacts {
    /// Resource or spinlock.
    pub kind: LockKind,
    /// Who was seen with it, or may take it.
    pub users: BTreeSet<ProcessId>,
}
