//! Models after a published benchmark: the periods, runnables and execution times of an engine control
//! unit. What the benchmark does not say is chosen here, and named so. Not the figures themselves (see
//! `tables`).

mod fit;
mod tables;

use super::Options;
use super::draft::{Draft, MS, of, shuffle, some};
use crate::simulate::model::{
    Action, Alarm, Arrivals, Core, Distribution, Isr, Model, Runnable, Signal, Step, Task,
};
use crate::simulate::random_numbers::RandomNumbers;
use fit::fitted;
use tables::{PATTERNS, PERIODS_OF_CHAIN, Pattern, RUNNABLES_OF_CHAIN, weighted};

/// A system in the making.
struct Unit {
    numbers: RandomNumbers,
    model: Model,
    /// The pattern of each runnable.
    patterns: Vec<usize>,
    /// The core of each runnable.
    cores: Vec<usize>,
    /// Signals that each runnable reads at its begin, and writes at its end.
    inputs: Vec<Vec<usize>>,
    outputs: Vec<Vec<usize>>,
}

/// The benchmark of Kramer, Ziegenbein and Hamann as a model: 1000 to 1500 runnables in tasks of their
/// periods, with rate-monotonic priorities. Of the options it knows the number of cores, the duration, and
/// of the features `isrs` (the task of the crankshaft is activated by one), `chains` (here, chains of
/// signals), `across_cores` (signals between cores) and `overheads`.
pub fn waters(seed: u64, options: &Options) -> Model {
    let mut unit = Unit::new(seed, options);
    unit.add_runnables();
    unit.add_signals(options.features.across_cores);
    if options.features.chains {
        unit.add_chains();
    }
    unit.write_runnables();
    unit.add_tasks(options.features.isrs);
    unit.model
}

