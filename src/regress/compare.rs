//! One metric of one entity, before and after → what changed, how surely, and how little is known. Not the
//! verdict, which depends on all other comparisons (see `judge`).

use super::gate::{Direction, Gate, RECORDINGS_FOR_MAX, Statistic};
use super::normal;
use super::replicates::Reach;
use super::summary::{Side, Summary};
use super::within::{Difference, Hindrance};
use super::{quantile, recordings, within};
use crate::chance;

/// Points of a distribution function at most.
const POINTS: usize = 128;
/// Samples that a side of constants has at least.
const CONSTANT: u64 = 16;
/// Samples of each recording that a 99th percentile of a recording needs.
const PER_RECORDING: u64 = 200;

/// What a comparison says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Shown: a change that matters, if there is one at all, is outside of the interval.
    Unchanged,
    /// Shown: the difference is not by chance, and it matters.
    Changed,
    /// Neither is shown.
    NotEnoughData,
}

/// What a test rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Recordings: what differs from run to run is in the error.
    Recordings,
    /// Blocks of instances within recordings: what differs from run to run only (where tasks are in their
    /// periods at the start, the state of caches and memory) is not in the error, unless some side has
    /// several recordings that show it.
    Blocks,
    /// All samples of each side are equal: no test is needed, and a difference is exact. What differs from
    /// run to run only is not in it.
    Constants,
}

/// One side as numbers, in the unit of the samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Recordings with samples.
    pub recordings: usize,
    /// Samples.
    pub count: u64,
    /// Arithmetic mean of all samples.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Least sample.
    pub min: i64,
    /// Greatest sample.
    pub max: i64,
    /// The empirical distribution function: values in rising order, and the share of samples up to each.
    /// The last share is 1. At most 128 points.
    pub ecdf: Vec<(i64, f64)>,
}

impl Figures {
    fn of(side: &Side) -> Option<Self> {
        let (min, max) = side.extremes()?;
        let bins = side.bins();
        let count = bins.count();
        let (mut ecdf, mut shown) = (Vec::new(), 0);
        for step in bins.steps() {
            // A point where the share has risen by enough, and the last one.
            let place = (step.up_to as f64 / count as f64 * (POINTS - 1) as f64) as usize;
            if ecdf.is_empty() || place > shown || step.up_to == count {
                shown = place;
                ecdf.push((step.greatest.min(max), step.up_to as f64 / count as f64));
            }
        }
        ecdf.truncate(POINTS);
        if let Some(last) = ecdf.last_mut() {
            *last = (max, 1.0);
        }
        Some(Self {
            recordings: side.recordings().count(),
            count,
            mean: side.mean()?,
            median: bins.quantile(0.5)?,
            p99: bins.quantile(0.99)?,
            min,
            max,
            ecdf,
        })
    }
}

/// What is known of the change of one statistic.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Of what.
    pub statistic: Statistic,
    /// Value before. With many recordings it is the mean over recordings of the statistic of each.
    pub before: f64,
    /// Value after, likewise.
    pub after: f64,
    /// Both limits of the interval of after − before, with the coverage of the gate, not corrected for many
    /// tests.
    pub interval: (f64, f64),
    /// The probability of such a difference if nothing changed; 0 for constants that differ; `None` if
    /// there is no test.
    pub p_value: Option<f64>,
    /// The same, corrected for all tests of [`judge()`](super::judge()).
    pub adjusted: Option<f64>,
    /// What the test rests on.
    pub basis: Basis,
    /// Why there is no test, or why its result is not trusted.
    pub hindrance: Option<Hindrance>,
    /// The least change that would have been found with a probability of 95 %, at the level of the gate and
    /// with all its tests; of [`judge()`](super::judge()), `None` before.
    pub detectable: Option<f64>,
    /// How many times as many samples (or recordings, where these are the unit) would be needed to tell a
    /// change that matters from none; `None` if there are enough, or nobody knows.
    pub needed: Option<f64>,
    /// What it says; of [`judge()`](super::judge()).
    pub verdict: Verdict,
    /// How far the difference has to be from 0, by each of the errors that it has to exceed.
    pub(super) reaches: Vec<Reach>,
}

impl Effect {
    /// Whether it fails the gate: a change is shown, matters, and is in the direction of the gate.
    pub fn fails(&self, gate: &Gate) -> bool {
        self.verdict == Verdict::Changed && (gate.direction == Direction::Either || self.difference() > 0.0)
    }

    /// after − before.
    pub fn difference(&self) -> f64 {
        self.after - self.before
    }

    /// The difference as a share of the value before; `None` if that is 0.
    pub fn relative(&self) -> Option<f64> {
        (self.before != 0.0).then(|| self.difference() / self.before.abs())
    }
}

/// One metric of one entity, before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The side before; `None` without samples.
    pub before: Option<Figures>,
    /// The side after.
    pub after: Option<Figures>,
    /// One for each statistic of the gate that can be computed, in the order of the gate.
    pub effects: Vec<Effect>,
    /// By how much the variance between the recordings of a side is greater than the instances within them
    /// suggest: at 10, the run matters more than the instance. 1 if it is not greater, or not known.
    pub between_runs: f64,
    /// Of all effects: changed if one is; else unchanged if all are.
    pub verdict: Verdict,
}

