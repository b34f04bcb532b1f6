//! Times of random models: distributions of all kinds around a mean, and the load that a core gets from
//! them. Not the distributions themselves (see `model::distribution`).

use super::draft::{Draft, Kind};
use crate::simulate::model::{Distribution, Runnable, Step};
use crate::simulate::random_numbers::RandomNumbers;

/// A loop with more rounds has no end: it counts once.
const ENDLESS: u32 = 1_000;

/// How often a loop without end is done: more often than a run can.
pub const FOREVER: u32 = 1_000_000;

/// A Weibull distribution of shape 2 from `min` to `max` with about this mean. The thesis gives only these
/// three.
pub fn weibull(numbers: &mut RandomNumbers, min: f64, mean: f64, max: f64) -> f64 {
    // The mean of a Weibull distribution of shape 2 and scale 1: Γ(1.5).
    const MEAN: f64 = 0.886_226_925_452_758;
    // In thousandths, as samples are whole numbers.
    let [min, mean, max] = [min, mean, max].map(|value| value * 1000.0);
    let scale = (mean - min).max(1.0) / MEAN;
    let sample =
        Distribution::Weibull { shape: 2.0, scale, min: min as i64, max: max as i64 }.sample(numbers);
    sample as f64 / 1000.0
}

/// A distribution of any kind with about this mean, in ns.
pub fn any_time(numbers: &mut RandomNumbers, mean: f64) -> Distribution {
    let share = |factor: f64| libm::rint(mean * factor) as i64;
    match numbers.between(0, 5) {
        0 => Distribution::Constant(share(1.0)),
        1 => Distribution::Uniform { min: share(0.5), max: share(1.5) },
        2 => Distribution::Normal { mean, deviation: mean * 0.2, min: share(0.4), max: share(1.6) },
        3 => {
            let shape = numbers.between(10, 30) as f64 / 10.0;
            Distribution::Weibull { shape, scale: mean * 0.75 + 1.0, min: share(0.3), max: share(3.0) }
        }
        4 => {
            let [alpha, beta] = [20, 50].map(|most| numbers.between(5, most) as f64 / 10.0);
            Distribution::Beta { alpha, beta, min: share(0.5), max: share(2.0) }
        }
        _ => {
            let (mu, sigma) = (libm::log(mean.max(1.0)), numbers.between(1, 6) as f64 / 10.0);
            Distribution::LogNormal { mu, sigma, min: share(0.2), max: share(4.0) }
        }
    }
}

/// The same distribution of times that are so many times as long.
fn scaled(distribution: &Distribution, factor: f64) -> Distribution {
    let time = |time: i64| libm::rint(time as f64 * factor) as i64;
    match *distribution {
        Distribution::Constant(constant) => Distribution::Constant(time(constant)),
        Distribution::Uniform { min, max } => Distribution::Uniform { min: time(min), max: time(max) },
        Distribution::Normal { mean, deviation, min, max } => Distribution::Normal {
            mean: mean * factor,
            deviation: deviation * factor,
            min: time(min),
            max: time(max),
        },
        Distribution::Weibull { shape, scale, min, max } => {
            Distribution::Weibull { shape, scale: scale * factor, min: time(min), max: time(max) }
        }
        Distribution::Beta { alpha, beta, min, max } => {
            Distribution::Beta { alpha, beta, min: time(min), max: time(max) }
        }
        Distribution::LogNormal { mu, sigma, min, max } => {
            Distribution::LogNormal { mu: mu + libm::log(factor), sigma, min: time(min), max: time(max) }
        }
        Distribution::Observed { ref values, in_turn } => {
            let values = values.iter().map(|(times, value)| (times, time(*value))).collect();
            Distribution::Observed { values, in_turn }
        }
    }
}

fn scale_steps(steps: &mut [Step], factor: f64) {
    for step in steps {
        step.inside_mut().into_iter().for_each(|steps| scale_steps(steps, factor));
        if let Step::Execute(distribution) = step {
            *distribution = scaled(distribution, factor);
        }
    }
}

