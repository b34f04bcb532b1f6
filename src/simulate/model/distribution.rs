//! Distributions of times in a model: their samples and means. Not the random numbers (see
//! `random_numbers`).
//!
//! Logarithms, powers and so on are those of the crate `libm`, which is the same code on every machine.
//! Those of the standard library are of the operating system, and differ in the last digit.

use super::Runs;
use crate::simulate::random_numbers::RandomNumbers;

/// How long something takes. `min`, `max`, `mean`, `deviation` and `scale` are in ns; the others have no
/// unit, and `mu` and `sigma` are of the natural logarithm of ns. Nothing is below 0, nor outside of the
/// limits of a distribution.
#[allow(missing_docs, reason = "the parameters are those of the distributions")]
#[derive(Debug, Clone, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(i64),
    /// Evenly between two times, both inclusive.
    Uniform { min: i64, max: i64 },
    /// A normal distribution, cut at limits.
    Normal { mean: f64, deviation: f64, min: i64, max: i64 },
    /// `min` + a Weibull distribution, cut at `max`.
    Weibull { shape: f64, scale: f64, min: i64, max: i64 },
    /// `min` + (`max` − `min`) × a beta distribution.
    Beta { alpha: f64, beta: f64, min: i64, max: i64 },
    /// The exponential of a normal distribution, of ns, cut at limits.
    LogNormal { mu: f64, sigma: f64, min: i64, max: i64 },
    /// Times that were observed: in this order, again and again, or any of them with the same probability.
    Observed { values: Runs<i64>, in_turn: bool },
}

/// How often a sample outside of the limits is drawn again before it is set to the limit. Distributions
/// of which half is inside of them are set once in 8 billion samples; those of which almost nothing is
/// inside do not make the simulation slow.
const DRAWS: i32 = 32;

impl Distribution {
    /// The next time of a place in a model, in ns: the one whose turn it is, or a sample. `position` is that
    /// of the place, and 0 at first.
    pub fn next(&self, numbers: &mut RandomNumbers, position: &mut u64) -> i64 {
        match self {
            Self::Observed { values, in_turn: true } => {
                let index = values.take_turn(position);
                index.and_then(|index| values.items().get(index)).copied().unwrap_or(0)
            }
            _ => self.sample(numbers),
        }
    }

    /// A sample, in ns: one of the distribution, rounded to the nearest ns. One outside of the limits is
    /// drawn again, up to 32 times; after that it is the limit. Of observed times it is any one.
    pub fn sample(&self, numbers: &mut RandomNumbers) -> i64 {
        match *self {
            Self::Constant(time) => time,
            Self::Uniform { min, max } => numbers.between(min, max),
            Self::Normal { mean, deviation, min, max } => {
                within(min, max, || mean + deviation * normal(numbers))
            }
            Self::Weibull { shape, scale, min, max } => {
                within(min, max, || min as f64 + weibull(shape, scale, numbers))
            }
            Self::Beta { alpha, beta, min, max } => {
                within(min, max, || min as f64 + width(min, max) * beta_share(alpha, beta, numbers))
            }
            Self::LogNormal { mu, sigma, min, max } => {
                within(min, max, || libm::exp(mu + sigma * normal(numbers)))
            }
            Self::Observed { ref values, .. } => {
                let last = i64::try_from(values.count()).unwrap_or(i64::MAX) - 1;
                let index = values.index(numbers.between(0, last).cast_unsigned());
                index.and_then(|index| values.items().get(index)).copied().unwrap_or(0)
            }
        }
    }

