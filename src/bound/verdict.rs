//! A bound for each process, with its measured worst: what is assumed, and which assumptions the
//! recording contradicts. Not how a bound is found (see `analysis`).

use super::analysis::{Failure, Window, window};
use super::blocking::Reason;
use super::facts::{CoreId, Facts, Job, Kind, Preemption, ProcessFacts};
use super::order::ProcessId;
use crate::words::words;

/// What is known of the response times of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskBound {
    /// Which process.
    pub process: ProcessId,
    /// Its core, if it has exactly one.
    pub core: Option<CoreId>,
    /// The bound of the response time of each job, from its arrival to its end. A job is an instance, or what
    /// an instance does from one wait to the next.
    pub bound: Bound,
    /// The slowest job that was measured and that the bound holds for: all that delayed it was recorded.
    pub measured: Option<Job>,
    /// What the bound holds for as long as it is true.
    pub assumptions: Vec<Assumption>,
    /// What the recording says against that.
    pub contradictions: Vec<Contradiction>,
}

/// A bound, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bound {
    /// The bound and how it comes about.
    Ticks(Window),
    /// There is none: the load is too great.
    Unbounded(Failure),
    /// The analysis does not say anything about such a process.
    NotCovered(Uncovered),
}

/// Why a process is not covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncovered {
    /// It ran on several cores.
    Migrates,
    /// It never ran, and its core is not known.
    NoCore,
    /// It never ran, so that its execution time is not known.
    NeverRan,
}

words! {
    /// What is assumed. A bound from a recording is one for all that behaves as the recording did.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Assumption {
        /// Nothing ever arrives in a denser way than it was seen to.
        Arrivals = "arrivals",
        /// No job needs its core for longer than the longest one that was seen, and no section either.
        Execution = "execution",
        /// No switch of the core takes longer than the longest one that was seen; a job costs two at most.
        Switches = "switches",
        /// Each process has one core.
        Partitioned = "one_core",
        /// The process that goes first is the one with the highest priority; of the same one, the first to
        /// arrive.
        Priorities = "priorities",
        /// Who took the core from another one, or passed it, has the higher priority.
        SeenPriorities = "seen_priorities",
        /// Priorities that are not known are taken to be equal to all others.
        UnknownPriorities = "unknown_priorities",
        /// At most one process of lower priority delays a busy window, with one section.
        OneSection = "one_section",
        /// What of lower priority was seen to keep the core without a reason does so once for each busy
        /// window.
        SeenBlocking = "seen_blocking",
        /// Whether it may be preempted is not known; it is taken to be so.
        Preemptable = "preemptable",
        /// A process that waits is taken as several jobs, one for each part between waits. The time that it
        /// waits is in no bound.
        Segments = "segments",
        /// No job spins for a lock for longer than it was seen to.
        Spinning = "spinning",
        /// The activations are not in the recording: the start stands for it.
        Unactivated = "start_is_activation",
        /// The busy window has more arrivals than were seen in a row: distances are extrapolated.
        Extrapolated = "extrapolated",
    }
}

impl Assumption {
    /// A sentence for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Arrivals => "nothing arrives more densely than in the recording",
            Self::Execution => "no execution and no section is longer than the longest one recorded",
            Self::Switches => "no switch between processes takes longer than the longest one recorded",
            Self::Partitioned => "no process changes its core",
            Self::Priorities => "the ready process with the highest priority runs, equal ones in their order",
            Self::SeenPriorities => {
                "who took the core from another process, or passed it, and never the reverse, goes first"
            }
            Self::UnknownPriorities => {
                "processes whose order nobody describes, and no event shows, delay each other"
            }
            Self::OneSection => "processes of lower priority block with at most one section",
            Self::SeenBlocking => "blocking without a known reason is never longer than recorded",
            Self::Preemptable => "a process is preemptable if nothing says the contrary",
            Self::Segments => "each part between waits is bounded on its own, without the waits",
            Self::Spinning => "no wait for a spinlock is longer than the longest one recorded",
            Self::Unactivated => "the start stands for the activation, which is not recorded",
            Self::Extrapolated => {
                "distances of more arrivals than recorded in a row follow from shorter ones"
            }
        }
    }
}

