//! Weibull distributions with a given least, mean and greatest time. Not their samples (see
//! `model::distribution`).

use crate::simulate::model::Distribution;

/// The probability of times above the greatest one, before the distribution is cut there. Chosen: the paper
/// has the limits and the mean, and a Weibull distribution has no limit.
const BEYOND: f64 = 0.005;

/// Rounds of a bisection: as many as halve 60 to less than the last digit of a number around 1.
const ROUNDS: u32 = 60;

/// A distribution with these limits and this mean, in ns.
///
/// The shape makes [`BEYOND`] hold, but is at least 1: with less, nearly all times would be next to the
/// least one. Where the mean is near the least time it is 1, with scales that are within 6 % of those of
/// Günzel et al., and 13 % for 200 ms. The scale then makes the mean exact, also that of the distribution
/// that is cut.
pub fn fitted(min: f64, mean: f64, max: f64) -> Distribution {
    let (low, high) = (libm::rint(min) as i64, libm::rint(max) as i64);
    if high <= low || mean <= low as f64 || mean >= high as f64 {
        return Distribution::Constant(libm::rint(mean) as i64);
    }
    let part = (mean - min) / (max - min);
    let shape = bisect(1.0, 60.0, |shape| {
        let power = 1.0 / shape;
        libm::tgamma(1.0 + power) / libm::pow(-libm::log(BEYOND), power) < part
    });
    let of_scale = |scale| Distribution::Weibull { shape, scale, min: low, max: high };
    let scale = bisect(0.01 * (mean - min), 20.0 * (max - min), |scale| of_scale(scale).mean() < mean);
    of_scale(scale)
}

/// Where `is_below` changes from true to false.
fn bisect(low: f64, high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..ROUNDS {
        let middle = f64::midpoint(low, high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::super::tables::PATTERNS;
    use super::*;

    #[test]
    fn the_fitted_mean_is_that_of_the_table() {
        for pattern in PATTERNS {
            let [min, mean, max] = pattern.average;
            let fitted = fitted(min, mean, max);
            assert!((fitted.mean() / mean - 1.0).abs() < 1e-3, "{pattern:?}: {fitted:?}, {}", fitted.mean());
            assert_eq!(fitted.limits(), (min.round() as i64, max.round() as i64));
        }
    }

    #[test]
    fn scales_are_those_of_others_who_fitted_the_table() {
        // Scales of Günzel et al. for 1 to 200 ms, in ns.
        let theirs = [0.214, 0.247_946, 0.09, 0.0985, 0.113_819, 0.056_855, 0.094_480, 0.370_605];
        for (pattern, rate) in PATTERNS.iter().zip(theirs) {
            let [min, mean, max] = pattern.average;
            let Distribution::Weibull { shape, scale, .. } = fitted(min, mean, max) else { panic!() };
            let same = scale * rate / 1e3;
            assert!((0.86..1.1).contains(&same), "{pattern:?}: shape {shape}, scale {scale}, {same}");
        }
    }

    #[test]
    fn what_has_no_width_is_constant() {
        assert_eq!(fitted(5.0, 5.0, 5.0), Distribution::Constant(5));
        assert_eq!(fitted(5.0, 4.0, 9.0), Distribution::Constant(4));
    }
}
