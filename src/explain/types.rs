//! What goes into an explanation and what comes out. Not how it is made.

/// A task or interrupt service routine, by the number of its name.
pub type Process = u32;
/// A core, by the number of its name.
pub type Core = u32;
/// A semaphore, resource, spinlock or OS event, by the number of its name.
pub type Object = u32;
/// A runnable, by the number of its name.
pub type Runnable = u32;
/// A stimulus or alarm, by the number of its name.
pub type Stimulus = u32;

/// An instance of a process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Actor {
    /// Its process.
    pub process: Process,
    /// Number of the instance; later instances of a process have larger numbers.
    pub instance: i64,
}

/// Who does something. A stimulus can have the name of a task: it is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Source {
    /// An instance of a process.
    Process(Actor),
    /// A stimulus or alarm.
    Stimulus(Stimulus),
}

/// States of a process instance, as in table `process_state`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum State {
    /// Activated, and not started yet.
    Active,
    /// It has its core and makes progress.
    Running,
    /// Started, and without the core that it could run on.
    Ready,
    /// It waits for an OS event, or for a semaphore.
    Waiting,
    /// It has its core, and spins for a lock.
    Polling,
    /// It lost its core while it was polling.
    Parking,
}

/// A span in which an instance had one state: a row of `process_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateSpan {
    /// The instance.
    pub actor: Actor,
    /// Its core; of an instance that has not started, the one that it starts on, if known.
    pub core: Option<Core>,
    /// Its state.
    pub state: State,
    /// First instant, in ticks.
    pub begin: i64,
    /// End in ticks, not part of the span.
    pub end: i64,
}

/// A span in which a runnable of an instance ran: a row of `runnable_state` in state `running`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunnableSpan {
    /// The instance that ran it.
    pub actor: Actor,
    /// The runnable.
    pub runnable: Runnable,
    /// How many runnables enclose it; 0 for the outermost.
    pub depth: u32,
    /// First instant, in ticks.
    pub begin: i64,
    /// End in ticks, not part of the span.
    pub end: i64,
}

/// What a description says of a process. The default knows nothing of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ProcessFacts {
    /// An interrupt service routine.
    pub is_isr: bool,
    /// An idle task, which runs when nothing else can.
    pub is_idle: bool,
    /// Static priority; the larger one is more urgent.
    pub priority: Option<i64>,
    /// Whether a more urgent task takes its core at once.
    pub is_preemptable: Option<bool>,
}

/// What somebody did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Said {
    /// Asks for a semaphore.
    Request,
    /// Did not get it, and waits or polls for it.
    Awaits,
    /// Got it.
    Assigned,
    /// Gave it back.
    Released,
    /// Asks for an OS event of its process.
    WaitEvent,
    /// Sets an OS event of process `owner`.
    SetEvent,
    /// Clears an OS event of its process.
    ClearEvent,
    /// Activates instance `target`.
    Activate,
}

/// An event that is no change of state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Happened {
    /// When, in ticks.
    pub time: i64,
    /// Who did it, if the trace tells.
    pub source: Option<Source>,
    /// What.
    pub said: Said,
    /// The semaphore or OS event.
    pub object: Option<Object>,
    /// The process whose OS event is set ([`Said::SetEvent`] only).
    pub owner: Option<Process>,
    /// The instance that is activated ([`Said::Activate`] only).
    pub target: Option<Actor>,
    /// Who triggered the stimulus that activates it ([`Said::Activate`] only).
    pub triggered_by: Option<Actor>,
}

/// What an instance does in a part of its response.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Kind {
    /// It runs; `runnable` is the innermost runnable, if one runs.
    Executes,
    /// It could run, but `by` has the core, and runs or polls there; `reason` says why.
    Behind,
    /// It could run, and nobody has the core, or only an idle task (`by`): the kernel is at work. `reason`
    /// is [`Reason::PreviousInstance`] while an earlier instance of the process is not finished.
    Os,
    /// It polls or waits for semaphore `object`, which `by` holds.
    Lock,
    /// It waits for OS event `object`, which `by` sets at last.
    WaitsFor,
    /// The recording does not show it.
    Unknown,
}

/// Why the instance that runs is not the one that waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Reason {
    /// It is an interrupt service routine.
    Isr,
    /// Its priority is higher.
    HigherPriority,
    /// Its priority is the same, and the description says how it is preempted.
    EqualPriority,
    /// An earlier instance of the process that waits is not finished.
    PreviousInstance,
    /// Its priority is lower, it is preemptable or may be so, and it holds this semaphore. It is the last
    /// that it gives back before the other one gets the core, and it does nothing more in between.
    LowerPriorityHolds(Object),
    /// Its priority is lower, and it is not preemptable.
    LowerPriorityNotPreemptable,
    /// Nothing known says why.
    NotKnown,
}

/// A part of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// First instant, in ticks.
    pub begin: i64,
    /// End in ticks, not part of it.
    pub end: i64,
    /// Core that the instance has, had or is about to have; of an activated instance, where it starts.
    pub core: Option<Core>,
    /// State of the instance; `None` where no span tells it.
    pub state: Option<State>,
    /// What it does.
    pub kind: Kind,
    /// Who has the core ([`Kind::Behind`], [`Kind::Os`]: an idle task), holds the semaphore
    /// ([`Kind::Lock`]), or sets the OS event ([`Kind::WaitsFor`]). Never the instance itself.
    pub by: Option<Source>,
    /// The innermost runnable that runs ([`Kind::Executes`]).
    pub runnable: Option<Runnable>,
    /// The semaphore or OS event that it waits or polls for, also while it is parking. If `by` has the core
    /// and polls there ([`Kind::Behind`]), what `by` polls for; `None` if that is not known.
    pub object: Option<Object>,
    /// Why `by` has the core.
    pub reason: Option<Reason>,
    /// What the holder of the semaphore does meanwhile ([`Kind::Lock`]); `None` if it is not known. Of
    /// [`Kind::Behind`], [`State::Polling`] if `by` does not run, but polls.
    pub holder_state: Option<State>,
    /// Who runs on the core of a holder that could run, but does not. It can be the instance itself, which
    /// polls on the core that the holder needs. Of [`Kind::Behind`], who holds what `by` polls for, if that
    /// is known: that can be the instance itself, too.
    pub by_behind: Option<Actor>,
}

/// The response of an instance, cut into parts that follow each other from `begin` to `end`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Explained<'a> {
    /// The instance.
    pub actor: Actor,
    /// Its activation, or its start if the trace tells no activations of it, in ticks.
    pub begin: i64,
    /// Its termination, in ticks.
    pub end: i64,
    /// Who activated it.
    pub activated_by: Option<Source>,
    /// Who triggered the stimulus that activated it.
    pub triggered_by: Option<Actor>,
    /// The parts; no hole, no overlap, none of length 0, no equal neighbours.
    pub parts: &'a [Part],
}
