//! The generalised extreme value distribution (GEV): the greatest samples of blocks. Its maximum likelihood
//! fit. Not which blocks (see `maxima`), and no intervals (see `profile`).
//!
//! The probability to stay at or below `x` is `exp(-t)` with `t = (1 + shape (x - location) / scale) ^ (-1 /
//! shape)`, and `t = exp(-(x - location) / scale)` for shape 0. The shape has the sign of R. Coles (2001);
//! that of `scipy.stats.genextreme` is the opposite. A negative shape has a greatest value.

use super::numbers::Random;
use super::search::simplex;

/// A generalised extreme value distribution, in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gev {
    /// Without unit; negative when there is a greatest value.
    pub shape: f64,
    /// In the unit of the samples.
    pub location: f64,
    /// In the unit of the samples, positive.
    pub scale: f64,
}

/// With a shape below this the likelihood has no maximum.
const LEAST_SHAPE: f64 = -1.0;
/// How close to its greatest the logarithm of the likelihood is, if the search begins nearby: fits of drawn
/// samples need not be closer.
const NEAR: f64 = 1e-4;
/// The constant of Euler: the mean of the standard distribution of shape 0.
const EULER: f64 = 0.577_215_664_901_532_9;

impl Gev {
    /// `-ln t` for a value: how many scales it is above the location, for shape 0. Infinite from the greatest
    /// value on, minus infinite up to the least.
    pub fn reduced(self, x: f64) -> f64 {
        let s = (x - self.location) / self.scale;
        let inner = self.shape * s;
        if self.shape.abs() < 1e-9 {
            s
        } else if inner > -1.0 {
            // `log1p` has more digits where they matter, and takes longer.
            let logarithm = if self.shape.abs() < 1e-3 { libm::log1p(inner) } else { libm::log(1.0 + inner) };
            logarithm / self.shape
        } else {
            f64::INFINITY.copysign(-self.shape)
        }
    }

    /// The value of which `reduced` is this.
    pub fn of_reduced(self, reduced: f64) -> f64 {
        let s =
            if self.shape.abs() < 1e-9 { reduced } else { libm::expm1(self.shape * reduced) / self.shape };
        self.location + self.scale * s
    }

    /// Minus the logarithm of the probability to exceed `x`.
    pub fn hazard(self, x: f64) -> f64 {
        // The probability to exceed is 1 - exp(-t).
        let t = libm::exp(-self.reduced(x));
        -libm::log(-libm::expm1(-t))
    }

    pub(super) fn draw(self, random: &mut Random) -> f64 {
        self.of_reduced(-libm::log(random.exponential()))
    }

    /// The fit of maximum likelihood. `near` is where to begin, if that is known; the fit is less close then.
    /// `None` with fewer than three values, if they are all alike, or not finite.
    pub fn fit(maxima: &[f64], near: Option<Self>) -> Option<Self> {
        let count = maxima.len() as f64;
        let mean = maxima.iter().sum::<f64>() / count;
        let variance = maxima.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let spread = variance.sqrt();
        if maxima.len() < 3 || !spread.is_finite() || spread <= mean.abs() * 1e-14 {
            return None;
        }
        let scaled: Vec<f64> = maxima.iter().map(|x| (x - mean) / spread).collect();
        let cost = |[location, log_scale, shape]: [f64; 3]| {
            Self { shape, location, scale: libm::exp(log_scale) }.cost(&scaled)
        };
        // The distribution of shape 0 that has this mean and variance.
        let scale = 6f64.sqrt() / std::f64::consts::PI;
        let gumbel = [-EULER * scale, libm::log(scale), 0.0];
        let near = near
            .map(|gev| [(gev.location - mean) / spread, libm::log(gev.scale / spread), gev.shape])
            .filter(|start| cost(*start) < cost(gumbel));
        let gain = 1e-7 * count;
        let (found, value) = match near {
            Some(start) => simplex(start, [0.1, 0.1, 0.1], NEAR, cost),
            None => {
                let up = simplex(gumbel, [0.2, 0.2, 0.2], gain, cost);
                let down = simplex(gumbel, [0.2, 0.2, -0.2], gain, cost);
                if up.1 <= down.1 { up } else { down }
            }
        };
        let [location, log_scale, shape] = found;
        value.is_finite().then(|| Self {
            shape,
            location: mean + location * spread,
            scale: libm::exp(log_scale) * spread,
        })
    }

