//! Samples of one entity → their statistics. Exact, and the same whatever the order in which samples come. Not for
//! finding the samples.

/// Collects the samples of one entity.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples {
    values: Vec<f64>,
    /// Exact sum of the integer samples.
    sum: i128,
    fractions: bool,
    incomplete: i64,
    min: Option<(f64, i64)>,
    max: Option<(f64, i64)>,
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
        self.push(value as f64, at);
    }

    /// Adds a sample that is not a whole number.
    pub fn push_fraction(&mut self, value: f64, at: Option<i64>) {
        self.fractions = true;
        self.push(value, at);
    }

    /// Counts an instance that gives no sample because the trace cuts it off.
    pub fn push_incomplete(&mut self) {
        self.incomplete += 1;
    }

    fn push(&mut self, value: f64, at: Option<i64>) {
        let at = at.unwrap_or(i64::MAX);
        if self.min.is_none_or(|(v, t)| value < v || (value == v && at < t)) {
            self.min = Some((value, at));
        }
        if self.max.is_none_or(|(v, t)| value > v || (value == v && at < t)) {
            self.max = Some((value, at));
        }
        self.values.push(value);
    }

    /// The statistics of what was added.
    pub fn finish(mut self) -> Statistics {
        self.values.sort_by(f64::total_cmp);
        let n = self.values.len() as f64;
        let sum = if self.fractions { self.values.iter().sum() } else { self.sum as f64 };
        let avg = (!self.values.is_empty()).then(|| sum / n);
        let spread =
            |avg: f64| (self.values.iter().map(|v| (v - avg).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let time = |moment: Option<(f64, i64)>| moment.map(|(_, at)| at).filter(|at| *at != i64::MAX);
        Statistics {
            count: i64::try_from(self.values.len()).unwrap_or(i64::MAX),
            incomplete: self.incomplete,
            min: self.min.map(|(v, _)| v),
            avg,
            max: self.max.map(|(v, _)| v),
            stddev: avg.filter(|_| self.values.len() > 1).map(spread),
            p50: percentile(&self.values, 0.50),
            p95: percentile(&self.values, 0.95),
            p99: percentile(&self.values, 0.99),
            min_at: time(self.min),
            max_at: time(self.max),
        }
    }
}

/// The value below which the share `p` of the samples lies, interpolated between the two nearest: SQL's
/// `percentile_cont`. The rank is `p` · (n − 1), counted from 0.
fn percentile(sorted: &[f64], p: f64) -> Option<f64> {
    let rank = p * sorted.len().checked_sub(1)? as f64;
    let low = *sorted.get(rank.floor() as usize)?;
    let high = sorted.get(rank.ceil() as usize).copied().unwrap_or(low);
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