    /// The mean of the samples, in ns, but for their rounding.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Constant(time) => time as f64,
            Self::Uniform { min, max } => f64::midpoint(min as f64, max as f64),
            Self::Normal { mean, deviation, min, max } => {
                if deviation <= 0.0 {
                    return mean.clamp(min as f64, max.max(min) as f64);
                }
                let (low, high) = ((min as f64 - mean) / deviation, (max as f64 - mean) / deviation);
                let parts = Parts {
                    below: normal_share(low),
                    above: normal_share(-high),
                    // The integral of x over the density inside of the limits.
                    inside: mean * between(low, high) + deviation * (density(low) - density(high)),
                };
                parts.mean(min, max)
            }
            Self::Weibull { shape, scale, min, max } => {
                let power = libm::pow(width(min, max) / scale, shape);
                let inside = scale * incomplete_gamma(1.0 + 1.0 / shape, power);
                let above = libm::exp(-power);
                Parts { below: 0.0, above, inside: inside + min as f64 * -libm::expm1(-power) }.mean(min, max)
            }
            Self::Beta { alpha, beta, min, max } => min as f64 + width(min, max) * alpha / (alpha + beta),
            Self::LogNormal { mu, sigma, min, max } => {
                if sigma <= 0.0 {
                    return libm::exp(mu).clamp(min as f64, max.max(min) as f64);
                }
                let standard = |time: i64| (libm::log(time as f64) - mu) / sigma;
                let (low, high) = (standard(min), standard(max));
                let all = libm::exp(mu + sigma * sigma / 2.0);
                let parts = Parts {
                    below: normal_share(low),
                    above: normal_share(-high),
                    inside: all * between(low - sigma, high - sigma),
                };
                parts.mean(min, max)
            }
            Self::Observed { ref values, .. } => {
                let sum: i128 =
                    values.iter().map(|(times, time)| i128::from(times) * i128::from(*time)).sum();
                sum as f64 / values.count().max(1) as f64
            }
        }
    }

    /// The limits, both inclusive: the least and the greatest sample, in ns.
    pub fn limits(&self) -> (i64, i64) {
        match *self {
            Self::Constant(time) => (time, time),
            Self::Uniform { min, max }
            | Self::Normal { min, max, .. }
            | Self::Weibull { min, max, .. }
            | Self::Beta { min, max, .. }
            | Self::LogNormal { min, max, .. } => (min, max),
            Self::Observed { ref values, .. } => {
                let (min, max) = (values.items().iter().min(), values.items().iter().max());
                (min.copied().unwrap_or(0), max.copied().unwrap_or(0))
            }
        }
    }
}

/// A distribution that is cut: the probabilities of what is outside, and the integral of what is inside.
struct Parts {
    below: f64,
    above: f64,
    inside: f64,
}

impl Parts {
    /// The mean when a sample outside is drawn again so many times, and then set to its limit.
    fn mean(&self, min: i64, max: i64) -> f64 {
        let outside = (self.below + self.above).clamp(0.0, 1.0);
        let clamped = libm::pow(outside, f64::from(DRAWS));
        // The geometric series of all draws: 1 + outside + outside² + …
        let draws =
            if outside < 1.0 { (1.0 - clamped * outside) / (1.0 - outside) } else { f64::from(DRAWS + 1) };
        let mean = self.inside * draws + clamped * (self.below * min as f64 + self.above * max as f64);
        mean.clamp(min as f64, max.max(min) as f64)
    }
}

/// How far apart the limits are, in ns.
fn width(min: i64, max: i64) -> f64 {
    max.saturating_sub(min).max(0) as f64
}

/// Draws until a sample, rounded, is inside of the limits, or for the last time.
fn within(min: i64, max: i64, mut draw: impl FnMut() -> f64) -> i64 {
    // The conversion saturates, and what is no number becomes 0.
    let mut time = libm::rint(draw()) as i64;
    for _ in 0..DRAWS {
        if (min..=max).contains(&time) {
            return time;
        }
        time = libm::rint(draw()) as i64;
    }
    time.min(max).max(min)
}

/// A sample of the standard normal distribution: G. Box and M. Muller, "A note on the generation of random
/// normal deviates", Ann. Math. Statist. 29 (1958); only the cosine, so that a sample needs no memory.
fn normal(numbers: &mut RandomNumbers) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - numbers.unit()));
    radius * libm::cos(std::f64::consts::TAU * numbers.unit())
}

/// A sample of a Weibull distribution, by the inverse of its distribution function.
fn weibull(shape: f64, scale: f64, numbers: &mut RandomNumbers) -> f64 {
    scale * libm::pow(-libm::log(1.0 - numbers.unit()), 1.0 / shape)
}

/// A sample of a beta distribution: x / (x + y) of two gamma distributions (L. Devroye, "Non-uniform
/// random variate generation", 1986, IX.4).
fn beta_share(alpha: f64, beta: f64, numbers: &mut RandomNumbers) -> f64 {
    let (x, y) = (gamma(alpha, numbers), gamma(beta, numbers));
    let share = x / (x + y);
    // Both are 0 only where the parameters are so small that nearly all samples are at the two limits.
    if share.is_nan() { f64::from(u8::from(numbers.chance(alpha / (alpha + beta)))) } else { share }
}

