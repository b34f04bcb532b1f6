//! A timing model as data: cores, tasks, ISRs, what they do, and what starts them. Times are in ns. Not
//! the text of a model (see `file`), nor what happens when it runs (see `kernel`).

#[cfg(test)]
pub(crate) mod any_model;
mod check;
pub mod distribution;
mod file;
mod places;
mod runs;
mod write;
mod write_values;

pub use distribution::Distribution;
pub use runs::Runs;
pub(in crate::simulate) use write_values::quoted;
pub use write_values::time_text;

/// A system of cores that run tasks. Every reference is an index in a list of this model; a checked model
/// has no other.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The name of the recording.
    pub name: String,
    /// The begin of all random numbers.
    pub seed: u64,
    /// How long it runs, in ns.
    pub duration: i64,
    /// What the operating system costs.
    pub os: Os,
    /// At least one.
    pub cores: Vec<Core>,
    /// The tasks of all cores.
    pub tasks: Vec<Task>,
    /// The ISRs of all cores, without those of the operating system.
    pub isrs: Vec<Isr>,
    /// What tasks, ISRs and other runnables call.
    pub runnables: Vec<Runnable>,
    /// The variables that are read and written.
    pub signals: Vec<Signal>,
    /// The events of all tasks.
    pub events: Vec<Event>,
    /// Resources, and the internal ones of groups.
    pub resources: Vec<Resource>,
    /// The locks between cores.
    pub spinlocks: Vec<Spinlock>,
    /// What activates tasks and sets events once or periodically.
    pub alarms: Vec<Alarm>,
    /// What does so at several points of a period.
    pub schedule_tables: Vec<ScheduleTable>,
}

impl Model {
    /// A system without anything that runs, which needs a core at least.
    pub fn new(name: String, duration: i64, os: Os) -> Self {
        Self {
            name,
            seed: 0,
            duration,
            os,
            cores: Vec::new(),
            tasks: Vec::new(),
            isrs: Vec::new(),
            runnables: Vec::new(),
            signals: Vec::new(),
            events: Vec::new(),
            resources: Vec::new(),
            spinlocks: Vec::new(),
            alarms: Vec::new(),
            schedule_tables: Vec::new(),
        }
    }
}

/// The times of the operating system, in ns.
#[derive(Debug, Clone, PartialEq)]
pub struct Os {
    /// The time of one access to a variable, also of an application. 0: there is no recording, as nothing
    /// of one instant has an order there.
    pub access: i64,
    /// The time from a decision of the scheduler to the first step of the task.
    pub dispatch: i64,
    /// The time from the begin of a service to its effect, and again from its effect to its end.
    pub service: i64,
    /// The time of the entry of an ISR before its first step, and of its exit after its last one.
    pub interrupt: i64,
    /// The time from a remote call until the interrupt of the other core.
    pub remote_call: i64,
    /// The period of the timer of each core that has alarms or schedule tables.
    pub tick: i64,
    /// By how much each period of the timer is longer.
    pub timer_drift: i64,
    /// Whether the timer is an ISR that takes time and is in the trace. If not, alarms expire by
    /// themselves.
    pub timer_isr: bool,
}

/// A core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    /// A C identifier, as all names but that of the model.
    pub name: String,
}

/// A task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Its core, an index of [`Model::cores`].
    pub core: usize,
    /// A higher number runs first.
    pub priority: u32,
    /// How many activations may be pending, the running one included.
    pub activations: u32,
    /// False: only at its end, when it waits, and in `schedule` does it give the core away.
    pub preemptable: bool,
    /// The internal resource of its group, an index of [`Model::resources`]: none of the group preempts
    /// another.
    pub group: Option<usize>,
    /// Activated when the OS starts.
    pub autostart: bool,
    /// The events that can be set for it, indices of [`Model::events`]; a task with events is an extended
    /// one.
    pub events: Vec<usize>,
    /// What it does when it is activated.
    pub steps: Vec<Step>,
}

/// An interrupt service routine.
#[derive(Debug, Clone, PartialEq)]
pub struct Isr {
    /// Its name.
    pub name: String,
    /// Its core, an index of [`Model::cores`].
    pub core: usize,
    /// Unknown to the OS: it may call no service.
    pub category1: bool,
    /// A higher number interrupts a lower one.
    pub priority: u32,
    /// When it is requested.
    pub arrivals: Arrivals,
    /// What it does each time.
    pub steps: Vec<Step>,
}

/// A function that is a runnable.
#[derive(Debug, Clone, PartialEq)]
pub struct Runnable {
    /// Its name, that of a C function.
    pub name: String,
    /// What it does when it is called.
    pub steps: Vec<Step>,
}

/// A variable of the application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Its name, that of a C variable.
    pub name: String,
    /// Its value when the OS starts.
    pub initial: u32,
}

/// An OS event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Its one bit; events of one task have different ones.
    pub mask: u32,
}

/// An OSEK resource. It is shared between cores when tasks of several use it; its ceiling on each core is
/// the highest priority of them there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its name.
    pub name: String,
    /// An internal resource, which the tasks of a group have while they run.
    pub internal: bool,
}

/// An AUTOSAR spinlock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spinlock {
    /// Its name.
    pub name: String,
}

