//! What is answered: a fit with its levels, or the test that the samples failed. Not how it is found.

use std::fmt;

use super::gev::Gev;
use super::gpd::Gpd;

/// What a fit is not. To be shown with every number of it.
pub const WHAT_IT_IS_NOT: &str = "These are estimates from the samples of one recording, valid while the \
    system behaves as it did then. They are no safe bound of the worst case: a path or a coincidence that the \
    recording does not have is not in them, and no statistics of it can tell.";

/// A property that samples need for a fit, in the order in which they are tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Test {
    /// How many samples, exceedances or blocks there are. At least the limit.
    Count,
    /// How many different values there are, of all samples or of the extremes. At least the limit.
    Distinct,
    /// The share of the commonest value of the extremes. At most the limit.
    Commonest,
    /// How many steps of the clock the scale of the extremes has. At least the limit.
    Resolution,
    /// The KPSS statistic of the ranks of all samples. At most the limit.
    Drift,
    /// The statistic of Ljung and Box of the ranks of all samples. Its probability is at least the limit.
    Dependence,
    /// The KPSS statistic of which samples exceed the threshold, or of the ranks of the maxima. At most the
    /// limit.
    ExtremeDrift,
    /// The extremal index of the exceedances, or the statistic of Ljung and Box of the ranks of the maxima.
    /// Its probability is at least the limit.
    ExtremeDependence,
    /// Whether the likelihood has a maximum, and intervals an end: 1 if so. At least the limit.
    Likelihood,
    /// The fitted shape. At least the limit: far below -0.5 the intervals of maximum likelihood do not hold.
    Shape,
    /// The fitted shape. At most the limit: a tail without a mean is rather one of several kinds of samples.
    Heaviness,
    /// The statistic of Anderson and Darling. Its probability is at least the limit.
    AndersonDarling,
    /// The greatest gap between neighbours, in units of its mean. Its probability is at least the limit.
    Gap,
    /// By how much more of the greatest samples are at both ends of a Pareto distribution than in its middle,
    /// in standard deviations, at the threshold where it is most. At most the limit.
    Shoulder,
}

impl Test {
    /// Its name, in lower case with underscores.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Distinct => "distinct",
            Self::Commonest => "commonest",
            Self::Resolution => "resolution",
            Self::Drift => "drift",
            Self::Dependence => "dependence",
            Self::ExtremeDrift => "extreme_drift",
            Self::ExtremeDependence => "extreme_dependence",
            Self::Likelihood => "likelihood",
            Self::Shape => "shape",
            Self::Heaviness => "heaviness",
            Self::AndersonDarling => "anderson_darling",
            Self::Gap => "gap",
            Self::Shoulder => "shoulder",
        }
    }
}

/// The result of one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// Which test.
    pub test: Test,
    /// What was computed. Its unit is with the test.
    pub statistic: f64,
    /// Of a statistic that is at least as extreme, if samples are as they should be. `None` if the statistic
    /// itself is compared with the limit.
    pub probability: Option<f64>,
    /// What the statistic, or the probability if there is one, is compared with.
    pub limit: f64,
    /// Whether the samples passed.
    pub has_passed: bool,
}

impl Check {
    pub(super) fn at_least(test: Test, statistic: f64, limit: f64) -> Self {
        Self { test, statistic, probability: None, limit, has_passed: statistic >= limit }
    }

    pub(super) fn at_most(test: Test, statistic: f64, limit: f64) -> Self {
        Self { test, statistic, probability: None, limit, has_passed: statistic <= limit }
    }

    pub(super) fn probable(test: Test, statistic: f64, probability: f64, limit: f64) -> Self {
        Self { test, statistic, probability: Some(probability), limit, has_passed: probability >= limit }
    }

    /// Passed as well when an effect is too small to matter, however sure it is: with many samples every
    /// effect is sure.
    pub(super) fn or_if(self, is_small: bool) -> Self {
        Self { has_passed: self.has_passed || is_small, ..self }
    }
}