/// How long steps compute on average, in ns. Runnables call only others that are before them in the list.
pub fn mean_of(steps: &[Step], runnables: &[Runnable]) -> f64 {
    let of_step = |step: &Step| match step {
        Step::Execute(distribution) => distribution.mean(),
        Step::Call { runnable } => {
            let (before, rest) = runnables.split_at((*runnable).min(runnables.len()));
            rest.first().map_or(0.0, |runnable| mean_of(&runnable.steps, before))
        }
        Step::Branch { probability, then, otherwise } => {
            probability * mean_of(then, runnables) + (1.0 - probability) * mean_of(otherwise, runnables)
        }
        Step::Repeat { times, steps } => {
            let times = if *times > ENDLESS { 1 } else { *times };
            f64::from(times) * mean_of(steps, runnables)
        }
        Step::Turns { of } => {
            let all = of.iter().map(|(times, steps)| f64::from(times) * mean_of(steps, runnables));
            all.sum::<f64>() / of.count().max(1) as f64
        }
        _ => 0.0,
    };
    steps.iter().map(of_step).sum()
}

impl Draft {
    /// The share of its core that a task takes, without the OS.
    fn load(&self, task: usize) -> f64 {
        let steps = self.task(task).map_or(&[][..], |task| &task.steps);
        let rate = self.plans.get(task).map_or(0.0, |plan| plan.rate);
        rate * mean_of(steps, &self.model.runnables) / 1e9
    }

    /// Makes the times of tasks longer or shorter, so that each core gets a load of 30 to 85 %, and in a
    /// few models more than it can do.
    pub fn fit_load(&mut self) {
        for core in 0..self.model.cores.len() {
            let tasks = self.tasks_of(core);
            let of_isrs: f64 = (0..self.model.isrs.len()).map(|isr| self.load_of_isr(core, isr)).sum();
            // The OS needs something as well, about so much with the times of `draft::os`.
            let target = self.numbers.between(30, 80) as f64 / 100.0 - of_isrs - 0.05;
            let load: f64 = tasks.iter().map(|task| self.load(*task)).sum();
            if load > 0.0 {
                let factor = (target.max(0.1) / load).clamp(0.02, 8.0);
                tasks.iter().for_each(|task| self.scale(*task, factor));
            }
            if self.features.overload && self.chance(0.7) {
                self.overload(core, &tasks);
            }
        }
    }

    /// The lowest tasks of a core get so much to do that they are not done with it. None of them may be
    /// above one that holds a lock.
    fn overload(&mut self, core: usize, tasks: &[usize]) {
        let callers = tasks.iter().filter(|task| self.calls(**task)).map(|task| self.priority_of(*task));
        let lowest = callers.min().unwrap_or(u32::MAX);
        let low: Vec<usize> = tasks
            .iter()
            .copied()
            .filter(|task| self.level(*task) < lowest && self.kind(*task) != Kind::Server)
            .collect();
        let load: f64 = low.iter().map(|task| self.load(*task)).sum();
        let others: f64 = tasks.iter().map(|task| self.load(*task)).sum::<f64>() - load;
        let of_isrs: f64 = (0..self.model.isrs.len()).map(|isr| self.load_of_isr(core, isr)).sum();
        if load > 0.0 {
            let target = self.numbers.between(105, 140) as f64 / 100.0 - others - of_isrs;
            let factor = (target / load).clamp(1.0, 100.0);
            low.iter().for_each(|task| self.scale(*task, factor));
        }
    }

    fn load_of_isr(&self, core: usize, isr: usize) -> f64 {
        let Some((of_model, plan)) = self.model.isrs.get(isr).zip(self.isrs.get(isr)) else { return 0.0 };
        if of_model.core != core {
            return 0.0;
        }
        plan.rate * mean_of(&of_model.steps, &self.model.runnables) / 1e9
    }

    fn scale(&mut self, task: usize, factor: f64) {
        if let Some(task) = self.model.tasks.get_mut(task) {
            scale_steps(&mut task.steps, factor);
        }
        let owned = self.model.runnables.iter_mut().zip(&self.owners).filter(|(_, of)| **of == Some(task));
        owned.for_each(|(runnable, _)| scale_steps(&mut runnable.steps, factor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_count_with_their_share_and_observed_times_are_scaled() {
        let values = [(3, 100), (1, 500)].into_iter().collect();
        let observed = Step::Execute(Distribution::Observed { values, in_turn: true });
        let turns = [(3, vec![observed]), (1, Vec::new())].into_iter().collect();
        let mut steps = [Step::Turns { of: turns }];
        assert_eq!(mean_of(&steps, &[]), 150.0);
        scale_steps(&mut steps, 2.0);
        assert_eq!(mean_of(&steps, &[]), 300.0);
    }
}
