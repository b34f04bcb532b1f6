//! A record in compact form: names are interned, so that comparing two events takes some instructions only,
//! and the meaning of each word is looked up once. Not a parser, and no check of the record.

use crate::btf::spec::{Action, EntityType, is_environment};
use crate::btf::{NameId, Names, Place, Record};
use crate::names::IdMap;
use std::fmt::Write as _;

/// Text of a note. Notes carry values, so there may be as many as events: they are not interned.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Note {
    /// The line has seven fields.
    None,
    /// Up to 22 bytes, without an allocation: length, bytes.
    Short(u8, [u8; 22]),
    /// Anything longer.
    Long(Box<str>),
}

impl Note {
    fn new(text: Option<&str>) -> Self {
        let Some(text) = text else { return Self::None };
        let mut bytes = [0; 22];
        match (bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(room), Ok(length)) => {
                room.copy_from_slice(text.as_bytes());
                Self::Short(length, bytes)
            }
            _ => Self::Long(text.into()),
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::None => None,
            Self::Short(length, bytes) => {
                bytes.get(..usize::from(*length)).and_then(|b| std::str::from_utf8(b).ok())
            }
            Self::Long(text) => Some(text),
        }
    }
}

/// Every field of an event except its time: a semantic difference in the thesis (chapter 5.1.3).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) source: NameId,
    pub(super) source_instance: Option<i64>,
    pub(super) kind: NameId,
    pub(super) target: NameId,
    pub(super) target_instance: Option<i64>,
    pub(super) action: NameId,
    pub(super) note: Note,
}

impl Key {
    /// The number of fields in which two keys differ.
    pub(super) fn distance(&self, other: &Self) -> usize {
        usize::from(self.source != other.source)
            + usize::from(self.source_instance != other.source_instance)
            + usize::from(self.kind != other.kind)
            + usize::from(self.target != other.target)
            + usize::from(self.target_instance != other.target_instance)
            + usize::from(self.action != other.action)
            + usize::from(self.note != other.note)
    }

    /// The names of the fields in which two keys differ.
    pub(super) fn differing(&self, other: &Self) -> Vec<&'static str> {
        [
            ("source", self.source == other.source),
            ("source_instance", self.source_instance == other.source_instance),
            ("target_type", self.kind == other.kind),
            ("target", self.target == other.target),
            ("target_instance", self.target_instance == other.target_instance),
            ("action", self.action == other.action),
            ("note", self.note == other.note),
        ]
        .into_iter()
        .filter_map(|(name, same)| (!same).then_some(name))
        .collect()
    }
}

/// The class of a target, for the order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Task, ISR, thread: has instances that run on a core.
    Process,
    Runnable,
    Stimulus,
    Core,
    /// Instruction block: its source is a signal, which cores share.
    Block,
    /// Anything else.
    Other,
}

/// A type in the spelling of the specification: `I` for `ISR`; those that no version has in upper case.
pub(super) fn normal_type(text: &str) -> String {
    EntityType::parse_tolerant(text)
        .map_or_else(|| text.to_ascii_uppercase(), |kind| kind.as_str().to_owned())
}

/// An action in the spelling of the specification; those that no version has in lower case.
pub(super) fn normal_action(text: &str) -> String {
    Action::parse_tolerant(text).map_or_else(|| text.to_ascii_lowercase(), |known| known.as_str().to_owned())
}

/// The meaning of an action of a process for its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The source is the core that the process is on from now.
    Enter,
    /// The source is the core that the process leaves.
    Leave,
    /// The source is the last core of the process; nothing happens there.
    Away,
    /// The source caused it.
    Caused,
}

/// The actions of an interruption, of a process or a runnable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Preempt,
    Suspend,
    Resume,
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) place: Place,
    /// Ticks, after alignment.
    pub(super) time: i64,
    pub(super) key: Key,
    /// Source, type, target and action as spelled in the file.
    pub(super) raw: [NameId; 4],
    pub(super) class: Class,
    pub(super) step: Step,
    pub(super) verb: Verb,
}

/// The words of both sides and their meanings.
#[derive(Debug, Default)]
pub(super) struct Words {
    names: Names,
    /// Level `exact` compares texts; at other levels `ISR` is `I`, and case does not matter.
    spelling: bool,
    classes: IdMap<NameId, (NameId, Class)>,
    steps: IdMap<NameId, (NameId, Step, Verb)>,
    /// The new name, and whether it was needed.
    renamed: IdMap<NameId, (NameId, bool)>,
    set_event: Option<NameId>,
    /// Which names stand for the environment, by their index.
    environment: Vec<bool>,
    /// The latest type of an entity.
    kinds: IdMap<NameId, (NameId, Class)>,
}

impl Words {
    /// `spelling`: types and actions must be spelled alike.
    pub(super) fn new(spelling: bool, rename: &[(String, String)]) -> Self {
        let mut words = Self { spelling, ..Self::default() };
        for (from, to) in rename {
            let pair = (words.name(from), words.name(to));
            words.renamed.insert(pair.0, (pair.1, false));
        }
        words.set_event = Some(words.name(Action::SetEvent.as_str()));
        words
    }

    /// The id of a name, in terms of the right side.
    pub(super) fn name(&mut self, text: &str) -> NameId {
        let id = self.names.intern(text);
        if id.index() >= self.environment.len() {
            self.environment.resize(id.index(), false);
            self.environment.push(is_environment(text));
        }
        id
    }

