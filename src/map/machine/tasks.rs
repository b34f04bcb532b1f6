//! Rules for tasks: activation, start, preemption, resumption, end, waiting (R3–R9; thesis, table 4.2).
//! Not polling, which belongs to the lock (see `locks`).

use super::state::{Actor, Context, Edge, Instance, Proc};
use super::{Machine, OsState};
use crate::btf::{Action, EntityType, ProcessState};
use crate::diagnostics::Severity;
use crate::map::model::Service;

impl Machine {
    /// TASK.STATE of `t` may have changed.
    pub(super) fn task_state(&mut self, t: usize, write: bool) {
        let Some(value) = self.model.tasks[t].state.as_ref().and_then(|a| a.value(&self.model.slots)) else {
            return;
        };
        let core = self.tasks[t].core;
        let Some(new) = self.model.cores[core].states.get(&value).copied() else {
            let name = self.name(self.tasks[t].name).to_owned();
            self.report(
                Severity::Warning,
                "unknown-state",
                format!("task {name}: STATE {value} has no known label"),
            );
            return;
        };
        self.os_state(t, new, write);
    }

    /// The OS state of `t` is `new`; `write` is false when this was only read.
    pub(super) fn os_state(&mut self, t: usize, new: OsState, write: bool) {
        let old = self.tasks[t].os.replace(new);
        if old == Some(new) || (old.is_none() && !write) {
            return;
        }
        if !write {
            let name = self.name(self.tasks[t].name).to_owned();
            self.report(
                Severity::Warning,
                "unseen-write",
                format!("STATE of task {name} changed without a traced write"),
            );
        }
        // The core that sets a task RUNNING is the one that runs it; it leaves the core it is on, whoever says so.
        let core = if new == OsState::Running { self.at } else { self.tasks[t].core };
        let ends = old.is_none() && new == OsState::Suspended;
        let moves_core = new == OsState::Running || old == Some(OsState::Running) || ends;
        if moves_core && !self.cores[core].isrs.is_empty() {
            // An ISR has the core: the task leaves or enters it when the ISR is over (gap 43).
            self.cores[core].deferred.push((t, old, new));
        } else {
            self.apply_state(t, core, old, new);
        }
    }

    /// R4–R9.
    pub(super) fn apply_state(&mut self, t: usize, core: usize, old: Option<OsState>, new: OsState) {
        use OsState::{Ready, Running, Suspended, Waiting};
        let lost = std::mem::take(&mut self.tasks[t].lost);
        if self.cores[core].incoming == Some(t) && old == Some(Running) {
            self.settle(core);
        }
        match (old, new) {
            (_, Running) => self.dispatch(t, core, old, lost),
            (Some(Running), Ready) if self.tasks[t].context.ending => {
                if self.tasks[t].queue.len() < 2 {
                    // The OS does not count activations: that there is another one shows only now.
                    self.activate_by_state(t);
                }
                self.terminate(t);
            }
            (Some(Running), Ready) => self.preempt(t),
            (Some(Running), Suspended) => self.terminate(t),
            (Some(Running), Waiting) => self.wait(t),
            (Some(Waiting), Ready) => self.release(t),
            (Some(Suspended), Ready) if self.tasks[t].queue.is_empty() => self.activate_by_state(t),
            (Some(Suspended), Ready) => {}
            (None, _) => self.unknown_past(t, new),
            (Some(Ready | Waiting | Suspended), _) => {
                let name = self.name(self.tasks[t].name).to_owned();
                self.report(
                    Severity::Warning,
                    "odd-state-change",
                    format!("task {name}: {old:?} to {new:?}"),
                );
                if new == Suspended {
                    // It ran and ended unseen.
                    let actor = self.actor(Proc::Task(t));
                    self.tasks[t].queue.pop_front();
                    self.tasks[t].context = Context::default();
                    self.gone(actor);
                }
            }
        }
    }

