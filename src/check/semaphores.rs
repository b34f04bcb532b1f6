//! Semaphores: their state chart, the order of the steps of an access, their users and their counter. Not
//! how long they are held.
//!
//! A rule is applied as far as the trace tells: writers may leave out the states of a semaphore, its
//! counter, or the requests (kernels see a contended mutex only). What is not known violates nothing.

use std::collections::HashMap;

use super::entities::{Entities, Key};
use super::report::{Findings, Occurrence, Step, event_line};
use super::rules::Id;
use super::semaphore_counter::Counter;
use super::software::Software;
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
    /// True once an event of it was seen.
    seen: bool,
    /// True once it was free: all its users are known from then on.
    was_free: bool,
    /// True behind a gap, which may hide requests.
    hidden: bool,
    /// True once a request, an increment or a decrement was seen: then they are recorded, and a step
    /// without them is out of order.
    requests: bool,
    counts: bool,
    /// True after a process ended without giving it back, until it is free: who has it then is not known.
    left: bool,
    /// True once it was assigned: then that is recorded, and who is not assigned does not have it.
    assigns: bool,
    /// Open accesses, by process instance.
    accesses: Vec<(Key, Stage)>,
    /// Processes that it is assigned to, and those that asked to be the only one.
    users: Vec<Key>,
    alone: Vec<Key>,
    /// True from a release until the semaphore changes its state.
    given_back: bool,
    counter: Counter,
    /// Notes before the first increment or decrement, and the first of them.
    notes: u64,
    first_note: Option<Box<Occurrence>>,
}

/// Maximum number of accesses and users per semaphore; beyond it the oldest is forgotten.
const ACCESSES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Semaphores {
    all: HashMap<Key, Semaphore>,
    /// True behind a gap.
    hidden: bool,
}

impl Semaphores {
    pub(super) fn event(
        &mut self,
        version: Version,
        step: &Step<'_>,
        (entities, software): (&Entities, &Software),
        findings: &mut Findings,
    ) {
        let hidden = self.hidden;
        let semaphore =
            self.all.entry(step.target).or_insert_with(|| Semaphore { hidden, ..Semaphore::default() });
        let action = step.rule.action;
        let mut fits = true;
        if let Some(transition) = step.rule.moves {
            // 2.1.5 figure 6: `ready` leaves NOT_INITIALIZED, which a semaphore that was used is not in.
            if action == Action::Ready && semaphore.seen && semaphore.state.is_none() {
                step.fault(findings, Id::SemaphoreReady, || "it was used before".to_owned());
            } else if let Err(state) = semaphore.change_state(transition) {
                fits = false;
                step.fault(findings, Id::SemaphoreTransition, || {
                    format!("{action} while {}", state.as_str())
                });
            }
            semaphore.state = Some(transition.to);
        } else {
            let gone = |user: &Key| software.process_state(*user, entities) == Some(State::Terminated);
            let before = semaphore.users.len();
            semaphore.users.retain(|user| *user == step.source || !gone(user));
            semaphore.left |= semaphore.users.len() < before;
            if let Err(stage) = semaphore.check_order(version, step, entities) {
                step.fault(findings, Id::SemaphoreOrder, || {
                    stage.map_or_else(
                        || match action {
                            Action::Released => "released by a process that does not have it".to_owned(),
                            Action::Decrement => "decrement without a release before it".to_owned(),
                            _ => format!("{action} without a request before it"),
                        },
                        |stage| format!("{action} right after {}", stage.as_str()),
                    )
                });
            }
            semaphore.check_users(step, entities, findings);
        }
        // A state that is impossible and a number that does not fit it are one fault.
        if let (Err(message), true) = (semaphore.counter.event(action, step.record.note), fits) {
            step.fault(findings, Id::SemaphoreCounter, || message);
        }
        semaphore.seen = true;
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

    /// Who has a semaphore, and who asked for it, is not known any more.
    pub(super) fn forget(&mut self) {
        self.hidden = true;
        for semaphore in self.all.values_mut() {
            let Semaphore { seen, counts, notes, first_note, .. } = std::mem::take(semaphore);
            *semaphore = Semaphore { seen, counts, notes, first_note, hidden: true, ..Semaphore::default() };
        }
    }

    /// Reports the notes of semaphores that turned out not to count.
    pub(super) fn finish(self, findings: &mut Findings) {
        let mut without: Vec<_> = self.all.into_values().filter(|semaphore| !semaphore.counts).collect();
        without.sort_by_key(|semaphore| semaphore.first_note.as_ref().map(|note| note.place.seq));
        for semaphore in without {
            if let Some(note) = semaphore.first_note {
                findings.add_many(Id::SemaphoreNote, semaphore.notes, || *note);
            }
        }
    }
}

impl Semaphore {
    /// A step of the state chart: a semaphore with one owner, for example, is not locked again before it
    /// is free. Fails with the state that does not allow it, and takes the step all the same.
    fn change_state(&mut self, transition: Transition) -> Result<(), State> {
        self.given_back = false;
        if transition.to == State::Free {
            self.was_free = true;
            self.left = false;
            self.users.clear();
            self.alone.clear();
        }
        let before = self.state.replace(transition.to);
        before.filter(|state| !transition.from.contains(state)).map_or(Ok(()), Err)
    }

    /// The most processes that it can be assigned to, if all of them are assigned: it is locked (2.1.5
    /// table 19, 2.3 §2.3.7: FULL, and OVERFULL with waiters).
    fn room_when_locked(&self) -> Option<usize> {
        let locked = matches!(self.state, Some(State::Full | State::Overfull));
        self.counter.maximum().filter(|_| locked).and_then(|maximum| usize::try_from(maximum).ok())
    }

