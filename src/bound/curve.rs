//! An event model: the least and the greatest distance of any n arrivals, and what follows from them about
//! the number of arrivals in a window. Not how distances are observed (see `distances`).
//!
//! The terms are those of compositional performance analysis (K. Richter, 2005): δ⁻(n) is the least distance
//! from the first to the last of n consecutive arrivals, δ⁺(n) the greatest one; η⁺(Δ) is the greatest number
//! of arrivals in a window of length Δ, η⁻(Δ) the least one. Times are in ticks.

/// Distances of arrivals, known for some numbers of them and extended to all numbers.
///
/// A window of a + b gaps consists of one of a gaps and one of b gaps. So δ⁻ grows at least as fast as the
/// sum of its parts (it is super-additive in the number of gaps), δ⁺ at most as fast. That is how both are
/// extended beyond the greatest number that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve {
    shape: Shape,
    /// Gaps, and the least and the greatest length of so many. A sample where there are too many windows.
    spans: Vec<Span>,
}

/// Lengths of windows of some number of gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Gaps between consecutive arrivals in the window: one less than arrivals.
    pub gaps: u64,
    /// The shortest one, in ticks.
    pub least: i64,
    /// The longest one, in ticks.
    pub most: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Never,
    Periodic { period: i64, jitter: i64, distance: i64 },
    Known { least: Vec<(u64, i64)>, most: Vec<(u64, i64)> },
}

/// A number of arrivals that nothing limits.
pub const ENDLESS: u64 = u64::MAX;

impl Curve {
    /// No arrival, ever.
    pub fn never() -> Self {
        Self { shape: Shape::Never, spans: Vec::new() }
    }

    /// Arrivals every `period` ticks, each later by up to `jitter` ticks, but at least `distance` ticks after
    /// the one before: δ⁻(n) = max((n − 1)·distance, (n − 1)·period − jitter), δ⁺(n) = (n − 1)·period +
    /// jitter. Negative values count as 0.
    pub fn periodic(period: i64, jitter: i64, distance: i64) -> Self {
        let (period, jitter, distance) = (period.max(0), jitter.max(0), distance.max(0));
        Self { shape: Shape::Periodic { period, jitter, distance }, spans: Vec::new() }
    }

    /// From distances: pairs of a number of gaps (arrivals − 1, at least 1) and the least, or greatest,
    /// length of so many. Without pairs in `least` there are no arrivals. Pairs that contradict others (a
    /// longer window with less distance) are raised or lowered to what the others say.
    pub fn from_distances(least: &[(u64, i64)], most: &[(u64, i64)], spans: Vec<Span>) -> Self {
        let least = closed(least);
        let mut upper: Vec<(u64, i64)> = most.iter().copied().filter(|(gaps, _)| *gaps > 0).collect();
        upper.sort_unstable();
        upper.dedup_by_key(|(gaps, _)| *gaps);
        // More gaps never take less time.
        let mut above = i64::MAX;
        for (_, length) in upper.iter_mut().rev() {
            above = above.min(*length).max(0);
            *length = above;
        }
        let shape = if least.is_empty() { Shape::Never } else { Shape::Known { least, most: upper } };
        Self { shape, spans }
    }

    /// δ⁻(n): the least distance from the first to the last of `n` arrivals; `i64::MAX` if so many never
    /// come.
    pub fn least_distance(&self, n: u64) -> i64 {
        let gaps = n.saturating_sub(1);
        match &self.shape {
            Shape::Never if n == 0 => 0,
            Shape::Never => i64::MAX,
            Shape::Periodic { period, jitter, distance } => {
                let late = i128::from(gaps) * i128::from(*period) - i128::from(*jitter);
                clamped(late.max(i128::from(gaps) * i128::from(*distance)))
            }
            Shape::Known { least, .. } => sum(least, gaps),
        }
    }

    /// δ⁺(n): the greatest distance from the first to the last of `n` consecutive arrivals; `None` if nothing
    /// is known about it.
    pub fn greatest_distance(&self, n: u64) -> Option<i64> {
        let gaps = n.saturating_sub(1);
        match &self.shape {
            _ if gaps == 0 => Some(0),
            Shape::Never => None,
            Shape::Periodic { period, jitter, .. } => {
                Some(clamped(i128::from(gaps) * i128::from(*period) + i128::from(*jitter)))
            }
            Shape::Known { most, .. } if most.first().is_some_and(|(gaps, _)| *gaps == 1) => {
                Some(sum(most, gaps))
            }
            Shape::Known { .. } => None,
        }
    }

