//! Which sequences there are and to which of them an event belongs: the partial order of the module
//! documentation as code. Also the pending events of each sequence. Not how they are compared (see `engine`).

use super::event::{Class, Event, Step, Words};
use crate::btf::NameId;
use crate::names::IdMap;
use std::collections::VecDeque;

/// With more sequences than this, unused ones are forgotten.
const SWEEP: usize = 1 << 14;
/// An instance that is not on a core is forgotten after this many events of others.
const IDLE: u64 = 1 << 14;

/// The window with which the search for the next agreement begins, in events (see `align`).
pub(super) const SMALLEST_WINDOW: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// The whole trace (level `exact`).
    Trace,
    /// What happens to, or is caused by, one instance of a process or a stimulus (or any other source).
    Instance(NameId, Option<i64>),
    /// What happens on a core.
    Core(NameId),
    /// What one entity without instances does to another, or to itself.
    Between(NameId, NameId),
}

/// The id of a sequence in its [`Table`].
pub(super) type Id = u32;

/// The sequences of one event: first the one that pairs it, then those in which only its position counts.
pub(super) type Members = [Option<Id>; 3];

/// The events of one side that a sequence still has to process, by their ordinal in the side.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Events without a partner that this sequence pairs.
    pub(super) unpaired: VecDeque<u64>,
    /// All events whose position is not settled.
    pub(super) unsettled: VecDeque<u64>,
    /// The last three settled, the oldest first.
    pub(super) settled: VecDeque<u64>,
    /// The core of the process instance.
    core: Option<NameId>,
}

#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) subject: Subject,
    pub(super) backlogs: [Backlog; 2],
    /// The window in which no agreement was found yet, or the smallest; see `align`.
    pub(super) window: usize,
    /// How many pairs were made.
    pub(super) pairs: u64,
    /// Left and right time of the last pair.
    pub(super) last_times: Option<(i64, i64)>,
    touched: u64,
}

/// All sequences that are not finished.
#[derive(Debug)]
pub(super) struct Table {
    total: bool,
    ids: IdMap<Subject, Id>,
    sequences: Vec<Sequence>,
    free: Vec<Id>,
    sweep_at: usize,
    clock: u64,
    /// An instance on a core is forgotten after this many events without one of its own.
    keep: u64,
}

impl Table {
    /// `total`: one sequence for everything. `keep`: for how many events an idle instance is remembered.
    pub(super) fn new(total: bool, keep: usize) -> Self {
        let (ids, sequences, free) = (IdMap::default(), Vec::new(), Vec::new());
        Self { total, ids, sequences, free, sweep_at: SWEEP, clock: 0, keep: keep as u64 }
    }

    /// The sequence of an id.
    pub(super) fn get(&mut self, id: Id) -> Option<&mut Sequence> {
        self.sequences.get_mut(id as usize)
    }

    /// The sequence of an id, to read.
    pub(super) fn peek(&self, id: Id) -> Option<&Sequence> {
        self.sequences.get(id as usize)
    }

