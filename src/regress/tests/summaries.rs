//! Summaries against what all samples say, and their size.

use super::super::bins::Bins;
use super::super::blocks::{Blocks, LIMIT};
use super::super::spread::spread;
use super::super::{Side, Summary};
use super::{Dice, summed};

/// The rank of a share, interpolated, of all samples.
fn quantile(values: &[i64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = share * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[rank.floor() as usize] as f64, sorted[rank.ceil() as usize] as f64);
    low + (high - low) * (rank - rank.floor())
}

fn bins(values: &[i64]) -> Bins {
    let mut bins = Bins::default();
    values.iter().for_each(|value| bins.push(*value));
    bins.settle();
    bins
}

#[test]
fn few_values_are_counted_exactly() {
    let mut dice = Dice::of(1);
    let values: Vec<i64> = (0..20_000).map(|_| (dice.unit() * 900.0) as i64 * 1000 - 300_000).collect();
    let bins = bins(&values);
    for share in [0.0, 0.01, 0.5, 0.99, 0.999, 1.0] {
        assert!((bins.quantile(share).unwrap() - quantile(&values, share)).abs() < 1e-6, "{share}");
    }
    let steps: Vec<_> = bins.steps().collect();
    for step in &steps {
        let up_to = values.iter().filter(|value| **value <= step.greatest).count() as u64;
        assert_eq!((step.least, step.up_to), (step.greatest, up_to));
    }
    assert_eq!(steps.len(), 900);
}

#[test]
fn many_values_are_counted_in_narrow_bins() {
    let mut dice = Dice::of(2);
    for scale in [1.0, 1e3, 1e9, 1e15] {
        let values: Vec<i64> = (0..50_000).map(|_| (dice.normal().exp() * 1e3 * scale) as i64).collect();
        let bins = bins(&values);
        assert!(bins.steps().count() <= 1024 && bins.count() == 50_000);
        for share in [0.01, 0.5, 0.99] {
            let (found, truth) = (bins.quantile(share).unwrap(), quantile(&values, share));
            assert!((found / truth - 1.0).abs() < 1.0 / 256.0, "{scale} {share}: {found} for {truth}");
        }
        // No bin is torn: each value is inside of one.
        let steps: Vec<_> = bins.steps().collect();
        assert!(steps.windows(2).all(|two| two[0].greatest < two[1].least));
        let inside = |value: &i64| steps.iter().any(|step| step.least <= *value && *value <= step.greatest);
        assert!(values.iter().take(500).all(inside));
    }
}

#[test]
fn histograms_add_up() {
    let mut dice = Dice::of(3);
    let mut draw =
        |scale: f64, n: usize| -> Vec<i64> { (0..n).map(|_| (dice.normal() * scale) as i64).collect() };
    let (a, b) = (draw(1e6, 30_000), draw(40.0, 3000));
    let mut joined = bins(&a);
    joined.add(&bins(&b));
    let all: Vec<i64> = a.iter().chain(&b).copied().collect();
    assert_eq!(joined.count(), 33_000);
    let share = 0.97;
    assert!((joined.quantile(share).unwrap() / quantile(&all, share) - 1.0).abs() < 0.01);
    // In any order, the bins are the same.
    let mut turned = bins(&b);
    turned.add(&bins(&a));
    let list = |bins: &Bins| bins.steps().map(|step| (step.least, step.up_to)).collect::<Vec<_>>();
    assert_eq!(list(&joined), list(&turned));
}

#[test]
fn the_ends_of_the_numbers_are_no_special_case() {
    let ends = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
    let mut dice = Dice::of(4);
    let many: Vec<i64> =
        (0..5000).map(|n| if n % 2 == 0 { dice.0.bits().cast_signed() } else { ends[n % 7] }).collect();
    for values in [ends.to_vec(), many, vec![i64::MIN; 2000]] {
        let summary: Summary = values.iter().copied().collect();
        assert_eq!(summary.extremes().unwrap().0, i64::MIN);
        let mean = values.iter().map(|value| i128::from(*value)).sum::<i128>() as f64 / values.len() as f64;
        assert_eq!(summary.mean(), Some(mean));
        let side: Side = [summary].into_iter().collect();
        let gate = super::super::Gate { replicates: 19, ..super::super::Gate::default() };
        let _ = super::super::compare(&side, &side, &gate);
        let mut reduced = side.recordings().next().unwrap().clone();
        reduced.reduce();
        assert_eq!(reduced.count(), values.len() as u64);
    }
    let empty: Summary = [].into_iter().collect();
    assert_eq!((empty.mean(), empty.p99(), empty.extremes(), empty.count()), (None, None, None, 0));
}

