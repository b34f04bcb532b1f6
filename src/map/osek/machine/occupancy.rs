//! Which process has a core: processes come and go with their runnables, and one leaves before the next one
//! enters (rules C3–C5, N3–N5, S10 and the actions of processes; docs/mapping.md). Not why they do (see
//! `tasks`, `isrs`, `locks`).

use super::state::{Actor, Proc};
use super::{Machine, OsState};
use crate::btf::{Action, EntityType, State as ProcessState};
use crate::diagnostics::Severity;

impl Machine {
    /// True when a task other than `t` has `core`.
    pub(super) fn other_on_core(&self, t: usize, core: usize) -> bool {
        self.cores[core].running.is_some_and(|o| o != t && self.state(Proc::Task(o)).on_core())
    }

    /// Rule C5: a task was set RUNNING and goes on, but the one before it never left: that was not traced.
    pub(super) fn settle(&mut self, core: usize) {
        let (Some(next), Some(stuck)) = (self.cores[core].incoming, self.cores[core].running) else { return };
        let name = self.task_name(stuck);
        let message = format!("task {name} left its core without a traced write of its STATE");
        self.report(Severity::Warning, "unseen-switch", message);
        self.tasks[stuck].os = Some(OsState::Ready);
        self.leave(Proc::Task(stuck));
        self.cores[core].incoming = None;
        self.cores[core].running = Some(next);
        self.enter(Proc::Task(next));
        self.hide(stuck);
    }

    /// A process gets the core, from any state; its runnables resume after it, outermost first (rule N4). The
    /// state before decides between rules T1, T2 and P10.
    pub(super) fn enter(&mut self, p: Proc) {
        if let Proc::Task(t) = p
            && std::mem::take(&mut self.tasks[t].never_ran)
            && self.state(p) == ProcessState::Ready
        {
            self.set_state(p, ProcessState::Active);
        }
        let is_back = matches!(self.state(p), ProcessState::Ready | ProcessState::Parking);
        if is_back && self.context(Some(p), 0).may_poll {
            // Rules L8 and H6: it resumes, or polls again.
            self.set_state(p, ProcessState::Running);
            return self.resume_runnables(p);
        }
        let (action, state) = match self.state(p) {
            ProcessState::Active => (Action::Start, ProcessState::Running),
            ProcessState::Ready => (Action::Resume, ProcessState::Running),
            ProcessState::Parking => (Action::PollParking, ProcessState::Polling),
            ProcessState::Waiting => {
                self.process(p, Action::Release);
                (Action::Resume, ProcessState::Running)
            }
            _ => return,
        };
        self.process(p, action);
        self.set_state(p, state);
        if action != Action::Start {
            self.resume_runnables(p);
        }
    }

    fn resume_runnables(&mut self, p: Proc) {
        let actor = self.actor(p);
        for n in 0..self.context(Some(p), 0).runnables.len() {
            let runnable = self.context(Some(p), 0).runnables[n];
            self.emit(actor, EntityType::Runnable, runnable, Action::Resume);
        }
    }

    /// A process is preempted: rule T3, or P9 if it polls. Its runnables suspend first, innermost first (rule
    /// N3). Its refused requests are forgotten (rule P7).
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
        if !self.context(Some(p), 0).may_poll {
            self.process(p, action);
        }
        self.set_state(p, state);
        self.context(Some(p), 0).refused.clear();
        if state == ProcessState::Parking {
            self.parks(p);
        }
    }

    pub(super) fn suspend_runnables(&mut self, p: Proc) {
        let actor = self.actor(p);
        for n in (0..self.context(Some(p), 0).runnables.len()).rev() {
            let runnable = self.context(Some(p), 0).runnables[n];
            self.emit(actor, EntityType::Runnable, runnable, Action::Suspend);
        }
    }

    /// Rule C4: only a running process can end or wait; one that an ISR had preempted runs for no time. If
    /// another task has the core meanwhile, because a change of state was not traced, it gives the core up
    /// (see `vacate`).
    pub(super) fn ensure_running(&mut self, p: Proc) {
        if let Proc::Task(t) = p
            && let core = self.tasks[t].core
            && self.other_on_core(t, core)
            && let Some(other) = self.cores[core].running
        {
            self.leave(Proc::Task(other));
        }
        if self.state(p) != ProcessState::Polling {
            self.enter(p);
        }
        if self.state(p) == ProcessState::Polling {
            self.process(p, Action::Run);
            self.set_state(p, ProcessState::Running);
        }
    }

    /// `t` leaves the core; a task that was set RUNNING too early enters now (rule C3).
    pub(super) fn vacate(&mut self, t: usize) {
        let core = self.tasks[t].core;
        if self.cores[core].incoming == Some(t) {
            self.cores[core].incoming = None;
        }
        if self.cores[core].running == Some(t) {
            self.cores[core].running = None;
        }
        match self.cores[core].running {
            None => {
                if let Some(next) = self.cores[core].incoming.take() {
                    self.cores[core].running = Some(next);
                    self.enter(Proc::Task(next));
                }
            }
            Some(other) => {
                let off_core =
                    matches!(self.state(Proc::Task(other)), ProcessState::Ready | ProcessState::Parking);
                if off_core && self.cores[core].isrs.is_empty() {
                    self.enter(Proc::Task(other));
                }
            }
        }
    }

    /// `terminate`, with the end of everything that belongs to the process; the caller removes the process.
    pub(super) fn end_process(&mut self, p: Proc) {
        let actor = self.actor(p);
        let context = std::mem::take(self.context(Some(p), 0));
        self.cut_calls(self.caller(Some(p)), &context);
        for runnable in context.runnables.into_iter().rev() {
            self.emit(actor, EntityType::Runnable, runnable, Action::Terminate);
        }
        self.gone(actor);
        self.process(p, Action::Terminate);
        self.set_state(p, ProcessState::Terminated);
    }

    /// Rule S10: a process instance that ended waits for nothing and owns nothing.
    pub(super) fn gone(&mut self, actor: Actor) {
        let mut held = Vec::new();
        for sem in &mut self.sems {
            sem.waiters.retain(|w| *w != actor);
            if sem.owner == Some(actor) {
                // It stays locked; the process that unlocks it will also release it (as in rule L5).
                sem.owner = None;
                held.push(sem.name);
            }
        }
        for sem in held {
            let message = format!("{} ended and left {} locked", self.name(actor.0), self.name(sem));
            self.report(Severity::Warning, "held-at-end", message);
        }
    }
}
