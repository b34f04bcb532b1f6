//! Processes: their state chart, their instances, and their core. Not their runnables (see `runnables`).

use super::entities::{Entities, EntityId, NO_INSTANCE};
use super::report::{Findings, Step};
use super::rules::Id;
use super::software::{Process, Software, end};
use crate::btf::spec::{EntityType, State, Transition};

impl Software {
    /// An event of a task or ISR.
    pub(super) fn process(&mut self, step: &Step<'_>, entities: &mut Entities, findings: &mut Findings) {
        let Some(transition) = step.rule.moves else { return };
        let key = step.target;
        let state = self.process_state(key, entities);
        if let Some(state) = state.filter(|state| !transition.from.contains(state)) {
            let action = step.rule.action;
            let state = entities.condition(key, state);
            step.fault(findings, Id::ProcessTransition, || format!("{action} while {state}"));
        }
        if step.rule.counts && key.1 != NO_INSTANCE {
            let expected = entities.get_mut(key.0).and_then(|entity| entity.count(key.1));
            if let Some(expected) = expected {
                step.fault(findings, Id::ProcessInstance, || format!("the next instance is {expected}"));
            }
        }
        // mtalimitexceeded uses a number, but creates no instance.
        if transition.from == [State::Terminated] && transition.to == State::Terminated {
            return;
        }
        let mut process = self.processes.remove(&key).unwrap_or_default();
        check_runnables(step, transition, &process, entities, findings);
        if step.rule.sources.has(EntityType::Core) {
            move_between_cores(step, transition, &mut process, entities, findings);
        }
        let is_known = !self.is_behind_gap || transition.to != State::Parking;
        process.state = is_known.then_some(transition.to);
        if transition.to == State::Terminated {
            for frame in &process.frames {
                self.runnables.remove(&frame.key);
                end(entities, frame.key);
            }
            end(entities, key);
        } else {
            self.processes.insert(key, process);
        }
    }
}

/// Before a process leaves its core, its runnables must be suspended; before it ends, they must be over.
fn check_runnables(
    step: &Step<'_>,
    transition: Transition,
    process: &Process,
    entities: &Entities,
    findings: &mut Findings,
) {
    let leaves = !transition.to.on_core() && transition.from.iter().any(|state| state.on_core());
    if !leaves {
        return;
    }
    if transition.to == State::Terminated {
        if let Some(frame) = process.frames.last() {
            let open = process.frames.len();
            step.fault(findings, Id::RunnableOpen, || {
                let innermost = entities.named(frame.key);
                if open == 1 {
                    format!("runnable {innermost} is open")
                } else {
                    format!("{open} runnables are open, the innermost is {innermost}")
                }
            });
        }
    } else if let Some(frame) = process.frames.iter().rev().find(|frame| frame.state == State::Running) {
        step.fault(findings, Id::RunnableNotSuspended, || {
            format!("runnable {} is running", entities.named(frame.key))
        });
    }
}

/// One process per core, and each leaves the core it is on.
fn move_between_cores(
    step: &Step<'_>,
    transition: Transition,
    process: &mut Process,
    entities: &mut Entities,
    findings: &mut Findings,
) {
    let key = step.target;
    let enters = transition.to.on_core() && !transition.from.iter().any(|state| state.on_core());
    let vacate = |entities: &mut Entities, core: EntityId| {
        if let Some(core) = entities.get_mut(core)
            && core.occupant == Some(key)
        {
            core.occupant = None;
        }
    };
    if (enters || !transition.to.on_core())
        && let Some(core) = process.core
    {
        vacate(entities, core);
    }
    // Some loggers write the previous task as the source: a fault of its own, which says nothing about cores.
    let core = step.source.0;
    if !entities.tells_core(core) {
        return;
    }
    // A name that has no event is a core by its deeds only: where another one has, it may be the id of a task
    // that a logger wrote instead.
    let alike = |last| entities.is_core(last) == entities.is_core(core);
    if !enters && process.core.is_some_and(|last| last != core && alike(last)) {
        let last = process.core.map_or("", |last| entities.name(last));
        step.fault(findings, Id::CoreChanged, || format!("its core is '{last}'"));
    }
    process.core = Some(core);
    let occupant = entities.get(core).and_then(|core| core.occupant).filter(|other| *other != key);
    if enters && let Some(other) = occupant {
        step.fault(findings, Id::CoreOccupied, || format!("{} is on it", entities.named(other)));
    }
    if transition.to.on_core()
        && (enters || occupant.is_none())
        && let Some(entity) = entities.get_mut(core)
    {
        entity.occupant = Some(key);
    } else if !transition.to.on_core() {
        vacate(entities, core);
    }
}
