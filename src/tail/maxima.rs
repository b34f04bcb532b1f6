//! Block maxima: the blocks, their tests, their fit and its levels. Not the distribution (see `gev`).
//!
//! All blocks have as many samples; the first samples, fewer than a block, are in none. How many blocks there
//! are follows from the number of samples alone.

use super::gev::Gev;
use super::goodness::{Distance, probabilities};
use super::numbers::Random;
use super::profile::{Best, Intervals, Tail};
use super::report::{Check, Checks, Fit, Level, Model, Refusal, Test};
use super::sample::{difference, ranks_of};
use super::series::{Dependence, Drift, KPSS_LIMIT, LAGS};
use super::{LEAST_SHAPE, MOST_SHAPE, SIGNIFICANCE, Settings, curve_of, levels_of, spread};

/// Fewer blocks are too few.
const LEAST_BLOCKS: usize = 50;
/// More are not used: blocks are longer instead, whose maxima are closer to the limit distribution.
const MOST_BLOCKS: f64 = 180.0;
/// Maxima of shorter blocks need not be of the limit distribution.
const LEAST_BLOCK: usize = 10;

/// Samples per block.
fn block(samples: usize, settings: &Settings) -> usize {
    let blocks = (1.8 * (samples as f64).sqrt()).min(MOST_BLOCKS) as usize;
    (samples / settings.blocks.unwrap_or(blocks).max(1)).max(LEAST_BLOCK)
}

/// The tests and the fit. `samples` are in the order of time; `checks` are passed, `last` is the test behind
/// all others.
pub(super) fn fit(
    samples: &[i64],
    settings: &Settings,
    mut checks: Checks,
    last: Check,
) -> Result<Fit, Refusal> {
    let block = block(samples.len(), settings);
    let whole = samples.get(samples.len() % block..).unwrap_or_default();
    let maxima: Vec<i64> =
        whole.chunks_exact(block).filter_map(|block| block.iter().copied().max()).collect();
    let mut sorted = maxima.clone();
    sorted.sort_unstable();
    let least = sorted.first().copied().unwrap_or_default();
    // Above the least, so that floating point has all digits.
    let values: Vec<f64> = maxima.iter().map(|value| difference(*value, least)).collect();
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let variance =
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len().max(1) as f64;
    let spread = spread(&sorted, |_| variance.sqrt(), &mut checks)?;
    checks.add(Check::at_least(Test::Count, maxima.len() as f64, LEAST_BLOCKS as f64))?;
    let ranks = ranks_of(&maxima);
    checks.add(Check::at_most(Test::ExtremeDrift, Drift::of(&ranks).statistic, KPSS_LIMIT))?;
    let dependence = Dependence::of(&ranks, LAGS / 2);
    let (statistic, probability) = (dependence.statistic, dependence.probability);
    checks.add(Check::probable(Test::ExtremeDependence, statistic, probability, SIGNIFICANCE))?;

    let gev = Gev::fit(&values, None);
    checks.add(Check::at_least(Test::Likelihood, f64::from(u8::from(gev.is_some())), 1.0))?;
    let gev = gev.unwrap_or(Gev { shape: 0.0, location: 0.0, scale: 1.0 });
    checks.add(Check::at_least(Test::Shape, gev.shape, LEAST_SHAPE))?;
    checks.add(Check::at_most(Test::Heaviness, gev.shape, MOST_SHAPE))?;
    good(&values, gev, spread.step as f64, settings.seed, &mut checks)?;
    checks.add(last)?;

    let tail = Maxima::new(&values, gev, block as f64);
    let intervals = Intervals::new(tail, settings.confidence, settings.seed);
    // Values are above the least of the maxima.
    let above = |value: f64| least as f64 + value;
    let level = |instances| {
        let level = intervals.level(instances)?;
        Some(Level { value: above(level.value), low: above(level.low), high: above(level.high), ..level })
    };
    let levels = levels_of(settings, 2.0 * block as f64, samples.len(), level);
    let last = settings.reach * samples.len() as f64;
    let curve = curve_of(settings, block as f64, last).filter_map(level).collect();
    let model = Model::Maxima { gev: Gev { location: least as f64 + gev.location, ..gev }, block };
    Ok(Fit { model, used: maxima.len(), checks: checks.0, levels, curve })
}

/// Whether maxima are of the fitted distribution. `step` is that of the clock.
fn good(maxima: &[f64], gev: Gev, step: f64, seed: u64, checks: &mut Checks) -> Result<(), Refusal> {
    let distance = |maxima: &[f64], gev: Gev| {
        Distance::of(&mut maxima.iter().map(|x| gev.hazard(*x)).collect::<Vec<_>>())
    };
    let observed = distance(maxima, gev);
    let (far, gap) = probabilities(observed, seed ^ 0x5eed_0003, |random| {
        let round = |x: f64| if step > 0.0 { (x / step).round() * step } else { x };
        let drawn: Vec<f64> = maxima.iter().map(|_| round(gev.draw(random))).collect();
        Gev::fit(&drawn, Some(gev)).map(|gev| distance(&drawn, gev))
    });
    checks.add(Check::probable(Test::AndersonDarling, observed.anderson_darling, far, SIGNIFICANCE))?;
    checks.add(Check::probable(Test::Gap, observed.gap, gap, SIGNIFICANCE))
}

/// The likelihood of maxima, in scales of the fit from its location.
struct Maxima {
    values: Vec<f64>,
    /// The fit, in the unit of the levels of whoever made it.
    gev: Gev,
    block: f64,
}

impl Maxima {
    fn new(maxima: &[f64], gev: Gev, block: f64) -> Self {
        Self { values: maxima.iter().map(|x| (x - gev.location) / gev.scale).collect(), gev, block }
    }

    /// The fit, in its own scales.
    fn standard(&self) -> Gev {
        Gev { shape: self.gev.shape, location: 0.0, scale: 1.0 }
    }

    /// Of the level that one instance in so many exceeds. A block stays below with the probability of one
    /// instance to the power of its length.
    fn reduced(&self, instances: f64) -> f64 {
        -libm::log(-self.block * libm::log1p(-1.0 / instances))
    }
}

impl Tail for Maxima {
    fn origin_and_unit(&self) -> (f64, f64) {
        (self.gev.location, self.gev.scale)
    }

    fn edge(&self) -> f64 {
        1.0 / (self.values.len() as f64).sqrt()
    }

    fn best(&self, instances: f64) -> Best {
        let level = self.standard().of_reduced(self.reduced(instances));
        Best { level, others: [0.0, self.gev.shape], cost: self.standard().cost(&self.values) }
    }

    fn cost(&self, instances: f64, level: f64, [log_scale, shape]: [f64; 2]) -> f64 {
        let gev = Gev { shape, location: 0.0, scale: libm::exp(log_scale) };
        let location = level - gev.of_reduced(self.reduced(instances));
        Gev { location, ..gev }.cost(&self.values)
    }

    fn redrawn(&self, random: &mut Random) -> Option<Self> {
        let standard = self.standard();
        let drawn: Vec<f64> = self.values.iter().map(|_| standard.draw(random)).collect();
        Gev::fit(&drawn, Some(standard)).map(|gev| Self::new(&drawn, gev, self.block))
    }

    fn true_level(&self, _: &Self, instances: f64) -> f64 {
        self.best(instances).level
    }
}