    /// The first state after the left edge or a hole is READY, WAITING or SUSPENDED. It says where the task is, not
    /// what it did: there is no event, unless it ends, which only a running task can (thesis, section 4.2).
    fn unknown_past(&mut self, t: usize, new: OsState) {
        let p = Proc::Task(t);
        let state = match new {
            OsState::Suspended if self.tasks[t].queue.is_empty() => return,
            OsState::Suspended => {
                if !matches!(self.state(p), ProcessState::Polling | ProcessState::Active) {
                    self.set_state(p, ProcessState::Running);
                }
                return self.terminate(t);
            }
            OsState::Waiting => ProcessState::Waiting,
            OsState::Ready | OsState::Running => ProcessState::Ready,
        };
        if self.tasks[t].queue.is_empty() {
            let number = self.new_instance(t);
            self.tasks[t].queue.push_back(Instance { number, state });
        } else if self.state(p) != ProcessState::Active {
            self.set_state(p, state);
        }
    }

    /// R4/R5: the OS gives `core` to `t`.
    fn dispatch(&mut self, t: usize, core: usize, old: Option<OsState>, lost: bool) {
        if self.tasks[t].queue.is_empty() {
            if old.is_none() || lost {
                // Unknown history: it was active before the trace (or the hole) and continues (gap 22).
                let number = self.new_instance(t);
                self.tasks[t].queue.push_back(Instance { number, state: ProcessState::Ready });
            } else {
                self.activate_by_state(t);
            }
        } else if lost && self.state(Proc::Task(t)) != ProcessState::Active {
            self.set_state(Proc::Task(t), ProcessState::Ready);
        }
        let before = std::mem::replace(&mut self.tasks[t].core, core);
        if before != core {
            // It moves to another core of its OS.
            self.cores[before].deferred.retain(|d| d.0 != t);
            if self.cores[before].running == Some(t) {
                self.cores[before].running = None;
            }
        }
        self.settle(core);
        let other = self.cores[core].running.filter(|o| *o != t && self.state(Proc::Task(*o)).on_core());
        if other.is_some() {
            self.cores[core].incoming = Some(t);
            return;
        }
        let replaced = self.cores[core].running.replace(t).filter(|o| *o != t);
        if let Some(o) = replaced.filter(|o| self.tasks[*o].os == Some(OsState::Running)) {
            // It lost the core to an ISR, and now to this task, without a traced write of its STATE.
            self.tasks[o].os = Some(OsState::Ready);
        }
        self.enter(Proc::Task(t));
    }

    /// A task was set RUNNING, and goes on, but the one before it never left: its change of state was not traced.
    fn settle(&mut self, core: usize) {
        let (Some(next), Some(stuck)) = (self.cores[core].incoming, self.cores[core].running) else { return };
        let name = self.name(self.tasks[stuck].name).to_owned();
        let message = format!("task {name} left its core without a traced write of its STATE");
        self.report(Severity::Warning, "unseen-switch", message);
        self.tasks[stuck].os = Some(OsState::Ready);
        self.leave(Proc::Task(stuck));
        self.cores[core].incoming = None;
        self.cores[core].running = Some(next);
        self.enter(Proc::Task(next));
    }

    /// A process gets the core, from whatever state it is in; runnables resume after it, outermost first (N4).
    pub(super) fn enter(&mut self, p: Proc) {
        if let Proc::Task(t) = p
            && std::mem::take(&mut self.tasks[t].never_ran)
            && self.state(p) == ProcessState::Ready
        {
            self.set_state(p, ProcessState::Active);
        }
        let (action, state) = match self.state(p) {
            ProcessState::Active => (Action::Start, ProcessState::Running),
            ProcessState::Ready => (Action::Resume, ProcessState::Running),
            ProcessState::Parking => (Action::PollParking, ProcessState::Polling),
            ProcessState::Waiting => {
                self.process(p, Action::Release);
                (Action::Resume, ProcessState::Running)
            }
            ProcessState::Running | ProcessState::Polling | ProcessState::Terminated => return,
        };
        self.process(p, action);
        self.set_state(p, state);
        if action != Action::Start {
            for runnable in self.context(Some(p), 0).runnables.clone() {
                let actor = self.actor(p);
                self.emit(actor, EntityType::Runnable, runnable, Action::Resume);
            }
        }
    }

