//! Two sides with many recordings: a recording is the unit, one number of each. Not for few recordings (see
//! `within`).

use super::gate::Gate;
use super::normal;
use super::random::Stream;
use super::replicates::{Null, Reach};
use super::spread::joint_freedom;
use super::within::Difference;

/// Whether recordings are enough to be the units of a test: three on each side, and so many ways to share
/// them out that a permutation test can reach the level at all.
pub(super) fn are_units(before: usize, after: usize, alpha: f64) -> bool {
    before.min(after) >= 3 && ways(before, after) >= 2.0 / alpha
}

/// In how many ways recordings can be shared out to two sides of these sizes.
fn ways(before: usize, after: usize) -> f64 {
    let few = before.min(after);
    (1..=few).fold(1.0, |ways, n| ways * (before + after - few + n) as f64 / n as f64)
}

/// A difference of means, its variance and the degrees of freedom of that (B. L. Welch, Biometrika 34, 1947).
fn welch(before: &[f64], after: &[f64]) -> (f64, f64, f64) {
    let moments = |values: &[f64]| {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|one| (one - mean).powi(2)).sum();
        (mean, squares / (count - 1.0) / count, count - 1.0)
    };
    let (a, b) = (moments(before), moments(after));
    (b.0 - a.0, a.1 + b.1, joint_freedom(&[(a.1, a.2), (b.1, b.2)]))
}

fn score(before: &[f64], after: &[f64]) -> f64 {
    let (value, variance, freedom) = welch(before, after);
    if value == 0.0 { 0.0 } else { normal::from_student(value / variance.sqrt(), freedom) }
}

/// The difference of the means of one number per recording, tested by permutation of the recordings. The
/// statistic is studentised, so that sides may differ in their spread (E. Chung and J. P. Romano, Annals of
/// Statistics 41, 2013). `None` unless both sides have two numbers.
pub(super) fn difference(before: &[f64], after: &[f64], gate: &Gate) -> Option<Difference> {
    if before.len() < 2 || after.len() < 2 {
        return None;
    }
    let (value, variance, freedom) = welch(before, after);
    // Numbers around 0 lose nothing to rounding.
    let middle =
        (before.iter().sum::<f64>() + after.iter().sum::<f64>()) / (before.len() + after.len()) as f64;
    let mut all: Vec<f64> = before.iter().chain(after).map(|one| one - middle).collect();
    let scores: Vec<f64> = if ways(before.len(), after.len()) <= gate.replicates as f64 {
        every(&all, before.len())
    } else {
        let mut numbers = Stream::of(gate.seed, 2);
        let mut draw = || {
            numbers.shuffle(&mut all);
            let (a, b) = all.split_at(before.len());
            score(a, b)
        };
        (0..gate.replicates).map(|_| draw()).collect()
    };
    let null = Null::exact(scores);
    let reach = Reach { error: variance.sqrt(), freedom, stretch: null.stretch, of_recordings: true };
    Some(Difference { value, reach, null, hindrance: None, between: 1.0 })
}

/// The score of each way to choose `few` values for the first side.
fn every(all: &[f64], few: usize) -> Vec<f64> {
    let mut chosen: Vec<usize> = (0..few).collect();
    let mut scores = Vec::new();
    loop {
        let mut sides = (Vec::with_capacity(few), Vec::with_capacity(all.len()));
        let mut next = chosen.iter().peekable();
        for (n, value) in all.iter().enumerate() {
            let side = if next.next_if(|one| **one == n).is_some() { &mut sides.0 } else { &mut sides.1 };
            side.push(*value);
        }
        scores.push(score(&sides.0, &sides.1));
        // The last place that can move on, and all behind it right after it.
        let last = |place: usize| all.len() - few + place;
        let Some(place) = (0..few).rev().find(|place| chosen.get(*place).is_some_and(|n| *n < last(*place)))
        else {
            return scores;
        };
        let begin = chosen.get(place).map_or(0, |n| n + 1);
        chosen.iter_mut().skip(place).enumerate().for_each(|(n, one)| *one = begin + n);
    }
}
