//! A metric of one entity over many recordings, in their order → the recording from which on it is another
//! one. Not for two sides that are known (see `compare`).

use super::gate::{Gate, Statistic};
use super::random::Stream;
use super::summary::Summary;

/// Recordings that a history needs.
const LEAST: usize = 5;
/// Permutations for the p-value.
const PERMUTATIONS: usize = 1999;
/// Resampled histories for the certainty of the place.
const RESAMPLED: usize = 499;
/// Times the noise of the history by which a single recording has to stand out to be left out of the search.
const STANDS_OUT: f64 = 6.0;

/// A change in a history.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangePoint {
    /// Index in the history of the first recording after the change; never 0.
    pub index: usize,
    /// The probability of so clear a change, anywhere, in a history of recordings whose order means
    /// nothing; 0 if recordings do not vary at all on either side.
    pub p_value: f64,
    /// The probability that the place is exact: the share of resampled histories with this change in which
    /// the search finds the same recording.
    pub confidence: f64,
    /// The first and last index that the search finds in 95 % of those histories.
    pub range: (usize, usize),
    /// Mean over the recordings before, of the statistic of each.
    pub before: f64,
    /// Likewise after.
    pub after: f64,
}

/// The recording from which on a statistic is another one; `None` if nothing is shown at the level of the
/// gate, the change does not matter, or there are less than five recordings with samples.
///
/// The place is that of the greatest standardised difference between the mean before and after it, which is
/// the greatest likelihood for one change between normal numbers of equal variance (D. V. Hinkley,
/// "Inference about the change-point in a sequence of random variables", Biometrika 57, 1970). Whether
/// there is a change at all is tested by permutation of the recordings: this needs no distribution, but
/// recordings whose noise does not depend on their order. A change in the last recording only can therefore
/// not be shown: 1 of n recordings is as often by chance at the end. A single recording that stands out
/// between two others is left out of the search.
///
/// Time: proportional to the number of recordings.
#[cfg(test)]
pub fn change_point(history: &[Summary], statistic: Statistic, gate: &Gate) -> Option<ChangePoint> {
    search(&numbers(history, statistic), statistic, gate).map(|(_, change)| change)
}

/// All changes, in the order of the history: the clearest one first divides it, then the parts are searched
/// (binary segmentation; A. J. Scott and M. Knott, Biometrics 30, 1974). Each part is tested at the level
/// of the gate.
pub fn change_points(history: &[Summary], statistic: Statistic, gate: &Gate) -> Vec<ChangePoint> {
    let all = numbers(history, statistic);
    let (mut parts, mut found) = (vec![all.as_slice()], Vec::new());
    while let Some(part) = parts.pop() {
        let Some((place, change)) = search(part, statistic, gate) else { continue };
        let (before, after) = part.split_at(place.min(part.len()));
        parts.extend([before, after]);
        found.push(change);
    }
    found.sort_by_key(|change| change.index);
    found
}

/// The statistic of each recording with samples, and its index.
fn numbers(history: &[Summary], statistic: Statistic) -> Vec<(usize, f64)> {
    let number = |one: &Summary| match statistic {
        Statistic::Mean => one.mean(),
        Statistic::P99 => one.p99().or_else(|| one.bins().quantile(0.99)),
        Statistic::Max => one.extremes().map(|(_, max)| max as f64),
    };
    history.iter().enumerate().filter_map(|(n, one)| number(one).map(|number| (n, number))).collect()
}

