//! The mean of two sides with few recordings: blocks of instances are the unit. Not for many recordings (see
//! `recordings`).

use super::gate::Gate;
use super::normal;
use super::random::{Stream, scaled};
use super::replicates::{Null, Reach};
use super::spread::{Spread, carried_by, joint_freedom, spread, variance};
use super::summary::{Side, Summary};

/// Blocks that the variance has to rest on.
const CARRIED: f64 = 8.0;
/// Blocks that a side needs.
const BLOCKS: usize = 16;
/// Degrees of freedom between the recordings from which on they show how runs of an overloaded core differ:
/// those of three on each side.
const RUNS: f64 = 4.0;

/// What is known of the difference of two numbers.
#[derive(Debug, Clone)]
pub(super) struct Difference {
    /// After minus before.
    pub value: f64,
    /// Its standard error, and the degrees of freedom of that.
    pub reach: Reach,
    /// How probable scores are if nothing changed.
    pub null: Null,
    /// Why no test is possible although there are numbers.
    pub hindrance: Option<Hindrance>,
    /// By how much the variance between recordings is greater than that within them suggests; 1 if not known.
    pub between: f64,
}

/// Why there is no test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hindrance {
    /// Fewer samples than a test of the statistic needs.
    FewSamples,
    /// All variation is in a few stretches of the recording: rare events, too few to know how rare.
    FewEvents,
    /// The recording moves slowly (a trend, a beat of two clocks): it shows no swing to its end.
    Unsteady,
    /// The core has more to do than it can. What it works off and what it loses depends on what was before,
    /// and a run can stay in one of several ways to do so to its end: its blocks say nothing of another run.
    Overloaded,
}

/// A recording of a side.
struct Part {
    residuals: Vec<f64>,
    size: u64,
    count: u64,
    spread: Spread,
    /// Its share of the samples of its side, squared.
    weight: f64,
}

impl Part {
    fn of(summary: &Summary, total: u64) -> Option<Self> {
        let (residuals, size) = (summary.blocks().residuals(), summary.blocks().size());
        let count = summary.count();
        let spread = spread(&residuals, size, count)?;
        let weight = (count as f64 / total as f64).powi(2);
        Some(Self { residuals, size, count, spread, weight })
    }

    /// Consecutive blocks that are resampled together: the cube root of their number is the order that
    /// minimises the error of a variance (P. Hall, J. L. Horowitz and B.-Y. Jing, Biometrika 82, 1995).
    fn length(&self) -> usize {
        (libm::cbrt(self.residuals.len() as f64).ceil() as usize).max(self.spread.level)
    }

    /// Fills `resampled` with whole runs of blocks from random places, around the end: the circular block
    /// bootstrap (D. N. Politis and J. P. Romano, 1992). Returns the difference of the mean that they make.
    fn resample(&self, numbers: &mut Stream, resampled: &mut Vec<f64>) -> f64 {
        let blocks = self.residuals.len();
        resampled.clear();
        while resampled.len() < blocks {
            let begin = scaled(numbers.bits(), blocks);
            let run = self.length().min(blocks - resampled.len());
            let (behind, around) = self.residuals.split_at(begin);
            resampled.extend(around.iter().chain(behind).take(run));
        }
        resampled.iter().sum::<f64>() / (self.size as f64 * blocks as f64)
    }
}

/// A mean is never known better than this: a pattern that repeats may be cut anywhere, which moves its mean
/// by about its range over the number of samples.
fn edge(side: &Side) -> f64 {
    let range = side.extremes().map_or(0.0, |(min, max)| (i128::from(max) - i128::from(min)) as f64);
    range / side.count().max(1) as f64
}

