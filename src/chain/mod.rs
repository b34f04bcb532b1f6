//! Chains of events, each the cause of the next: a sensor is read, a value written, read by another task, an
//! actuator set. `follow` finds what follows from what. Not for reading the events (see `engine`), and not
//! for what a chain has to keep (see `require`).

mod follow;

pub(crate) use follow::{Event, Follower, Occurrence};

use serde::Deserialize;

/// A chain of system events, as `[[chain]]` of a TOML file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// What it is called in SQL, metrics and reports.
    pub name: String,
    /// The steps, cause first; two at least.
    pub steps: Vec<ChainStep>,
}

/// A step of a chain: system events of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainStep {
    /// What it happens to.
    pub entity: String,
    /// What happens, in the words of BTF.
    pub action: String,
    /// The entity that makes it happen; any when left out.
    pub source: Option<String>,
    /// Which event of the step before is the cause.
    #[serde(default)]
    pub instance: Instance,
}

impl ChainStep {
    /// True of a row of `btf_event` that is the step, in SQL.
    pub(crate) fn condition(&self) -> String {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let source = self.source.as_deref().map(|source| format!(" AND source = {}", quoted(source)));
        let (entity, action) = (quoted(&self.entity), quoted(&self.action));
        format!("(target = {entity} AND action = {action}{})", source.unwrap_or_default())
    }
}

/// Which event of the step before is the cause of a step: the latest before it, either of all or of its own
/// instance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Instance {
    /// The latest one of all: a reader gets what was written last.
    #[default]
    Any,
    /// The latest one of the same instance of the same process: a task writes what it makes of what it has
    /// read.
    Same,
}
