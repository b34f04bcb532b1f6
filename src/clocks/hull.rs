//! The lower convex hull of points that come in the order of time, or in the reverse order, and go again.
//! Not what the points mean.

use super::points::Point;

/// Points of a lower hull, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Hull {
    /// Those behind the first `len` are hidden by later ones, which may go again.
    points: Vec<Point>,
    len: usize,
    /// For each point that came: the length before, and what was in its place.
    came: Vec<(usize, Option<Point>)>,
}

/// The sign of the area of a triangle: positive when its corners turn to the left.
fn turn(a: Point, b: Point, c: Point) -> i128 {
    let along = |p: Point| i128::from(p.at) - i128::from(a.at);
    let up = |p: Point| i128::from(p.ahead) - i128::from(a.ahead);
    along(b) * up(c) - along(c) * up(b)
}

impl Hull {
    /// Adds a point. It lies beyond all others in the direction in which points come, or at the time of the
    /// last one.
    pub fn push(&mut self, point: Point) {
        let before = self.len;
        if self.points().last().is_some_and(|last| last.at == point.at && last.ahead < point.ahead) {
            self.came.push((before, None));
            return;
        }
        while self.hides_last(point) {
            self.len -= 1;
        }
        let hidden = match self.points.get_mut(self.len) {
            Some(place) => Some(std::mem::replace(place, point)),
            None => {
                self.points.push(point);
                None
            }
        };
        self.len += 1;
        self.came.push((before, hidden));
    }

    fn hides_last(&self, point: Point) -> bool {
        match self.points() {
            [.., last] if last.at == point.at => true,
            [.., first, last] => {
                let forward = point.at > last.at;
                let turn = turn(*first, *last, point);
                if forward { turn <= 0 } else { turn >= 0 }
            }
            _ => false,
        }
    }

    /// Takes the point away that came last.
    pub fn pop(&mut self) {
        let Some((before, hidden)) = self.came.pop() else { return };
        if let Some(hidden) = hidden
            && let Some(place) = self.len.checked_sub(1).and_then(|last| self.points.get_mut(last))
        {
            *place = hidden;
        }
        self.len = before;
    }

    pub fn points(&self) -> &[Point] {
        self.points.get(..self.len).unwrap_or_default()
    }

    /// The point at which the line of a slope through it is lowest.
    pub fn lowest(&self, slope: f64) -> Option<Point> {
        let points = self.points();
        let height = |n: usize| match points.get(n..n + 2) {
            // By how much the line through the next point is higher.
            Some([a, b]) => (b.ahead - a.ahead) as f64 - slope * (b.at - a.at) as f64,
            _ => 0.0,
        };
        first_not(points.len().saturating_sub(1), |n| height(n) < 0.0).and_then(|n| points.get(n)).copied()
    }

    /// The point from which the line to `to` is least steep; `to` is later than all points, which are those
    /// of an upper hull, negated.
    pub fn least_steep(&self, to: Point) -> Option<Point> {
        let points = self.points();
        let is_less = |n: usize| match points.get(n..n + 2) {
            Some([a, b]) => less(b.negated(), to, a.negated(), to),
            _ => false,
        };
        let best = first_not(points.len().saturating_sub(1), is_less)?;
        points.get(best).map(|p| p.negated())
    }
}

/// Whether the line from `a` to `b` is less steep than that from `c` to `d`. Each goes forwards in time.
pub(super) fn less(a: Point, b: Point, c: Point, d: Point) -> bool {
    let over = |from: Point, to: Point| i128::from(to.at) - i128::from(from.at);
    let up = |from: Point, to: Point| i128::from(to.ahead) - i128::from(from.ahead);
    up(a, b) * over(c, d) < up(c, d) * over(a, b)
}

/// The first number up to `last` of which something is not true, that is true of all before it.
fn first_not(last: usize, is_true: impl Fn(usize) -> bool) -> Option<usize> {
    let (mut from, mut to) = (0, last);
    while from < to {
        let middle = from.midpoint(to);
        if is_true(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    Some(from)
}
