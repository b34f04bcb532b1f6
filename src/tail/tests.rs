//! Tests of whole fits, and of fits against other implementations.

use super::gev::Gev;
use super::gpd::Gpd;
use super::numbers::Random;
use super::*;

/// Numbers between 0 and 1 that a line of Python makes as well:
/// `s = 1`, then `s = (1103515245 * s + 12345) % 2**31; u = (s + 0.5) / 2**31`.
fn units(count: usize) -> Vec<f64> {
    let mut state = 1u64;
    let next = || {
        state = (1_103_515_245 * state + 12_345) % (1 << 31);
        (state as f64 + 0.5) / f64::from(1u32 << 31)
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn draw(count: usize, seed: u64, quantile: impl Fn(f64) -> f64) -> Vec<i64> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (1e6 + 1e4 * quantile(random.open_unit())).round() as i64).collect()
}

fn exponential(count: usize, seed: u64) -> Vec<i64> {
    draw(count, seed, |u| -u.ln())
}

fn refused(samples: &[i64]) -> [Option<Test>; 2] {
    let report = fit(samples, &Settings::default());
    [&report.maxima, &report.peaks].map(|outcome| outcome.refusal().map(|refusal| refusal.failed.test))
}

fn both(test: Test) -> [Option<Test>; 2] {
    [Some(test); 2]
}

#[test]
fn the_fits_are_those_of_scipy() {
    // scipy 1.17.1, with u of `units(200)`:
    // y = np.round(1e4 * ((1 - u) ** -shape - 1) / shape) + 0.5; stats.genpareto.fit(y, floc=0)
    for (shape, expected, scale) in
        [(-0.3, -0.350_437_114_890, 10_417.680_878_8), (0.2, 0.148_084_062_167, 10_384.248_660_5)]
    {
        let excesses: Vec<f64> = units(200)
            .into_iter()
            .map(|u| (1e4 * ((1.0 - u).powf(-shape) - 1.0) / shape).round() + 0.5)
            .collect();
        let gpd = Gpd::fit(&excesses).unwrap();
        assert!((gpd.shape - expected).abs() < 1e-4 && (gpd.scale / scale - 1.0).abs() < 1e-4, "{gpd:?}");
    }
    // x = np.round(1e6 + 1e4 * ((-np.log(u)) ** -shape - 1) / shape)
    // stats.genextreme.fit(x, -shape, loc=1e6, scale=1e4); its shape has the other sign.
    for (shape, expected, location, scale) in [
        (-0.3, -0.215_073_632, 1_000_465.889_6, 8_434.620_09),
        (0.2, 0.270_430_251, 1_000_267.593_3, 8_609.524_91),
    ] {
        let maxima: Vec<f64> = units(200)
            .into_iter()
            .map(|u| (1e6 + 1e4 * ((-u.ln()).powf(-shape) - 1.0) / shape).round())
            .collect();
        let gev = Gev::fit(&maxima, None).unwrap();
        assert!((gev.shape - expected).abs() < 1e-3 && (gev.scale / scale - 1.0).abs() < 1e-3, "{gev:?}");
        assert!((gev.location - location).abs() < 1e-3 * scale, "{gev:?}");
    }
}

#[test]
fn the_levels_of_exponential_samples_are_right() {
    let samples = exponential(5000, 3);
    let settings = Settings { levels: vec![10, 5000, 50_000, 10_000_000], curve: 3, ..Settings::default() };
    let report = fit(&samples, &settings);
    assert_eq!(report.greatest, samples.iter().copied().max());
    for outcome in [&report.maxima, &report.peaks] {
        let fit = outcome.fit().unwrap();
        assert_eq!(fit.levels[0], (10, Err(NoLevel::Within)));
        assert_eq!(fit.levels[3], (10_000_000, Err(NoLevel::Beyond)));
        for (instances, level) in &fit.levels[1..3] {
            let level = level.unwrap();
            let truth = 1e6 + 1e4 * (*instances as f64).ln();
            assert!(level.low < truth && truth < level.high, "{instances} {level:?}");
            assert!(level.low < level.value && level.value < level.high);
        }
        assert!(fit.curve.len() > 6 && fit.curve.is_sorted_by(|a, b| a.value < b.value));
        assert!(fit.checks.iter().all(|check| check.has_passed));
    }
    let Model::Peaks { threshold, share, .. } = report.peaks.fit().unwrap().model else { panic!() };
    let above = samples.iter().filter(|sample| **sample as f64 > threshold).count();
    assert_eq!((above as f64 / 5000.0, above), (share, report.peaks.fit().unwrap().used));
}

