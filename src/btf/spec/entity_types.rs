//! The entity types of BTF with the versions that have them and the ids that tools write instead.

use super::words::words;
use super::{Number, Version, Versions};

words! {
    /// What an entity is; the word is the id of the newest version that has the type.
    EntityType {
        /// Stimulus.
        Stimulus = "STI",
        /// Task.
        Task = "T",
        /// Interrupt service routine.
        Isr = "I",
        /// Runnable.
        Runnable = "R",
        /// Instruction block.
        InstructionBlock = "IB",
        /// Electronic control unit.
        Ecu = "ECU",
        /// Processor.
        Processor = "Processor",
        /// Core.
        Core = "C",
        /// Memory module.
        Memory = "M",
        /// Scheduler.
        Scheduler = "SCHED",
        /// Signal.
        Signal = "SIG",
        /// Semaphore: mutex, OSEK resource, spinlock.
        Semaphore = "SEM",
        /// Event of the operating system.
        OsEvent = "EVENT",
        /// Simulation environment.
        Simulation = "SIM",
        /// The device that makes the trace.
        System = "SYS",
    }
}

impl EntityType {
    /// The type that a tool means by `id`: any case, the ids of older versions, and the ids of vendors.
    pub fn parse_tolerant(id: &str) -> Option<Self> {
        let means =
            |rule: &&EntityTypeRule| rule.spellings().any(|spelling| spelling.eq_ignore_ascii_case(id));
        ENTITY_TYPES.iter().find(means).map(|rule| rule.entity_type)
    }

    /// The type with exactly this id in this version.
    pub fn of_version(version: Version, id: &str) -> Option<Self> {
        Self::parse(id).filter(|entity_type| entity_type.is_in(version))
    }

    /// True if the version has this type.
    pub fn is_in(self, version: Version) -> bool {
        ENTITY_TYPES.iter().any(|rule| rule.entity_type == self && rule.versions.has(version))
    }

    /// True for tasks and interrupt service routines.
    pub fn is_process(self) -> bool {
        EntityTypes::PROCESS.has(self)
    }
}

/// A set of entity types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntityTypes(u16);

impl EntityTypes {
    /// Any entity.
    pub const ANY: Self = Self(u16::MAX);
    /// No entity.
    pub const NONE: Self = Self(0);
    /// Tasks and interrupt service routines: what the specifications call process (P).
    pub const PROCESS: Self = Self::of(&[EntityType::Task, EntityType::Isr]);

    /// Entities that are instantiated repeatedly and count their instances.
    pub const WITH_INSTANCES: Self = Self::of(&[
        EntityType::Stimulus,
        EntityType::Task,
        EntityType::Isr,
        EntityType::Runnable,
        EntityType::InstructionBlock,
    ]);

    /// The set of `types`.
    pub const fn of(types: &[EntityType]) -> Self {
        let mut bits = 0;
        let mut n = 0;
        while n < types.len() {
            bits |= 1 << types[n] as u16;
            n += 1;
        }
        Self(bits)
    }

    /// True if `entity_type` is in the set.
    pub const fn has(self, entity_type: EntityType) -> bool {
        self.0 & (1 << entity_type as u16) != 0
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

    /// The set and `entity_type`.
    #[must_use]
    pub const fn with(self, entity_type: EntityType) -> Self {
        Self(self.0 | 1 << entity_type as u16)
    }

    /// True if nothing is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The ids, for a message: `T or I`.
    pub fn words(self) -> String {
        let ids: Vec<_> = EntityType::ALL.iter().filter(|t| self.has(**t)).map(|t| t.as_str()).collect();
        ids.join(" or ")
    }
}

/// One row of [`ENTITY_TYPES`].
#[derive(Debug, Clone, Copy)]
pub struct EntityTypeRule {
    /// The type.
    pub entity_type: EntityType,
    /// The versions that have it.
    pub versions: Versions,
    /// Ids that other versions or tools use for it; upper or lower case does not matter.
    pub aliases: &'static [&'static str],
}

impl EntityTypeRule {
    /// Its id and its aliases.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        self.aliases.iter().copied().chain([self.entity_type.as_str()])
    }
}

const fn row(
    entity_type: EntityType,
    versions: Versions,
    aliases: &'static [&'static str],
) -> EntityTypeRule {
    EntityTypeRule { entity_type, versions, aliases }
}

/// The entity types (2.1.5: table 3 and the system events; since 2.2.0: §2.3.1 to §2.3.8).
///
/// Cores have no events of their own in any version, but they are the sources of the events of processes.
/// Since 2.2.0 the other hardware, instruction blocks, SIM and SYS have no section. `ISR` is the id up to
/// 2.1.4, `P` the one that early readers use; `THR` and `SYSC` are extensions of one writer, with the actions
/// of tasks and runnables.
pub const ENTITY_TYPES: &[EntityTypeRule] = &[
    row(EntityType::Stimulus, Versions::ALL, &[]),
    row(EntityType::Task, Versions::ALL, &["THR"]),
    row(EntityType::Isr, Versions::ALL, &["ISR"]),
    row(EntityType::Runnable, Versions::ALL, &["SYSC"]),
    row(EntityType::InstructionBlock, Versions::OLD, &[]),
    row(EntityType::Ecu, Versions::OLD, &[]),
    row(EntityType::Processor, Versions::OLD, &["P"]),
    row(EntityType::Core, Versions::ALL, &["Core"]),
    row(EntityType::Memory, Versions::OLD, &[]),
    row(EntityType::Scheduler, Versions::ALL, &[]),
    row(EntityType::Signal, Versions::ALL, &[]),
    row(EntityType::Semaphore, Versions::ALL, &[]),
    row(EntityType::OsEvent, Versions::ALL, &[]),
    row(EntityType::Simulation, Versions::OLD, &["Simulation"]),
    row(EntityType::System, Versions::OLD, &["SYSTEM"]),
];

/// Words that 2.1.5 no longer has, and the last version that has them, by the version history of the
/// specifications: 2.1.5 renames the type of interrupt service routines, 2.1.4 corrects the action.
pub const FORMER_WORDS: &[(&str, Number)] = &[("ISR", [2, 1, 4]), ("mpalimitexceeded", [2, 1, 3])];

/// Names of the environment: what stands for the world outside of the traced software. 2.1.5 has SIM (table
/// 21) and SYSTEM (table 24), its listings Simulation, and the thesis, listing 2.2, Sim.
const ENVIRONMENT: [&str; 3] = ["SIM", "Simulation", "SYSTEM"];

/// True for a name of the environment, in upper or lower case.
pub fn is_environment(name: &str) -> bool {
    ENVIRONMENT.iter().any(|known| known.eq_ignore_ascii_case(name))
}
