//! Timing metrics: the rows of their SQL become samples, samples become statistics and histograms, by entity
//! and window of time. Not for what a metric measures, which is in its SQL (see [`crate::library`]), and not
//! for running SQL (see [`crate::engine`]).

mod absent;
mod across;
mod cells;
mod evaluate;
mod filter;
mod grasp_measurement;
mod histogram;
mod known;
#[cfg(feature = "cluster")]
pub(crate) mod passed;
mod regression;
mod samples;
mod segments;
mod span;
mod statistics;
mod summary;
mod values;

pub(crate) use absent::{absent, why_absent};
pub use across::Across;
#[cfg(feature = "cluster")]
pub(crate) use evaluate::Asked;
pub use evaluate::{histograms, summaries, summary_within};
pub use filter::MetricFilter;
pub(crate) use grasp_measurement::tick_of;
pub use grasp_measurement::{MEASUREMENT, MEASUREMENT_SQL, measurement};
pub use histogram::Bin;
pub(crate) use known::{check_entity, is_of};
pub use regression::{MetricComparison, MetricDelta, compare_metrics};
pub use summary::{Histogram, bins_of, in_unit};

#[cfg(test)]
mod tests;
