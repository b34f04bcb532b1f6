//! The steepest and the flattest line that agree with all points. Not clocks whose rate wanders (see `band`).

use super::hull::{Hull, less};
use super::points::{Point, Points};

/// A line through two points; the first is the earlier one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line(pub Point, pub Point);

impl Line {
    pub fn slope(self) -> f64 {
        self.0.slope(self.1)
    }

    pub fn at(self, at: i64) -> f64 {
        self.0.line(self.slope(), at)
    }
}

/// The extremes of the lines that agree with all points, or would, were there not others. If the steepest is
/// flatter than the flattest, no line agrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    /// From what is at least to what is at most later.
    pub steepest: Option<Line>,
    /// From what is at most to what is at least later.
    pub flattest: Option<Line>,
}

impl Rates {
    pub fn of(points: &Points) -> Self {
        let negated = points.negated();
        let flattest = least_steep(&negated.at_least, &negated.at_most);
        Self {
            steepest: least_steep(&points.at_least, &points.at_most),
            flattest: flattest.map(|Line(from, to)| Line(from.negated(), to.negated())),
        }
    }
}

/// By how much a clock wandered at least, per tick: otherwise it would contradict some points. Infinite if
/// two of the same time do, see [`clash`].
pub(super) fn proven_wander(points: &Points, rates: &Rates) -> f64 {
    if clash(points).is_some() {
        return f64::INFINITY;
    }
    let (Some(steepest), Some(flattest)) = (rates.steepest, rates.flattest) else { return 0.0 };
    ((flattest.slope() - steepest.slope()) / 2.0).max(0.0)
}

/// What is at most and at least at the same time, if the one is less than the other.
pub(super) fn clash(points: &Points) -> Option<(Point, Point)> {
    let mut at_least = points.at_least.iter().peekable();
    for most in &points.at_most {
        // The greatest of a time comes last.
        let mut least = None;
        while let Some(next) = at_least.next_if(|p| p.at <= most.at) {
            least = Some(next);
        }
        if let Some(least) = least.filter(|p| p.at == most.at && p.ahead > most.ahead) {
            return Some((*most, *least));
        }
    }
    None
}

/// The least steep of all lines from a point to a later one of others. Both are in the order of time.
fn least_steep(from: &[Point], to: &[Point]) -> Option<Line> {
    let (mut hull, mut from, mut best) = (Hull::default(), from.iter().peekable(), None);
    for end in to {
        while let Some(begin) = from.next_if(|begin| begin.at < end.at) {
            hull.push(begin.negated());
        }
        let Some(begin) = hull.least_steep(*end) else { continue };
        if best.is_none_or(|Line(a, b)| less(begin, *end, a, b)) {
            best = Some(Line(begin, *end));
        }
    }
    best
}
