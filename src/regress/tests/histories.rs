//! Change points of histories whose change is known.

use super::super::{Gate, Statistic, Summary, change_point, change_points};
use super::{Dice, summed};

/// A history of recordings around these levels, with this noise from run to run.
fn history(dice: &mut Dice, levels: &[f64], noise: f64) -> Vec<Summary> {
    let mut one = |level: &f64| {
        let level = level + noise * dice.normal();
        summed(&(0..50).map(|k| level + f64::from(k % 5)).collect::<Vec<f64>>())
    };
    levels.iter().map(&mut one).collect()
}

fn steps(parts: &[(usize, f64)]) -> Vec<f64> {
    parts.iter().flat_map(|(count, level)| vec![*level; *count]).collect()
}

#[test]
fn the_recording_is_found_exactly() {
    let (mut dice, gate) = (Dice::of(1), Gate::default());
    let (mut exact, mut within, mut confidence) = (0, 0, 0.0);
    for n in 0..200 {
        let (place, sign) = (3 + n % 15, if n % 2 == 0 { 1.0 } else { -1.0 });
        // Five times the noise.
        let levels = steps(&[(place, 1e5), (20 - place, 1e5 + sign * 5000.0)]);
        let Some(found) = change_point(&history(&mut dice, &levels, 1000.0), Statistic::Mean, &gate) else {
            // Three recordings at an end are a change at this level only just.
            assert!(place == 3 || place == 17, "{place}");
            continue;
        };
        exact += u32::from(found.index == place);
        within += u32::from(found.range.0 <= place && place <= found.range.1);
        confidence += found.confidence / 200.0;
    }
    assert!(exact >= 194 && within >= 196, "{exact} exact, {within} within");
    assert!((confidence - f64::from(exact) / 200.0).abs() < 0.06, "{confidence}");
}

#[test]
fn noise_has_no_change() {
    let (mut dice, gate) = (Dice::of(2), Gate { alpha: 0.05, ..Gate::default() });
    let found = (0..400)
        .filter(|_| {
            let quiet = history(&mut dice, &[1e5; 25], 2000.0);
            change_point(&quiet, Statistic::Mean, &gate).is_some()
        })
        .count();
    // 20 expected, less those that do not matter; 4 standard deviations.
    assert!(found < 38, "{found}");
}

#[test]
fn a_single_recording_is_no_change() {
    let (mut dice, gate) = (Dice::of(3), Gate::default());
    for place in [0, 7, 19] {
        let mut levels = vec![1e5; 20];
        levels[place] = 2e5;
        let one = change_point(&history(&mut dice, &levels, 500.0), Statistic::Mean, &gate);
        assert_eq!(one, None, "{place}");
    }
    // It does not hide a change either.
    let mut levels = steps(&[(12, 1e5), (8, 1.04e5)]);
    levels[4] = 3e5;
    let found = change_point(&history(&mut dice, &levels, 400.0), Statistic::Mean, &gate).unwrap();
    assert_eq!(found.index, 12);
}

#[test]
fn constants_change_where_they_change() {
    let gate = Gate::default();
    let mut dice = Dice::of(4);
    let levels = steps(&[(2, 7000.0), (4, 7100.0)]);
    let found = change_point(&history(&mut dice, &levels, 0.0), Statistic::P99, &gate).unwrap();
    assert_eq!((found.index, found.p_value, found.confidence, found.range), (2, 0.0, 1.0, (2, 2)));
    assert_eq!(change_point(&history(&mut dice, &[7000.0; 9], 0.0), Statistic::Mean, &gate), None);
    assert_eq!(change_point(&history(&mut dice, &levels[..4], 0.0), Statistic::Mean, &gate), None);
    // It does not matter.
    let little = steps(&[(5, 70_000.0), (5, 70_010.0)]);
    assert_eq!(change_point(&history(&mut dice, &little, 0.0), Statistic::Mean, &gate), None);
}

#[test]
fn several_changes_are_found_and_empty_recordings_skipped() {
    let (mut dice, gate) = (Dice::of(5), Gate::default());
    let levels = steps(&[(10, 1e5), (12, 1.1e5), (9, 1.05e5)]);
    let mut recordings = history(&mut dice, &levels, 500.0);
    recordings.insert(3, Summary::default());
    let found = change_points(&recordings, Statistic::Mean, &gate);
    assert_eq!(found.iter().map(|one| one.index).collect::<Vec<_>>(), [11, 23]);
    assert!((found[0].before / 1e5 - 1.0).abs() < 0.01 && (found[1].after / 1.05e5 - 1.0).abs() < 0.01);
}