    /// The id and meaning of a type.
    pub(super) fn kind(&mut self, text: &str) -> (NameId, Class) {
        let raw = self.name(text);
        if let Some(class) = self.classes.get(&raw) {
            return *class;
        }
        let word = normal_type(text);
        let class = match EntityType::parse_tolerant(text) {
            Some(EntityType::Task | EntityType::Isr) => Class::Process,
            Some(EntityType::Runnable) => Class::Runnable,
            Some(EntityType::Stimulus) => Class::Stimulus,
            Some(EntityType::Core) => Class::Core,
            Some(EntityType::InstructionBlock) => Class::Block,
            _ => Class::Other,
        };
        let id = if self.spelling { raw } else { self.name(&word) };
        self.classes.insert(raw, (id, class));
        (id, class)
    }

    fn step(&mut self, text: &str) -> (NameId, (NameId, Step, Verb)) {
        let raw = self.name(text);
        if let Some(step) = self.steps.get(&raw) {
            return (raw, *step);
        }
        use Action::{
            BoundedMigration, EnforcedMigration, FullMigration, Park, PhaseMigration, Poll, PollParking,
            Preempt, Release, ReleaseParking, Resume, Run, Start, Suspend, Terminate, Wait,
        };
        let action = Action::parse_tolerant(text);
        let step = match action {
            Some(Start | Resume | Run | Poll | PollParking) => Step::Enter,
            Some(Preempt | Terminate | Wait | Park) => Step::Leave,
            Some(
                Release | ReleaseParking | BoundedMigration | PhaseMigration | FullMigration
                | EnforcedMigration,
            ) => Step::Away,
            _ => Step::Caused,
        };
        let verb = match action {
            Some(Preempt) => Verb::Preempt,
            Some(Suspend) => Verb::Suspend,
            Some(Resume) => Verb::Resume,
            _ => Verb::Other,
        };
        let id = if self.spelling { raw } else { self.name(&normal_action(text)) };
        self.steps.insert(raw, (id, step, verb));
        (raw, (id, step, verb))
    }

    /// The event of a record, `origin` subtracted from its time; `left`: renamed as on the right side.
    pub(super) fn event(&mut self, place: Place, record: &Record<'_>, origin: i64, left: bool) -> Event {
        let raw_source = self.name(record.source);
        let raw_target = self.name(record.target);
        let raw_kind = self.name(record.target_type);
        let (kind, class) = self.kind(record.target_type);
        let (raw_action, (action, step, verb)) = self.step(record.action);
        let mut note = Note::new(record.note);
        let (mut source, mut target) = (raw_source, raw_target);
        if left && !self.renamed.is_empty() {
            source = self.rename(source).unwrap_or(source);
            target = self.rename(target).unwrap_or(target);
            // The note of `set_event` is the name of a task (BTF 2.1.5).
            if self.set_event == Some(action) {
                let to = record.note.and_then(|n| self.names.find(n)).and_then(|n| self.rename(n));
                note = to.map_or(note, |to| Note::new(Some(self.names.text(to))));
            }
        }
        // In every spelling, unless spellings are compared.
        if !self.spelling && self.environment.get(source.index()) == Some(&true) {
            source = self.name(EntityType::Simulation.as_str());
        }
        self.kinds.insert(target, (kind, class));
        let key = Key {
            source,
            source_instance: record.source_instance,
            kind,
            target,
            target_instance: record.target_instance,
            action,
            note,
        };
        let raw = [raw_source, raw_kind, raw_target, raw_action];
        Event { place, time: record.time.saturating_sub(origin), key, raw, class, step, verb }
    }

    fn rename(&mut self, name: NameId) -> Option<NameId> {
        let (to, used) = self.renamed.get_mut(&name)?;
        *used = true;
        Some(*to)
    }

    /// True for a name that was renamed at least once.
    pub(super) fn was_renamed(&self, from: &str) -> bool {
        self.names.find(from).and_then(|name| self.renamed.get(&name)).is_some_and(|(_, used)| *used)
    }

    /// True if an event had this type, in any spelling.
    pub(super) fn has_type(&self, text: &str) -> bool {
        self.classes.keys().any(|raw| normal_type(self.names.text(*raw)) == normal_type(text))
    }

    /// True if an event had this action, in any spelling.
    pub(super) fn has_action(&self, text: &str) -> bool {
        self.steps.keys().any(|raw| normal_action(self.names.text(*raw)) == normal_action(text))
    }

    /// True for the source that stands for the environment, by its name or its instance −1.
    pub(super) fn is_environment(&self, key: &Key) -> bool {
        let named = self.environment.get(key.source.index()).copied();
        key.source_instance.is_some_and(|n| n < 0) || named == Some(true)
    }

    /// The latest type of an entity.
    pub(super) fn kind_of(&self, entity: NameId) -> Option<(NameId, Class)> {
        self.kinds.get(&entity).copied()
    }

    /// The text of an id.
    pub(super) fn text(&self, id: NameId) -> &str {
        self.names.text(id)
    }

    /// The event as a line of BTF, with the names and the time of its file.
    pub(super) fn line(&self, event: &Event, origin: i64) -> String {
        let [source, kind, target, action] = event.raw.map(|id| self.names.text(id));
        let number = |n: Option<i64>| n.map_or_else(String::new, |n| n.to_string());
        let (from, to) = (number(event.key.source_instance), number(event.key.target_instance));
        let time = event.time.saturating_add(origin);
        let mut line = format!("{time},{source},{from},{kind},{target},{to},{action}");
        if let Some(note) = event.key.note.text() {
            // Writing to a string cannot fail.
            let _ = write!(line, ",{note}");
        }
        line
    }
}
