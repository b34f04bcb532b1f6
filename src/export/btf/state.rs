//! The state at the begin of a window, in the words of BTF: events at that instant after which a viewer that
//! has seen nothing before knows what is open, held and last written. Not how that is found out (`known`).
//!
//! BTF has no words for a state (2.1.5 has `tag` with SIG_INIT_VALUE for signals only), and in all versions a
//! trace may begin in the middle. So each state is said by the event that leads to it and claims least:
//!
//! * A process that is RUNNING says `resume`, not `start`; READY `preempt`; WAITING `wait`; POLLING `poll`;
//!   PARKING `park` (2.1.5 figure 3, 2.3.0 figure 2-4). These claim neither an activation nor a start, so no
//!   response time and no execution begins at the window, and viewers that know nothing but `preempt` and
//!   `resume` understand them. Only ACTIVE has a single way in: its `activate`, with its stimulus and number.
//! * Numbers of instances are those of the recording. They rise without gaps (2.1.5 table 2, 2.3.0 §2.3.2.1),
//!   so losses after a pending activation are repeated, and the triggers of a stimulus with several pending
//!   activations. An activation after which other numbers were used cannot be said; it becomes a comment.
//! * A semaphore is taken by the steps of an access (2.1.5 tables 18 to 20, 2.3.0 §2.3.7): `ready` where the
//!   version has it, then for each owner the request, the lock, and `assigned`; then the waiters.
//! * An order in which every source may act: what processes did comes before what says where they are now,
//!   since a process that is off its core can cause nothing; a core is left before it is entered; runnables
//!   are suspended innermost first, and resume after their process, outermost first.

use super::events::Events as Columns;
use super::gaps::Gaps;
use super::known::{Access, Known, OsEvent, Process, Semaphore, Statement, Who};
use crate::btf::NameId;
use crate::btf::spec::{Action, EntityType, State, Version};
use crate::engine::{self, EventOrder, Session};
use crate::error::Result;
use crate::export::exporter::misfit;
use crate::schema::columns::btf_event;
use crate::schema::result::{self, Integers};
use crate::schema::{BtfEventRow, BtfEventRows, tables};
use crate::selection::Selection;
use arrow::array::RecordBatch;
use std::collections::{BTreeMap, BTreeSet};

type Events = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The events that say the state at the begin of a window.
#[derive(Debug, Default)]
pub(super) struct StateAtBegin {
    known: Known,
    events: Vec<Statement>,
    /// Pending activations that cannot be said again.
    pub unsaid: Vec<Statement>,
}

impl StateAtBegin {
    /// Reads everything before `from`; `version`: that of the output, if it is not the one of the trace.
    pub fn read(
        session: &Session,
        recording: &str,
        (selection, from): (&Selection, i64),
        version: Option<Version>,
    ) -> Result<Self> {
        let before =
            Selection { recording: Some(recording.to_owned()), to: Some(from), ..Selection::default() };
        let condition = before.condition(tables::BTF_EVENT, recording);
        let (sql, params) = (condition.sql(), condition.params());
        let mut gaps = Gaps::read(session, recording)?.within(None, Some(from));
        let mut known = Known::default();
        for batch in engine::events(session, recording, (&sql, &params), false, EventOrder::Time)? {
            let batch = batch?;
            let events = Columns::of(&batch).ok_or_else(misfit)?;
            for row in 0..batch.num_rows() {
                let record = events.record(row);
                // As in the mapping: a gap comes before the first event that is later than its begin.
                gaps.before(record.time, |core, _| known.gap(core));
                known.event(&record);
            }
        }
        gaps.before(i64::MAX, |core, _| known.gap(core));
        let mut state = Self { known, ..Self::default() };
        state.say(version);
        state.select(selection);
        Ok(state)
    }

    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Comments about the events, which come right after them.
    pub fn comments(&self) -> Vec<String> {
        let said = (self.len() > 0).then(|| {
            let count = self.len();
            format!("the next {count} events say the state at the begin of the window; they were not recorded there")
        });
        let unsaid = self.unsaid.iter().map(|Statement { target: (name, number), .. }| {
            let (name, number) = (self.known.names.text(*name), number.unwrap_or_default());
            format!("not said by an event: {name} instance {number} is active")
        });
        unsaid.chain(said).collect()
    }