/// An assumption that the recording contradicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contradiction {
    /// Which one.
    pub of: Assumption,
    /// Who does it, if that is a process.
    pub by: Option<ProcessId>,
    /// How often, or for how many ticks; `what` says it.
    pub amount: i64,
    /// What was seen.
    pub what: Evidence,
}

/// What was seen against an assumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// A measured response is so many ticks above the bound, and nothing else explains it.
    Exceeded,
    /// A process of lower priority started so often although this one was ready.
    Overtaken,
    /// Processes of lower priority ran for so many ticks while a job was ready, which no section explains,
    /// and which is more than two switches.
    Inversion,
    /// So many jobs of a process ran on several cores.
    Migrated,
    /// Another task ran so often while this one, which cannot be preempted, was.
    Yielded,
    /// So many jobs of a process that goes first were cut, and may have been longer.
    Incomplete,
    /// So many events came in the wrong order of time.
    Disorder,
}

impl TaskBound {
    /// The bound divided by the measured worst response, if there are both and the response took time. A
    /// statistic, and so not a time.
    pub fn ratio(&self) -> Option<f64> {
        let (Bound::Ticks(window), Some(job)) = (&self.bound, &self.measured) else { return None };
        (job.response() > 0).then(|| window.bound as f64 / job.response() as f64)
    }

    /// Whether a measured response is above the bound.
    pub fn is_exceeded(&self) -> bool {
        match (&self.bound, &self.measured) {
            (Bound::Ticks(window), Some(job)) => window.bound < job.response(),
            _ => false,
        }
    }
}

/// The bounds of all processes.
pub fn bounds(facts: &Facts) -> Vec<TaskBound> {
    facts.processes.iter().enumerate().map(|(id, process)| bound(facts, id, process)).collect()
}

fn bound(facts: &Facts, id: ProcessId, process: &ProcessFacts) -> TaskBound {
    let mut cores = process.cores.iter().copied();
    let core = cores.next().filter(|_| cores.next().is_none());
    let bound = match core {
        None if process.cores.is_empty() => Bound::NotCovered(Uncovered::NoCore),
        None => Bound::NotCovered(Uncovered::Migrates),
        Some(_) if process.most == 0 && process.seen.jobs == 0 => Bound::NotCovered(Uncovered::NeverRan),
        Some(core) => window(facts, id, core).map_or_else(Bound::Unbounded, Bound::Ticks),
    };
    let mut of = TaskBound {
        process: id,
        core,
        bound,
        measured: process.seen.worst,
        assumptions: assumptions(facts, id, process, core),
        contradictions: Vec::new(),
    };
    if let Bound::Ticks(window) = &of.bound {
        if matches!(window.blocking.by, Some((_, Reason::Seen))) {
            of.assumptions.push(Assumption::SeenBlocking);
        }
        let is_beyond = |share: &super::analysis::Share| {
            let seen = facts.processes.get(share.process).and_then(|process| process.arrivals.seen());
            seen.is_some_and(|seen| share.arrivals > seen)
        };
        if window.shares.iter().any(is_beyond) {
            of.assumptions.push(Assumption::Extrapolated);
        }
    }
    of.assumptions.sort_unstable();
    of.contradictions = contradictions(facts, process, &of);
    of
}

/// The processes that delay, or may delay, those of a core.
fn of_core(facts: &Facts, core: Option<CoreId>) -> impl Iterator<Item = (ProcessId, &ProcessFacts)> {
    let all = facts.processes.iter().enumerate();
    all.filter(move |(_, process)| core.is_some_and(|core| process.is_on(core)))
}

