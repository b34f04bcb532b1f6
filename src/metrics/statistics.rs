//! Samples of one entity, in any order → their exact statistics. Not for finding the samples.

use std::cmp::Ordering;

use super::histogram::{Bin, Extent, bins};
use super::values::{Moment, NEVER, Values};

/// Collects the samples of one entity.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    values: Values,
    /// Exact sum of samples that are whole numbers.
    sum: i128,
    incomplete: i64,
}

/// Statistics of samples: `None` for those that need more samples.
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
    pub p999: Option<f64>,
    /// Greatest − least sample.
    pub jitter: Option<f64>,
    pub min_at: Option<i64>,
    pub max_at: Option<i64>,
    /// Number of samples below and above the bounds, if there are bounds.
    pub beyond: [i64; 2],
}

impl Samples {
    /// Adds a sample in ticks or a number of things.
    #[inline]
    pub fn push_integer(&mut self, value: i64, at: Option<i64>) {
        self.sum += i128::from(value);
        self.values.push_integer(value, at.unwrap_or(NEVER));
    }

    /// Adds a fractional sample; all samples of an entity are then taken as such.
    pub fn push_fraction(&mut self, value: f64, at: Option<i64>) {
        self.values.push_fraction(value, at.unwrap_or(NEVER));
    }

    /// Counts an instance without a sample, because the trace cuts it off.
    pub fn push_incomplete(&mut self) {
        self.incomplete += 1;
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.values.len()
    }

    /// The least and the greatest sample; `None` if there is none.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        self.values.extremes().map(|[min, max]| (min.value, max.value))
    }

    /// Samples that were passed on: their values, the instants of the least and of the greatest, and how many
    /// instances have none.
    #[cfg(feature = "cluster")]
    pub fn passed(integers: &[i64], fractions: &[f64], at: [Option<i64>; 2], incomplete: i64) -> Self {
        let mut samples = Self { incomplete, ..Self::default() };
        integers.iter().for_each(|value| samples.push_integer(*value, None));
        fractions.iter().for_each(|value| samples.push_fraction(*value, None));
        samples.values.set_times(at.map(|at| at.unwrap_or(NEVER)));
        samples
    }

    /// The samples that are whole numbers.
    #[cfg(feature = "cluster")]
    pub fn integers(&self) -> Box<dyn Iterator<Item = i64> + '_> {
        match &self.values {
            Values::Narrow(series) => Box::new(series.values.iter().copied().map(i64::from)),
            Values::Wide(series) => Box::new(series.values.iter().copied()),
            Values::Fractions(_) => Box::new(std::iter::empty()),
        }
    }

    /// The samples that are not.
    #[cfg(feature = "cluster")]
    pub fn fractions(&self) -> &[f64] {
        match &self.values {
            Values::Fractions(series) => &series.values,
            _ => &[],
        }
    }

    /// How many instances have no sample.
    #[cfg(feature = "cluster")]
    pub fn incomplete(&self) -> i64 {
        self.incomplete
    }

    /// The instants of the least and of the greatest sample.
    #[cfg(feature = "cluster")]
    pub fn extremes_at(&self) -> [Option<i64>; 2] {
        let at = |moment: Moment<f64>| Some(moment.at).filter(|at| *at != NEVER);
        self.values.extremes().map_or([None; 2], |both| both.map(at))
    }

    /// Adds the samples of another recording. Of equal extremes, those that were there first count.
    pub fn join(&mut self, other: Self) {
        self.sum += other.sum;
        self.incomplete += other.incomplete;
        self.values.join(other.values);
    }

    pub fn finish(mut self) -> Statistics {
        self.statistics()
    }

    /// The statistics of all samples, and their histogram.
    pub fn finish_with_bins(mut self) -> (Statistics, Vec<Bin>) {
        let statistics = self.statistics();
        let Statistics { min: Some(min), max: Some(max), p50: Some(median), .. } = statistics else {
            return (statistics, Vec::new());
        };
        let extent = Extent { min, max, median };
        let bins = match self.values {
            Values::Narrow(series) => bins(series.values.iter().map(|v| f64::from(*v)), true, extent),
            Values::Wide(series) => bins(series.values.iter().map(|v| *v as f64), true, extent),
            Values::Fractions(series) => bins(series.values.iter().copied(), false, extent),
        };
        (statistics, bins)
    }

    /// The statistics of all samples, and how many of them are outside of `[lower, upper]`.
    pub fn finish_within(mut self, lower: f64, upper: f64) -> Statistics {
        let statistics = self.statistics();
        let beyond = match &self.values {
            Values::Narrow(series) => beyond(series.values.iter().map(|v| f64::from(*v)), lower, upper),
            Values::Wide(series) => beyond(series.values.iter().map(|v| *v as f64), lower, upper),
            Values::Fractions(series) => beyond(series.values.iter().copied(), lower, upper),
        };
        Statistics { beyond, ..statistics }
    }

    /// Changes the order of the samples.
    fn statistics(&mut self) -> Statistics {
        let known = Statistics { incomplete: self.incomplete, ..Statistics::default() };
        let Some([min, max]) = self.values.extremes() else { return known };
        let time = |moment: Moment<f64>| Some(moment.at).filter(|at| *at != NEVER);
        let known = Statistics {
            min: Some(min.value),
            max: Some(max.value),
            jitter: Some(max.value - min.value),
            min_at: time(min),
            max_at: time(max),
            ..known
        };
        match &mut self.values {
            Values::Narrow(series) => of_integers(&mut series.values, self.sum, known, f64::from),
            Values::Wide(series) => of_integers(&mut series.values, self.sum, known, |v| v as f64),
            Values::Fractions(series) => of_fractions(&mut series.values, known),
        }
    }
}

