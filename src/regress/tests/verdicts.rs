//! Verdicts of comparisons whose truth is known.

use super::super::{
    Basis, Comparison, Direction, Gate, Hindrance, Side, Statistic, Summary, Verdict, compare, judge,
};
use super::{Dice, side, summed};

fn judged(before: &Side, after: &Side, gate: &Gate) -> Comparison {
    let mut one = [compare(before, after, gate)];
    judge(&mut one, gate);
    let [one] = one;
    one
}

fn effect(comparison: &Comparison, statistic: Statistic) -> &super::super::Effect {
    comparison.effects.iter().find(|effect| effect.statistic == statistic).unwrap()
}

#[test]
fn constants_need_no_test() {
    let gate = Gate::default();
    let constant = |value: f64, n: usize| side(&vec![value; n]);
    let same = judged(&constant(700.0, 50), &constant(700.0, 80), &gate);
    assert_eq!((same.verdict, same.effects[0].interval), (Verdict::Unchanged, (0.0, 0.0)));
    let other = judged(&constant(700.0, 50), &constant(710.0, 80), &gate);
    assert_eq!((other.verdict, other.effects[0].basis), (Verdict::Changed, Basis::Constants));
    assert_eq!((other.effects[0].p_value, other.effects[0].relative()), (Some(0.0), Some(1.0 / 70.0)));
    // A difference that does not matter, and values that nobody can call constant.
    assert_eq!(judged(&constant(700.0, 50), &constant(701.0, 80), &gate).verdict, Verdict::Unchanged);
    assert_eq!(judged(&constant(700.0, 1), &constant(900.0, 80), &gate).verdict, Verdict::NotEnoughData);
    let nothing = judged(&Side::default(), &constant(900.0, 80), &gate);
    assert_eq!((nothing.verdict, nothing.before, nothing.effects.len()), (Verdict::NotEnoughData, None, 0));
}

#[test]
fn a_shift_is_found_and_its_interval_has_it() {
    let (mut dice, gate) = (Dice::of(1), Gate::default());
    let (mut found, mut covered) = (0, 0);
    for _ in 0..40 {
        let before = side(&dice.autoregressive(0.5, 20_000));
        let shifted: Vec<f64> = dice.autoregressive(0.5, 20_000).iter().map(|one| one * 1.01).collect();
        let one = judged(&before, &side(&shifted), &gate);
        let mean = effect(&one, Statistic::Mean);
        found += u32::from(one.verdict == Verdict::Changed);
        covered += u32::from(mean.interval.0 <= 1000.0 && 1000.0 <= mean.interval.1);
        assert!(mean.detectable.unwrap() < 1000.0);
    }
    assert!(found == 40 && covered >= 34, "{found} found, {covered} covered");
}

#[test]
fn reruns_are_not_changes() {
    let (mut dice, gate) = (Dice::of(2), Gate::default());
    let mut alarms = 0;
    for _ in 0..12 {
        // Two dozen entities of all kinds: dependent samples, few values, skewed ones, bursts.
        let mut series = |kind: usize| -> Vec<f64> {
            let base = dice.autoregressive([0.0, 0.8, 0.95, -0.5][kind % 4], 2000);
            match kind / 4 % 3 {
                0 => base,
                1 => base.iter().map(|one| (one / 4000.0).round() * 4000.0).collect(),
                _ => base.iter().map(|one| (one / 1e4).exp()).collect(),
            }
        };
        let mut all: Vec<Comparison> =
            (0..24).map(|kind| compare(&side(&series(kind)), &side(&series(kind)), &gate)).collect();
        judge(&mut all, &gate);
        alarms += u32::from(all.iter().any(|one| one.verdict == Verdict::Changed));
    }
    assert_eq!(alarms, 0, "of 12 builds, each with a probability of 0.01 at most");
}

#[test]
fn where_a_schedule_begins_is_no_change() {
    let gate = Gate::default();
    let pattern = |k: usize| [0.0, 0.0, 1e4, 0.0, 2e4, 5e3][k % 6] + if k % 60 == 7 { 1e5 } else { 0.0 };
    let run = |phase: usize| side(&(0..3000).map(|k| 1e5 + pattern(k + phase)).collect::<Vec<f64>>());
    for phase in 1..60 {
        let one = judged(&run(0), &run(phase), &gate);
        assert_eq!(effect(&one, Statistic::Mean).verdict, Verdict::Unchanged, "{phase}");
        assert_ne!(one.verdict, Verdict::Changed, "{phase}");
    }
}