fn assumptions(facts: &Facts, of: ProcessId, own: &ProcessFacts, core: Option<CoreId>) -> Vec<Assumption> {
    use Assumption as A;
    let mut all = vec![A::Arrivals, A::Execution, A::Switches, A::Partitioned, A::Priorities];
    let any = |test: &dyn Fn(&ProcessFacts) -> bool| of_core(facts, core).any(|(_, process)| test(process));
    let peers =
        of_core(facts, core).filter(|(id, other)| *id != of && other.process.kind == own.process.kind);
    let (mut seen, mut unknown) = (false, false);
    for (_, other) in peers {
        let is_described = own.process.priority.is_some() && other.process.priority.is_some();
        let is_known = own.process.compare(&other.process).is_some();
        seen |= is_known && !is_described;
        unknown |= !is_known;
    }
    if seen {
        all.push(A::SeenPriorities);
    }
    if unknown {
        all.push(A::UnknownPriorities);
    }
    if own.process.kind == Kind::Task && any(&|process| !process.sections.is_empty()) {
        all.push(A::OneSection);
    }
    if any(&|process| process.process.preemption == Preemption::Unknown) {
        all.push(A::Preemptable);
    }
    if any(&|process| process.seen.waits > 0) {
        all.push(A::Segments);
    }
    if any(&|process| process.spinning > 0) {
        all.push(A::Spinning);
    }
    if any(&|process| process.seen.unactivated > 0) {
        all.push(A::Unactivated);
    }
    all
}

fn contradictions(facts: &Facts, own: &ProcessFacts, of: &TaskBound) -> Vec<Contradiction> {
    use Assumption as A;
    let mut all = Vec::new();
    let mut add = |of, by, amount: i64, what| all.push(Contradiction { of, by, amount, what });
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    for (by, times) in &own.seen.overtaken {
        add(A::Priorities, Some(*by), count(*times), Evidence::Overtaken);
    }
    // A kernel ends its work on behalf of the process that it takes the core from: that much is a switch.
    let switch = |process: &ProcessFacts| process.start_switch.max(process.resume_switch);
    let switch = of_core(facts, of.core).map(|(_, process)| switch(process)).max().unwrap_or(0);
    if let Bound::Ticks(window) = &of.bound
        && let Some((by, Reason::Seen)) = window.blocking.by
        && window.blocking.longest > switch.saturating_mul(2)
    {
        add(A::OneSection, Some(by), window.blocking.longest, Evidence::Inversion);
    }
    if own.seen.yields > 0 {
        add(A::Preemptable, None, count(own.seen.yields), Evidence::Yielded);
    }
    for (id, process) in of_core(facts, of.core) {
        let goes_first = process.process.compare(&own.process) != Some(std::cmp::Ordering::Less);
        if process.cores.len() > 1 {
            add(A::Partitioned, Some(id), count(process.seen.migrations), Evidence::Migrated);
        }
        if of.is_exceeded() && goes_first && process.seen.incomplete > 0 {
            add(A::Execution, Some(id), count(process.seen.incomplete), Evidence::Incomplete);
        }
    }
    if own.cores.len() > 1 {
        add(A::Partitioned, Some(of.process), count(own.seen.migrations), Evidence::Migrated);
    }
    let early: u64 = facts.processes.iter().map(|process| process.seen.early).sum();
    if of.is_exceeded() && early > 0 {
        add(A::Arrivals, None, count(early), Evidence::Disorder);
    }
    if let (true, Bound::Ticks(window), Some(job)) = (of.is_exceeded(), &of.bound, &of.measured) {
        // What is known about the slowest job itself says where to look.
        let of = match job {
            job if job.inversion > window.blocking.explained => A::OneSection,
            job if job.cost > own.most => A::Execution,
            _ => A::Priorities,
        };
        add(of, None, job.response().saturating_sub(window.bound), Evidence::Exceeded);
    }
    all
}
