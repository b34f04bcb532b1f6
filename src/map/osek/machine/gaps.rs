//! Rules for gaps (H1 to H3; docs/mapping.md): what a gap of a core hides, also of tasks of its OS image that
//! another core had last. Not what is known behind it (see `activations`, `edges`, `isrs`), nor locks (see
//! `locks`).

use super::state::{Actor, Context, Core, Edge, Instance, Occupant, Proc};
use super::{Machine, OsState};
use crate::btf::{NameId, State as ProcessState};
use crate::map::{Gap, Output};
use std::collections::BTreeSet;

/// The gaps that have begun and not ended.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// Cores and the ends of their gaps.
    open: Vec<(usize, i64)>,
    /// Tasks that have changed meanwhile on other cores, which do not run them.
    changed: BTreeSet<usize>,
    /// ISRs of category 1 that have begun in a gap of their core: cores and depths.
    isrs: BTreeSet<(usize, usize)>,
    /// Runnables that have begun in a gap of their core, whose processes are not known, and have not ended.
    runnables: BTreeSet<(usize, Actor)>,
    /// What the cores of the gaps run at the ends, where others change it before.
    at_end: Vec<AtEnd>,
}

/// The task that has a core when the gap of the core ends.
#[derive(Debug, Clone, Copy)]
struct AtEnd {
    core: usize,
    task: usize,
    /// Rule L8.
    may_poll: bool,
}

impl Gaps {
    /// Nothing is known of task `t`: it has changed, and a core in a gap may have changed it since.
    pub(super) fn hides(&self, t: usize) -> bool {
        self.changed.contains(&t)
    }
}

impl Machine {
    /// Rule H1: a gap in the trace of `core`. Its new state is `edge` (rule H2).
    pub(in crate::map::osek) fn gap(&mut self, core: usize, gap: &Gap, edge: &Edge) {
        self.now = gap.begin;
        self.end_gaps(gap.begin);
        let name = self.cores[core].name;
        for n in 0..self.cores[core].isrs.len() {
            self.cut_calls_of(Proc::Isr(core, n));
        }
        let idle = std::mem::take(&mut self.cores[core].idle);
        self.cut_calls(None, &idle);
        self.cores[core] = Core::new(name);
        self.gaps.isrs.retain(|(other, _)| *other != core);
        self.gaps.runnables.retain(|(other, _)| *other != core);
        self.gaps.open.push((core, gap.end));
        let image = self.model.cores[core].image;
        // The edge tells of all of them: an earlier one ends where this gap begins.
        let open = self.cores_in_gap(core);
        self.gaps.at_end.retain(|at_end| !open.contains(&at_end.core));
        let elsewhere = |t: &usize| self.model.tasks[*t].core == image && self.tasks[*t].core != core;
        let hidden = (0..self.tasks.len()).filter(elsewhere).filter(|t| self.is_hidden(*t));
        let hidden: BTreeSet<usize> = hidden.collect();
        self.model.slots.forget(core);
        for (time, model) in self.alarm_times.iter_mut().zip(&self.model.alarms) {
            if model.core == image {
                *time = None;
            }
        }
        self.locks_in_gap(core, gap.end);
        self.pending.retain(|p| p.core != core);
        self.tell_homes();
        hidden.iter().for_each(|t| self.lose_task(*t));
        self.out.push(Output::Gap { core: name, begin: gap.begin, end: gap.end });
        for (slot, value) in &edge.values {
            self.model.slots.set(*slot, Some(*value));
        }
        for core in &open {
            self.cores[*core].task_value = self.model.value(&self.model.cores[*core].running_task);
        }
        for t in 0..self.tasks.len() {
            if self.model.tasks[t].core != image {
                continue;
            }
            if open.contains(&self.tasks[t].core) {
                self.task_after_gap(t, edge);
            } else if hidden.contains(&t) && !self.tasks[t].lost {
                self.task_after_gap_elsewhere(t, edge);
            } else {
                self.tasks[t].activations = None;
                continue;
            }
            self.gaps.changed.remove(&t);
        }
        for s in 0..self.sems.len() {
            let sem = &self.model.sems[s];
            if !sem.spin && self.sems[s].unknown && self.model.cores[sem.core].image == image {
                self.lock_at_left_edge(s, edge);
            }
        }
        for core in &open {
            for handler in &edge.isrs[*core] {
                self.isr_at_left_edge(*core, handler);
            }
            self.tell_states(*core, self.gap_end(*core).unwrap_or(gap.end), edge);
            self.remember_end(*core, edge);
        }
        let end = self.hidden_until(core, gap.end);
        for t in hidden {
            // Of those that the cores in gaps have now, it is said above.
            if !open.contains(&self.tasks[t].core) {
                self.tell_task(t, 0, end);
            }
        }
    }

