//! Regressions: whether a metric of an entity is another one in recordings of a new build than in those of
//! an old one, and what made it so. Not where samples come from, and not how results are printed.
//!
//! # What is known
//!
//! Samples of a metric in the order of time, per recording. Neighbours depend on each other, often
//! strongly: a schedule repeats, load comes in bursts, clocks beat. So a test that takes samples as
//! independent is wrong in both directions. Two recordings of the same build differ as well: where tasks
//! are in their periods at the start is up to the run. What differs from run to run can only be seen in
//! several recordings.
//!
//! # What is compared
//!
//! The mean, as response times are sums and means of sums are sums of means: the parts of a response
//! explain it ([`first_cause`]). The 99th percentile, for slow instances that the mean hides. The greatest
//! sample only with many recordings, as it is one number of each. Not the median: of the few-valued samples
//! of a schedule it jumps.
//!
//! # How it is tested
//!
//! * **Many recordings** on both sides ([`Basis::Recordings`]): a recording is the unit, the test is a
//!   studentised permutation test of one number per recording. Nothing is assumed of the samples inside.
//! * **Few recordings** ([`Basis::Blocks`]): blocks of consecutive instances are the unit. Each recording
//!   is summed up in 64 to 127 blocks of equal counts while it is read. The error of the mean is that of
//!   batch means, at several lengths of batches, of which the most cautious counts. The p-value comes from
//!   a studentised circular block bootstrap of the blocks. If recordings of one side differ among each
//!   other by more than that error, the difference between recordings is the error, and the p-value that of
//!   Student's t with the degrees of freedom of so few recordings.
//! * **Constants** ([`Basis::Constants`]): two constants that differ did change.
//! * **The 99th percentile** of few recordings: the error of the share of samples beyond it, from counts
//!   per block.
//!
//! [`judge()`] corrects for the number of tests, and asks whether a change matters. The sources of each
//! method are where its code is. [`change_points`] looks for changes in a history.
//!
//! # What is claimed
//!
//! If nothing changed, the probability that anything is called changed is at most [`Gate::alpha`], as far
//! as the recordings are what the basis says: for blocks, that another run of the same build would not
//! differ by more than its blocks do. Where it does, a few recordings show it, unless they are alike by
//! chance: of unchanged builds whose runs differ, up to a tenth has a p-value below 1 % with one recording
//! and two, a twentieth with two and two, a fiftieth with three and three.
//!
//! p-values and intervals agree: a difference has a p-value below 1 − [`Gate::coverage`] if, and only if, 0
//! is outside of its interval; not so for the 99th percentile of few recordings, where each has a method of
//! its own. Statistics are floating-point numbers, times of samples are whole ticks.

mod bins;
mod blocks;
mod cause;
mod compare;
mod gate;
mod history;
mod judge;
mod normal;
mod quantile;
mod random;
mod recordings;
mod replicates;
mod spread;
mod summary;
mod within;

pub use cause::{Cause, Origin, Part, Response, first_cause};
pub use compare::{Basis, Comparison, Effect, Figures, Verdict, compare};
pub use gate::{Direction, Gate, Matters, Statistic};
#[cfg(test)]
pub use history::change_point;
pub use history::change_points;
pub use judge::judge;
pub use summary::{Side, Summary};
pub use within::Hindrance;

#[cfg(test)]
mod tests;
