//! Samples of one entity, in any order → their exact statistics. Not for finding the samples.

use std::cmp::Ordering;

use super::histogram::{Bin, Extent, bins};

/// Collects the samples of one entity.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    integers: Integers,
    fractions: Vec<f64>,
    /// Exact sum of the integer samples.
    sum: i128,
    /// Of the integer samples, or else of the others: the least and the greatest, with their times.
    integer_extremes: Extremes<i64>,
    fraction_extremes: Extremes<f64>,
    incomplete: i64,
}

/// Whole numbers; narrow while all of them are, as durations mostly are: there may be many.
#[derive(Debug, Clone)]
enum Integers {
    Narrow(Vec<u32>),
    Wide(Vec<i64>),
}

impl Default for Integers {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Integers {
    #[inline]
    fn push(&mut self, value: i64) {
        match (&mut *self, u32::try_from(value)) {
            (Self::Narrow(values), Ok(value)) => values.push(value),
            (Self::Narrow(values), Err(_)) => {
                let mut wide: Vec<i64> = values.iter().copied().map(i64::from).collect();
                wide.push(value);
                *self = Self::Wide(wide);
            }
            (Self::Wide(values), _) => values.push(value),
        }
    }
}

/// The least and the greatest sample, each with its first instant.
#[derive(Debug, Clone, Copy, Default)]
struct Extremes<T> {
    min: Option<(T, i64)>,
    max: Option<(T, i64)>,
}

impl<T: PartialOrd + Copy> Extremes<T> {
    #[inline]
    fn push(&mut self, value: T, at: Option<i64>) {
        let at = at.unwrap_or(i64::MAX);
        if self.min.is_none_or(|(v, t)| value < v || (value == v && at < t)) {
            self.min = Some((value, at));
        }
        if self.max.is_none_or(|(v, t)| value > v || (value == v && at < t)) {
            self.max = Some((value, at));
        }
    }
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
        self.integer_extremes.push(value, at);
        self.integers.push(value);
    }

    /// Adds a fractional sample; all samples of an entity are of the same kind.
    pub fn push_fraction(&mut self, value: f64, at: Option<i64>) {
        self.fraction_extremes.push(value, at);
        self.fractions.push(value);
    }

    /// Counts an instance without a sample, because the trace cuts it off.
    pub fn push_incomplete(&mut self) {
        self.incomplete += 1;
    }

