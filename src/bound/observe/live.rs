//! A process while it is observed: its pending instances, its current job, and what was seen so far. Not the
//! cores (see `cores`), and not which event means what (see `mod`).

use crate::bound::distances::Distances;
use crate::bound::facts::{CoreId, Job, LockId, Process, ProcessFacts, Seen};
use crate::bound::order::ProcessId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Instances that wait for their end; more are a trace without
/// terminations, and count as incomplete.
const MOST_PENDING: usize = 1024;
/// Sums of the costs of so many consecutive jobs are seen.
const DEMAND: usize = 32;

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum State {
    /// No instance, as far as is known.
    #[default]
    None,
    /// Activated or released, and not yet on its core.
    Ready,
    /// It was on its core, and another process has that now.
    Preempted,
    Running,
    /// It has its core, and spins for a lock.
    Polling,
    Waiting,
}

/// An instance from its activation to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instance {
    pub activated: i64,
    /// Its activation is known, and no gap is in it.
    pub is_known: bool,
    /// All that may delay its first job is in the recording.
    pub is_whole: bool,
    /// Its arrival is when the instance before it ends, as that one waits for events.
    pub is_deferred: bool,
}

/// The job of the first pending instance.
#[derive(Debug, Clone, Default)]
pub(super) struct Current {
    pub arrival: i64,
    pub is_whole: bool,
    /// Since when it could run, while it is ready or preempted.
    pub ready_at: i64,
    pub was_on_core: bool,
    pub cost: i64,
    pub spinning: i64,
    pub inversion: i64,
    pub inversions: BTreeMap<ProcessId, i64>,
    pub cores: BTreeSet<CoreId>,
}

#[derive(Debug)]
pub(super) struct Live {
    pub process: Process,
    pub activations: Distances,
    pub arrivals: Distances,
    pub instances: VecDeque<Instance>,
    pub state: State,
    pub job: Current,
    /// Where it is, or where it was last.
    pub core: Option<CoreId>,
    /// Locks that it holds, and for how long it had its core with each.
    pub held: Vec<(LockId, i64)>,
    /// Processes that were ready before it started, and have a higher priority.
    pub overtakes: Vec<ProcessId>,
    /// The begin of the stretch without loss, from its first event on, and the longest earlier one.
    pub since: Option<i64>,
    longest: i64,
    /// The end of a gap that may hide some of its events: what arrives before is no part of any stretch.
    pub hidden_until: Option<i64>,
    cores: BTreeSet<CoreId>,
    least: Option<i64>,
    most: i64,
    /// The costs of the latest jobs, the latest one last, and the greatest sums of consecutive ones.
    costs: VecDeque<i64>,
    demand: Vec<i64>,
    spinning: i64,
    sections: BTreeMap<LockId, i64>,
    pub start_switch: i64,
    pub resume_switch: i64,
    pub seen: Seen,
}

impl Live {
    pub fn new(process: Process, most: usize) -> Self {
        Self {
            core: process.core,
            process,
            activations: Distances::new(most),
            arrivals: Distances::new(most),
            instances: VecDeque::new(),
            state: State::None,
            job: Current::default(),
            held: Vec::new(),
            overtakes: Vec::new(),
            since: None,
            longest: 0,
            hidden_until: None,
            cores: BTreeSet::new(),
            least: None,
            most: 0,
            costs: VecDeque::with_capacity(DEMAND),
            demand: Vec::new(),
            spinning: 0,
            sections: BTreeMap::new(),
            start_switch: 0,
            resume_switch: 0,
            seen: Seen::default(),
        }
    }

