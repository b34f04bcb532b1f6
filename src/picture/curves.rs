//! Values over time → the last, least and greatest value of each column of the picture. Not their meaning.

use super::grid::{Cursor, Grid};
use super::{Curve, Point, Shape};

/// Collects the values of a row, in order of time.
#[derive(Debug, Clone)]
pub struct Values {
    grid: Grid,
    cursor: Cursor,
    shape: Shape,
    points: Vec<Point>,
    /// The last value before the window: it is the value at its begin.
    before: Option<(i64, f64)>,
    /// The column of the last point.
    column: Option<u32>,
}

impl Values {
    /// Empty, for the columns of a grid.
    pub fn new(grid: Grid, shape: Shape) -> Self {
        Self { grid, cursor: Cursor::new(grid), shape, points: Vec::new(), before: None, column: None }
    }

    /// Adds a value, if it is finite. Steps before the window give the value at its begin.
    pub fn add(&mut self, at: i64, value: f64) {
        if !value.is_finite() || at >= self.grid.to() {
            return;
        }
        if at < self.grid.from() {
            self.before = Some((at, value));
            return;
        }
        let one = Point { at, value, least: value, greatest: value, count: 1 };
        let column = self.cursor.column(at);
        match self.points.last_mut() {
            Some(last) if self.column == Some(column) && !self.grid.is_exact() => {
                last.at = last.at.max(at);
                last.value = value;
                last.least = last.least.min(value);
                last.greatest = last.greatest.max(value);
                last.count = last.count.saturating_add(1);
            }
            _ => self.points.push(one),
        }
        self.column = Some(column);
    }

    /// The value is not known from an instant on, to the next one that is added.
    pub fn forget(&mut self, at: i64) {
        if at < self.grid.from() {
            self.before = None;
        }
        let known = self.points.last().map_or(self.before.is_some(), |last| !last.value.is_nan());
        if at < self.grid.from() || at >= self.grid.to() || !known {
            return;
        }
        let column = self.cursor.column(at);
        match self.points.last_mut() {
            Some(last) if self.column == Some(column) && !self.grid.is_exact() => {
                last.at = last.at.max(at);
                last.value = f64::NAN;
            }
            _ => {
                let end = f64::NAN;
                self.points.push(Point { at, value: end, least: end, greatest: end, count: 0 });
            }
        }
        self.column = Some(column);
    }

    /// The curve; `None` if there is no value.
    pub fn finish(mut self, limit: Option<f64>, unit: &str) -> Option<Curve> {
        if let Some((at, value)) = self.before {
            let first = Point { at, value, least: value, greatest: value, count: 1 };
            self.points.insert(0, first);
        }
        let curve = Curve { shape: self.shape, points: self.points, limit, unit: unit.to_owned() };
        (!curve.points.is_empty()).then_some(curve)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_any_more_ends() {
        let of = |grid: Grid| {
            let mut values = Values::new(grid, Shape::Steps);
            values.forget(5);
            values.add(-3, 1.0);
            for (at, value) in
                [(10, 2.0), (11, 4.0), (12, f64::NAN), (13, f64::NAN), (60, 5.0), (61, f64::NAN)]
            {
                if value.is_nan() { values.forget(at) } else { values.add(at, value) }
            }
            let points = values.finish(None, "").unwrap().points;
            let numbers = |p: &Point| (p.at, format!("{} {} {}", p.value, p.least, p.greatest), p.count);
            points.iter().map(numbers).collect::<Vec<_>>()
        };
        let point = |at, numbers: &str, count| (at, numbers.to_owned(), count);
        let (first, end) = (point(-3, "1 1 1", 1), |at| point(at, "NaN NaN NaN", 0));
        assert_eq!(
            of(Grid::new(0, 100, 100).exact()),
            [
                first.clone(),
                point(10, "2 2 2", 1),
                point(11, "4 4 4", 1),
                end(12),
                point(60, "5 5 5", 1),
                end(61)
            ]
        );
        // In one column there is one point, which says what was seen, and that it is not known at its end.
        assert_eq!(of(Grid::new(0, 100, 10)), [first, point(12, "NaN 2 4", 2), point(61, "NaN 5 5", 1)]);
        let mut before = Values::new(Grid::new(0, 100, 10), Shape::Steps);
        before.add(-3, 1.0);
        before.forget(-1);
        before.forget(7);
        assert_eq!(before.finish(None, ""), None);
    }
}