/// The clearest change, with its place in `numbers`.
fn search(numbers: &[(usize, f64)], statistic: Statistic, gate: &Gate) -> Option<(usize, ChangePoint)> {
    if numbers.len() < LEAST {
        return None;
    }
    let raw: Vec<f64> = numbers.iter().map(|(_, value)| *value).collect();
    let values = smoothed(&raw);
    let (place, clear) = clearest(&values)?;
    let (left, right) = values.split_at(place);
    let (before, after) = (mean(left), mean(right));
    if (after - before).abs() < gate.matters(statistic).of(before) {
        return None;
    }
    let constant = [left, right].iter().all(|part| part.iter().all(|one| Some(one) == part.first()));
    let p_value =
        if constant && left.len().min(right.len()) >= 2 { 0.0 } else { p_value(&values, clear, gate) };
    if p_value > gate.alpha {
        return None;
    }
    let (confidence, range) = certainty(left, right, gate);
    let index = |place: usize| numbers.get(place).map(|(index, _)| *index);
    let range = (index(range.0)?, index(range.1)?);
    let change = ChangePoint { index: index(place)?, p_value, confidence, range, before, after };
    Some((place, change))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Replaces values that stand out by the middle of their neighbours. The noise is that of differences between
/// neighbours, whose median a few changes do not move.
fn smoothed(values: &[f64]) -> Vec<f64> {
    let mut steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    steps.sort_by(f64::total_cmp);
    // The median of the absolute difference of two normal numbers is 0.6745 · √2 of their deviation.
    let noise = steps.get(steps.len() / 2).map_or(0.0, |median| median / (0.6745 * std::f64::consts::SQRT_2));
    let mut smooth = values.to_vec();
    for (n, three) in values.windows(3).enumerate() {
        let [a, b, c] = three else { continue };
        let out = (b - a.max(*c)).max(a.min(*c) - b);
        // Neighbours that differ more are the two sides of a change.
        if noise > 0.0 && out > STANDS_OUT * noise && out > (a - c).abs() {
            smooth[n + 1] = f64::midpoint(*a, *c);
        }
    }
    smooth
}

/// The place with the greatest standardised difference of means, and the difference; `None` if all are equal.
fn clearest(values: &[f64]) -> Option<(usize, f64)> {
    let (count, middle) = (values.len() as f64, mean(values));
    let (mut sum, mut found) = (0.0, (0, 0.0));
    for (n, value) in values.iter().enumerate().take(values.len().saturating_sub(1)) {
        sum += value - middle;
        let before = (n + 1) as f64;
        let size = sum.abs() / (before * (count - before) / count).sqrt();
        if size > found.1 {
            found = (n + 1, size);
        }
    }
    (found.1 > 0.0).then_some(found)
}

fn p_value(values: &[f64], clear: f64, gate: &Gate) -> f64 {
    let (mut numbers, mut drawn) = (Stream::of(gate.seed, 3), values.to_vec());
    let mut beyond = 0u32;
    for _ in 0..PERMUTATIONS {
        numbers.shuffle(&mut drawn);
        // Sums in another order differ by rounding.
        beyond += u32::from(clearest(&drawn).is_some_and(|(_, size)| size >= clear * (1.0 - 1e-12)));
    }
    f64::from(beyond + 1) / (PERMUTATIONS + 1) as f64
}

/// How often resampled histories with this change have it at the same place, and where 95 % of them have it.
fn certainty(left: &[f64], right: &[f64], gate: &Gate) -> (f64, (usize, usize)) {
    let mut numbers = Stream::of(gate.seed, 4);
    let (before, after) = (mean(left), mean(right));
    let residuals: Vec<f64> =
        left.iter().map(|one| one - before).chain(right.iter().map(|one| one - after)).collect();
    // Residuals are smaller than the noise, as each side is around its own mean.
    let count = residuals.len() as f64;
    let wider = (count / (count - 2.0)).sqrt();
    let mut places: Vec<usize> = (0..RESAMPLED)
        .filter_map(|_| {
            let noise = |n: usize| residuals.get(n).copied().unwrap_or(0.0) * wider;
            let level = |n: usize| if n < left.len() { before } else { after };
            let drawn: Vec<f64> =
                (0..residuals.len()).map(|n| level(n) + noise(numbers.below(residuals.len()))).collect();
            clearest(&drawn).map(|(place, _)| place)
        })
        .collect();
    places.sort_unstable();
    let same = places.iter().filter(|place| **place == left.len()).count();
    let at = |share: f64| {
        let rank = (share * places.len().saturating_sub(1) as f64).round() as usize;
        places.get(rank).copied().unwrap_or(left.len())
    };
    (same as f64 / places.len().max(1) as f64, (at(0.025).min(left.len()), at(0.975).max(left.len())))
}
