//! Runnables: their state chart and their order within the process they run in. The one that calls a runnable is
//! not written in BTF, so that nesting follows from a stack per process instance.

use super::Step;
use super::entities::{Entities, Key, NO_INSTANCE};
use super::processes::{Process, Software, end};
use super::report::Findings;
use super::rules::Id;
use crate::btf::spec::State;

/// An open runnable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) key: Key,
    pub(super) state: State,
}

/// Deeper nesting than this is forgotten from the outside: a trace in which nothing terminates must not fill the
/// memory.
const DEPTH: usize = 256;

impl Software {
    /// An event of a runnable.
    pub(super) fn runnable(&mut self, step: &Step<'_>, entities: &mut Entities, findings: &mut Findings) {
        let Some(transition) = step.rule.moves else { return };
        let owner = self.owner(step, entities, findings);
        let state = self.runnable_state(step.target, owner, entities);
        let illegal = state.filter(|state| !transition.from.contains(state));
        if let Some(state) = illegal {
            let action = step.rule.action;
            let state = entities.condition(step.target, state);
            step.fault(findings, Id::RunnableTransition, || format!("{action} while {state}"));
        }
        if step.rule.counts && step.target.1 != NO_INSTANCE {
            let expected = entities.get_mut(step.target.0).and_then(|entity| entity.count(step.target.1));
            if let Some(expected) = expected {
                step.fault(findings, Id::RunnableInstance, || format!("the next instance is {expected}"));
            }
        }
        // What follows from a wrong state is not a second fault.
        let legal = illegal.is_none() && !step.record.source.is_empty();
        let process_state = self.process_state(owner, entities);
        if let Some(state) = process_state.filter(|state| legal && enters(step) && !state.on_core()) {
            let state = entities.condition(owner, state);
            step.fault(findings, Id::RunnableOffCore, || format!("the process is {state}"));
        }
        let process = self.processes.entry(owner).or_default();
        if legal && let Some((rule, other)) = order_fault(step, process) {
            step.fault(findings, rule, || format!("runnable '{}' is in between", entities.name(other.0)));
        }
        let forgotten = process.apply(step, transition.to);
        let idle = process.frames.is_empty() && process.state.is_none();
        if idle {
            self.processes.remove(&owner);
        }
        if let Some(forgotten) = forgotten {
            self.runnables.remove(&forgotten);
        }
        if transition.to == State::Terminated {
            self.runnables.remove(&step.target);
            end(entities, step.target);
        } else {
            self.runnables.insert(step.target, owner);
        }
    }

    /// The process instance that a runnable runs in.
    fn owner(&self, step: &Step<'_>, entities: &Entities, findings: &mut Findings) -> Key {
        match self.runnables.get(&step.target) {
            // Runnables without an instance can run in several processes at once.
            Some(owner)
                if *owner != step.source
                    && step.target.1 != NO_INSTANCE
                    && !entities.name(owner.0).is_empty()
                    && !step.record.source.is_empty() =>
            {
                step.fault(findings, Id::RunnableProcess, || {
                    format!("it runs in '{}' instance {}", entities.name(owner.0), owner.1)
                });
                *owner
            }
            _ => step.source,
        }
    }

    fn runnable_state(&self, key: Key, owner: Key, entities: &Entities) -> Option<State> {
        let frames = self.processes.get(&owner).map(|process| &process.frames);
        let open = frames.and_then(|frames| frames.iter().rev().find(|frame| frame.key == key));
        match open {
            Some(frame) => Some(frame.state),
            // Open, but in a frame that was forgotten.
            None if self.runnables.contains_key(&key) => None,
            None => entities.state_if_closed(key),
        }
    }
}

/// True for the actions that need the process on a core.
fn enters(step: &Step<'_>) -> bool {
    step.rule.moves.is_some_and(|transition| transition.to == State::Running)
}

/// The rule about nesting that the step breaks, and the runnable in its way.
fn order_fault(step: &Step<'_>, process: &Process) -> Option<(Id, Key)> {
    let frames = &process.frames;
    let position = frames.iter().rposition(|frame| frame.key == step.target);
    // A runnable that began before the trace is outside of all that began in it; more is not known about it.
    let (below, above) = match position {
        Some(n) => (frames.get(..n).unwrap_or(&[]), frames.get(n + 1..).unwrap_or(&[])),
        None => (&[] as &[Frame], frames.get(process.old..).unwrap_or(&[])),
    };
    let in_state = |frames: &[Frame], state| frames.iter().find(|frame| frame.state == state).map(|f| f.key);
    let transition = step.rule.moves?;
    match transition.to {
        State::Terminated => above.last().map(|frame| (Id::RunnableTerminateOrder, frame.key)),
        State::Suspended => in_state(above, State::Running).map(|key| (Id::RunnableSuspendOrder, key)),
        _ if step.rule.counts => {
            let caller = frames.last().filter(|frame| frame.state == State::Suspended)?;
            Some((Id::RunnableStartOrder, caller.key))
        }
        _ => in_state(below, State::Suspended).map(|key| (Id::RunnableResumeOrder, key)),
    }
}

impl Process {
    /// Moves the runnable of a step to a state; gives a runnable that had to be forgotten.
    fn apply(&mut self, step: &Step<'_>, to: State) -> Option<Key> {
        let frame = Frame { key: step.target, state: to };
        let position = self.frames.iter().rposition(|frame| frame.key == step.target);
        match position {
            Some(n) if to == State::Terminated || step.rule.counts => {
                self.frames.remove(n);
                self.old -= usize::from(n < self.old);
            }
            Some(n) => {
                if let Some(known) = self.frames.get_mut(n) {
                    *known = frame;
                }
                return None;
            }
            None => {}
        }
        if to == State::Terminated {
            return None;
        }
        if step.rule.counts {
            self.frames.push(frame);
        } else {
            // Older than the trace. Inner ones are suspended first and resumed last.
            let n = if to == State::Suspended { 0 } else { self.old };
            self.frames.insert(n, frame);
            self.old += 1;
        }
        if self.frames.len() <= DEPTH {
            return None;
        }
        self.old = self.old.saturating_sub(1);
        Some(self.frames.remove(0).key)
    }
}
