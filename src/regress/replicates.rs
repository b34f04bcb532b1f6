//! Scores of resampled data in which nothing changed → a p-value and the width of an interval. Not how data
//! is resampled (see `within` and `recordings`).

use super::normal;

/// Replicates beyond a score from which on they are counted; below that, the tail is extrapolated.
const COUNTED: usize = 10;

/// How probable scores are if nothing changed.
#[derive(Debug, Clone)]
pub(super) struct Null {
    /// Sizes of the scores of the replicates, in rising order.
    sizes: Vec<f64>,
    /// By how much the replicates' tail is wider than that of a normal distribution; 1 at least.
    pub stretch: f64,
}

impl Null {
    /// Scores that would be standard normal if samples were many and well-behaved.
    pub fn of(scores: impl IntoIterator<Item = f64>) -> Self {
        let mut sizes: Vec<f64> = scores.into_iter().map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        let mut null = Self { sizes, stretch: 1.0 };
        // The tail is matched where enough replicates are beyond.
        let beyond = COUNTED.max(null.sizes.len() / 100);
        if let Some(size) = null.sizes.len().checked_sub(beyond + 1).and_then(|n| null.sizes.get(n)) {
            let expected = normal::score((beyond + 1) as f64 / (null.sizes.len() + 1) as f64);
            null.stretch = (size / expected).max(1.0);
        }
        null
    }

    /// The probability of a score at least as great, on either side. Where at least ten replicates are
    /// beyond it, their share is the probability. Farther out it is that of a normal distribution that is
    /// stretched to meet the replicates, never above the share of ten. (Tails of few permutations: T. A.
    /// Knijnenburg et al., Bioinformatics 25, 2009, who fit a Pareto distribution in place of the normal
    /// one.)
    pub fn p_value(&self, score: f64) -> f64 {
        let size = score.abs();
        let beyond = self.sizes.len() - self.sizes.partition_point(|one| *one < size);
        // The data itself is one of the possible outcomes.
        let counted = |beyond: usize| (beyond + 1) as f64 / (self.sizes.len() + 1) as f64;
        if beyond >= COUNTED {
            return counted(beyond);
        }
        normal::two_sided(size / self.stretch).min(counted(COUNTED))
    }

    /// The size of score that a share of the replicates stay within; never less than that of the normal
    /// distribution. (Symmetric intervals: P. Hall, Journal of the Royal Statistical Society B 50, 1988.)
    pub fn within(&self, coverage: f64) -> f64 {
        let normal = normal::score(1.0 - coverage);
        let rank = (coverage * self.sizes.len() as f64).ceil() as usize;
        self.sizes.get(rank.saturating_sub(1)).map_or(normal, |size| size.max(normal))
    }
}
