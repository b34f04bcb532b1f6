//! The look-ahead over a recording: finds out what held before the first event if the recording starts in the
//! middle, and what held after each gap (rules L1–L4, H2; docs/mapping.md). For a recording from StartOS on
//! without gaps, the first events are enough.

mod core_edge;
mod polling;

use super::machine::{Edge, Occupant};
use super::model::{Attribute, Model, OsState, Service};
use super::slots::Role;
use super::software::{EventKind, Function, SoftwareEvent};
use core_edge::CoreEdge;
use polling::gives;
use std::collections::HashSet;

/// Finds the edge at the begin of a recording, and one for every gap.
#[derive(Debug, Default)]
pub(super) struct LookAhead {
    /// That of the recording, then those of the gaps.
    edges: Vec<Edge>,
    /// For every core, the index of the edge that its events belong to.
    at: Vec<usize>,
    /// For every core, the first instant behind its gaps. A gap of one export does not hide the other one.
    behind: Vec<i64>,
    /// The first service of the core was StartOS.
    from_start: Vec<Option<bool>>,
    cores: Vec<CoreEdge>,
    /// Cores that call TryToGetSpinlock, and the edges, with their core, at which a process may be in a loop
    /// over it.
    tries: Vec<bool>,
    may_try: Vec<(usize, Occupant)>,
    /// Slots accessed since the edge of their core.
    seen: Vec<bool>,
    /// Tasks whose state has been written since the edge of their core.
    written: HashSet<usize>,
    /// Activations of each task, as last counted since the edge of its core.
    counts: Vec<Option<i64>>,
    /// The bits in the event masks of each task.
    pub events: Vec<u64>,
}

impl LookAhead {
    /// At the begin of a recording, at `begin` in ticks.
    pub fn new(model: &Model, begin: i64) -> Self {
        let cores = model.cores.len();
        Self {
            edges: vec![Edge::at(begin, cores)],
            at: vec![0; cores],
            behind: vec![begin; cores],
            from_start: vec![None; cores],
            cores: model.cores.iter().map(|_| CoreEdge::default()).collect(),
            tries: vec![false; cores],
            may_try: Vec::new(),
            seen: vec![false; model.slots.len()],
            written: HashSet::new(),
            counts: vec![None; model.tasks.len()],
            events: vec![0; model.tasks.len()],
        }
    }

    /// True if every core is recorded from StartOS on: without gaps, there is nothing else to find out.
    pub fn is_complete(&self) -> bool {
        self.from_start.iter().all(|start| *start == Some(true))
    }

    /// The trace of `core` has a gap: what follows belongs to a new edge. Cores of one OS image share their
    /// variables, and get their new edges together.
    pub fn gap(&mut self, core: usize, end: i64, model: &mut Model) {
        let image = model.cores[core].image;
        self.behind[core] = self.behind[core].max(end);
        self.edges.push(Edge::at(end, self.cores.len()));
        for c in (0..self.cores.len()).filter(|c| model.cores[*c].image == image) {
            self.from_start[c].get_or_insert(false);
            self.close(c, model);
            self.at[c] = self.edges.len() - 1;
        }
        self.written.retain(|t| model.tasks[*t].core != image);
        let counts = self.counts.iter_mut().zip(&model.tasks).filter(|(_, task)| task.core == image);
        counts.for_each(|(count, _)| *count = None);
        for slot in model.slots.forget(core) {
            if let Some(seen) = self.seen.get_mut(slot) {
                *seen = false;
            }
        }
    }

    pub fn event(&mut self, event: &SoftwareEvent, model: &mut Model) {
        match event.kind {
            EventKind::Access { slot: Some(slot), write, value, signal, .. } => {
                let is_hidden = self.is_hidden(event, model);
                self.access(event.core, slot, (write, is_hidden), value as i64, model);
                if signal.is_some() {
                    self.decide(event.core, false);
                }
            }
            EventKind::Access { .. } => self.decide(event.core, false),
            // What was entered in a gap of the data may be active at its end; what was left in it is not.
            EventKind::Call { function: Function::Handler(_), .. }
                if event.time < self.behind[event.core] => {}
            EventKind::Call { function, entry } => self.call(event.core, function, entry),
        }
    }

    /// True for what a core shows while another one of its OS image is in a gap, which may change it until
    /// the gap ends.
    fn is_hidden(&self, event: &SoftwareEvent, model: &Model) -> bool {
        let image = model.cores[event.core].image;
        let mut others = model.cores.iter().zip(&self.behind).enumerate();
        others
            .any(|(core, (other, behind))| core != event.core && other.image == image && event.time < *behind)
    }

