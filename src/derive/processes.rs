//! Instances and states of tasks and ISRs. Not runnables.

use super::occupants::Occupants;
use super::{Rows, Violations};
use crate::btf::spec::process_transition;
use crate::btf::{Action, Actor, EntityType, Event, NameId, Names, State};
use crate::names::IdMap;
use crate::schema::{ProcessInstanceRow, ProcessStateRow};
use std::collections::hash_map::Entry;

#[derive(Debug)]
struct Open {
    /// Number of the instance by first event, so that open ones are written in a fixed order.
    born: u64,
    process: NameId,
    instance: i64,
    kind: EntityType,
    core: Option<NameId>,
    state: State,
    since: i64,
    activate_at: Option<i64>,
    start_at: Option<i64>,
    /// Time in each state after the start, by `slot`.
    spent: [i64; 5],
    preemptions: i64,
    /// Activations lost right before its own; `None` if its activation was not seen.
    lost_before: Option<i64>,
    /// Cut off by the left edge or a gap.
    cut: bool,
    /// The state is unknown until the next event (after a gap).
    lost: bool,
    /// Its state on the core that another process has taken from it, without an event: it is taken for READY.
    suspended: Option<State>,
}

#[derive(Debug, Default)]
pub(super) struct Processes {
    begin: i64,
    open: IdMap<(NameId, i64), Open>,
    /// Consecutive lost activations: the number of the last one, and their count.
    lost: IdMap<NameId, (i64, i64)>,
    born: u64,
    pub violations: Violations,
    /// For traces whose writers may leave out preemptions.
    pub occupants: Option<Occupants>,
    /// The instance of each process that started last, by `Open::born`; only with `occupants`.
    started: IdMap<NameId, u64>,
    /// An instance that starts without an activation was not in state ACTIVE before.
    pub starts_are_activations: bool,
}

/// The index of a state in `Open::spent`; ACTIVE time is the start delay, not part of an execution.
fn slot(state: State) -> Option<usize> {
    match state {
        State::Running => Some(0),
        State::Ready => Some(1),
        State::Waiting => Some(2),
        State::Polling => Some(3),
        State::Parking => Some(4),
        _ => None,
    }
}

impl Processes {
    pub fn new(begin: i64) -> Self {
        Self { begin, ..Self::default() }
    }

    /// The core a process instance was last on.
    pub fn core(&self, process: NameId, instance: i64) -> Option<NameId> {
        self.open.get(&(process, instance)).and_then(|o| o.core)
    }

    pub fn event(&mut self, event: &Event, names: &Names, rows: &mut Rows) {
        if event.action == Action::MtaLimitExceeded {
            let (last, run) = self.lost.entry(event.target).or_default();
            *run = if last.checked_add(1) == Some(event.target_instance) { *run + 1 } else { 1 };
            *last = event.target_instance;
            return;
        }
        let Some((from, to)) = process_transition(event.action) else { return };
        let actor = (event.target, event.target_instance);
        if self.occupants.is_some() {
            self.back_on_core(actor, event.time, names, rows);
        }
        let mut open = match self.open.entry((event.target, event.target_instance)) {
            Entry::Occupied(open) => open,
            Entry::Vacant(place) => {
                let activated = event.action == Action::Activate;
                let from_now = activated || (self.starts_are_activations && event.action == Action::Start);
                let since = if from_now { event.time } else { self.begin };
                self.born += 1;
                let mut open = Open::new(self.born, event, from, since, !activated);
                if activated {
                    let before = self.lost.remove(&event.target);
                    let right_before =
                        before.filter(|(last, _)| last.checked_add(1) == Some(event.target_instance));
                    open.lost_before = Some(right_before.map_or(0, |(_, run)| run));
                }
                place.insert_entry(open)
            }
        };
        let ended = open.get_mut().event(event, (from, to), names, rows, &mut self.violations.process);
        let (born, core) = (open.get().born, open.get().core);
        if ended {
            open.remove().write(Some(event.time), names, rows);
        }
        if self.occupants.is_some() {
            if event.action == Action::Start {
                self.started.insert(event.target, born);
            }
            if let Some(core) = core.filter(|_| event.action != Action::Activate) {
                self.occupy(core, actor, to, event.time, names, rows);
            }
        }
    }

    /// An instance leads to state `to` on `core`: it may take the place of another one, or give it back.
    fn occupy(&mut self, core: NameId, actor: Actor, to: State, time: i64, names: &Names, rows: &mut Rows) {
        let Some(occupants) = &mut self.occupants else { return };
        if !matches!(to, State::Running | State::Polling) {
            if let Some(other) = occupants.leave(core, actor) {
                self.back_on_core(other, time, names, rows);
            }
            return;
        }
        let taken = occupants.enter(core, actor).and_then(|other| self.open.get_mut(&other));
        if let Some(open) = taken.filter(|open| !open.lost && open.suspended.is_none()) {
            open.leave(time, names, rows);
            (open.suspended, open.state, open.since) = (Some(open.state), State::Ready, time);
        }
    }

