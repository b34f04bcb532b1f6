//! The generalised Pareto distribution (GPD): how far samples exceed a threshold. Its maximum likelihood fit.
//! Not which samples (see `peaks`), and no intervals (see `profile`).
//!
//! The probability to exceed the threshold by more than `y` is `(1 + shape y / scale) ^ (-1 / shape)`, and
//! `exp(-y / scale)` for shape 0. The shape has the sign of R. Coles (2001) and of `scipy.stats.genpareto`: a
//! negative shape has a greatest value.

use super::numbers::Random;
use super::search::golden;

/// A generalised Pareto distribution, in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gpd {
    /// Without unit; negative when there is a greatest value.
    pub shape: f64,
    /// In the unit of the samples, positive.
    pub scale: f64,
}

/// With a shape below this the likelihood has no maximum.
pub(super) const LEAST_SHAPE: f64 = -1.0;
/// How many values of the ratio of shape and scale are tried before the search between two of them.
const TRIED: usize = 36;

impl Gpd {
    /// Minus the logarithm of the probability to exceed `y`: exponentially distributed of mean 1 if `y` is
    /// of this distribution. Infinite from the greatest value on.
    pub fn hazard(self, y: f64) -> f64 {
        let s = y / self.scale;
        if self.shape.abs() < 1e-9 {
            return s;
        }
        let inner = self.shape * s;
        if inner <= -1.0 { f64::INFINITY } else { libm::log1p(inner) / self.shape }
    }

    /// The excess that is exceeded with a probability of `exp(-hazard)`.
    pub fn of_hazard(self, hazard: f64) -> f64 {
        if self.shape.abs() < 1e-9 {
            return self.scale * hazard;
        }
        self.scale * libm::expm1(self.shape * hazard) / self.shape
    }

    pub(super) fn draw(self, random: &mut Random) -> f64 {
        self.of_hazard(random.exponential())
    }

    /// The fit of maximum likelihood to excesses, all positive. The likelihood is at its maximum over the
    /// scale if only the ratio `shape / scale` is varied: S. Grimshaw (1993). `None` if there are fewer than
    /// two, or not all are positive and finite.
    pub fn fit(excesses: &[f64]) -> Option<Self> {
        let most = excesses.iter().fold(0.0f64, |most, y| most.max(*y));
        let are_positive = excesses.iter().all(|y| *y > 0.0 && y.is_finite());
        if excesses.len() < 2 || !are_positive {
            return None;
        }
        // In units of the median: the mean of a heavy tail says nothing about the scale.
        let mut scaled = excesses.to_vec();
        let median = *scaled.select_nth_unstable_by(excesses.len() / 2, f64::total_cmp).1;
        scaled.iter_mut().for_each(|y| *y /= median);
        let least_ratio = -median / most;
        // The ratio as a distance to the least one, as a logarithm: it varies over orders of magnitude.
        let ratio = |s: f64| least_ratio * (1.0 - 1e-12) + libm::exp(s);
        let cost = |s: f64| {
            let (shape, scale) = shape_and_scale(&scaled, ratio(s));
            if shape > LEAST_SHAPE && scale > 0.0 { libm::log(scale) + shape } else { f64::INFINITY }
        };
        let (from, to) = (libm::log(-least_ratio * 1e-5), libm::log(100.0));
        let place = |n: usize| from + (to - from) * n as f64 / (TRIED - 1) as f64;
        let best = (0..TRIED).map(|n| (n, cost(place(n)))).min_by(|a, b| a.1.total_cmp(&b.1))?.0;
        let (s, value) = golden(place(best.saturating_sub(1)), place((best + 1).min(TRIED - 1)), 1e-7, cost);
        if !value.is_finite() {
            return None;
        }
        let (shape, scale) = shape_and_scale(&scaled, ratio(s));
        Some(Self { shape, scale: scale * median })
    }

    /// The negative logarithm of the likelihood of excesses; infinite where one is impossible.
    pub fn cost(self, excesses: &[f64]) -> f64 {
        if self.scale.is_nan() || self.scale <= 0.0 {
            return f64::INFINITY;
        }
        let ratio = self.shape / self.scale;
        if excesses.iter().any(|y| ratio * y <= -1.0) {
            return f64::INFINITY;
        }
        let count = excesses.len() as f64;
        let (logarithms, over_ratio) = logarithms(excesses, ratio);
        count * libm::log(self.scale) + logarithms + over_ratio / self.scale
    }
}

/// The best shape and scale for a ratio of both.
fn shape_and_scale(excesses: &[f64], ratio: f64) -> (f64, f64) {
    let count = excesses.len() as f64;
    let (sum, over_ratio) = logarithms(excesses, ratio);
    (sum / count, over_ratio / count)
}

/// The sum of `ln(1 + ratio y)`, and that sum divided by the ratio, which is the sum of `y` for ratio 0.
fn logarithms(excesses: &[f64], ratio: f64) -> (f64, f64) {
    if ratio.abs() < 1e-9 {
        let sum = excesses.iter().sum::<f64>();
        return (ratio * sum, sum);
    }
    let sum = if ratio.abs() < 1e-3 {
        excesses.iter().map(|y| libm::log1p(ratio * y)).sum::<f64>()
    } else {
        // One logarithm for a product of four: most of the time of a fit goes into logarithms.
        let (fours, rest) = excesses.as_chunks::<4>();
        let product = |part: &[f64]| libm::log(part.iter().map(|y| 1.0 + ratio * y).product());
        fours.iter().map(|four| product(four)).sum::<f64>() + product(rest)
    };
    (sum, sum / ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hazards_and_their_values_are_inverse() {
        for shape in [-0.4, -1e-12, 0.0, 0.3] {
            let gpd = Gpd { shape, scale: 3.0 };
            for hazard in [0.1, 1.0, 5.0] {
                assert!((gpd.hazard(gpd.of_hazard(hazard)) - hazard).abs() < 1e-9);
            }
        }
        assert_eq!(Gpd { shape: -0.5, scale: 1.0 }.hazard(2.0), f64::INFINITY);
    }

    #[test]
    fn no_neighbour_of_the_fit_is_likelier() {
        let mut random = Random::new(5);
        for shape in [-0.3, 0.0, 0.2, 0.6, 2.0] {
            let truth = Gpd { shape, scale: 1e4 };
            let excesses: Vec<f64> = (0..400).map(|_| truth.draw(&mut random)).collect();
            let fit = Gpd::fit(&excesses).unwrap();
            assert!((fit.shape - shape).abs() < 0.3 && (fit.scale / 1e4 - 1.0).abs() < 0.25, "{fit:?}");
            for (by_shape, by_scale) in [(1e-3, 1.0), (-1e-3, 1.0), (0.0, 1.001), (0.0, 0.999)] {
                let other = Gpd { shape: fit.shape + by_shape, scale: fit.scale * by_scale };
                assert!(other.cost(&excesses) > fit.cost(&excesses));
            }
        }
    }

    #[test]
    fn what_is_no_sample_has_no_fit() {
        assert_eq!(Gpd::fit(&[]), None);
        assert_eq!(Gpd::fit(&[1.0]), None);
        assert_eq!(Gpd::fit(&[1.0, 0.0, 3.0]), None);
        assert_eq!(Gpd::fit(&[1.0, f64::INFINITY]), None);
        // All alike: the likelihood rises to the border.
        let _ = Gpd::fit(&[1.0; 50]);
    }
}
