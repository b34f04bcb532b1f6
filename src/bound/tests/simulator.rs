//! A small simulator of one core, tick by tick, for tests: fixed priorities, ISRs, thresholds, immediate
//! ceilings, waits, and time for switches. It shares no code with the analysis.

use super::{Action, Event};

/// A generator of random numbers: xorshift (G. Marsaglia, 2003).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end.max(1) as u64) as i64
    }

    /// Both inclusive.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high - low + 1)
    }

    pub fn one_in(&mut self, times: i64) -> bool {
        self.below(times) == 0
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Computes for a random time between two, in ticks.
    Run(i64, i64),
    Take(usize),
    Free(usize),
    /// Waits so long until it is released.
    Wait(i64),
}

#[derive(Debug, Clone)]
pub struct Source {
    pub offset: i64,
    pub period: i64,
    pub jitter: i64,
    /// So many arrivals at once, so many ticks apart.
    pub burst: (i64, i64),
    /// The distances are random: up to twice the period.
    pub sporadic: bool,
}

#[derive(Debug, Clone)]
pub struct SimTask {
    pub is_isr: bool,
    pub priority: u32,
    /// While it runs it has at least this level; `u32::MAX`: that of no other of its kind.
    pub threshold: u32,
    pub activations: usize,
    pub source: Source,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub struct System {
    pub tasks: Vec<SimTask>,
    /// The ceiling of each lock: a level, see [`level`].
    pub ceilings: Vec<u64>,
    /// The greatest time of a switch to a task, of one back, and of the entry of an ISR.
    pub switches: [i64; 3],
    /// An arrival can break a switch off; else the switch is completed first.
    pub breaks: bool,
    /// What arrives in the tick in which something ends comes first.
    pub arrivals_first: bool,
    pub length: i64,
}

/// ISRs are above tasks.
pub fn level(is_isr: bool, priority: u32) -> u64 {
    (u64::from(is_isr) << 33) | u64::from(priority)
}

#[derive(Debug, Clone)]
struct Job {
    task: usize,
    arrival: i64,
    order: u64,
    step: usize,
    left: i64,
    held: Vec<usize>,
    started: bool,
    /// On its core since the last arrival or release.
    preempted: bool,
    waits_until: Option<i64>,
}

/// Runs a system. Events are in the order of time.
pub fn run(system: &System, numbers: &mut Numbers, mut sink: impl FnMut(Event)) {
    let mut next: Vec<Vec<i64>> = Vec::new();
    for task in &system.tasks {
        next.push(arrivals(&task.source, system.length, numbers));
    }
    let mut jobs: Vec<Job> = Vec::new();
    let (mut order, mut running, mut switching): (u64, Option<u64>, Option<(u64, i64)>) = (0, None, None);
    let mut emit = |time: i64, process: usize, action: Action| sink(Event { time, process, action });
    for now in 0..=system.length {
        for first in [system.arrivals_first, !system.arrivals_first] {
            if first {
                arrive(system, &mut next, &mut jobs, &mut order, now, &mut emit);
            } else if let Some(job) = running {
                advance(system, &mut jobs, job, now, numbers, &mut running, &mut emit);
            }
        }
        // Zero-time steps and decisions, until nothing changes in this tick.
        for _ in 0..1000 {
            if let Some((target, end)) = switching {
                let best = choose(system, &jobs, None);
                if system.breaks && best != Some(target) && now < end {
                    switching = None;
                    continue;
                }
                if now < end {
                    break;
                }
                switching = None;
                running = Some(target);
                if let Some(job) = jobs.iter_mut().find(|job| job.order == target) {
                    let action = if job.started { Action::Resume(0) } else { Action::Start(0) };
                    (job.started, job.preempted) = (true, true);
                    emit(now, job.task, action);
                }
                continue;
            }
            if let Some(job) = running {
                let before = (jobs.len(), running);
                if !system.arrivals_first || choose(system, &jobs, running) == running {
                    advance(system, &mut jobs, job, now, numbers, &mut running, &mut emit);
                }
                if (jobs.len(), running) != before {
                    continue;
                }
            }
            let best = choose(system, &jobs, running);
            if best == running {
                break;
            }
            if let Some(job) = running.and_then(|order| jobs.iter().find(|job| job.order == order)) {
                emit(now, job.task, Action::Preempt);
            }
            running = None;
            let Some(target) = best else { break };
            let Some(job) = jobs.iter().find(|job| job.order == target) else { break };
            let isr = system.tasks[job.task].is_isr;
            let most = system.switches[if isr { 2 } else { usize::from(job.preempted) }];
            switching = Some((target, now + numbers.between(most / 2, most)));
        }
        if let Some(job) = running.and_then(|order| jobs.iter_mut().find(|job| job.order == order)) {
            job.left -= 1;
        }
    }
}

fn arrivals(source: &Source, length: i64, numbers: &mut Numbers) -> Vec<i64> {
    let mut all = Vec::new();
    let mut base = source.offset;
    while base <= length {
        for number in 0..source.burst.0.max(1) {
            all.push(base + number * source.burst.1 + numbers.between(0, source.jitter));
        }
        base +=
            if source.sporadic { numbers.between(source.period, 2 * source.period) } else { source.period };
    }
    all.sort_unstable_by(|a, b| b.cmp(a));
    all
}

fn arrive(
    system: &System,
    next: &mut [Vec<i64>],
    jobs: &mut Vec<Job>,
    order: &mut u64,
    now: i64,
    emit: &mut impl FnMut(i64, usize, Action),
) {
    for job in jobs.iter_mut() {
        if job.waits_until.is_some_and(|until| until <= now) {
            (job.waits_until, job.preempted) = (None, false);
            emit(now, job.task, Action::Release);
        }
    }
    for (task, times) in next.iter_mut().enumerate() {
        while times.last().is_some_and(|time| *time <= now) {
            times.pop();
            if jobs.iter().filter(|job| job.task == task).count() >= system.tasks[task].activations {
                emit(now, task, Action::Lose);
                continue;
            }
            *order += 1;
            emit(now, task, Action::Activate);
            let (order, held) = (*order, Vec::new());
            let job = Job {
                task,
                arrival: now,
                order,
                step: 0,
                left: 0,
                held,
                started: false,
                preempted: false,
                waits_until: None,
            };
            jobs.push(job);
        }
    }
}

/// Does the steps of the running job that take no time, as far as it has nothing to compute.
fn advance(
    system: &System,
    jobs: &mut Vec<Job>,
    order: u64,
    now: i64,
    numbers: &mut Numbers,
    running: &mut Option<u64>,
    emit: &mut impl FnMut(i64, usize, Action),
) {
    let Some(place) = jobs.iter().position(|job| job.order == order) else { return };
    let job = &mut jobs[place];
    while job.left == 0 {
        let Some(step) = system.tasks[job.task].steps.get(job.step) else {
            emit(now, job.task, Action::Terminate);
            jobs.remove(place);
            *running = None;
            return;
        };
        job.step += 1;
        match step {
            Step::Run(low, high) => job.left = numbers.between(*low, *high),
            Step::Take(lock) => {
                job.held.push(*lock);
                emit(now, job.task, Action::Take(*lock));
            }
            Step::Free(lock) => {
                job.held.retain(|held| held != lock);
                emit(now, job.task, Action::Free(*lock));
                // A task that waited for the ceiling may go first.
                if choose(system, jobs, Some(order)) != Some(order) {
                    return;
                }
                return advance(system, jobs, order, now, numbers, running, emit);
            }
            Step::Wait(time) => {
                job.waits_until = Some(now + time);
                emit(now, job.task, Action::Wait);
                *running = None;
                return;
            }
        }
    }
}

/// The level of a job: that of its task, its threshold once it has started, and its locks.
fn current(system: &System, job: &Job) -> u64 {
    let task = &system.tasks[job.task];
    let own = level(task.is_isr, task.priority);
    let held = job.held.iter().map(|lock| system.ceilings[*lock]).max().unwrap_or(0);
    let threshold = if job.started && job.preempted { level(task.is_isr, task.threshold) } else { 0 };
    own.max(held).max(threshold)
}

/// The job that is to run: the running one unless another one is above it.
fn choose(system: &System, jobs: &[Job], running: Option<u64>) -> Option<u64> {
    let first_of_task =
        |job: &&Job| !jobs.iter().any(|other| other.task == job.task && other.order < job.order);
    let ready = jobs.iter().filter(|job| job.waits_until.is_none()).filter(first_of_task);
    let key = |job: &&Job| {
        let goes_on = running == Some(job.order);
        (current(system, job), goes_on, job.preempted, std::cmp::Reverse((job.arrival, job.order)))
    };
    ready.max_by_key(key).map(|job| job.order)
}