impl Unit {
    fn new(seed: u64, options: &Options) -> Self {
        let mut numbers = RandomNumbers::stream(seed, "waters");
        // Chosen: so short that a run has some 10,000 events; most runnables have periods of 20 ms or less.
        let drawn = numbers.between(15, 30) * MS;
        let cores = options.cores.unwrap_or(2).max(1);
        let frame = Draft::new(seed, &Options { cores: Some(cores), ..options.clone() });
        let mut model = frame.model;
        model.name = format!("waters_{seed}");
        model.duration = options.duration.unwrap_or(drawn).max(1);
        model.os.tick = MS;
        model.cores = (0..cores).map(|core| Core { name: format!("Core_{core}") }).collect();
        Self {
            numbers,
            model,
            patterns: Vec::new(),
            cores: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Draws periods and cores. The paper has 1000 to 1500 runnables in all.
    fn add_runnables(&mut self) {
        let shares: Vec<(usize, i64)> = PATTERNS.iter().map(|pattern| pattern.share).enumerate().collect();
        let last = self.model.cores.len() as i64 - 1;
        for _ in 0..self.numbers.between(1000, 1500) {
            let pattern = weighted(&mut self.numbers, &shares);
            self.patterns.push(pattern);
            self.cores.push(self.numbers.between(0, last) as usize);
            self.inputs.push(Vec::new());
            self.outputs.push(Vec::new());
        }
    }

    fn add_signal(&mut self, name: String) -> usize {
        self.model.signals.push(Signal { name, initial: 0 });
        self.model.signals.len() - 1
    }

    /// Chosen: every second runnable has a result, which up to three others read.
    fn add_signals(&mut self, across: bool) {
        for writer in 0..self.patterns.len() {
            if self.numbers.chance(0.5) {
                continue;
            }
            let signal = self.add_signal(format!("SIG_{writer}"));
            if let Some(outputs) = self.outputs.get_mut(writer) {
                outputs.push(signal);
            }
            let last = self.patterns.len() as i64 - 1;
            for _ in 0..self.numbers.between(0, 3) {
                let reader = self.numbers.between(0, last) as usize;
                let is_near = self.cores.get(reader) == self.cores.get(writer);
                if let Some(inputs) = self.inputs.get_mut(reader).filter(|_| across || is_near) {
                    inputs.push(signal);
                }
            }
        }
    }

    /// Cause-effect chains: the runnables of a chain pass on a signal. Chosen: 5 chains per model, and that
    /// those of one period follow each other.
    fn add_chains(&mut self) {
        for chain in 0..5 {
            let periods = weighted(&mut self.numbers, &PERIODS_OF_CHAIN);
            let all: Vec<usize> = (0..PATTERNS.len()).collect();
            let mut patterns = some(&mut self.numbers, &all, periods);
            shuffle(&mut self.numbers, &mut patterns);
            let mut row = Vec::new();
            for pattern in patterns {
                let fit = self.patterns.iter().enumerate().filter(|(_, of)| **of == pattern);
                let fit: Vec<usize> = fit.map(|(runnable, _)| runnable).collect();
                let most = weighted(&mut self.numbers, &RUNNABLES_OF_CHAIN);
                row.extend(some(&mut self.numbers, &fit, most));
            }
            for (place, pair) in row.windows(2).enumerate() {
                let [from, to] = pair else { continue };
                let signal = self.add_signal(format!("CHAIN_{chain}_{place}"));
                if let Some(outputs) = self.outputs.get_mut(*from) {
                    outputs.push(signal);
                }
                if let Some(inputs) = self.inputs.get_mut(*to) {
                    inputs.push(signal);
                }
            }
        }
    }

    /// Chosen: a runnable reads all that it needs, computes, and writes.
    fn write_runnables(&mut self) {
        let average: Vec<Distribution> = PATTERNS
            .iter()
            .map(|Pattern { average: [min, mean, max], .. }| fitted(*min, *mean, *max))
            .collect();
        for runnable in 0..self.patterns.len() {
            let pattern = self.patterns.get(runnable).copied().unwrap_or_default();
            let Some((of_table, average)) = PATTERNS.get(pattern).zip(average.get(pattern)) else { continue };
            let time = self.execution_time(of_table, average);
            let signals = |of: &[Vec<usize>]| of.get(runnable).cloned().unwrap_or_default();
            let inputs = signals(&self.inputs).into_iter().map(|signal| Step::Read { signal });
            let outputs =
                signals(&self.outputs).into_iter().map(|signal| Step::Write { signal, value: None });
            let steps = inputs.chain([Step::Execute(time)]).chain(outputs).collect();
            self.model.runnables.push(Runnable { name: format!("R_{runnable}"), steps });
        }
    }

    /// The times of one runnable: its average is one of its pattern, its limits are so many times as long.
    fn execution_time(&mut self, pattern: &Pattern, average: &Distribution) -> Distribution {
        let mean = average.sample(&mut self.numbers) as f64;
        let mut factor = |(least, most): (f64, f64)| least + (most - least) * self.numbers.unit();
        let (best, worst) = (factor(pattern.best), factor(pattern.worst));
        fitted(mean * best, mean, mean * worst)
    }

    /// A task for the runnables of each pattern and core.
    fn add_tasks(&mut self, by_isr: bool) {
        // The time of a combustion: 120 s / (revolutions per minute × cylinders), here of 4 cylinders.
        // Chosen: a speed from 1000 to 6000 revolutions per minute.
        let combustion = 120_000_000_000 / (4 * self.numbers.between(1000, 6000));
        for core in 0..self.model.cores.len() {
            for (number, pattern) in PATTERNS.iter().enumerate() {
                let of_task = self.patterns.iter().zip(&self.cores).enumerate();
                let of_task = of_task.filter(|(_, of)| *of == (&number, &core));
                let steps: Vec<Step> = of_task.map(|(runnable, _)| Step::Call { runnable }).collect();
                if steps.is_empty() {
                    continue;
                }
                let period = pattern.period.map_or(combustion, |period| period * MS);
                let name = match pattern.period {
                    Some(period) => format!("T_{period}ms_{core}"),
                    None => format!("T_angle_{core}"),
                };
                let task = self.model.tasks.len();
                self.model.tasks.push(Task {
                    name,
                    core,
                    priority: rate_monotonic(period, combustion),
                    activations: 1,
                    preemptable: true,
                    group: None,
                    autostart: false,
                    events: Vec::new(),
                    steps: steps.into_iter().chain([Step::Terminate]).collect(),
                });
                match pattern.period {
                    None if by_isr => self.add_isr(core, task, combustion),
                    _ => self.add_alarm(core, task, period),
                }
            }
        }
    }

    /// Chosen: the first activation is at any time of the first period, but in the first half of the run.
    fn add_alarm(&mut self, core: usize, task: usize, period: i64) {
        let cycle = (period / MS).max(1);
        let half = (self.model.duration / MS / 2).max(1);
        let first = self.numbers.between(1, cycle.min(half));
        let name = format!("ALARM_{}", self.model.alarms.len());
        self.model.alarms.push(Alarm { name, core, action: Action::Activate { task }, first, cycle });
    }

    /// The crankshaft. Chosen: its speed varies by up to 4 % from one combustion to the next.
    fn add_isr(&mut self, core: usize, task: usize, combustion: i64) {
        let offset = self.numbers.between(0, combustion);
        let least = combustion / 100 * 98;
        let arrivals = match of(&mut self.numbers, &[true, false]) {
            Some(true) => Arrivals::Periodic { offset, period: combustion, jitter: combustion / 25 },
            _ => {
                let more = Distribution::Uniform { min: 0, max: combustion / 25 };
                Arrivals::Sporadic { offset, distance: least, more }
            }
        };
        let name = format!("ISR_angle_{core}");
        let steps = vec![Step::Activate { task }];
        self.model.isrs.push(Isr { name, core, category1: false, priority: 3, arrivals, steps });
    }
}

/// The shorter the period, the higher the priority.
fn rate_monotonic(period: i64, combustion: i64) -> u32 {
    let periods = PATTERNS.iter().map(|pattern| pattern.period.map_or(combustion, |period| period * MS));
    periods.filter(|other| *other > period).count() as u32 + 1
}
