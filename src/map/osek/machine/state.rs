//! The data of the state machine: cores, tasks, ISR frames, semaphores, pending stimuli. Not the rules.

pub(super) use crate::btf::Actor;
use crate::btf::{NameId, State as ProcessState};
use crate::map::osek::model::{OsState, Service};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// A process that occupies or may occupy a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proc {
    /// The head instance of a task.
    Task(usize),
    /// An ISR frame: (core, depth from the bottom of the stack).
    Isr(usize, usize),
}

/// The data of one running process, which ends with it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Context {
    /// Services entered and not left, oldest first. The exit comes after a preempting task has run, so this
    /// is kept per process, not per core (rule C2).
    pub services: Vec<OpenCall>,
    /// TerminateTask or ChainTask was entered, without an error since (rules T6, T8).
    pub ending: bool,
    /// A LASTERROR was written since the last service entry.
    pub failed: bool,
    /// Semaphores refused once in this running interval (rule P1).
    pub refused: Vec<usize>,
    /// It may have polled before an edge, and may still do (rule L8).
    #[serde(default)]
    pub may_poll: bool,
    /// The semaphore for which this process is a registered waiter, also while parking and READY (rule P5).
    pub waits_for: Option<usize>,
    /// The resource whose lock was accessed last (rule P6).
    pub touched: Option<usize>,
    /// Open runnables, outermost first.
    pub runnables: Vec<Actor>,
}

impl Context {
    pub fn inside(&self, service: Service) -> bool {
        self.services.iter().any(|call| call.service == service)
    }
}

/// A call of a service that was entered and not left.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenCall {
    /// The number of the service in the ORTI file.
    pub id: i64,
    pub service: Service,
    /// The core on which it was entered.
    pub core: usize,
    pub enter_at: i64,
    /// How many calls of the process were open.
    pub depth: i64,
    pub error: Option<NameId>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instance {
    pub number: i64,
    #[serde(with = "process_state")]
    pub state: ProcessState,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub name: NameId,
    /// The core of the running or last run. Only an OS of several cores moves a task (rule T13).
    pub core: usize,
    pub next_instance: i64,
    /// Active instances; the head is the one that executes (OSEK: first activated, first served).
    pub queue: VecDeque<Instance>,
    pub os: Option<OsState>,
    pub activations: Option<i64>,
    /// Activations derived from STATE that CURRENTACTIVATIONS may still report (rule A11).
    pub unreported: i64,
    pub context: Context,
    /// Not seen since a gap: its next state is accepted without a transition (rule L6).
    pub lost: bool,
    /// A gap may have hidden the end of an instance, so that one behind the head may be the head (rule H3).
    #[serde(default)]
    pub head_unknown: bool,
    /// Rule L4: READY at the left edge because it was activated, not because it was preempted.
    pub never_ran: bool,
}

impl Task {
    pub fn new(name: NameId, core: usize) -> Self {
        Self { name, core, ..Self::default() }
    }
}

/// An ISR on a core's stack.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Frame {
    pub name: NameId,
    pub number: i64,
    /// The process that it is in derived tables (rule I9).
    pub process: Actor,
    #[serde(with = "process_state")]
    pub state: ProcessState,
    /// Not managed by the OS: known from the function trace.
    pub category1: bool,
    /// Value of RUNNINGISR2 for category 2.
    pub value: i64,
    pub context: Context,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Core {
    pub name: NameId,
    /// ISR stack, bottom first (thesis, figure 4.3).
    pub isrs: Vec<Frame>,
    /// The task that the OS reports as running, also while an ISR has the core.
    pub running: Option<usize>,
    /// A task that the OS set to RUNNING before the old one left.
    pub incoming: Option<usize>,
    /// State changes from or to RUNNING that were written while an ISR had the core: task, old and new state.
    pub deferred: Vec<(usize, Option<OsState>, OsState)>,
    /// An ISR that nothing names has the core since its edge (rule L3): who runs below it was not said.
    pub is_taken: bool,
    /// Last value of RUNNINGISR2.
    pub isr_value: Option<i64>,
    /// Last value of RUNNINGTASK.
    pub task_value: Option<i64>,
    /// The previous data access: (slot, was a read); `None` if its variable has no role.
    #[serde(skip)]
    pub previous: Option<(usize, bool)>,
    /// An expired SETEVENT alarm whose event has not been set (rule E3).
    pub alarm_event: Option<Actor>,
    /// The core whose call it serves, as the OS tells (rule A9).
    pub serves: Option<usize>,
    /// Code outside of every process: main(), the idle loop.
    pub idle: Context,
}

impl Core {
    pub fn new(name: NameId) -> Self {
        Self { name, ..Self::default() }
    }
}

/// A stimulus that has fired and not activated anything yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pending {
    pub stimulus: Actor,
    /// The task it activates, if known: alarms know it, service calls do not.
    pub target: Option<usize>,
    /// Where it was raised.
    pub core: usize,
    /// The process that raised it.
    pub by: Option<Actor>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Semaphore {
    pub name: NameId,
    pub locked: bool,
    pub overfull: bool,
    /// Last value of RESOURCE.LOCKER.
    pub locker: Option<i64>,
    pub owner: Option<Actor>,
    /// Registered waiters, first come first.
    pub waiters: Vec<Actor>,
    /// It is unknown whether it was locked before the trace began.
    pub unknown: bool,
    /// Until then, a core in a gap may have taken it; cleared by the next change in the trace.
    pub unseen_until: Option<i64>,
    /// It has been locked or unlocked: its name is taken.
    pub used: bool,
}

impl Semaphore {
    pub fn new(name: NameId) -> Self {
        Self { name, ..Self::default() }
    }
}

/// What has a core at an edge: an ISR, or the task; or the task below the ISRs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupant {
    pub core: usize,
    pub below: bool,
}

/// What is known of the state before the first event (rules L1–L4).
#[derive(Debug, Clone, Default)]
pub struct Edge {
    /// Time of the first software event.
    pub begin: i64,
    /// Every core is recorded from StartOS on: nothing happened before.
    pub complete: bool,
    /// Values that held at `begin`: slots whose first access is a read (L1).
    pub values: Vec<(usize, i64)>,
    /// Semaphores that were locked at `begin`: the first access gives them back (L5).
    pub held: Vec<usize>,
    /// Handlers active at `begin`, outermost first, per core (L3).
    pub isrs: Vec<Vec<String>>,
    /// Tasks whose first dispatch turns out to be a start (L4).
    pub never_ran: Vec<usize>,
    /// Cores that an ISR has which nothing names (L3).
    pub unknown_isr: Vec<usize>,
    /// Who may have polled at `begin` (L8).
    pub may_poll: Vec<Occupant>,
    /// Tasks of which other cores tell something in the gap: what holds at its end comes later.
    pub touched: BTreeSet<usize>,
}

impl Edge {
    /// An edge at which nothing is known yet.
    pub fn at(begin: i64, cores: usize) -> Self {
        Self { begin, isrs: vec![Vec::new(); cores], ..Self::default() }
    }
}

/// The states of BTF, by their words.
mod process_state {
    use crate::btf::State;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(state: &State, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(state.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<State, D::Error> {
        let word = String::deserialize(deserializer)?;
        State::parse(&word).ok_or_else(|| D::Error::custom(format!("'{word}' is no state of BTF")))
    }
}
