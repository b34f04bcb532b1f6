//! Rows of a recording in the order of time → the records of a monitor: which of them are an event of a
//! template, which event begins or ends a state, and what is not known of a state behind a gap. Not for what
//! templates mean (see [`crate::temporal`]), and not for reading the rows (see `in_time`).
//!
//! Events are rows of `btf_event`, states are rows of `process_state` and `runnable_state`: so a state is
//! what it is for metrics and pictures, whatever the dialect of the trace. Those rows have times, and no
//! place among the events of a tick. It follows from the state charts: a state ends at the first event of
//! its tick that leaves it, and begins at the last one that leads to it. What no event explains (a process
//! that has lost its core without an event) comes first in its tick.
//!
//! A state of an entity is that of any of its instances. A gap of a core hides what is on it: those entities
//! that were seen on it, and events that any core can make. Behind an edge or a gap, the first event of a
//! task says what its state was. Where several instances can be in a state (ISRs and runnables on several
//! cores, activations that are pending), what was before the first one that is seen is not known.

mod cores;
mod tick;

pub(super) use cores::Cores;

use std::collections::HashMap;

use super::templates::Happening;
use crate::btf::spec::{is_on_core, process_transition, runnable_transition};
use crate::btf::{Action, EntityType, State};
use crate::temporal::Symbol;
use tick::{Change, Tick};

/// When an event comes that is several ones of a template: what answers and ends before what asks, and that
/// before what begins an interval. So it neither answers itself nor is in the interval that it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Answers,
    Asks,
    Begins,
}

/// A row of the recording.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row<'a> {
    Event {
        seq: i64,
        /// Its type, as the trace spells it.
        kind: &'a str,
        entity: &'a str,
        instance: Option<i64>,
        action: &'a str,
        source: &'a str,
        note: Option<&'a str>,
    },
    /// An instance enters a state, or leaves it.
    State { entity: &'a str, is_task: bool, instance: Option<i64>, state: &'a str, begins: bool },
    /// From now on; `core`: the one that has it, `None` for all.
    Gap { end: i64, core: Option<&'a str> },
}

/// A record for a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    Event(Symbol),
    /// Of a state: it begins or ends.
    State(Symbol, bool),
    Gap {
        end: i64,
        core: Option<u32>,
    },
}

/// A record with its time, and the event that it is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fed {
    pub time: i64,
    pub record: Record,
    pub origin: Option<Origin>,
}

/// A row of `btf_event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub seq: i64,
    entity: usize,
    /// That of a process or runnable.
    instance: Option<i64>,
    action: usize,
    source: usize,
}

/// See the module. One recording after the other.
#[derive(Debug, Default)]
pub(super) struct Watch {
    entities: HashMap<String, usize>,
    of: Vec<Entity>,
    states: Vec<Watched>,
    words: Words,
    // Of the recording:
    cores: Cores,
    end: i64,
    now: i64,
    tick: Tick,
    /// How many spans of each instance are open: whether its state is known.
    open: HashMap<(usize, i64), u32>,
}

/// What is watched of an entity.
#[derive(Debug, Default)]
struct Entity {
    name: String,
    events: Vec<Wanted>,
    /// Places in `Watch::states`.
    states: Vec<usize>,
}

/// An event of a template.
#[derive(Debug)]
struct Wanted {
    action: String,
    meaning: Option<Action>,
    source: Option<String>,
    note: Option<String>,
    rank: Rank,
    symbol: Symbol,
}

/// A state of a template.
#[derive(Debug)]
struct Watched {
    symbol: Symbol,
    entity: usize,
    /// Empty for all.
    states: Vec<State>,
    // Of the recording:
    /// The cores that its entity is on.
    cores: Vec<u32>,
    /// How many instances are in it.
    count: u64,
    /// Nothing hides whether there is one: a record came since the begin, and since the end of a gap.
    known: bool,
    hidden_until: i64,
}

/// Texts with numbers: actions and sources, of which there are few.
#[derive(Debug, Default)]
struct Words {
    numbers: HashMap<String, usize>,
    all: Vec<(String, Option<Action>)>,
}

impl Words {
    fn number(&mut self, word: &str) -> usize {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = self.all.len();
        self.all.push((word.to_owned(), Action::parse_tolerant(word)));
        self.numbers.insert(word.to_owned(), number);
        number
    }

    fn text(&self, number: usize) -> &str {
        self.all.get(number).map_or("", |(word, _)| word)
    }

    fn meaning(&self, number: usize) -> Option<Action> {
        self.all.get(number).and_then(|(_, meaning)| *meaning)
    }
}

impl Wanted {
    fn is(&self, (action, meaning): (&str, Option<Action>), source: &str, note: Option<&str>) -> bool {
        // As `Action::same`, of which the parts are known.
        let is_action = match (self.meaning, meaning) {
            (None, None) => self.action.eq_ignore_ascii_case(action),
            (wanted, meaning) => wanted == meaning,
        };
        is_action
            && self.source.as_deref().is_none_or(|wanted| wanted == source)
            && self.note.as_deref().is_none_or(|wanted| note == Some(wanted))
    }
}

impl Watched {
    fn has(&self, state: State) -> bool {
        state != State::Terminated && (self.states.is_empty() || self.states.contains(&state))
    }

    /// No two instances of a task are in it at a time: those that wait for their start are not.
    fn is_of_one(&self) -> bool {
        !self.has(State::Active)
    }

    fn is_hidden_by(&self, core: Option<u32>) -> bool {
        core.is_none_or(|core| self.cores.contains(&core))
    }
}

impl Watch {
    fn entity(&mut self, name: &str) -> usize {
        if let Some(number) = self.entities.get(name) {
            return *number;
        }
        let number = self.of.len();
        self.of.push(Entity { name: name.to_owned(), ..Entity::default() });
        self.entities.insert(name.to_owned(), number);
        number
    }

