//! The period and the jitter of an observed event model. Not the round number that a person would have
//! written down (a caller that knows one can ask for its jitter), and nothing about missing arrivals.

use super::curve::Curve;

/// A period and the least jitter with which it explains all windows that were seen: with n arrivals, each is
/// from (n − 1)·period − jitter to (n − 1)·period + jitter long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// In ticks, at least 1.
    pub period: i64,
    /// In ticks.
    pub jitter: i64,
    /// The least distance of two arrivals, in ticks.
    pub distance: i64,
    /// Windows of up to so many arrivals were all checked; of longer ones, a sample.
    pub checked: u64,
    /// The greatest number of arrivals of a window that was checked.
    pub longest: u64,
}

impl Fit {
    /// The event model of the period and jitter. It admits all that was seen, and more.
    pub fn curve(&self) -> Curve {
        Curve::periodic(self.period, self.jitter, self.distance)
    }
}

impl Curve {
    /// The period with the least jitter; `None` for less than three arrivals.
    pub fn fit(&self) -> Option<Fit> {
        let two = self.spans().iter().find(|span| span.gaps == 1)?;
        let (checked, distance) = (self.seen()?, two.least);
        let longest = self.spans().iter().map(|span| span.gaps).max()?.saturating_add(1);
        if longest < 3 {
            return None;
        }
        let (mut low, mut high) = (1, two.most.max(1));
        // The jitter is the greatest of linear functions of the period, which is convex.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.jitter_of(middle) <= self.jitter_of(middle + 1) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(Fit { period: low, jitter: self.jitter_of(low), distance, checked, longest })
    }

    /// The least jitter in ticks with which a period explains all windows that were seen.
    pub fn jitter_of(&self, period: i64) -> i64 {
        let jitter = |gaps: u64, least: i64, most: i64| {
            let ideal = i128::from(gaps) * i128::from(period);
            (ideal - i128::from(least)).max(i128::from(most) - ideal)
        };
        let all = self.spans().iter().map(|span| jitter(span.gaps, span.least, span.most));
        super::curve::clamped(all.max().unwrap_or(0))
    }
}
