//! Tails: the distribution of the greatest execution and response times, by extreme value statistics. Not a
//! safe bound of the worst case (see [`WHAT_IT_IS_NOT`]), and not where samples come from.
//!
//! Two methods answer, each for itself:
//!
//! * block maxima: samples are cut into blocks, and a generalised extreme value distribution ([`gev::Gev`])
//!   is fitted to the greatest of each;
//! * peaks over a threshold: a generalised Pareto distribution ([`gpd::Gpd`]) is fitted to what the greatest
//!   samples are above a threshold.
//!
//! Both hold for samples that are independent and of one distribution, whose tail is smooth. So there are
//! tests before the fit and after it ([`Test`]). If one fails, the answer is which, and no number. All tests
//! are at 1 %: of samples that are fit for a fit, some 5 % are refused.
//!
//! The numbers of blocks and exceedances follow from the number of samples alone (see [`Settings`]): choosing
//! them by how well the fit looks would make the intervals too narrow.
//!
//! Samples are whole numbers; statistics are floating point, and the same for the same samples.

mod exceedance;
mod gev;
mod goodness;
mod gpd;
mod maxima;
mod numbers;
mod peaks;
mod profile;
mod report;
mod sample;
mod search;
mod series;
mod shoulder;
#[cfg(test)]
mod tests;

pub use exceedance::exceedance;
pub use report::{Check, Fit, Level, Model, NoLevel, Outcome, Refusal, Report, Test, WHAT_IT_IS_NOT};

use report::Checks;
use sample::{Sample, Spread};
use series::{Dependence, Drift, KPSS_LIMIT, LAGS};
use shoulder::shoulder;

/// A test fails below this probability.
const SIGNIFICANCE: f64 = 0.01;
/// Fewer samples are not enough for any fit.
const LEAST_SAMPLES: usize = 1000;
/// Fewer different values are not enough, neither of all samples nor of the extremes.
const LEAST_DISTINCT: usize = 20;
/// A value that is a greater share of the extremes is a path of its own.
const MOST_COMMON: f64 = 0.15;
/// The scale of the extremes has at least so many steps of the clock.
const LEAST_STEPS: f64 = 10.0;
/// Below a shape of -0.5 the known properties of maximum likelihood do not hold: R. Smith (1985). The limit
/// is a little lower, as a fitted shape varies: if those of samples of shape -0.3 were refused that come out
/// lowest, the intervals of the others would be too wide.
const LEAST_SHAPE: f64 = -0.6;
/// From this shape on a distribution has no mean. No times are like that.
const MOST_SHAPE: f64 = 1.0;
/// A smaller drift does not matter, as `Drift::size` has it: a step by 0.04 standard deviations.
const SMALL_DRIFT: f64 = 0.01;
/// A smaller autocorrelation does not matter.
const SMALL_CORRELATION: f64 = 0.03;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Levels that one instance in so many exceeds.
    pub levels: Vec<u64>,
    /// The probability of confidence intervals, between 0 and 1.
    pub confidence: f64,
    /// The rarest level is that of one instance in as many as there are samples, times this. The further
    /// beyond the samples, the more a level depends on the tail going on as it is where samples are.
    pub reach: f64,
    /// How many samples are peaks. `None`: 2.5 times the square root of the number of samples, at most one
    /// in ten and at most 250.
    pub peaks: Option<usize>,
    /// How many blocks there are. `None`: 1.8 times the square root of the number of samples, at most 180.
    pub blocks: Option<usize>,
    /// Levels of the curve per factor of ten of the probability. 0: no curve.
    pub curve: u32,
    /// The begin of the random numbers for the tests of goodness.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            levels: (3..=9).map(|exponent| 10u64.pow(exponent)).collect(),
            confidence: 0.95,
            reach: 10.0,
            peaks: None,
            blocks: None,
            curve: 0,
            seed: 1,
        }
    }
}