    /// Ends the time for which another process had the core of an instance, if one had.
    fn back_on_core(&mut self, actor: Actor, time: i64, names: &Names, rows: &mut Rows) {
        let Some(open) = self.open.get_mut(&actor) else { return };
        if let Some(state) = open.suspended.take() {
            // Events of one instant may be in any order.
            self.violations.occupied += u64::from(time > open.since);
            open.leave(time, names, rows);
            (open.state, open.since) = (state, time);
        }
    }

    pub fn gap(&mut self, core: NameId, begin: i64, end: i64, names: &Names, rows: &mut Rows) {
        let mut cut: Vec<&mut Open> =
            self.open.values_mut().filter(|o| o.core.is_none_or(|c| c == core)).collect();
        cut.sort_unstable_by_key(|o| o.born);
        for open in cut {
            if !open.lost {
                open.leave(begin, names, rows);
            }
            open.cut = true;
            open.lost = true;
            open.suspended = None;
            open.since = end;
        }
        if let Some(occupants) = &mut self.occupants {
            occupants.forget(core);
        }
    }

    pub fn finish(&mut self, end: i64, names: &Names, rows: &mut Rows) {
        let mut rest: Vec<Open> = std::mem::take(&mut self.open).into_values().collect();
        rest.sort_unstable_by_key(|o| o.born);
        for mut open in rest {
            let is_followed = self.started.get(&open.process).is_some_and(|born| *born > open.born);
            self.violations.endless += u64::from(is_followed && open.start_at.is_some());
            self.violations.occupied += u64::from(open.suspended.is_some() && end > open.since);
            if !open.lost {
                open.leave(end, names, rows);
            }
            open.write(None, names, rows);
        }
    }
}

impl Open {
    /// Adds an event that leads from the first to the second state; returns true if the instance ends.
    fn event(
        &mut self,
        event: &Event,
        (from, to): (State, State),
        names: &Names,
        rows: &mut Rows,
        violations: &mut u64,
    ) -> bool {
        if self.lost {
            self.lost = false;
            self.state = from;
            self.since = event.time;
        }
        let fresh = event.action == Action::Activate && self.activate_at.is_none() && !self.cut;
        if !fresh && self.state != from {
            *violations += 1;
        }
        let core = (event.action != Action::Activate).then_some(event.source);
        // The span that ends was on the previous core, if that is known.
        self.core = self.core.or(core);
        self.leave(event.time, names, rows);
        self.core = core.or(self.core);
        self.state = to;
        self.since = event.time;
        match event.action {
            Action::Activate => self.activate_at = Some(event.time),
            Action::Start => self.start_at = Some(event.time),
            Action::Preempt | Action::Park => self.preemptions += 1,
            _ => {}
        }
        event.action == Action::Terminate
    }

    fn new(born: u64, event: &Event, state: State, since: i64, cut: bool) -> Self {
        Self {
            born,
            process: event.target,
            instance: event.target_instance,
            kind: event.target_type,
            core: None,
            state,
            since,
            activate_at: None,
            start_at: None,
            spent: [0; 5],
            preemptions: 0,
            lost_before: None,
            cut,
            lost: false,
            suspended: None,
        }
    }

    /// Ends the span of the current state at `time`. Spans of length 0 are not written.
    fn leave(&mut self, time: i64, names: &Names, rows: &mut Rows) {
        if time <= self.since || self.state == State::Terminated {
            return;
        }
        if let Some(spent) = slot(self.state).and_then(|s| self.spent.get_mut(s)) {
            *spent += time - self.since;
        }
        rows.states.push(ProcessStateRow {
            process: names.name(self.process),
            r#type: self.kind.into(),
            instance: self.instance,
            core: self.core.map(|c| names.name(c)),
            state: self.state.into(),
            begin_at: self.since,
            end_at: time,
        });
    }

    fn write(&self, terminate_at: Option<i64>, names: &Names, rows: &mut Rows) {
        let [running, ready, waiting, polling, parking] = self.spent;
        let whole = self.activate_at.is_some() && self.start_at.is_some() && terminate_at.is_some();
        rows.instances.push(ProcessInstanceRow {
            process: names.name(self.process),
            r#type: self.kind.into(),
            instance: self.instance,
            core: self.core.map(|c| names.name(c)),
            activate_at: self.activate_at,
            start_at: self.start_at,
            terminate_at,
            running,
            ready,
            waiting,
            polling,
            parking,
            preemptions: self.preemptions,
            complete: whole && !self.cut,
            lost: self.lost_before,
        });
    }
}
