//! Response-time analysis for fixed priorities: the longest busy window of a process, and the bounds of its
//! jobs in it. Not the terms for blocking (see `blocking`), nor what a bound is compared with (see
//! `verdict`).
//!
//! The busy-window technique (J. Lehoczky, 1990) in the form with preemption thresholds (Y. Wang and M.
//! Saksena, 1999): a job starts when nothing of its own priority or a higher one is left to do, and after
//! that only processes above its threshold delay it. With the threshold at its priority it is preemptive,
//! with the highest one it is not. For each q, the start s and the end e of the q-th job in the window are
//! the least solutions of
//!
//! ```text
//! s = blocking + W(q − 1) + Σ over all of its priority or higher: W'(arrivals in [0, s])
//! e = s + W(q) − W(q − 1) + Σ over all above its threshold: W'(arrivals in [0, e)) − W'(arrivals in [0, s])
//! ```
//!
//! where W(n) is the greatest work of n consecutive jobs, switches included: mostly n times the longest job.
//!
//! and its response is e − δ⁻(q). All q that arrive within the longest window are tried, as without full
//! preemption a later job can be the slowest one (R. Davis et al., 2007, for CAN).

use super::blocking::{Blocking, blocking};
use super::curve::ENDLESS;
use super::facts::{CoreId, Facts, Instants, Preemption};
use super::order::ProcessId;
use std::cmp::Ordering;

/// Arrival curves that all searches for one process ask; more mean that the load is so near to the capacity
/// that there is hardly a bound.
const MOST_QUESTIONS: usize = 3_000_000;
/// Bounds, in ticks, beyond which a search is given up.
const LONGEST: i128 = (i64::MAX / 4) as i128;
/// Whole load of a core, for [`Failure::Overload`].
pub const MILLION: i128 = 1_000_000;

/// What a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The bound of the response time, in ticks.
    pub bound: i64,
    /// The number of the job in the window that has it, from 1.
    pub job: u64,
    /// For each job in the window, from 1: when it ends at the latest, in ticks since the begin of the
    /// window.
    pub ends: Vec<i64>,
    /// The length of the window in ticks.
    pub length: i64,
    /// What delays the job, by process: arrivals and ticks, switches included. Its own job, and those before
    /// it, are part of it.
    pub shares: Vec<Share>,
    /// What of lower priority delays it.
    pub blocking: Blocking,
}

/// How much a process contributes to a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Which process.
    pub process: ProcessId,
    /// Its arrivals until the job ends.
    pub arrivals: u64,
    /// Their time in ticks.
    pub ticks: i64,
}

/// Why there is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// All processes of its priority or a higher one need more than the core has.
    Overload {
        /// Their load, in millionths of the core; `i64::MAX` if nothing limits the arrivals of one.
        millionths: i64,
    },
    /// The search took too many steps: the load is nearly that of the core.
    TooLong,
}

/// A process that delays the one under analysis, or that one.
struct Load {
    process: ProcessId,
    /// Of the switches for each job, in ticks.
    switches: i64,
    /// Also after the job has started.
    above: bool,
}

struct Search<'a> {
    facts: &'a Facts,
    own: Load,
    loads: Vec<Load>,
    blocked: i128,
    questions: usize,
}

/// The bound of a process on a core.
///
/// # Errors
/// Why there is none.
pub fn window(facts: &Facts, of: ProcessId, core: CoreId) -> Result<Window, Failure> {
    let Some(own) = facts.processes.get(of) else { return Err(Failure::TooLong) };
    let switch_back = facts.processes.iter().filter(|process| process.is_on(core));
    let switch_back = switch_back.map(|process| process.resume_switch).max().unwrap_or(0);
    let preemption = if own.seen.yields > 0 { Preemption::Full } else { own.process.preemption };
    let mut loads = Vec::new();
    for (id, process) in facts.processes.iter().enumerate() {
        let lower = process.process.compare(&own.process) == Some(Ordering::Less);
        if id != of && process.is_on(core) && !lower {
            let switches = process.start_switch.saturating_add(switch_back);
            let above = process.process.takes_from(&own.process, preemption);
            loads.push(Load { process: id, switches, above });
        }
    }
    let blocking = blocking(facts, of, core);
    let blocked = i128::from(blocking.total());
    let own = Load { process: of, switches: own.start_switch, above: false };
    Search { facts, own, loads, blocked, questions: 0 }.run(blocking)
}