#[test]
fn blocks_are_sums_of_consecutive_samples() {
    let mut dice = Dice::of(5);
    for n in [1, 2, 127, 128, 1023, 1024, 1025, 5000, 100_000] {
        let values: Vec<i64> = (0..n).map(|_| (dice.unit() * 1e6) as i64).collect();
        let mut blocks = Blocks::default();
        values.iter().for_each(|value| blocks.push(*value));
        blocks.end();
        let size = blocks.size() as usize;
        assert!(blocks.count() < LIMIT && blocks.count() == n / size);
        assert!(n < LIMIT || blocks.count() >= LIMIT / 2);
        let sums: Vec<i64> = values.chunks_exact(size).map(|block| block.iter().sum()).collect();
        let mean = sums.iter().sum::<i64>() as f64 / sums.len() as f64;
        for (found, sum) in blocks.residuals().iter().zip(&sums) {
            assert!((found - (*sum as f64 - mean)).abs() < 1e-3, "{n}");
        }
        if let Some((residuals, share)) = blocks.residuals_above(0.1) {
            assert!(residuals.iter().sum::<f64>().abs() < 1e-6 && share > 0.05 && share < 0.15);
        }
    }
}

#[test]
fn the_error_of_a_mean_knows_how_samples_depend_on_each_other() {
    let mut dice = Dice::of(6);
    let n = 20_000;
    for rho in [-0.7, 0.0, 0.5, 0.9, 0.97] {
        // The variance of the mean of such a series, for long ones.
        let truth = 5000f64.powi(2) * (1.0 + rho) / (1.0 - rho) / n as f64;
        let mut ratio = 0.0;
        for _ in 0..40 {
            let summary = summed(&dice.autoregressive(rho, n));
            let blocks = summary.blocks();
            let found = spread(&blocks.residuals(), blocks.size(), summary.count()).unwrap();
            ratio += found.variance / truth / 40.0;
        }
        // Cautious: the greatest of several, and one that still rises is extrapolated.
        assert!(ratio > 0.95 && ratio < 2.0, "{rho}: {ratio}");
    }
    // A schedule that repeats has nearly the same mean in each block.
    let schedule: Vec<f64> = (0..n).map(|k| [100.0, 900.0, 200.0, 350.0, 5000.0][k % 5]).collect();
    let summary = summed(&schedule);
    let blocks = summary.blocks();
    let found = spread(&blocks.residuals(), blocks.size(), summary.count()).unwrap();
    assert!(found.variance.sqrt() < 5.0 && !found.unsteady, "{found:?}");
}

#[test]
fn slow_movements_are_noticed() {
    let mut dice = Dice::of(7);
    let rising: Vec<f64> = (0..5000).map(|k| 1e5 + f64::from(k) + 100.0 * dice.normal()).collect();
    let (summary, calm) = (summed(&rising), summed(&dice.autoregressive(0.5, 5000)));
    let of = |summary: &Summary| {
        spread(&summary.blocks().residuals(), summary.blocks().size(), summary.count()).unwrap()
    };
    assert!(of(&calm).freedom >= 7.0 && !of(&calm).unsteady);
    assert!(of(&summary).unsteady, "a trend");
    assert!(of(&summary).variance > 5.0 * of(&calm).variance, "a trend is never a small error");
    // Of steady recordings, three in a thousand look like that.
    let odd = (0..300).filter(|_| of(&summed(&dice.autoregressive(0.5, 3000))).unsteady).count();
    assert!(odd <= 5, "{odd}");
}

#[test]
fn summaries_are_bounded() {
    let mut dice = Dice::of(9);
    let mut summary = Summary::default();
    for k in 0..300_000 {
        summary.push((dice.normal().exp() * 1e9) as i64);
        if k % 1000 == 0 {
            assert!(summary.bytes() <= 34 * 1024, "{}", summary.bytes());
        }
    }
    let (mean, p99) = (summary.mean(), summary.bins().quantile(0.99));
    summary.finish();
    assert!(summary.bytes() <= 21 * 1024, "{}", summary.bytes());
    let median = summary.median();
    summary.reduce();
    assert!(summary.bytes() <= 2 * 1024 + 256, "{}", summary.bytes());
    assert_eq!((summary.mean(), summary.median()), (mean, median));
    assert!((summary.p99().unwrap() / p99.unwrap() - 1.0).abs() < 0.01);
    let many: Side = (0..50).map(|_| summed(&dice.autoregressive(0.5, 3000))).collect();
    assert!(many.bytes() < 50 * 2560 && many.count() == 150_000, "{}", many.bytes());
}