#[test]
fn a_slow_tail_is_found_where_the_mean_is_not() {
    let (mut dice, gate) = (Dice::of(3), Gate::default());
    let mut series = |slow: f64| {
        let mut one = |_| if dice.unit() < 0.03 { slow } else { 1e5 } + 3e3 * dice.normal();
        side(&(0..20_000).map(&mut one).collect::<Vec<f64>>())
    };
    let one = judged(&series(1.2e5), &series(1.3e5), &gate);
    assert_eq!(effect(&one, Statistic::P99).verdict, Verdict::Changed);
    assert_ne!(effect(&one, Statistic::Mean).verdict, Verdict::Changed);
    let same = judged(&series(1.2e5), &series(1.2e5), &gate);
    assert_ne!(same.verdict, Verdict::Changed);
}

#[test]
fn little_data_says_so() {
    let (mut dice, gate) = (Dice::of(4), Gate::default());
    let few = judged(&side(&dice.autoregressive(0.0, 10)), &side(&dice.autoregressive(0.0, 10)), &gate);
    assert_eq!(few.effects[0].hindrance, Some(Hindrance::FewSamples));
    assert_eq!((few.verdict, few.effects[0].p_value), (Verdict::NotEnoughData, None));
    let some = judged(&side(&dice.autoregressive(0.0, 200)), &side(&dice.autoregressive(0.0, 200)), &gate);
    let mean = effect(&some, Statistic::Mean);
    assert_eq!(mean.verdict, Verdict::NotEnoughData);
    // So many times as many samples would find a change that matters: half a percent is 500.
    assert!(
        (mean.detectable.unwrap() / mean.needed.unwrap().sqrt() / (0.005 * mean.before) - 1.0).abs() < 1e-9
    );
    assert_eq!(effect(&some, Statistic::P99).hindrance, Some(Hindrance::FewSamples));
    // Two events in a recording do not say how often they happen.
    let mut rare = vec![1000.0; 3000];
    (rare[500], rare[2000]) = (1e6, 1e6);
    let rare = judged(&side(&rare), &side(&vec![1000.0; 3000]), &gate);
    assert_eq!(rare.effects[0].hindrance, Some(Hindrance::FewEvents));
    assert_eq!(effect(&rare, Statistic::Mean).verdict, Verdict::NotEnoughData);
}

#[test]
fn a_run_of_an_overloaded_core_says_nothing_of_another_run() {
    let (mut dice, gate) = (Dice::of(6), Gate::default());
    // Each run stays in one of two ways to work.
    let mut runs = |ways: &[f64]| -> Side {
        let mut way = |mean: &f64| {
            summed(&dice.autoregressive(0.0, 2000).iter().map(|one| one * mean).collect::<Vec<f64>>())
        };
        ways.iter().map(&mut way).collect()
    };
    let (mut one, mut other) = (runs(&[1.0]), runs(&[1.1]));
    assert_eq!(judged(&one, &other, &gate).verdict, Verdict::Changed);
    // It is enough if one side was overloaded.
    one.set_overloaded();
    let few = judged(&one, &other, &gate);
    other.set_overloaded();
    assert_eq!(few, judged(&one, &other, &gate));
    for statistic in [Statistic::Mean, Statistic::P99] {
        let effect = effect(&few, statistic);
        assert_eq!((effect.hindrance, effect.p_value), (Some(Hindrance::Overloaded), None));
        assert_eq!((effect.verdict, few.verdict), (Verdict::NotEnoughData, Verdict::NotEnoughData));
    }
    // Three runs of each build show how runs differ.
    for (means, verdict) in [([1.0, 1.1, 1.0], Verdict::NotEnoughData), ([2.0, 2.1, 2.0], Verdict::Changed)] {
        let (mut before, mut after) = (runs(&[1.0, 1.1, 1.1]), runs(&means));
        before.set_overloaded();
        after.set_overloaded();
        let one = judged(&before, &after, &gate);
        assert_eq!((one.verdict, effect(&one, Statistic::Mean).hindrance), (verdict, None));
    }
}

