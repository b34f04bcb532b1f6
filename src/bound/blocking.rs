//! How long processes of lower priority delay a process. Not processes of its own priority or a higher one
//! (see `analysis`).
//!
//! With immediate ceilings, and without suspension in a section, at most one process of lower priority delays
//! a busy window: the one that had the core when the window began, until it gives up its ceiling or its
//! threshold. What was seen counts as well: kernels finish their services on behalf of the process that
//! called them, and trace tools do not show all that keeps a core.

use super::facts::{CoreId, Facts, Instants, LockId, LockKind, Preemption, Process, ProcessFacts};
use super::order::ProcessId;
use std::cmp::Ordering;

/// The longest delay by processes of lower priority, in one busy window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Blocking {
    /// Until the one that has the core gives it up, in ticks.
    pub longest: i64,
    /// Who that is, and why it keeps the core; `None` if nobody does.
    pub by: Option<(ProcessId, Reason)>,
    /// The longest switch to a process of lower priority, in ticks: one may be under way.
    pub switch: i64,
    /// The longest that follows from sections, thresholds and non-preemptive processes alone, in ticks.
    pub explained: i64,
}

impl Blocking {
    /// All of it, in ticks.
    pub fn total(&self) -> i64 {
        self.longest.saturating_add(self.switch)
    }
}

/// Why a process of lower priority keeps the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It holds this resource, whose ceiling is high enough.
    Section(LockId),
    /// It cannot be preempted, or only from above the ceiling of its group.
    Threshold,
    /// Nothing explains it, but it was seen to keep the core for so long.
    Seen,
}

/// The blocking of a process on a core.
pub fn blocking(facts: &Facts, of: ProcessId, core: CoreId) -> Blocking {
    let Some(own) = facts.processes.get(of) else { return Blocking::default() };
    let mut found = Blocking::default();
    // With exact times, what blocks has begun a tick before.
    let begun = i64::from(facts.instants == Instants::Exact);
    let is_lower = |process: &Process| process.compare(&own.process) == Some(Ordering::Less);
    let lower = facts.processes.iter().enumerate();
    for (id, process) in lower.filter(|(_, process)| process.is_on(core) && is_lower(&process.process)) {
        found.switch = found.switch.max(process.start_switch).max(process.resume_switch);
        let keeps = !matches!(process.process.preemption, Preemption::Full | Preemption::Unknown)
            && !own.process.takes_from(&process.process, process.process.preemption);
        if keeps {
            raise(&mut found, process.most.saturating_sub(begun), id, Reason::Threshold);
        }
        for (lock, longest) in &process.sections {
            if is_kept_by(facts, *lock, own, core) {
                raise(&mut found, longest.saturating_sub(begun), id, Reason::Section(*lock));
            }
        }
    }
    found.explained = found.longest;
    // A window may begin with a job of higher priority, and that is the one that was seen to be delayed.
    let above = facts.processes.iter().filter(|process| {
        process.is_on(core) && process.process.compare(&own.process) != Some(Ordering::Less)
    });
    for (by, longest) in above.flat_map(|process| &process.seen.inversions) {
        if facts.processes.get(*by).is_some_and(|process| is_lower(&process.process)) {
            raise(&mut found, *longest, *by, Reason::Seen);
        }
    }
    if own.seen.inversion > found.longest {
        let most = own.seen.inversions.iter().max_by_key(|(_, longest)| **longest);
        if let Some((by, _)) = most {
            raise(&mut found, own.seen.inversion, *by, Reason::Seen);
        }
    }
    found
}

fn raise(found: &mut Blocking, longest: i64, id: ProcessId, reason: Reason) {
    if longest > found.longest {
        found.longest = longest;
        found.by = Some((id, reason));
    }
}

/// Whether a process cannot take its core from one that holds a lock: its ceiling on the core is the highest
/// priority of its users there.
fn is_kept_by(facts: &Facts, lock: LockId, own: &ProcessFacts, core: CoreId) -> bool {
    let Some(lock) = facts.locks.get(lock).filter(|lock| lock.kind == LockKind::Ceiling) else {
        return false;
    };
    let users = lock.users.iter().filter_map(|user| facts.processes.get(*user));
    let mut here = users.filter(|user| user.is_on(core));
    here.any(|user| user.process.compare(&own.process) != Some(Ordering::Less))
}
