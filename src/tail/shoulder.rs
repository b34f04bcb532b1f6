//! Whether a slower path begins near the extremes and overlaps with the others: their density has a shoulder.
//! Not a path that is far beyond the others (see `goodness`).
//!
//! Of such samples the extremes alone look like a tail that ends soon, and intervals from them do not hold.
//! So a Pareto distribution is fitted to more of the greatest samples than are peaks. If all are of one path,
//! they are of that distribution, or there are more in the middle of it, as the density bends down towards
//! the bulk of the samples. With a slower path there are more at both ends: close to the threshold the last
//! ones of the faster path, and far from it the slower ones.

use super::gpd::Gpd;
use super::peaks::{Above, LEAST_PEAKS};
use super::report::{Check, Test};

/// The limit at 1 %: of 8,400 sets of 1,000 to 50,000 samples of Pareto distributions of shapes -0.2 to 0.2,
/// about one in a hundred is above it.
const LIMIT: f64 = 3.0;
/// Thresholds: each has √2 times as many samples above it as the one before, so the last one has 16 times as
/// many as there are peaks.
const THRESHOLDS: i32 = 9;

/// The test of samples in ascending order, of which so many are peaks. At most half of the samples are looked
/// at: nearly all samples have several paths below that.
pub(super) fn shoulder(sorted: &[i64], peaks: usize) -> Check {
    let counts = (0..THRESHOLDS).map(|n| (peaks as f64 * libm::exp2(f64::from(n) / 2.0)) as usize);
    let components =
        counts.take_while(|count| *count <= sorted.len() / 2).filter_map(|count| component(sorted, count));
    Check::at_most(Test::Shoulder, components.fold(0.0, f64::max), LIMIT)
}

/// By how much more of the greatest samples are at both ends of the fitted distribution than in its middle,
/// in standard deviations: the second component of the smooth test of J. Neyman (1937). `None` if too few
/// exceed the threshold, as many are alike there, or there is no fit.
fn component(sorted: &[i64], count: usize) -> Option<f64> {
    let excesses = Above::new(sorted, count).excesses();
    let gpd = Gpd::fit(&excesses).filter(|_| excesses.len() >= LEAST_PEAKS)?;
    let beyond = excesses.iter().map(|y| libm::exp(-gpd.hazard(*y)));
    let sum: f64 = beyond.map(|share| 5f64.sqrt() * (6.0 * share * share - 6.0 * share + 1.0)).sum();
    let component = sum / (excesses.len() as f64 * variance(gpd.shape)).sqrt();
    component.is_finite().then_some(component)
}

/// The variance of a term of the component: 1, less what the fit takes away, which is its projection on the
/// derivatives of the likelihood by shape and scale. The information of both: R. Smith (1984). From -0.5 down
/// there is none, and the variance is taken as that of -0.5.
fn variance(shape: f64) -> f64 {
    let shape = shape.max(-0.5);
    let both = 5f64.sqrt() / ((2.0 + shape) * (3.0 + shape));
    let (by_shape, by_scale) = (both * (shape + 11.0) / 6.0, both * (1.0 - shape));
    let squares = (1.0 + shape) * by_shape * by_shape - 2.0 * by_shape * by_scale + 2.0 * by_scale * by_scale;
    1.0 - (1.0 + shape) * squares
}

#[cfg(test)]
mod tests {
    use super::super::numbers::Random;
    use super::*;

    /// 3000 samples, of which some are of a normal distribution that is so many standard deviations higher.
    fn mixed(share: f64, higher: f64, random: &mut Random) -> Vec<i64> {
        let mut sample = || {
            // Twelve even numbers are nearly normal.
            let normal = (0..12).map(|_| random.open_unit()).sum::<f64>() - 6.0;
            let by = if random.open_unit() < share { higher } else { 0.0 };
            (1e4 * (normal + by)) as i64
        };
        let mut samples: Vec<i64> = (0..3000).map(|_| sample()).collect();
        samples.sort_unstable();
        samples
    }

    fn refused(sets: impl Iterator<Item = Vec<i64>>) -> usize {
        sets.filter(|sorted| !shoulder(sorted, 136).has_passed).count()
    }

    #[test]
    fn a_slower_path_that_overlaps_is_seen() {
        let mut random = Random::new(1);
        for (share, higher) in [(0.1, 3.0), (0.15, 3.0), (0.1, 4.0), (0.1, 8.0)] {
            let found = refused((0..40).map(|_| mixed(share, higher, &mut random)));
            assert!(found >= 38, "{share} {higher}: {found} of 40");
        }
    }

    #[test]
    fn one_path_has_no_shoulder() {
        let mut random = Random::new(2);
        let found = refused((0..100).map(|_| mixed(0.0, 0.0, &mut random)));
        assert!(found <= 2, "normal: {found} of 100");
        for shape in [-0.3, 0.0, 0.3] {
            let gpd = Gpd { shape, scale: 1e4 };
            let mut sorted = || {
                let mut samples: Vec<i64> = (0..3000).map(|_| gpd.draw(&mut random) as i64).collect();
                samples.sort_unstable();
                samples
            };
            let found = refused((0..100).map(|_| sorted()));
            assert!(found <= 5, "Pareto, {shape}: {found} of 100");
        }
        // Two paths of which the slower one has most of the greatest samples by far.
        let found = refused((0..40).map(|_| mixed(0.6, 6.0, &mut random)));
        assert!(found <= 1, "slower path: {found} of 40");
    }

    #[test]
    fn the_component_has_the_variance_of_its_formula() {
        let mut random = Random::new(3);
        for shape in [-0.4, 0.0, 0.5] {
            let gpd = Gpd { shape, scale: 1e6 };
            let squares: f64 = (0..300)
                .map(|_| {
                    let mut sorted: Vec<i64> = (0..400).map(|_| gpd.draw(&mut random) as i64).collect();
                    sorted.sort_unstable();
                    component(&sorted, 300).unwrap().powi(2)
                })
                .sum();
            assert!((squares / 300.0 - 1.0).abs() < 0.25, "{shape}: {squares}");
        }
        // Integrals by scipy.integrate.quad.
        for (shape, expected) in [(-0.4, 0.853_342_270_7), (0.1, 0.733_338_878_4), (1.0, 0.444_444_444_4)] {
            assert!((variance(shape) - expected).abs() < 1e-9, "{shape}");
        }
    }

    #[test]
    fn samples_that_are_alike_have_no_component() {
        let alike: Vec<i64> = (0..1000).map(|n| n / 900).collect();
        let _ = component(&alike, 500);
        assert_eq!(component(&[7; 1000], 500), None);
        assert_eq!(component(&[], 0), None);
        assert!(shoulder(&[], 0).has_passed && shoulder(&[7; 1000], usize::MAX).has_passed);
    }
}
