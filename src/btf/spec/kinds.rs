//! The entity types of BTF with the versions that have them and the ids that tools write instead. Not the types
//! that the mapper writes, which are [`crate::btf::EntityType`].

use super::{Number, Versions};

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Stimulus.
    Stimulus,
    /// Task.
    Task,
    /// Interrupt service routine.
    Isr,
    /// Runnable.
    Runnable,
    /// Instruction block.
    InstructionBlock,
    /// Electronic control unit.
    Ecu,
    /// Processor.
    Processor,
    /// Core.
    Core,
    /// Memory module.
    Memory,
    /// Scheduler.
    Scheduler,
    /// Signal.
    Signal,
    /// Semaphore or spinlock.
    Semaphore,
    /// OS event.
    OsEvent,
    /// Simulation environment.
    Simulation,
    /// The device that makes the trace.
    System,
}

impl Kind {
    /// The type id of the newest version that has it.
    pub fn id(self) -> &'static str {
        KINDS.iter().find(|rule| rule.kind == self).map_or("", |rule| rule.id)
    }

    /// True for tasks and interrupt service routines.
    pub fn is_process(self) -> bool {
        Kinds::PROCESS.has(self)
    }

    /// True for entities that come into being again and again and count their instances.
    pub fn has_instances(self) -> bool {
        Kinds::WITH_INSTANCES.has(self)
    }
}

/// A set of entity types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// Any entity.
    pub const ANY: Self = Self(u16::MAX);
    /// No entity.
    pub const NONE: Self = Self(0);
    /// Tasks and interrupt service routines: what the specifications call process (P).
    pub const PROCESS: Self = Self::of(&[Kind::Task, Kind::Isr]);

    /// Entities that come into being again and again and count their instances.
    pub const WITH_INSTANCES: Self =
        Self::of(&[Kind::Stimulus, Kind::Task, Kind::Isr, Kind::Runnable, Kind::InstructionBlock]);

    /// The set of `kinds`.
    pub const fn of(kinds: &[Kind]) -> Self {
        let mut bits = 0;
        let mut n = 0;
        while n < kinds.len() {
            bits |= 1 << kinds[n] as u16;
            n += 1;
        }
        Self(bits)
    }

    /// True if `kind` is in the set.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u16) != 0
    }

    /// What is in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// True if everything in this set is in `other` too.
    pub const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// The set and `kind`.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Self {
        Self(self.0 | 1 << kind as u16)
    }

    /// True if nothing is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The ids, for a message: `T or I`.
    pub fn words(self) -> String {
        let ids: Vec<_> = KINDS.iter().filter(|rule| self.has(rule.kind)).map(|rule| rule.id).collect();
        ids.join(" or ")
    }
}

/// One row of [`KINDS`].
#[derive(Debug, Clone, Copy)]
pub struct KindRule {
    /// The type.
    pub kind: Kind,
    /// Its id.
    pub id: &'static str,
    /// The versions that have it.
    pub versions: Versions,
    /// Ids that other versions or tools use for it; upper or lower case does not matter.
    pub aliases: &'static [&'static str],
}

const fn row(kind: Kind, id: &'static str, versions: Versions, aliases: &'static [&'static str]) -> KindRule {
    KindRule { kind, id, versions, aliases }
}

/// The entity types (2.1.5: table 3 and the system events; since 2.2.0: §2.3.1 to §2.3.8).
///
/// Cores have no events of their own in any version, but are what the events of processes come from. Since 2.2.0
/// the other hardware, instruction blocks, SIM and SYS have no section any more. `ISR` is the id up to 2.1.4, `P`
/// that of early readers; `THR` and `SYSC` are extensions of a writer, with the actions of tasks and runnables.
pub const KINDS: &[KindRule] = &[
    row(Kind::Stimulus, "STI", Versions::ALL, &[]),
    row(Kind::Task, "T", Versions::ALL, &["THR"]),
    row(Kind::Isr, "I", Versions::ALL, &["ISR"]),
    row(Kind::Runnable, "R", Versions::ALL, &["SYSC"]),
    row(Kind::InstructionBlock, "IB", Versions::OLD, &[]),
    row(Kind::Ecu, "ECU", Versions::OLD, &[]),
    row(Kind::Processor, "Processor", Versions::OLD, &["P"]),
    row(Kind::Core, "C", Versions::ALL, &["Core"]),
    row(Kind::Memory, "M", Versions::OLD, &[]),
    row(Kind::Scheduler, "SCHED", Versions::ALL, &[]),
    row(Kind::Signal, "SIG", Versions::ALL, &[]),
    row(Kind::Semaphore, "SEM", Versions::ALL, &[]),
    row(Kind::OsEvent, "EVENT", Versions::ALL, &[]),
    row(Kind::Simulation, "SIM", Versions::OLD, &["Simulation"]),
    row(Kind::System, "SYS", Versions::OLD, &["SYSTEM"]),
];

/// Words that 2.1.5 no longer has, and the last version that has them, by the version history of the
/// specifications: 2.1.5 renames the type of interrupt service routines, 2.1.4 corrects the action.
pub const FORMER_WORDS: &[(&str, Number)] = &[("ISR", [2, 1, 4]), ("mpalimitexceeded", [2, 1, 3])];
