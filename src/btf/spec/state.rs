//! The states of the three charts, and one edge of a chart. Not the state of anything in a trace.

use super::words::words;

words! {
    /// A state of a process, a runnable or a semaphore. The charts share words, not edges.
    State {
        /// Process: activated, not started.
        Active = "active",
        /// Process: on a core. Runnable: executing.
        Running = "running",
        /// Process: off the core, could run.
        Ready = "ready",
        /// Process: off the core, waits for an OS event.
        Waiting = "waiting",
        /// Process: on the core, waits for a resource.
        Polling = "polling",
        /// Process: off the core, waits for a resource.
        Parking = "parking",
        /// Runnable: its process is off the core.
        Suspended = "suspended",
        /// Process, runnable: ended, or not yet begun.
        Terminated = "terminated",
        /// Semaphore: before `ready`.
        NotInitialized = "not initialized",
        /// Semaphore: no user.
        Free = "free",
        /// Semaphore: users, and room for more.
        Used = "used",
        /// Semaphore: no room for more users.
        Full = "full",
        /// Semaphore: no room, and at least one process waits.
        Overfull = "overfull",
    }
}

impl State {
    /// True for the process states that occupy a core.
    pub fn on_core(self) -> bool {
        matches!(self, Self::Running | Self::Polling)
    }
}

/// The edges of a chart that one action stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// States in which the action may happen.
    pub from: &'static [State],
    /// The state after it.
    pub to: State,
}