    /// An event has a symbol, and a place among those that it is at once.
    pub fn event(&mut self, event: &Happening, rank: Rank, symbol: Symbol) {
        let entity = self.entity(&event.entity);
        let wanted = Wanted {
            action: event.action.clone(),
            meaning: Action::parse_tolerant(&event.action),
            source: event.source.clone(),
            note: event.value.as_ref().map(|value| value.0.clone()),
            rank,
            symbol,
        };
        if let Some(of) = self.of.get_mut(entity) {
            of.events.push(wanted);
            of.events.sort_by_key(|wanted| wanted.rank);
        }
    }

    /// A state has a symbol: one of `states`, or any if there are none.
    pub fn state(&mut self, entity: &str, states: Vec<State>, symbol: Symbol) {
        let entity = self.entity(entity);
        if let Some(of) = self.of.get_mut(entity) {
            of.states.push(self.states.len());
        }
        self.states.push(Watched {
            symbol,
            entity,
            states,
            cores: Vec::new(),
            count: 0,
            known: false,
            hidden_until: i64::MIN,
        });
    }

    /// The names of what is watched; only of what has a watched state, if `with_state`.
    pub fn names(&self, with_state: bool) -> Vec<&str> {
        let has = |entity: &&Entity| !with_state || !entity.states.is_empty();
        self.of.iter().filter(has).map(|entity| entity.name.as_str()).collect()
    }

    /// A recording begins, which ends at `end`. Returns the cores of each symbol, for the monitor.
    pub fn begin(&mut self, end: i64, cores: Cores) -> Vec<(Symbol, Vec<u32>)> {
        (self.end, self.now, self.cores) = (end, i64::MIN, cores);
        self.tick.clear();
        self.open.clear();
        let mut places = Vec::new();
        for entity in &self.of {
            let home = self.cores.of(&entity.name);
            for event in &entity.events {
                let cores =
                    if event.meaning.is_some_and(is_on_core) { home.clone() } else { self.cores.all() };
                places.push((event.symbol, cores));
            }
        }
        for (n, state) in self.states.iter_mut().enumerate() {
            let name = self.of.get(state.entity).map_or("", |entity| &entity.name);
            state.cores = self.cores.of(name);
            (state.count, state.known, state.hidden_until) = (0, false, i64::MIN);
            places
                .push((state.symbol, state.cores.iter().copied().chain([self.cores.of_state(n)]).collect()));
        }
        places
    }

    /// The next row, in the order of time, and of `seq` within a tick. Adds records of the ticks before it.
    pub fn row(&mut self, time: i64, row: Row<'_>, out: &mut Vec<Fed>) {
        if time != self.now {
            self.finish(out);
            self.now = time;
        }
        match row {
            Row::Event { seq, kind, entity, instance, action, source, note } => {
                let Some(entity) = self.entities.get(entity).copied() else { return };
                let (action, source_word) = (self.words.number(action), self.words.number(source));
                let meaning = self.words.meaning(action);
                let kind = EntityType::parse_tolerant(kind);
                let moves = match kind {
                    Some(EntityType::Runnable) => meaning.and_then(runnable_transition),
                    Some(kind) if kind.is_process() => meaning.and_then(process_transition),
                    _ => None,
                };
                let has_instance = kind.is_some_and(|kind| kind.is_process() || kind == EntityType::Runnable);
                let origin = Origin {
                    seq,
                    entity,
                    instance: instance.filter(|n| has_instance && *n >= 0),
                    action,
                    source: source_word,
                };
                let words = (self.words.text(action), meaning);
                let wanted = self.of.get(entity).into_iter().flat_map(|of| &of.events);
                let symbols = wanted.filter(|wanted| wanted.is(words, source, note)).map(|w| w.symbol);
                let actor = (instance.unwrap_or(-1), kind == Some(EntityType::Task));
                self.tick.event(origin, actor, moves, symbols);
            }
            Row::State { entity, is_task, instance, state, begins } => {
                let Some(entity) = self.entities.get(entity).copied() else { return };
                let Some(state) = State::parse(state) else { return };
                let instance = instance.unwrap_or(-1);
                self.tick.change(Change { entity, instance, state, begins, is_task, place: 0 });
            }
            Row::Gap { end, core } => {
                self.tick.gap(end.max(time), core.and_then(|core| self.cores.get(core)))
            }
        }
    }

    /// The rows are over, or those of a tick.
    pub fn finish(&mut self, out: &mut Vec<Fed>) {
        let mut tick = std::mem::take(&mut self.tick);
        tick.flush(self, out);
        tick.clear();
        self.tick = tick;
    }

    /// What a record is of, in words.
    pub fn describe(&self, fed: &Fed) -> String {
        let name = |entity: usize| self.of.get(entity).map_or("", |entity| entity.name.as_str());
        if let Some(origin) = &fed.origin {
            let action = self.words.text(origin.action);
            return match origin.instance {
                Some(instance) => format!("{}[{instance}] {action}", name(origin.entity)),
                None => {
                    format!("{} {action} by {}", name(origin.entity), self.words.text(origin.source))
                }
            };
        }
        let Record::State(symbol, begins) = fed.record else { return String::new() };
        let Some(state) = self.states.iter().find(|state| state.symbol == symbol) else {
            return String::new();
        };
        let words: Vec<&str> = state.states.iter().map(|state| state.as_str()).collect();
        let words = if words.is_empty() { "any state".to_owned() } else { words.join(" or ") };
        format!("{} {} {words}", name(state.entity), if begins { "enters" } else { "leaves" })
    }
}

#[cfg(test)]
mod tests;
