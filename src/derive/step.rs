//! An event of `btf_event`, and the number of its instance if the trace has none. Not what the event does to
//! the instance (see `processes` and `runnables`).

use crate::btf::spec::{process_transition, runnable_transition};
use crate::btf::{Action, EntityType, NameId};
use crate::names::IdMap;
use std::collections::VecDeque;

/// An event of a process or runnable, before its instance is known.
pub(super) struct Step {
    pub kind: EntityType,
    pub source: NameId,
    pub target: NameId,
    pub action: Action,
}

pub(super) fn concerns_instances(kind: EntityType, action: Action) -> bool {
    match kind {
        EntityType::Runnable => runnable_transition(action).is_some(),
        _ => process_transition(action).is_some() || action == Action::MtaLimitExceeded,
    }
}

/// Runnables nested deeper in one process have ended, although no event says so.
pub(super) const MAX_DEPTH: usize = 256;

/// Numbers the instances of entities that have no numbers in the trace.
#[derive(Debug, Default)]
pub(super) struct Instances {
    processes: IdMap<NameId, Process>,
    /// The next number of each runnable.
    runnables: IdMap<NameId, i64>,
    /// What each process calls, innermost last: the instance of the process, the runnable, and its number.
    calls: IdMap<NameId, VecDeque<(i64, NameId, i64)>>,
}

/// The instances of a process. Of those that are activated, the first one is the first to start, as in OSEK.
#[derive(Debug, Default)]
struct Process {
    next: i64,
    /// Activated and not started, oldest first.
    pending: VecDeque<i64>,
    /// The one that has acted last, and whether it has not ended.
    latest: Option<i64>,
    is_open: bool,
    /// The core that it was on last.
    core: Option<NameId>,
    /// A gap may hide the end of the latest one.
    lost: bool,
}

impl Process {
    fn begin(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }

    fn of_event(&mut self, step: &Step) -> i64 {
        match step.action {
            // A lost activation takes a number, too.
            Action::MtaLimitExceeded => return self.begin(),
            Action::Activate => {
                let number = self.begin();
                self.pending.push_back(number);
                return number;
            }
            _ => {}
        }
        let starts = step.action == Action::Start;
        let goes_on = self.latest.filter(|_| self.is_open && !(starts && self.lost));
        let waiting = if starts || goes_on.is_none() { self.pending.pop_front() } else { None };
        let number = waiting.or(goes_on).unwrap_or_else(|| self.begin());
        (self.latest, self.is_open) = (Some(number), step.action != Action::Terminate);
        (self.core, self.lost) = (Some(step.source), false);
        number
    }
}

impl Instances {
    /// The instance of a process that calls a runnable; 0 before the first event of the process. The event
    /// that starts the process may come after it.
    pub fn of_caller(&self, step: &Step) -> i64 {
        let Some(process) = self.processes.get(&step.source) else { return 0 };
        let waiting = process.pending.front().filter(|_| !process.is_open && step.action == Action::Start);
        waiting.copied().or(process.latest).unwrap_or(0)
    }

    /// The instance of an event of a process.
    pub fn of_process(&mut self, step: &Step) -> i64 {
        self.processes.entry(step.target).or_default().of_event(step)
    }

    /// The instance of an event of a runnable, which an instance of its process calls: the innermost one.
    pub fn of_runnable(&mut self, step: &Step, caller: i64) -> i64 {
        let calls = self.calls.entry(step.source).or_default();
        let is_it = |call: &(i64, NameId, i64)| (call.0, call.1) == (caller, step.target);
        let place = calls.iter().rposition(is_it).filter(|_| step.action != Action::Start);
        if let Some(number) = place.and_then(|place| calls.get(place)).map(|call| call.2) {
            if step.action == Action::Terminate {
                place.and_then(|place| calls.remove(place));
            }
            return number;
        }
        let next = self.runnables.entry(step.target).or_insert(0);
        let number = *next;
        *next += 1;
        if step.action != Action::Terminate {
            if calls.len() >= MAX_DEPTH {
                calls.pop_front();
            }
            calls.push_back((caller, step.target, number));
        }
        number
    }

    /// The trace has a gap, of a core or of all: what was activated may start and end in it.
    pub fn gap(&mut self, core: Option<NameId>) {
        for process in self.processes.values_mut() {
            if core.is_none() || process.core.is_none_or(|of_process| Some(of_process) == core) {
                process.pending.clear();
                process.lost = true;
            }
        }
    }
}
