//! The actions of BTF, one row for each that differs: targets, versions, sources, note, effect. Not the entity
//! types, which are in `kinds`.

use super::{Kind, Kinds, State, Transition, Versions};

/// What the note of an action holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Nothing,
    /// Words.
    Text,
    /// A number.
    Number,
    /// The name of a process.
    Process,
}

/// The rule of the eighth field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// What may be in it.
    pub content: Content,
    /// True if it has to be there.
    pub required: bool,
}

/// What a specification says about one action.
#[derive(Debug, Clone, Copy)]
pub struct ActionRule {
    /// Entity types that it can happen to.
    pub targets: Kinds,
    /// The word in the seventh field.
    pub action: &'static str,
    /// Versions in which this row holds.
    pub versions: Versions,
    /// Entity types that can be its source.
    pub sources: Kinds,
    /// The source is the target itself.
    pub own: bool,
    /// A process that is the source is RUNNING.
    pub source_running: bool,
    /// A stimulus that is the source has been triggered before.
    pub caused: bool,
    /// A new instance of the target comes into being: its counter goes up by one.
    pub counts: bool,
    /// The note.
    pub note: Note,
    /// What it does to the state of the target; `None` for a mere notification.
    pub moves: Option<Transition>,
}

const fn row(targets: Kinds, action: &'static str, versions: Versions, sources: Kinds) -> ActionRule {
    ActionRule {
        targets,
        action,
        versions,
        sources,
        own: false,
        source_running: false,
        caused: false,
        counts: false,
        note: Note { content: Content::Nothing, required: false },
        moves: None,
    }
}

impl ActionRule {
    const fn moves(mut self, from: &'static [State], to: State) -> Self {
        self.moves = Some(Transition { from, to });
        self
    }

    const fn may_note(mut self, content: Content) -> Self {
        self.note = Note { content, required: false };
        self
    }

    const fn must_note(mut self, content: Content) -> Self {
        self.note = Note { content, required: true };
        self
    }

    const fn own(mut self) -> Self {
        self.own = true;
        self
    }

    const fn source_running(mut self) -> Self {
        self.source_running = true;
        self
    }

    const fn caused(mut self) -> Self {
        self.caused = true;
        self
    }

    const fn counts(mut self) -> Self {
        self.counts = true;
        self
    }
}

const fn only(kind: Kind) -> Kinds {
    Kinds::of(&[kind])
}

const P: Kinds = Kinds::PROCESS;
const T: Kinds = only(Kind::Task);
const I: Kinds = only(Kind::Isr);
const C: Kinds = only(Kind::Core);
const R: Kinds = only(Kind::Runnable);
const STI: Kinds = only(Kind::Stimulus);
const SCHED: Kinds = only(Kind::Scheduler);
const EVENT: Kinds = only(Kind::OsEvent);
const SIG: Kinds = only(Kind::Signal);
const SEM: Kinds = only(Kind::Semaphore);
const SIM: Kinds = only(Kind::Simulation);
const SYS: Kinds = only(Kind::System);
const P_OR_STI: Kinds = Kinds::of(&[Kind::Task, Kind::Isr, Kind::Stimulus]);
const P_OR_SIG: Kinds = Kinds::of(&[Kind::Task, Kind::Isr, Kind::Signal]);
const P_OR_SEM: Kinds = Kinds::of(&[Kind::Task, Kind::Isr, Kind::Semaphore]);
const P_OR_SIM: Kinds = Kinds::of(&[Kind::Task, Kind::Isr, Kind::Simulation]);
const P_OR_SCHED: Kinds = Kinds::of(&[Kind::Task, Kind::Isr, Kind::Scheduler]);
const STI_OR_C: Kinds = Kinds::of(&[Kind::Stimulus, Kind::Core]);
const P_STI_OR_C: Kinds = Kinds::of(&[Kind::Task, Kind::Isr, Kind::Stimulus, Kind::Core]);
const P_STI_OR_SIM: Kinds = Kinds::of(&[Kind::Task, Kind::Isr, Kind::Stimulus, Kind::Simulation]);

use Content::{Number, Process, Text};
use State::{
    Active, Free, Full, NotInitialized, Overfull, Parking, Polling, Ready, Running, Suspended, Terminated,
    Used, Waiting,
};
use Versions as V;

