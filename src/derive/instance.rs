//! An instance of a task or ISR that has not ended: its state, what it has done, and its rows. Not which ones
//! there are (see `processes`).

use super::Rows;
use super::entities::Entities;
use crate::btf::{Action, Actor, EntityType, Event, NameId, Names, State};
use crate::schema::{ProcessInstanceRow, ProcessStateRow};

/// An instance that has not ended.
#[derive(Debug)]
pub(super) struct Open {
    /// Number of the instance by first event, so that open ones are written in a fixed order.
    pub born: u64,
    pub process: NameId,
    pub instance: i64,
    pub kind: EntityType,
    /// An idle task.
    pub idle: bool,
    pub core: Option<NameId>,
    pub state: State,
    pub since: i64,
    pub activate_at: Option<i64>,
    pub start_at: Option<i64>,
    /// Time in each state after the start, by `slot`.
    pub spent: [i64; 5],
    pub preemptions: i64,
    /// Activations lost right before its own; `None` if its activation was not seen.
    pub lost_before: Option<i64>,
    /// Cut off by the left edge or a gap.
    pub cut: bool,
    /// The writer does not tell the activations of its process.
    pub untold: bool,
    /// The state is unknown until the next event.
    pub lost: bool,
    /// Its state on the core that another process has taken from it, without an event: it is taken for READY.
    pub suspended: Option<State>,
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

impl Open {
    /// Adds an event that leads from the first to the second state; returns true if the instance ends.
    pub fn event(
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

    pub fn new(born: u64, actor: Actor, kind: EntityType, state: State, since: i64) -> Self {
        let (process, instance) = actor;
        Self {
            born,
            process,
            instance,
            kind,
            idle: false,
            core: None,
            state,
            since,
            activate_at: None,
            start_at: None,
            spent: [0; 5],
            preemptions: 0,
            lost_before: None,
            cut: false,
            untold: false,
            lost: false,
            suspended: None,
        }
    }

    pub fn lose(&mut self, time: i64, names: &Names, rows: &mut Rows) {
        if !self.lost {
            self.leave(time, names, rows);
        }
        (self.cut, self.lost, self.suspended) = (true, true, None);
    }

    /// Ends the span of the current state at `time`. Spans of length 0 are not written.
    pub fn leave(&mut self, time: i64, names: &Names, rows: &mut Rows) {
        if time <= self.since || self.state == State::Terminated {
            return;
        }
        if let Some(spent) = slot(self.state).and_then(|s| self.spent.get_mut(s)) {
            *spent = spent.saturating_add(time.saturating_sub(self.since));
        }
        rows.states.push(ProcessStateRow {
            process: names.name(self.process),
            r#type: self.kind.into(),
            instance: self.instance,
            core: self.core.map(|c| names.name(c)),
            state: self.state.into(),
            begin_at: self.since,
            end_at: time,
            idle: self.idle,
        });
    }

    /// It is written, and its core occurs.
    pub fn end(self, terminate_at: Option<i64>, names: &Names, entities: &mut Entities, rows: &mut Rows) {
        self.core.into_iter().for_each(|core| entities.occurs(core, EntityType::Core));
        let [running, ready, waiting, polling, parking] = self.spent;
        let begin = self.activate_at.is_some() || self.untold;
        let whole = begin && self.start_at.is_some() && terminate_at.is_some();
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
