//! The state charts of processes and runnables as tables by action, computed from the rules at compile time:
//! `derive` asks for each event. Every action of these charts leaves one state only and is the same edge in
//! every version that has it, which a test shows. Not the chart of semaphores, whose actions may leave
//! several states (see [`super::rule`]).

use super::{ACTION_RULES, Action, EntityType, EntityTypes, State, Transition};

/// For each action the states before and after it.
type Edges = [Option<(State, State)>; Action::ALL.len()];

static PROCESS: Edges = edges(EntityTypes::PROCESS);
static RUNNABLE: Edges = edges(EntityTypes::of(&[EntityType::Runnable]));

const fn edges(targets: EntityTypes) -> Edges {
    let mut edges = [None; Action::ALL.len()];
    let mut n = 0;
    while n < ACTION_RULES.len() {
        let rule = &ACTION_RULES[n];
        if let Some(Transition { from: [from], to }) = rule.moves
            && !rule.targets.and(targets).is_empty()
            && *from as u8 != to as u8
        {
            edges[rule.action as usize] = Some((*from, to));
        }
        n += 1;
    }
    edges
}

/// The states of a process before and after an action. `None` for actions that do not move a process:
/// `mtalimitexceeded` and `interrupt_suspended` are notifications.
pub fn process_transition(action: Action) -> Option<(State, State)> {
    PROCESS.get(action as usize).copied().flatten()
}

/// Whether an action happens on the core that its process or runnable is on: it moves it. Who activates may
/// be on any core.
pub fn is_on_core(action: Action) -> bool {
    let moves = process_transition(action).or(runnable_transition(action)).is_some();
    moves && action != Action::Activate
}

/// The states of a runnable before and after an action; `None` for actions that do not move a runnable.
pub fn runnable_transition(action: Action) -> Option<(State, State)> {
    RUNNABLE.get(action as usize).copied().flatten()
}
