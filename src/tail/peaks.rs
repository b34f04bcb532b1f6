//! Peaks over a threshold: which samples, their tests, their fit and its levels. Not the distribution (see
//! `gpd`).
//!
//! The threshold is half a step of the clock above the greatest sample that is no peak. How many peaks there
//! are follows from the number of samples alone.

use super::goodness::{Distance, Sequential, probabilities};
use super::gpd::Gpd;
use super::numbers::Random;
use super::profile::{Best, Intervals, Tail};
use super::report::{Check, Checks, Fit, Model, Refusal, Test};
use super::sample::{Spread, difference};
use super::series::{Drift, KPSS_LIMIT, extremal_index, random_distances};
use super::{LEAST_SHAPE, MOST_SHAPE, SIGNIFICANCE, Settings, curve_of, levels_of, spread};

/// Fewer peaks are too few.
pub(super) const LEAST_PEAKS: usize = 70;
/// More are not used. The threshold is higher instead, where samples are closer to the limit distribution.
const MOST_PEAKS: f64 = 250.0;

/// How many samples are peaks, if no two are alike.
pub(super) fn count(samples: usize, settings: &Settings) -> usize {
    let most = samples / 10;
    let count = (2.5 * (samples as f64).sqrt()).min(MOST_PEAKS) as usize;
    settings.peaks.unwrap_or(count.min(most)).min(samples.saturating_sub(1))
}

/// The greatest samples, and how far they are above all others.
pub(super) struct Above<'a> {
    greatest: &'a [i64],
    /// The greatest of the others.
    below: i64,
    /// Half of the step in which both differ: the threshold is so far above the others.
    half: f64,
}

impl<'a> Above<'a> {
    /// Of samples in ascending order, so many that are greatest.
    pub fn new(sorted: &'a [i64], count: usize) -> Self {
        let place = sorted.len().saturating_sub(count);
        let greatest = sorted.get(place..).unwrap_or_default();
        let below = sorted.get(place.saturating_sub(1)).copied().unwrap_or_default();
        let step = Spread::of(greatest).step as f64;
        let first = sorted.get(sorted.partition_point(|value| *value <= below)).copied().unwrap_or(below);
        Self { greatest, below, half: step.min(difference(first, below)) / 2.0 }
    }

    /// How far each is above the threshold. Those that are as great as others are not above it.
    pub fn excesses(&self) -> Vec<f64> {
        let peaks = self.greatest.iter().filter(|value| **value > self.below);
        peaks.map(|value| difference(*value, self.below) - self.half).collect()
    }
}

/// The tests and the fit. `samples` are in the order of time, `sorted` by size; `checks` are passed, `last`
/// is the test behind all others.
pub(super) fn fit(
    samples: &[i64],
    sorted: &[i64],
    settings: &Settings,
    mut checks: Checks,
    last: Check,
) -> Result<Fit, Refusal> {
    let above = Above::new(sorted, count(samples.len(), settings));
    let (excesses, below, half) = (above.excesses(), above.below, above.half);
    let mean = excesses.iter().sum::<f64>() / excesses.len().max(1) as f64;
    spread(above.greatest, |_| mean + half, &mut checks)?;
    checks.add(Check::at_least(Test::Count, excesses.len() as f64, LEAST_PEAKS as f64))?;
    let share = excesses.len() as f64 / samples.len() as f64;
    in_time(samples, below, share, settings.seed, &mut checks)?;

    let gpd = Gpd::fit(&excesses).filter(|gpd| gpd.scale.is_finite() && gpd.scale > 0.0);
    checks.add(Check::at_least(Test::Likelihood, f64::from(u8::from(gpd.is_some())), 1.0))?;
    let gpd = gpd.unwrap_or(Gpd { shape: 0.0, scale: 1.0 });
    checks.add(Check::at_least(Test::Shape, gpd.shape, LEAST_SHAPE))?;
    checks.add(Check::at_most(Test::Heaviness, gpd.shape, MOST_SHAPE))?;
    good(&excesses, gpd, 2.0 * half, settings.seed, &mut checks)?;
    checks.add(last)?;

    let threshold = below as f64 + half;
    let tail = Peaks::new(&excesses, gpd, threshold, samples.len() as f64, 0.0);
    let intervals = Intervals::new(tail, settings.confidence, settings.seed);
    let level = |instances| intervals.level(instances);
    let levels = levels_of(settings, 2.0 / share, samples.len(), level);
    let last = settings.reach * samples.len() as f64;
    let curve = curve_of(settings, 1.0 / share, last).filter_map(level).collect();
    let model = Model::Peaks { threshold, gpd, share };
    Ok(Fit { model, used: excesses.len(), checks: checks.0, levels, curve })
}