/// One sentence, without a full stop: why there is no fit, or what a passed test says.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { statistic, limit, probability, has_passed, .. } = *self;
        let probability = probability.unwrap_or(1.0);
        let words = match (self.test, has_passed) {
            (Test::Count, false) => {
                return write!(f, "{statistic} values are too few, at least {limit} are needed");
            }
            (Test::Distinct, false) => {
                return write!(f, "only {statistic} values differ, at least {limit} have to");
            }
            (Test::Commonest, false) => {
                let (share, limit) = (100.0 * statistic, 100.0 * limit);
                return write!(f, "one value is {share:.0} % of the extremes, more than {limit:.0} %");
            }
            (Test::Resolution, false) => {
                return write!(
                    f,
                    "the step of the clock is too coarse: the scale of the extremes has {statistic:.1} steps, \
                     at least {limit} are needed"
                );
            }
            (Test::Drift, false) => "the samples drift over time",
            (Test::ExtremeDrift, false) => "the extremes drift over time",
            (Test::Dependence, false) => "samples depend on those before",
            (Test::ExtremeDependence, false) => "extremes come in clusters or depend on those before",
            (Test::Likelihood, false) => return f.write_str("the likelihood has no maximum, or no end"),
            (Test::Shape, false) => {
                return write!(
                    f,
                    "the tail ends abruptly: its shape is {statistic:.2}, and intervals hold from {limit} on \
                     only"
                );
            }
            (Test::Heaviness, false) => {
                return write!(
                    f,
                    "the tail would be too heavy: its shape is {statistic:.2}, more than {limit}; the samples \
                     are rather of several kinds"
                );
            }
            (Test::AndersonDarling, false) => "the extremes are not of the fitted distribution",
            (Test::Gap, false) => "the farthest values are a group of their own",
            (Test::Shoulder, false) => "a slower path begins near the extremes, and overlaps with the others",
            (test, true) => test.name(),
        };
        match self.probability {
            Some(_) => write!(f, "{words} (statistic {statistic:.3}, probability {probability:.4}"),
            None => write!(f, "{words} (statistic {statistic:.3}"),
        }?;
        write!(f, ", limit {limit})")
    }
}

/// A value that is exceeded by one instance in so many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// One instance in this many exceeds the value.
    pub instances: f64,
    /// In the unit of the samples. Floating point: an estimate, no time of an event.
    pub value: f64,
    /// The lower end of its confidence interval.
    pub low: f64,
    /// The upper end of its confidence interval.
    pub high: f64,
}

/// Why there is no level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoLevel {
    /// So common a value is not in the tail: the samples themselves have it.
    Within,
    /// So rare a value is further beyond the samples than is asked for (`Settings::reach`).
    Beyond,
    /// Its interval has no upper end.
    Unbounded,
}

/// The distribution of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Model {
    /// Of the greatest samples of blocks.
    Maxima {
        /// In the unit of the samples.
        gev: Gev,
        /// Samples per block.
        block: usize,
    },
    /// Of the excesses over a threshold.
    Peaks {
        /// In the unit of the samples. Half a step of the clock above a sample.
        threshold: f64,
        /// Of what samples are above the threshold.
        gpd: Gpd,
        /// The share of samples above the threshold.
        share: f64,
    },
}

/// A distribution that the extremes are of, as far as tests can tell.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The distribution.
    pub model: Model,
    /// How many blocks or exceedances it was fitted to.
    pub used: usize,
    /// All tests, in their order. They passed.
    pub checks: Vec<Check>,
    /// The levels that were asked for, or why there is none. The first is the number of instances.
    pub levels: Vec<(u64, Result<Level, NoLevel>)>,
    /// Levels for the picture, rising. Empty if none was asked for.
    pub curve: Vec<Level>,
}

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The test that failed.
    pub failed: Check,
    /// Those before, which passed.
    pub passed: Vec<Check>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not fit for a fit: {}", self.failed)
    }
}

/// The answer of one method.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// All tests passed.
    Fitted(Fit),
    /// A test failed: there is no number.
    Refused(Refusal),
}

#[cfg(test)]
impl Outcome {
    /// The fit, if there is one.
    pub fn fit(&self) -> Option<&Fit> {
        match self {
            Self::Fitted(fit) => Some(fit),
            Self::Refused(_) => None,
        }
    }

    /// The failed test, if one failed.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Fitted(_) => None,
            Self::Refused(refusal) => Some(refusal),
        }
    }
}

/// Both methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How many samples there are.
    pub samples: usize,
    /// The greatest sample.
    pub greatest: Option<i64>,
    /// Block maxima.
    pub maxima: Outcome,
    /// Peaks over a threshold.
    pub peaks: Outcome,
}

/// Tests one by one, until one fails.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks(pub Vec<Check>);

impl Checks {
    /// One more test.
    pub fn add(&mut self, check: Check) -> Result<(), Refusal> {
        if check.has_passed {
            self.0.push(check);
            Ok(())
        } else {
            Err(Refusal { failed: check, passed: std::mem::take(&mut self.0) })
        }
    }
}
