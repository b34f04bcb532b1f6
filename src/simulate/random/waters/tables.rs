//! The published figures of an engine control unit. Not the model that is made of them.
//!
//! S. Kramer, D. Ziegenbein and A. Hamann, "Real World Automotive Benchmarks For Free", WATERS 2015: table
//! III (how many runnables have which period), table IV (average execution times) and table V (how far the
//! best and the worst case are from the average); tables VI and VII for cause-effect chains. The numbers
//! are the same in two programs that others made after the paper, and as far as these have them in the
//! generator of M. Günzel et al., github.com/tu-dortmund-ls12-rt/mrt_mda, `eval/benchmark_WATERS.py`.

use crate::simulate::random_numbers::RandomNumbers;

/// The runnables of one period.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// In ms; none: once per combustion of a cylinder.
    pub period: Option<i64>,
    /// Of all runnables, in percent.
    pub share: i64,
    /// The least, mean and greatest of the average execution times of runnables, in ns.
    pub average: [f64; 3],
    /// From where to where the best case is, as a factor of the average.
    pub best: (f64, f64),
    /// The same of the worst case.
    pub worst: (f64, f64),
}

const fn pattern(
    period: Option<i64>,
    share: i64,
    average: [f64; 3],
    best: (f64, f64),
    worst: (f64, f64),
) -> Pattern {
    let [min, mean, max] = average;
    Pattern { period, share, average: [min * 1e3, mean * 1e3, max * 1e3], best, worst }
}

/// All of them, in the order of the paper, with times in us.
pub const PATTERNS: [Pattern; 10] = [
    pattern(Some(1), 3, [0.34, 5.00, 30.11], (0.19, 0.92), (1.30, 29.11)),
    pattern(Some(2), 2, [0.32, 4.20, 40.69], (0.12, 0.89), (1.54, 19.04)),
    pattern(Some(5), 2, [0.36, 11.04, 83.38], (0.17, 0.94), (1.13, 18.44)),
    pattern(Some(10), 25, [0.21, 10.09, 309.87], (0.05, 0.99), (1.06, 30.03)),
    pattern(Some(20), 25, [0.25, 8.74, 291.42], (0.11, 0.98), (1.06, 15.61)),
    pattern(Some(50), 3, [0.29, 17.56, 92.98], (0.32, 0.95), (1.13, 7.76)),
    pattern(Some(100), 20, [0.21, 10.53, 420.43], (0.09, 0.99), (1.02, 8.88)),
    pattern(Some(200), 1, [0.22, 2.56, 21.95], (0.45, 0.98), (1.03, 4.90)),
    pattern(Some(1000), 4, [0.37, 0.43, 0.46], (0.68, 0.80), (1.84, 4.75)),
    pattern(None, 15, [0.45, 6.52, 88.58], (0.13, 0.92), (1.20, 28.17)),
];

/// How many periods a chain goes through: number and percent of chains.
pub const PERIODS_OF_CHAIN: [(usize, i64); 3] = [(1, 70), (2, 20), (3, 10)];

/// How many runnables it has of each of its periods.
pub const RUNNABLES_OF_CHAIN: [(usize, i64); 4] = [(2, 30), (3, 40), (4, 20), (5, 10)];

/// One of some, each with its share of the probability.
pub fn weighted(numbers: &mut RandomNumbers, from: &[(usize, i64)]) -> usize {
    let all: i64 = from.iter().map(|(_, weight)| weight).sum();
    let mut at = numbers.between(0, all - 1);
    for (value, weight) in from {
        if at < *weight {
            return *value;
        }
        at -= weight;
    }
    from.first().map_or(0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_a_hundred_and_are_kept() {
        let shares: Vec<(usize, i64)> = PATTERNS.iter().map(|pattern| pattern.share).enumerate().collect();
        for shares in [&shares[..], &PERIODS_OF_CHAIN, &RUNNABLES_OF_CHAIN] {
            assert_eq!(shares.iter().map(|(_, share)| share).sum::<i64>(), 100);
            let mut numbers = RandomNumbers::from_seed(1);
            let drawn: Vec<usize> = (0..10_000).map(|_| weighted(&mut numbers, shares)).collect();
            for (value, share) in shares {
                let count = drawn.iter().filter(|drawn| *drawn == value).count() as i64;
                // 4 standard deviations of a binomial distribution, at most.
                assert!((count - share * 100).abs() < 200, "{value}: {count}, not {share} %");
            }
        }
    }
}
