//! Says what is known of instances without an event: at the begin of a recording, after a gap, and when a
//! task shows its state for the first time (rules L2 to L6; docs/mapping.md). What that is, `activations`,
//! `isrs` and `tasks` find out.

use super::Machine;
use super::state::{Actor, Edge, Proc};
use crate::btf::{EntityType, KnownState, State as ProcessState};
use crate::map::Output;

impl Machine {
    /// The states of all instances on `core` that are known, from `since` on. A task or an ISR may not have
    /// its core if an unknown ISR has it.
    pub(super) fn tell_states(&mut self, core: usize, since: i64, edge: &Edge) {
        let is_taken = edge.unknown_isr.contains(&core);
        self.cores[core].is_taken = is_taken;
        for t in 0..self.tasks.len() {
            let hidden = is_taken && self.cores[core].running == Some(t);
            if self.tasks[t].core == core && self.tasks[t].os.is_some() && !hidden {
                for n in 0..self.tasks[t].queue.len() {
                    self.tell_instance(t, n, since);
                }
            }
        }
        let isrs = if is_taken { 0 } else { self.cores[core].isrs.len() };
        for n in 0..isrs {
            let frame = &self.cores[core].isrs[n];
            let (actor, state) = ((frame.name, frame.number), frame.state);
            self.tell(core, actor, EntityType::Isr, state, since);
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

    /// The core of each instance that waits for its start, before a gap cuts off those of its core. Of what
    /// another gap has hidden nothing is known.
    pub(super) fn tell_homes(&mut self) {
        for t in 0..self.tasks.len() {
            let known = if self.tasks[t].lost { 0 } else { self.tasks[t].queue.len() };
            for n in 0..known {
                if self.tasks[t].queue[n].state == ProcessState::Active {
                    self.tell_instance(t, n, self.now);
                }
            }
        }
    }

    /// The state of the head instance of `t` is known from now on (rule L6).
    pub(super) fn tell_state(&mut self, t: usize) {
        if !self.tasks[t].queue.is_empty() {
            self.tell_instance(t, 0, self.now);
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
