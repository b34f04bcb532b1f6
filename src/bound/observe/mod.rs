//! Scheduling events of a recording, in the order of time → what the analysis needs to know. One pass, and
//! memory that grows with the number of processes and the logarithm of the number of events. Not where the
//! events come from, and not what follows from the facts (see `analysis`).

mod cores;
mod live;

use super::facts::{CoreId, Facts, Instants, LockFacts, LockId, LockKind, Process};
use super::order::ProcessId;
use cores::Core;
use live::{Live, State};
use std::collections::{BTreeMap, BTreeSet};

/// An event of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When, in ticks.
    pub time: i64,
    /// To whom it happens: an index of the list that the observer was made with.
    pub process: ProcessId,
    /// What happens.
    pub action: Action,
}

/// What happens to a process; the actions on processes are those of BTF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// An instance is requested.
    Activate,
    /// An instance is requested in vain, as too many are pending (`mtalimitexceeded`).
    Lose,
    /// The first pending instance gets a core for the first time.
    Start(CoreId),
    /// It gets a core again: after a preemption, or after it was released.
    Resume(CoreId),
    /// It loses its core to another process.
    Preempt,
    /// It gives its core up until an event is set.
    Wait,
    /// What it waits for has happened.
    Release,
    /// It spins for a lock.
    Poll,
    /// It has what it spun for.
    Run,
    /// It loses its core while it spins.
    Park,
    /// It gets a core again, and spins on.
    PollParking(CoreId),
    /// The lock that it spun for is free while it has no core.
    ReleaseParking,
    /// The instance ends.
    Terminate,
    /// It has a lock from now on.
    Take(LockId),
    /// It gives a lock back.
    Free(LockId),
}

/// How to observe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Distances of up to so many arrivals are seen exactly; the time for each arrival grows with it.
    pub arrivals: usize,
    /// The recording begins with the start of the system: nothing was activated before its first event.
    pub from_boot: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { arrivals: 64, from_boot: false }
    }
}

/// Takes the events of a recording.
#[derive(Debug)]
pub struct Observer {
    processes: Vec<Live>,
    locks: Vec<LockFacts>,
    cores: BTreeMap<CoreId, Core>,
    options: Options,
    latest: Option<i64>,
    early: u64,
    gaps: u64,
    /// Some processes have no stretch, and those that no gap hides begin one with the next event.
    to_begin: bool,
    /// The first end of the gaps that hide processes.
    next_end: Option<i64>,
}

impl Observer {
    /// Before the first event. Events name processes and locks by their index in these lists.
    pub fn new(processes: Vec<Process>, locks: &[LockKind], options: Options) -> Self {
        let of_lock = |kind: &LockKind| LockFacts { kind: *kind, users: BTreeSet::new() };
        Self {
            processes: processes.into_iter().map(|process| Live::new(process, options.arrivals)).collect(),
            locks: locks.iter().map(of_lock).collect(),
            cores: BTreeMap::new(),
            options,
            latest: None,
            early: 0,
            gaps: 0,
            to_begin: true,
            next_end: None,
        }
    }