/// How many values are less than `lower`, and how many greater than `upper`.
fn beyond(values: impl Iterator<Item = f64> + Clone, lower: f64, upper: f64) -> [i64; 2] {
    [values.clone().filter(|v| *v < lower).count(), values.filter(|v| *v > upper).count()].map(|n| n as i64)
}

fn of_integers<T: Copy + Ord + Into<i64>>(
    values: &mut [T],
    sum: i128,
    known: Statistics,
    number: fn(T) -> f64,
) -> Statistics {
    let stddev = spread(values, sum);
    let [p50, p95, p99, p999] = percentiles(values, |a, b| a.cmp(b), number);
    let avg = (!values.is_empty()).then(|| sum as f64 / values.len() as f64);
    let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
    Statistics { count, avg, stddev, p50, p95, p99, p999, ..known }
}

fn of_fractions(values: &mut [f64], known: Statistics) -> Statistics {
    // The sum of fractions depends on their order.
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let spread = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let stddev = (values.len() > 1).then_some(spread);
    let [p50, p95, p99, p999] = percentiles(values, |a, b| a.total_cmp(b), |v| v);
    let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
    Statistics { count, avg: Some(mean), stddev, p50, p95, p99, p999, ..known }
}

/// The standard deviation of integers with that sum, in any order: the squared deviations from a whole number
/// near the average are summed without rounding.
fn spread<T: Copy + Into<i64>>(values: &[T], sum: i128) -> Option<f64> {
    let n = i128::try_from(values.len()).ok().filter(|n| *n > 1)?;
    let center = sum / n;
    let rest = (sum - n * center) as f64;
    // A deviation is below 2^64, its square below 2^128; a greater sum of squares is as good as infinite.
    let square = |v: &T| (i128::from((*v).into()) - center).unsigned_abs().pow(2);
    let squares = values.iter().map(square).fold(0u128, u128::saturating_add);
    Some(((squares as f64 - rest * rest / n as f64) / (n - 1) as f64).sqrt())
}

const PERCENTILES: [f64; 4] = [0.50, 0.95, 0.99, 0.999];

