//! The BTF specification as data: versions, entity types, and for each action who may do it to whom, in which
//! version, with which note, and which state it leads to. Not a checker and not the state of anything.
//!
//! `check` judges traces by these tables, the exporter asks them what a version cannot say. Facts are taken from
//! the specifications 2.1.5 and 2.3.0; 2.2.1 is 2.3.0 without spinlocks, as the version history of 2.3.0 says.

mod actions;
mod kinds;
mod parameters;
mod state;
#[cfg(test)]
mod tests;

pub use actions::{ACTIONS, ActionRule, Content, Note, SPINLOCK_ACTIONS, VENDOR_ACTIONS};
pub use kinds::{FORMER_WORDS, KINDS, Kind, KindRule, Kinds};
pub use parameters::{Form, PARAMETERS, Parameter, TIME_SCALES};
pub use state::{State, Transition};

use std::fmt;

/// The number of a version as a file writes it; parts that are left out are zero.
pub type Number = [u32; 3];

/// A specification whose rules differ from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// 2.1.5, and everything before it: 2.1.x and older add to each other and take nothing away that is
    /// looked at here, but for [`FORMER_WORDS`].
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

    /// The version that a file with `#version text` is judged by; `None` for a number that was never published.
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
    /// 2.2.0 and 2.2.1 only.
    pub const V2_2: Self = Self(0b010);
    /// Since 2.3.0.
    pub const V2_3: Self = Self(0b100);

    /// True if `version` is in the set.
    pub const fn has(self, version: Version) -> bool {
        self.0 & (1 << version as u8) != 0
    }
}

/// The entity type with exactly this id in this version.
pub fn kind(version: Version, id: &str) -> Option<Kind> {
    KINDS.iter().find(|rule| rule.id == id && rule.versions.has(version)).map(|rule| rule.kind)
}

/// The entity type with exactly this id in any version.
pub fn kind_of_any_version(id: &str) -> Option<Kind> {
    KINDS.iter().find(|rule| rule.id == id).map(|rule| rule.kind)
}

/// The entity type that a tool means by `id`: any case, the ids of older versions, and the ids of vendors.
pub fn kind_alias(id: &str) -> Option<Kind> {
    let means = |rule: &&KindRule| {
        rule.id.eq_ignore_ascii_case(id) || rule.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(id))
    };
    KINDS.iter().find(means).map(|rule| rule.kind)
}

/// True if the specification with this number has `word` where later ones have another.
pub fn is_former_word(number: Number, word: &str) -> bool {
    FORMER_WORDS.iter().any(|(former, last)| *former == word && number <= *last)
}

/// The rule of `action` on an entity of type `target` in `version`; `None` when the version does not permit it.
pub fn action(version: Version, target: Kind, action: &str) -> Option<&'static ActionRule> {
    rules_of(target, action).find(|rule| rule.versions.has(version))
}

/// The rule of `action` on `target` in the newest version that has it.
pub fn action_of_any_version(target: Kind, action: &str) -> Option<&'static ActionRule> {
    Version::ALL.iter().rev().find_map(|version| self::action(*version, target, action))
}

fn rules_of(target: Kind, action: &str) -> impl Iterator<Item = &'static ActionRule> {
    ACTIONS.iter().filter(move |rule| rule.action == action && rule.targets.has(target))
}

/// True if any version has this action for some entity type.
pub fn is_action(action: &str) -> bool {
    ACTIONS.iter().any(|rule| rule.action == action)
}

/// True if tools are known to write this action for this entity type although no version has it.
pub fn is_vendor_action(target: Kind, action: &str) -> bool {
    VENDOR_ACTIONS.iter().any(|(kind, words)| *kind == target && words.contains(&action))
}

/// The spelling of the specifications for an action that a tool spells in another way; `None` if there is none.
/// Words that need no other spelling come back as they are.
pub fn action_alias(action: &str) -> Option<&'static str> {
    let wanted = match action.to_ascii_lowercase().as_str() {
        // Up to 2.1.3, and a misspelling of the simulator of that time (2.1.4 corrects it).
        "mpalimitexceeded" | "mtalimitexceded" => "mtalimitexceeded".to_owned(),
        other => other.to_owned(),
    };
    ACTIONS.iter().find(|rule| rule.action == wanted).map(|rule| rule.action)
}
