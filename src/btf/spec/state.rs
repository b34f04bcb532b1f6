//! The states of the three charts, and one edge of a chart. Not the state of anything in a trace.

/// A state of a process, a runnable or a semaphore. The charts share words, not edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Process: activated, not started.
    Active,
    /// Process: on a core. Runnable: executing.
    Running,
    /// Process: off the core, could run.
    Ready,
    /// Process: off the core, waits for an OS event.
    Waiting,
    /// Process: on the core, waits for a resource.
    Polling,
    /// Process: off the core, waits for a resource.
    Parking,
    /// Runnable: its process is off the core.
    Suspended,
    /// Process, runnable: ended, or not yet begun.
    Terminated,
    /// Semaphore: before `ready`.
    NotInitialized,
    /// Semaphore: no user.
    Free,
    /// Semaphore: users, and room for more.
    Used,
    /// Semaphore: no room for more users.
    Full,
    /// Semaphore: no room, and somebody waits.
    Overfull,
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

    /// The word for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Polling => "polling",
            Self::Parking => "parking",
            Self::Suspended => "suspended",
            Self::Terminated => "terminated",
            Self::NotInitialized => "not initialized",
            Self::Free => "free",
            Self::Used => "used",
            Self::Full => "full",
            Self::Overfull => "overfull",
        }
    }

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
