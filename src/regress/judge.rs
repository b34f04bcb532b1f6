//! Many comparisons → verdicts, corrected for their number. Not the comparisons.

use super::compare::{Basis, Comparison, Effect, Verdict};
use super::gate::Gate;
use super::replicates::Reach;
use crate::chance;

/// The probability with which the smallest change that could have been found would have been.
const POWER: f64 = 0.95;

/// Gives all comparisons of two builds their verdicts.
///
/// p-values are corrected by the step-down method of S. Holm ("A simple sequentially rejective multiple
/// test procedure", Scandinavian Journal of Statistics 6, 1979). It holds the family-wise error rate: the
/// probability that anything is called changed although it is not, is at most `alpha`, however the tests
/// depend on each other and whatever else did change. A false discovery rate would allow more false alarms
/// the more really changed; a gate that stops a build is wanted to be wrong once in a hundred builds, not
/// once in a hundred lines.
///
/// * changed: the corrected p-value is at most `alpha`, and the difference matters.
/// * unchanged: the interval of the difference has no change that matters.
/// * not enough data: neither.
pub fn judge(comparisons: &mut [Comparison], gate: &Gate) {
    let mut tests: Vec<(f64, usize, usize)> = Vec::new();
    for (n, comparison) in comparisons.iter_mut().enumerate() {
        for (m, effect) in comparison.effects.iter_mut().enumerate() {
            match effect.p_value {
                // What is exact is no test.
                Some(p) if effect.basis == Basis::Constants => effect.adjusted = Some(p),
                Some(p) => tests.push((p, n, m)),
                None => effect.adjusted = None,
            }
        }
    }
    tests.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (count, mut reached) = (tests.len(), 0.0f64);
    for (rank, (p, n, m)) in tests.into_iter().enumerate() {
        reached = reached.max((p * (count - rank) as f64).min(1.0));
        if let Some(effect) = comparisons.get_mut(n).and_then(|one| one.effects.get_mut(m)) {
            effect.adjusted = Some(reached);
        }
    }
    let scores = [chance::score(gate.alpha / count.max(1) as f64), chance::score(2.0 * (1.0 - POWER))];
    for comparison in comparisons {
        for effect in &mut comparison.effects {
            verdict(effect, scores, gate);
        }
        comparison.verdict = whole(&comparison.effects);
    }
}

/// `scores` are that from which on a difference is found, and that which a difference exceeds by chance.
fn verdict(effect: &mut Effect, scores: [f64; 2], gate: &Gate) {
    let matters = gate.matters(effect.statistic).of(effect.before);
    let (low, high) = effect.interval;
    let is_sure = effect.adjusted.is_some_and(|adjusted| adjusted <= gate.alpha);
    effect.verdict = if is_sure && effect.difference().abs() >= matters {
        Verdict::Changed
    } else if effect.p_value.is_some() && ((low > -matters && high < matters) || (low, high) == (0.0, 0.0)) {
        Verdict::Unchanged
    } else {
        Verdict::NotEnoughData
    };
    if effect.p_value.is_none() || effect.basis == Basis::Constants {
        return;
    }
    let found = detectable(&effect.reaches, scores, 1.0);
    effect.detectable = Some(found);
    effect.needed = (matters > 0.0 && found > matters).then(|| needed(&effect.reaches, scores, matters));
}

/// The least change that would have been found with `times` as much data.
fn detectable(reaches: &[Reach], scores: [f64; 2], times: f64) -> f64 {
    let of = |reach: &Reach| scores.iter().map(|score| reach.of(*score, times)).sum::<f64>();
    reaches.iter().map(of).fold(0.0, f64::max)
}

/// How many times as much data would find a change that matters, by halving: errors shrink with the square
/// root of it, those between recordings faster, as these are known better.
fn needed(reaches: &[Reach], scores: [f64; 2], matters: f64) -> f64 {
    let (mut low, mut high) = (1.0, (detectable(reaches, scores, 1.0) / matters).powi(2));
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if detectable(reaches, scores, middle) > matters { low = middle } else { high = middle }
    }
    high
}

fn whole(effects: &[Effect]) -> Verdict {
    if effects.iter().any(|effect| effect.verdict == Verdict::Changed) {
        Verdict::Changed
    } else if !effects.is_empty() && effects.iter().all(|effect| effect.verdict == Verdict::Unchanged) {
        Verdict::Unchanged
    } else {
        Verdict::NotEnoughData
    }
}
