//! Runnables: their state chart and their order within the process they run in. BTF does not
//! name the caller of a runnable, so nesting follows from a stack per process instance. Not their durations.

use super::entities::{Entities, Key, NO_INSTANCE};
use super::report::{Findings, Step};
use super::rules::Id;
use super::software::{Frame, Process, Software, end};
use crate::btf::EntityType;
use crate::btf::spec::State;

/// Maximum depth; beyond it, the outermost runnables are forgotten, so that memory is bounded.
const DEPTH: usize = 256;

impl Software {
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
        // Consequences of a wrong state are not reported again.
        let legal = illegal.is_none() && !step.record.source.is_empty();
        let process_state = self.process_state(owner, entities);
        if let Some(state) = process_state.filter(|state| legal && enters(step) && !state.on_core()) {
            let state = entities.condition(owner, state);
            step.fault(findings, Id::RunnableOffCore, || format!("the process is {state}"));
        }
        let process = self.processes.entry(owner).or_default();
        // What runs outside of processes runs on any core: there is no order.
        let is_process = !matches!(entities.kind(owner.0), Some(EntityType::Simulation | EntityType::System));
        if legal
            && is_process
            && let Some((rule, other)) = order_fault(step, process)
        {
            step.fault(findings, rule, || {
                let other = entities.named(other);
                match rule {
                    Id::RunnableStartOrder => format!("runnable {other} may have called it and is suspended"),
                    Id::RunnableResumeOrder => format!("runnable {other} called it and is suspended"),
                    Id::RunnableSuspendOrder => format!("it called runnable {other}, which is running"),
                    _ => format!("it called runnable {other}, which is open"),
                }
            });
        }
        let forgotten = process.apply(step, transition.to);
        // One that began in this trace is over when it is not in the table.
        let idle = process.frames.is_empty() && process.state.is_none() && !entities.began_here(owner);
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
                    format!("it runs in {}", entities.named(*owner))
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

/// True for actions that need the process on a core.
fn enters(step: &Step<'_>) -> bool {
    step.rule.moves.is_some_and(|transition| transition.to == State::Running)
}

/// The nesting rule that the step violates, and the runnable it conflicts with.
fn order_fault(step: &Step<'_>, process: &Process) -> Option<(Id, Key)> {
    let frames = &process.frames;
    let position = frames.iter().rposition(|frame| frame.key == step.target);
    // A runnable that began before the trace is outside of all that began in it. Nothing else is certain.
    let (below, above) = match position {
        Some(n) => (frames.get(..=n).unwrap_or(&[]), frames.get(n + 1..).unwrap_or(&[])),
        None => (&[] as &[Frame], frames.get(process.old..).unwrap_or(&[])),
    };
    // From the innermost outwards, as long as it is certain that each was called by the next.
    let callers = below.iter().rev().take_while(|f| f.called).zip(below.iter().rev().skip(1)).map(|(_, f)| f);
    // A runnable from before the trace has been running until now, so it called the first one.
    let outer_ran = position.is_none();
    let certain = |(n, frame): &(usize, &Frame)| frame.called || (*n == 0 && outer_ran);
    let mut callees = above.iter().enumerate().take_while(certain).map(|(_, frame)| frame);
    match step.rule.moves?.to {
        State::Terminated => callees.last().map(|frame| (Id::RunnableTerminateOrder, frame.key)),
        State::Suspended => {
            let running = callees.find(|frame| frame.state == State::Running)?;
            Some((Id::RunnableSuspendOrder, running.key))
        }
        _ if step.rule.counts => {
            let caller = frames.last().filter(|frame| frame.state == State::Suspended)?;
            Some((Id::RunnableStartOrder, caller.key))
        }
        _ => {
            let caller = callers.filter(|frame| frame.state == State::Suspended).last()?;
            Some((Id::RunnableResumeOrder, caller.key))
        }
    }
}

impl Process {
    /// Moves the runnable of a step to a state; returns a runnable that was forgotten.
    fn apply(&mut self, step: &Step<'_>, to: State) -> Option<Key> {
        let position = self.frames.iter().rposition(|frame| frame.key == step.target);
        match position {
            Some(n) if to == State::Terminated || step.rule.counts => {
                let removed = self.frames.remove(n);
                self.old -= usize::from(n < self.old);
                // The callee of a callee.
                if let Some(inner) = self.frames.get_mut(n) {
                    inner.called &= removed.called;
                }
            }
            Some(n) => {
                if let Some(frame) = self.frames.get_mut(n) {
                    frame.state = to;
                }
                return None;
            }
            None => {}
        }
        if to == State::Terminated {
            return None;
        }
        // Older than the trace, unless it starts here. Inner ones are suspended first and resumed last.
        let n = match to {
            _ if step.rule.counts => self.frames.len(),
            State::Suspended => 0,
            _ => self.old,
        };
        let outer = n.checked_sub(1).and_then(|n| self.frames.get(n));
        let called = outer.is_some_and(|outer| outer.state == State::Running);
        self.frames.insert(n, Frame { key: step.target, state: to, called });
        self.old += usize::from(!step.rule.counts);
        if let Some(inner) = self.frames.get_mut(n + 1) {
            // A runnable that is suspended for the first time has been running since before the trace.
            inner.called = to == State::Suspended;
        }
        if self.frames.len() <= DEPTH {
            return None;
        }
        self.old = self.old.saturating_sub(1);
        Some(self.frames.remove(0).key)
    }
}
