//! Samples in the order of time and in the order of size: ranks, the step of the clock, how many are alike.
//! Not what follows from them.

/// Samples by size, and the rank of each sample in the order of time.
pub(super) struct Sample {
    /// Ascending.
    pub sorted: Vec<i64>,
    /// For each sample in the order of time, how many are less plus half of those that are alike, less half
    /// of all: centred on 0. Ranks do not care how heavy the tail is.
    pub ranks: Vec<f64>,
}

impl Sample {
    /// Sorts the samples: `n log n` time, and about 32 bytes per sample until done.
    pub fn new(samples: &[i64]) -> Self {
        let mut order: Vec<(i64, usize)> = samples.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let centre = samples.len() as f64 / 2.0;
        let mut ranks = vec![0.0; samples.len()];
        let mut less = 0;
        for alike in order.chunk_by(|a, b| a.0 == b.0) {
            let rank = less as f64 + alike.len() as f64 / 2.0 - centre;
            for (_, at) in alike {
                if let Some(place) = ranks.get_mut(*at) {
                    *place = rank;
                }
            }
            less += alike.len();
        }
        Self { sorted: order.into_iter().map(|(value, _)| value).collect(), ranks }
    }
}

/// What is known of how values are spread, without any distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    /// How many different values there are.
    pub distinct: usize,
    /// The share of the commonest value.
    pub commonest: f64,
    /// The least difference of two different values: the step of the clock, if it is coarse.
    pub step: u64,
}

impl Spread {
    /// Of values in ascending order.
    pub fn of(sorted: &[i64]) -> Self {
        let mut spread = Self { distinct: 0, commonest: 0.0, step: u64::MAX };
        let mut before: Option<i64> = None;
        let mut most = 0;
        for alike in sorted.chunk_by(|a, b| a == b) {
            spread.distinct += 1;
            most = most.max(alike.len());
            if let (Some(before), Some(value)) = (before, alike.first()) {
                spread.step = spread.step.min(value.abs_diff(before));
            }
            before = alike.first().copied();
        }
        spread.commonest = most as f64 / sorted.len().max(1) as f64;
        if spread.distinct < 2 {
            spread.step = 0;
        }
        spread
    }
}

/// The ranks of numbers, as those of samples.
pub(super) fn ranks_of(values: &[i64]) -> Vec<f64> {
    Sample::new(values).ranks
}

/// The difference of two samples. Exact up to 2⁵³, as near as floating point gets above.
pub(super) fn difference(a: i64, b: i64) -> f64 {
    (i128::from(a) - i128::from(b)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_alike_samples_are_alike() {
        let sample = Sample::new(&[5, 1, 5, 9]);
        assert_eq!(sample.sorted, [1, 5, 5, 9]);
        assert_eq!(sample.ranks, [0.0, -1.5, 0.0, 1.5]);
        assert!(Sample::new(&[]).ranks.is_empty());
    }

    #[test]
    fn ranks_are_those_of_counting() {
        let mut random = super::super::numbers::Random::new(3);
        let samples: Vec<i64> = (0..300).map(|_| (random.bits() % 40) as i64 - 20).collect();
        let sample = Sample::new(&samples);
        for (value, rank) in samples.iter().zip(&sample.ranks) {
            let less = samples.iter().filter(|other| *other < value).count() as f64;
            let alike = samples.iter().filter(|other| *other == value).count() as f64;
            assert_eq!(*rank, less + alike / 2.0 - 150.0);
        }
    }

    #[test]
    fn spreads_see_clocks_and_common_values() {
        let spread = Spread::of(&[10, 20, 20, 50, 50, 50]);
        assert_eq!(spread, Spread { distinct: 3, commonest: 0.5, step: 10 });
        assert_eq!(Spread::of(&[7, 7]), Spread { distinct: 1, commonest: 1.0, step: 0 });
        assert_eq!(Spread::of(&[]).distinct, 0);
        assert_eq!(Spread::of(&[i64::MIN, i64::MAX]).step, u64::MAX);
        assert_eq!(difference(i64::MAX, i64::MIN), 1.844_674_407_370_955_2e19);
    }
}
