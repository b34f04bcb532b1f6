//! Published numbers: Student's t, exact permutations, corrected p-values.

use super::super::gate::{Gate, Statistic};
use super::super::random::Stream;
use super::super::replicates::Null;
use super::super::spread::{carried_by, joint_freedom};
use super::super::{normal, recordings};
use super::Dice;
use crate::chance;

#[test]
fn shuffles_reach_every_order_equally() {
    let mut numbers = Stream::of(3, 0);
    let mut counts = [0u32; 6];
    for _ in 0..60_000 {
        let mut three = [0, 1, 2];
        numbers.shuffle(&mut three);
        counts[three[0] * 2 + usize::from(three[1] > three[2])] += 1;
    }
    // 5 standard deviations of a binomial distribution around 10,000.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 457), "{counts:?}");
    assert_eq!(numbers.below(0), 0);
}

#[test]
fn student_is_as_improbable_as_the_normal_number() {
    // Two-sided 5 %, 1 % and 0.1 % points of tables of the t distribution.
    for (freedom, points) in [
        (5.0, [2.570_582, 4.032_143, 6.868_827]),
        (10.0, [2.228_139, 3.169_273, 4.586_894]),
        (30.0, [2.042_272, 2.749_996, 3.645_959]),
    ] {
        for (t, p) in points.into_iter().zip([0.05, 0.01, 0.001]) {
            let z = normal::from_student(t, freedom);
            // Off by 9 % at most here, to the cautious side.
            let ratio = chance::two_sided(z) / p;
            assert!(ratio > 0.995 && ratio < 1.0 + 0.5 / freedom, "{t} of {freedom}: {ratio}");
            assert!((normal::to_student(z, freedom) / t - 1.0).abs() < 1e-9);
            assert_eq!(normal::from_student(-t, freedom), -z);
        }
    }
    assert_eq!(normal::from_student(f64::INFINITY, 4.0), chance::FARTHEST);
}

#[test]
fn degrees_of_freedom_join() {
    // Equal variances of equal freedom add up; a variance alone keeps its own.
    assert!((joint_freedom(&[(2.0, 7.0), (2.0, 7.0)]) - 14.0).abs() < 1e-9);
    assert!((joint_freedom(&[(2.0, 7.0), (0.0, 100.0)]) - 7.0).abs() < 1e-9);
    assert!((carried_by(&[1.0, -1.0, 1.0, -1.0]) - 4.0).abs() < 1e-9);
    assert!(carried_by(&[1000.0, -1.0, 1.0, -1.0]) < 1.01);
}

#[test]
fn permutations_are_complete_and_exact() {
    let gate = Gate { replicates: 999, ..Gate::default() };
    // 5 of 10: 252 ways; of separated sides only the data and its mirror image are as far apart.
    let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.5]);
    let known = recordings::difference(&low, &high, &gate).unwrap();
    let beyond = |score: f64| known.null.p_value(score);
    assert!((known.value - 5.1).abs() < 1e-12 && known.reach.freedom > 7.0 && known.reach.freedom < 8.1);
    // 11 of 252 ways at least: counted, with the data itself.
    let counted = [0.5, 1.0, 1.5].map(|score| beyond(score) * 253.0);
    assert!(counted.iter().all(|count| (count - count.round()).abs() < 1e-9), "{counted:?}");
    assert!(beyond(0.0) > 0.999);
    let same = recordings::difference(&low, &low, &gate).unwrap();
    assert!(same.null.p_value(0.0) > 0.999);
    assert!(recordings::difference(&low[..1], &high, &gate).is_none());
    assert!(recordings::are_units(5, 5, 0.01) && !recordings::are_units(4, 4, 0.01));
    assert!(!recordings::are_units(2, 500, 0.01) && recordings::are_units(3, 9, 0.01));
}

#[test]
fn permutations_hold_their_level() {
    let (mut dice, gate) = (Dice::of(5), Gate { replicates: 499, ..Gate::default() });
    let mut below = [0u32; 2];
    for _ in 0..2000 {
        // Skewed numbers, and sides of different sizes.
        let mut side = |n: usize| (0..n).map(|_| dice.normal().exp()).collect::<Vec<f64>>();
        let (a, b) = (side(6), side(9));
        let known = recordings::difference(&a, &b, &gate).unwrap();
        let p =
            known.null.p_value(normal::from_student(known.value / known.reach.error, known.reach.freedom));
        for (count, level) in below.iter_mut().zip([0.05, 0.01]) {
            *count += u32::from(p <= level);
        }
    }
    // 100 and 20 expected; 4 standard deviations.
    assert!(below[0] > 60 && below[0] < 140 && below[1] < 39, "{below:?}");
}

#[test]
fn replicates_count_where_they_can_and_stretch_where_they_cannot() {
    let mut dice = Dice::of(8);
    let normal_ones: Vec<f64> = (0..9999).map(|_| dice.normal()).collect();
    let null = Null::of(normal_ones.iter().copied());
    assert!((null.p_value(1.96) / 0.05 - 1.0).abs() < 0.15);
    assert!(null.stretch < 1.06 && null.p_value(6.0) < 1e-7);
    // Replicates twice as wide: what is improbable is so at twice the score.
    let wide = Null::of(normal_ones.iter().map(|one| 2.0 * one));
    assert!((wide.stretch / 2.0 - 1.0).abs() < 0.06 && (wide.p_value(3.92) / 0.05 - 1.0).abs() < 0.15);
    assert!(wide.within(0.95) > 3.7 && Null::of([]).within(0.95) > 1.95);
    let falls = (0..100).map(|n| wide.p_value(f64::from(n) / 4.0)).collect::<Vec<f64>>();
    assert!(falls.windows(2).all(|two| two[1] <= two[0]), "a greater score is never more probable");
}

#[test]
fn a_gate_has_the_documented_defaults() {
    let gate = Gate::default();
    assert_eq!(gate.matters(Statistic::Mean).of(-1000.0), 5.0);
    assert_eq!(gate.matters(Statistic::P99).of(10.0), 1.0);
    assert_eq!((gate.alpha, gate.statistics.len()), (0.01, 2));
}
