//! One BTF event: the octuple (t, Ψ, ψ, ι, T, τ, α, ν) of the thesis, equation 2.1, with interned names.

use super::NameId;
use super::spec::{Action, EntityType, State};

/// Name and instance of an entity.
pub type Actor = (NameId, i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    None,
    /// A name: the task of `set_event`.
    Name(NameId),
    /// A number: the value of a signal, unsigned decimal.
    Value(u64),
    /// A number as hexadecimal digits: what identifies a message of a kernel.
    Hex(u64),
}

/// One system event; times are ticks of the database's time scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub time: i64,
    pub source: NameId,
    /// Instance of the source; −1 for `SIM` (BTF 2.1), 0 for entities without instances.
    pub source_instance: i64,
    pub target_type: EntityType,
    pub target: NameId,
    /// Instance of the target; 0 for entities without instances.
    pub target_instance: i64,
    pub action: Action,
    pub note: Note,
}

impl Event {
    /// An event at `time` that `source` causes and that happens to `target`.
    pub fn new(
        time: i64,
        source: Actor,
        target_type: EntityType,
        target: Actor,
        action: Action,
        note: Note,
    ) -> Self {
        let ((source, source_instance), (target, target_instance)) = (source, target);
        Self { time, source, source_instance, target_type, target, target_instance, action, note }
    }
}

/// What is known of an instance although no event says it: the state that it has from `since` on, because a
/// variable was read, or because of what follows. For the begin of a recording and the end of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownState {
    /// The process and its instance.
    pub process: Actor,
    pub kind: EntityType,
    /// The core that it is on, or was on last, or will be started on.
    pub core: NameId,
    pub state: State,
    /// In ticks.
    pub since: i64,
}
