//! What messages say about two clocks, as points. Not the clocks that follow from it.

use crate::error::{Error, ErrorKind, Result};

/// "When the reference clock showed `reference`, the other one showed at most, or at least, `local`."
/// All times are ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limit {
    /// Time of the reference clock; aligned, if it was read from a third clock.
    pub reference: i64,
    /// The same, in spite of the error of a third clock: not after `reference` of what is at most, and not
    /// before it of what is at least.
    pub sure: i64,
    /// Time of the other clock.
    pub local: i64,
}

/// All that is known of a clock.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// What it showed at most: of messages that it received.
    pub at_most: Vec<Limit>,
    /// What it showed at least: of messages that it sent.
    pub at_least: Vec<Limit>,
}

/// A time of the reference since the origin, and by how much the other clock has advanced more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub at: i64,
    pub ahead: i64,
}

/// Points in the order of time.
#[derive(Debug, Clone, Default)]
pub(super) struct Points {
    pub at_most: Vec<Point>,
    pub at_least: Vec<Point>,
}

/// Where the times of both clocks are counted from, so that differences are small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub reference: i64,
    pub local: i64,
}

/// Times that are further apart are refused, two years in nanoseconds: a tick has to be more than the
/// rounding of the numbers that a clock is computed with.
const MOST: i64 = 1 << 56;

impl Origin {
    pub fn point(self, reference: i64, local: i64) -> Result<Point> {
        let since = |time: i64, from: i64| time.checked_sub(from).filter(|d| (-MOST..MOST).contains(d));
        let point = since(reference, self.reference).zip(since(local, self.local));
        let point = point.map(|(at, advanced)| Point { at, ahead: advanced - at });
        point.ok_or_else(|| {
            Error::new(ErrorKind::Limit, "the times of two clocks are too far apart to be aligned")
        })
    }

    /// The points of limits, by one of their times of the reference.
    pub fn points(self, limits: &Limits, time: impl Fn(&Limit) -> i64) -> Result<Points> {
        let points = |limits: &[Limit]| -> Result<Vec<Point>> {
            let points = limits.iter().map(|limit| self.point(time(limit), limit.local));
            let mut points = points.collect::<Result<Vec<_>>>()?;
            points.sort_unstable();
            Ok(points)
        };
        Ok(Points { at_most: points(&limits.at_most)?, at_least: points(&limits.at_least)? })
    }
}

impl Points {
    /// Those of a clock that runs in the other direction: what is at most is at least.
    pub fn negated(&self) -> Self {
        let negated = |points: &[Point]| points.iter().map(|p| p.negated()).collect();
        Self { at_most: negated(&self.at_least), at_least: negated(&self.at_most) }
    }

    /// The times of all points, each once.
    pub fn times(&self) -> Vec<i64> {
        let mut times: Vec<i64> = self.at_most.iter().chain(&self.at_least).map(|p| p.at).collect();
        times.sort_unstable();
        times.dedup();
        times
    }
}

impl Point {
    pub fn negated(self) -> Self {
        Self { ahead: -self.ahead, ..self }
    }

    /// Where the straight line of a slope through this point is at another time.
    pub fn line(self, slope: f64, at: i64) -> f64 {
        self.ahead as f64 + slope * (at - self.at) as f64
    }

    /// The slope of the line to a point at another time.
    pub fn slope(self, to: Self) -> f64 {
        (to.ahead - self.ahead) as f64 / (to.at - self.at) as f64
    }
}
