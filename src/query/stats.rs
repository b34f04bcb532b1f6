//! Samples of one entity → their statistics. Exact, and the same whatever the order in which samples come. Not for
//! finding the samples.

use std::cmp::Ordering;

/// Collects the samples of one entity.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    integers: Column<i64>,
    fractions: Column<f64>,
    /// Exact sum of the integer samples.
    sum: i128,
    incomplete: i64,
}

/// Samples of one type, and the least and the greatest of them with their times.
#[derive(Debug, Clone, Default)]
struct Column<T> {
    values: Vec<T>,
    min: Option<(T, i64)>,
    max: Option<(T, i64)>,
}

impl<T: PartialOrd + Copy> Column<T> {
    fn push(&mut self, value: T, at: Option<i64>) {
        let at = at.unwrap_or(i64::MAX);
        if self.min.is_none_or(|(v, t)| value < v || (value == v && at < t)) {
            self.min = Some((value, at));
        }
        if self.max.is_none_or(|(v, t)| value > v || (value == v && at < t)) {
            self.max = Some((value, at));
        }
        self.values.push(value);
    }
}

/// Statistics of samples: what is `None` has too few of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Statistics {
    pub count: i64,
    pub incomplete: i64,
    pub min: Option<f64>,
    pub avg: Option<f64>,
    pub max: Option<f64>,
    pub stddev: Option<f64>,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub min_at: Option<i64>,
    pub max_at: Option<i64>,
}

impl Samples {
    /// Adds a sample in ticks or a number of things.
    pub fn push_integer(&mut self, value: i64, at: Option<i64>) {
        self.sum += i128::from(value);
        self.integers.push(value, at);
    }

    /// Adds a sample that is not a whole number; all samples of an entity are of the same kind.
    pub fn push_fraction(&mut self, value: f64, at: Option<i64>) {
        self.fractions.push(value, at);
    }

    /// Counts an instance that gives no sample because the trace cuts it off.
    pub fn push_incomplete(&mut self) {
        self.incomplete += 1;
    }

    /// The statistics of what was added.
    pub fn finish(mut self) -> Statistics {
        let incomplete = self.incomplete;
        if self.fractions.values.is_empty() {
            let stddev = spread(&self.integers.values, self.sum);
            let percentiles =
                PERCENTILES.map(|p| percentile(&mut self.integers.values, p, i64::cmp, |v| v as f64));
            let avg = self.sum as f64 / self.integers.values.len() as f64;
            return Statistics {
                stddev,
                ..self.integers.statistics(incomplete, avg, percentiles, |v| v as f64)
            };
        }
        let values = &mut self.fractions.values;
        // Sums of fractions depend on their order.
        values.sort_by(f64::total_cmp);
        let n = values.len() as f64;
        let avg = values.iter().sum::<f64>() / n;
        let spread = (values.iter().map(|v| (v - avg).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let stddev = (values.len() > 1).then_some(spread);
        let percentiles = PERCENTILES.map(|p| percentile(values, p, f64::total_cmp, |v| v));
        Statistics { stddev, ..self.fractions.statistics(incomplete, avg, percentiles, |v| v) }
    }
}

const PERCENTILES: [f64; 3] = [0.50, 0.95, 0.99];

impl<T: Copy> Column<T> {
    fn statistics(
        &self,
        incomplete: i64,
        avg: f64,
        [p50, p95, p99]: [Option<f64>; 3],
        number: impl Fn(T) -> f64,
    ) -> Statistics {
        let time = |moment: Option<(T, i64)>| moment.map(|(_, at)| at).filter(|at| *at != i64::MAX);
        Statistics {
            count: i64::try_from(self.values.len()).unwrap_or(i64::MAX),
            incomplete,
            min: self.min.map(|(v, _)| number(v)),
            avg: (!self.values.is_empty()).then_some(avg),
            max: self.max.map(|(v, _)| number(v)),
            stddev: None,
            p50,
            p95,
            p99,
            min_at: time(self.min),
            max_at: time(self.max),
        }
    }
}

/// The standard deviation of integers with that sum, whatever their order: squares of distances from a whole number near
/// the average are summed without rounding.
fn spread(values: &[i64], sum: i128) -> Option<f64> {
    let n = i128::try_from(values.len()).ok().filter(|n| *n > 1)?;
    let center = sum / n;
    let rest = (sum - n * center) as f64;
    // A distance is below 2^64, its square below 2^128; a sum of squares that is not is infinite for all purposes.
    let square = |v: &i64| (i128::from(*v) - center).unsigned_abs().pow(2);
    let squares = values.iter().map(square).fold(0u128, u128::saturating_add);
    Some(((squares as f64 - rest * rest / n as f64) / (n - 1) as f64).sqrt())
}

/// The value below which the share `p` of the samples lies, interpolated between the two nearest: SQL's
/// `percentile_cont`. The rank is `p` · (n − 1), counted from 0.
fn percentile<T: Copy>(
    values: &mut [T],
    p: f64,
    order: fn(&T, &T) -> Ordering,
    number: impl Fn(T) -> f64,
) -> Option<f64> {
    let rank = p * values.len().checked_sub(1)? as f64;
    let (_, low, above) = values.select_nth_unstable_by(rank.floor() as usize, order);
    let low = number(*low);
    let high = match rank.fract() > 0.0 {
        true => above.iter().copied().min_by(order).map_or(low, number),
        false => low,
    };
    Some(low + (high - low) * rank.fract())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[i64]) -> Statistics {
        let mut samples = Samples::default();
        values.iter().enumerate().for_each(|(i, v)| samples.push_integer(*v, Some(i as i64)));
        samples.finish()
    }

    #[test]
    fn five_samples_by_hand() {
        let s = of(&[20, 10, 40, 10, 40]);
        assert_eq!((s.count, s.min, s.max, s.avg), (5, Some(10.0), Some(40.0), Some(24.0)));
        assert_eq!((s.min_at, s.max_at), (Some(1), Some(2)), "the first of equal values");
        assert_eq!(s.p50, Some(20.0));
        assert_eq!(s.p95, Some(40.0));
        // Squares of the distances from 24: 16 + 196 + 256 + 196 + 256 = 920; 920 / 4 = 230.
        assert!((s.stddev.unwrap() - 230f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn percentiles_are_interpolated() {
        let hundred: Vec<_> = (1..=100).collect();
        let s = of(&hundred);
        assert_eq!(s.p50, Some(50.5));
        assert!((s.p95.unwrap() - 95.05).abs() < 1e-9 && (s.p99.unwrap() - 99.01).abs() < 1e-9);
    }

    #[test]
    fn too_few_samples_have_no_statistics() {
        let mut none = Samples::default();
        none.push_incomplete();
        assert_eq!(none.finish(), Statistics { incomplete: 1, ..Statistics::default() });
        let one = of(&[7]);
        assert_eq!((one.avg, one.p99, one.stddev), (Some(7.0), Some(7.0), None));
    }

    proptest! {
        #[test]
        fn the_order_of_samples_does_not_matter(mut values in prop::collection::vec(-1_000_000i64..1_000_000, 1..50)) {
            let forward = of(&values);
            values.reverse();
            let backward = of(&values);
            prop_assert_eq!(Statistics { min_at: None, max_at: None, ..forward },
                Statistics { min_at: None, max_at: None, ..backward });
            prop_assert!(forward.min <= forward.p50 && forward.p50 <= forward.p95 && forward.p99 <= forward.max);
        }
    }
}
