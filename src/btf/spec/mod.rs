//! The BTF specification as data: versions, entity types, actions, states, and for each action its targets,
//! sources, note and state transition by version. The only place where these words stand: the mappers write
//! them, `derive` and `check` judge by them, `picture`, `plot` and `export` take them from here. Not a
//! checker and not the state of anything.
//!
//! Facts are taken from the specifications 2.1.5 and 2.3.0; 2.2.1 is 2.3.0 without spinlocks, as the version
//! history of 2.3.0 says.

mod actions;
mod entity_types;
mod parameters;
mod rules;
mod state;
#[cfg(test)]
mod tests;
mod transitions;
mod words;

pub use actions::Action;
#[cfg(test)]
use entity_types::ENTITY_TYPES;
pub use entity_types::{EntityType, EntityTypes, FORMER_WORDS, is_environment};
pub use parameters::{Form, Parameter, TIME_SCALES};
pub use rules::{ACTION_RULES, ActionRule, Content, Note, VENDOR_ACTIONS};
pub use state::{State, Transition};
pub use transitions::{is_on_core, process_transition, runnable_transition};

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a version as a file writes it; parts that are left out are zero.
pub type Number = [u32; 3];

/// A specification whose rules differ from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Version {
    /// 2.1.5 and everything before it: up to 2.1.5 each version adds to the one before and removes nothing
    /// that these tables hold, except [`FORMER_WORDS`].
    V2_1_5,
    /// 2.2.0 and 2.2.1, which differ in the licence text only.
    V2_2_1,
    /// 2.3.0: spinlocks, and the notes of semaphores.
    V2_3_0,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 3] = [Self::V2_1_5, Self::V2_2_1, Self::V2_3_0];

    /// The number that the specification has on its title page.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2_1_5 => "2.1.5",
            Self::V2_2_1 => "2.2.1",
            Self::V2_3_0 => "2.3.0",
        }
    }

    /// The version that a file with `#version text` is judged by; `None` if it was never published.
    pub fn parse(text: &str) -> Option<Self> {
        let [major, minor, _] = Self::number(text)?;
        match (major, minor) {
            (1, 0) | (2, 0 | 1) => Some(Self::V2_1_5),
            (2, 2) => Some(Self::V2_2_1),
            (2, 3) => Some(Self::V2_3_0),
            _ => None,
        }
    }

    /// The parts of a version number, whether it was ever published or not.
    pub fn number(text: &str) -> Option<Number> {
        let mut number = Number::default();
        for (n, part) in text.trim().split('.').enumerate() {
            let part = part.parse().ok()?;
            if let Some(slot) = number.get_mut(n) {
                *slot = part;
            }
        }
        Some(number)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions(u8);

impl Versions {
    /// Every version.
    pub const ALL: Self = Self(0b111);
    /// Up to 2.1.5.
    pub const OLD: Self = Self(0b001);
    /// Since 2.2.0.
    pub const NEW: Self = Self(0b110);

    /// True if `version` is in the set.
    pub const fn has(self, version: Version) -> bool {
        self.0 & (1 << version as u8) != 0
    }
}

/// True if the specification with this number has `word` where later ones have another.
pub fn is_former_word(number: Number, word: &str) -> bool {
    FORMER_WORDS.iter().any(|(former, last)| *former == word && number <= *last)
}

/// The rule of `action` on entities of type `target` in `version`; `None` if it does not permit that.
pub fn rule(version: Version, target: EntityType, action: Action) -> Option<&'static ActionRule> {
    ACTION_RULES
        .iter()
        .find(|rule| rule.action == action && rule.targets.has(target) && rule.versions.has(version))
}

/// The rule of `action` on `target` in the newest version that has it.
pub fn rule_of_any_version(target: EntityType, action: Action) -> Option<&'static ActionRule> {
    Version::ALL.iter().rev().find_map(|version| rule(*version, target, action))
}

/// True for an action of [`VENDOR_ACTIONS`]: tools write it for this entity type although no version has it.
pub fn is_vendor_action(target: EntityType, action: &str) -> bool {
    let has = |words: &str| words.split(' ').any(|word| word == action);
    VENDOR_ACTIONS.iter().any(|(entity_type, words)| *entity_type == target && has(words))
}
