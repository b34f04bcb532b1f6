//! Says what is known of instances without an event: at the begin of a recording, after a gap, and when a
//! task shows its state for the first time (rules L2 to L6, L8; docs/mapping.md). What that is,
//! `activations`, `isrs` and `tasks` find out.

use super::Machine;
use super::state::{Actor, Edge, Occupant, Proc};
use crate::btf::{EntityType, KnownState, State as ProcessState};
use crate::map::Output;

impl Machine {
    /// The states of all instances on `core` that are known, from `since` on; of tasks that it does not run,
    /// when no other core can any more. A task or an ISR may not have its core if an unknown ISR has it.
    pub(super) fn tell_states(&mut self, core: usize, since: i64, edge: &Edge) {
        let is_taken = edge.unknown_isr.contains(&core);
        self.cores[core].is_taken = is_taken;
        let mut may_poll = Vec::new();
        if !is_taken {
            let task = self.cores[core].running.map(Proc::Task);
            for (p, below) in [(self.proc(core), false), (task, true)] {
                may_poll.extend(p.filter(|_| edge.may_poll.contains(&Occupant { core, below })));
            }
        }
        for p in &may_poll {
            self.context(Some(*p), core).may_poll = true;
        }
        let hidden_until = self.hidden_until(core, since);
        for t in 0..self.tasks.len() {
            let runs = self.cores[core].running == Some(t);
            if self.tasks[t].core != core || (is_taken && runs) {
                continue;
            }
            if runs && !may_poll.contains(&Proc::Task(t)) {
                self.tell_instance(t, 0, since);
            }
            self.tell_task(t, usize::from(runs), hidden_until);
        }
        let isrs = if is_taken { 0 } else { self.cores[core].isrs.len() };
        for n in (0..isrs).filter(|n| !may_poll.contains(&Proc::Isr(core, *n))) {
            let frame = &self.cores[core].isrs[n];
            let (actor, state) = ((frame.name, frame.number), frame.state);
            self.tell(core, actor, EntityType::Isr, state, since);
        }
    }

    /// The states of the instances of `t` that are known, from `since` on, but those before the one `first`.
    pub(super) fn tell_task(&mut self, t: usize, first: usize, since: i64) {
        if self.tasks[t].os.is_some() {
            (first..self.known_instances(t)).for_each(|n| self.tell_instance(t, n, since));
        }
    }

    /// An ISR that nothing names has ended: what has the core again is known from now on.
    pub(super) fn tell_next(&mut self, core: usize) {
        if !std::mem::take(&mut self.cores[core].is_taken) {
            return;
        }
        match (self.cores[core].isrs.last(), self.cores[core].running) {
            (Some(frame), _) => {
                self.tell(core, (frame.name, frame.number), EntityType::Isr, frame.state, self.now);
            }
            (None, Some(t)) if self.state(Proc::Task(t)).on_core() => self.tell_state(t),
            _ => {}
        }
    }

    /// Whether `p` polled at the last edge does not matter any more: its state is known from now on.
    pub(super) fn settle_polling(&mut self, p: Proc) {
        let core = self.core_of(p);
        if std::mem::take(&mut self.context(Some(p), core).may_poll) {
            let state = self.state(p);
            self.tell(core, self.actor(p), Self::kind(p), state, self.now);
        }
    }

    /// The core of each instance that waits for its start, before a gap cuts off those of its core. Of what
    /// another gap has hidden nothing is known.
    pub(super) fn tell_homes(&mut self) {
        for t in 0..self.tasks.len() {
            if self.gaps.hides(t) {
                continue;
            }
            for n in 0..self.known_instances(t) {
                if self.tasks[t].queue[n].state == ProcessState::Active {
                    self.tell_instance(t, n, self.now);
                }
            }
        }
    }

    /// How many instances of `t` no gap hides, from the head on.
    fn known_instances(&self, t: usize) -> usize {
        match &self.tasks[t] {
            task if task.lost => 0,
            task if task.head_unknown => task.queue.len().min(1),
            task => task.queue.len(),
        }
    }

    /// The state of the head instance of `t` is known from now on (rule L6).
    pub(super) fn tell_state(&mut self, t: usize) {
        if !self.tasks[t].queue.is_empty() {
            self.tell_instance(t, 0, self.now);
        }
    }

    /// The state of a process at the end of a gap, after it was not known for a while, unless it was not
    /// known there either.
    pub(super) fn tell_again(&mut self, p: Proc, since: i64) {
        let core = self.core_of(p);
        if !self.cores[core].is_taken && !self.context(Some(p), core).may_poll {
            self.tell(core, self.actor(p), Self::kind(p), self.state(p), since);
        }
    }

    fn tell_instance(&mut self, t: usize, n: usize, since: i64) {
        let task = &self.tasks[t];
        let Some(instance) = task.queue.get(n) else { return };
        let state = match instance.state {
            // Rule L4: it is about to start.
            ProcessState::Ready if n == 0 && task.never_ran => ProcessState::Active,
            state => state,
        };
        let (core, actor) = (task.core, (task.name, instance.number));
        self.tell(core, actor, EntityType::Task, state, since);
    }

    fn tell(&mut self, core: usize, process: Actor, kind: EntityType, state: ProcessState, since: i64) {
        let core = self.cores[core].name;
        self.out.push(Output::Known(KnownState { process, kind, core, state, since }));
    }
}
