//! The states of the three charts, and the charts of processes and runnables as tables by action, computed from
//! the rules at compile time: `derive` asks for each event. Every action of these two leaves one state only and
//! is the same edge in every version that has it, which a test shows. Not the chart of semaphores, whose
//! actions may leave several states (see [`super::rule`]), and not the state of anything in a trace.

use super::words::words;
use super::{ACTION_RULES, Action, EntityType, EntityTypes};

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

/// For each action the states before and after it.
type Edges = [Option<(State, State)>; Action::ALL.len()];

static PROCESS: Edges = edges(EntityTypes::PROCESS);
static RUNNABLE: Edges = edges(EntityTypes::of(&[EntityType::Runnable]));

const fn edges(targets: EntityTypes) -> Edges {
    let mut edges = [None; Action::ALL.len()];
    let mut n = 0;
    while n < ACTION_RULES.len() {
        let rule = &ACTION_RULES[n];
        if let Some(Transition { from: [from], to }) = rule.moves
            && !rule.targets.and(targets).is_empty()
            && *from as u8 != to as u8
        {
            edges[rule.action as usize] = Some((*from, to));
        }
        n += 1;
    }
    edges
}

/// The states of a process before and after an action. `None` for actions that do not move a process:
/// `mtalimitexceeded` and `interrupt_suspended` are notifications.
pub fn process_transition(action: Action) -> Option<(State, State)> {
    PROCESS.get(action as usize).copied().flatten()
}

/// The states of a runnable before and after an action; `None` for actions that do not move a runnable.
pub fn runnable_transition(action: Action) -> Option<(State, State)> {
    RUNNABLE.get(action as usize).copied().flatten()
}
