//! Steps with resources and spinlocks in a random model: take, do something, give back, also one within the
//! other. Not who may take what (see `locks`).

use super::draft::{Draft, Held, US, of};
use super::times::any_time;
use crate::simulate::model::Step;

impl Draft {
    /// Steps in which a task has a lock. `inner` is done within, if no rule is against it.
    pub fn section(&mut self, task: usize, held: Held, inner: Vec<Step>) -> Vec<Step> {
        let mut path = Vec::new();
        if !self.may_take(task, held, &[]) {
            path.extend(self.shield(task));
        }
        path.push(held);
        self.within(task, &path, &mut Vec::new(), inner)
    }

    /// Takes all of `path`, one within the other.
    fn within(&mut self, task: usize, path: &[Held], taken: &mut Vec<Held>, inner: Vec<Step>) -> Vec<Step> {
        let Some((next, rest)) = path.split_first() else {
            return self.inside(task, taken, inner);
        };
        if !self.may_take(task, *next, taken) {
            return inner;
        }
        let mut steps = vec![self.take_step(*next)];
        if self.chance(0.4) {
            steps.push(self.short_step());
        }
        taken.push(*next);
        steps.extend(self.within(task, rest, taken, inner));
        taken.pop();
        if self.chance(0.3) {
            steps.push(self.short_step());
        }
        steps.push(match *next {
            Held::Resource(resource) => Step::ReleaseResource { resource },
            Held::Spinlock(spinlock) => Step::ReleaseSpinlock { spinlock },
        });
        steps
    }

    /// What is done while something is held: perhaps one more is taken.
    fn inside(&mut self, task: usize, taken: &mut Vec<Held>, inner: Vec<Step>) -> Vec<Step> {
        let locks = self.plans.get(task).map(|plan| plan.locks.clone()).unwrap_or_default();
        let more: Vec<Held> = locks.into_iter().filter(|lock| self.may_take(task, *lock, taken)).collect();
        if taken.len() < 3
            && self.chance(0.35)
            && let Some(next) = of(&mut self.numbers, &more)
        {
            return self.within(task, &[next], taken, inner);
        }
        let mut steps = vec![self.step_within(taken)];
        steps.extend(inner);
        if self.chance(0.3) {
            steps.push(self.library_call());
        }
        if self.features.control_flow && self.chance(0.2) {
            let then = vec![self.short_step()];
            steps.push(Step::Branch { probability: 0.5, then, otherwise: Vec::new() });
        }
        steps
    }

    /// Takes a lock in one of the ways that there are.
    pub fn take_step(&mut self, held: Held) -> Step {
        match held {
            Held::Resource(resource) => Step::GetResource { resource },
            Held::Spinlock(spinlock) => match self.chance(0.4) {
                true => Step::GetSpinlock { spinlock },
                false => Step::TryToGetSpinlock { spinlock, every: self.numbers.between(500, 8 * US) },
            },
        }
    }

    /// What a task does while it holds something. Locks of several cores are held for longer, so that
    /// others ask for them in vain, and lose their core while they do.
    fn step_within(&mut self, taken: &[Held]) -> Step {
        if taken.iter().all(|held| self.place(*held).is_none()) || self.chance(0.2) {
            return self.short_step();
        }
        let mean = self.numbers.between(50 * US, 1200 * US) as f64;
        Step::Execute(any_time(&mut self.numbers, mean))
    }

    /// Something short: it computes, or accesses a signal.
    pub fn short_step(&mut self) -> Step {
        match self.numbers.between(0, 5) {
            0 => self.access(),
            _ => {
                let mean = self.numbers.between(2 * US, 20 * US) as f64;
                Step::Execute(any_time(&mut self.numbers, mean))
            }
        }
    }

    /// Reads or writes a signal.
    pub fn access(&mut self) -> Step {
        let last = self.model.signals.len().saturating_sub(1);
        let signal = self.count(0, last);
        match self.numbers.between(0, 3) {
            0 | 1 => Step::Read { signal },
            2 => Step::Write { signal, value: None },
            _ => Step::Write { signal, value: Some(self.numbers.bits() as u32) },
        }
    }

    /// Calls a runnable that everybody calls.
    pub fn library_call(&mut self) -> Step {
        let library: Vec<usize> =
            self.owners.iter().enumerate().filter(|(_, of)| of.is_none()).map(|(ix, _)| ix).collect();
        match of(&mut self.numbers, &library) {
            Some(runnable) => Step::Call { runnable },
            None => self.short_step(),
        }
    }
}
