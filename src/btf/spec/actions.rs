//! The actions of BTF: the words of the seventh field. Not what an action does to which entity (see `rules`).

use super::words::words;

words! {
    /// What happens to an entity (2.1.5 tables 4 to 25; since 2.2.0 §2.3.1 to §2.3.8).
    Action {
        /// A stimulus fires.
        Trigger = "trigger",
        /// A process instance comes into being.
        Activate = "activate",
        /// A process or runnable begins to execute.
        Start = "start",
        /// A process loses the core.
        Preempt = "preempt",
        /// A process or runnable continues.
        Resume = "resume",
        /// A process or runnable ends.
        Terminate = "terminate",
        /// A process begins to wait actively for a semaphore.
        Poll = "poll",
        /// A polling process got the semaphore.
        Run = "run",
        /// A polling process loses the core.
        Park = "park",
        /// A parked process polls again.
        PollParking = "poll_parking",
        /// The semaphore became free while the process was parked.
        ReleaseParking = "release_parking",
        /// A process waits for an OS event.
        Wait = "wait",
        /// The awaited OS event was set.
        Release = "release",
        /// An activation was lost: too many were pending.
        MtaLimitExceeded = "mtalimitexceeded",
        /// An interrupt was requested while interrupts are suspended.
        InterruptSuspended = "interrupt_suspended",
        /// A process goes on on another core (bounded migration).
        BoundedMigration = "boundedmigration",
        /// A process goes on on another core (phase migration).
        PhaseMigration = "phasemigration",
        /// A process goes on on another core (full migration).
        FullMigration = "fullmigration",
        /// A process goes on on another core (enforced migration).
        EnforcedMigration = "enforcedmigration",
        /// The process of a runnable leaves the core.
        Suspend = "suspend",
        /// A scheduler decides.
        Schedule = "schedule",
        /// A process asks the scheduler to decide.
        SchedulePoint = "schedulepoint",
        /// The scheduler decides because a process was activated.
        ProcessActivate = "processactivate",
        /// The scheduler decides because a process polls.
        ProcessPolling = "processpolling",
        /// The scheduler decides because a process ended.
        ProcessTerminate = "processterminate",
        /// The simulation of an entity ends.
        Finalize = "finalize",
        /// A process begins to wait for an OS event.
        WaitEvent = "wait_event",
        /// A process clears an OS event.
        ClearEvent = "clear_event",
        /// An OS event is set.
        SetEvent = "set_event",
        /// A signal is read.
        Read = "read",
        /// A signal is written.
        Write = "write",
        /// A process asks for a semaphore.
        RequestSemaphore = "requestsemaphore",
        /// A process asks for a semaphore alone.
        ExclusiveSemaphore = "exclusivesemaphore",
        /// A process adds itself to the users of a semaphore.
        Increment = "increment",
        /// A request for a semaphore is queued.
        Queued = "queued",
        /// A process got a semaphore.
        Assigned = "assigned",
        /// A process did not get a semaphore and waits.
        Waiting = "waiting",
        /// A process gives a semaphore back.
        Released = "released",
        /// A process removes itself from the users of a semaphore.
        Decrement = "decrement",
        /// A semaphore exists and is free.
        Ready = "ready",
        /// USED → FREE.
        Free = "free",
        /// FREE → USED, or one more user.
        Used = "used",
        /// FREE → FULL.
        Lock = "lock",
        /// USED → FULL.
        LockUsed = "lock_used",
        /// FULL → FREE.
        Unlock = "unlock",
        /// FULL → USED.
        UnlockFull = "unlock_full",
        /// FULL → OVERFULL, or one more waiter.
        Overfull = "overfull",
        /// OVERFULL → FULL.
        Full = "full",
        /// Listed in 2.1.5 without a description.
        ReleaseSemaphore = "releasesemaphore",
        /// The simulation reports an error.
        Error = "error",
        /// The simulation marks an entity.
        Tag = "tag",
        /// The simulation describes an entity.
        Description = "description",
        /// The device that makes the trace stops.
        Stop = "stop",
    }
}

impl Action {
    /// True if two words mean the same action, in whatever spelling; words of vendors mean themselves.
    pub fn same(one: &str, other: &str) -> bool {
        one == other
            || match (Self::parse_tolerant(one), Self::parse_tolerant(other)) {
                (None, None) => one.eq_ignore_ascii_case(other),
                (one, other) => one == other,
            }
    }

    /// The action of a word in any spelling that is in use: any case, and those that 2.1.4 corrects.
    pub fn parse_tolerant(word: &str) -> Option<Self> {
        let exact = Self::ALL.iter().copied().find(|action| action.as_str().eq_ignore_ascii_case(word));
        // Up to 2.1.3, and a misspelling of the simulator of that time.
        let former = ["mpalimitexceeded", "mtalimitexceded"];
        exact.or_else(|| {
            former
                .iter()
                .any(|spelling| spelling.eq_ignore_ascii_case(word))
                .then_some(Self::MtaLimitExceeded)
        })
    }
}