    /// The next event, in the order of time. One with an earlier time counts as one at the latest time; one
    /// of an unknown process counts for nothing.
    pub fn event(&mut self, event: &Event) {
        let time = event.time.max(self.latest.unwrap_or(event.time));
        self.early += u64::from(time > event.time);
        if self.next_end.is_some_and(|end| end <= time) {
            self.show(time);
        }
        self.latest = Some(time);
        if std::mem::take(&mut self.to_begin) {
            for live in self.processes.iter_mut().filter(|live| live.hidden_until.is_none()) {
                live.since.get_or_insert(time);
            }
        }
        let id = event.process;
        let Some(live) = self.processes.get(id) else { return };
        if let Some(core) = live.core {
            self.know(core, time);
        }
        match event.action {
            Action::Activate => self.activate(id, time),
            Action::Lose => self.change(id, |live| live.seen.lost += 1),
            Action::Start(core) => self.dispatch(id, core, time, true),
            Action::Resume(core) => self.dispatch(id, core, time, false),
            Action::PollParking(core) => {
                self.dispatch(id, core, time, false);
                self.change(id, |live| live.state = State::Polling);
            }
            Action::Preempt | Action::Park => {
                self.leave(id, time);
                self.change(id, |live| {
                    if !live.instances.is_empty() {
                        live.state = State::Preempted;
                        live.job.ready_at = time;
                    }
                });
                self.join_ready(id, time);
            }
            Action::Wait => {
                self.leave(id, time);
                self.change(id, |live| {
                    if !live.instances.is_empty() {
                        live.end_job(time, true);
                        live.wait();
                    }
                });
            }
            Action::Release => self.release(id, time),
            Action::Poll => self.turn(id, time, State::Running, State::Polling),
            Action::Run => self.turn(id, time, State::Polling, State::Running),
            Action::ReleaseParking => {}
            Action::Terminate => {
                self.leave(id, time);
                self.change(id, |live| {
                    if live.instances.is_empty() {
                        live.seen.incomplete += 1;
                    } else {
                        live.end_instance(time);
                    }
                });
                self.join_ready(id, time);
            }
            Action::Take(lock) => {
                self.count(id, time);
                if let Some(facts) = self.locks.get_mut(lock) {
                    facts.users.insert(id);
                    self.change(id, |live| live.held.push((lock, 0)));
                }
            }
            Action::Free(lock) => {
                self.count(id, time);
                self.change(id, |live| live.release(lock));
            }
        }
    }

    /// The recorder lost events of a core, or of all of them, since the latest event and until a time in
    /// ticks, which is no part of the gap.
    pub fn gap(&mut self, core: Option<CoreId>, end: i64) {
        self.gaps += 1;
        self.cut(core, end);
    }

    /// What was seen, of a recording that ends at this time, in ticks.
    pub fn finish(mut self, end: i64) -> Facts {
        let end = end.max(self.latest.unwrap_or(end));
        for core in self.cores.values_mut() {
            core.account(end, &mut self.processes);
        }
        let mut processes: Vec<_> = self.processes.into_iter().map(|live| live.finish(end)).collect();
        if let Some(first) = processes.first_mut() {
            first.seen.early = first.seen.early.saturating_add(self.early);
        }
        Facts { processes, locks: self.locks, instants: Instants::Rounded, gaps: self.gaps }
    }

    fn cut(&mut self, of: Option<CoreId>, end: i64) {
        let time = self.latest.unwrap_or(end);
        for (id, core) in &mut self.cores {
            if of.is_none_or(|of| of == *id) {
                core.account(time, &mut self.processes);
                core.cut();
            }
        }
        let concerned = |live: &Live| of.is_none() || live.core.is_none() || live.core == of;
        self.forget(time, concerned, |live| Some(end.max(live.hidden_until.unwrap_or(end))));
    }

    /// A gap is over before an event: what is recorded of it does not tell what is open behind it.
    fn show(&mut self, now: i64) {
        let time = self.latest.unwrap_or(now);
        self.forget(time, |live| live.hidden_until.is_some_and(|end| end <= now), |_| None);
    }

    /// Of some processes, nothing that is open can be measured, and they are hidden until another time.
    fn forget(
        &mut self,
        time: i64,
        concerned: impl Fn(&Live) -> bool,
        hidden_until: impl Fn(&Live) -> Option<i64>,
    ) {
        for (id, live) in self.processes.iter_mut().enumerate().filter(|(_, live)| concerned(live)) {
            live.cut(time);
            live.hidden_until = hidden_until(live);
            for core in self.cores.values_mut() {
                core.ready.retain(|ready| *ready != id);
            }
        }
        self.to_begin = true;
        self.next_end = self.processes.iter().filter_map(|live| live.hidden_until).min();
    }