    /// The cores of the OS image of `core` that are in gaps; without those of which functions tell that ISRs
    /// have begun there.
    fn cores_in_gap(&self, core: usize) -> BTreeSet<usize> {
        let image = self.model.cores[core].image;
        let open = self.gaps.open.iter().map(|(open, _)| *open);
        open.filter(|open| self.model.cores[*open].image == image && self.cores[*open].isrs.is_empty())
            .collect()
    }

    /// When the gaps of the OS image of `core` have ended, not before `since`: until then, a core in a gap
    /// may run what no other one runs.
    pub(super) fn hidden_until(&self, core: usize, since: i64) -> i64 {
        let image = self.model.cores[core].image;
        let of_image = self.gaps.open.iter().filter(|(open, _)| self.model.cores[*open].image == image);
        of_image.map(|(_, end)| *end).fold(since, i64::max)
    }

    /// True for a task that a core in a gap may run, end or release unseen, although another core of its OS
    /// image had it last: it moves (rule T13), unless that core has it still.
    pub(super) fn is_hidden(&self, t: usize) -> bool {
        let image = self.model.tasks[t].core;
        let is_of_image = |core: &usize| self.model.cores[*core].image == image;
        let is_in_gap = |core: &usize| self.gaps.open.iter().any(|(open, _)| open == core);
        let has = |core: &usize| {
            let core = &self.cores[*core];
            core.incoming == Some(t)
                || (core.running == Some(t) && self.tasks[t].os == Some(OsState::Running))
        };
        let mut cores = (0..self.cores.len()).filter(is_of_image);
        self.has_several_cores(t)
            && cores.clone().any(|core| is_in_gap(&core))
            && !cores.any(|core| !is_in_gap(&core) && has(&core))
    }

    /// Nothing is known of the instances of `t` from now on.
    fn lose_task(&mut self, t: usize) {
        let task = &self.tasks[t];
        for instance in &task.queue {
            self.out.push(Output::Lost { process: (task.name, instance.number), time: self.now });
        }
    }

    /// When the gap of `core` ends that goes on.
    fn gap_end(&self, core: usize) -> Option<i64> {
        self.gaps.open.iter().filter(|(open, _)| *open == core).map(|(_, end)| *end).max()
    }

    /// Rule H2, of the task that has `core` at the end of the gap: what others tell of it in the gap comes
    /// before.
    fn remember_end(&mut self, core: usize, edge: &Edge) {
        let tasks = &self.model.cores[core].tasks_by_value;
        let task = self.cores[core].task_value.and_then(|value| tasks.get(&value).copied());
        if let Some(task) = task.filter(|task| edge.touched.contains(task)) {
            let polls = |below| edge.may_poll.contains(&Occupant { core, below });
            let may_poll = polls(true) || (self.cores[core].isrs.is_empty() && polls(false));
            self.gaps.at_end.push(AtEnd { core, task, may_poll });
        }
    }

    /// The gap has ended, at `end`. Nothing else is known of the task, unless another core has it.
    fn runs_since(&mut self, AtEnd { core, task: t, may_poll }: AtEnd, end: i64) {
        if self.tasks[t].os.is_some() || self.cores[core].running.is_some() {
            return;
        }
        self.leave_unseen(t);
        if self.tasks[t].queue.is_empty() {
            let number = self.new_instance(t);
            self.tasks[t].queue.push_back(Instance { number, state: ProcessState::Ready });
        }
        let has_isr = !self.cores[core].isrs.is_empty();
        let state = if has_isr { ProcessState::Ready } else { ProcessState::Running };
        self.set_state(Proc::Task(t), state);
        let task = &mut self.tasks[t];
        (task.os, task.core, task.lost, task.never_ran) = (Some(OsState::Running), core, false, false);
        task.context.may_poll = may_poll;
        self.cores[core].running = Some(t);
        self.tell_again(Proc::Task(t), end);
    }

    /// The process that calls a function. Functions are recorded in a gap only if the data are not: who has
    /// the core then is not known, but for ISRs of category 1 that have begun in it.
    pub(super) fn caller_of_function(&self, core: usize) -> Option<Proc> {
        let is_known = |p: &Proc| match p {
            Proc::Isr(core, n) => self.gaps.isrs.contains(&(*core, *n)),
            Proc::Task(_) => false,
        };
        self.proc(core).filter(|p| self.gap_end(core).is_none() || is_known(p))
    }

    /// A runnable begins, in the process `p`.
    pub(super) fn begins_in_gap(&mut self, core: usize, p: Option<Proc>, runnable: Actor) {
        if p.is_none() && self.gap_end(core).is_some() {
            self.gaps.runnables.insert((core, runnable));
        }
    }

    /// The last runnable of that name which began in a gap, of an unknown process, ends; true if there is
    /// one.
    pub(super) fn ends_of_gap(&mut self, core: usize, name: NameId) -> bool {
        let is_it = |(other, runnable): &&(usize, Actor)| *other == core && runnable.0 == name;
        let found = self.gaps.runnables.iter().rfind(is_it).copied();
        found.is_some_and(|found| self.gaps.runnables.remove(&found))
    }