    /// The least and the greatest sample; `None` if there is none.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        let integers = self.integer_extremes.min.zip(self.integer_extremes.max);
        let fractions = self.fraction_extremes.min.zip(self.fraction_extremes.max);
        let of_integers = integers.map(|((min, _), (max, _))| (min as f64, max as f64));
        of_integers.or(fractions.map(|((min, _), (max, _))| (min, max)))
    }

    /// Samples that were passed on: their values, the instants of the least and of the greatest, and how many
    /// instances have none.
    #[cfg(feature = "cluster")]
    pub fn passed(
        integers: &[i64],
        fractions: &[f64],
        [min_at, max_at]: [Option<i64>; 2],
        incomplete: i64,
    ) -> Self {
        let mut samples = Self { incomplete, ..Self::default() };
        integers.iter().for_each(|value| samples.push_integer(*value, None));
        fractions.iter().for_each(|value| samples.push_fraction(*value, None));
        samples.integer_extremes.set_times(min_at, max_at);
        samples.fraction_extremes.set_times(min_at, max_at);
        samples
    }

    /// The samples that are whole numbers.
    #[cfg(feature = "cluster")]
    pub fn integers(&self) -> Box<dyn Iterator<Item = i64> + '_> {
        match &self.integers {
            Integers::Narrow(values) => Box::new(values.iter().copied().map(i64::from)),
            Integers::Wide(values) => Box::new(values.iter().copied()),
        }
    }

    /// The samples that are not.
    #[cfg(feature = "cluster")]
    pub fn fractions(&self) -> &[f64] {
        &self.fractions
    }

    /// How many instances have no sample.
    #[cfg(feature = "cluster")]
    pub fn incomplete(&self) -> i64 {
        self.incomplete
    }

    /// The instants of the least and of the greatest sample.
    #[cfg(feature = "cluster")]
    pub fn extremes_at(&self) -> [Option<i64>; 2] {
        let integers =
            [self.integer_extremes.min.map(|(_, at)| at), self.integer_extremes.max.map(|(_, at)| at)];
        let fractions =
            [self.fraction_extremes.min.map(|(_, at)| at), self.fraction_extremes.max.map(|(_, at)| at)];
        let known = if self.fractions.is_empty() { integers } else { fractions };
        known.map(|at| at.filter(|at| *at != i64::MAX))
    }

    /// Adds the samples of another recording. Of equal extremes, those that were there first count.
    pub fn join(&mut self, other: Self) {
        self.sum += other.sum;
        self.incomplete += other.incomplete;
        self.integer_extremes.join(other.integer_extremes);
        self.fraction_extremes.join(other.fraction_extremes);
        self.fractions.extend(other.fractions);
        match other.integers {
            Integers::Narrow(values) => values.into_iter().for_each(|v| self.integers.push(v.into())),
            Integers::Wide(values) => values.into_iter().for_each(|v| self.integers.push(v)),
        }
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
        let bins = match self.integers {
            _ if !self.fractions.is_empty() => bins(self.fractions.iter().copied(), false, extent),
            Integers::Narrow(values) => bins(values.iter().map(|v| f64::from(*v)), true, extent),
            Integers::Wide(values) => bins(values.iter().map(|v| *v as f64), true, extent),
        };
        (statistics, bins)
    }

    /// The statistics of all samples, and how many of them are outside of `[lower, upper]`.
    pub fn finish_within(mut self, lower: f64, upper: f64) -> Statistics {
        let statistics = self.statistics();
        let beyond = match &self.integers {
            _ if !self.fractions.is_empty() => beyond(self.fractions.iter().copied(), lower, upper),
            Integers::Narrow(values) => beyond(values.iter().map(|v| f64::from(*v)), lower, upper),
            Integers::Wide(values) => beyond(values.iter().map(|v| *v as f64), lower, upper),
        };
        Statistics { beyond, ..statistics }
    }

    /// Changes the order of the samples.
    fn statistics(&mut self) -> Statistics {
        let known = Statistics { incomplete: self.incomplete, ..Statistics::default() };
        if !self.fractions.is_empty() {
            return of_fractions(&mut self.fractions, self.fraction_extremes.statistics(known, |v| v));
        }
        let known = self.integer_extremes.statistics(known, |v| v as f64);
        match &mut self.integers {
            Integers::Narrow(values) => of_integers(values, self.sum, known, |v| v as f64),
            Integers::Wide(values) => of_integers(values, self.sum, known, |v| v as f64),
        }
    }
}

#[cfg(feature = "cluster")]
impl<T> Extremes<T> {
    fn set_times(&mut self, min_at: Option<i64>, max_at: Option<i64>) {
        for (extreme, at) in [(&mut self.min, min_at), (&mut self.max, max_at)] {
            extreme.iter_mut().for_each(|(_, known)| *known = at.unwrap_or(i64::MAX));
        }
    }
}

impl<T: PartialOrd + Copy> Extremes<T> {
    fn join(&mut self, other: Self) {
        let (min, max) = (other.min, other.max);
        if let Some(min) = min.filter(|(v, _)| self.min.is_none_or(|(known, _)| *v < known)) {
            self.min = Some(min);
        }
        if let Some(max) = max.filter(|(v, _)| self.max.is_none_or(|(known, _)| *v > known)) {
            self.max = Some(max);
        }
    }
}

impl<T: Copy> Extremes<T> {
    fn statistics(&self, known: Statistics, number: impl Fn(T) -> f64) -> Statistics {
        let value = |moment: Option<(T, i64)>| moment.map(|(v, _)| number(v));
        let time = |moment: Option<(T, i64)>| moment.map(|(_, at)| at).filter(|at| *at != i64::MAX);
        let (min, max) = (value(self.min), value(self.max));
        let jitter = min.zip(max).map(|(min, max)| max - min);
        Statistics { min, max, jitter, min_at: time(self.min), max_at: time(self.max), ..known }
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