    /// The core, from the first time on that it is heard of.
    fn know(&mut self, core: CoreId, time: i64) {
        let idle = self.options.from_boot && self.gaps == 0;
        self.cores.entry(core).or_insert_with(|| if idle { Core::idle(time) } else { Core::default() });
    }

    fn change(&mut self, id: ProcessId, change: impl FnOnce(&mut Live)) {
        if let Some(live) = self.processes.get_mut(id) {
            change(live);
        }
    }

    /// Whether all that may delay a process from now on is in the recording.
    fn is_whole(&mut self, id: ProcessId, time: i64) -> bool {
        let core = self.processes.get(id).and_then(|live| live.core);
        let Some(core) = core.and_then(|core| self.cores.get_mut(&core)) else { return false };
        core.notice_idle(time);
        core.is_whole(id, &self.processes)
    }

    fn activate(&mut self, id: ProcessId, time: i64) {
        let is_whole = self.is_whole(id, time);
        self.change(id, |live| {
            live.activated(time);
            live.push(time, true, is_whole);
        });
        self.join_ready(id, time);
    }

    fn release(&mut self, id: ProcessId, time: i64) {
        if self.processes.get(id).is_none_or(|live| live.state != State::Waiting) {
            return;
        }
        let is_whole = self.is_whole(id, time);
        self.change(id, |live| {
            live.begin_job(time, is_whole, time);
        });
        self.join_ready(id, time);
    }

    fn dispatch(&mut self, id: ProcessId, core: CoreId, time: i64, starts: bool) {
        self.know(core, time);
        let Some(live) = self.processes.get_mut(id) else { return };
        if live.instances.is_empty() {
            // Without activations in the trace, the start stands for them. It is not known of the first one
            // whether that is so.
            let is_known =
                starts && live.activations.total() == live.seen.unactivated && live.arrivals.total() > 0;
            live.seen.unactivated += 1;
            live.activated(time);
            let is_whole =
                is_known && self.cores.get(&core).is_some_and(|of| of.is_whole(id, &self.processes));
            self.change(id, |live| live.push(time, is_known, is_whole));
        }
        let Some(live) = self.processes.get(id) else { return };
        if let Some(before) = live.core.filter(|before| *before != core)
            && let Some(before) = self.cores.get_mut(&before)
        {
            before.ready.retain(|ready| *ready != id);
            if before.occupant == Some(id) {
                before.account(time, &mut self.processes);
                before.vacate(time);
            }
        }
        if let Some(core_state) = self.cores.get_mut(&core) {
            core_state.dispatch(id, core, time, &mut self.processes);
        }
    }

    /// Counts the time of a process until now.
    fn count(&mut self, id: ProcessId, time: i64) {
        let core = self.processes.get(id).and_then(|live| live.core);
        if let Some(core) = core.and_then(|core| self.cores.get_mut(&core)).filter(|c| c.occupant == Some(id))
        {
            core.account(time, &mut self.processes);
        }
    }

    /// A process has its core no longer.
    fn leave(&mut self, id: ProcessId, time: i64) {
        self.count(id, time);
        let Some(core) = self.processes.get(id).and_then(|live| live.core) else { return };
        let Some(core) = self.cores.get_mut(&core) else { return };
        core.ready.retain(|ready| *ready != id);
        // The first event of a process that had the core before the recording says that it is free.
        let unknown = self.processes.get(id).is_some_and(|live| live.state == State::None);
        if core.occupant == Some(id) || (core.occupant.is_none() && unknown) {
            core.vacate(time);
        }
    }

    fn turn(&mut self, id: ProcessId, time: i64, from: State, to: State) {
        self.count(id, time);
        self.change(id, |live| {
            if live.state == from {
                live.state = to;
            }
        });
    }

    /// A process that can run is known to its core.
    fn join_ready(&mut self, id: ProcessId, time: i64) {
        let Some(live) = self.processes.get(id).filter(|live| live.is_ready()) else { return };
        if let Some(core) = live.core.and_then(|core| self.cores.get_mut(&core)) {
            core.becomes_ready(id, time);
        }
    }
}
