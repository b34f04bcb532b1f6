//! What the trace says about each name: the type of the entity, its instance counter, the process on a core.
//! Not the state of its instances (see `processes`, `runnables`, `semaphores`).

use crate::encoding::shows_other_bytes;
use std::collections::HashMap;

use crate::btf::freertos;
use crate::btf::spec::{EntityType, EntityTypes, State, is_environment};
use crate::diagnostics::excerpt;

/// An entity: its number in the order of first appearance.
pub(super) type EntityId = u32;

/// An instance of an entity; [`NO_INSTANCE`] if the field is empty.
pub(super) type Key = (EntityId, i64);

/// The instance for an empty field. No trace reaches this number, which would mix up two instances.
pub(super) const NO_INSTANCE: i64 = i64::MIN;

/// Everything about one name.
#[derive(Debug, Default)]
pub(super) struct Entity {
    pub(super) name: Box<str>,
    /// The type, once it is certain: from an event that happened to it or from a table.
    pub(super) kind: Option<EntityType>,
    /// The type is a guess from the name, which events can refute: a task may be called System.
    guessed: bool,
    /// The types that it can have, according to the events that it caused.
    possible: EntityTypes,
    /// First and last instance that began in this trace.
    range: Option<(i64, i64)>,
    /// A gap may hide instances, until the next one begins.
    unseen: bool,
    /// The file has only some of the events, and may lack instances anywhere.
    in_part: bool,
    /// The latest instances outside of that range that ended: they began before the trace.
    ended: Vec<i64>,
    /// For a stimulus: the first instance that caused something, and when.
    pub(super) first_cause: Option<(i64, i64)>,
    /// For a stimulus: the last instance that caused something.
    pub(super) last_cause: Option<i64>,
    /// For a core: the process instance on it.
    pub(super) occupant: Option<Key>,
    /// True once an event happened to it.
    pub(super) is_target: bool,
    /// True if the name has replacement characters for bytes that are not UTF-8.
    pub(super) damaged: bool,
    /// Entities of other types with the same name. Each has its own state, so only the name is reported.
    namesakes: Vec<EntityId>,
}

impl Entity {
    /// Maximum number of remembered instances from before the trace that ended: as many as can exist then.
    const ENDED: usize = 64;

    /// Counts a new instance; returns the expected one if this is another.
    pub(super) fn count(&mut self, instance: i64) -> Option<i64> {
        if std::mem::take(&mut self.unseen) || self.in_part {
            self.range = None;
        }
        let Some((_, last)) = &mut self.range else {
            self.range = Some((instance, instance));
            return None;
        };
        let next = last.saturating_add(1);
        if instance > *last {
            *last = instance;
        }
        (instance != next).then_some(next)
    }

    /// The last instance that began in this trace.
    pub(super) fn last(&self) -> Option<i64> {
        self.range.map(|(_, last)| last)
    }

    /// Remembers that an instance is over.
    pub(super) fn end(&mut self, instance: i64) {
        if instance == NO_INSTANCE || self.has_ended(instance) {
            return;
        }
        if self.ended.len() >= Self::ENDED {
            self.ended.remove(0);
        }
        self.ended.push(instance);
    }

    /// True if the instance has ended; false also for an instance without events.
    pub(super) fn has_ended(&self, instance: i64) -> bool {
        self.began_here(instance) || self.ended.contains(&instance)
    }

    /// True if the instance does not exist yet. Numbers rise without gaps: one above the last is a later one.
    pub(super) fn is_to_come(&self, instance: i64) -> bool {
        !self.unseen && !self.in_part && self.range.is_some_and(|(_, last)| instance > last)
    }

    /// True if the instance began in this trace.
    pub(super) fn began_here(&self, instance: i64) -> bool {
        self.range.is_some_and(|(first, last)| (first..=last).contains(&instance))
    }
}

/// True for a text that was not UTF-8 in the file: readers insert this character for invalid bytes.
pub(super) fn is_damaged(text: &str) -> bool {
    shows_other_bytes(text)
}

/// How an event fits the earlier ones of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameFit {
    /// It fits.
    Fits,
    /// The name has this other type.
    Is(EntityType),
    /// The name caused events that an entity of this type does not cause.
    Acted,
}

