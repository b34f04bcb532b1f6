//! Bounds of response times: scheduling events of a recording, or a timing model → for each process, how long
//! its jobs take at most, what that assumes, and where the recording contradicts it. Knows no database, no
//! files and no text: the caller brings the events and the names, and prints.
//!
//! # From events to bounds
//!
//! [`Observer`] takes the events in the order of time, and [`Observer::finish`] gives [`Facts`]: for each
//! process its arrivals as an event model (`Curve`), the longest execution, sections with locks, switches
//! of the core, and the slowest jobs. A timing model fills the same facts by hand
//! ([`ProcessFacts::of_model`]). [`bounds`] makes a [`TaskBound`] of each process. For the event model of any
//! other stream, such as a stimulus, there is `Distances`; `Curve::fit` has its period and jitter.
//!
//! # What a bound says
//!
//! A bound from a recording holds for each schedule in which nothing arrives more densely, and nothing takes
//! longer, than it was seen to, also where arrivals meet in another way than they did in the recording.
//! That makes it a bound of the recording itself, and not one of the system: another recording may be denser.
//! [`Assumption`] names all that is assumed. A measured response above its bound says that one of them is
//! wrong.
//!
//! # What is covered
//!
//! * Fixed priorities on each core; ISRs above all tasks; jobs of equal priority in any order. Where
//!   priorities are not described, a first look at the events finds the [`Order`] that they show.
//! * Preemptive and non-preemptive processes, and groups with an internal resource: preemption thresholds.
//! * Resources with immediate ceilings; other blocking as far as it was seen.
//! * Several pending activations; any arrival curves, so also bursts.
//! * Switches: time in which a core runs nothing although a process is ready. Each job costs one to it and
//!   one back.
//! * Processes that wait for events: each part between waits is a job of its own.
//! * Spinlocks: spinning is execution time, so that the longest one seen counts for each job. Remote blocking
//!   is not derived from the sections of the other cores.
//! * Not covered: processes that change their core; time in which the kernel works on behalf of a process is
//!   the time of that process.
//!
//! # Why no crate
//!
//! response-time-analysis 0.3.2 (MIT, B. Brandenburg) has the analyses of the literature, but no preemption
//! thresholds, and does not say what a bound is made of. It panics on an empty curve and on overflow, which
//! the content of a recording must not cause. Some numbers of its tests are tests here.

mod analysis;
mod blocking;
mod curve;
mod distances;
mod facts;
mod fit;
mod observe;
mod order;
mod verdict;

pub use analysis::Failure;
pub use blocking::{Blocking, Reason};
pub use facts::{CoreId, Facts, Job, Kind, LockId, LockKind, Preemption, Process, ProcessFacts};
pub use observe::{Action, Event, Observer, Options};
pub use order::{Order, Place, ProcessId};
pub use verdict::{Assumption, Bound, Contradiction, Evidence, TaskBound, Uncovered, bounds};

// What the literature is compared with, and windows of arrivals.
#[cfg(test)]
use {
    analysis::Window,
    curve::{Curve, ENDLESS},
    distances::Distances,
    facts::{Instants, LockFacts, Seen},
};

#[cfg(test)]
mod tests;