    /// One step of an access; fails with the stage that it cannot follow.
    ///
    /// 2.1.5 has the same steps, but its listing puts the increment before the request, and lets the
    /// semaphore queue it.
    fn check_order(
        &mut self,
        version: Version,
        step: &Step<'_>,
        entities: &Entities,
    ) -> Result<(), Option<Stage>> {
        use Stage::{Assigned, Incremented, Queued, Released, Requested, Waiting};
        let old = version == Version::V2_1_5;
        let process = step.source;
        let position = self.accesses.iter().position(|(key, _)| *key == process);
        let before = position.and_then(|n| self.accesses.get(n)).map(|(_, stage)| *stage);
        let counted = if self.counts { Incremented } else { Requested };
        let (expected, after): (&[Stage], Option<Stage>) = match step.rule.action {
            Action::RequestSemaphore | Action::ExclusiveSemaphore if old && before == Some(Incremented) => {
                (&[], before)
            }
            Action::RequestSemaphore | Action::ExclusiveSemaphore => (&[], Some(Requested)),
            Action::Increment if old => (&[Requested, Released], Some(Incremented)),
            Action::Increment => (&[Requested], Some(Incremented)),
            Action::Queued if old => return Ok(()),
            Action::Queued => (&[counted], Some(Queued)),
            Action::Waiting => (&[counted, Queued], Some(Waiting)),
            Action::Assigned => (&[counted, Queued, Waiting], Some(Assigned)),
            Action::Released => (&[Assigned], self.counts.then_some(Released)),
            Action::Decrement => (&[Released], None),
            _ => return Ok(()),
        };
        // An access without an earlier step may have begun in a gap, or before the trace, unless its
        // process began in it and requests are recorded, or the semaphore was free since.
        let began_here = entities.get(process.0).is_some_and(|entity| entity.began_here(process.1));
        let unknown_is_fine = match step.rule.action {
            Action::Increment if old => true,
            Action::Released => !self.cannot_release(process),
            Action::Decrement => true,
            _ => self.hidden || !((self.requests || self.was_free) && began_here),
        };
        let fits = match before {
            Some(stage) => expected.is_empty() || expected.contains(&stage),
            None => expected.is_empty() || unknown_is_fine,
        };
        self.requests |= matches!(step.rule.action, Action::RequestSemaphore | Action::ExclusiveSemaphore);
        self.counts |= matches!(step.rule.action, Action::Increment | Action::Decrement);
        match (position, after) {
            (Some(n), Some(stage)) => {
                if let Some(access) = self.accesses.get_mut(n) {
                    access.1 = stage;
                }
            }
            (Some(n), None) => drop(self.accesses.remove(n)),
            (None, Some(stage)) => remember(&mut self.accesses, (process, stage)),
            (None, None) => {}
        }
        if fits { Ok(()) } else { Err(before) }
    }

    /// True if a process without a known access cannot have the semaphore: nobody has it, others have all
    /// of it, or the only user has just given it back. A state of which nobody is the cause does not
    /// change that: once it was free, all its users are known, if the trace tells of users at all.
    fn cannot_release(&self, process: Key) -> bool {
        // Behind the begin of a gap, one that nobody is seen to take was taken in it.
        let hidden = self.hidden && matches!(self.state, Some(State::Full | State::Overfull));
        let unused = self.assigns && self.was_free && self.users.is_empty() && !self.given_back;
        let free = self.state == Some(State::Free) || (unused && !self.left && !hidden);
        let others = self.users.iter().filter(|user| **user != process).count();
        let taken = self.room_when_locked().is_some_and(|room| others >= room);
        let again = self.given_back && self.counter.maximum() == Some(1);
        !self.users.contains(&process) && (free || taken || again)
    }

    /// Whom the semaphore is assigned to.
    fn check_users(&mut self, step: &Step<'_>, entities: &Entities, findings: &mut Findings) {
        let process = step.source;
        match step.rule.action {
            Action::ExclusiveSemaphore if !self.alone.contains(&process) => {
                remember(&mut self.alone, process);
            }
            Action::Assigned => {
                self.assigns = true;
                let mut others = self.users.iter().filter(|user| **user != process);
                let alone = self.alone.iter().position(|other| *other == process);
                // The thesis, after table 2.9: an exclusive request succeeds only if the counter is zero.
                if let Some(n) = alone {
                    self.alone.remove(n);
                }
                let first = others.next().copied();
                let full =
                    self.room_when_locked().is_some_and(|room| first.is_some() && others.count() + 1 >= room);
                if let Some(other) = first.filter(|_| alone.is_some() || full) {
                    let rule = if alone.is_some() { Id::SemaphoreExclusive } else { Id::SemaphoreOwner };
                    step.fault(findings, rule, || format!("{} has it", entities.named(other)));
                } else if alone.is_some() && self.counter.value().is_some_and(|count| count > 1) {
                    step.fault(findings, Id::SemaphoreExclusive, || "others are counted".to_owned());
                }
                if !self.users.contains(&process) {
                    remember(&mut self.users, process);
                }
            }
            Action::Released => {
                self.users.retain(|user| *user != process);
                self.given_back = true;
            }
            _ => {}
        }
    }
}

/// Adds an item to a list of limited length.
fn remember<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= ACCESSES {
        list.remove(0);
    }
    list.push(item);
}