    pub(super) fn ids(&self) -> Vec<Id> {
        let mut ids: Vec<Id> = self.ids.values().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// The sequences of an event of `side` (0 left, 1 right), which is new.
    pub(super) fn members(&mut self, side: usize, event: &Event, words: &Words) -> Members {
        self.clock += 1;
        if self.total {
            return [Some(self.id(Subject::Trace)), None, None];
        }
        if self.ids.len() > self.sweep_at {
            self.sweep();
        }
        let key = &event.key;
        let source = Subject::Instance(key.source, key.source_instance);
        let target = Subject::Instance(key.target, key.target_instance);
        let own = key.source == key.target;
        let environment = words.is_environment(key);
        match event.class {
            Class::Process => {
                let home = self.id(target);
                let places = match event.step {
                    Step::Enter | Step::Leave => {
                        let core = (event.step == Step::Enter).then_some(key.source);
                        if let Some(backlog) = self.backlog(home, side) {
                            backlog.core = core;
                        }
                        [Some(Subject::Core(key.source)), None]
                    }
                    Step::Away => [None, None],
                    Step::Caused if own || environment => [None, None],
                    Step::Caused => [Some(source), self.core_of(side, source)],
                };
                self.with(home, places)
            }
            Class::Core if own => [Some(self.id(Subject::Core(key.target))), None, None],
            Class::Core => {
                let home =
                    self.id(if environment { Subject::Between(key.source, key.target) } else { source });
                self.with(home, [Some(Subject::Core(key.target)), None])
            }
            class => {
                let shared = own || environment || class == Class::Block;
                let home = self.id(if shared { Subject::Between(key.source, key.target) } else { source });
                let core = if shared { None } else { self.core_of(side, source) };
                self.with(home, [(class == Class::Stimulus).then_some(target), core])
            }
        }
    }

    fn with(&mut self, home: Id, others: [Option<Subject>; 2]) -> Members {
        let [first, second] = others.map(|subject| subject.map(|a| self.id(a)).filter(|id| *id != home));
        [Some(home), first, second.filter(|id| Some(*id) != first)]
    }

    fn core_of(&self, side: usize, instance: Subject) -> Option<Subject> {
        let id = self.ids.get(&instance)?;
        self.peek(*id)?.backlogs.get(side)?.core.map(Subject::Core)
    }

    fn backlog(&mut self, id: Id, side: usize) -> Option<&mut Backlog> {
        self.get(id)?.backlogs.get_mut(side)
    }

    fn id(&mut self, subject: Subject) -> Id {
        if let Some(id) = self.ids.get(&subject) {
            let id = *id;
            let clock = self.clock;
            if let Some(sequence) = self.get(id) {
                sequence.touched = clock;
            }
            return id;
        }
        let fresh = Sequence {
            subject,
            backlogs: [Backlog::default(), Backlog::default()],
            window: SMALLEST_WINDOW,
            pairs: 0,
            last_times: None,
            touched: self.clock,
        };
        let id = match self.free.pop() {
            Some(id) => {
                if let Some(old) = self.get(id) {
                    *old = fresh;
                }
                id
            }
            None => {
                self.sequences.push(fresh);
                // 2^32 sequences in use do not fit in memory, so the cast cannot lose anything.
                (self.sequences.len() - 1) as Id
            }
        };
        self.ids.insert(subject, id);
        id
    }

    /// Forgets idle instances, so that memory does not grow with their number: those on a core only much
    /// later, because what they cause belongs to that core.
    fn sweep(&mut self) {
        let (clock, sequences, free) = (self.clock, &self.sequences, &mut self.free);
        let (soon, late) = (clock.saturating_sub(IDLE.min(self.keep)), clock.saturating_sub(self.keep));
        self.ids.retain(|subject, id| {
            let Some(s) = sequences.get(*id as usize) else { return false };
            let running = s.backlogs.iter().any(|backlog| backlog.core.is_some());
            let idle = matches!(subject, Subject::Instance(..))
                && s.touched < if running { late } else { soon }
                && s.backlogs.iter().all(|l| l.unsettled.is_empty() && l.unpaired.is_empty());
            if idle {
                free.push(*id);
            }
            !idle
        });
        self.sweep_at = (self.ids.len() * 2).max(SWEEP);
    }

    /// The current subject of an id.
    pub(super) fn subject(&self, id: Id) -> Subject {
        self.peek(id).map_or(Subject::Trace, |sequence| sequence.subject)
    }
}

impl Subject {
    pub(super) fn describe(self, words: &Words) -> String {
        let kind = |entity| match words.kind_of(entity).map(|(kind, _)| words.text(kind).to_ascii_uppercase())
        {
            None => "source",
            Some(kind) => match kind.as_str() {
                "T" => "task",
                "I" | "ISR" => "ISR",
                "THR" => "thread",
                "STI" => "stimulus",
                "SEM" => "semaphore",
                "SIG" => "signal",
                "SCHED" => "scheduler",
                "EVENT" => "event",
                _ => "entity",
            },
        };
        match self {
            Subject::Trace => "trace".to_owned(),
            Subject::Core(core) => format!("core {}", words.text(core)),
            Subject::Instance(name, Some(n)) => format!("{} {} instance {n}", kind(name), words.text(name)),
            Subject::Instance(name, None) => format!("{} {}", kind(name), words.text(name)),
            Subject::Between(a, b) if a == b => format!("{} {}", kind(a), words.text(a)),
            Subject::Between(a, b) => format!("{} on {}", words.text(a), words.text(b)),
        }
    }
}
