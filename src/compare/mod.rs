//! Compares two BTF traces: where they differ, how, and whether the difference is relevant. Pure functions
//! over two streams of [`Record`](crate::btf::Record)s; no files, no Parquet, no SQL, no printing. Not a
//! comparison of metrics, and no check of either trace against the specification.
//!
//! # Levels
//!
//! * [`Level::Exact`] is the definition of the thesis, chapter 5.1.3: same length, and equal event by event.
//!   A difference is *temporal* (times differ) or *semantic* (any other field differs).
//! * [`Level::Order`]: the thesis found that the total order is the wrong order for more than one core
//!   (figure 5.16): when a task activates a task on another core, the position of the start among the actions
//!   of the first task depends on the time a service takes. Here only the order within each *sequence*
//!   counts; times do not.
//! * [`Level::Timing`]: equal at level `order`, and the times of each pair are within a [`Tolerance`].
//!
//! At the levels `order` and `timing`, types and actions are compared by meaning: `ISR` is `I` in any case.
//!
//! # The sequences of level `order`
//!
//! | sequence | its events |
//! |---|---|
//! | process instance | every event whose target it is; every event whose source it is |
//! | core | start, resume, run, poll, poll_parking, preempt, wait, park and terminate of processes with this core as source; core events; every event caused by a process instance while it is on this core |
//! | stimulus instance | its trigger, and what it causes: activate, mtalimitexceeded, set_event, write |
//! | entity to itself | events whose source is their target: states of a semaphore, a scheduler, triggers of a stimulus |
//! | environment to entity | events from `SIM` or from any source with a negative instance, per target; the same for instruction blocks, whose source is a signal |
//!
//! An event in several sequences is compared in each. Traces are equal if each sequence is. Consequences:
//!
//! * A signal, semaphore or OS event that two cores use is not one sequence: their accesses may interleave
//!   freely.
//! * `release` and `release_parking` name the core a process was on *last*; they are caused elsewhere, so
//!   they are not in the sequence of that core. Migration notices are not either.
//! * A process is on a core from start, resume, run, poll or poll_parking to preempt, wait, park or
//!   terminate. Before the first of these (a trace may begin mid-execution) its events are in its own
//!   sequence only.
//! * Entities are identified by name; a missing instance counts as an instance of its own.
//!
//! # Alignment after a difference
//!
//! Each event is paired in one sequence, its *home*: the target if that is a process, else the source (the
//! first sequence that applies). Where the two sides differ, the pending events are aligned at the smallest
//! cost until both sides agree again, so that an inserted event is one difference and not a million. In the
//! other sequences of an event only the position of the pair is compared, so that an event at a different
//! place is reported once. An event that both traces have at different positions, with at most 32 pairs in
//! between, is one difference of [`Moved`](result::DifferenceKind::Moved); further apart they are two: one
//! event was removed and one was added. An event that differs in up to three fields is one of
//! [`Changed`](result::DifferenceKind::Changed), also if the change puts it into another sequence, provided
//! that its time is the same. Times decide which of several equal events is missing. The verdict *equal* does
//! not depend on any of this: it is given only if no alignment was necessary.
//!
//! # Memory
//!
//! The side with the earlier time is read first, so that not many events wait for a partner. An event that
//! has waited for [`CompareOptions::pending_limit`] events of its side is given up and counted
//! ([`Comparison::given_up`]). Names stay in memory (distinct names, not events). An instance without an
//! event for long (16 Ki events; on a core: the limit) is forgotten: its next event counts as the first of an
//! instance, and it is on no core until an event says so.

mod align;
mod collapse;
mod engine;
mod event;
mod feed;
mod index;
mod options;
mod orphans;
mod report;
mod result;
mod sequence;
mod settle;
mod side;
#[cfg(test)]
mod tests;

pub use options::{CompareOptions, Level, Tolerance};
pub use result::{Comparison, Difference, Line};

use crate::btf::Records;
use crate::error::Result;

/// Compares two traces, `left` (A) and `right` (B), given in the order of their files.
pub fn compare(
    left: &mut dyn Records,
    right: &mut dyn Records,
    options: &CompareOptions,
) -> Result<Comparison> {
    engine::Engine::new(options).run(left, right)
}
