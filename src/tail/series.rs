//! Tests of a series: whether it drifts, and whether values depend on those before. Not what is in the
//! series: ranks of samples, whether samples exceed a threshold, distances of those that do.

use super::numbers::{Random, chi_squared_beyond};

/// The limit of the KPSS statistic at 1 %: its distribution, for a series without drift, is that of the
/// integral of a squared Brownian bridge, as for the statistic of Cramér and von Mises.
pub(super) const KPSS_LIMIT: f64 = 0.743;
/// Lags of the test of Ljung and Box. An even number: see `chi_squared_beyond`.
pub(super) const LAGS: usize = 20;

/// The statistic of D. Kwiatkowski, P. Phillips, P. Schmidt and Y. Shin (1992) for a constant level. Large
/// if the series drifts; 0 for a constant series. The long-run variance is that of `4 (n / 100) ^ (1/4)` lags
/// with the weights of Bartlett.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Drift {
    pub statistic: f64,
    /// The greatest sum of the first deviations from the mean, per sample and standard deviation: a step by
    /// `d` standard deviations in the middle of the series makes it `d / 4`.
    pub size: f64,
}

impl Drift {
    pub fn of(series: &[f64]) -> Self {
        let count = series.len() as f64;
        let mean = series.iter().sum::<f64>() / count;
        let variance = covariance(series, mean, 0);
        if variance.is_nan() || variance <= 0.0 {
            return Self { statistic: 0.0, size: 0.0 };
        }
        let lags = (4.0 * libm::pow(count / 100.0, 0.25)).floor();
        let long_run = (1..=lags as usize).fold(variance, |sum, lag| {
            sum + 2.0 * (1.0 - lag as f64 / (lags + 1.0)) * covariance(series, mean, lag)
        });
        let (mut sum, mut squares, mut most) = (0.0f64, 0.0, 0.0f64);
        for value in series {
            sum += value - mean;
            squares += sum * sum;
            most = most.max(sum.abs());
        }
        // A series that swings has next to no long-run variance. It does not drift.
        let long_run = long_run.max(variance * 1e-3);
        Self { statistic: squares / (count * count * long_run), size: most / (count * variance.sqrt()) }
    }
}

/// The sum of products of deviations that are `lag` apart, divided by the number of values.
fn covariance(series: &[f64], mean: f64, lag: usize) -> f64 {
    let later = series.get(lag..).unwrap_or_default();
    series.iter().zip(later).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / series.len() as f64
}

/// The test of G. Ljung and G. Box (1978).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dependence {
    /// The statistic.
    pub statistic: f64,
    /// Of at least this statistic, if values do not depend on each other.
    pub probability: f64,
    /// The greatest autocorrelation, without sign.
    pub size: f64,
}

impl Dependence {
    /// Of the first `lags` autocorrelations, an even number.
    pub fn of(series: &[f64], lags: usize) -> Self {
        let count = series.len() as f64;
        let mean = series.iter().sum::<f64>() / count;
        let variance = covariance(series, mean, 0);
        if variance.is_nan() || variance <= 0.0 {
            return Self { statistic: 0.0, probability: 1.0, size: 0.0 };
        }
        let (mut statistic, mut size) = (0.0, 0.0f64);
        for lag in 1..=lags.min(series.len().saturating_sub(1)) {
            let correlation = covariance(series, mean, lag) / variance;
            statistic += correlation * correlation / (count - lag as f64);
            size = size.max(correlation.abs());
        }
        statistic *= count * (count + 2.0);
        Self { statistic, probability: chi_squared_beyond(statistic, lags / 2), size }
    }
}

/// The extremal index of exceedances, from the distances between them: 1 if they do not come in clusters, or
/// else one by the mean size of a cluster. The intervals estimator of C. Ferro and J. Segers (2003). `None`
/// with fewer than two distances.
pub(super) fn extremal_index(distances: &[f64]) -> Option<f64> {
    let count = distances.len() as f64;
    if distances.len() < 2 {
        return None;
    }
    let are_short = distances.iter().all(|distance| *distance <= 2.0);
    let (sum, squares) = distances.iter().fold((0.0, 0.0), |(sum, squares), distance| {
        if are_short {
            (sum + distance, squares + distance * distance)
        } else {
            (sum + distance - 1.0, squares + (distance - 1.0) * (distance - 2.0))
        }
    });
    (squares > 0.0).then(|| 2.0 * sum * sum / (count * squares))
}

