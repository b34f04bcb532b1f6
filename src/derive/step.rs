//! An event of `btf_event`, and the number of its instance if the trace has none. Not what the event does to
//! the instance (see `processes` and `runnables`).

use crate::btf::spec::{process_transition, runnable_transition};
use crate::btf::{Action, EntityType, NameId};
use crate::names::IdMap;

/// An event of a process or runnable, before its instance is known.
pub(super) struct Step {
    pub kind: EntityType,
    pub source: NameId,
    pub target: NameId,
    pub action: Action,
}

pub(super) fn concerns_instances(kind: EntityType, action: Action) -> bool {
    match kind {
        EntityType::Runnable => runnable_transition(action).is_some(),
        _ => process_transition(action).is_some() || action == Action::MtaLimitExceeded,
    }
}

/// Counts instances of entities that have no numbers in the trace: the current one, and whether it is open.
#[derive(Debug, Default)]
pub(super) struct Instances(IdMap<NameId, (i64, bool)>);

impl Instances {
    /// The current instance of an entity; 0 before its first event.
    pub fn current(&self, entity: NameId) -> i64 {
        self.0.get(&entity).map_or(0, |(number, _)| *number)
    }

    /// The instance of an event: a new one if the entity is activated, or started without an activation.
    pub fn of_event(&mut self, step: &Step) -> i64 {
        let (number, is_open) = self.0.entry(step.target).or_insert((-1, false));
        let begins = match step.action {
            Action::Activate => true,
            Action::Start => !*is_open || step.kind == EntityType::Runnable,
            _ => !*is_open,
        };
        *number += i64::from(begins);
        *is_open = step.action != Action::Terminate;
        *number
    }
}