    /// `is_hidden`: the value may be another one at the end of the gap.
    fn access(
        &mut self,
        core: usize,
        slot: usize,
        (write, is_hidden): (bool, bool),
        value: i64,
        model: &mut Model,
    ) {
        if self.seen.len() <= slot {
            self.seen.resize(slot + 1, false);
        }
        let first = !std::mem::replace(&mut self.seen[slot], true);
        if first && !write {
            let edge = model.slots.slot(slot).core.map_or(0, |c| self.at[c]);
            if !is_hidden {
                self.edges[edge].values.push((slot, value));
            }
        }
        for n in 0..model.slot(slot).roles.len() {
            let role = model.slot(slot).roles[n];
            if is_hidden && let Some(task) = concerned(core, role, value, model) {
                self.edges[self.at[core]].touched.insert(task);
            }
            if first && write {
                self.first_write(core, slot, role, value, model);
            }
            if let Role::RunningIsr(c) = role
                && c == core
                && write
            {
                self.isr(core, value, model);
            }
            match role {
                Role::Nesting if !std::mem::replace(&mut self.cores[core].nesting_seen, true) && !write => {
                    self.cores[core].nesting = Some(value);
                }
                Role::Spin(_) if value != 0 => self.may_poll(core, model),
                Role::SemState(s) | Role::SemLocker(s) if write => self.taken(core, s, role, value, model),
                Role::LastError(c) if c == core && write => self.error(core, value, model),
                Role::RunningIsr(c)
                    if c == core && !std::mem::replace(&mut self.cores[c].isr_seen, true) && !write =>
                {
                    self.cores[c].isr_value = Some(value);
                }
                Role::RunningIsr(c) if c == core && first && write => {
                    let c = &mut self.cores[c];
                    let returns = c.unmatched.iter().any(|(_, category1)| !category1);
                    c.returns_to = returns.then_some(value);
                    c.isr_written = (!returns).then_some(value);
                }
                Role::Service(c) if c == core && write => {
                    let id = match model.entry {
                        crate::description::profile::EntryMark::Bit0 => value & !1,
                        crate::description::profile::EntryMark::None => value,
                    };
                    let service = model.cores[c].services.get(&id).copied();
                    self.from_start[c].get_or_insert(service == Some(Service::Start));
                    self.decide(core, false);
                    self.service(c, service, model);
                }
                Role::RunningTask(c) if c == core => self.running_task(core, write, value, model),
                Role::TaskState(t) if write => self.task_state(core, t, value, model),
                Role::Activations(t) => self.activations(core, t, write, value, model),
                Role::EventActive(t) | Role::EventWait(t) => {
                    if let Some(bits) = self.events.get_mut(t) {
                        *bits |= value.cast_unsigned();
                    }
                }
                Role::WasWaiting(t) if !write && self.cores[core].undecided == Some(t) => {
                    self.decide(core, value == 0);
                }
                _ => {}
            }
        }
        model.slots.set(slot, None);
    }

    /// L5: a lock that is given back before it was taken was locked at the edge.
    fn first_write(&mut self, core: usize, slot: usize, role: Role, value: i64, model: &mut Model) {
        let (Role::Spin(s) | Role::SemState(s) | Role::SemLocker(s)) = role else { return };
        let is_free = gives(s, role, value, model) == Some(true);
        // The start of the OS initializes its locks.
        let starts = self.at[core] == 0 && self.from_start[core] == Some(true);
        if is_free && !starts {
            let edge = model.slots.slot(slot).core.map_or(self.at[core], |c| self.at[c]);
            self.edges[edge].held.push(s);
        }
    }

    /// L2: RUNNINGTASK is not exact at the edge, because a dispatcher writes STATE some 100 ns before it, or
    /// after it when it returns to a preempted task. A task that leaves the core by a change of RUNNINGTASK
    /// without a STATE before it had left the core before the trace began.
    fn running_task(&mut self, core: usize, write: bool, value: i64, model: &mut Model) {
        let attribute = model.cores[core].running_task.clone();
        let Some(task) = attribute.and_then(|a| evaluate(&a, value, model)) else { return };
        let c = &mut self.cores[core];
        let occupant = c.task_read;
        c.polling_decided |= write && occupant.is_none();
        c.replaced = occupant.is_some_and(|occupant| occupant != task);
        if c.task_written {
            return;
        }
        let task_of = |v: i64| model.cores[core].tasks_by_value.get(&v).copied();
        if !write {
            c.task_read.get_or_insert(task);
            if c.dispatched.is_some() && c.dispatched == task_of(task) {
                c.running.get_or_insert(None);
            }
            return;
        }
        c.task_written = true;
        let known = |t: &usize| model.tasks[*t].state.is_none() || self.written.contains(t);
        let before = c.task_read.and_then(task_of);
        match task_of(task) {
            _ if before.as_ref().is_some_and(known) => {}
            Some(t) if !known(&t) => c.late = Some((t, value)),
            _ if before.is_some() => c.running = Some(None),
            _ => {}
        }
    }