/// An alarm of a core, started with the OS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alarm {
    /// Its name.
    pub name: String,
    /// The core whose timer counts it, an index of [`Model::cores`]: that of its task.
    pub core: usize,
    /// What it does each time.
    pub action: Action,
    /// When it expires first, in ticks of the timer; at least 1.
    pub first: i64,
    /// When it expires again, in ticks; 0: never.
    pub cycle: i64,
}

/// What an alarm or expiry point does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Activates a task.
    Activate {
        /// An index of [`Model::tasks`].
        task: usize,
    },
    /// Sets an event for a task.
    SetEvent {
        /// An index of [`Model::tasks`].
        task: usize,
        /// An index of [`Model::events`], one of those of the task.
        event: usize,
    },
}

/// An AUTOSAR schedule table of a core, started with the OS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleTable {
    /// Its name.
    pub name: String,
    /// The core whose timer counts it, an index of [`Model::cores`].
    pub core: usize,
    /// When it begins, in ticks; at least 1.
    pub first: i64,
    /// Its length, in ticks.
    pub length: i64,
    /// Whether it begins again.
    pub repeats: bool,
    /// Offsets in ticks, rising, and what happens there.
    pub points: Vec<(i64, Vec<Action>)>,
}

/// When an ISR is requested. Times are in ns, instants since the start of the OS.
#[allow(missing_docs, reason = "the fields are described with each kind")]
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// At `offset + n * period`, each later by up to `jitter`, evenly distributed.
    Periodic { offset: i64, period: i64, jitter: i64 },
    /// At least `distance` apart, and then a random time more.
    Sporadic { offset: i64, distance: i64, more: Distribution },
    /// At these instants, which rise.
    At(Vec<i64>),
    /// As early as an arrival curve allows: of each pair `(n, span)`, at most `n` requests are in a span
    /// of this length. The first one is at `offset`.
    Curve { offset: i64, limits: Vec<(u32, i64)> },
}

/// What a task, ISR or runnable does. Fields are indices of the lists of the model; times are in ns.
#[allow(missing_docs, reason = "the fields are described with each step")]
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Computes for a random time.
    Execute(Distribution),
    /// Calls a runnable, and goes on when that has done its steps.
    Call { runnable: usize },
    /// Reads a signal.
    Read { signal: usize },
    /// Writes a value, or one more than the signal has.
    Write { signal: usize, value: Option<u32> },
    /// Activates a task, also of another core.
    Activate { task: usize },
    /// Ends the task, too: nothing may follow.
    Chain { task: usize },
    /// Nothing may follow; a task that does not terminate falls off its end.
    Terminate,
    /// Sets events for a task, also of another core.
    SetEvent { task: usize, events: Vec<usize> },
    /// Clears events of the task itself.
    ClearEvent { events: Vec<usize> },
    /// Waits until one of these events of the task is set.
    WaitEvent { events: Vec<usize> },
    /// Takes a resource, with the ceiling protocol.
    GetResource { resource: usize },
    /// Releases the resource that was taken last.
    ReleaseResource { resource: usize },
    /// Spins until it has the lock.
    GetSpinlock { spinlock: usize },
    /// Tries until it has the lock, and computes for so long after each refusal.
    TryToGetSpinlock { spinlock: usize, every: i64 },
    /// Releases the spinlock that was taken last.
    ReleaseSpinlock { spinlock: usize },
    /// Lets a task of higher priority run, also from a task that cannot be preempted.
    Schedule,
    /// Goes on with `then` with this probability, else with `otherwise`.
    Branch { probability: f64, then: Vec<Step>, otherwise: Vec<Step> },
    /// Does the steps so many times.
    Repeat { times: u32, steps: Vec<Step> },
    /// Does one of these lists of steps each time, in their order, and begins again after the last one. The
    /// position belongs to this step of the model, whoever does it; it is the first one when the OS starts.
    Turns { of: Runs<Vec<Step>> },
}

impl Step {
    /// The key of the step in the text of a model, such as `wait_event`.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Execute(_) => "execute",
            Self::Call { .. } => "call",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Activate { .. } => "activate",
            Self::Chain { .. } => "chain",
            Self::Terminate => "terminate",
            Self::SetEvent { .. } => "set_event",
            Self::ClearEvent { .. } => "clear_event",
            Self::WaitEvent { .. } => "wait_event",
            Self::GetResource { .. } => "get_resource",
            Self::ReleaseResource { .. } => "release_resource",
            Self::GetSpinlock { .. } => "get_spinlock",
            Self::TryToGetSpinlock { .. } => "try_to_get_spinlock",
            Self::ReleaseSpinlock { .. } => "release_spinlock",
            Self::Schedule => "schedule",
            Self::Branch { .. } => "branch",
            Self::Repeat { .. } => "repeat",
            Self::Turns { .. } => "turns",
        }
    }

    /// The lists of steps in this one: `then` and `otherwise`, what is repeated, or what takes turns.
    pub fn inside(&self) -> Vec<&[Step]> {
        match self {
            Self::Branch { then, otherwise, .. } => vec![then, otherwise],
            Self::Repeat { steps, .. } => vec![steps],
            Self::Turns { of } => of.items().iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        }
    }

    /// The same, to change them.
    pub fn inside_mut(&mut self) -> Vec<&mut [Step]> {
        match self {
            Self::Branch { then, otherwise, .. } => vec![then, otherwise],
            Self::Repeat { steps, .. } => vec![steps],
            Self::Turns { of } => of.items_mut().iter_mut().map(Vec::as_mut_slice).collect(),
            _ => Vec::new(),
        }
    }
}
