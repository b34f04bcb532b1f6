//! The numbers of steps, each step for itself. Not what comes before and after it (see `flow`).

use super::{Checks, Owner, Steps, each_step};
use crate::error::Result;
use crate::simulate::model::{Distribution, Runs, Step};

/// How many observed times a distribution may have; those that are equal and in a row are one.
const MOST_OBSERVED: usize = 100_000;

impl Checks<'_> {
    pub(super) fn steps(self) -> Result<()> {
        for body in self.bodies() {
            let shown = body.shown();
            each_step(body.steps, body.places, 1, &mut |step, line, _| self.step(&shown, step, line))?;
            if let Owner::Task(task) = body.owner {
                self.chains(task, &shown, &body)?;
            }
        }
        Ok(())
    }

    /// A task ends on its core, where the kernel activates the next one.
    fn chains(self, task: usize, of: &str, body: &Steps<'_>) -> Result<()> {
        let core = |task: usize| self.model.tasks.get(task).map(|task| task.core);
        each_step(body.steps, body.places, 1, &mut |step, line, _| match step {
            Step::Chain { task: next } if core(*next) != core(task) => {
                let message = format!("{of} chains a task of another core");
                self.mistake(line, message, "activate it, and terminate")
            }
            _ => Ok(()),
        })
    }

    fn step(self, of: &str, step: &Step, line: Option<u64>) -> Result<()> {
        match step {
            Step::Execute(time) => self.distribution(time, line),
            Step::SetEvent { task, events } => {
                events.iter().try_for_each(|event| self.has_event(of, line, *task, *event))
            }
            Step::GetResource { resource } | Step::ReleaseResource { resource } => {
                match self.model.resources.get(*resource).filter(|resource| resource.internal) {
                    None => Ok(()),
                    Some(resource) => {
                        let message = format!("'{}' is the internal resource of a group", resource.name);
                        let hint = "the tasks of a group have it while they run; take another resource";
                        self.mistake(line, message, hint)
                    }
                }
            }
            Step::TryToGetSpinlock { every, .. } if *every <= 0 => {
                let message = "try_to_get_spinlock tries every 0 ns".to_owned();
                self.mistake(line, message, "write for example every = \"5us\"")
            }
            Step::Branch { probability, .. } if !(0.0..=1.0).contains(probability) => {
                let message = format!("the probability of a branch is {probability}");
                self.mistake(line, message, "it is from 0 to 1, such as branch = 0.3")
            }
            Step::Repeat { times: 0, .. } => {
                let message = "repeat = 0 does nothing".to_owned();
                self.mistake(line, message, "leave the step out, or repeat it at least once")
            }
            Step::Turns { of } => self.times("turns", of, line),
            _ => Ok(()),
        }
    }

    /// That there is something in a list, and each of it at least once.
    fn times<T>(self, of: &str, list: &Runs<T>, line: Option<u64>) -> Result<()> {
        if list.items().is_empty() {
            return self.mistake(line, format!("{of}: the list has no entry"), "it needs at least one");
        }
        if list.iter().any(|(times, _)| times == 0) {
            let message = format!("{of}: an entry is there 0 times");
            return self.mistake(line, message, "leave it out, or write times = 1 or more");
        }
        Ok(())
    }

    /// That a distribution is one, and has no time below 0.
    pub(super) fn distribution(self, distribution: &Distribution, line: Option<u64>) -> Result<()> {
        if let Distribution::Observed { values, .. } = distribution {
            self.times("observed times", values, line)?;
            if values.items().len() > MOST_OBSERVED {
                let message = format!("a distribution has more than {MOST_OBSERVED} observed times");
                return self.mistake(line, message, "write fewer of them, or a distribution of another kind");
            }
        }
        let (min, max) = distribution.limits();
        if min > max {
            let message =
                format!("the least time of a distribution, {min} ns, exceeds the greatest one, {max} ns");
            return self.mistake(line, message, "exchange min and max");
        }
        if min < 0 {
            let message = format!("a time is {min} ns");
            return self.mistake(line, message, "no time of a model is less than 0");
        }
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let parameters: &[(&str, f64, bool)] = match *distribution {
            Distribution::Constant(_) | Distribution::Uniform { .. } | Distribution::Observed { .. } => &[],
            Distribution::Normal { mean, deviation, .. } => &[
                ("mean", mean, mean.is_finite()),
                ("deviation", deviation, deviation == 0.0 || positive(deviation)),
            ],
            Distribution::Weibull { shape, scale, .. } => {
                &[("shape", shape, positive(shape)), ("scale", scale, positive(scale))]
            }
            Distribution::Beta { alpha, beta, .. } => {
                &[("alpha", alpha, positive(alpha)), ("beta", beta, positive(beta))]
            }
            Distribution::LogNormal { mu, sigma, .. } => {
                &[("mu", mu, mu.is_finite()), ("sigma", sigma, sigma == 0.0 || positive(sigma))]
            }
        };
        match parameters.iter().find(|(_, _, fine)| !fine) {
            None => Ok(()),
            Some((key, value, _)) => {
                let message = format!("{key} of a distribution is {value}");
                self.mistake(line, message, format!("write a number greater than 0 for {key}"))
            }
        }
    }
}