    /// Whether it could run, and does not.
    pub fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready | State::Preempted)
    }

    /// An activation.
    pub fn activated(&mut self, time: i64) {
        if self.hidden_until.is_some() { self.activations.pass() } else { self.activations.push(time) }
    }

    /// A job arrives.
    fn arrives(&mut self, time: i64) {
        if self.hidden_until.is_some() { self.arrivals.pass() } else { self.arrivals.push(time) }
    }

    /// An instance; its first job arrives if there is none before it.
    pub fn push(&mut self, time: i64, is_known: bool, is_whole: bool) {
        if self.instances.len() >= MOST_PENDING {
            self.seen.incomplete += 1;
            return;
        }
        self.instances.push_back(Instance { activated: time, is_known, is_whole, is_deferred: false });
        self.seen.pending = self.seen.pending.max(self.instances.len() as u64);
        if self.instances.len() == 1 {
            self.begin_job(time, is_whole, time);
        } else if self.seen.waits > 0 {
            self.defer();
        }
    }

    /// A job of the first instance arrived, and can run from `ready_at` on.
    pub fn begin_job(&mut self, arrival: i64, is_whole: bool, ready_at: i64) {
        self.arrives(arrival);
        self.job = Current { arrival, is_whole, ready_at, ..Current::default() };
        self.state = State::Ready;
    }

    /// The instances behind the first one arrive when they become the first one: that one waits, and they
    /// cannot start before its end, whatever is ready.
    fn defer(&mut self) {
        for instance in self.instances.iter_mut().skip(1) {
            instance.is_deferred = true;
        }
    }

    /// It had its core for so long.
    pub fn ran(&mut self, ticks: i64) {
        self.job.cost = self.job.cost.saturating_add(ticks);
        if self.state == State::Polling {
            self.job.spinning = self.job.spinning.saturating_add(ticks);
        }
        for (_, held) in &mut self.held {
            *held = held.saturating_add(ticks);
        }
    }

    /// It was ready while a process of lower priority had the core.
    pub fn was_passed(&mut self, by: ProcessId, ticks: i64) {
        self.job.inversion = self.job.inversion.saturating_add(ticks);
        let of = self.job.inversions.entry(by).or_default();
        *of = of.saturating_add(ticks);
    }

    /// A lock is released, or the rest of its section is lost.
    pub fn release(&mut self, lock: LockId) {
        if let Some(place) = self.held.iter().rposition(|(held, _)| *held == lock) {
            let (_, ticks) = self.held.remove(place);
            let longest = self.sections.entry(lock).or_default();
            *longest = ticks.max(*longest);
        }
    }

    /// The current job ends; what is known of an incomplete one is a lower bound.
    pub fn end_job(&mut self, time: i64, complete: bool) {
        let job = std::mem::take(&mut self.job);
        self.most = self.most.max(job.cost);
        self.add_cost(job.cost);
        self.spinning = self.spinning.max(job.spinning);
        self.seen.inversion = self.seen.inversion.max(job.inversion);
        for (by, ticks) in job.inversions {
            let longest = self.seen.inversions.entry(by).or_default();
            *longest = ticks.max(*longest);
        }
        if job.cores.len() > 1 {
            self.seen.migrations += 1;
        }
        let is_known = self.instances.front().is_some_and(|instance| instance.is_known);
        if !complete || !is_known {
            self.seen.incomplete += 1;
            return;
        }
        self.seen.jobs += 1;
        self.least = Some(self.least.map_or(job.cost, |least| least.min(job.cost)));
        let ended = Job { arrival: job.arrival, end: time, cost: job.cost, inversion: job.inversion };
        let worst = if job.is_whole { &mut self.seen.worst } else { &mut self.seen.worst_cut };
        if worst.is_none_or(|worst| worst.response() < ended.response()) {
            *worst = Some(ended);
        }
    }

    fn add_cost(&mut self, cost: i64) {
        if self.costs.len() == DEMAND {
            self.costs.pop_front();
        }
        self.costs.push_back(cost);
        let mut sum = 0i64;
        for (jobs, cost) in self.costs.iter().rev().enumerate() {
            sum = sum.saturating_add(*cost);
            match self.demand.get_mut(jobs) {
                Some(most) => *most = sum.max(*most),
                None => self.demand.push(sum),
            }
        }
    }

    /// The first instance waits.
    pub fn wait(&mut self) {
        self.state = State::Waiting;
        self.seen.waits += 1;
        self.defer();
    }

    /// The first instance ends with its job, and the next one follows.
    pub fn end_instance(&mut self, time: i64) {
        self.end_job(time, true);
        while let Some((lock, _)) = self.held.last().copied() {
            self.release(lock);
        }
        if let Some(instance) = self.instances.pop_front().filter(|instance| instance.is_known) {
            let response = time.saturating_sub(instance.activated);
            self.seen.worst_instance = Some(self.seen.worst_instance.map_or(response, |w| w.max(response)));
        }
        self.state = State::None;
        if let Some(next) = self.instances.front().copied() {
            let arrival = if next.is_deferred { time } else { next.activated };
            self.begin_job(arrival, next.is_whole, time);
        }
    }

    /// Events were lost: nothing of what is open can be measured.
    pub fn cut(&mut self, time: i64) {
        if !self.instances.is_empty() {
            self.seen.incomplete += self.instances.len() as u64 - 1;
            self.end_job(time, false);
        }
        let pending = std::mem::take(&mut self.instances);
        for instance in pending.iter().skip(1).filter(|instance| !instance.is_deferred) {
            self.arrives(instance.activated);
        }
        while let Some((lock, _)) = self.held.last().copied() {
            self.release(lock);
        }
        self.overtakes.clear();
        self.state = State::None;
        self.costs.clear();
        self.activations.cut();
        self.arrivals.cut();
        if let Some(since) = self.since.take() {
            self.longest = self.longest.max(time.saturating_sub(since));
        }
    }

    pub fn took_core(&mut self, core: CoreId) {
        self.cores.insert(core);
        self.job.cores.insert(core);
        self.core = Some(core);
        self.job.was_on_core = true;
        self.state = State::Running;
    }

    pub fn finish(mut self, end: i64) -> ProcessFacts {
        self.cut(end);
        self.seen.early = self.activations.early();
        if self.cores.is_empty() {
            self.cores.extend(self.process.core);
        }
        ProcessFacts {
            cores: self.cores,
            activations: self.activations.curve(self.longest),
            arrivals: self.arrivals.curve(self.longest),
            least: self.least,
            most: self.most,
            // Jobs of one task are alike. Parts between waits are not: a short one follows a long one.
            demand: if self.seen.waits > 0 { self.demand } else { Vec::new() },
            spinning: self.spinning,
            sections: self.sections,
            start_switch: self.start_switch,
            resume_switch: self.resume_switch,
            seen: self.seen,
            process: self.process,
        }
    }
}