/// Every action that a specification has, with what it says about it.
///
/// Sections: 2.1.5 tables 4 (STI), 5–8 (T, I), 9–11 (R), 12–13 (SCHED), 14–15 (EVENT), 16–17 (SIG), 18–20 (SEM),
/// 21–23 (SIM), 24–25 (SYS); since 2.2.0 §2.3.1 (STI), §2.3.2 (T, I), §2.3.3 (R), §2.3.4 (SCHED), §2.3.5 (EVENT),
/// §2.3.6 (SIG), §2.3.7 (SEM), §2.3.8 (spinlocks).
pub const ACTIONS: &[ActionRule] = &[
    // Stimuli. Since 2.2.0 a stimulus from outside is its own source, yet listings 2-5 and 2-6 of 2.3.0 name SIM.
    row(STI, "trigger", V::OLD, P_OR_SIM).counts(),
    row(STI, "trigger", V::NEW, P_STI_OR_SIM).counts().source_running(),
    // Processes. 2.1.5 names no source for its notifications, but 2.2.0 says that that of mtalimitexceeded changed.
    row(P, "activate", V::ALL, STI).moves(&[Terminated], Active).counts().caused(),
    row(P, "start", V::ALL, C).moves(&[Active], Running),
    row(P, "preempt", V::ALL, C).moves(&[Running], Ready),
    row(P, "resume", V::ALL, C).moves(&[Ready], Running),
    row(P, "terminate", V::ALL, C).moves(&[Running], Terminated),
    row(P, "poll", V::ALL, C).moves(&[Running], Polling),
    row(P, "run", V::ALL, C).moves(&[Polling], Running),
    row(P, "park", V::ALL, C).moves(&[Polling], Parking),
    row(P, "poll_parking", V::ALL, C).moves(&[Parking], Polling),
    row(P, "release_parking", V::ALL, C).moves(&[Parking], Ready),
    row(P, "wait", V::ALL, C).moves(&[Running], Waiting),
    row(P, "release", V::ALL, C).moves(&[Waiting], Ready),
    row(P, "mtalimitexceeded", V::OLD, P_STI_OR_C).moves(&[Terminated], Terminated).counts().caused(),
    row(T, "mtalimitexceeded", V::NEW, STI).moves(&[Terminated], Terminated).counts().caused(),
    row(I, "interrupt_suspended", V::NEW, SCHED).moves(&[Active], Active),
    row(P, "boundedmigration", V::OLD, STI_OR_C),
    row(P, "phasemigration", V::OLD, STI_OR_C),
    row(P, "fullmigration", V::OLD, STI_OR_C),
    row(P, "enforcedmigration", V::OLD, STI_OR_C),
    // Runnables: the process is the source, also when another runnable calls.
    row(R, "start", V::ALL, P).moves(&[Terminated], Running).counts(),
    row(R, "suspend", V::ALL, P).moves(&[Running], Suspended),
    row(R, "resume", V::ALL, P).moves(&[Suspended], Running),
    row(R, "terminate", V::ALL, P).moves(&[Running], Terminated),
    // Schedulers.
    row(SCHED, "schedule", V::OLD, SCHED),
    row(SCHED, "schedule", V::NEW, SCHED).own(),
    row(SCHED, "schedulepoint", V::OLD, P),
    row(SCHED, "schedulepoint", V::NEW, T).source_running(),
    row(SCHED, "processactivate", V::OLD, P),
    row(SCHED, "processpolling", V::OLD, P),
    row(SCHED, "processterminate", V::OLD, P),
    row(SCHED, "finalize", V::OLD, P_OR_SCHED),
    // OS events.
    row(EVENT, "wait_event", V::OLD, P),
    row(EVENT, "wait_event", V::NEW, T).source_running(),
    row(EVENT, "clear_event", V::OLD, P),
    row(EVENT, "clear_event", V::NEW, T).source_running(),
    row(EVENT, "set_event", V::OLD, P).must_note(Process),
    row(EVENT, "set_event", V::NEW, P_OR_STI).must_note(Process).source_running().caused(),
    // Signals. 2.1.5 calls the note of read unused and prints it in its listing, and demands that of write (table 17);
    // since 2.2.0 both "can" have one (tables 2-35, 2-36).
    row(SIG, "read", V::OLD, P_OR_SIG).may_note(Number),
    row(SIG, "read", V::NEW, P).may_note(Number).source_running(),
    row(SIG, "write", V::OLD, P_OR_STI).must_note(Number).caused(),
    row(SIG, "write", V::NEW, P_OR_STI).may_note(Number).source_running().caused(),
    // Semaphores: what processes do.
    row(SEM, "requestsemaphore", V::OLD, P).may_note(Number),
    row(SEM, "requestsemaphore", V::NEW, P).may_note(Number).source_running(),
    row(SEM, "exclusivesemaphore", V::OLD, P).may_note(Number),
    row(SEM, "increment", V::OLD, P).may_note(Number),
    row(SEM, "increment", V::NEW, P).may_note(Number).source_running(),
    row(SEM, "queued", V::OLD, SEM).may_note(Number),
    row(SEM, "queued", V::NEW, P).may_note(Number),
    row(SEM, "assigned", V::ALL, P).may_note(Number),
    row(SEM, "waiting", V::ALL, P).may_note(Number),
    row(SEM, "released", V::OLD, P).may_note(Number),
    row(SEM, "released", V::NEW, P).may_note(Number).source_running(),
    row(SEM, "decrement", V::OLD, P).may_note(Number),
    row(SEM, "decrement", V::NEW, P).may_note(Number).source_running(),
    // Semaphores: what becomes of them. The listing of 2.1.5 prints `free` right after `ready`.
    row(SEM, "ready", V::OLD, SEM).may_note(Number).moves(&[NotInitialized], Free),
    row(SEM, "free", V::OLD, SEM).may_note(Number).moves(&[Used, Free], Free),
    row(SEM, "free", V::NEW, SEM).own().may_note(Number).moves(&[Used], Free),
    row(SEM, "used", V::OLD, SEM).may_note(Number).moves(&[Free, Used], Used),
    row(SEM, "used", V::NEW, SEM).own().may_note(Number).moves(&[Free, Used], Used),
    row(SEM, "lock", V::OLD, SEM).may_note(Number).moves(&[Free], Full),
    row(SEM, "lock", V::NEW, SEM).own().may_note(Number).moves(&[Free], Full),
    row(SEM, "lock_used", V::OLD, SEM).may_note(Number).moves(&[Used], Full),
    row(SEM, "lock_used", V::NEW, SEM).own().may_note(Number).moves(&[Used], Full),
    row(SEM, "unlock", V::OLD, SEM).may_note(Number).moves(&[Full], Free),
    row(SEM, "unlock", V::NEW, SEM).own().may_note(Number).moves(&[Full], Free),
    row(SEM, "unlock_full", V::OLD, SEM).may_note(Number).moves(&[Full], Used),
    row(SEM, "unlock_full", V::NEW, SEM).own().may_note(Number).moves(&[Full], Used),
    row(SEM, "overfull", V::OLD, SEM).may_note(Number).moves(&[Full, Overfull], Overfull),
    row(SEM, "overfull", V::NEW, SEM).own().may_note(Number).moves(&[Full, Overfull], Overfull),
    row(SEM, "full", V::OLD, SEM).may_note(Number).moves(&[Overfull], Full),
    row(SEM, "full", V::NEW, SEM).own().may_note(Number).moves(&[Overfull], Full),
    // In the list of table 18 of 2.1.5, without a description or a source.
    row(SEM, "releasesemaphore", V::OLD, P_OR_SEM).may_note(Number),
    row(SEM, "trigger", V::OLD, P_OR_SEM).may_note(Number),
    row(SEM, "finalize", V::OLD, P_OR_SEM).may_note(Number),
    // Simulation: the source is what the note is about.
    row(SIM, "finalize", V::OLD, SIM),
    row(SIM, "error", V::OLD, SIM).may_note(Text),
    row(SIM, "tag", V::OLD, Kinds::ANY).must_note(Text),
    row(SIM, "description", V::OLD, Kinds::ANY).must_note(Text),
    // The device that makes the trace.
    row(SYS, "start", V::OLD, SIM),
    row(SYS, "stop", V::OLD, SIM),
];

/// The actions that a spinlock may have; it has no notes (2.3.0 §2.3.8).
pub const SPINLOCK_ACTIONS: &[&str] = &["requestsemaphore", "lock", "assigned", "released", "unlock"];

/// Actions that no version has, but tools write: core events of simulators and loggers, deadlines of a viewer,
/// `nowait` and threads of a writer, accesses of instruction blocks.
pub const VENDOR_ACTIONS: &[(Kind, &[&str])] = &[
    (
        Kind::Core,
        &[
            "execute",
            "idle",
            "execute_idle",
            "idle_execution",
            "execute_waiting",
            "wait_postexecution",
            "lock",
            "unlock",
            "set_frequence",
            "set_frequency",
        ],
    ),
    (Kind::Task, &["deadline", "nowait", "task_create"]),
    (Kind::Isr, &["deadline", "nowait"]),
    (Kind::InstructionBlock, &["read", "write"]),
];