    /// The events of the window, after those that say the state, at `time`.
    pub fn before(&self, mut events: Events, time: i64) -> Result<Events> {
        let first = events.next().transpose()?;
        // Lines of an imported file that stand before the first event stand before these, too.
        let numbers =
            first.as_ref().map(|batch| result::column::<Integers>(batch, btf_event::SEQ)).transpose()?;
        let seq = numbers.and_then(|numbers| numbers.values().first().copied()).unwrap_or(i64::MAX);
        let own = (self.len() > 0).then(|| self.batch(time, seq)).transpose()?;
        Ok(Box::new(own.into_iter().chain(first).map(Ok).chain(events)))
    }

    /// The rows of `btf_event`, at `time` and before the event `seq`.
    fn batch(&self, time: i64, seq: i64) -> Result<RecordBatch> {
        let mut rows = BtfEventRows::new();
        let name = |id| self.known.names.name(id);
        for event in &self.events {
            rows.push(BtfEventRow {
                time,
                seq,
                source: name(event.source.0),
                source_instance: event.source.1,
                target_type: name(event.kind),
                target: name(event.target.0),
                target_instance: event.target.1,
                action: name(event.word),
                note: event.note.map(name),
            });
        }
        rows.take_batch()
    }

    /// Leaves out what the user did not select.
    fn select(&mut self, selection: &Selection) {
        let kinds = &selection.types;
        let same = |a: &str, b: &str| {
            a == b
                || EntityType::parse_tolerant(a).is_some_and(|of| EntityType::parse_tolerant(b) == Some(of))
        };
        let names = &self.known.names;
        let is_selected = |event: &Statement| {
            let of = |who: Who| selection.has_entity(names.text(who.0));
            (of(event.source) || of(event.target))
                && (kinds.is_empty() || kinds.iter().any(|kind| same(kind, names.text(event.kind))))
        };
        self.events.retain(is_selected);
        self.unsaid.retain(is_selected);
    }

    fn say(&mut self, version: Option<Version>) {
        let mut says = Vec::new();
        says.extend(self.known.signals.values().copied());
        self.os_events(&mut says);
        let old = version.is_none_or(|version| version == Version::V2_1_5);
        let semaphores = std::mem::take(&mut self.known.semaphores);
        semaphores.values().for_each(|semaphore| self.semaphore(semaphore, old, &mut says));
        for open in self.known.runnables.values() {
            let suspended = open.iter().rev().filter(|runnable| runnable.state == State::Suspended);
            says.extend(suspended.map(|runnable| runnable.change));
        }
        says.extend(self.activations());
        let processes: Vec<Process> = self.known.processes.values().copied().collect();
        for on_core in [false, true] {
            for process in processes.iter().filter(|process| process.state.on_core() == on_core) {
                says.extend(self.process(process));
            }
        }
        let runnables = std::mem::take(&mut self.known.runnables);
        for runnable in runnables.values().flatten().filter(|runnable| runnable.state == State::Running) {
            says.push(self.with_action(runnable.change, Action::Resume));
        }
        self.events = self.triggers(&says);
        self.events.extend(says);
    }

    /// The same event with another action, and without the note of its own one.
    fn with_action(&mut self, event: Statement, action: Action) -> Statement {
        let word = self.known.names.intern(action.as_str());
        if Action::parse_tolerant(self.known.names.text(event.word)) == Some(action) {
            return event;
        }
        Statement { word, note: None, ..event }
    }

    fn process(&mut self, process: &Process) -> Option<Statement> {
        let action = match process.state {
            State::Running => Action::Resume,
            State::Ready => Action::Preempt,
            State::Waiting => Action::Wait,
            State::Polling => Action::Poll,
            State::Parking => Action::Park,
            _ => return None,
        };
        Some(self.with_action(process.change, action))
    }

    fn os_events(&self, says: &mut Vec<Statement>) {
        for OsEvent { set, awaited } in self.known.os_events.values() {
            let waits = |event: &Statement| {
                self.known.processes.get(&event.source).is_some_and(|process| process.state == State::Waiting)
            };
            says.extend(set);
            says.extend(awaited.filter(waits));
        }
    }