#[test]
fn what_differs_from_run_to_run_is_seen_in_several_recordings() {
    let (mut dice, gate) = (Dice::of(5), Gate::default());
    // Each run is off by 1 % as a whole.
    let mut run = |shift: f64| {
        let factor = 1.0 + 0.01 * dice.normal() + shift;
        summed(&dice.autoregressive(0.0, 2000).iter().map(|one| one * factor).collect::<Vec<f64>>())
    };
    let mut alarms = [0; 3];
    for _ in 0..30 {
        for (place, recordings) in [1, 3, 8].into_iter().enumerate() {
            let before: Side = (0..recordings).map(|_| run(0.0)).collect();
            let after: Side = (0..recordings).map(|_| run(0.0)).collect();
            let one = judged(&before, &after, &gate);
            alarms[place] += u32::from(one.verdict == Verdict::Changed);
            let basis = if recordings == 8 { Basis::Recordings } else { Basis::Blocks };
            assert!(one.effects[0].basis == basis && (recordings != 3 || one.between_runs > 1.0));
        }
    }
    // One recording cannot know; that is why its basis is said.
    assert!(alarms[0] > 10 && alarms[1] <= 1 && alarms[2] <= 1, "{alarms:?}");
    let after: Side = (0..8).map(|_| run(0.08)).collect();
    let before: Side = (0..8).map(|_| run(0.0)).collect();
    assert_eq!(judged(&before, &after, &gate).verdict, Verdict::Changed);
}

#[test]
fn greatest_samples_need_many_recordings() {
    let mut dice = Dice::of(6);
    let gate = Gate { statistics: vec![Statistic::Max], ..Gate::default() };
    let mut many = |recordings: usize, worst: f64| -> Side {
        let mut one = |_| {
            let mut values = dice.autoregressive(0.0, 1000);
            values[500] = worst * (1.0 + 0.01 * dice.normal());
            summed(&values)
        };
        (0..recordings).map(&mut one).collect()
    };
    assert!(judged(&many(9, 2e5), &many(9, 3e5), &gate).effects.is_empty());
    let one = judged(&many(12, 2e5), &many(12, 3e5), &gate);
    assert_eq!(one.verdict, Verdict::Changed);
    assert!((one.effects[0].relative().unwrap() - 0.5).abs() < 0.05);
}

#[test]
fn p_values_are_corrected_as_holm_does() {
    let gate = Gate::default();
    let sides = side(&Dice::of(7).autoregressive(0.0, 3000));
    let mut all: Vec<Comparison> = (0..4).map(|_| compare(&sides, &sides, &gate)).collect();
    for (one, p) in all.iter_mut().zip([0.01, 0.04, 0.03, 0.005]) {
        one.effects.truncate(1);
        one.effects[0].p_value = Some(p);
    }
    judge(&mut all, &gate);
    let found: Vec<f64> = all.iter().map(|one| one.effects[0].adjusted.unwrap()).collect();
    for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
    // Exact differences are no tests.
    all.push(compare(&side(&[5.0; 20]), &side(&[9.0; 20]), &gate));
    judge(&mut all, &gate);
    assert_eq!(all[0].effects[0].adjusted, Some(found[0]));
}

#[test]
fn a_faster_build_can_pass() {
    let gate = Gate { direction: Direction::Greater, ..Gate::default() };
    let (slow, fast) = (side(&[900.0; 40]), side(&[800.0; 40]));
    let fails = |before, after, gate| judged(before, after, gate).effects.iter().any(|one| one.fails(gate));
    assert!(fails(&fast, &slow, &gate) && !fails(&slow, &fast, &gate));
    assert!(fails(&slow, &fast, &Gate::default()));
    assert_eq!(judged(&slow, &fast, &gate).verdict, Verdict::Changed);
}

#[test]
fn figures_have_the_whole_distribution() {
    let values: Vec<f64> = (0..10_000).map(|k| f64::from(k * 7919 % 10_000)).collect();
    let one = compare(&side(&values), &side(&values[..3]), &Gate::default());
    let figures = one.before.unwrap();
    assert_eq!((figures.min, figures.max, figures.count, figures.recordings), (0, 9999, 10_000, 1));
    assert!(figures.ecdf.len() > 100 && figures.ecdf.len() <= 128);
    assert!(figures.ecdf.iter().all(|(value, share)| (*value as f64 / 1e4 - share).abs() < 0.005));
    assert_eq!(figures.ecdf.last(), Some(&(9999, 1.0)));
    assert_eq!(one.after.unwrap().ecdf.len(), 3);
}

#[test]
fn the_same_data_gives_the_same_result() {
    let make = || {
        let mut dice = Dice::of(8);
        let series: [Summary; 2] = [0, 1].map(|_| summed(&dice.autoregressive(0.7, 3000)));
        let [a, b] = series.map(|one| -> Side { [one].into_iter().collect() });
        judged(&a, &b, &Gate::default())
    };
    assert_eq!(make(), make());
}
