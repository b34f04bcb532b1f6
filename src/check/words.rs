//! From the type and action of a line to the rule of the specification that holds for it, tolerant where the
//! meaning is clear. Not the judgement of anything else in the line.

use std::collections::HashMap;

use super::entities::is_damaged;
use super::rules::Id;
use crate::btf::spec::{self, ActionRule, Kind, Number, Version};

/// What a pair of words means.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Meaning {
    /// The entity type, if its id has a meaning.
    pub(super) kind: Option<Kind>,
    /// What is wrong with the id of the type.
    pub(super) kind_fault: Option<Id>,
    /// The rule that the action means.
    pub(super) rule: Option<&'static ActionRule>,
    /// What is wrong with the action.
    pub(super) action_fault: Option<Id>,
    /// True if one of the words was not UTF-8.
    pub(super) damaged: bool,
}

/// The meanings of one version, each looked up once.
#[derive(Debug)]
pub(super) struct Words {
    version: Version,
    /// The number that the trace gives itself, if it is judged by it.
    named: Option<Number>,
    /// Type → action → meaning.
    known: HashMap<Box<str>, HashMap<Box<str>, Meaning>>,
    size: usize,
}

impl Words {
    /// More pairs than any trace has; a file of random words must not fill the memory.
    const LIMIT: usize = 4096;

    pub(super) fn new(version: Version, named: Option<Number>) -> Self {
        Self { version, named, known: HashMap::new(), size: 0 }
    }

    /// The meaning of a line's type and action. `ids` are the types of numeric mode.
    pub(super) fn meaning(&mut self, kind: &str, action: &str, ids: &HashMap<String, String>) -> Meaning {
        if let Some(meaning) = self.known.get(kind).and_then(|actions| actions.get(action)) {
            return *meaning;
        }
        let mut meaning = self.look_up(ids.get(kind).map_or(kind, String::as_str), action);
        meaning.damaged = is_damaged(kind) || is_damaged(action);
        if self.size >= Self::LIMIT {
            self.known.clear();
            self.size = 0;
        }
        self.size += 1;
        self.known.entry(kind.into()).or_default().insert(action.into(), meaning);
        meaning
    }

    /// The type that an id means, and what is wrong with the id.
    pub(super) fn kind_of(&self, id: &str) -> (Option<Kind>, Option<Id>) {
        if let Some(kind) = spec::kind(self.version, id) {
            (Some(kind), None)
        } else if let Some(kind) = spec::kind_of_any_version(id) {
            (Some(kind), Some(Id::TypeOfOtherVersion))
        } else if let Some(kind) = spec::kind_alias(id) {
            (Some(kind), Some(Id::TypeAlias).filter(|_| !self.is_own(id)))
        } else {
            (None, Some(Id::UnknownType))
        }
    }

    /// True for a word of the version that the trace names, although the one that it is judged by has another.
    fn is_own(&self, word: &str) -> bool {
        self.named.is_some_and(|number| spec::is_former_word(number, word))
    }

    fn look_up(&self, id: &str, action: &str) -> Meaning {
        let (kind, kind_fault) = self.kind_of(id);
        let Some(kind) = kind else { return Meaning { kind_fault, ..Meaning::default() } };
        // An empty action is reported as an empty field.
        let (rule, action_fault) =
            if action.is_empty() { (None, None) } else { rule_of(self.version, kind, action) };
        // Where the type is the fault, that it has no events in this version is not another one.
        let action_fault = action_fault.filter(|fault| match fault {
            Id::ActionOfOtherVersion => kind_fault != Some(Id::TypeOfOtherVersion),
            Id::ActionAlias => !self.is_own(action),
            _ => true,
        });
        Meaning { kind: Some(kind), kind_fault, rule, action_fault, damaged: false }
    }
}

fn rule_of(version: Version, kind: Kind, action: &str) -> (Option<&'static ActionRule>, Option<Id>) {
    if let Some(rule) = spec::action(version, kind, action) {
        return (Some(rule), None);
    }
    if let Some(rule) = spec::action_of_any_version(kind, action) {
        return (Some(rule), Some(Id::ActionOfOtherVersion));
    }
    if spec::is_vendor_action(kind, action) {
        return (None, Some(Id::VendorAction));
    }
    match spec::action_alias(action) {
        Some(word) if word == action => (None, Some(Id::ActionNotForType)),
        Some(word) => {
            let rule = spec::action(version, kind, word).or_else(|| spec::action_of_any_version(kind, word));
            (rule, Some(if rule.is_some() { Id::ActionAlias } else { Id::ActionNotForType }))
        }
        None => (None, Some(Id::UnknownAction)),
    }
}
