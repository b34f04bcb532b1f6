//! What a kernel does, as events of the system: the reference of a simulation. A kernel says it where it
//! changes its state. Not the lines of BTF (see `reference`).

/// What acts on a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Process {
    /// A task of the model.
    Task(usize),
    /// A handler of the kernel or of the model, see `Kernel::handlers`.
    Handler(usize),
    /// Neither: the start of the OS, or the idle loop.
    Nobody,
}

/// What causes activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stimulus {
    /// An alarm of the model.
    Alarm(usize),
    /// A schedule table: descriptions of an OS do not name them, so the stimulus is named by the task.
    Table,
    /// A process that activates.
    By(Process),
    /// The start of the OS; named by the task as well.
    Autostart,
}

/// A lock of the model: a semaphore of BTF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lock {
    Resource(usize),
    Spinlock(usize),
}

/// How a process loses or gets a core, or changes while it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Start,
    Resume,
    Preempt,
    Wait,
    Release,
    Terminate,
    Poll,
    Run,
    Park,
    PollParking,
    ReleaseParking,
}

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Trigger(Stimulus),
    Activate {
        task: usize,
        by: Stimulus,
    },
    /// The activation is one too many.
    Refuse {
        task: usize,
        by: Stimulus,
    },
    /// A handler is requested and entered.
    Enter(usize),
    Change(Process, Change),
    RunnableStart(Process, usize),
    RunnableEnd(Process, usize),
    Read {
        by: Process,
        signal: usize,
        value: u32,
    },
    Write {
        by: Process,
        signal: usize,
        value: u32,
    },
    WaitEvent {
        task: usize,
        event: usize,
    },
    ClearEvent {
        task: usize,
        event: usize,
    },
    SetEvent {
        by: Stimulus,
        task: usize,
        event: usize,
    },
    /// A process gets a lock. It `waited` if it has asked in vain before, and `polls` until now if it
    /// did; `others` still wait.
    Lock {
        by: Process,
        lock: Lock,
        waited: bool,
        polls: bool,
        others: bool,
    },
    /// A process asks for a lock that another one has, and begins to poll.
    AskInVain(Process, Lock),
    /// A lock is given back; whether others poll for it.
    Unlock(Process, Lock, bool),
}

/// Takes what happens, in the order of time. Times are in ns.
pub trait Observer {
    /// Something happens on a core.
    fn effect(&mut self, core: usize, time: i64, effect: Effect);
}

/// Both take what happens.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn effect(&mut self, core: usize, time: i64, effect: Effect) {
        self.0.effect(core, time, effect);
        self.1.effect(core, time, effect);
    }
}