/// The difference of the means of two sides, from blocks within their recordings; `None` if a side has too
/// few.
pub(super) fn difference(before: &Side, after: &Side, gate: &Gate) -> Option<Difference> {
    let value = after.mean()? - before.mean()?;
    let parts = [before, after].map(|side| {
        let total = side.count();
        let parts: Vec<Part> = side.recordings().filter_map(|one| Part::of(one, total)).collect();
        (parts, edge(side).powi(2))
    });
    if parts.iter().any(|(parts, _)| parts.iter().map(|one| one.residuals.len()).sum::<usize>() < BLOCKS) {
        return None;
    }
    let within: Vec<(f64, f64)> = parts
        .iter()
        .flat_map(|(parts, _)| parts)
        .map(|one| (one.spread.variance * one.weight, one.spread.freedom))
        .collect();
    let edges: f64 = parts.iter().map(|(_, edge)| edge).sum();
    let inside = within.iter().map(|(variance, _)| variance).sum::<f64>();
    let (mut variance, mut freedom, mut between) = (inside + edges, joint_freedom(&within), 1.0);
    let runs = across(before, after, Summary::mean);
    let across = runs.filter(|(across, _)| *across > variance);
    let null = match across {
        // The error is that between recordings, its scores are Student's: resampled blocks say nothing of it.
        Some((across, across_freedom)) => {
            between = across / variance.max(f64::MIN_POSITIVE);
            (variance, freedom) = (across, across_freedom);
            Null::of([])
        }
        None => Null::of(scores(&parts, edges, freedom, gate)),
    };
    let unsteady = parts.iter().flat_map(|(parts, _)| parts).any(|one| one.spread.unsteady);
    let mut hindrance = unsteady.then_some(Hindrance::Unsteady);
    // Of a side that does not vary there is nothing to be carried.
    let share =
        |parts: &[Part]| parts.iter().map(|one| one.spread.variance * one.weight).sum::<f64>() / inside;
    for (parts, _) in &parts {
        let carried: f64 = parts.iter().map(|one| carried_by(&one.residuals)).sum();
        if inside > edges && share(parts) > 0.2 && carried < CARRIED {
            hindrance = Some(Hindrance::FewEvents);
        }
    }
    let has_overload = before.is_overloaded() || after.is_overloaded();
    if has_overload && runs.is_none_or(|(_, freedom)| freedom < RUNS) {
        hindrance = Some(Hindrance::Overloaded);
    }
    let of_recordings = across.is_some();
    let reach = Reach { error: variance.sqrt(), freedom, stretch: null.stretch, of_recordings };
    Some(Difference { value, reach, null, hindrance, between })
}

/// The variance of the difference of a statistic as recordings of a side differ among each other, and its
/// degrees of freedom; `None` with one recording on each side.
pub(super) fn across(
    before: &Side,
    after: &Side,
    statistic: impl Fn(&Summary) -> Option<f64>,
) -> Option<(f64, f64)> {
    let (mut squares, mut freedom, mut shares) = (0.0, 0.0, 0.0);
    for side in [before, after] {
        let means: Vec<f64> = side.recordings().filter_map(&statistic).collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        squares += means.iter().map(|one| (one - mean).powi(2)).sum::<f64>();
        freedom += means.len() as f64 - 1.0;
        shares += 1.0 / means.len() as f64;
    }
    (freedom >= 1.0).then(|| (squares / freedom * shares, freedom))
}

/// Scores of replicates in which nothing changed: of blocks, with the degrees of freedom of their variance.
fn scores(parts: &[(Vec<Part>, f64); 2], edges: f64, freedom: f64, gate: &Gate) -> Vec<f64> {
    let mut numbers = Stream::of(gate.seed, 1);
    let mut resampled = Vec::new();
    (0..gate.replicates)
        .map(|_| {
            let (mut moved, mut spread) = (0.0, edges);
            for (side, (parts, _)) in parts.iter().enumerate() {
                let sign = if side == 0 { -1.0 } else { 1.0 };
                for part in parts {
                    moved += sign * part.weight.sqrt() * part.resample(&mut numbers, &mut resampled);
                    spread += part.weight * variance(&resampled, part.size, part.count);
                }
            }
            let t = if moved == 0.0 { 0.0 } else { moved / spread.sqrt() };
            normal::from_student(t, freedom)
        })
        .collect()
}

/// The standard error of the difference of two means, without resampling: for the parts of a response,
/// which are many. 0 if it is not known. If the error is that between recordings, `score` times of it are as
/// improbable as the score is, with its degrees of freedom.
pub(super) fn error(before: &Side, after: &Side, score: f64) -> f64 {
    let variance: f64 = [before, after]
        .iter()
        .map(|side| {
            let parts = side.recordings().filter_map(|one| Part::of(one, side.count()));
            parts.map(|one| one.spread.variance * one.weight).sum::<f64>() + edge(side).powi(2)
        })
        .sum();
    match across(before, after, Summary::mean).filter(|(across, _)| *across > variance) {
        Some((across, freedom)) => across.sqrt() * normal::to_student(score, freedom) / score,
        None => variance.sqrt(),
    }
}
