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
    /// The states of a process (2.1.5: table 6; since 2.2.0: table 2-10).
    pub const PROCESS: &'static [Self] = &[
        Self::Active,
        Self::Running,
        Self::Ready,
        Self::Waiting,
        Self::Polling,
        Self::Parking,
        Self::Terminated,
    ];

    /// The states of a runnable (2.1.5: table 10; since 2.2.0: table 2-25).
    pub const RUNNABLE: &'static [Self] = &[Self::Running, Self::Suspended, Self::Terminated];

    /// The states of a semaphore (2.1.5: table 19; since 2.2.0 without the first: table 2-37).
    pub const SEMAPHORE: &'static [Self] =
        &[Self::NotInitialized, Self::Free, Self::Used, Self::Full, Self::Overfull];

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
