//! Requirements in time: templates over events and states, judged in one pass over a recording. Not for
//! reading events or requirements files, and not for bounds on metrics (see `require`).
//!
//! # What is judged
//!
//! A *recording* is a sequence of records, each with a time in ticks; times never fall. A record is an event
//! of a symbol, or the begin or the end of a state. Records of the same tick are ordered as they come: `x` is
//! *before* `y` if `x` came first. A recording has two *edges*, its begin and its end, and *gaps*.
//!
//! A *completion* of a recording is what may have happened: the records, and any number of hidden ones,
//!
//! * before the begin edge, with times up to it;
//! * in a gap: after the last record before [`Monitor::gap`] was called, before the first record whose time
//!   is the end of the gap or later, with times from its begin to its end, both included; only of symbols
//!   that may happen on the core of the gap (see [`Monitor::place`]);
//! * after the end edge, with times from it on.
//!
//! The begins and ends of a state alternate in every completion.
//!
//! A template makes *obligations*, each of which is kept or violated in a completion; [`Template`] says
//! which. An obligation that a record begins is
//!
//! * *kept* if it is kept in every completion,
//! * *violated* if it is violated in every completion,
//! * *open* if neither, and records after the end edge can decide it,
//! * *unknown* otherwise: a gap or an edge hides what would decide it.
//!
//! An open or unknown obligation is *missing* if the records alone do not keep it. A stretch of the recording
//! is *blind* if a hidden record in it may begin an obligation that is violated. The verdict has four values,
//! like those of RV-LTL (Bauer, Leucker, Schallhart 2010): two are certain, two are presumptions.
//!
//! | verdict | when |
//! |---|---|
//! | [`Verdict::Violated`] | an obligation is violated |
//! | [`Verdict::MayStillBeKept`] | none is, and one is missing |
//! | [`Verdict::MayStillBeViolated`] | none of the above; one is open or unknown, or a stretch is blind |
//! | [`Verdict::Kept`] | all obligations are kept, and no stretch is blind; also if there is none |
//!
//! So `Kept` and `Violated` hold in every completion. The others say what the records alone suggest. It is
//! not noticed if each completion violates another obligation.
//!
//! # Cost
//!
//! A record that no template names costs a look into a table. What is open is kept in memory, and nothing
//! else; per template:
//!
//! * `Response`: the `a` of the last `within` ticks that no `b` followed;
//! * `Rate`: the last `at_most` events of a window;
//! * `Absence`, `Alternation`: a few words;
//! * `Hold`: a few words, and up to as many obligations as violations are kept (see [`Monitor::keep`]), while
//!   it is unknown whether the state is held;
//! * the first violations, up to a number; later ones are only counted.
//!
//! Differences of times are exact over the whole range of `i64`.

mod absence;
mod alternation;
mod hold;
mod monitor;
mod rate;
mod response;
mod template;
mod verdict;

pub use monitor::{Monitor, Refused};
pub use template::{During, Mistake, Symbol, Template};
pub use verdict::{Counts, Judgement, Verdict, Violation, Witness};

use template::{Hidden, Role};
use verdict::Tally;

/// The ticks from one time to a later one, exact for all of `i64`.
fn ticks(from: i64, to: i64) -> u64 {
    debug_assert!(from <= to);
    // The difference modulo 2^64 is the difference, as it is from 0 to 2^64 - 1.
    to.wrapping_sub(from) as u64
}

/// What is known of a state at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Yes,
    No,
    Unknown,
}

#[cfg(test)]
mod tests;
