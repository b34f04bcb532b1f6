//! Semaphores: their state chart, and the order of the steps of an access. Not how long they are held.

use std::collections::HashMap;

use super::entities::{Entities, Key};
use super::report::{Findings, Occurrence, Step, event_line};
use super::rules::Id;
use crate::btf::spec::{Action, State, Transition, Version};
use crate::words::words;

words! {
    /// The steps of an access (2.2.1 §2.3.7: the order constraints of the events), by the action of each.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Stage {
        Requested = "requestsemaphore",
        Incremented = "increment",
        Queued = "queued",
        Waiting = "waiting",
        Assigned = "assigned",
        Released = "released",
    }
}

#[derive(Debug, Default)]
struct Semaphore {
    state: Option<State>,
    /// True once a request, an increment or a decrement was seen: then they are recorded, and a step without
    /// them is out of order.
    requests: bool,
    counts: bool,
    /// Open accesses, by process instance.
    accesses: Vec<(Key, Stage)>,
    /// Notes before the first increment or decrement, and the first of them.
    notes: u64,
    first_note: Option<Box<Occurrence>>,
}

/// Maximum number of accesses per semaphore; beyond it the oldest is forgotten.
const ACCESSES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Semaphores(HashMap<Key, Semaphore>);

impl Semaphores {
    pub(super) fn event(
        &mut self,
        version: Version,
        step: &Step<'_>,
        entities: &Entities,
        findings: &mut Findings,
    ) {
        let semaphore = self.0.entry(step.target).or_default();
        if let Some(transition) = step.rule.moves {
            if let Err(state) = semaphore.change_state(transition) {
                let action = step.rule.action;
                step.fault(findings, Id::SemaphoreTransition, || {
                    format!("{action} while {}", state.as_str())
                });
            }
        } else if version != Version::V2_1_5
            && let Err(stage) = semaphore.check_order(step, entities)
        {
            step.fault(findings, Id::SemaphoreOrder, || {
                let action = step.rule.action;
                stage.map_or_else(
                    || format!("{action} without a request before it"),
                    |stage| format!("{action} right after {}", stage.as_str()),
                )
            });
        }
        if version >= Version::V2_3_0 && !semaphore.counts && step.record.note.is_some_and(|n| !n.is_empty())
        {
            semaphore.notes += 1;
            semaphore.first_note.get_or_insert_with(|| {
                Box::new(Occurrence {
                    place: step.place,
                    time: Some(step.record.time),
                    message: "a note, but no increment or decrement".to_owned(),
                    text: event_line(step.record),
                })
            });
        }
    }

    /// Reports the notes of semaphores that turned out not to count.
    pub(super) fn finish(self, findings: &mut Findings) {
        let mut without: Vec<_> = self.0.into_values().filter(|semaphore| !semaphore.counts).collect();
        without.sort_by_key(|semaphore| semaphore.first_note.as_ref().map(|note| note.place.seq));
        for semaphore in without {
            if let Some(note) = semaphore.first_note {
                findings.add_many(Id::SemaphoreNote, semaphore.notes, || *note);
            }
        }
    }
}

impl Semaphore {
    /// A step of the state chart: a semaphore with one owner, for example, is not locked again before it is
    /// free. Fails with the state that does not allow it, and takes the step all the same.
    fn change_state(&mut self, transition: Transition) -> Result<(), State> {
        let before = self.state.replace(transition.to);
        before.filter(|state| !transition.from.contains(state)).map_or(Ok(()), Err)
    }

    /// One step of an access; fails with the stage that it cannot follow.
    fn check_order(&mut self, step: &Step<'_>, entities: &Entities) -> Result<(), Option<Stage>> {
        use Stage::{Assigned, Incremented, Queued, Released, Requested, Waiting};
        let process = step.source;
        let position = self.accesses.iter().position(|(key, _)| *key == process);
        let before = position.and_then(|n| self.accesses.get(n)).map(|(_, stage)| *stage);
        let counted = if self.counts { Incremented } else { Requested };
        let (expected, after): (&[Stage], Option<Stage>) = match step.rule.action {
            Action::RequestSemaphore => (&[], Some(Requested)),
            Action::Increment => (&[Requested], Some(Incremented)),
            Action::Queued => (&[counted], Some(Queued)),
            Action::Waiting => (&[counted, Queued], Some(Waiting)),
            Action::Assigned => (&[counted, Queued, Waiting], Some(Assigned)),
            Action::Released => (&[Assigned], self.counts.then_some(Released)),
            Action::Decrement => (&[Released], None),
            _ => return Ok(()),
        };
        // An access without an earlier step may have begun before the trace, unless its process began in it
        // and requests are recorded.
        let began_here = entities.get(process.0).is_some_and(|entity| entity.began_here(process.1));
        let unknown_is_fine = !(self.requests && began_here)
            || matches!(step.rule.action, Action::Released | Action::Decrement);
        let fits = match before {
            Some(stage) => expected.is_empty() || expected.contains(&stage),
            None => expected.is_empty() || unknown_is_fine,
        };
        self.requests |= step.rule.action == Action::RequestSemaphore;
        self.counts |= matches!(step.rule.action, Action::Increment | Action::Decrement);
        match (position, after) {
            (Some(n), Some(stage)) => {
                if let Some(access) = self.accesses.get_mut(n) {
                    access.1 = stage;
                }
            }
            (Some(n), None) => drop(self.accesses.remove(n)),
            (None, Some(stage)) => {
                if self.accesses.len() >= ACCESSES {
                    self.accesses.remove(0);
                }
                self.accesses.push((process, stage));
            }
            (None, None) => {}
        }
        if fits { Ok(()) } else { Err(before) }
    }
}