#[derive(Debug, Default)]
pub(super) struct Entities {
    /// The file has only some of the events of a trace.
    is_part: bool,
    /// How many process events came from another process, and how many from what may be a core.
    by_processes: u64,
    by_cores: u64,
    all: Vec<Entity>,
    ids: HashMap<Box<str>, EntityId>,
}

impl Entities {
    /// The entity of a name; a new one at its first use.
    pub(super) fn intern(&mut self, name: &str) -> EntityId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let guessed = is_environment(name);
        let id = self.add(name.into(), guessed.then_some(EntityType::Simulation));
        if let Some(entity) = self.get_mut(id) {
            entity.guessed = guessed;
        }
        self.ids.insert(name.into(), id);
        id
    }

    fn add(&mut self, name: Box<str>, kind: Option<EntityType>) -> EntityId {
        // 2^32 distinct names do not fit in memory, so the cast cannot lose anything.
        let id = self.all.len() as EntityId;
        self.all.push(Entity {
            damaged: is_damaged(&name),
            name,
            kind,
            possible: EntityTypes::ANY,
            in_part: self.is_part,
            ..Entity::default()
        });
        id
    }

    /// The entity of a name that appeared before.
    pub(super) fn find(&self, name: &str) -> Option<&Entity> {
        self.ids.get(name).and_then(|id| self.get(*id))
    }

    pub(super) fn get(&self, id: EntityId) -> Option<&Entity> {
        self.all.get(id as usize)
    }

    pub(super) fn get_mut(&mut self, id: EntityId) -> Option<&mut Entity> {
        self.all.get_mut(id as usize)
    }

    pub(super) fn name(&self, id: EntityId) -> &str {
        self.get(id).map_or("", |entity| &entity.name)
    }

    pub(super) fn named(&self, (id, instance): Key) -> String {
        let name = excerpt(self.name(id).as_bytes());
        if instance == NO_INSTANCE { format!("'{name}'") } else { format!("'{name}' instance {instance}") }
    }

    /// The type, if it is certain.
    pub(super) fn kind(&self, id: EntityId) -> Option<EntityType> {
        self.get(id).and_then(|entity| entity.kind)
    }

    /// The possible types of the entity, if it causes an event that only these types cause.
    pub(super) fn possible(&self, id: EntityId, kinds: EntityTypes) -> EntityTypes {
        let Some(entity) = self.get(id) else { return kinds };
        entity.kind.map_or(entity.possible.and(kinds), |kind| EntityTypes::of(&[kind]))
    }

    /// The possible types of the entities of a name; `None` if there is none.
    pub(super) fn kinds_of(&self, name: &str) -> Option<EntityTypes> {
        let id = *self.ids.get(name)?;
        let namesakes = self.get(id)?.namesakes.iter().filter_map(|other| self.kind(*other));
        Some(namesakes.fold(self.possible(id, EntityTypes::ANY), EntityTypes::with))
    }

    /// The name is that of an entity of this type: something happened to it, or a table says so.
    pub(super) fn is(&mut self, id: EntityId, kind: EntityType) -> NameFit {
        match self.get_mut(id) {
            Some(entity)
                if entity.guessed && !matches!(kind, EntityType::Simulation | EntityType::System) =>
            {
                (entity.kind, entity.guessed) = (Some(kind), false);
                NameFit::Fits
            }
            Some(Entity { kind: Some(own), .. }) if *own == kind => NameFit::Fits,
            Some(Entity { kind: Some(own), .. }) => NameFit::Is(*own),
            Some(entity) => {
                entity.kind = Some(kind);
                if entity.possible.has(kind) { NameFit::Fits } else { NameFit::Acted }
            }
            None => NameFit::Fits,
        }
    }

    /// The entity of this type among those that share the name of `id`, and how it fits: `Is` the first time.
    pub(super) fn of_kind(&mut self, id: EntityId, kind: EntityType) -> (EntityId, NameFit) {
        let learnt = self.is(id, kind);
        let NameFit::Is(_) = learnt else { return (id, learnt) };
        if let Some(namesake) = self.namesake(id, EntityTypes::of(&[kind])) {
            return (namesake, NameFit::Fits);
        }
        let namesake = self.add(self.name(id).into(), Some(kind));
        if let Some(entity) = self.get_mut(id) {
            entity.namesakes.push(namesake);
        }
        (namesake, learnt)
    }

    /// The entity that causes an event which only these types cause: `id`, or one that shares its name.
    pub(super) fn cause(&self, id: EntityId, kinds: EntityTypes) -> EntityId {
        match self.kind(id) {
            Some(kind) if !kinds.has(kind) => self.namesake(id, kinds).unwrap_or(id),
            _ => id,
        }
    }

    fn namesake(&self, id: EntityId, kinds: EntityTypes) -> Option<EntityId> {
        let namesakes = &self.get(id)?.namesakes;
        namesakes.iter().copied().find(|other| self.kind(*other).is_some_and(|kind| kinds.has(kind)))
    }

    /// The name causes an event that only entities of these types cause.
    pub(super) fn acts_as(&mut self, id: EntityId, kinds: EntityTypes) -> NameFit {
        let Some(entity) = self.get_mut(id) else { return NameFit::Fits };
        match entity.kind {
            Some(kind) if kinds.has(kind) => NameFit::Fits,
            Some(kind) => NameFit::Is(kind),
            None => {
                let both = entity.possible.and(kinds);
                if both.is_empty() {
                    return NameFit::Acted;
                }
                entity.possible = both;
                NameFit::Fits
            }
        }
    }

    /// The state of an instance that is not open (2.3.0, tables 2-10 and 2-25: TERMINATED covers instances
    /// that are over and those that have not begun); `None` if it may be older than the trace.
    pub(super) fn state_if_closed(&self, key: Key) -> Option<State> {
        let entity = self.get(key.0)?;
        (entity.has_ended(key.1) || entity.is_to_come(key.1)).then_some(State::Terminated)
    }

    /// True if the instance began in this trace.
    pub(super) fn began_here(&self, key: Key) -> bool {
        self.get(key.0).is_some_and(|entity| entity.began_here(key.1))
    }

    /// The state of an instance in words.
    pub(super) fn condition(&self, key: Key, state: State) -> &'static str {
        let to_come = state == State::Terminated && self.get(key.0).is_some_and(|e| e.is_to_come(key.1));
        match self.kind(key.0) {
            Some(EntityType::Runnable) if to_come => "not started yet",
            _ if to_come => "not activated yet",
            _ => state.as_str(),
        }
    }

    /// The file has only some of the events of a trace.
    pub(super) fn in_part(&mut self) {
        self.is_part = true;
        self.all.iter_mut().for_each(|entity| entity.in_part = true);
    }

    pub(super) fn are_in_part(&self) -> bool {
        self.is_part
    }

    /// Instances may begin and end unseen.
    pub(super) fn forget_instances(&mut self) {
        self.all.iter_mut().for_each(|entity| entity.unseen = true);
    }

    /// Nothing is known any more of what is on a core; `None`: on all.
    pub(super) fn forget_occupant(&mut self, core: Option<EntityId>) {
        for (id, entity) in self.all.iter_mut().enumerate() {
            if core.is_none_or(|core| core as usize == id) {
                entity.occupant = None;
            }
        }
    }

    /// True if it is certainly a core: an event happened to it, or a table says so.
    pub(super) fn is_core(&self, id: EntityId) -> bool {
        self.kind(id) == Some(EntityType::Core)
    }

    /// True if a process event of this source tells where the process is: it can be a core, and if the writer
    /// names the previous task more often than a core, it must be one for certain.
    pub(super) fn tells_core(&mut self, id: EntityId) -> bool {
        let may_be = self.may_be_core(id);
        if may_be {
            self.by_cores += 1;
        } else {
            self.by_processes += 1;
        }
        self.is_core(id) || may_be && self.by_cores >= self.by_processes
    }

    /// True if it can be a core. An empty field is not a core, nor is the number of a task of FreeRTOS.
    pub(super) fn may_be_core(&self, id: EntityId) -> bool {
        let by_name = |e: &Entity| e.possible.has(EntityType::Core) && !freertos::is_numbered(&e.name);
        let may_be = |e: &Entity| e.kind.map_or_else(|| by_name(e), |k| k == EntityType::Core);
        self.get(id).is_some_and(|e| may_be(e) && !e.name.is_empty())
    }
}
