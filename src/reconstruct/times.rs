//! Observed times → a distribution of a model. Not where the times come from.

use super::body::Gap;
use crate::simulate::model::{Distribution, Runs};

/// So many observed times are kept one by one, equal ones in a row counted once.
const MOST_IN_TURN: usize = 2_000;

/// More are summed up as so many means of equally many times.
const QUANTILES: usize = 256;

/// The distribution of net times at one place of a body, in ns; `None` if all are 0. A constant if all are
/// equal. Otherwise the times themselves, in the order in which they began, as far as they are not too many:
/// then the means of equally many of them, so that their mean is kept to 1 ns.
pub fn distribution(mut gaps: Vec<Gap>) -> Option<Distribution> {
    gaps.sort_by_key(|gap| gap.at);
    let first = gaps.first()?.net;
    if gaps.iter().all(|gap| gap.net == first) {
        return (first > 0).then_some(Distribution::Constant(first));
    }
    let mut values = Runs::default();
    gaps.iter().for_each(|gap| values.push_equal(1, gap.net));
    if values.items().len() <= MOST_IN_TURN {
        return Some(Distribution::Observed { values, in_turn: true });
    }
    let mut times: Vec<i64> = gaps.iter().map(|gap| gap.net).collect();
    times.sort_unstable();
    let count = times.len();
    let mut values = Runs::default();
    // What is added up to the begin of each part, which may be within a time; and its mean, in turn.
    let (mut sum, mut before, mut done) = (0i128, 0i128, 0);
    for part in 1..=QUANTILES {
        let (end, rest) = (part * count / QUANTILES, part * count % QUANTILES);
        sum += times.get(done..end).unwrap_or_default().iter().map(|time| i128::from(*time)).sum::<i128>();
        done = end;
        let of_rest = i128::from(times.get(end).copied().unwrap_or(0)) * rest as i128;
        let total = (sum * QUANTILES as i128 + of_rest) / count as i128;
        values.push_equal(1, i64::try_from(total - before).unwrap_or(i64::MAX));
        before = total;
    }
    Some(Distribution::Observed { values, in_turn: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl Iterator<Item = i64>) -> Option<Distribution> {
        distribution((0..).zip(times).map(|(at, net)| Gap { at, net, remote: false }).collect())
    }

    #[test]
    fn few_times_are_kept_one_by_one() {
        assert_eq!(of([0, 0].into_iter()), None);
        assert_eq!(of([7, 7, 7].into_iter()), Some(Distribution::Constant(7)));
        let values = [(2, 7), (1, 0), (1, 7)].into_iter().collect();
        assert_eq!(of([7, 7, 0, 7].into_iter()), Some(Distribution::Observed { values, in_turn: true }));
    }

    #[test]
    fn many_times_keep_their_mean() {
        let times: Vec<i64> = (0..10_007).map(|n| n * 7_919 % 100_003).collect();
        let mean = times.iter().sum::<i64>() / 10_007;
        let Some(Distribution::Observed { values, in_turn: false }) = of(times.into_iter()) else {
            panic!("no quantiles")
        };
        let sum: i64 = values.iter().map(|(times, value)| i64::from(times) * value).sum();
        let of_values = sum / i64::try_from(values.count()).unwrap();
        assert_eq!(values.count(), 256);
        assert!((of_values - mean).abs() <= 1, "{of_values} {mean}");
    }
}
