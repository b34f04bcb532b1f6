//! Finds the rule of the specification for the type and action of a line, tolerant if the meaning is clear.
//! Does not check anything else in the line.

use std::collections::HashMap;

use super::entities::is_damaged;
use super::rules::Id;
use crate::btf::spec::{self, Action, ActionRule, EntityType, Number, Version};

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meaning {
    /// The entity type, if its id has a meaning.
    pub(super) kind: Option<EntityType>,
    pub(super) kind_fault: Option<Id>,
    pub(super) rule: Option<&'static ActionRule>,
    pub(super) action_fault: Option<Id>,
    /// True if one of the words was not UTF-8.
    pub(super) damaged: bool,
}

/// The meanings of one version, each looked up once.
#[derive(Debug)]
pub(super) struct Words {
    version: Version,
    /// The number that the trace gives itself, if it is checked against it.
    named: Option<Number>,
    /// Type → action → meaning.
    meanings: HashMap<Box<str>, HashMap<Box<str>, Meaning>>,
    size: usize,
}

impl Words {
    /// Maximum number of pairs: a file of random words must not fill the memory.
    const LIMIT: usize = 4096;

    pub(super) fn new(version: Version, named: Option<Number>) -> Self {
        Self { version, named, meanings: HashMap::new(), size: 0 }
    }

    /// The meaning of a line's type and action. `ids` are the types of numeric mode.
    pub(super) fn meaning(&mut self, kind: &str, action: &str, ids: &HashMap<String, String>) -> Meaning {
        if let Some(meaning) = self.meanings.get(kind).and_then(|actions| actions.get(action)) {
            return *meaning;
        }
        let mut meaning = self.look_up(ids.get(kind).map_or(kind, String::as_str), action);
        meaning.damaged = is_damaged(kind) || is_damaged(action);
        if self.size >= Self::LIMIT {
            self.meanings.clear();
            self.size = 0;
        }
        self.size += 1;
        self.meanings.entry(kind.into()).or_default().insert(action.into(), meaning);
        meaning
    }

    /// The type of an id, and what is wrong with the id.
    pub(super) fn kind_of(&self, id: &str) -> (Option<EntityType>, Option<Id>) {
        if let Some(kind) = EntityType::of_version(self.version, id) {
            (Some(kind), None)
        } else if let Some(kind) = EntityType::parse(id) {
            (Some(kind), Some(Id::TypeOfOtherVersion))
        } else if let Some(kind) = EntityType::parse_tolerant(id) {
            (Some(kind), Some(Id::TypeAlias).filter(|_| !self.is_own(id)))
        } else {
            (None, Some(Id::UnknownType))
        }
    }

    /// True for a word of the version that the trace names, if it is checked against another one.
    fn is_own(&self, word: &str) -> bool {
        self.named.is_some_and(|number| spec::is_former_word(number, word))
    }

    fn look_up(&self, id: &str, action: &str) -> Meaning {
        let (kind, kind_fault) = self.kind_of(id);
        let Some(kind) = kind else { return Meaning { kind_fault, ..Meaning::default() } };
        // An empty action is reported as an empty field.
        let (rule, action_fault) =
            if action.is_empty() { (None, None) } else { rule_of(self.version, kind, action) };
        // A type without events in this version is one fault, not two.
        let action_fault = action_fault.filter(|fault| match fault {
            Id::ActionOfOtherVersion => kind_fault != Some(Id::TypeOfOtherVersion),
            Id::ActionAlias => !self.is_own(action),
            _ => true,
        });
        Meaning { kind: Some(kind), kind_fault, rule, action_fault, damaged: false }
    }
}

fn rule_of(version: Version, kind: EntityType, word: &str) -> (Option<&'static ActionRule>, Option<Id>) {
    let exact = Action::parse(word);
    if let Some(rule) = exact.and_then(|action| spec::rule(version, kind, action)) {
        return (Some(rule), None);
    }
    if let Some(rule) = exact.and_then(|action| spec::rule_of_any_version(kind, action)) {
        return (Some(rule), Some(Id::ActionOfOtherVersion));
    }
    if spec::is_vendor_action(kind, word) {
        return (None, Some(Id::VendorAction));
    }
    match Action::parse_tolerant(word) {
        Some(_) if exact.is_some() => (None, Some(Id::ActionNotForType)),
        Some(action) => {
            let rule = spec::rule(version, kind, action).or_else(|| spec::rule_of_any_version(kind, action));
            (rule, Some(if rule.is_some() { Id::ActionAlias } else { Id::ActionNotForType }))
        }
        None => (None, Some(Id::UnknownAction)),
    }
}