    /// η⁺: the greatest number of arrivals in a window of `length` ticks that has its begin and not its end;
    /// [`ENDLESS`] if there is no limit.
    pub fn most_arrivals(&self, length: i64) -> u64 {
        if length <= 0 || self.shape == Shape::Never {
            return 0;
        }
        let Some((gaps, ticks)) = self.long_run() else { return ENDLESS };
        // Windows of so many gaps take at least so many ticks, so that no more than this fit in.
        let whole = (length / ticks).unsigned_abs().saturating_add(2);
        let enough = match &self.shape {
            Shape::Periodic { period, jitter, .. } => {
                (length.saturating_add(*jitter) / (*period).max(1)).unsigned_abs().saturating_add(2)
            }
            _ => whole.saturating_mul(gaps),
        };
        last(1, enough, |n| self.least_distance(n) < length)
    }

    /// The greatest number of arrivals in a window of `length` ticks that has both its begin and its end.
    pub fn most_arrivals_closed(&self, length: i64) -> u64 {
        // Times are whole ticks.
        if length < 0 { 0 } else { self.most_arrivals(length.saturating_add(1)) }
    }

    /// η⁻: the least number of arrivals in a window of `length` ticks that has its begin and not its end, and
    /// that lies between two arrivals of the stream. 0 if nothing is known.
    pub fn least_arrivals(&self, length: i64) -> u64 {
        // A window between two arrivals, without both, is shorter by a tick than their distance.
        let fits = |n: u64| self.greatest_distance(n + 1).is_some_and(|distance| distance <= length);
        if length <= 0 || !fits(1) {
            return 0;
        }
        let mut enough = 1u64;
        while enough < ENDLESS / 4 && fits(enough) {
            enough *= 2;
        }
        if fits(enough) { ENDLESS } else { last(1, enough, fits) }
    }

    /// What the stream does in the long run: so many arrivals in at least so many ticks (at least 1). `None`
    /// if nothing limits it; `(0, 1)` if there are no arrivals.
    pub fn long_run(&self) -> Option<(u64, i64)> {
        match &self.shape {
            Shape::Never => Some((0, 1)),
            Shape::Periodic { period, distance, .. } => {
                Some((1, (*period).max(*distance))).filter(|(_, ticks)| *ticks > 0)
            }
            Shape::Known { least, .. } => least.last().copied().filter(|(_, ticks)| *ticks > 0),
        }
    }

    /// The greatest number of arrivals whose distances were all seen; more are extrapolated. `None` if the
    /// curve is not an observed one.
    pub fn seen(&self) -> Option<u64> {
        match &self.shape {
            Shape::Known { most, .. } => Some(most.last().map_or(1, |(gaps, _)| gaps + 1)),
            _ => None,
        }
    }

    /// The windows that were seen, by their number of gaps; not all windows of many gaps are among them.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
}

/// The pairs in the order of gaps, each at least as great as the earlier ones say.
fn closed(pairs: &[(u64, i64)]) -> Vec<(u64, i64)> {
    let mut pairs: Vec<(u64, i64)> = pairs.iter().copied().filter(|(gaps, _)| *gaps > 0).collect();
    // Of two with the same number the greater one counts, as both are lower bounds.
    pairs.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(other.1.cmp(&one.1)));
    pairs.dedup_by_key(|(gaps, _)| *gaps);
    let mut known: Vec<(u64, i64)> = Vec::with_capacity(pairs.len());
    for (gaps, length) in pairs {
        let implied = sum(&known, gaps);
        known.push((gaps, length.max(implied).max(0)));
    }
    known
}

/// The length of so many gaps as a sum of known lengths, the longest windows first. It never falls with more
/// gaps: each window is followed by the same sums as those that begin with 0 gaps.
fn sum(known: &[(u64, i64)], mut gaps: u64) -> i64 {
    let mut total: i128 = 0;
    while gaps > 0 {
        let below = known.partition_point(|(of, _)| *of <= gaps);
        let Some((of, length)) = below.checked_sub(1).and_then(|ix| known.get(ix)) else { break };
        total = total.saturating_add(i128::from(gaps / of).saturating_mul(i128::from(*length)));
        gaps %= of;
    }
    clamped(total)
}

/// The greatest number from `low` to `high` for which a condition holds that never begins to hold again. It
/// is taken to hold for `low`.
pub(super) fn last(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// A time, not below 0 and not above what a time can be.
pub(super) fn clamped(ticks: i128) -> i64 {
    i64::try_from(ticks.max(0)).unwrap_or(i64::MAX)
}