impl Search<'_> {
    fn run(mut self, blocking: Blocking) -> Result<Window, Failure> {
        self.check_load()?;
        let of = self.own.process;
        let length = self.solve(self.blocked + self.work(&self.own, 1), |search, length| {
            let arrivals = search.arrivals(of, length, false);
            let own = search.blocked.saturating_add(search.work(&search.own, arrivals));
            own.saturating_add(search.demand(length, false))
        })?;
        let mut ends: Vec<i64> = Vec::new();
        let (mut bound, mut job, mut started, mut latest) = (0, 1, 0, 0);
        for number in 1u64.. {
            let arrival = self.facts.processes.get(of).map_or(0, |own| own.arrivals.least_distance(number));
            let within = match self.facts.instants {
                Instants::Rounded => arrival <= length,
                Instants::Exact => arrival < length,
            };
            if number > 1 && !within {
                break;
            }
            let before = self.blocked + self.work(&self.own, number - 1);
            // No job starts before the one in front of it.
            let from = before.max(i128::from(latest));
            let start =
                self.solve(from, |search, start| before.saturating_add(search.demand(start, true)))?;
            latest = start;
            let alone = i128::from(start) - before + self.blocked + self.work(&self.own, number);
            let end =
                self.solve(alone, |search, end| alone.saturating_add(search.after_start(start, end)))?;
            ends.push(end);
            let response = end.saturating_sub(arrival);
            if response > bound || number == 1 {
                (bound, job, started) = (response, number, start);
            }
        }
        let end = ends.get(usize::try_from(job - 1).unwrap_or(usize::MAX)).copied().unwrap_or(0);
        let mut shares = vec![self.share(&self.own, job)];
        for load in &self.loads {
            let arrivals = self.arrivals(load.process, started, true);
            let later = if load.above { self.arrivals(load.process, end, false) } else { 0 };
            shares.push(self.share(load, arrivals.max(later)));
        }
        shares.retain(|share| share.arrivals > 0);
        Ok(Window { bound, job, ends, length, shares, blocking })
    }

    /// Whether the window ends at all.
    fn check_load(&self) -> Result<(), Failure> {
        // In millionths of millionths, so that many small loads are not lost by rounding.
        let fine = MILLION * MILLION;
        let mut parts: i128 = 0;
        for load in self.loads.iter().chain([&self.own]) {
            let Some(process) = self.facts.processes.get(load.process) else { continue };
            // As many jobs as there are sums of, or all that arrive in a period of the long run.
            let jobs = (process.demand.len() as u64).max(1);
            let cost = self.work(load, jobs);
            let Some((arrivals, ticks)) = process.arrivals.long_run() else {
                if cost > 0 {
                    return Err(Failure::Overload { millionths: i64::MAX });
                }
                continue;
            };
            let all = cost.saturating_mul(i128::from(arrivals));
            let ticks = i128::from(ticks).saturating_mul(i128::from(jobs));
            let part = all.checked_mul(fine).map_or(all / ticks.saturating_mul(fine), |all| all / ticks);
            parts = parts.saturating_add(part);
        }
        let millionths = i64::try_from(parts / MILLION).unwrap_or(i64::MAX);
        if i128::from(millionths) > MILLION { Err(Failure::Overload { millionths }) } else { Ok(()) }
    }

    /// The least time from `from` on that is not less than what is to be done until then.
    fn solve(&mut self, from: i128, work: impl Fn(&Self, i64) -> i128) -> Result<i64, Failure> {
        let mut at = from;
        loop {
            self.questions = self.questions.saturating_add(self.loads.len() + 1);
            if self.questions > MOST_QUESTIONS || at > LONGEST {
                return Err(Failure::TooLong);
            }
            let now = i64::try_from(at).map_err(|_| Failure::TooLong)?;
            let next = work(self, now);
            if next <= at {
                return Ok(now);
            }
            at = next;
        }
    }

    /// Arrivals in a window: with both its ends, or without its end if times are exact.
    fn arrivals(&self, process: ProcessId, length: i64, closed: bool) -> u64 {
        let Some(process) = self.facts.processes.get(process) else { return 0 };
        if closed || self.facts.instants == Instants::Rounded {
            process.arrivals.most_arrivals_closed(length)
        } else {
            process.arrivals.most_arrivals(length)
        }
    }

    /// The greatest time of so many consecutive jobs, with their switches.
    fn work(&self, load: &Load, jobs: u64) -> i128 {
        let Some(process) = self.facts.processes.get(load.process) else { return 0 };
        let switches = i128::from(jobs) * i128::from(load.switches);
        let work = process.work(jobs).saturating_add(switches);
        if jobs == ENDLESS && work > 0 { i128::MAX / 4 } else { work }
    }

    /// What all others need in a window.
    fn demand(&self, length: i64, closed: bool) -> i128 {
        let of = |load: &Load| self.work(load, self.arrivals(load.process, length, closed));
        self.loads.iter().fold(0i128, |sum, load| sum.saturating_add(of(load)))
    }

    /// What arrives after the start and delays the job all the same.
    fn after_start(&self, start: i64, end: i64) -> i128 {
        let above = self.loads.iter().filter(|load| load.above);
        above.fold(0i128, |sum, load| {
            let before = self.arrivals(load.process, start, true);
            let all = self.arrivals(load.process, end, false).max(before);
            sum.saturating_add(self.work(load, all) - self.work(load, before))
        })
    }

    fn share(&self, load: &Load, arrivals: u64) -> Share {
        let ticks = super::curve::clamped(self.work(load, arrivals));
        Share { process: load.process, arrivals, ticks }
    }
}