#[test]
fn the_same_samples_have_the_same_answer() {
    let samples = exponential(2000, 3);
    assert_eq!(fit(&samples, &Settings::default()), fit(&samples, &Settings::default()));
    // Of samples at another time and in another unit as well, up to rounding.
    let moved: Vec<i64> = samples.iter().map(|sample| sample * 1000 - 77).collect();
    let (a, b) = (fit(&samples, &Settings::default()), fit(&moved, &Settings::default()));
    let shape = |report: &Report| match report.peaks.fit().unwrap().model {
        Model::Peaks { gpd, .. } => gpd.shape,
        Model::Maxima { gev, .. } => gev.shape,
    };
    assert!((shape(&a) - shape(&b)).abs() < 1e-3);
}

#[test]
fn unfit_samples_have_no_numbers() {
    assert_eq!(refused(&[]), both(Test::Count));
    assert_eq!(refused(&exponential(999, 1)), both(Test::Count));
    assert_eq!(refused(&[7; 5000]), both(Test::Distinct));
    let two = draw(5000, 1, |u| if u < 0.3 { 1.0 } else { 0.0 });
    assert_eq!(refused(&two), both(Test::Distinct));
    // A clock of 10 µs, and samples of 10 µs above a path of 1 ms.
    let lattice: Vec<i64> = exponential(5000, 1).iter().map(|sample| sample / 2500 * 2500).collect();
    assert!(
        refused(&lattice)
            .iter()
            .all(|test| { matches!(test, Some(Test::Distinct | Test::Commonest | Test::Resolution)) })
    );
    let capped: Vec<i64> = exponential(5000, 1).iter().map(|sample| *sample.min(&1_030_000)).collect();
    assert!(refused(&capped).iter().all(Option::is_some));
    let drift: Vec<i64> = exponential(5000, 1).iter().zip(0..).map(|(sample, n)| sample + n).collect();
    assert_eq!(refused(&drift), both(Test::Drift));
    let samples = exponential(5001, 1);
    let dependent: Vec<i64> = samples.windows(2).map(|pair| pair[0].max(pair[1])).collect();
    assert_eq!(refused(&dependent), both(Test::Dependence));
    // One in a hundred takes a path that is far longer.
    let far: Vec<i64> = exponential(5000, 1)
        .iter()
        .zip(exponential(5000, 2))
        .map(|(sample, other)| if other > 1_046_000 { sample + 900_000 } else { *sample })
        .collect();
    assert!(refused(&far).iter().all(|test| {
        matches!(test, Some(Test::AndersonDarling | Test::Gap | Test::Heaviness | Test::Shape))
    }));
    assert!(refused(&draw(5000, 1, |u| u)).iter().all(|test| *test == Some(Test::Shape)));
}

#[test]
fn a_clock_that_is_fine_enough_does_not_matter() {
    let samples = exponential(5000, 3);
    let rounded: Vec<i64> = samples.iter().map(|sample| sample / 400 * 400).collect();
    let (exact, rounded) = (fit(&samples, &Settings::default()), fit(&rounded, &Settings::default()));
    let at = |report: &Report| report.peaks.fit().unwrap().levels[1].1.unwrap();
    assert!((at(&exact).value - at(&rounded).value).abs() < 1500.0, "{exact:?} {rounded:?}");
}

#[test]
fn no_input_and_no_setting_panics() {
    let wild: Vec<i64> = (0..3000u64).map(|n| Random::new(n).bits().cast_signed()).collect();
    let ends: Vec<i64> = (0..3000).map(|n| if n % 2 == 0 { i64::MIN } else { i64::MAX }).collect();
    let top: Vec<i64> = exponential(1000, 1).iter().map(|sample| i64::MAX - 3_000_000 + sample).collect();
    for samples in [&wild, &ends, &top, &vec![], &vec![i64::MAX]] {
        for (peaks, blocks) in [(None, None), (Some(0), Some(0)), (Some(usize::MAX), Some(usize::MAX))] {
            for (confidence, reach) in [(0.95, 10.0), (f64::NAN, f64::NAN), (1.0, 0.0)] {
                let levels = vec![0, 1, 2, u64::MAX];
                let settings = Settings { levels, confidence, reach, peaks, blocks, curve: 1, seed: 0 };
                let _ = fit(samples, &settings);
            }
        }
    }
}

#[test]
fn answers_are_sentences() {
    let report = fit(&[7; 5000], &Settings::default());
    let sentence = report.peaks.refusal().map(ToString::to_string).unwrap_or_default();
    assert_eq!(sentence, "not fit for a fit: only 1 values differ, at least 20 have to");
    let drift: Vec<i64> = exponential(5000, 1).iter().zip(0..).map(|(sample, n)| sample + n).collect();
    let sentence = fit(&drift, &Settings::default()).maxima.refusal().unwrap().to_string();
    assert!(sentence.starts_with("not fit for a fit: the samples drift over time (statistic "), "{sentence}");
    assert!(WHAT_IT_IS_NOT.contains("no safe bound"));
}