/// Fits the tail of samples, which are in the order of time, by both methods. Time is that of sorting, plus
/// up to a second for the fits; memory is some 40 bytes per sample.
pub fn fit(samples: &[i64], settings: &Settings) -> Report {
    let mut checks = Checks::default();
    let outcome = |result: Result<Fit, Refusal>| match result {
        Ok(fit) => Outcome::Fitted(fit),
        Err(refusal) => Outcome::Refused(refusal),
    };
    let (maxima, peaks) = match whole(samples, &mut checks) {
        Ok(sorted) => {
            let shoulder = shoulder(&sorted, peaks::count(samples.len(), settings));
            (
                outcome(maxima::fit(samples, settings, checks.clone(), shoulder)),
                outcome(peaks::fit(samples, &sorted, settings, checks, shoulder)),
            )
        }
        Err(refusal) => (Outcome::Refused(refusal.clone()), Outcome::Refused(refusal)),
    };
    Report { samples: samples.len(), greatest: samples.iter().copied().max(), maxima, peaks }
}

/// The tests of all samples, which are returned by size.
fn whole(samples: &[i64], checks: &mut Checks) -> Result<Vec<i64>, Refusal> {
    checks.add(Check::at_least(Test::Count, samples.len() as f64, LEAST_SAMPLES as f64))?;
    let Sample { sorted, ranks } = Sample::new(samples);
    let distinct = Spread::of(&sorted).distinct;
    checks.add(Check::at_least(Test::Distinct, distinct as f64, LEAST_DISTINCT as f64))?;
    let drift = Drift::of(&ranks);
    let is_small = drift.size < SMALL_DRIFT;
    checks.add(Check::at_most(Test::Drift, drift.statistic, KPSS_LIMIT).or_if(is_small))?;
    let dependence = Dependence::of(&ranks, LAGS);
    let is_small = dependence.size < SMALL_CORRELATION;
    checks.add(
        Check::probable(Test::Dependence, dependence.statistic, dependence.probability, SIGNIFICANCE)
            .or_if(is_small),
    )?;
    Ok(sorted)
}

/// The tests of extremes, in ascending order, before any fit. The scale is in the unit of the samples.
fn spread(sorted: &[i64], scale: impl Fn(Spread) -> f64, checks: &mut Checks) -> Result<Spread, Refusal> {
    let spread = Spread::of(sorted);
    checks.add(Check::at_least(Test::Distinct, spread.distinct as f64, LEAST_DISTINCT as f64))?;
    checks.add(Check::at_most(Test::Commonest, spread.commonest, MOST_COMMON))?;
    let steps = scale(spread) / spread.step.max(1) as f64;
    checks.add(Check::at_least(Test::Resolution, steps, LEAST_STEPS))?;
    Ok(spread)
}

/// The numbers of instances for the curve, from one in `first` on.
fn curve_of(settings: &Settings, first: f64, last: f64) -> impl Iterator<Item = f64> {
    let per_decade = f64::from(settings.curve.min(100));
    let decades = libm::log10(last / first).clamp(0.0, 30.0);
    let count = if decades.is_nan() { 0 } else { (decades * per_decade).floor() as u32 };
    (1..=count).map(move |n| first * libm::pow(10.0, f64::from(n) / per_decade))
}

/// The levels that were asked for. `first` is the rarest that is not in the tail.
fn levels_of(
    settings: &Settings,
    first: f64,
    samples: usize,
    level: impl Fn(f64) -> Option<Level>,
) -> Vec<(u64, Result<Level, NoLevel>)> {
    let last = settings.reach * samples as f64;
    let one = |instances: u64| {
        let wanted = instances as f64;
        if wanted <= first {
            Err(NoLevel::Within)
        } else if wanted > last {
            Err(NoLevel::Beyond)
        } else {
            level(wanted).ok_or(NoLevel::Unbounded)
        }
    };
    settings.levels.iter().map(|instances| (*instances, one(*instances))).collect()
}