/// A sample of a gamma distribution of scale 1: G. Marsaglia and W. Tsang, "A simple method for generating
/// gamma variables", ACM TOMS 26 (2000), with their step from `shape + 1` for shapes below 1.
fn gamma(shape: f64, numbers: &mut RandomNumbers) -> f64 {
    if shape < 1.0 {
        let power = libm::pow(1.0 - numbers.unit(), 1.0 / shape);
        return gamma(shape + 1.0, numbers) * power;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    // One round succeeds with at least 95 %; the bound is for parameters that are no numbers.
    for _ in 0..1000 {
        let x = normal(numbers);
        let v = 1.0 + c * x;
        let v = v * v * v;
        if v > 0.0 && libm::log(1.0 - numbers.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return d * v;
        }
    }
    d
}

/// The density of the standard normal distribution.
fn density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / libm::sqrt(std::f64::consts::TAU)
}

/// The distribution function of the standard normal distribution.
fn normal_share(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// The probability of the standard normal distribution between two numbers: on the side where the two
/// tails are small, so that they keep their digits.
fn between(low: f64, high: f64) -> f64 {
    if low > 0.0 { normal_share(-low) - normal_share(-high) } else { normal_share(high) - normal_share(low) }
}

/// The lower incomplete gamma function, not divided by the complete one, by its series (NIST DLMF 8.7.1).
fn incomplete_gamma(a: f64, x: f64) -> f64 {
    // Beyond, the rest is less than the last digit of the complete function.
    if x > 60.0 + 3.0 * a {
        return libm::tgamma(a);
    }
    if x <= 0.0 {
        return 0.0;
    }
    let (mut term, mut sum) = (1.0 / a, 1.0 / a);
    // The terms rise up to n = x, then fall faster than a geometric series.
    for n in 1..2000 {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum * libm::exp(a * libm::log(x) - x)
}

#[cfg(test)]
mod tests {
    use super::Distribution::{Beta, Constant, LogNormal, Normal, Uniform, Weibull};
    use super::*;

    const MS: i64 = 1_000_000;
    const FAR: i64 = 1_000 * MS;
    const SAMPLES: u32 = 100_000;

    /// The mean and the standard deviation of samples.
    fn moments(distribution: &Distribution) -> (f64, f64) {
        let mut numbers = RandomNumbers::stream(5, "moments");
        let samples: Vec<f64> = (0..SAMPLES).map(|_| distribution.sample(&mut numbers) as f64).collect();
        let mean = samples.iter().sum::<f64>() / f64::from(SAMPLES);
        let variance = samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(SAMPLES - 1);
        (mean, variance.sqrt())
    }

    /// Within 4 standard errors of the mean.
    fn assert_mean(distribution: &Distribution) {
        let (mean, deviation) = moments(distribution);
        let error = 4.0 * deviation / f64::from(SAMPLES).sqrt() + 0.5;
        let expected = distribution.mean();
        assert!((mean - expected).abs() <= error, "{distribution:?}: {mean}, not {expected} ± {error}");
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let ms = MS as f64;
        let gamma = libm::tgamma;
        let weibull = |k: f64| {
            (ms * gamma(1.0 + 1.0 / k), ms * (gamma(1.0 + 2.0 / k) - gamma(1.0 + 1.0 / k).powi(2)).sqrt())
        };
        let (mean, deviation) = weibull(1.8);
        for (distribution, mean, deviation) in [
            (Constant(MS), ms, 0.0),
            (Uniform { min: MS, max: 3 * MS }, 2.0 * ms, 2.0 * ms / 12f64.sqrt()),
            (Normal { mean: ms, deviation: ms / 10.0, min: 0, max: FAR }, ms, ms / 10.0),
            (Weibull { shape: 1.8, scale: ms, min: MS, max: FAR }, ms + mean, deviation),
            (Beta { alpha: 2.0, beta: 3.0, min: MS, max: 2 * MS }, 1.4 * ms, 0.2 * ms),
            (Beta { alpha: 0.5, beta: 0.5, min: 0, max: MS }, 0.5 * ms, ms / 8f64.sqrt()),
            (
                LogNormal { mu: ms.ln(), sigma: 0.25, min: 0, max: FAR },
                ms * (0.03125f64).exp(),
                ms * (0.03125f64).exp() * 0.0625f64.exp_m1().sqrt(),
            ),
        ] {
            let (of_samples, spread) = moments(&distribution);
            assert!((of_samples - mean).abs() <= 0.005 * mean, "{distribution:?}: {of_samples}, not {mean}");
            assert!((spread - deviation).abs() <= 0.01 * deviation, "{distribution:?}: {spread}");
            assert!((distribution.mean() - mean).abs() <= 1e-9 * mean, "{distribution:?}");
        }
    }

    #[test]
    fn cut_distributions_keep_their_limits_and_have_the_mean_of_what_is_left() {
        let ms = MS as f64;
        for distribution in [
            Normal { mean: ms, deviation: ms / 2.0, min: 900_000, max: 2 * MS },
            Normal { mean: 0.0, deviation: ms, min: 3 * MS, max: 9 * MS },
            Normal { mean: 0.0, deviation: ms, min: 9 * MS, max: 10 * MS },
            Normal { mean: ms, deviation: 0.0, min: 2 * MS, max: 9 * MS },
            Weibull { shape: 0.7, scale: ms, min: MS, max: 2 * MS },
            Weibull { shape: 3.0, scale: ms, min: 0, max: MS },
            LogNormal { mu: ms.ln(), sigma: 1.0, min: MS, max: 3 * MS },
            LogNormal { mu: ms.ln(), sigma: 0.0, min: 0, max: 3 * MS },
        ] {
            assert_mean(&distribution);
            let (min, max) = distribution.limits();
            let mut numbers = RandomNumbers::from_seed(3);
            assert!((0..10_000).all(|_| (min..=max).contains(&distribution.sample(&mut numbers))));
        }
    }

    #[test]
    fn observed_times_are_taken_in_turn_or_drawn() {
        let values: Runs<i64> = [(1, MS), (3, 2 * MS), (1, 3 * MS)].into_iter().collect();
        let in_turn = Distribution::Observed { values: values.clone(), in_turn: true };
        let one_of = Distribution::Observed { values, in_turn: false };
        let (mut numbers, mut position) = (RandomNumbers::from_seed(3), 0);
        let times = [(); 7].map(|()| in_turn.next(&mut numbers, &mut position));
        assert_eq!(times, [1, 2, 2, 2, 3, 1, 2].map(|ms| ms * MS));
        assert_eq!(numbers, RandomNumbers::from_seed(3), "turns take no random numbers");
        for distribution in [&in_turn, &one_of] {
            assert_eq!((distribution.mean(), distribution.limits()), (2.0 * MS as f64, (MS, 3 * MS)));
            assert_mean(distribution);
        }
        let mut counts = [0u32; 4];
        for _ in 0..50_000 {
            counts[(one_of.next(&mut numbers, &mut position) / MS) as usize] += 1;
        }
        // 4 standard deviations of binomial distributions.
        assert!(counts[1].abs_diff(10_000) < 358 && counts[2].abs_diff(30_000) < 439, "{counts:?}");
    }

    #[test]
    fn parameters_without_sense_give_a_sample_within_the_limits() {
        let mut numbers = RandomNumbers::from_seed(3);
        for distribution in [
            Normal { mean: f64::NAN, deviation: 1.0, min: 5, max: 9 },
            Normal { mean: 1e300, deviation: 1e300, min: 5, max: 9 },
            Beta { alpha: 1e-300, beta: 1e-300, min: 5, max: 9 },
            Beta { alpha: f64::NAN, beta: 1.0, min: 5, max: 9 },
            Weibull { shape: 1e-300, scale: 1e300, min: 5, max: 9 },
        ] {
            let sample = distribution.sample(&mut numbers);
            assert!((5..=9).contains(&sample), "{distribution:?}: {sample}");
        }
    }

    #[test]
    fn samples_stay_what_they_are() {
        let mut numbers = RandomNumbers::stream(1, "T_1");
        let ms = MS as f64;
        let samples = [
            Uniform { min: 0, max: MS },
            Normal { mean: ms, deviation: ms / 10.0, min: 0, max: FAR },
            Weibull { shape: 1.8, scale: ms, min: 0, max: FAR },
            Beta { alpha: 0.5, beta: 3.0, min: 0, max: MS },
            LogNormal { mu: 13.8, sigma: 0.25, min: 0, max: FAR },
        ]
        .map(|distribution| distribution.sample(&mut numbers));
        assert_eq!(samples, [717_547, 1_086_975, 1_548_125, 398_913, 893_017]);
    }
}
