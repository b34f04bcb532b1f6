//! What a kernel does to memory: its variables and functions, and the sink of accesses to them. Not their
//! names in a trace (see `probe`).

/// A variable of the kernel or the application. Tasks, alarms, resources and pairs have the numbers that
/// they have on their core; spinlocks and cores those of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variable {
    /// The service that is entered or left.
    ServiceTrace,
    LastError,
    RunningIsr2,
    ApplicationMode,
    /// Whether StartOS was called.
    Started,
    /// The priorities that do not preempt now, as bits.
    Ceiling,
    /// The running task; below it in `NextTask` those that it preempted.
    FirstTask,
    NestingLevel,
    InterruptsDisabled,
    Isr2Index,
    /// The state of a task.
    Status(u32),
    /// How many activations of a task are left.
    Remaining(u32),
    RemainingMax(u32),
    Priority(u32),
    /// The events that are set for a task.
    EventActive(u32),
    /// The events that a task waits for.
    EventWaitMask(u32),
    WasWaiting(u32),
    NextTask(u32),
    /// The task that a task activates when it ends.
    ChainedTask(u32),
    /// The resource that a task took last.
    LastResource(u32),
    /// The rank of the priority of a task.
    Rank(u32),
    /// The ranks of ready tasks, as bits.
    ReadyRanks,
    ReadyHead(u32),
    ReadyTail(u32),
    /// The first unused pair.
    ReadyFree,
    PairTask(u32),
    PairNext(u32),
    AutostartTask(u32),
    AutostartAlarm(u32),
    /// Whether an alarm or schedule table is started.
    CounterUsed(u32),
    CounterCycle(u32),
    CounterDelta(u32),
    CounterNext(u32),
    CounterOf(u32),
    CounterKind(u32),
    CounterSpec(u32),
    CounterFirst,
    CounterValue,
    AlarmAction(u32),
    ActionKind(u32),
    ActionTask(u32),
    ActionMask(u32),
    ResourceLocked(u32),
    ResourceLocker(u32),
    /// The resource that was taken before.
    ResourceBelow(u32),
    ResourceOldCeiling(u32),
    ResourceOldPriority(u32),
    /// The word of a spinlock.
    Spinlock(u32),
    SpinlockLockerCore(u32),
    SpinlockLocker(u32),
    SpinlockBelow(u32),
    /// The spinlock that a core took last.
    LastSpinlock(u32),
    RemoteTaskCore(u32),
    RemoteTaskId(u32),
    RemoteProcedure(u32),
    RemoteParameter(u32, u8),
    /// The core that is to serve the call of a core.
    RemoteServer(u32),
    RemoteError(u32),
    /// Whether a core is serving calls.
    RemoteServing(u32),
    ShutdownAll,
    /// A variable of the application: the number of a signal of the model.
    Signal(u32),
}

/// A function that a function trace shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    StartOs,
    Service(Service),
    /// The body of a task of the model.
    Task(u32),
    /// The handler of an ISR of the model.
    Isr(u32),
    /// A runnable of the model.
    Runnable(u32),
    TimerHandler,
    RemoteHandler,
    RemoteServe,
    IncrementHardware,
    Increment,
    CounterInsert,
    ReadyInsert,
    ReadyQuery,
    ReadyExchange,
    ThreadStub,
    ThreadEnd,
    IrqPostStub,
    IrqEnd,
}

/// A service of the OS that is traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Service {
    ActivateTask,
    TerminateTask,
    ChainTask,
    Schedule,
    GetResource,
    ReleaseResource,
    SetEvent,
    ClearEvent,
    WaitEvent,
    StartOs,
    GetSpinlock,
    ReleaseSpinlock,
    TryToGetSpinlock,
}

impl Service {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::ActivateTask,
        Self::TerminateTask,
        Self::ChainTask,
        Self::Schedule,
        Self::GetResource,
        Self::ReleaseResource,
        Self::SetEvent,
        Self::ClearEvent,
        Self::WaitEvent,
        Self::StartOs,
        Self::GetSpinlock,
        Self::ReleaseSpinlock,
        Self::TryToGetSpinlock,
    ];

    /// The value of the service trace when the service is entered; when it is left, it is one less.
    pub fn entry_code(self) -> u32 {
        let id = match self {
            Self::ActivateTask => 2,
            Self::TerminateTask => 4,
            Self::ChainTask => 6,
            Self::Schedule => 8,
            Self::GetResource => 26,
            Self::ReleaseResource => 28,
            Self::SetEvent => 30,
            Self::ClearEvent => 32,
            Self::WaitEvent => 36,
            Self::StartOs => 50,
            // The ids of AUTOSAR follow those of OSEK, without the semaphores of OSEK.
            Self::GetSpinlock => 70,
            Self::ReleaseSpinlock => 72,
            Self::TryToGetSpinlock => 74,
        };
        id + 1
    }
}

/// Errors of services that the model can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusType {
    Ok = 0,
    /// Too many activations.
    Limit = 4,
    /// The task is suspended.
    State = 7,
}

/// Takes what happens, in the order of time. Times are in ns.
pub trait Recorder {
    /// An access of a core.
    fn data(&mut self, core: usize, time: i64, variable: Variable, write: bool, value: u32);
    /// A function is entered or left on a core.
    fn function(&mut self, core: usize, time: i64, function: Function, entry: bool);
}

/// Takes nothing.
pub struct Unrecorded;

impl Recorder for Unrecorded {
    fn data(&mut self, _: usize, _: i64, _: Variable, _: bool, _: u32) {}
    fn function(&mut self, _: usize, _: i64, _: Function, _: bool) {}
}
