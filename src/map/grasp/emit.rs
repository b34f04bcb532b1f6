//! Emits system events, and moves jobs onto cores and off them. Not when that happens.

use super::jobs::Phase;
use super::rules::Rules;
use crate::btf::{Action, Actor, EntityType, Event, Note};
use crate::map::Output;

impl Rules {
    pub(super) fn emit(&mut self, source: Actor, kind: EntityType, target: Actor, action: Action) {
        self.out.push(Output::Event(Event::new(self.now, source, kind, target, action, Note::None)));
    }

    /// The stimulus that activates a task, triggered.
    pub(super) fn arrival(&mut self, task: usize) -> Option<Actor> {
        let state = self.tasks.get_mut(task)?;
        let stimulus = (state.stimulus, state.arrivals);
        state.arrivals += 1;
        // The simulation has no instance: −1 (BTF 2.1).
        self.emit((self.sim, -1), EntityType::Stimulus, stimulus, Action::Trigger);
        Some(stimulus)
    }

    /// Activates the next instance of a task; returns its number.
    pub(super) fn activate(&mut self, task: usize, action: Action) -> Option<i64> {
        let stimulus = self.arrival(task)?;
        let state = self.tasks.get_mut(task)?;
        let (actor, kind) = ((state.name, state.next), state.kind);
        state.next += 1;
        self.emit(stimulus, kind, actor, action);
        Some(actor.1)
    }

    /// Name and instance of a job; one that never arrived gets its number now.
    pub(super) fn actor(&mut self, job: usize) -> Option<(Actor, EntityType)> {
        let of = self.jobs.get_mut(job)?;
        let state = self.tasks.get_mut(of.task)?;
        let instance = *of.instance.get_or_insert_with(|| {
            state.unarrived += 1;
            state.first + state.unarrived - 1
        });
        Some(((state.name, instance), state.kind))
    }

    /// An event of a job, caused by a core.
    pub(super) fn of_job(&mut self, core: usize, job: usize, action: Action) {
        let (Some((actor, kind)), Some(name)) = (self.actor(job), self.cores.get(core).map(|c| c.name))
        else {
            return;
        };
        self.emit((name, 0), kind, actor, action);
    }

    /// Rule J8: a job gets a core; the job that has it is preempted.
    pub(super) fn enter(&mut self, job: usize, core: usize) {
        let Some(phase) = self.jobs.get(job).map(|j| j.phase) else { return };
        match phase {
            Phase::Done => return,
            Phase::Running if self.jobs.get(job).is_some_and(|j| j.core == Some(core)) => return,
            Phase::Running => self.leave(job, Action::Preempt, Phase::Ready),
            _ => {}
        }
        if let Some(other) = self.cores.get(core).and_then(|c| c.occupant) {
            self.leave(other, Action::Preempt, Phase::Ready);
        }
        match phase {
            Phase::New | Phase::Active => self.of_job(core, job, Action::Start),
            Phase::Waiting => {
                let last = self.jobs.get(job).and_then(|j| j.core).unwrap_or(core);
                self.of_job(last, job, Action::Release);
                self.of_job(core, job, Action::Resume);
            }
            _ => self.of_job(core, job, Action::Resume),
        }
        self.settle(job, core);
    }

    /// Puts a job onto a core.
    pub(super) fn settle(&mut self, job: usize, core: usize) {
        if let Some(job) = self.jobs.get_mut(job) {
            (job.phase, job.core) = (Phase::Running, Some(core));
        }
        if let Some(core) = self.cores.get_mut(core) {
            (core.occupant, core.used) = (Some(job), true);
        }
    }

    pub(super) fn leave(&mut self, job: usize, action: Action, phase: Phase) {
        let Some(core) = self.jobs.get(job).filter(|j| j.phase == Phase::Running).and_then(|j| j.core) else {
            return;
        };
        self.of_job(core, job, action);
        if let Some(core) = self.cores.get_mut(core) {
            core.occupant = None;
        }
        match phase {
            Phase::Done => self.jobs.complete(job),
            _ => {
                if let Some(job) = self.jobs.get_mut(job) {
                    job.phase = phase;
                }
            }
        }
    }
}
