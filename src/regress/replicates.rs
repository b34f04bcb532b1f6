//! Scores of resampled data in which nothing changed → a p-value, the width of an interval, and how great a
//! difference has to be. Not how data is resampled (see `within` and `recordings`).

use super::normal;
use crate::chance;

/// Replicates beyond a score from which on they are counted; below that, the tail is extrapolated.
const COUNTED: usize = 10;
/// By so much sizes of replicates are taken as greater: where the data itself is among them, rounding must
/// not make it greater than itself.
const ROUNDING: f64 = 1e-9;

/// How probable scores are if nothing changed.
#[derive(Debug, Clone)]
pub(super) struct Null {
    /// Sizes of the scores of the replicates, in rising order.
    sizes: Vec<f64>,
    /// By how much the replicates' tail is wider than that of a normal distribution; 1 at least.
    pub stretch: f64,
    /// The replicates are all that can happen, or drawn from that: where they can be counted, they are right
    /// even where a normal distribution is wider.
    is_exact: bool,
}

impl Null {
    /// Scores of permutations.
    pub fn exact(scores: impl IntoIterator<Item = f64>) -> Self {
        Self { is_exact: true, ..Self::of(scores) }
    }

    /// Scores that would be standard normal if samples were many and well-behaved. Nothing is less probable
    /// than by a normal distribution, which is also all that is known without replicates.
    pub fn of(scores: impl IntoIterator<Item = f64>) -> Self {
        let mut sizes: Vec<f64> = scores.into_iter().map(|score| score.abs() * (1.0 + ROUNDING)).collect();
        sizes.sort_by(f64::total_cmp);
        let mut null = Self { sizes, stretch: 1.0, is_exact: false };
        // The tail is matched where enough replicates are beyond.
        let beyond = COUNTED.max(null.sizes.len() / 100);
        if let Some(size) = null.sizes.len().checked_sub(beyond + 1).and_then(|n| null.sizes.get(n)) {
            let expected = chance::score((beyond + 1) as f64 / (null.sizes.len() + 1) as f64);
            null.stretch = (size / expected).max(1.0);
        }
        null
    }

    /// The share of the replicates of which so many are beyond a score. The data itself is one of the
    /// possible outcomes.
    fn share(&self, beyond: usize) -> f64 {
        (beyond + 1) as f64 / (self.sizes.len() + 1) as f64
    }

    /// The probability of a score at least as great, on either side. Where at least ten replicates are
    /// beyond it, their share is the probability. Farther out it is that of a normal distribution that is
    /// stretched to meet the replicates, never above the share of ten. (Tails of few permutations: T. A.
    /// Knijnenburg et al., Bioinformatics 25, 2009, who fit a Pareto distribution in place of the normal
    /// one.)
    pub fn p_value(&self, score: f64) -> f64 {
        let size = score.abs();
        let beyond = self.sizes.len() - self.sizes.partition_point(|one| *one < size);
        let replicated = if beyond >= COUNTED {
            self.share(beyond)
        } else {
            chance::two_sided(size / self.stretch).min(self.share(COUNTED))
        };
        if self.is_exact { replicated } else { replicated.max(chance::two_sided(size)) }
    }

    /// The size beyond which a score has a p-value below 1 − `coverage`: what is outside of the interval is
    /// what the test calls that improbable. (Symmetric intervals: P. Hall, Journal of the Royal
    /// Statistical Society B 50, 1988.)
    pub fn within(&self, coverage: f64) -> f64 {
        let (rest, count) = (1.0 - coverage, self.sizes.len());
        let normal = chance::score(rest);
        let at = |beyond: usize| count.checked_sub(beyond).and_then(|place| self.sizes.get(place));
        let least = |beyond: usize| at(beyond).copied().unwrap_or(0.0);
        let replicated = if self.share(COUNTED) < rest {
            // As many replicates beyond as are too few for this share, and one more.
            least((rest * (count + 1) as f64).ceil() as usize - 1)
        } else {
            (normal * self.stretch).max(least(COUNTED))
        };
        if self.is_exact { replicated } else { replicated.max(normal) }
    }
}

/// How far a difference has to be from 0 to be improbable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reach {
    /// Standard error of the difference.
    pub error: f64,
    /// Degrees of freedom of that error.
    pub freedom: f64,
    /// By how much the tail of the scores is wider than that of a normal distribution.
    pub stretch: f64,
    /// Recordings are the units of the error: with more of them, there are more degrees of freedom.
    pub of_recordings: bool,
}

impl Reach {
    /// The size of the difference that has this score, with `times` as many samples, or recordings where
    /// these are the units.
    pub fn of(&self, score: f64, times: f64) -> f64 {
        let freedom = if self.of_recordings { self.freedom * times } else { self.freedom };
        normal::to_student(score * self.stretch, freedom) * self.error / times.sqrt()
    }
}