    /// An ISR of category 1 begins. In a gap, of what it interrupts only the state at the end was known.
    pub(super) fn interrupted(&mut self, core: usize) {
        let end = self.gap_end(core);
        match self.proc(core) {
            Some(p) if self.caller_of_function(core) == Some(p) => self.leave(p),
            Some(p) => {
                let state = match self.state(p) {
                    ProcessState::Running => ProcessState::Ready,
                    ProcessState::Polling => ProcessState::Parking,
                    state => state,
                };
                self.set_state(p, state);
                let (process, time) = (self.actor(p), self.now);
                self.out.push(Output::Lost { process, time });
            }
            None => {}
        }
        if end.is_some() {
            self.gaps.isrs.insert((core, self.cores[core].isrs.len()));
        }
    }

    /// An ISR of category 1 is over. In a gap, what it has interrupted has the core at the end of the gap;
    /// true if it was in one.
    pub(super) fn goes_on_unseen(&mut self, core: usize) -> bool {
        let depth = self.cores[core].isrs.len();
        self.gaps.isrs.retain(|(other, n)| *other != core || *n < depth);
        let (Some(end), None) = (self.gap_end(core), self.caller_of_function(core)) else { return false };
        if let Some(p) = self.proc(core) {
            let state = match self.state(p) {
                ProcessState::Ready => ProcessState::Running,
                ProcessState::Parking => ProcessState::Polling,
                state => state,
            };
            self.set_state(p, state);
            self.tell_again(p, end);
        }
        true
    }

    /// A task has changed. While a core of its OS image is in a gap, that says nothing of the time from now
    /// on, unless another one runs it, or that core does at the end of the gap.
    pub(super) fn hide(&mut self, t: usize) {
        if self.gaps.open.is_empty() {
            return;
        }
        let runs = self.cores.iter().any(|core| core.running == Some(t));
        if runs || !self.is_hidden(t) {
            self.gaps.changed.remove(&t);
            return;
        }
        self.lose_task(t);
        self.gaps.changed.insert(t);
        // It may run and end unseen. What rule H6 says of a process that parks stays.
        self.cut_calls_of(Proc::Task(t));
        let context = &mut self.tasks[t].context;
        let Context { may_poll, waits_for, .. } = *context;
        *context = Context { may_poll, waits_for, ..Context::default() };
    }

    /// Rule H3, of a task that another core of the OS image had last.
    fn task_after_gap_elsewhere(&mut self, t: usize, edge: &Edge) {
        let home = self.tasks[t].core;
        self.leave_unseen(t);
        let running: Vec<_> = self.cores.iter().map(|core| core.running).collect();
        self.task_after_gap(t, edge);
        let core = self.tasks[t].core;
        let runs = self.tasks[t].os == Some(OsState::Running);
        if runs && !self.gaps.open.iter().any(|(open, _)| *open == core) {
            // What the other cores run, their own traces say.
            self.cores[core].running = running.get(core).copied().flatten();
            self.tasks[t].core = home;
            self.forget(t);
        }
    }

    /// The core that had `t` has it no longer: an ISR has interrupted it, and it has left its core since.
    fn leave_unseen(&mut self, t: usize) {
        for core in &mut self.cores {
            core.deferred.retain(|(task, ..)| *task != t);
            core.running = core.running.filter(|task| *task != t);
        }
    }

    /// Rule L6 is next.
    fn forget(&mut self, t: usize) {
        self.leave_unseen(t);
        let task = &mut self.tasks[t];
        (task.os, task.activations, task.unreported) = (None, None, 0);
        (task.lost, task.head_unknown) = (true, true);
        match self.state(Proc::Task(t)) {
            ProcessState::Waiting | ProcessState::Terminated => {}
            _ => self.set_state(Proc::Task(t), ProcessState::Ready),
        }
    }

    /// What was seen in gaps says nothing of the time behind them, unless a core runs it then.
    pub(super) fn end_gaps(&mut self, time: i64) {
        if self.gaps.open.iter().all(|(_, end)| *end > time) {
            return;
        }
        let changed = std::mem::take(&mut self.gaps.changed);
        let hidden: Vec<usize> = changed.into_iter().filter(|t| self.is_hidden(*t)).collect();
        let (ended, open): (Vec<_>, Vec<_>) =
            self.gaps.open.iter().copied().partition(|(_, end)| *end <= time);
        self.gaps.open = open;
        if self.gaps.open.is_empty() {
            self.gaps.isrs.clear();
        }
        hidden.into_iter().for_each(|t| self.forget(t));
        for at_end in std::mem::take(&mut self.gaps.at_end) {
            let end = ended.iter().filter(|(core, _)| *core == at_end.core).map(|(_, end)| *end).max();
            match end.filter(|_| self.gap_end(at_end.core).is_none()) {
                Some(end) => self.runs_since(at_end, end),
                None => self.gaps.at_end.push(at_end),
            }
        }
    }
}
