//! System events to instances: the tables `process_instance`, `process_state` and `runnable_instance` from
//! BTF events in time order, mapped or read from a file. Needs no software events and no files.

mod freertos;
mod processes;
mod records;
mod runnables;
mod step;

use crate::btf::{EntityType, Event, NameId, Names};
use crate::schema::{ProcessInstanceRows, ProcessStateRows, RunnableInstanceRows};
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

/// The number of events that violate a state chart of BTF; 0 for a correct trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Violations {
    /// Process actions that are not allowed in the current state.
    pub process: u64,
    /// Runnable actions that are not allowed in the current state.
    pub runnable: u64,
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
        Violations { process: self.processes.violations, runnable: self.runnables.violations }
    }
}

#[cfg(test)]
mod tests;
