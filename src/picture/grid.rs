//! A window of time cut into the columns of a picture. Not what is drawn in them.

/// A half-open window `[from, to)` in ticks, and the number of its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    from: i64,
    to: i64,
    columns: u32,
    exact: bool,
}

impl Grid {
    /// A window of at least one tick, with at least one column.
    pub fn new(from: i64, to: i64, columns: u32) -> Self {
        let (from, to) = (from.min(i64::MAX - 1), to.max(from.saturating_add(1)));
        Self { from, to, columns: columns.max(1), exact: false }
    }

    /// The same window without columns: everything is drawn exactly, nothing is merged.
    pub fn exact(self) -> Self {
        Self { exact: true, ..self }
    }

    /// Instants with the same number are drawn as one: the number of the column, or the instant itself if
    /// nothing is merged.
    pub fn place(&self, at: i64) -> i64 {
        if self.exact { at } else { i64::from(self.column(at)) }
    }

    /// Nothing is merged into columns.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Begin of the window, in ticks.
    pub fn from(&self) -> i64 {
        self.from
    }

    /// End of the window, in ticks, not part of it.
    pub fn to(&self) -> i64 {
        self.to
    }

    fn span(&self) -> i128 {
        i128::from(self.to) - i128::from(self.from)
    }

    /// The column of an instant; the first or the last one for instants outside.
    pub fn column(&self, at: i64) -> u32 {
        let at = at.clamp(self.from, self.to - 1);
        let passed = i128::from(at) - i128::from(self.from);
        let column = passed * i128::from(self.columns) / self.span();
        u32::try_from(column).unwrap_or(u32::MAX).min(self.columns - 1)
    }

    /// The first instant of a column; [`Grid::to`] for the one after the last.
    pub fn begin_of(&self, column: u32) -> i64 {
        if column >= self.columns {
            return self.to;
        }
        let columns = i128::from(self.columns);
        let passed = (i128::from(column) * self.span() + columns - 1) / columns;
        i64::try_from(i128::from(self.from) + passed).unwrap_or(self.to).min(self.to)
    }

    /// True if `[begin, end)` has a part in the window; a span of length 0 is at its begin.
    pub fn shows(&self, begin: i64, end: i64) -> bool {
        begin < self.to && (end > self.from || begin == end && begin >= self.from)
    }
}

/// A grid with a cache of the last column: in order of time, the next instant is mostly in the same one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    grid: Grid,
    column: u32,
    begin: i64,
    end: i64,
}

impl Cursor {
    pub fn new(grid: Grid) -> Self {
        Self { grid, column: 0, begin: grid.from, end: grid.begin_of(1) }
    }

    /// As [`Grid::column`].
    pub fn column(&mut self, at: i64) -> u32 {
        if at < self.begin || at >= self.end {
            let column = self.grid.column(at);
            self.column = column;
            self.begin = if column == 0 { i64::MIN } else { self.grid.begin_of(column) };
            self.end =
                if column + 1 == self.grid.columns { i64::MAX } else { self.grid.begin_of(column + 1) };
        }
        self.column
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn borders_and_columns_agree(from: i64, length in 1i64.., columns in 1u32..5000, at: i64) {
            let grid = Grid::new(from, from.saturating_add(length), columns);
            let column = grid.column(at);
            prop_assert!(column < columns);
            let at = at.clamp(grid.from(), grid.to() - 1);
            prop_assert!(grid.begin_of(column) <= at, "{grid:?}");
            prop_assert!(at < grid.begin_of(column + 1) || column + 1 == columns, "{grid:?}");
        }

        #[test]
        fn the_cursor_forgets_nothing(from in -1000i64..1000, length in 1i64..5000, columns in 1u32..50, asked: Vec<i16>) {
            let grid = Grid::new(from, from + length, columns);
            let mut cursor = Cursor::new(grid);
            for at in asked {
                prop_assert_eq!(cursor.column(i64::from(at)), grid.column(i64::from(at)));
            }
        }
    }

    #[test]
    fn an_empty_window_is_one_tick() {
        let grid = Grid::new(5, 5, 0);
        assert_eq!((grid.from(), grid.to(), grid.columns), (5, 6, 1));
        assert!(grid.shows(5, 5) && !grid.shows(6, 6) && !grid.shows(4, 5) && grid.shows(0, 9));
        assert_eq!(Grid::new(i64::MAX, i64::MAX, 3).column(i64::MIN), 0);
    }
}
