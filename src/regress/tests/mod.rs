//! Summaries against naive computations, tests against published numbers, verdicts and causes of known
//! truths.

mod causes;
mod histories;
mod levels;
mod numbers;
mod summaries;
mod verdicts;

use super::random::Stream;
use super::{Side, Summary};

/// Random numbers for made-up samples.
struct Dice(Stream);

impl Dice {
    fn of(seed: u64) -> Self {
        Self(Stream::of(seed, 99))
    }

    /// Above 0, below 1.
    fn unit(&mut self) -> f64 {
        ((self.0.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A series in which each deviation is `rho` times the last one, and something new: mean 100,000,
    /// standard deviation 5000.
    fn autoregressive(&mut self, rho: f64, n: usize) -> Vec<f64> {
        let mut state = self.normal();
        let mut next = || {
            state = rho * state + (1.0 - rho * rho).sqrt() * self.normal();
            100_000.0 + 5000.0 * state
        };
        (0..n).map(|_| next()).collect()
    }
}

fn summed(values: &[f64]) -> Summary {
    values.iter().map(|value| value.round() as i64).collect()
}

fn side(values: &[f64]) -> Side {
    [summed(values)].into_iter().collect()
}