    /// The first state that is written of a task. L2: only a running task can begin to wait or end. L4: for a
    /// task that starts to run, further events decide.
    fn task_state(&mut self, core: usize, t: usize, value: i64, model: &mut Model) {
        self.decide(core, false);
        let first = self.written.insert(t);
        if !first && self.cores[core].polling_decided {
            return;
        }
        let Some(attribute) = model.tasks[t].state.clone() else { return };
        let state =
            evaluate(&attribute, value, model).and_then(|v| model.cores[core].states.get(&v).copied());
        let ends = matches!(state, Some(OsState::Waiting | OsState::Suspended)) && self.is_occupant(core);
        self.cores[core].polling_decided |= ends;
        if !first {
            return;
        }
        if let Some((_, value)) = self.cores[core].late.take_if(|late| late.0 == t) {
            // Not running yet: RUNNINGTASK was written first.
            let ran = state != Some(OsState::Running);
            self.cores[core].running.get_or_insert(ran.then_some(value));
        }
        match state {
            Some(OsState::Running) => {
                let c = &mut self.cores[core];
                c.undecided = Some(t);
                let task_of = |v| model.cores[core].tasks_by_value.get(&v).copied();
                if !c.task_written {
                    c.dispatched.get_or_insert(t);
                }
                if c.dispatched == Some(t) && c.task_read.and_then(task_of) == Some(t) {
                    c.running.get_or_insert(None);
                }
            }
            Some(OsState::Waiting | OsState::Suspended) => self.ran(core, t, model),
            _ => {}
        }
    }

    /// L2: only a running task can end, and with it one of its activations.
    fn activations(&mut self, core: usize, t: usize, write: bool, value: i64, model: &mut Model) {
        let attribute = model.tasks[t].activations.clone();
        let count = attribute.and_then(|a| evaluate(&a, value, model));
        let count = count.map(|n| if model.tasks[t].counts_down { n.wrapping_neg() } else { n });
        let before = std::mem::replace(&mut self.counts[t], count);
        if write && count < before && count.is_some() && !self.written.contains(&t) {
            self.ran(core, t, model);
        }
    }

    /// Task `t` was running at the edge of `core`, unless something else is known.
    fn ran(&mut self, core: usize, t: usize, model: &Model) {
        let by_value = &model.cores[core].tasks_by_value;
        let values = by_value.iter().filter(|(_, task)| **task == t).map(|(value, _)| *value);
        if let Some(value) = values.min() {
            self.cores[core].running.get_or_insert(Some(value));
        }
    }

    fn call(&mut self, core: usize, function: Function, entry: bool) {
        let c = &mut self.cores[core];
        match function {
            Function::Handler(name) | Function::Category1(name) if entry => c.open.push(name),
            Function::Handler(name) | Function::Category1(name) => {
                match c.open.iter().rposition(|o| *o == name) {
                    Some(n) => c.open.truncate(n),
                    None => {
                        c.isr_of_edge_ends();
                        c.unmatched.push((name, matches!(function, Function::Category1(_))));
                    }
                }
            }
            Function::TaskBody(t) => {
                let starts = entry && c.undecided == Some(t);
                self.decide(core, starts);
            }
            Function::Runnable(_) => self.decide(core, false),
        }
    }

    fn decide(&mut self, core: usize, started: bool) {
        if let Some(t) = self.cores[core].undecided.take()
            && started
        {
            self.edges[self.at[core]].never_ran.push(t);
        }
    }

    fn close(&mut self, core: usize, model: &Model) {
        let c = std::mem::take(&mut self.cores[core]);
        let edge = &mut self.edges[self.at[core]];
        let (isrs, is_last_unknown) = c.isrs(core, model);
        edge.isrs[core] = isrs;
        if is_last_unknown {
            edge.unknown_isr.push(core);
        }
        let running = c.running.or(c.late.map(|(_, value)| Some(value)));
        let (Some(running), Some(attribute)) = (running, &model.cores[core].running_task) else { return };
        if let [slot] = attribute.slots[..] {
            edge.values.retain(|(s, _)| *s != slot);
            edge.values.extend(running.map(|value| (slot, value)));
        }
    }

    /// The edge of the recording, then those of the gaps.
    pub fn finish(mut self, model: &Model) -> Vec<Edge> {
        (0..self.cores.len()).for_each(|core| self.close(core, model));
        self.close_polling();
        let complete = self.is_complete();
        if let Some(first) = self.edges.first_mut() {
            first.complete = complete;
        }
        self.edges
    }
}

/// The task of which an access tells something; RUNNINGTASK does of those that have no STATE (rule T12).
fn concerned(core: usize, role: Role, value: i64, model: &mut Model) -> Option<usize> {
    match role {
        Role::TaskState(t) | Role::Activations(t) | Role::EventWait(t) => Some(t),
        Role::RunningTask(c) if c == core => {
            let attribute = model.cores[core].running_task.clone()?;
            let value = evaluate(&attribute, value, model)?;
            let task = model.cores[core].tasks_by_value.get(&value).copied();
            task.filter(|t| model.tasks[*t].state.is_none())
        }
        _ => None,
    }
}

/// The value of an attribute for a single traced value; formulas read slots.
fn evaluate(attribute: &Attribute, value: i64, model: &mut Model) -> Option<i64> {
    for slot in &attribute.slots {
        model.slots.set(*slot, Some(value));
    }
    let result = attribute.value(&model.slots);
    for slot in &attribute.slots {
        model.slots.set(*slot, None);
    }
    result
}
