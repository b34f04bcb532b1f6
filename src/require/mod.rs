//! Timing requirements: a file that says what a recording has to keep, and for each requirement the worst
//! case in the recording, when it was, and how far it is from the bound. Not for conformance to BTF.

mod bound;
mod file;
mod templates;
pub use file::Requirements;

// What measures needs the engine; the text of a file is read without it.
#[cfg(feature = "engine")]
mod cut_off;
#[cfg(feature = "engine")]
mod deadlines;
#[cfg(feature = "engine")]
mod in_time;
#[cfg(feature = "engine")]
mod known;
#[cfg(feature = "engine")]
mod load;
#[cfg(feature = "engine")]
mod measure;
#[cfg(feature = "cluster")]
mod passed;
#[cfg(feature = "engine")]
mod places;
#[cfg(feature = "engine")]
mod report;
#[cfg(feature = "engine")]
mod rows;
#[cfg(feature = "engine")]
mod synchronisation;
#[cfg(feature = "engine")]
mod synchronised;
#[cfg(feature = "engine")]
mod wanted;
#[cfg(feature = "engine")]
mod watch;

#[cfg(feature = "engine")]
pub use deadlines::{Deadlines, deadlines};
#[cfg(feature = "engine")]
pub use known::{Known, known_chains, with_silent};
#[cfg(feature = "engine")]
pub use measure::measure;
#[cfg(feature = "cluster")]
pub(crate) use passed::{outcome_columns, outcome_schema, outcomes_of};
#[cfg(feature = "engine")]
pub use report::{junit, table};

use crate::words::words;
use serde::{Deserialize, Serialize};

words! {
    /// Whether a requirement is kept. `as_str` gives what reports say.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict {
        /// By every sample that is decided; of a template, by everything.
        Kept = "kept",
        /// At least one sample lies beyond the bound.
        Violated = "violated",
        /// What a gap or the end of the recording hides, or what comes after it, can keep it. The records
        /// alone do not.
        MayStillBeKept = "may still be kept",
        /// What a gap or an edge of the recording hides, or what comes after it, can violate it. The records
        /// alone keep it.
        MayStillBeViolated = "may still be violated",
        /// The recording has no sample, so the requirement is not shown to be kept.
        #[default]
        NoSamples = "no samples",
        /// It is about a name that neither the traces nor their descriptions have.
        Unknown = "unknown",
    }
}

/// One bound, and the worst that a recording shows of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outcome {
    pub recording: String,
    pub requirement: String,
    /// What is measured: a metric, `Load` or `Synchronisation`.
    pub metric: String,
    /// Whose it is: a process, core, runnable or chain.
    pub entity: String,
    /// The statistic that is bounded: `max`, `min`, `p99`, …
    pub statistic: String,
    /// `duration` (ticks), `count` or `percent`.
    pub unit: &'static str,
    /// `upper` or `lower`.
    pub bound: &'static str,
    pub limit: f64,
    /// The worst case, in the unit; `None` without samples.
    pub value: Option<f64>,
    /// How far the worst case is on the right side of the bound; negative when it is not.
    pub margin: Option<f64>,
    /// When the worst case began, in ticks; `None` for statistics that belong to no instant.
    pub at: Option<i64>,
    pub samples: i64,
    /// Instances, events and windows that give no sample because the trace cuts them off: whether they keep
    /// the bound is not known. What is seen of them does not violate it.
    pub incomplete: i64,
    /// Number of samples beyond the bound; `None` for a statistic that belongs to no sample.
    pub violations: Option<i64>,
    /// Whether the bound is kept.
    pub verdict: Verdict,
    /// Why there are no samples, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How a template over events and states was judged.
    #[serde(rename = "temporal", skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

/// Numbers of obligations of a template, and the first violations. See [`crate::temporal::Counts`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub kept: i64,
    /// Not decided at the end of the recording.
    pub open: i64,
    /// Never decided, as a gap or an edge hides something.
    pub unknown: i64,
    /// How many of the open and unknown ones the records alone do not keep.
    pub missing: i64,
    /// Stretches in which something may be hidden that violates it.
    pub blind: i64,
    /// The first ones.
    pub violations: Vec<Shown>,
}

/// A violation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// In ticks; the end is included.
    pub begin: i64,
    pub end: i64,
    pub witnesses: Vec<Witness>,
}

/// An event that shows a violation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// In ticks.
    pub time: i64,
    /// `btf_event.seq`, if it is an event.
    pub seq: Option<i64>,
    pub event: String,
}

impl Verdict {
    /// Whether a check fails by it: one that may still be kept or violated is only stated.
    pub fn fails(self, allow_no_samples: bool) -> bool {
        match self {
            Self::Kept | Self::MayStillBeKept | Self::MayStillBeViolated => false,
            Self::NoSamples => !allow_no_samples,
            Self::Violated | Self::Unknown => true,
        }
    }
}

impl Outcome {
    /// Fills in the margin and the verdict.
    fn judged(mut self) -> Self {
        self.margin = self
            .value
            .map(|value| if self.bound == "upper" { self.limit - value } else { value - self.limit });
        self.verdict = match self.margin {
            None => Verdict::NoSamples,
            Some(margin) if margin >= 0.0 => Verdict::Kept,
            // What is no number is not kept.
            Some(_) => Verdict::Violated,
        };
        self
    }
}

#[cfg(test)]
#[cfg(feature = "engine")]
mod tests;
