//! Why each instance of a task or handler does not run, as the kernel decides it: its record of causes. It
//! is the truth for explanations of recordings. Not the events of the system (see `effect`), from which it
//! takes nothing: where the kernel changes what a core does, it notes its own state.

mod ledger;
mod note;

pub(super) use ledger::Ledger;
pub(super) use note::{Condition, Note};

use super::effect::{Lock, Process, Stimulus};

/// Takes the parts of a record as they are complete.
pub type Sink<'s> = Box<dyn FnMut(&Span) + 's>;

/// An instance of a task or handler: the handlers of each core have numbers of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instance {
    pub process: Process,
    /// From 0, in the order of activations, refused ones included.
    pub number: u64,
}

/// What an instance does, or what keeps it from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It has its core, in this runnable.
    Executes { runnable: Option<usize> },
    /// Another instance has its core, and executes or polls there.
    Behind { by: Instance, why: Why, polls: Option<Polls> },
    /// Nobody has its core: the kernel is at work.
    Kernel,
    /// It polls for a lock, which another one has.
    Polls { lock: Lock, holder: Option<Holder> },
    /// It waits for events; in the end, one of them is set.
    Waits { set: Option<(usize, Setter)> },
}

/// Why another instance has the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is a handler.
    Handler,
    /// It is an earlier instance of the same task.
    PreviousInstance,
    HigherPriority,
    EqualPriority,
    /// Its priority is lower, but it cannot be preempted.
    NotPreemptable,
    /// Its priority is lower, but that of its group is not.
    Group,
    /// Its priority is lower, but it has this resource, whose ceiling is not.
    Ceiling(usize),
    /// Nothing keeps it, but the kernel has not come to its scheduler yet.
    Scheduler,
}

/// What an instance polls for, and who has that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Polls {
    pub lock: Lock,
    pub holder: Option<Instance>,
}

/// Who has a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    pub instance: Instance,
    pub state: State,
    /// Who has the core that the holder could run on.
    pub behind: Option<Instance>,
}

/// Who sets an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setter {
    Instance(Instance),
    Stimulus(Stimulus),
}

/// The state of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Activated, and not begun.
    Active,
    Ready,
    Running,
    Waiting,
    Polling,
    /// It lost its core while it polled.
    Parking,
}

/// A time in which nothing changed for an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub of: Instance,
    pub core: usize,
    /// In ns; the end is not part of it.
    pub begin: i64,
    pub end: i64,
    pub state: State,
    /// What it parks for.
    pub parks_for: Option<Lock>,
    /// An earlier instance of the same task is not finished.
    pub is_queued: bool,
    /// What the one that has the core got last and still has.
    pub last_lock: Option<Lock>,
    pub cause: Cause,
}

impl Span {
    /// Whether another one is the same, at another time.
    fn is_like(&self, other: &Self) -> bool {
        Self { begin: self.begin, end: self.end, ..*other } == *self
    }
}