    /// A process loses the core by preemption: R6, R14 when it polls. Runnables suspend first, innermost first (N3).
    pub(super) fn leave(&mut self, p: Proc) {
        let (action, state) = match self.state(p) {
            ProcessState::Running => (Action::Preempt, ProcessState::Ready),
            ProcessState::Polling => (Action::Park, ProcessState::Parking),
            _ => return,
        };
        if let Proc::Task(t) = p {
            self.tasks[t].never_ran = false;
        }
        self.suspend_runnables(p);
        self.process(p, action);
        self.set_state(p, state);
        self.context(Some(p), 0).refused.clear();
    }

    fn suspend_runnables(&mut self, p: Proc) {
        let actor = self.actor(p);
        for runnable in self.context(Some(p), 0).runnables.clone().into_iter().rev() {
            self.emit(actor, EntityType::Runnable, runnable, Action::Suspend);
        }
    }

    /// R6: STATE RUNNING → READY without an end. If an ISR took the core before, nothing is left to do.
    fn preempt(&mut self, t: usize) {
        let p = Proc::Task(t);
        let core = self.tasks[t].core;
        if self.out.cancel(core, self.tasks[t].name) {
            // I6: the ISR gave the core back only for the scheduler to take it away.
            let parked = self.state(p) == ProcessState::Polling;
            self.set_state(p, if parked { ProcessState::Parking } else { ProcessState::Ready });
        } else {
            self.leave(p);
        }
        self.vacate(t);
    }

    /// R8.
    fn wait(&mut self, t: usize) {
        let p = Proc::Task(t);
        self.ensure_running(p);
        self.suspend_runnables(p);
        self.process(p, Action::Wait);
        self.set_state(p, ProcessState::Waiting);
        self.tasks[t].context.refused.clear();
        self.vacate(t);
    }

    /// R9: `release` names the last core of the task, not an allocation.
    fn release(&mut self, t: usize) {
        if self.state(Proc::Task(t)) == ProcessState::Waiting {
            self.process(Proc::Task(t), Action::Release);
            self.set_state(Proc::Task(t), ProcessState::Ready);
        }
    }

    /// R7/R7m/N5: the head instance ends; what runnables are open end before it, innermost first.
    fn terminate(&mut self, t: usize) {
        let p = Proc::Task(t);
        if self.tasks[t].queue.is_empty() {
            return self.vacate(t);
        }
        self.ensure_running(p);
        self.end_process(p);
        self.tasks[t].queue.pop_front();
        self.vacate(t);
    }

    /// `terminate` with everything that dies with a process; the caller removes the process.
    pub(super) fn end_process(&mut self, p: Proc) {
        let actor = self.actor(p);
        let context = std::mem::take(self.context(Some(p), 0));
        for runnable in context.runnables.into_iter().rev() {
            self.emit(actor, EntityType::Runnable, runnable, Action::Terminate);
        }
        self.gone(actor);
        self.process(p, Action::Terminate);
        self.set_state(p, ProcessState::Terminated);
    }

    /// A process instance is no more: it waits for nothing and owns nothing.
    fn gone(&mut self, actor: Actor) {
        let mut held = Vec::new();
        for sem in &mut self.sems {
            sem.waiters.retain(|w| *w != actor);
            if sem.owner == Some(actor) {
                // It stays locked; whoever unlocks it will be the one to release it (as for L5).
                sem.owner = None;
                held.push(sem.name);
            }
        }
        for sem in held {
            let message = format!("{} ended and left {} locked", self.name(actor.0), self.name(sem));
            self.report(Severity::Warning, "held-at-end", message);
        }
    }

    /// A process can only end or wait while it runs; one that an ISR had preempted runs for no time.
    pub(super) fn ensure_running(&mut self, p: Proc) {
        if self.state(p) != ProcessState::Polling {
            self.enter(p);
        }
        if self.state(p) == ProcessState::Polling {
            self.process(p, Action::Run);
            self.set_state(p, ProcessState::Running);
        }
    }