    /// The negative logarithm of the likelihood of maxima; infinite where one is impossible.
    pub fn cost(self, maxima: &[f64]) -> f64 {
        // NaN is no distribution either.
        if !(self.scale > 0.0 && self.shape > LEAST_SHAPE) {
            return f64::INFINITY;
        }
        let mut sum = 0.0;
        for x in maxima {
            let reduced = self.reduced(*x);
            if !reduced.is_finite() {
                return f64::INFINITY;
            }
            sum += (1.0 + self.shape) * reduced + libm::exp(-reduced);
        }
        sum + maxima.len() as f64 * libm::log(self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduced_values_and_their_values_are_inverse() {
        for shape in [-0.4, -1e-12, 0.0, 0.3] {
            let gev = Gev { shape, location: 100.0, scale: 3.0 };
            for reduced in [-1.0, 0.1, 1.0, 5.0] {
                assert!((gev.reduced(gev.of_reduced(reduced)) - reduced).abs() < 1e-9);
            }
        }
        let bounded = Gev { shape: -0.5, location: 0.0, scale: 1.0 };
        assert_eq!(bounded.reduced(2.0), f64::INFINITY);
        assert_eq!(Gev { shape: 0.5, ..bounded }.reduced(-2.0), f64::NEG_INFINITY);
    }

    #[test]
    fn hazards_are_logarithms_of_probabilities() {
        // -scipy.stats.genextreme.logsf([1.0, 4.0, 9.0], -0.2)
        let gev = Gev { shape: 0.2, location: 0.0, scale: 1.0 };
        for (x, expected) in
            [(1.0, 1.105_826_204_505_705_7), (4.0, 2.965_277_703_855_782), (9.0, 5.151_000_904_684_929)]
        {
            assert!((gev.hazard(x) - expected).abs() < 1e-9, "{x} {}", gev.hazard(x));
        }
    }

    #[test]
    fn no_neighbour_of_the_fit_is_likelier() {
        let mut random = Random::new(9);
        for shape in [-0.3, 0.0, 0.2, 0.6] {
            let truth = Gev { shape, location: 1e6, scale: 1e4 };
            let maxima: Vec<f64> = (0..400).map(|_| truth.draw(&mut random)).collect();
            let fit = Gev::fit(&maxima, None).unwrap();
            assert!((fit.shape - shape).abs() < 0.15 && (fit.scale / 1e4 - 1.0).abs() < 0.2, "{fit:?}");
            for (by, by_location, by_scale) in [
                (1e-3, 0.0, 1.0),
                (-1e-3, 0.0, 1.0),
                (0.0, 50.0, 1.0),
                (0.0, -50.0, 1.0),
                (0.0, 0.0, 1.001),
                (0.0, 0.0, 0.999),
            ] {
                let other = Gev {
                    shape: fit.shape + by,
                    location: fit.location + by_location,
                    scale: fit.scale * by_scale,
                };
                assert!(other.cost(&maxima) > fit.cost(&maxima), "{by} {by_location} {by_scale}");
            }
            let again = Gev::fit(&maxima, Some(truth)).unwrap();
            assert!((again.shape - fit.shape).abs() < 5e-3);
        }
    }

    #[test]
    fn what_is_no_sample_has_no_fit() {
        assert_eq!(Gev::fit(&[], None), None);
        assert_eq!(Gev::fit(&[1.0; 50], None), None);
        assert_eq!(Gev::fit(&[1.0, 2.0, f64::NAN, 3.0], None), None);
    }
}
