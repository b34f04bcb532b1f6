//! Rules for the instances of tasks: activations counted by the OS, counted late, lost, or from before the
//! trace (rules A7, A8, A11, A12, L2, H3; docs/mapping.md).

use super::state::{Context, Edge, Instance, Proc};
use super::{Machine, OsState};
use crate::btf::{Action, EntityType, State as ProcessState};
use crate::diagnostics::Severity;
use crate::map::Output;

impl Machine {
    /// CURRENTACTIVATIONS of `t` may have changed.
    pub(super) fn task_activations(&mut self, t: usize, write: bool) {
        self.count(t, write);
        self.hide(t);
    }

    /// Rules A7 and T7.
    fn count(&mut self, t: usize, write: bool) {
        let Some(new) = self.model.value(&self.model.tasks[t].activations) else { return };
        let new = if self.model.tasks[t].counts_down { new.wrapping_neg() } else { new };
        let Some(old) = self.tasks[t].activations.replace(new) else {
            return self.first_count(t, new, write);
        };
        if new == old {
            return;
        }
        if !write {
            let name = self.task_name(t);
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
                // Rule A11.
                let message =
                    format!("an activation of task {} was not counted by the OS", self.task_name(t));
                self.report(Severity::Warning, "uncounted-activation", message);
            }
            if self.tasks[t].os == Some(OsState::Running) {
                self.tasks[t].context.ending = true;
            }
        }
    }

    /// The first count of activations after the left edge or a gap. A write changes it by one; the remaining
    /// difference are instances that came or went unseen.
    fn first_count(&mut self, t: usize, count: i64, write: bool) {
        let task = &mut self.tasks[t];
        task.head_unknown &= self.model.tasks[t].counts_down;
        let known = task.queue.len();
        let suspended = task.os == Some(OsState::Suspended) && known == 0;
        if self.model.tasks[t].counts_down {
            // The count gives the number of active instances only if the limit is known.
            return if write && suspended {
                self.activate(t)
            };
        }
        let count = count.clamp(0, 256) as usize;
        if write && known + 1 == count && (known > 0 || suspended) {
            return self.activate(t);
        }
        let ends = write && known > count && task.os == Some(OsState::Running);
        let (name, state) = (task.name, self.state(Proc::Task(t)));
        for _ in count + usize::from(ends)..known {
            self.ended_unseen(t);
            if let Some(next) = self.tasks[t].queue.front_mut().filter(|next| next.state != state) {
                // What was seen of the task since then was of this one: it has started, at an unknown time.
                next.state = state;
                self.out.push(Output::Lost { process: (name, next.number), time: self.now });
            }
        }
        self.tasks[t].context.ending |= ends;
        while self.tasks[t].queue.len() < count {
            let first = self.tasks[t].queue.is_empty();
            let number = self.new_instance(t);
            let state = if first { ProcessState::Ready } else { ProcessState::Active };
            self.tasks[t].queue.push_back(Instance { number, state });
        }
    }

    /// The count activates an instance: rule A7. Its source: rule A9.
    fn activate(&mut self, t: usize) {
        let stimulus = self.consume(t);
        let number = self.new_instance(t);
        self.emit(stimulus, EntityType::Task, (self.tasks[t].name, number), Action::Activate);
        self.tasks[t].queue.push_back(Instance { number, state: ProcessState::Active });
    }

    /// Rule A8: the OS does not count activations, or the count did not move (rule A11).
    pub(super) fn activate_by_state(&mut self, t: usize) {
        if self.model.tasks[t].activations.is_some() && self.tasks[t].activations.is_some() {
            self.tasks[t].unreported += 1;
        }
        self.activate(t);
    }

    /// Rule A12: the activation is lost, but its number is used up.
    pub(super) fn activation_lost(&mut self, t: usize) {
        let stimulus = self.consume(t);
        let number = self.new_instance(t);
        self.emit(stimulus, EntityType::Task, (self.tasks[t].name, number), Action::MtaLimitExceeded);
    }

    pub(super) fn new_instance(&mut self, t: usize) -> i64 {
        self.tasks[t].next_instance += 1;
        self.tasks[t].next_instance - 1
    }

    /// Rule L2: what `t` was doing when the trace began; instances that exist already are numbered from 0.
    pub(super) fn task_at_left_edge(&mut self, t: usize, edge: &Edge) {
        let model = &self.model.tasks[t];
        let core = model.core;
        let cores = 0..self.cores.len();
        let runs_on = cores.filter(|c| self.model.cores[*c].image == model.core).find(|c| {
            let running = self.model.value(&self.model.cores[*c].running_task);
            running.and_then(|v| self.model.cores[*c].tasks_by_value.get(&v)) == Some(&t)
        });
        let read =
            self.model.value(&model.state).and_then(|v| self.model.cores[core].states.get(&v).copied());
        let masks: Vec<_> = model.waitmask.iter().map(|s| self.model.slots.value(*s)).collect();
        let waits = masks.iter().flatten().any(|mask| *mask != 0);
        // Else it may run, or wait: what it does not do is not known.
        let cannot_run_or_wait = masks.iter().all(Option::is_some) && self.running_is_known(core);
        // What other cores tell of it in the gap comes before what holds at its end.
        let is_known = !edge.touched.contains(&t);
        let activations = self.model.value(&model.activations).filter(|_| is_known && !model.counts_down);
        let state = match (runs_on, activations, read) {
            (Some(_), ..) => Some(OsState::Running),
            (_, Some(0), _) => Some(OsState::Suspended),
            // On which of several cores it runs is not known.
            (_, _, Some(OsState::Running)) if self.has_several_cores(t) => None,
            (_, _, Some(s)) => Some(s),
            (_, _, None) if waits => Some(OsState::Waiting),
            (_, Some(_), None) if cannot_run_or_wait => Some(OsState::Ready),
            (_, _, None) => None,
        };
        let state = state.filter(|_| is_known);
        // A task that runs with no activation left has just been counted out: it is about to end.
        let alive = i64::from(state.is_some_and(|s| s != OsState::Suspended));
        self.tasks[t].context.ending = alive > activations.unwrap_or(alive);
        self.tasks[t].os = state;
        self.tasks[t].activations = activations;
        self.tasks[t].never_ran = edge.never_ran.contains(&t);
        let Some(state) = state else {
            if let Some(count) = activations {
                self.instances_at_edge(t, OsState::Ready, count);
            }
            return;
        };
        self.instances_at_edge(t, state, activations.unwrap_or(alive).max(alive));
        let core = runs_on.unwrap_or(core);
        self.tasks[t].core = core;
        if state == OsState::Running {
            self.cores[core].running = Some(t);
        }
    }

    /// True if the OS says of each core of an image what runs there.
    fn running_is_known(&self, image: usize) -> bool {
        let mut cores = self.model.cores.iter().filter(|core| core.image == image);
        cores.all(|core| self.model.value(&core.running_task).is_some())
    }

    /// Creates `count` instances, the first of them in `state`; surplus ones have ended unseen.
    fn instances_at_edge(&mut self, t: usize, state: OsState, count: i64) {
        let count = count.clamp(0, 256) as usize;
        let started = self.tasks[t].queue.front().is_some_and(|i| i.state != ProcessState::Active);
        if started && self.tasks[t].never_ran {
            self.ended_unseen(t);
        }
        while self.tasks[t].queue.len() > count {
            self.ended_unseen(t);
        }
        while self.tasks[t].queue.len() < count {
            let number = self.new_instance(t);
            self.tasks[t].queue.push_back(Instance { number, state: ProcessState::Active });
        }
        let head = match state {
            OsState::Running => ProcessState::Running,
            OsState::Waiting => ProcessState::Waiting,
            // Counted already, but STATE is not written yet.
            OsState::Suspended => ProcessState::Active,
            OsState::Ready => ProcessState::Ready,
        };
        self.set_state(Proc::Task(t), head);
    }

    /// Rule H3: the state of `t` after a gap. An instance that may still be alive counts as the same one.
    pub(super) fn task_after_gap(&mut self, t: usize, edge: &Edge) {
        self.cut_calls_of(Proc::Task(t));
        self.tasks[t].context = Context::default();
        self.tasks[t].unreported = 0;
        let home = self.tasks[t].core;
        self.task_at_left_edge(t, edge);
        if self.tasks[t].os != Some(OsState::Running) {
            self.tasks[t].core = home;
        }
        self.tasks[t].lost = self.tasks[t].os.is_none();
        self.tasks[t].head_unknown = self.tasks[t].activations.is_none();
        // It is unknown whether it still polls; an unlocked semaphore must not make it run.
        match self.state(Proc::Task(t)) {
            ProcessState::Polling => self.set_state(Proc::Task(t), ProcessState::Running),
            ProcessState::Parking => self.set_state(Proc::Task(t), ProcessState::Ready),
            // It may have started; rule L4 tells.
            ProcessState::Active if self.tasks[t].lost => self.set_state(Proc::Task(t), ProcessState::Ready),
            _ => {}
        }
    }
}
