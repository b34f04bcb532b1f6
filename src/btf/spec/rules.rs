//! What the versions of BTF say about each action: targets, sources, note, and effect on the state of the
//! target. One row for each combination that differs. Not the words, which are in `actions`, `entity_types`
//! and `state`.

use super::{Action, EntityType, EntityTypes, State, Transition, Versions};

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

impl Content {
    /// True for a note that is what it has to be. Whether a name is that of a process, only the trace tells.
    pub fn fits(self, note: &str) -> bool {
        // In decimal, or hexadecimal as in debuggers.
        let hexadecimal =
            || note.strip_prefix("0x").is_some_and(|digits| u64::from_str_radix(digits, 16).is_ok());
        self != Self::Number || note.parse::<f64>().is_ok() || hexadecimal()
    }
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
    pub targets: EntityTypes,
    /// The seventh field.
    pub action: Action,
    /// Versions in which this row holds.
    pub versions: Versions,
    /// Entity types that can be its source.
    pub sources: EntityTypes,
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

const fn row(targets: EntityTypes, action: Action, versions: Versions, sources: EntityTypes) -> ActionRule {
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

const fn only(entity_type: EntityType) -> EntityTypes {
    EntityTypes::of(&[entity_type])
}

const P: EntityTypes = EntityTypes::PROCESS;
const T: EntityTypes = only(EntityType::Task);
const I: EntityTypes = only(EntityType::Isr);
const C: EntityTypes = only(EntityType::Core);
const R: EntityTypes = only(EntityType::Runnable);
const STI: EntityTypes = only(EntityType::Stimulus);
const SCHED: EntityTypes = only(EntityType::Scheduler);
const EVENT: EntityTypes = only(EntityType::OsEvent);
const SIG: EntityTypes = only(EntityType::Signal);
const SEM: EntityTypes = only(EntityType::Semaphore);
const SIM: EntityTypes = only(EntityType::Simulation);
const SYS: EntityTypes = only(EntityType::System);
const P_OR_STI: EntityTypes = EntityTypes::of(&[EntityType::Task, EntityType::Isr, EntityType::Stimulus]);
const P_OR_SIG: EntityTypes = EntityTypes::of(&[EntityType::Task, EntityType::Isr, EntityType::Signal]);
const P_OR_SEM: EntityTypes = EntityTypes::of(&[EntityType::Task, EntityType::Isr, EntityType::Semaphore]);
const P_OR_SIM: EntityTypes = EntityTypes::of(&[EntityType::Task, EntityType::Isr, EntityType::Simulation]);
const P_OR_SCHED: EntityTypes = EntityTypes::of(&[EntityType::Task, EntityType::Isr, EntityType::Scheduler]);
const STI_OR_C: EntityTypes = EntityTypes::of(&[EntityType::Stimulus, EntityType::Core]);
const P_STI_OR_C: EntityTypes =
    EntityTypes::of(&[EntityType::Task, EntityType::Isr, EntityType::Stimulus, EntityType::Core]);
const P_STI_OR_SIM: EntityTypes =
    EntityTypes::of(&[EntityType::Task, EntityType::Isr, EntityType::Stimulus, EntityType::Simulation]);

use Content::{Number, Process, Text};
use State::{
    Active, Free, Full, NotInitialized, Overfull, Parking, Polling, Ready, Running, Suspended, Terminated,
    Used, Waiting,
};
use Versions as V;

/// Every action that a specification has, with what it says about it.
///
/// Sections: 2.1.5 tables 4 (STI), 5–8 (T, I), 9–11 (R), 12–13 (SCHED), 14–15 (EVENT), 16–17 (SIG), 18–20
/// (SEM), 21–23 (SIM), 24–25 (SYS); since 2.2.0 §2.3.1 (STI), §2.3.2 (T, I), §2.3.3 (R), §2.3.4 (SCHED),
/// §2.3.5 (EVENT), §2.3.6 (SIG), §2.3.7 (SEM), §2.3.8 (spinlocks).
pub const ACTION_RULES: &[ActionRule] = &[
    // Stimuli. Since 2.2.0 a stimulus from outside is its own source, yet listings 2-5 and 2-6 of 2.3.0 name
    // SIM.
    row(STI, Action::Trigger, V::OLD, P_OR_SIM).counts(),
    row(STI, Action::Trigger, V::NEW, P_STI_OR_SIM).counts().source_running(),
    // Processes. 2.1.5 names no source for its notifications, but 2.2.0 says that that of mtalimitexceeded
    // changed.
    row(P, Action::Activate, V::ALL, STI).moves(&[Terminated], Active).counts().caused(),
    row(P, Action::Start, V::ALL, C).moves(&[Active], Running),
    row(P, Action::Preempt, V::ALL, C).moves(&[Running], Ready),
    row(P, Action::Resume, V::ALL, C).moves(&[Ready], Running),
    row(P, Action::Terminate, V::ALL, C).moves(&[Running], Terminated),
    row(P, Action::Poll, V::ALL, C).moves(&[Running], Polling),
    row(P, Action::Run, V::ALL, C).moves(&[Polling], Running),
    row(P, Action::Park, V::ALL, C).moves(&[Polling], Parking),
    row(P, Action::PollParking, V::ALL, C).moves(&[Parking], Polling),
    row(P, Action::ReleaseParking, V::ALL, C).moves(&[Parking], Ready),
    row(P, Action::Wait, V::ALL, C).moves(&[Running], Waiting),
    row(P, Action::Release, V::ALL, C).moves(&[Waiting], Ready),
    row(P, Action::MtaLimitExceeded, V::OLD, P_STI_OR_C).moves(&[Terminated], Terminated).counts().caused(),
    row(T, Action::MtaLimitExceeded, V::NEW, STI).moves(&[Terminated], Terminated).counts().caused(),
    row(I, Action::InterruptSuspended, V::NEW, SCHED).moves(&[Active], Active),
    row(P, Action::BoundedMigration, V::OLD, STI_OR_C),
    row(P, Action::PhaseMigration, V::OLD, STI_OR_C),
    row(P, Action::FullMigration, V::OLD, STI_OR_C),
    row(P, Action::EnforcedMigration, V::OLD, STI_OR_C),
    // Runnables: the process is the source, also when another runnable calls.
    row(R, Action::Start, V::ALL, P).moves(&[Terminated], Running).counts(),
    row(R, Action::Suspend, V::ALL, P).moves(&[Running], Suspended),
    row(R, Action::Resume, V::ALL, P).moves(&[Suspended], Running),
    row(R, Action::Terminate, V::ALL, P).moves(&[Running], Terminated),
    // Schedulers.
    row(SCHED, Action::Schedule, V::OLD, SCHED),
    row(SCHED, Action::Schedule, V::NEW, SCHED).own(),
    row(SCHED, Action::SchedulePoint, V::OLD, P),
    row(SCHED, Action::SchedulePoint, V::NEW, T).source_running(),
    row(SCHED, Action::ProcessActivate, V::OLD, P),
    row(SCHED, Action::ProcessPolling, V::OLD, P),
    row(SCHED, Action::ProcessTerminate, V::OLD, P),
    row(SCHED, Action::Finalize, V::OLD, P_OR_SCHED),
    // OS events.
    row(EVENT, Action::WaitEvent, V::OLD, P),
    row(EVENT, Action::WaitEvent, V::NEW, T).source_running(),
    row(EVENT, Action::ClearEvent, V::OLD, P),
    row(EVENT, Action::ClearEvent, V::NEW, T).source_running(),
    row(EVENT, Action::SetEvent, V::OLD, P).must_note(Process),
    row(EVENT, Action::SetEvent, V::NEW, P_OR_STI).must_note(Process).source_running().caused(),
    // Signals. 2.1.5 calls the note of read unused and prints it in its listing, and demands that of write
    // (table 17); since 2.2.0 both "can" have one (tables 2-35, 2-36).
    row(SIG, Action::Read, V::OLD, P_OR_SIG).may_note(Number),
    row(SIG, Action::Read, V::NEW, P).may_note(Number).source_running(),
    row(SIG, Action::Write, V::OLD, P_OR_STI).must_note(Number).caused(),
    row(SIG, Action::Write, V::NEW, P_OR_STI).may_note(Number).source_running().caused(),
    // Semaphores: what processes do.
    row(SEM, Action::RequestSemaphore, V::OLD, P).may_note(Number),
    row(SEM, Action::RequestSemaphore, V::NEW, P).may_note(Number).source_running(),
    row(SEM, Action::ExclusiveSemaphore, V::OLD, P).may_note(Number),
    row(SEM, Action::Increment, V::OLD, P).may_note(Number),
    row(SEM, Action::Increment, V::NEW, P).may_note(Number).source_running(),
    row(SEM, Action::Queued, V::OLD, SEM).own().may_note(Number),
    row(SEM, Action::Queued, V::NEW, P).may_note(Number),
    row(SEM, Action::Assigned, V::ALL, P).may_note(Number),
    row(SEM, Action::Waiting, V::ALL, P).may_note(Number),
    row(SEM, Action::Released, V::OLD, P).may_note(Number),
    row(SEM, Action::Released, V::NEW, P).may_note(Number).source_running(),
    row(SEM, Action::Decrement, V::OLD, P).may_note(Number),
    row(SEM, Action::Decrement, V::NEW, P).may_note(Number).source_running(),
    // Semaphores: what becomes of them. The listing of 2.1.5 prints `free` right after `ready`.
    row(SEM, Action::Ready, V::OLD, SEM).own().may_note(Number).moves(&[NotInitialized], Free),
    row(SEM, Action::Free, V::OLD, SEM).own().may_note(Number).moves(&[Used, Free], Free),
    row(SEM, Action::Free, V::NEW, SEM).own().may_note(Number).moves(&[Used], Free),
    row(SEM, Action::Used, V::ALL, SEM).own().may_note(Number).moves(&[Free, Used], Used),
    row(SEM, Action::Lock, V::ALL, SEM).own().may_note(Number).moves(&[Free], Full),
    row(SEM, Action::LockUsed, V::ALL, SEM).own().may_note(Number).moves(&[Used], Full),
    row(SEM, Action::Unlock, V::ALL, SEM).own().may_note(Number).moves(&[Full], Free),
    row(SEM, Action::UnlockFull, V::ALL, SEM).own().may_note(Number).moves(&[Full], Used),
    row(SEM, Action::Overfull, V::ALL, SEM).own().may_note(Number).moves(&[Full, Overfull], Overfull),
    row(SEM, Action::Full, V::ALL, SEM).own().may_note(Number).moves(&[Overfull], Full),
    // In the list of table 18 of 2.1.5, without a description or a source.
    row(SEM, Action::ReleaseSemaphore, V::OLD, P_OR_SEM).may_note(Number),
    row(SEM, Action::Trigger, V::OLD, P_OR_SEM).may_note(Number),
    row(SEM, Action::Finalize, V::OLD, P_OR_SEM).may_note(Number),
    // Simulation: the source is what the note is about.
    row(SIM, Action::Finalize, V::OLD, SIM),
    row(SIM, Action::Error, V::OLD, SIM).may_note(Text),
    row(SIM, Action::Tag, V::OLD, EntityTypes::ANY).must_note(Text),
    row(SIM, Action::Description, V::OLD, EntityTypes::ANY).must_note(Text),
    // The device that makes the trace.
    row(SYS, Action::Start, V::OLD, SIM),
    row(SYS, Action::Stop, V::OLD, SIM),
];

/// Actions that no version has, but tools write: core events of simulators and loggers, deadlines of a
/// viewer, `nowait` and threads of a writer, accesses of instruction blocks.
pub const VENDOR_ACTIONS: &[(EntityType, &str)] = &[
    (EntityType::Core, "execute idle execute_idle idle_execution execute_waiting wait_postexecution"),
    (EntityType::Core, "lock unlock set_frequence set_frequency"),
    (EntityType::Task, "deadline nowait task_create"),
    (EntityType::Isr, "deadline nowait"),
    (EntityType::InstructionBlock, "read write"),
];
