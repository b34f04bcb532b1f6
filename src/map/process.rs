//! A process and its instances that have not ended, and the actions that lead from one state to another. Not
//! how they are applied (see `processes`).

use crate::btf::{Action, Actor, EntityType, NameId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The state of an instance that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    Active,
    Running,
    Ready,
    Waiting,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Instance {
    pub number: i64,
    pub phase: Phase,
    /// The time of its last step.
    pub since: i64,
    /// Its runnables that have not ended, each called by the one before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runnables: Vec<Actor>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Process {
    pub name: NameId,
    pub is_isr: bool,
    pub stimulus: NameId,
    /// The core that it ran on last.
    pub core: Option<NameId>,
    /// The number of its next instance.
    pub next: i64,
    /// Its last step was seen to be its end.
    #[serde(default)]
    pub has_ended: bool,
    /// Its instances that have not ended, the oldest first: only that one runs.
    pub open: VecDeque<Instance>,
}

pub(super) fn kind(process: &Process) -> EntityType {
    if process.is_isr { EntityType::Isr } else { EntityType::Task }
}

pub(super) fn is_entry(action: Action) -> bool {
    matches!(action, Action::Start | Action::Resume)
}

pub(super) fn is_exit(action: Action) -> bool {
    matches!(action, Action::Preempt | Action::Wait | Action::Terminate)
}

pub(super) fn phase_before(action: Action) -> Phase {
    match action {
        Action::Resume => Phase::Ready,
        Action::Release => Phase::Waiting,
        Action::Preempt | Action::Wait | Action::Terminate => Phase::Running,
        _ => Phase::Active,
    }
}

/// `None` behind the end.
pub(super) fn phase_after(action: Action) -> Option<Phase> {
    match action {
        Action::Start | Action::Resume => Some(Phase::Running),
        Action::Preempt | Action::Release => Some(Phase::Ready),
        Action::Wait => Some(Phase::Waiting),
        _ => None,
    }
}

/// The actions that lead from one phase to another one.
pub(super) fn between(from: Phase, to: Phase) -> &'static [Action] {
    use Action::{Preempt, Release, Resume, Start, Wait};
    match (from, to) {
        (Phase::Active, Phase::Running) => &[Start],
        (Phase::Active, Phase::Ready) => &[Start, Preempt],
        (Phase::Active, Phase::Waiting) => &[Start, Wait],
        (Phase::Ready, Phase::Running) => &[Resume],
        (Phase::Ready, Phase::Waiting) => &[Resume, Wait],
        (Phase::Running, Phase::Ready) => &[Preempt],
        (Phase::Running, Phase::Waiting) => &[Wait],
        (Phase::Waiting, Phase::Ready) => &[Release],
        (Phase::Waiting, Phase::Running) => &[Release, Resume],
        _ => &[],
    }
}