/// Distances between `count` exceedances in a row, if each of the samples is one with this probability,
/// whatever the others are.
pub(super) fn random_distances(count: usize, probability: f64, random: &mut Random) -> Vec<f64> {
    let hazard = -libm::log1p(-probability);
    (0..count).map(|_| (random.exponential() / hazard).ceil().max(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| random.open_unit() - 0.5).collect()
    }

    #[test]
    fn the_statistics_are_those_of_statsmodels() {
        // x = [(i * i * 7919 + 13 * i) % 1009 / 10 for i in range(200)]; statsmodels 0.15:
        // kpss(x, 'c', nlags=4)[0]; acorr_ljungbox(x, [20]).lb_stat and lb_pvalue.
        let series: Vec<f64> = (0..200).map(|i| f64::from((i * i * 7919 + 13 * i) % 1009) / 10.0).collect();
        let drift = Drift::of(&series);
        assert!((drift.statistic - 0.156_557_523_987_304_58).abs() < 1e-9, "{}", drift.statistic);
        let dependence = Dependence::of(&series, LAGS);
        assert!((dependence.statistic - 16.336_546_542_165_802).abs() < 1e-9, "{dependence:?}");
        assert!((dependence.probability - 0.695_538_220_141_325_3).abs() < 1e-9, "{dependence:?}");
    }

    #[test]
    fn a_step_and_a_trend_are_drifts() {
        let flat = noise(2000, 1);
        assert!(Drift::of(&flat).statistic < KPSS_LIMIT);
        let step: Vec<f64> = flat.iter().zip(0..).map(|(x, n)| x + 0.1 * f64::from(n / 1000)).collect();
        let drift = Drift::of(&step);
        assert!(drift.statistic > KPSS_LIMIT && (drift.size - 0.1 / (0.29 * 4.0)).abs() < 0.02, "{drift:?}");
        let trend: Vec<f64> = flat.iter().zip(0..).map(|(x, n)| x + 1e-4 * f64::from(n)).collect();
        assert!(Drift::of(&trend).statistic > KPSS_LIMIT);
        assert_eq!(Drift::of(&[3.0; 100]).statistic, 0.0);
        assert_eq!(Drift::of(&[]).statistic, 0.0);
    }

    #[test]
    fn dependent_values_are_seen() {
        let flat = noise(2000, 2);
        assert!(Dependence::of(&flat, LAGS).probability > 0.01);
        let mut before = 0.0;
        let dependent: Vec<f64> = flat
            .iter()
            .map(|x| {
                before = 0.3 * before + x;
                before
            })
            .collect();
        let dependence = Dependence::of(&dependent, LAGS);
        assert!(dependence.probability < 1e-6 && (dependence.size - 0.3).abs() < 0.06, "{dependence:?}");
        assert_eq!(Dependence::of(&[1.0; 9], LAGS).probability, 1.0);
        assert_eq!(Dependence::of(&[], LAGS).probability, 1.0);
    }

    #[test]
    fn the_extremal_index_is_one_by_the_size_of_clusters() {
        let mut random = Random::new(4);
        let alone = random_distances(4000, 0.02, &mut random);
        assert!((extremal_index(&alone).unwrap() - 1.0).abs() < 0.06);
        // Each exceedance is followed by another one.
        let pairs: Vec<f64> = alone.iter().flat_map(|distance| [1.0, *distance]).collect();
        let index = extremal_index(&pairs).unwrap();
        assert!((index - 0.5).abs() < 0.05, "{index}");
        assert_eq!(extremal_index(&[4.0]), None);
        assert_eq!(extremal_index(&[1.0; 8]), Some(2.0));
    }

    #[test]
    fn random_distances_are_geometric() {
        let mut random = Random::new(8);
        let distances = random_distances(20_000, 0.25, &mut random);
        let share = |n: f64| distances.iter().filter(|distance| **distance == n).count() as f64 / 2e4;
        assert!((share(1.0) - 0.25).abs() < 0.01 && (share(2.0) - 0.1875).abs() < 0.01);
    }
}
