//! Names and instance numbers of entities. Not the events that use them.

pub(super) use crate::btf::Actor;
use crate::btf::{NameId, Names, Note};
use crate::map::state::pairs;
use crate::names::IdMap;
use serde::{Deserialize, Serialize};

/// Maximum number of different names; all further ones are called OTHER.
const MAX_NAMES: usize = 1 << 21;

/// The kind of a name; with two numbers, its id is found without formatting it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    Message,
    Pulse,
    Reply,
    Signal,
    Channel,
    Sync,
    Function,
    Handler,
    User,
    Interrupt,
    InterruptStimulus,
    Call,
    State,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Notes {
    pub implicit: Note,
    pub direct: Note,
    pub irq: Note,
    pub migrate: Note,
    pub synth: Note,
    pub thread_end: Note,
    pub job_end: Note,
    /// Native states without an event of their own.
    pub ready: NameId,
    pub create: NameId,
}

impl Notes {
    fn new(names: &mut Names) -> Self {
        let mut note = |text: &str| Note::Name(names.intern(text));
        Self {
            implicit: note("implicit"),
            direct: note("direct"),
            irq: note("irq"),
            migrate: note("migrate"),
            synth: note("synth"),
            thread_end: note("thread_end"),
            job_end: note("job_end"),
            ready: names.intern("READY"),
            create: names.intern("CREATE"),
        }
    }
}

#[derive(Debug)]
pub(super) struct Entities {
    /// Names of everything in events and rows.
    pub names: Names,
    pub notes: Notes,
    pub sim: NameId,
    /// Pseudo core for slices that BTF needs and no CPU ran.
    pub nowhere: NameId,
    pub numbers: Numbers,
}

/// The part of the state that concerns entities.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Numbers {
    /// How many names this recording has added, without notes.
    #[serde(skip)]
    names: usize,
    /// The names that are made of numbers.
    #[serde(with = "pairs")]
    spelled: IdMap<(u64, u64), NameId>,
    /// Next instance number by entity.
    #[serde(with = "pairs")]
    next_instance: IdMap<NameId, i64>,
}

impl Default for Entities {
    fn default() -> Self {
        let mut names = Names::default();
        let (sim, nowhere) = (names.intern("SIM"), names.intern("Core_X"));
        let notes = Notes::new(&mut names);
        Self { names, notes, sim, nowhere, numbers: Numbers::default() }
    }
}

impl Entities {
    /// The id of a name; `None` if there are too many.
    pub fn intern(&mut self, text: &str) -> Option<NameId> {
        if let Some(known) = self.names.find(text) {
            return Some(known);
        }
        if self.numbers.names >= MAX_NAMES {
            return None;
        }
        self.numbers.names += 1;
        Some(self.names.intern(text))
    }

    /// The name of the entity denoted by `kind` and two numbers, if it has been formatted before.
    pub fn of_numbers(&self, kind: Named, numbers: (u32, u64)) -> Option<NameId> {
        self.numbers.spelled.get(&key(kind, numbers)).copied()
    }

    pub fn set_of_numbers(&mut self, kind: Named, numbers: (u32, u64), name: NameId) {
        if self.numbers.spelled.len() < MAX_NAMES {
            self.numbers.spelled.insert(key(kind, numbers), name);
        }
    }

    pub fn next_instance(&mut self, entity: NameId) -> i64 {
        let n = self.numbers.next_instance.entry(entity).or_insert(0);
        *n += 1;
        *n - 1
    }
}

fn key(kind: Named, numbers: (u32, u64)) -> (u64, u64) {
    ((kind as u64) << 32 | u64::from(numbers.0), numbers.1)
}
