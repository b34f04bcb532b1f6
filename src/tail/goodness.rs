//! Whether values are of a fitted distribution: how far they are from it, and how far samples of it would be,
//! fitted as well. Not the fit (see `gev`, `gpd`).
//!
//! Values are given as hazards: minus the logarithm of the fitted probability to exceed them. They are
//! exponentially distributed if the fit is right. Tables of critical values hold for known parameters only,
//! so the distribution of the statistics comes from samples of the fit (a parametric bootstrap), rounded to
//! the step of the clock as the values were.

use super::numbers::Random;

/// A sample of the fit that is at least as far off counts against the values. With this many of them it is
/// decided: J. Besag and P. Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991).
const ENOUGH: usize = 10;
/// Most samples of the fit.
const MOST: usize = 799;
/// With none in so many it is decided, too: the probability is below any limit in use.
const NONE: usize = 249;

/// How far values are from a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Distance {
    /// The statistic of T. Anderson and D. Darling (1952), which weighs both tails.
    pub anderson_darling: f64,
    /// The greatest gap between neighbours. Each is multiplied by how many values are at or above it, as a
    /// gap of hazards is the shorter the more there are above it. Large if the far values are a group of
    /// their own.
    pub gap: f64,
}

impl Distance {
    /// Of hazards in any order. They are sorted.
    pub fn of(hazards: &mut [f64]) -> Self {
        hazards.sort_unstable_by(f64::total_cmp);
        let count = hazards.len();
        let (mut sum, mut gap, mut before) = (0.0, 0.0f64, None);
        for (n, hazard) in hazards.iter().enumerate() {
            // No value is impossible: one on the border of the fit has the hazard of one just inside.
            let hazard = hazard.clamp(1e-12, 700.0);
            let below = libm::log(-libm::expm1(-hazard));
            let (low, high) = ((2 * n + 1) as f64, (2 * (count - n) - 1) as f64);
            sum += low * below - high * hazard;
            if let Some(before) = before {
                gap = gap.max((hazard - before) * (count - n) as f64);
            }
            before = Some(hazard);
        }
        Self { anderson_darling: -(count as f64) - sum / count as f64, gap }
    }
}

/// The probability of distances that are at least as great, each by itself, for samples of the fit. `draw`
/// makes a sample of the fit, fits it, and returns its distance; `None` if it has no fit.
pub(super) fn probabilities(
    observed: Distance,
    seed: u64,
    mut draw: impl FnMut(&mut Random) -> Option<Distance>,
) -> (f64, f64) {
    let mut random = Random::new(seed);
    let mut far = Sequential::default();
    let mut gaps = Sequential::default();
    for drawn in 1..=MOST {
        let distance = draw(&mut random);
        far.count(drawn, distance.is_none_or(|d| d.anderson_darling >= observed.anderson_darling));
        gaps.count(drawn, distance.is_none_or(|d| d.gap >= observed.gap));
        if far.decided.is_some() && gaps.decided.is_some() {
            break;
        }
    }
    (far.probability(), gaps.probability())
}

/// A probability from the share of draws.
#[derive(Debug, Default)]
pub(super) struct Sequential {
    counted: usize,
    decided: Option<f64>,
}

impl Sequential {
    /// One more draw, of which `drawn` were made, and whether it is at least as extreme.
    pub fn count(&mut self, drawn: usize, is_extreme: bool) {
        if self.decided.is_some() {
            return;
        }
        self.counted += usize::from(is_extreme);
        if self.counted == ENOUGH {
            self.decided = Some(ENOUGH as f64 / drawn as f64);
        } else if self.counted == 0 && drawn == NONE {
            self.decided = Some(1.0 / (NONE + 1) as f64);
        }
    }

    /// The share of extreme draws. Never 0.
    pub fn probability(&self) -> f64 {
        self.decided.unwrap_or((self.counted + 1) as f64 / (MOST + 1) as f64)
    }

    /// The probability that `draw` is true, with as many draws as it takes.
    pub fn of(mut draw: impl FnMut() -> bool) -> f64 {
        let mut share = Self::default();
        for drawn in 1..=MOST {
            share.count(drawn, draw());
            if share.decided.is_some() {
                break;
            }
        }
        share.probability()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statistic_of_anderson_and_darling_is_its_definition() {
        let mut random = Random::new(6);
        let mut hazards: Vec<f64> = (0..60).map(|_| random.exponential()).collect();
        let distance = Distance::of(&mut hazards);
        let count = hazards.len();
        let below: Vec<f64> = hazards.iter().map(|hazard| 1.0 - (-hazard).exp()).collect();
        let sum: f64 = (1..=count)
            .map(|i| (2 * i - 1) as f64 * (below[i - 1].ln() + (1.0 - below[count - i]).ln()))
            .sum();
        let expected = -(count as f64) - sum / count as f64;
        assert!((distance.anderson_darling - expected).abs() < 1e-9);
    }

    #[test]
    fn the_gap_below_a_far_group_is_seen() {
        let mut random = Random::new(7);
        let mut hazards: Vec<f64> = (0..100).map(|_| random.exponential()).collect();
        let near = Distance::of(&mut hazards).gap;
        hazards[90..].iter_mut().for_each(|hazard| *hazard += 5.0);
        assert!(near < 10.0 && Distance::of(&mut hazards).gap > 49.0);
    }

    #[test]
    fn probabilities_of_fits_are_even_and_those_of_others_are_low() {
        let sample = |random: &mut Random| -> Vec<f64> { (0..50).map(|_| random.exponential()).collect() };
        let mut random = Random::new(11);
        let mut low = 0;
        for seed in 0..200 {
            let observed = Distance::of(&mut sample(&mut random));
            let (far, gap) = probabilities(observed, seed, |r| Some(Distance::of(&mut sample(r))));
            low += usize::from(far <= 0.2) + usize::from(gap <= 0.2);
        }
        assert!((50..110).contains(&low), "{low}");
        let mut other: Vec<f64> = (0..50).map(|n| f64::from(n) / 50.0).collect();
        let observed = Distance::of(&mut other);
        let (far, _) = probabilities(observed, 1, |r| Some(Distance::of(&mut sample(r))));
        assert!(far < 0.01, "{far}");
    }

    #[test]
    fn samples_without_a_fit_do_not_count_against() {
        let observed = Distance { anderson_darling: 1e9, gap: 1e9 };
        assert_eq!(probabilities(observed, 1, |_| None), (1.0, 1.0));
    }
}