/// Whether peaks come evenly over time.
fn in_time(samples: &[i64], below: i64, share: f64, seed: u64, checks: &mut Checks) -> Result<(), Refusal> {
    let is_peak: Vec<f64> = samples.iter().map(|value| f64::from(u8::from(*value > below))).collect();
    checks.add(Check::at_most(Test::ExtremeDrift, Drift::of(&is_peak).statistic, KPSS_LIMIT))?;
    let mut places = samples.iter().zip(0u64..).filter(|(value, _)| **value > below).map(|(_, at)| at);
    let mut before = places.next().unwrap_or_default();
    let distances: Vec<f64> = places.map(|at| (at - std::mem::replace(&mut before, at)) as f64).collect();
    let index = extremal_index(&distances).unwrap_or(1.0);
    let mut random = Random::new(seed ^ 0x5eed_0001);
    let probability = Sequential::of(|| {
        let distances = random_distances(distances.len(), share, &mut random);
        extremal_index(&distances).is_none_or(|other| other <= index)
    });
    checks.add(Check::probable(Test::ExtremeDependence, index, probability, SIGNIFICANCE))
}

/// Whether the excesses are of the fitted distribution. `step` is that of the clock.
fn good(excesses: &[f64], gpd: Gpd, step: f64, seed: u64, checks: &mut Checks) -> Result<(), Refusal> {
    let distance = |excesses: &[f64], gpd: Gpd| {
        Distance::of(&mut excesses.iter().map(|y| gpd.hazard(*y)).collect::<Vec<_>>())
    };
    let observed = distance(excesses, gpd);
    let (far, gap) = probabilities(observed, seed ^ 0x5eed_0002, |random| {
        let round = |y: f64| if step > 0.0 { (y / step).floor() * step + step / 2.0 } else { y };
        let drawn: Vec<f64> = excesses.iter().map(|_| round(gpd.draw(random))).collect();
        Gpd::fit(&drawn).map(|gpd| distance(&drawn, gpd))
    });
    checks.add(Check::probable(Test::AndersonDarling, observed.anderson_darling, far, SIGNIFICANCE))?;
    checks.add(Check::probable(Test::Gap, observed.gap, gap, SIGNIFICANCE))
}

/// The likelihood of peaks: how many of the samples there are, and how far above the threshold.
struct Peaks {
    /// Divided by `mean`.
    excesses: Vec<f64>,
    threshold: f64,
    mean: f64,
    /// Of the scaled excesses.
    gpd: Gpd,
    samples: f64,
    /// The logarithm of the true share above the threshold by that of the peaks. Known if drawn only: the
    /// threshold is at a sample, so that the number of peaks is fixed, and that share varies.
    shift: f64,
}

impl Peaks {
    fn new(excesses: &[f64], gpd: Gpd, threshold: f64, samples: f64, shift: f64) -> Self {
        let mean = excesses.iter().sum::<f64>() / excesses.len() as f64;
        let gpd = Gpd { scale: gpd.scale / mean, ..gpd };
        Self { excesses: excesses.iter().map(|y| y / mean).collect(), threshold, mean, gpd, samples, shift }
    }

    fn log_share(&self) -> f64 {
        libm::log(self.excesses.len() as f64 / self.samples)
    }

    /// The negative logarithm of the likelihood, if a share of the samples exceeds the threshold.
    fn cost_of(&self, log_share: f64, gpd: Gpd) -> f64 {
        let peaks = self.excesses.len() as f64;
        if !(log_share < 0.0 && gpd.shape > super::gpd::LEAST_SHAPE) {
            return f64::INFINITY;
        }
        gpd.cost(&self.excesses)
            - peaks * log_share
            - (self.samples - peaks) * libm::log1p(-libm::exp(log_share))
    }
}

impl Tail for Peaks {
    fn origin_and_unit(&self) -> (f64, f64) {
        (self.threshold, self.mean)
    }

    fn edge(&self) -> f64 {
        1.0 / (self.excesses.len() as f64).sqrt()
    }

    fn best(&self, instances: f64) -> Best {
        let log_share = self.log_share();
        let level = self.gpd.of_hazard(log_share + libm::log(instances));
        Best { level, others: [log_share, self.gpd.shape], cost: self.cost_of(log_share, self.gpd) }
    }

    fn cost(&self, instances: f64, level: f64, [log_share, shape]: [f64; 2]) -> f64 {
        let hazard = log_share + libm::log(instances);
        if hazard <= 0.0 || level <= 0.0 {
            return f64::INFINITY;
        }
        // The scale with which this share of the samples gives this level.
        let scale = level / Gpd { shape, scale: 1.0 }.of_hazard(hazard);
        self.cost_of(log_share, Gpd { shape, scale })
    }

    fn redrawn(&self, random: &mut Random) -> Option<Self> {
        let drawn: Vec<f64> = self.excesses.iter().map(|_| self.gpd.draw(random)).collect();
        let count = drawn.len() as f64;
        let share = drawn.iter().map(|_| random.exponential()).sum::<f64>() / count;
        Gpd::fit(&drawn).map(|gpd| Self::new(&drawn, gpd, 0.0, self.samples, libm::log(share)))
    }

    fn true_level(&self, redrawn: &Self, instances: f64) -> f64 {
        self.gpd.of_hazard((self.log_share() + libm::log(instances) + redrawn.shift).max(1e-3))
    }
}
