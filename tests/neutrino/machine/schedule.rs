//! The scheduler: highest priority first, in order of arrival within a priority. Emits the events in the
//! order of the kernel: RUNNING of the new thread before READY of the old one.

use std::io::Write;

use super::super::codes::state;
use super::{Due, Machine, Role};

impl<W: Write> Machine<W> {
    /// A CPU enters the kernel, after the CPU that was in it before.
    pub(super) fn enter(&mut self, cpu: usize, at: u64) {
        let state = &mut self.cpus[cpu];
        state.now = state.now.max(at).max(self.lock);
        state.in_kernel = true;
    }

    /// A CPU leaves the kernel: effects of interrupts are applied, and threads that should run get their
    /// CPUs.
    pub(super) fn leave(&mut self, cpu: usize) {
        self.cpus[cpu].in_kernel = false;
        self.apply_effects(cpu);
        self.lock = self.lock.max(self.cpus[cpu].now);
        if let Some(next) = self.cpus[cpu].handoff.take() {
            let rank = self.threads[next].priority;
            let here = self.cpus[cpu].current.map(|c| self.threads[c].priority);
            let best = self.ready.iter().map(|r| self.threads[*r].priority).max();
            if here.is_none_or(|h| h < rank) && best.is_none_or(|b| b <= rank) {
                self.switch(cpu, next);
            } else {
                self.make_ready(cpu, next);
            }
        }
        // A switch takes time, in which interrupts make others ready.
        loop {
            while let Some((at, target, next)) = self.next_switch(cpu) {
                self.ready.remove(at);
                // Sometimes both CPUs read the clock at the same time.
                let at_once = target != cpu && self.random.one_in(4);
                let earliest = if at_once { self.latest } else { self.lock };
                self.cpus[target].now = self.cpus[target].now.max(earliest);
                self.switch(target, next);
            }
            if self.cpus[cpu].current.is_some() {
                break;
            }
            self.switch(cpu, self.cpus[cpu].idle);
        }
        self.arm(cpu);
        // Times of the CPUs are after their last events: another one may come in shortly before.
        self.lock = self.lock.max(self.cpus[cpu].now);
    }

    /// A thread becomes ready: emitted by the CPU that caused it.
    pub(super) fn make_ready(&mut self, cpu: usize, thread: usize) {
        let stamp = self.emit_state(cpu, thread, state::READY);
        self.note_wake(thread, stamp);
        self.ready.push(thread);
    }

    /// A blocked thread may continue: through the queue of ready threads, or directly if it can run here.
    pub(super) fn wake(&mut self, cpu: usize, thread: usize) {
        let rank = self.threads[thread].priority;
        let here = self.cpus[cpu].current.map(|c| self.threads[c].priority);
        let direct = self.cpus[cpu].handoff.is_none() && here.is_none_or(|h| h < rank);
        if direct && !self.random.one_in(3) {
            self.cpus[cpu].handoff = Some(thread);
        } else {
            self.make_ready(cpu, thread);
        }
    }

    /// The current thread leaves its CPU for a blocked state, which was emitted before.
    pub(super) fn block(&mut self, cpu: usize) {
        self.cpus[cpu].current = None;
        self.cpus[cpu].due = None;
    }

    /// The first ready thread of the highest priority: its index in the queue, a CPU for it, and its id.
    fn next_switch(&self, cpu: usize) -> Option<(usize, usize, usize)> {
        let mut best: Option<(usize, usize)> = None;
        for (at, thread) in self.ready.iter().enumerate() {
            let rank = self.threads[*thread].priority;
            if best.is_none_or(|(_, b)| self.threads[b].priority < rank) {
                best = Some((at, *thread));
            }
        }
        let (at, thread) = best?;
        Some((at, self.place_for(cpu, thread)?, thread))
    }

    /// The CPU with the lowest priority below that of the thread: its last one, then the current one, if
    /// there are several.
    fn place_for(&self, cpu: usize, thread: usize) -> Option<usize> {
        let rank = |c: usize| self.cpus[c].current.map_or(0, |t| 1 + u32::from(self.threads[t].priority));
        let last = self.threads[thread].cpu;
        let target = (0..self.cpus.len()).min_by_key(|c| (rank(*c).max(1), *c != last, *c != cpu))?;
        (rank(target) < 1 + u32::from(self.threads[thread].priority)).then_some(target)
    }

    /// A thread gets a CPU.
    fn switch(&mut self, cpu: usize, next: usize) {
        let was_in_kernel = std::mem::replace(&mut self.cpus[cpu].in_kernel, true);
        let old = self.cpus[cpu].current.replace(next);
        if let Some(old) = old
            && let Some(due) = self.cpus[cpu].due.take()
        {
            self.threads[old].left = due.saturating_sub(self.cpus[cpu].now).max(1);
        }
        self.threads[next].cpu = cpu;
        let stamp = self.emit_state(cpu, next, state::RUNNING);
        self.note_wake(next, stamp);
        if let Some(old) = old {
            self.emit_state(cpu, old, state::READY);
            if self.threads[old].role != Role::Idle {
                self.ready.insert(0, old);
            }
        }
        if let Some(returns) = self.threads[next].returns.take() {
            self.emit_return(cpu, next, returns);
        }
        self.cpus[cpu].in_kernel = was_in_kernel;
        self.apply_effects(cpu);
        if let Some(next) = self.cpus[cpu].handoff.take() {
            self.make_ready(cpu, next);
        }
        self.lock = self.lock.max(self.cpus[cpu].now);
        self.arm(cpu);
    }

    /// Plans when the current thread acts next, unless that is planned.
    pub(super) fn arm(&mut self, cpu: usize) {
        let Some(current) = self.cpus[cpu].current else { return };
        if self.cpus[cpu].due.is_some() || self.threads[current].role == Role::Idle {
            return;
        }
        let state = &mut self.cpus[cpu];
        state.generation += 1;
        let (due, generation) = (state.now + self.threads[current].left, state.generation);
        state.due = Some(due);
        self.plan(due, Due::Step { cpu, generation });
    }

    /// Round robin among threads of one priority: the current one goes to the end of the queue.
    pub(super) fn rotate(&mut self, cpu: usize) {
        let Some(current) = self.cpus[cpu].current else { return };
        let rank = self.threads[current].priority;
        let others = self.ready.iter().position(|r| self.threads[*r].priority == rank);
        if let (2, Some(at)) = (self.threads[current].policy, others) {
            let next = self.ready.remove(at);
            self.switch(cpu, next);
            // It was put first; its turn is over.
            if self.ready.first() == Some(&current) {
                self.ready.remove(0);
                self.ready.push(current);
            }
        }
    }

    fn note_wake(&mut self, thread: usize, stamp: u64) {
        let wait = self.threads[thread].wait.and_then(|w| self.truth.mutex_waits.get_mut(w));
        if let Some(wait) = wait.filter(|w| w.to.is_none()) {
            wait.to = Some(stamp);
        }
    }
}
