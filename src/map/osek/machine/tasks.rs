//! Rules for tasks: start, preemption, resumption, end, waiting (T1–T14; docs/mapping.md). Activations are
//! counted in `activations`; polling belongs to the lock (see `locks`).

use super::state::{Context, Instance, Proc};
use super::{Machine, OsState};
use crate::btf::{Action, State as ProcessState};
use crate::diagnostics::Severity;
use crate::map::Output;
use crate::map::osek::model::Service;

impl Machine {
    /// TASK.STATE of `t` may have changed.
    pub(super) fn task_state(&mut self, t: usize, write: bool) {
        let Some(value) = self.model.value(&self.model.tasks[t].state) else { return };
        let core = self.tasks[t].core;
        let Some(new) = self.model.cores[core].states.get(&value).copied() else {
            let message = format!("task {}: STATE {value} has no known label", self.task_name(t));
            return self.report(Severity::Warning, "unknown-state", message);
        };
        self.os_state(t, new, write);
    }

    /// True if the OS of `t` has several cores.
    pub(super) fn has_several_cores(&self, t: usize) -> bool {
        let image = self.model.tasks[t].core;
        self.model.cores.iter().filter(|core| core.image == image).count() > 1
    }

    /// The OS state of `t` is `new`; `write` is false if it was only read.
    pub(super) fn os_state(&mut self, t: usize, new: OsState, write: bool) {
        if !write && self.tasks[t].os.is_none() && new == OsState::Running && self.has_several_cores(t) {
            // Rule L2: on which of them it runs is not known.
            return;
        }
        let old = self.tasks[t].os.replace(new);
        if old == Some(new) || (old.is_none() && !write) {
            return self.hide(t);
        }
        if !write {
            // Rule O5.
            let message = format!("STATE of task {} changed without a traced write", self.task_name(t));
            self.report(Severity::Warning, "unseen-write", message);
        }
        // Rule T13: the core that sets a task RUNNING runs it; any other change concerns the core that the
        // task is on, whichever core writes it.
        let core = if new == OsState::Running { self.at } else { self.tasks[t].core };
        let ends = old.is_none() && new == OsState::Suspended;
        let moves_core = new == OsState::Running || old == Some(OsState::Running) || ends;
        if moves_core && !self.cores[core].isrs.is_empty() {
            // An ISR has the core: the task leaves or enters it after the ISR (rule T11).
            self.cores[core].deferred.push((t, old, new));
        } else {
            self.apply_state(t, core, old, new);
        }
    }

    /// Turns a change of state into the events of rules T1 to T10, or none (rule T14).
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
                    // The OS does not count activations: this one shows only now.
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
            (Some(from @ (Ready | Waiting | Suspended)), _) => {
                let (from, to) = (from.as_str(), new.as_str());
                let message = format!("task {}: {from} to {to}", self.task_name(t));
                self.report(Severity::Warning, "odd-state-change", message);
                if new == Suspended {
                    self.ended_unseen(t);
                }
            }
        }
        self.hide(t);
    }

    /// Rule L6: the first state after the left edge or a gap is READY, WAITING or SUSPENDED. It tells where
    /// the task is, not what it did, so there is no event unless it ends, which only a running task can
    /// (thesis, section 4.2).
    fn unknown_past(&mut self, t: usize, new: OsState) {
        let p = Proc::Task(t);
        let state = match new {
            OsState::Suspended if self.tasks[t].queue.is_empty() => return,
            OsState::Suspended if self.other_on_core(t, self.tasks[t].core) => return self.ended_unseen(t),
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
        self.tell_state(t);
    }

    /// The head instance ran and ended without a trace of it, at the latest now.
    pub(super) fn ended_unseen(&mut self, t: usize) {
        let process = self.actor(Proc::Task(t));
        self.cut_calls_of(Proc::Task(t));
        if self.tasks[t].queue.pop_front().is_some() {
            self.out.push(Output::Lost { process, time: self.now });
        }
        self.tasks[t].context = Context::default();
        self.gone(process);
    }

    /// Rules T1 and T2: the OS gives `core` to `t`.
    fn dispatch(&mut self, t: usize, core: usize, old: Option<OsState>, lost: bool) {
        if self.tasks[t].queue.is_empty() {
            if old.is_none() || lost {
                // Unknown history: it was active before the trace (or the gap) and continues (rule L6).
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
        if self.other_on_core(t, core) {
            self.cores[core].incoming = Some(t);
            return;
        }
        let replaced = self.cores[core].running.replace(t).filter(|o| *o != t);
        if let Some(o) = replaced.filter(|o| self.tasks[*o].os == Some(OsState::Running)) {
            // It lost the core to an ISR, and then to this task, without a traced write of its STATE.
            self.tasks[o].os = Some(OsState::Ready);
            self.hide(o);
        }
        self.enter(Proc::Task(t));
    }

    /// Rule T3: STATE RUNNING → READY without an end. Nothing to do if an ISR took the core before.
    fn preempt(&mut self, t: usize) {
        let p = Proc::Task(t);
        let core = self.tasks[t].core;
        if self.out.cancel(core, self.tasks[t].name) {
            // Rule I6: the ISR gave the core back only for the scheduler to take it.
            let parked = self.state(p) == ProcessState::Polling;
            self.set_state(p, if parked { ProcessState::Parking } else { ProcessState::Ready });
        } else {
            self.leave(p);
        }
        self.vacate(t);
    }

    /// Rule T9.
    fn wait(&mut self, t: usize) {
        let p = Proc::Task(t);
        self.ensure_running(p);
        self.suspend_runnables(p);
        self.process(p, Action::Wait);
        self.set_state(p, ProcessState::Waiting);
        let context = &mut self.tasks[t].context;
        context.refused.clear();
        context.may_poll = false;
        self.vacate(t);
    }

    /// Rule T10: `release` names the last core of the task, not an allocation.
    fn release(&mut self, t: usize) {
        if self.state(Proc::Task(t)) == ProcessState::Waiting {
            self.process(Proc::Task(t), Action::Release);
            self.set_state(Proc::Task(t), ProcessState::Ready);
        }
    }

    /// Rules T4 and T5: the head instance ends; open runnables end before it, innermost first (rule N5).
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

    /// Rule T12: RUNNINGTASK changed. For an OS without TASK.STATE, the running task determines the states.
    pub(super) fn running_task(&mut self, core: usize, write: bool) {
        let Some(value) = self.model.value(&self.model.cores[core].running_task) else { return };
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
            // An activation comes before everything it causes, even if only its effect is visible.
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
}
