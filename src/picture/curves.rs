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
