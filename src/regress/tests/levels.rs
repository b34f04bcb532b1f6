//! How often tests are wrong by chance, whether p-values and intervals agree, and how great a change has to
//! be that they find: all with few recordings, whose errors have few degrees of freedom.

use super::super::{
    Basis, Comparison, Effect, Gate, Origin, Part, Response, Side, Statistic, Summary, Verdict, compare,
    first_cause, judge,
};
use super::Dice;

/// Samples of a recording.
const SAMPLES: usize = 256;

/// A recording whose samples are off by `shift`.
fn recording(dice: &mut Dice, shift: f64) -> Summary {
    dice.autoregressive(0.0, SAMPLES).iter().map(|one| (one + shift).round() as i64).collect()
}

/// A side whose recordings differ among each other by a deviation of `varies`.
fn side(dice: &mut Dice, recordings: usize, varies: f64, shift: f64) -> Side {
    (0..recordings)
        .map(|_| {
            let off = varies * dice.normal();
            recording(dice, shift + off)
        })
        .collect()
}

fn mean(comparison: &Comparison) -> &Effect {
    comparison.effects.iter().find(|effect| effect.statistic == Statistic::Mean).unwrap()
}

#[test]
fn low_p_values_of_builds_that_are_the_same_are_as_rare_as_they_say() {
    let (mut dice, gate) = (Dice::of(21), Gate { replicates: 199, ..Gate::default() });
    // What varies from run to run is far more than what varies within one, where it varies at all.
    for (before, after, varies) in [(1, 1, 0.0), (1, 2, 3e4), (2, 2, 3e4), (3, 3, 3e4), (2, 2, 0.0)] {
        let mut below = [0u32; 2];
        for _ in 0..1000 {
            let sides = [before, after].map(|recordings| side(&mut dice, recordings, varies, 0.0));
            // Some recordings seem to move slowly, by chance, which is no alarm.
            let p = mean(&compare(&sides[0], &sides[1], &gate)).p_value.unwrap_or(1.0);
            for (count, level) in below.iter_mut().zip([0.05, 0.01]) {
                *count += u32::from(p <= level);
            }
        }
        // 50 and 10 of 1000 at most; 4 standard deviations.
        assert!(below[0] <= 78 && below[1] <= 23, "{before} and {after}, {varies}: {below:?}");
    }
}

#[test]
fn an_interval_without_zero_is_a_low_p_value() {
    let mut dice = Dice::of(22);
    for (before, after) in [(1, 1), (1, 2), (2, 2), (3, 3), (5, 5), (6, 9)] {
        for (coverage, replicates) in [(0.95, 999), (0.95, 150), (0.99, 999), (0.5, 499)] {
            let gate = Gate { coverage, replicates, ..Gate::default() };
            let (mut outside, cases) = (0, 40);
            for _ in 0..cases {
                let shift = 1500.0 * dice.normal();
                let sides = [(before, 0.0), (after, shift)].map(|(n, by)| side(&mut dice, n, 300.0, by));
                let one = compare(&sides[0], &sides[1], &gate);
                let effect = mean(&one);
                let expected = if before < 5 { Basis::Blocks } else { Basis::Recordings };
                let (low, high) = effect.interval;
                assert_eq!(effect.basis, expected);
                let Some(p) = effect.p_value else { continue };
                assert_eq!(p < 1.0 - coverage, low > 0.0 || high < 0.0, "{p} and {low} to {high}");
                outside += u32::from(low > 0.0 || high < 0.0);
            }
            assert!(outside > 0 && outside < cases, "{before} and {after}: {outside} of {cases}");
        }
    }
}

#[test]
fn a_change_that_would_be_found_is_found() {
    let gate = Gate::default();
    for (before, after, varies) in [(1, 1, 0.0), (2, 1, 3e3), (2, 2, 3e3), (3, 3, 3e3), (5, 5, 3e3)] {
        // The same data, but for the shift.
        let shifted = |shift: f64| {
            let mut dice = Dice::of(23);
            let sides = [(before, 0.0), (after, shift)].map(|(n, by)| side(&mut dice, n, varies, by));
            let mut one = [compare(&sides[0], &sides[1], &gate)];
            one[0].effects.retain(|effect| effect.statistic == Statistic::Mean);
            judge(&mut one, &gate);
            one[0].effects[0].clone()
        };
        let none = shifted(0.0);
        let detectable = none.detectable.unwrap();
        let is_found = |difference: f64| shifted(difference - none.difference()).verdict == Verdict::Changed;
        assert!(is_found(detectable), "{before} and {after}: {detectable}");
        // What is found by chance only is not called detectable.
        assert!(!is_found(detectable / 3.0), "{before} and {after}: {detectable}");
        // With more recordings, the error between them is known better: they need not be so many.
        let matters = gate.matters(Statistic::Mean).of(none.before);
        let (needed, plain) = (none.needed.unwrap(), (detectable / matters).powi(2));
        match varies > 0.0 {
            true => assert!(needed > 1.0 && needed < 0.9 * plain, "{needed} of {plain}"),
            false => assert!((needed / plain - 1.0).abs() < 1e-9, "{needed} of {plain}"),
        }
    }
}

#[test]
fn what_differs_between_few_recordings_is_no_sure_cause() {
    let (mut dice, mut sure) = (Dice::of(24), 0);
    for _ in 0..1000 {
        let sides = [1, 2].map(|recordings| side(&mut dice, recordings, 3e4, 0.0));
        let parts = vec![Part::of("executes", "R_1", Origin::Own, &sides[0], &sides[1])];
        let causes = first_cause("T_1", &[Response { entity: "T_1".to_owned(), parts }]);
        sure += u32::from(causes.iter().any(|cause| cause.sure));
    }
    // Four standard errors of one degree of freedom are there by chance in 156 of 1000. In 8 the two
    // recordings are as alike as two that do not differ.
    assert!(sure <= 19, "{sure}");
}