    /// The core is free of `t`; a task that was set RUNNING too early comes in now.
    fn vacate(&mut self, t: usize) {
        let core = self.tasks[t].core;
        if self.cores[core].incoming == Some(t) {
            self.cores[core].incoming = None;
        }
        if self.cores[core].running == Some(t) {
            self.cores[core].running = None;
        }
        if self.cores[core].running.is_none()
            && let Some(next) = self.cores[core].incoming.take()
        {
            self.cores[core].running = Some(next);
            self.enter(Proc::Task(next));
        }
    }

    /// CURRENTACTIVATIONS of `t` may have changed: R3, and the robust half of R7a.
    pub(super) fn task_activations(&mut self, t: usize, write: bool) {
        let attribute = self.model.tasks[t].activations.as_ref();
        let Some(new) = attribute.and_then(|a| a.value(&self.model.slots)) else { return };
        let new = if self.model.tasks[t].counts_down { new.wrapping_neg() } else { new };
        let Some(old) = self.tasks[t].activations.replace(new) else {
            return self.first_count(t, new, write);
        };
        if new == old {
            return;
        }
        if !write {
            let name = self.name(self.tasks[t].name).to_owned();
            let message = format!("CURRENTACTIVATIONS of task {name} changed without a traced write");
            self.report(Severity::Warning, "unseen-write", message);
        }
        for _ in 0..(new - old).clamp(0, 256) {
            if self.tasks[t].unreported > 0 {
                self.tasks[t].unreported -= 1;
            } else {
                self.activate(t);
            }
        }
        if new < old {
            if std::mem::take(&mut self.tasks[t].unreported) > 0 {
                // Part 2, rule 14.
                let name = self.name(self.tasks[t].name).to_owned();
                let message = format!("an activation of task {name} was not counted by the OS");
                self.report(Severity::Warning, "uncounted-activation", message);
            }
            if self.tasks[t].os == Some(OsState::Running) {
                self.tasks[t].context.ending = true;
            }
        }
    }

    /// The first count of activations after the left edge or a hole. What a write changes is one more or one less
    /// than before; the rest are instances that came or went unseen.
    fn first_count(&mut self, t: usize, count: i64, write: bool) {
        let task = &self.tasks[t];
        let known = task.queue.len();
        let suspended = task.os == Some(OsState::Suspended) && known == 0;
        if self.model.tasks[t].counts_down {
            // What is left tells how many are active only if the limit is known.
            return if write && suspended {
                self.activate(t)
            };
        }
        let count = count.clamp(0, 256) as usize;
        if write && known + 1 == count && (known > 0 || suspended) {
            return self.activate(t);
        }
        let ends = write && known > count && task.os == Some(OsState::Running);
        self.tasks[t].context.ending |= ends;
        while self.tasks[t].queue.len() > count + usize::from(ends) {
            self.tasks[t].queue.pop_front();
        }
        while self.tasks[t].queue.len() < count {
            let first = self.tasks[t].queue.is_empty();
            let number = self.new_instance(t);
            let state = if first { ProcessState::Ready } else { ProcessState::Active };
            self.tasks[t].queue.push_back(Instance { number, state });
        }
    }

    /// R3.
    fn activate(&mut self, t: usize) {
        let stimulus = self.consume(t);
        let number = self.new_instance(t);
        self.emit(stimulus, EntityType::Task, (self.tasks[t].name, number), Action::Activate);
        self.tasks[t].queue.push_back(Instance { number, state: ProcessState::Active });
    }

    /// R3, last sentence: the OS does not count activations, or the count did not move (part 2, rule 14).
    fn activate_by_state(&mut self, t: usize) {
        if self.model.tasks[t].activations.is_some() && self.tasks[t].activations.is_some() {
            self.tasks[t].unreported += 1;
        }
        self.activate(t);
    }

    /// R10e: the activation is lost, but its number is used up.
    pub(super) fn activation_lost(&mut self, t: usize) {
        let stimulus = self.consume(t);
        let number = self.new_instance(t);
        self.emit(stimulus, EntityType::Task, (self.tasks[t].name, number), Action::MtaLimitExceeded);
    }

