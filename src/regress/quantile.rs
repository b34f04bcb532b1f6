//! A percentile of two sides with few recordings, from their distributions. Not for many recordings (see
//! `recordings`).

use super::bins::{Bins, Step};
use super::normal;
use super::replicates::Reach;
use super::spread::{joint_freedom, spread};
use super::summary::{Side, Summary};
use super::within;
use crate::chance;

/// Samples beyond the percentile that a side needs.
const BEYOND: f64 = 10.0;

/// What is known of the difference of a percentile.
#[derive(Debug, Clone)]
pub(super) struct Percentile {
    /// Of the side before and of that after.
    pub values: (f64, f64),
    /// The interval of the difference.
    pub interval: (f64, f64),
    /// How far it is from no change, as a score of a normal distribution; not negative.
    pub score: f64,
    /// How far it has to be from no change, by each of the errors that it has to exceed.
    pub reaches: Vec<Reach>,
}

/// A side, its distribution, and how uncertain a share of its samples is.
struct Known {
    bins: Bins,
    count: f64,
    /// Standard error of the share of samples below the percentile.
    error: f64,
    freedom: f64,
}

impl Known {
    /// The error of the share of samples below the percentile comes from their count per block, but is
    /// never less than that of independent samples.
    fn of(side: &Side, share: f64) -> Option<Self> {
        let bins = side.bins();
        let count = bins.count() as f64;
        if count * share.min(1.0 - share) < BEYOND {
            return None;
        }
        // (variance of each recording's share relative to that of independent samples, weighted; freedom)
        let mut factors = Vec::new();
        for one in side.recordings() {
            let (blocks, weight) = (one.blocks(), one.count() as f64 / count);
            let of_mean = || {
                let spread = spread(&blocks.residuals(), blocks.size(), one.count())?;
                let variance = one.bins().variance() / one.count() as f64;
                (variance > 0.0).then(|| (spread.variance / variance, spread.freedom))
            };
            let of_share = blocks.residuals_above(1.0 - share).and_then(|(residuals, above)| {
                let spread = spread(&residuals, blocks.size(), one.count())?;
                Some((spread.variance * one.count() as f64 / (above * (1.0 - above)), spread.freedom))
            });
            let (factor, freedom) = of_share.or_else(of_mean).unwrap_or((1.0, 15.0));
            factors.push((factor.max(1.0) * weight, freedom));
        }
        let factor: f64 = factors.iter().map(|(factor, _)| factor).sum();
        let error = (share * (1.0 - share) * factor / count).sqrt();
        Some(Self { bins, count, error, freedom: joint_freedom(&factors) })
    }

    /// The interval of the percentile: that of the share, taken back to values (R. S. Woodruff, Journal of
    /// the American Statistical Association 47, 1952).
    fn interval(&self, share: f64, score: f64) -> Option<(f64, f64)> {
        let reach = normal::to_student(score, self.freedom) * self.error;
        Some((self.bins.quantile(share - reach)?, self.bins.quantile(share + reach)?))
    }
}

/// The difference of a percentile between two sides; `None` if a side has less than ten samples beyond it.
///
/// The test asks for the value that both sides could have as this percentile with the least contradiction:
/// for each candidate, how far the shares of samples below it are from `share`, in standard errors, on both
/// sides together. A value that many samples share has a range of shares, and does not contradict any of
/// them. So the test holds for distributions of few values, where a percentile jumps.
///
/// If a side has several recordings, the difference has to be clear over them as well: the smaller one of
/// both scores counts, and the wider one of both intervals.
pub(super) fn difference(before: &Side, after: &Side, share: f64, coverage: f64) -> Option<Percentile> {
    let sides = [Known::of(before, share)?, Known::of(after, share)?];
    let score = chance::score(1.0 - coverage);
    let mut found = Vec::with_capacity(2);
    for side in &sides {
        found.push((side.bins.quantile(share)?, side.interval(share, score)?));
    }
    let [(a, (a_low, a_high)), (b, (b_low, b_high))] = found.as_slice() else { return None };
    let value = b - a;
    // Limits of a difference from those of its terms: G. Y. Zou and A. Donner, Statistics in Medicine 27,
    // 2008.
    let low = value - ((b - b_low).powi(2) + (a_high - a).powi(2)).sqrt();
    let high = value + ((b_high - b).powi(2) + (a - a_low).powi(2)).sqrt();
    // The same limits as errors of each side.
    let halves = [(a_high - a_low) / 2.0, (b_high - b_low) / 2.0];
    let errors = sides.iter().zip(halves).map(|(side, half)| {
        let error = half / normal::to_student(score, side.freedom);
        (error * error, side.freedom)
    });
    let errors: Vec<(f64, f64)> = errors.collect();
    let error = errors.iter().map(|(square, _)| square).sum::<f64>().sqrt();
    let freedom = joint_freedom(&errors);
    let mut known = Percentile {
        values: (*a, *b),
        interval: (low, high),
        score: least_contradiction(&sides, share),
        reaches: vec![Reach { error, freedom, stretch: 1.0, of_recordings: false }],
    };
    let of_one = |one: &Summary| one.bins().quantile(share);
    if let Some((variance, freedom)) = within::across(before, after, of_one) {
        let error = variance.sqrt();
        let reach = Reach { error, freedom, stretch: 1.0, of_recordings: true };
        let half = reach.of(score, 1.0);
        known.reaches.push(reach);
        known.interval = (low.min(value - half), high.max(value + half));
        if error > 0.0 {
            known.score = known.score.min(normal::from_student(value / error, freedom).abs());
        }
    }
    Some(known)
}

fn least_contradiction(sides: &[Known; 2], share: f64) -> f64 {
    let steps: Vec<Vec<Step>> = sides.iter().map(|side| side.bins.steps().collect()).collect();
    let candidates = steps.iter().flatten().map(|step| step.least);
    let squares = candidates.map(|value| {
        let of_side = |(side, steps): (&Known, &Vec<Step>)| {
            // Samples surely below the value, and those that may be up to it.
            let begins = steps.partition_point(|step| step.greatest < value);
            let ends = steps.partition_point(|step| step.least <= value);
            let at = |n: usize| n.checked_sub(1).and_then(|n| steps.get(n)).map_or(0, |step| step.up_to);
            let (low, high) = (at(begins) as f64 / side.count, at(ends) as f64 / side.count);
            let off = (low - share).max(share - high).max(0.0) / side.error;
            normal::from_student(off, side.freedom).powi(2)
        };
        sides.iter().zip(&steps).map(of_side).sum::<f64>()
    });
    let least = squares.fold(f64::INFINITY, f64::min);
    if least.is_finite() { least.sqrt() } else { 0.0 }
}
