//! Sums of blocks → how uncertain a mean is, when neighbouring samples depend on each other. Not for
//! independent recordings (see `recordings`).

/// Joined neighbours per group. The blocks are short first; groups of them cover dependence that lasts
/// longer.
const LEVELS: [usize; 4] = [1, 2, 4, 8];
/// Groups that a level needs.
const GROUPS: usize = 8;
/// A recording moves slowly if the means of its sixteen parts follow each other: their autocorrelation at
/// lag 1 is above this. That of sixteen independent numbers is above it three times in a thousand.
const FOLLOWS: f64 = 0.6;
/// Parts of a recording for that.
const PARTS: usize = 16;

/// How uncertain a mean is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spread {
    /// Variance of the mean.
    pub variance: f64,
    /// Degrees of freedom of that variance.
    pub freedom: f64,
    /// Blocks per group at the level that has it.
    pub level: usize,
    /// The recording moves slowly: it shows no whole swing, or too few of them.
    pub unsteady: bool,
}

/// The variance of the sum of all blocks over the number of blocks, at each level: batch means, of which the
/// greatest counts. `residuals` sum up to about 0.
fn variance_at(residuals: &[f64], level: usize) -> (f64, usize) {
    let groups = residuals.chunks_exact(level);
    let count = residuals.len() / level;
    if count < 2 {
        return (0.0, count);
    }
    let (sum, squares) = groups.fold((0.0, 0.0), |(sum, squares), group| {
        let total: f64 = group.iter().sum();
        (sum + total, squares + total * total)
    });
    // Divided by level: of one block, whatever the level.
    let variance = (squares - sum * sum / count as f64).max(0.0) / (count - 1) as f64 / level as f64;
    (variance, count)
}

/// The greatest variance of all levels, per block; with its level and groups.
fn greatest(residuals: &[f64]) -> (f64, usize, usize) {
    let first = variance_at(residuals, 1);
    let mut found = (first.0, 1, first.1);
    let mut previous = first.0;
    for level in &LEVELS[1..] {
        if residuals.len() / level < GROUPS {
            break;
        }
        let (variance, groups) = variance_at(residuals, *level);
        // Still rising where groups cannot be longer: as much again is to come.
        let is_last = residuals.len() / (2 * level) < GROUPS || Some(level) == LEVELS.last();
        let variance = variance + if is_last { (variance - previous).max(0.0) } else { 0.0 };
        if variance > found.0 {
            found = (variance, *level, groups);
        }
        previous = variance;
    }
    found
}

/// The uncertainty of the mean of a recording: of blocks of `size` samples with these residuals, and of
/// `count` samples in all. `None` with less than two blocks.
///
/// This is the method of batch means with several lengths of batches, of which the most cautious counts: if
/// samples depend on each other for longer than a block, groups of blocks vary more than blocks suggest. If
/// they swing around their mean, as in a schedule that repeats, short blocks vary more.
///
/// A variance that still rises at the last level is extrapolated: the bias of batch means falls with one over
/// the length of a batch, so all further doublings together add as much as the last one did.
pub(super) fn spread(residuals: &[f64], size: u64, count: u64) -> Option<Spread> {
    if residuals.len() < 2 || size == 0 || count == 0 {
        return None;
    }
    let (variance, level, groups) = greatest(residuals);
    Some(Spread {
        // Per block → of the mean of all samples.
        variance: variance / size as f64 / count as f64,
        freedom: (groups - 1) as f64,
        level,
        unsteady: follows(residuals) > FOLLOWS,
    })
}

/// The autocorrelation at lag 1 of the means of the parts of a recording; 0 if there are too few blocks.
fn follows(residuals: &[f64]) -> f64 {
    let length = residuals.len() / PARTS;
    if length < 2 {
        return 0.0;
    }
    let means: Vec<f64> = residuals.chunks_exact(length).map(|part| part.iter().sum()).collect();
    let middle = means.iter().sum::<f64>() / means.len() as f64;
    let squares: f64 = means.iter().map(|one| (one - middle).powi(2)).sum();
    let products: f64 = means.windows(2).map(|two| (two[0] - middle) * (two[1] - middle)).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

/// Only the greatest variance, for resampled blocks.
pub(super) fn variance(residuals: &[f64], size: u64, count: u64) -> f64 {
    greatest(residuals).0 / size.max(1) as f64 / count.max(1) as f64
}

/// Degrees of freedom of a sum of independent variances (F. E. Satterthwaite, Biometrics Bulletin 2, 1946;
/// for two means B. L. Welch, Biometrika 34, 1947).
pub(super) fn joint_freedom(parts: &[(f64, f64)]) -> f64 {
    let sum: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let rest: f64 = parts.iter().map(|(variance, freedom)| variance * variance / freedom.max(1.0)).sum();
    if rest > 0.0 { sum * sum / rest } else { parts.iter().map(|(_, freedom)| freedom).sum() }
}

/// On how many blocks a variance really rests: less than there are when a few of them have most of it.
pub(super) fn carried_by(residuals: &[f64]) -> f64 {
    let squares: f64 = residuals.iter().map(|one| one * one).sum();
    let fourths: f64 = residuals.iter().map(|one| one.powi(4)).sum();
    if fourths > 0.0 { squares * squares / fourths } else { residuals.len() as f64 }
}
