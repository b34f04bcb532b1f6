//! Chains of events, each the cause of the next: a sensor is read, a value written, read by another task, an
//! actuator set. `follow` finds what follows from what, `ends` how long that takes, and `discover` which
//! chains there are. Not for reading the events (see `engine`), and not for the bounds on a chain (see
//! `require`).

mod discover;
mod ends;
mod file;
mod follow;
mod found;
mod links;
mod seen;

pub(crate) use discover::Discovery;
pub(crate) use ends::{Ends, Latency};
pub(crate) use file::file_text;
pub(crate) use follow::{Cause, Event, Follower, Occurrence, Outcome};
pub(crate) use found::{Found, FoundChain, FoundLink};
pub(crate) use links::{Link, Links};
pub(crate) use seen::Limits;

use crate::sql_text::literal;
use serde::{Deserialize, Serialize};

/// A chain of system events: `[[chain]]` in a TOML file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// Its name in SQL, metrics and reports.
    pub name: String,
    /// The steps, cause first; at least two.
    pub steps: Vec<ChainStep>,
    /// One of the steps never happens, so that nothing can be said about the others: it has no rows.
    pub is_silent: bool,
}

/// A step of a chain: system events of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainStep {
    /// The entity that it happens to.
    pub entity: String,
    /// The action, in the words of BTF.
    pub action: String,
    /// The entity that causes it; any if left out.
    pub source: Option<String>,
    /// Which event of the previous step is the cause.
    #[serde(default)]
    pub instance: Instance,
}

impl ChainStep {
    /// An SQL condition for the rows of `btf_event` that are the step.
    pub(crate) fn condition(&self) -> String {
        let source = self.source.as_deref().map(|source| format!(" AND source = {}", literal(source)));
        let action = literal(&self.action);
        format!("({} AND is_action(action, {action}){})", self.of_entity(), source.unwrap_or_default())
    }

    /// An SQL condition for the rows of `btf_event` that happen to its entity.
    pub(crate) fn of_entity(&self) -> String {
        format!("target = {}", literal(&self.entity))
    }
}

/// Which event of the previous step is the cause of a step, where the trace does not name it: the latest one,
/// of all or of its own instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", rename_all = "lowercase")]
pub enum Instance {
    /// The latest one of all: a reader gets what was written last.
    #[default]
    Any,
    /// The latest one of the same instance of the same process: a task writes results of what it has read.
    Same,
}

impl TryFrom<String> for Instance {
    type Error = String;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        match word.as_str() {
            "any" => Ok(Self::Any),
            "same" => Ok(Self::Same),
            _ => Err(format!("'{word}' is no instance: write \"any\" or \"same\"")),
        }
    }
}
