//! System events to instances: the tables `process_instance`, `process_state` and `runnable_instance` from
//! BTF events in time order, mapped or read from a file. Needs no software events and no files.

mod freertos;
mod occupants;
mod processes;
mod records;
mod runnables;
mod step;

use crate::btf::{EntityType, Event, NameId, Names};
use crate::schema::{ProcessInstanceRows, ProcessStateRows, RunnableInstanceRows};
use occupants::Occupants;
use processes::Processes;
use runnables::Runnables;

pub use records::{Dialect, FromRecords};

/// Rows that are ready to be written.
#[derive(Debug, Default)]
pub struct Rows {
    /// Ended instances of tasks and ISRs, in the order of their ends.
    pub instances: ProcessInstanceRows,
    /// Ended spans of one state, in the order of their ends.
    pub states: ProcessStateRows,
    /// Ended runnable instances, in the order of their ends.
    pub runnables: RunnableInstanceRows,
}

/// What a trace does that no system can do, counted; 0 for a correct trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Violations {
    /// Process actions that are not allowed in the current state.
    pub process: u64,
    /// Runnable actions that are not allowed in the current state.
    pub runnable: u64,
    /// Processes that ran on a core on which another one was running, which was not preempted.
    pub occupied: u64,
    /// Instances without an end, although a later instance of their process started.
    pub endless: u64,
}

impl Violations {
    /// Adds those of another part of the trace.
    pub fn add(&mut self, other: Self) {
        self.process += other.process;
        self.runnable += other.runnable;
        self.occupied += other.occupied;
        self.endless += other.endless;
    }

    /// What they mean for results: codes and messages of findings.
    pub fn doubts(&self) -> Vec<(&'static str, String)> {
        let chart = self.process + self.runnable;
        let all = [
            (
                chart,
                "illegal-transition",
                format!(
                    "{} process and {} runnable events break the state charts; 'btfdb check' names the places",
                    self.process, self.runnable
                ),
            ),
            (
                self.occupied,
                "core-occupied",
                format!(
                    "{} times a process runs on a core on which another one runs: that one is taken for preempted until \
                 the core is free again; 'btfdb check' names the places",
                    self.occupied
                ),
            ),
            (
                self.endless,
                "instance-without-end",
                format!(
                    "{} instances do not end, although the next one of their process starts: SELECT * FROM \
                 process_instance WHERE terminate_at IS NULL",
                    self.endless
                ),
            ),
        ];
        all.into_iter().filter(|(count, ..)| *count > 0).map(|(_, code, message)| (code, message)).collect()
    }
}

/// The state of all open instances. An instance whose first event is not its activation existed before the
/// trace began: from `begin` on, it was in the state in which its first action is allowed.
#[derive(Debug)]
pub struct Derive {
    processes: Processes,
    runnables: Runnables,
    /// The rows made so far; the caller may take them at any time.
    pub rows: Rows,
}

impl Derive {
    /// `begin`: the first instant of the recording, in ticks.
    pub fn new(begin: i64) -> Self {
        Self { processes: Processes::new(begin), runnables: Runnables::new(begin), rows: Rows::default() }
    }

    /// The same for a trace that may omit activations: a first event `start` does not imply an earlier state.
    pub fn of_foreign_trace(begin: i64) -> Self {
        let mut derive = Self::new(begin);
        derive.processes.starts_are_activations = true;
        derive.processes.occupants = Some(Occupants::default());
        derive
    }

    pub fn event(&mut self, event: &Event, names: &Names) {
        match event.target_type {
            EntityType::Task | EntityType::Isr => {
                self.processes.event(event, names, &mut self.rows);
            }
            EntityType::Runnable => {
                self.runnables.event(event, names, &self.processes, &mut self.rows.runnables)
            }
            _ => {}
        }
    }

    /// The trace of `core` has a gap `[begin, end)`: what was open there is cut off and stays incomplete.
    pub fn gap(&mut self, core: NameId, begin: i64, end: i64, names: &Names) {
        self.runnables.gap(core, begin, names, &mut self.rows.runnables);
        self.processes.gap(core, begin, end, names, &mut self.rows);
    }

    /// Writes what is still open at `end`, as incomplete instances in the order of their first events.
    pub fn finish(&mut self, end: i64, names: &Names) -> Violations {
        self.processes.finish(end, names, &mut self.rows);
        self.runnables.finish(end, names, &mut self.rows.runnables);
        Violations { runnable: self.runnables.violations, ..self.processes.violations }
    }
}

#[cfg(test)]
mod tests;
