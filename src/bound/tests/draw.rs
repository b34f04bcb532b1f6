//! Random systems without overload.

use super::simulator::{Numbers, SimTask, Source, Step, System, level};
use super::{Kind, LockKind, Preemption, Process};

/// What a system may have.
#[derive(Debug, Clone, Copy)]
pub struct Features {
    /// Times for switches.
    pub switches: bool,
    /// Tasks that wait.
    pub waits: bool,
}

/// A system without overload: with switches, its worst load is at most 95 % of the core.
pub fn system(numbers: &mut Numbers, features: Features, length: i64) -> System {
    loop {
        let system = any_system(numbers, features, length);
        let of_task = |task: &SimTask| {
            let switches = system.switches[0].max(system.switches[2]) + system.switches[1];
            let work = task.steps.iter().map(|step| match step {
                Step::Run(_, most) => *most,
                Step::Wait(_) => switches,
                _ => 0,
            });
            1000 * task.source.burst.0 * (work.sum::<i64>() + switches) / task.source.period + 1
        };
        if system.tasks.iter().map(of_task).sum::<i64>() <= 950 {
            return system;
        }
    }
}

fn any_system(numbers: &mut Numbers, features: Features, length: i64) -> System {
    let count = numbers.between(2, 7) as usize;
    let isrs = numbers.between(0, 2) as usize;
    let load = numbers.between(30, 92);
    let switches = if features.switches && !numbers.one_in(3) {
        [numbers.between(0, 3), numbers.between(0, 3), numbers.between(0, 2)]
    } else {
        [0; 3]
    };
    let overhead = switches[0].max(switches[2]) + switches[1];
    let equal = numbers.one_in(4);
    let shares: Vec<i64> = (0..count + isrs).map(|_| numbers.between(1, 10)).collect();
    let sum: i64 = shares.iter().sum();
    let periods = [40, 50, 80, 100, 125, 160, 200, 250, 400, 500, 1000];
    let harmonic = numbers.one_in(2);
    let mut tasks: Vec<SimTask> = Vec::new();
    for (index, share) in shares.iter().enumerate() {
        let is_isr = index >= count;
        let period = if harmonic { periods[numbers.below(11) as usize] } else { numbers.between(40, 1000) };
        let burst = if numbers.one_in(6) { (numbers.between(2, 3), numbers.between(0, 5)) } else { (1, 0) };
        let priority = if equal { numbers.between(1, 3) } else { index as i64 + 1 } as u32;
        let threshold = match numbers.below(5) {
            0 => u32::MAX,
            1 => priority + numbers.below(count as i64) as u32,
            _ => priority,
        };
        let parts = numbers.between(1, if features.waits && !is_isr { 3 } else { 1 });
        let most = period * load * share / sum / 100 / burst.0 / parts - overhead;
        let steps = steps(numbers, most.max(1), parts, period);
        let jitter = if numbers.one_in(2) { numbers.between(0, period / 2) } else { 0 };
        let offset = if numbers.one_in(2) { 0 } else { numbers.below(period) };
        let source = Source { offset, period, jitter, burst, sporadic: numbers.one_in(4) };
        let activations = if numbers.one_in(4) { 1 } else { 8 };
        tasks.push(SimTask { is_isr, priority, threshold, activations, source, steps });
    }
    let ceilings = add_sections(numbers, &mut tasks);
    System { tasks, ceilings, switches, breaks: numbers.one_in(2), arrivals_first: numbers.one_in(2), length }
}

fn steps(numbers: &mut Numbers, most: i64, parts: i64, period: i64) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in 0..parts {
        if part > 0 {
            steps.push(Step::Wait(numbers.between(1, period / 4)));
        }
        let least = if numbers.one_in(2) { most } else { numbers.between(1, most) };
        steps.push(Step::Run(least, most));
    }
    steps
}

/// Splits some steps in three, the middle one with a lock.
fn add_sections(numbers: &mut Numbers, tasks: &mut [SimTask]) -> Vec<u64> {
    let locks = numbers.between(0, 2) as usize;
    let mut ceilings = vec![0; locks];
    for task in tasks.iter_mut().filter(|task| !task.is_isr) {
        if locks == 0 || numbers.one_in(2) {
            continue;
        }
        let lock = numbers.below(locks as i64) as usize;
        let mut with: Vec<Step> = Vec::new();
        for step in &task.steps {
            match step {
                Step::Run(low, high) if *low >= 3 && *high >= 3 => {
                    let (one, two) = (low / 3, high / 3);
                    with.push(Step::Run(one, two));
                    with.extend([Step::Take(lock), Step::Run(one, two), Step::Free(lock)]);
                    with.push(Step::Run(low - 2 * one, high - 2 * two));
                }
                other => with.push(*other),
            }
        }
        if with.len() == task.steps.len() {
            continue;
        }
        task.steps = with;
        ceilings[lock] = level(false, task.priority).max(ceilings[lock]);
    }
    ceilings
}

/// What the observer is to know of a system.
pub fn described(system: &System) -> (Vec<Process>, Vec<LockKind>) {
    let of = |task: &SimTask| Process {
        kind: if task.is_isr { Kind::Isr } else { Kind::Task },
        priority: Some(task.priority),
        preemption: match task.threshold {
            u32::MAX => Preemption::Never,
            threshold if threshold > task.priority => Preemption::Above(threshold),
            _ => Preemption::Full,
        },
        core: Some(0),
        place: None,
    };
    (system.tasks.iter().map(of).collect(), vec![LockKind::Ceiling; system.ceilings.len()])
}
