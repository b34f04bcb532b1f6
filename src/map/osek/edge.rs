//! The look-ahead over a recording: finds out what held before the first event if the recording starts in the
//! middle, and what held after each gap (rules L1–L4, H2; docs/mapping.md). For a recording from StartOS on
//! without gaps, the first events are enough.

use super::machine::Edge;
use super::model::{Attribute, Model, OsState, Service};
use super::slots::Role;
use super::software::{EventKind, Function, SoftwareEvent};
use std::collections::HashSet;

/// What the events of a core have shown since its edge.
#[derive(Debug, Default)]
struct CoreEdge {
    /// First access of the nesting level, if it was a read.
    nesting: Option<i64>,
    nesting_seen: bool,
    /// First access of RUNNINGISR2: its value, if that was a read.
    isr_value: Option<i64>,
    isr_seen: bool,
    /// First access of RUNNINGISR2, if that was a write after a handler of category 2 was left that had not
    /// been entered: the ISR that the core returns to, or none.
    returns_to: Option<i64>,
    /// First access of RUNNINGISR2, if that was a write before any handler of category 2 was left: an ISR
    /// began, or one ended that nothing else tells of.
    isr_written: Option<i64>,
    /// Handlers entered and not left.
    open: Vec<crate::btf::NameId>,
    /// Handlers left without an entry, innermost first, with "is of category 1".
    unmatched: Vec<(crate::btf::NameId, bool)>,
    /// First read of RUNNINGTASK, if it came before the first write.
    task_read: Option<i64>,
    task_written: bool,
    /// Task and value of the first change of RUNNINGTASK, if no STATE of it or the task before was written.
    late: Option<(usize, i64)>,
    /// Value of RUNNINGTASK when the recording began (`None`: no task), if STATE is the more exact one.
    running: Option<Option<i64>>,
    /// Task whose STATE was set RUNNING before RUNNINGTASK was written: it did not run at the edge.
    dispatched: Option<usize>,
    /// A task that was dispatched for the first time and has not yet shown whether it started or resumed.
    undecided: Option<usize>,
}

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
                self.access(event.core, slot, write, value as i64, model);
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

    fn access(&mut self, core: usize, slot: usize, write: bool, value: i64, model: &mut Model) {
        if self.seen.len() <= slot {
            self.seen.resize(slot + 1, false);
        }
        let first = !std::mem::replace(&mut self.seen[slot], true);
        if first && !write {
            let edge = model.slots.slot(slot).core.map_or(0, |c| self.at[c]);
            self.edges[edge].values.push((slot, value));
        }
        for n in 0..model.slot(slot).roles.len() {
            let role = model.slot(slot).roles[n];
            if first && write {
                self.first_write(core, slot, role, value, model);
            }
            match role {
                Role::Nesting if !std::mem::replace(&mut self.cores[core].nesting_seen, true) && !write => {
                    self.cores[core].nesting = Some(value);
                }
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
                    let start = model.cores[c].services.get(&id) == Some(&Service::Start);
                    self.from_start[c].get_or_insert(start);
                    self.decide(core, false);
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
        let (s, is_free) = match role {
            Role::Spin(s) => (s, value == 0),
            Role::SemState(s) => {
                let Some(state) = model.sems[s].state.clone() else { return };
                (s, evaluate(&state, value, model).is_some_and(|v| model.sems[s].is_unlocked(v)))
            }
            Role::SemLocker(s) => {
                let Some(locker) = model.sems[s].locker.clone() else { return };
                (s, evaluate(&locker, value, model).is_some_and(|v| model.sems[s].no_locker.contains(&v)))
            }
            _ => return,
        };
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
        if !self.written.insert(t) {
            return;
        }
        let Some(attribute) = model.tasks[t].state.clone() else { return };
        let state =
            evaluate(&attribute, value, model).and_then(|v| model.cores[core].states.get(&v).copied());
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
                    None => c.unmatched.push((name, matches!(function, Function::Category1(_)))),
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
        let complete = self.is_complete();
        if let Some(first) = self.edges.first_mut() {
            first.complete = complete;
        }
        self.edges
    }
}

impl CoreEdge {
    /// L3: the ISRs that were active when the trace began, outermost first, and whether an unknown one ran.
    /// The nesting level gives the number of those of category 2, and RUNNINGISR2 may say that there are
    /// none; category 1 does not count there. Without a nesting level, the end of a handler and the ISR that
    /// RUNNINGISR2 returns to tell it.
    fn isrs(&self, core: usize, model: &Model) -> (Vec<String>, bool) {
        let m = &model.cores[core];
        let is_none = |v: i64| m.no_isr_values.contains(&v);
        let handler = |v: i64| m.isr_symbols.get(&(v as u64)).or_else(|| m.isr_labels.get(&v));
        let left = || self.unmatched.iter().filter(|(_, category1)| !category1).map(|(name, _)| *name);
        // A handler that is left later without having been entered did not begin when it was written.
        let returned = self.isr_written.filter(|value| !is_none(*value)).and_then(handler);
        let returned = returned.is_some_and(|h| left().any(|name| model.names.text(name) == *h));
        let ended = match (self.returns_to, self.isr_written.filter(|_| returned)) {
            (None, None) => 0,
            (Some(outer), _) | (None, Some(outer)) => 1 + i64::from(!is_none(outer)),
        };
        let mut nested = self.nesting.unwrap_or(ended) - i64::from(returned);
        if self.isr_value.is_some_and(is_none) {
            nested = 0;
        }
        let mut isrs = Vec::new();
        for (name, category1) in &self.unmatched {
            if *category1 || nested > 0 {
                isrs.push(model.names.text(*name).to_owned());
                nested -= i64::from(!category1);
            }
        }
        isrs.reverse();
        let named = self.isr_value.or(self.returns_to).filter(|v| !is_none(*v)).and_then(handler);
        if let Some(name) = named.filter(|n| !isrs.contains(n)) {
            let outer = if self.isr_value.is_some() { isrs.len() } else { 0 };
            isrs.insert(outer, name.clone());
            nested -= 1;
        }
        let ended_unseen = self.isr_written.is_some_and(is_none) && isrs.is_empty();
        (isrs, returned || ended_unseen || (self.nesting.is_some() && nested > 0))
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