/// The values below which the shares [`PERCENTILES`] of the samples are, interpolated between the two
/// nearest: SQL's `percentile_cont`. The rank is `p` · (n − 1), counted from 0.
fn percentiles<T: Copy>(
    values: &mut [T],
    order: impl Fn(&T, &T) -> Ordering + Copy,
    number: impl Fn(T) -> f64,
) -> [Option<f64>; 4] {
    let last = values.len().checked_sub(1);
    // Selecting a value leaves those that are not less after it: the next one is among them.
    let mut begin = 0;
    PERCENTILES.map(|p| {
        let rank = p * last? as f64;
        let index = rank.floor() as usize;
        let (_, low, above) = values.get_mut(begin..)?.select_nth_unstable_by(index - begin, order);
        begin = index;
        let low = number(*low);
        let high = match rank.fract() > 0.0 {
            true => above.iter().copied().min_by(order).map_or(low, &number),
            false => low,
        };
        Some(low + (high - low) * rank.fract())
    })
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
        assert_eq!(s.jitter, Some(30.0), "40 - 10");
        // Squares of the distances from 24: 16 + 196 + 256 + 196 + 256 = 920; 920 / 4 = 230.
        assert!((s.stddev.unwrap() - 230f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn percentiles_are_interpolated() {
        let hundred: Vec<_> = (1..=100).collect();
        let s = of(&hundred);
        assert_eq!(s.p50, Some(50.5));
        assert!((s.p95.unwrap() - 95.05).abs() < 1e-9 && (s.p99.unwrap() - 99.01).abs() < 1e-9);
        // The rank of p999 is 0.999 · 99 = 98.901: nine tenths and a bit from 99 to 100.
        assert!((s.p999.unwrap() - 99.901).abs() < 1e-9);
    }

    #[test]
    fn too_few_samples_have_no_statistics() {
        let mut none = Samples::default();
        none.push_incomplete();
        assert_eq!(none.finish(), Statistics { incomplete: 1, ..Statistics::default() });
        let one = of(&[7]);
        assert_eq!((one.avg, one.p99, one.p999, one.stddev), (Some(7.0), Some(7.0), Some(7.0), None));
        assert_eq!(one.jitter, Some(0.0));
    }

    #[test]
    fn samples_that_are_not_narrow_count_the_same() {
        let (far, near) = (of(&[7, -3, 1 << 40, 5]), of(&[7, -3, 11, 5]));
        assert_eq!((far.min, far.max, far.p50), (Some(-3.0), Some(2f64.powi(40)), near.p50));
        assert_eq!((far.count, far.min_at, far.max_at), (4, Some(1), Some(2)));
    }

    #[test]
    fn whole_numbers_count_with_fractions() {
        let of = |integers: &[i64], fractions: &[f64]| {
            let mut samples = Samples::default();
            integers.iter().for_each(|v| samples.push_integer(*v, Some(*v)));
            fractions.iter().for_each(|v| samples.push_fraction(*v, Some(9)));
            samples
        };
        let mixed = of(&[4, 1 << 40], &[0.5, 2.5]);
        let mut joined = of(&[4], &[]);
        joined.join(of(&[1 << 40], &[]));
        joined.join(of(&[], &[0.5, 2.5]));
        let mut other_way = of(&[], &[0.5, 2.5]);
        other_way.join(of(&[1 << 40, 4], &[]));
        for samples in [mixed, joined, other_way] {
            let s = samples.finish();
            assert_eq!((s.count, s.min, s.max, s.p50), (4, Some(0.5), Some(2f64.powi(40)), Some(3.25)));
            assert_eq!((s.min_at, s.max_at), (Some(9), Some(1 << 40)));
        }
    }

    #[test]
    fn a_sample_on_a_bound_is_within() {
        let mut samples = Samples::default();
        [7, 8, 9, 10, 11, 12].into_iter().for_each(|v| samples.push_integer(v, None));
        assert_eq!(samples.clone().finish_within(8.0, 11.0).beyond, [1, 1]);
        samples.push_integer(1 << 40, None);
        assert_eq!(samples.finish_within(f64::NEG_INFINITY, 8.0).beyond, [0, 5]);
        let mut shares = Samples::default();
        [0.5, 1.5].into_iter().for_each(|v| shares.push_fraction(v, None));
        assert_eq!(shares.finish_within(1.0, f64::INFINITY).beyond, [1, 0]);
    }

    proptest! {
        #[test]
        fn the_order_of_samples_does_not_matter(mut values in prop::collection::vec(-1_000_000i64..1_000_000, 1..50)) {
            let forward = of(&values);
            values.reverse();
            let backward = of(&values);
            prop_assert_eq!(Statistics { min_at: None, max_at: None, ..forward },
                Statistics { min_at: None, max_at: None, ..backward });
            prop_assert!(forward.min <= forward.p50 && forward.p50 <= forward.p95);
            prop_assert!(forward.p95 <= forward.p99 && forward.p99 <= forward.p999 && forward.p999 <= forward.max);
        }
    }
}