    fn new_instance(&mut self, t: usize) -> i64 {
        self.tasks[t].next_instance += 1;
        self.tasks[t].next_instance - 1
    }

    /// RUNNINGTASK changed. Only an OS without TASK.STATE needs it: states follow from who runs.
    pub(super) fn running_task(&mut self, core: usize, write: bool) {
        let attribute = self.model.cores[core].running_task.as_ref();
        let Some(value) = attribute.and_then(|a| a.value(&self.model.slots)) else { return };
        let old = self.cores[core].task_value.replace(value);
        if old == Some(value) || (old.is_none() && !write) {
            return;
        }
        let by_value = &self.model.cores[core].tasks_by_value;
        let task = |v: i64| by_value.get(&v).copied().filter(|t| self.model.tasks[*t].state.is_none());
        let (from, to) = (old.and_then(task), task(value));
        if let Some(t) =
            to.filter(|t| self.tasks[*t].os == Some(OsState::Suspended) && self.tasks[*t].queue.is_empty())
        {
            // An activation comes before anything that it causes, also when it shows only by its effect.
            self.activate_by_state(t);
        }
        if let Some(t) = from {
            let context = &self.tasks[t].context;
            let state = match () {
                () if context.ending => OsState::Suspended,
                () if context.inside(Service::WaitEvent) => OsState::Waiting,
                () => OsState::Ready,
            };
            self.os_state(t, state, true);
        }
        if let Some(t) = to {
            self.os_state(t, OsState::Running, true);
        }
    }

    /// L2: what `t` was doing when the trace began; instances that exist already are numbered from 0.
    pub(super) fn task_at_left_edge(&mut self, t: usize, edge: &Edge) {
        let model = &self.model.tasks[t];
        let core = model.core;
        let value =
            |a: &Option<super::super::model::Attribute>| a.as_ref().and_then(|a| a.value(&self.model.slots));
        let cores = 0..self.cores.len();
        let runs_on = cores.filter(|c| self.model.cores[*c].image == model.core).find(|c| {
            let running = value(&self.model.cores[*c].running_task);
            running.and_then(|v| self.model.cores[*c].tasks_by_value.get(&v)) == Some(&t)
        });
        let read = value(&model.state).and_then(|v| self.model.cores[core].states.get(&v).copied());
        let waits = model.waitmask.iter().filter_map(|s| self.model.slots.value(*s)).any(|m| m != 0);
        let activations = value(&model.activations).filter(|_| !model.counts_down);
        let state = match (runs_on, activations, read) {
            (Some(_), ..) => Some(OsState::Running),
            (_, Some(0), _) => Some(OsState::Suspended),
            (_, _, Some(s)) => Some(s),
            (_, _, None) if waits => Some(OsState::Waiting),
            (_, Some(_), None) => Some(OsState::Ready),
            (_, None, None) => None,
        };
        // A task that runs although no activation is left has just been counted out: it is about to end.
        let alive = i64::from(state.is_some_and(|s| s != OsState::Suspended));
        self.tasks[t].context.ending = alive > activations.unwrap_or(alive);
        let instances = activations.unwrap_or(alive).max(alive);
        let head = match state {
            Some(OsState::Running) => ProcessState::Running,
            Some(OsState::Waiting) => ProcessState::Waiting,
            // Counted in, and STATE not written yet.
            Some(OsState::Suspended) => ProcessState::Active,
            _ => ProcessState::Ready,
        };
        self.tasks[t].os = state;
        self.tasks[t].activations = activations;
        self.tasks[t].never_ran = edge.never_ran.contains(&t);
        for n in 0..instances.clamp(0, 256) {
            let number = self.new_instance(t);
            let state = if n == 0 { head } else { ProcessState::Active };
            self.tasks[t].queue.push_back(Instance { number, state });
        }
        let core = runs_on.unwrap_or(core);
        self.tasks[t].core = core;
        if state == Some(OsState::Running) {
            self.cores[core].running = Some(t);
        }
    }
}