    fn semaphore(&mut self, semaphore: &Semaphore, old: bool, says: &mut Vec<Statement>) {
        let state = semaphore.state.map(|(state, _)| state);
        let (owners, waiters): (Vec<&Access>, Vec<&Access>) =
            semaphore.accesses.iter().partition(|access| access.has(Action::Assigned));
        let taken: &[Action] = match state {
            Some(State::Used) => &[Action::Used],
            Some(State::Full | State::Overfull) if semaphore.counts => &[Action::Used, Action::LockUsed],
            Some(State::Full | State::Overfull) => &[Action::Lock],
            _ => &[],
        };
        let more: &[Action] = if state == Some(State::Overfull) { &[Action::Overfull] } else { &[] };
        let enter = [Action::RequestSemaphore, Action::Increment];
        says.extend(semaphore.ready.filter(|_| old && state.is_some()));
        says.extend(steps(&owners, enter));
        says.extend(self.changes(semaphore, taken));
        says.extend(steps(&owners, [Action::Assigned, Action::Released]));
        says.extend(steps(&waiters, enter));
        says.extend(self.changes(semaphore, more));
        says.extend(steps(&waiters, [Action::Queued, Action::Waiting]));
    }

    /// What becomes of a semaphore by these actions of its own.
    fn changes(&mut self, semaphore: &Semaphore, actions: &[Action]) -> Vec<Statement> {
        let Some((_, change)) = semaphore.state else { return Vec::new() };
        actions.iter().map(|action| self.with_action(change, *action)).collect()
    }

    /// Pending activations with the losses after them, as far as their numbers allow.
    fn activations(&mut self) -> Vec<Statement> {
        let mut by_process: BTreeMap<NameId, Vec<Statement>> = BTreeMap::new();
        for process in self.known.processes.values().filter(|process| process.state == State::Active) {
            by_process.entry(process.change.target.0).or_default().push(process.change);
        }
        let mut says = Vec::new();
        for (name, mut events) in by_process {
            let pending = events.clone();
            events.extend(
                self.known
                    .lost
                    .get(&name)
                    .into_iter()
                    .flatten()
                    .filter(|lost| pending.first().is_some_and(|first| lost.target.1 > first.target.1)),
            );
            events.sort_by_key(|event| event.target.1);
            let numbers: Option<Vec<i64>> = events.iter().map(|event| event.target.1).collect();
            let rises = numbers.is_none_or(|numbers| {
                numbers.is_sorted_by(|a, b| a.checked_add(1) == Some(*b))
                    && numbers.last() == self.known.last_numbers.get(&name)
            });
            if rises {
                says.extend(events);
                continue;
            }
            self.unsaid.extend(pending);
        }
        says
    }

    /// The triggers of stimuli that several of the events name as their source.
    fn triggers(&self, says: &[Statement]) -> Vec<Statement> {
        let mut causes: BTreeMap<NameId, BTreeSet<i64>> = BTreeMap::new();
        for event in says.iter().filter(|event| self.known.triggers.contains_key(&event.source.0)) {
            causes.entry(event.source.0).or_default().extend(event.source.1);
        }
        let mut triggers = Vec::new();
        for (stimulus, numbers) in causes.iter().filter(|(_, numbers)| numbers.len() > 1) {
            let (Some(first), Some(trigger)) = (numbers.first(), self.known.triggers.get(stimulus)) else {
                continue;
            };
            let last = trigger.target.1.unwrap_or(*first);
            triggers.extend((*first..=last).map(|number| {
                let own = trigger.source == trigger.target;
                let source = if own { (*stimulus, Some(number)) } else { trigger.source };
                Statement { source, target: (*stimulus, Some(number)), ..*trigger }
            }));
        }
        triggers
    }
}

/// The steps of accesses that are among `actions`, access by access.
fn steps(accesses: &[&Access], actions: [Action; 2]) -> Vec<Statement> {
    let steps = accesses.iter().flat_map(|access| &access.steps);
    steps.filter(|(action, _)| actions.contains(action)).map(|(_, event)| *event).collect()
}
