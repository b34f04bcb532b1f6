//! Random numbers that are the same on every machine, and the probabilities that the tests need. Not for
//! secrets, and not the distributions of extremes (see `gev` and `gpd`).
//!
//! Exponentials and logarithms of this room are those of the crate `libm`, which is the same code on every
//! machine: a fit and its intervals must not depend on the machine either.

use crate::chance::{SplitMix64, score};

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Random(SplitMix64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number between 0 and 1; it is neither.
    pub fn open_unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// An exponentially distributed number of mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.open_unit())
    }
}

/// The probability that a chi-squared variable of `2 * half` degrees of freedom is greater than `x`. With an
/// even number of degrees it is a finite sum: that of a Poisson distribution.
pub(super) fn chi_squared_beyond(x: f64, half: usize) -> f64 {
    let x = x.max(0.0) / 2.0;
    let mut term = libm::exp(-x);
    let mut sum = 0.0;
    for n in 0..half {
        sum += term;
        term *= x / (n + 1) as f64;
    }
    sum.clamp(0.0, 1.0)
}

/// The quantile of the chi-squared distribution of one degree of freedom: the square of the number that a
/// standard normal variable stays within, either side, with this probability. `probability` is taken as at
/// most 1 - 10⁻¹².
pub(super) fn chi_squared_quantile(probability: f64) -> f64 {
    let within = if probability.is_nan() { 0.0 } else { probability.clamp(0.0, 1.0 - 1e-12) };
    score(1.0 - within).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        // scipy.stats.chi2.ppf([0.5, 0.9, 0.95, 0.99, 0.999], 1)
        for (probability, expected) in [
            (0.5, 0.454_936_423_119_572_7),
            (0.9, 2.705_543_454_095_414_6),
            (0.95, 3.841_458_820_694_124),
            (0.99, 6.634_896_601_021_214),
            (0.999, 10.827_566_170_662_733),
        ] {
            assert!((chi_squared_quantile(probability) - expected).abs() < 1e-9, "{probability}");
        }
        assert!(chi_squared_quantile(f64::NAN) < 1e-9 && chi_squared_quantile(2.0).is_finite());
    }

    #[test]
    fn probabilities_beyond_are_those_of_tables() {
        // scipy.stats.chi2.sf([1, 10, 40], 20), and chi2.sf(3, 2)
        for (x, half, expected) in [
            (1.0, 10, 0.999_999_999_829_033),
            (10.0, 10, 0.968_171_942_693_795_2),
            (40.0, 10, 0.004_995_412_308_307_579),
            (3.0, 1, 0.223_130_160_148_429_8),
        ] {
            assert!((chi_squared_beyond(x, half) - expected).abs() < 1e-9, "{x}");
        }
        assert_eq!(chi_squared_beyond(1e9, 10), 0.0);
    }

    #[test]
    fn exponential_numbers_have_their_mean() {
        let mut random = Random::new(1_477_776_061_723_855_037);
        let mean = (0..100_000).map(|_| random.exponential()).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
    }
}