/// Compares two sides. All numbers but the verdicts are final; those need [`judge()`](super::judge()), which
/// knows how many comparisons there are.
///
/// Time: proportional to the replicates of the gate times the blocks or recordings of both sides, whatever
/// the number of samples.
pub fn compare(before: &Side, after: &Side, gate: &Gate) -> Comparison {
    let (figures_before, figures_after) = (Figures::of(before), Figures::of(after));
    let mut comparison = Comparison {
        before: figures_before,
        after: figures_after,
        effects: Vec::new(),
        between_runs: 1.0,
        verdict: Verdict::NotEnoughData,
    };
    let (Some(a), Some(b)) = (&comparison.before, &comparison.after) else { return comparison };
    let constants = a.min == a.max && b.min == b.max && a.count.min(b.count) >= CONSTANT;
    let units = recordings::are_units(a.recordings, b.recordings, gate.alpha);
    let mut effects = Vec::new();
    if constants {
        let both = (a.mean, b.mean);
        effects.extend(gate.statistics.iter().map(|statistic| of_constants(*statistic, both)));
    } else if units {
        let effect = |statistic: &Statistic| of_recordings(*statistic, before, after, gate);
        effects.extend(gate.statistics.iter().filter_map(effect));
    } else {
        let mean = within::difference(before, after, gate);
        comparison.between_runs = mean.as_ref().map_or(1.0, |mean| mean.between);
        for statistic in &gate.statistics {
            let figures = (a, b);
            match statistic {
                Statistic::Mean => {
                    effects.push(of_difference(
                        *statistic,
                        (a.mean, b.mean),
                        Basis::Blocks,
                        mean.as_ref(),
                        gate,
                    ));
                }
                Statistic::P99 => effects.push(of_percentile(before, after, figures, mean.as_ref(), gate)),
                Statistic::Max => {}
            }
        }
    }
    comparison.effects = effects;
    comparison
}

/// Constants: the difference is exact.
fn of_constants(statistic: Statistic, (before, after): (f64, f64)) -> Effect {
    let exact = after - before;
    Effect {
        p_value: Some(if exact == 0.0 { 1.0 } else { 0.0 }),
        interval: (exact, exact),
        ..untested(statistic, (before, after), Basis::Constants, None)
    }
}

/// An effect of which nothing is known but the values.
fn untested(
    statistic: Statistic,
    (before, after): (f64, f64),
    basis: Basis,
    hindrance: Option<Hindrance>,
) -> Effect {
    Effect {
        statistic,
        before,
        after,
        interval: (f64::NEG_INFINITY, f64::INFINITY),
        p_value: None,
        adjusted: None,
        basis,
        hindrance,
        detectable: None,
        needed: None,
        verdict: Verdict::NotEnoughData,
        reaches: Vec::new(),
    }
}

fn of_difference(
    statistic: Statistic,
    values: (f64, f64),
    basis: Basis,
    difference: Option<&Difference>,
    gate: &Gate,
) -> Effect {
    let Some(known) = difference else {
        return untested(statistic, values, basis, Some(Hindrance::FewSamples));
    };
    let Reach { error, freedom, .. } = known.reach;
    let half = normal::to_student(known.null.within(gate.coverage), freedom) * error;
    let t = if known.value == 0.0 { 0.0 } else { known.value / error };
    let p_value = known.null.p_value(normal::from_student(t, freedom));
    Effect {
        interval: (known.value - half, known.value + half),
        p_value: known.hindrance.is_none().then_some(p_value),
        reaches: vec![known.reach],
        ..untested(statistic, values, basis, known.hindrance)
    }
}

fn of_percentile(
    before: &Side,
    after: &Side,
    (a, b): (&Figures, &Figures),
    mean: Option<&Difference>,
    gate: &Gate,
) -> Effect {
    let Some(known) = quantile::difference(before, after, 0.99, gate.coverage) else {
        return untested(Statistic::P99, (a.p99, b.p99), Basis::Blocks, Some(Hindrance::FewSamples));
    };
    // What moves slowly moves its tail, too, and so does a run that stays in one of several ways to work.
    let of_runs = |why: &Hindrance| matches!(why, Hindrance::Unsteady | Hindrance::Overloaded);
    let hindrance = mean.and_then(|mean| mean.hindrance).filter(of_runs);
    Effect {
        interval: known.interval,
        p_value: hindrance.is_none().then(|| chance::two_sided(known.score)),
        reaches: known.reaches,
        ..untested(Statistic::P99, known.values, Basis::Blocks, hindrance)
    }
}

/// The statistic of each recording, compared over recordings. `None` for the greatest sample if recordings
/// are too few or of different lengths.
fn of_recordings(statistic: Statistic, before: &Side, after: &Side, gate: &Gate) -> Option<Effect> {
    let number = |one: &Summary| match statistic {
        Statistic::Mean => one.mean(),
        Statistic::P99 => one.p99(),
        Statistic::Max => one.extremes().map(|(_, max)| max as f64),
    };
    let [a, b] = [before, after].map(|side| side.recordings().filter_map(number).collect::<Vec<f64>>());
    let counts = || before.recordings().chain(after.recordings()).map(Summary::count);
    let (fewest, most) = (counts().min()?, counts().max()?);
    if statistic == Statistic::Max
        && (a.len().min(b.len()) < RECORDINGS_FOR_MAX || fewest.saturating_mul(10) < most.saturating_mul(9))
    {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let values = (mean(&a), mean(&b));
    if statistic == Statistic::P99 && fewest < PER_RECORDING {
        return Some(untested(statistic, values, Basis::Recordings, Some(Hindrance::FewSamples)));
    }
    let difference = recordings::difference(&a, &b, gate);
    Some(of_difference(statistic, values, Basis::Recordings, difference.as_ref(), gate))
}
