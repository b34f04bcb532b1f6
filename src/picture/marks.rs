//! Instants → one mark for each kind and column of the picture, with their number. Not spans (see `runs`).

use std::collections::HashMap;

use super::columns::Columns;
use super::grid::{Cursor, Grid};
use super::{Mark, MarkKind, Name};

/// Collects the instants of a row.
#[derive(Debug, Clone)]
pub struct Marks {
    grid: Grid,
    cursor: Cursor,
    /// By kind and column.
    kinds: [Columns<Mark>; MarkKind::COUNT],
    /// All of them, if nothing is merged.
    exact: Vec<Mark>,
    count: u64,
    /// Names that were set later, for marks without a column.
    late_names: HashMap<(MarkKind, i64), Name>,
}

impl Marks {
    /// Empty, for the columns of a grid.
    pub fn new(grid: Grid) -> Self {
        let (kinds, late_names) = Default::default();
        Self { grid, cursor: Cursor::new(grid), kinds, exact: Vec::new(), count: 0, late_names }
    }

    /// Adds an instant; instants outside the window are ignored.
    pub fn add(&mut self, at: i64, kind: MarkKind, name: Option<Name>) {
        if !self.grid.shows(at, at) {
            return;
        }
        self.count += 1;
        let new = Mark { at, last: at, kind, name, count: 1 };
        if self.grid.is_exact() {
            self.exact.push(new);
            return;
        }
        self.kinds[kind.index()].add(self.cursor.column(at), new, |new| new, join);
    }

    /// Names the mark of an instant, if it is the first one of its kind in its column.
    pub fn name(&mut self, at: i64, kind: MarkKind, name: Name) {
        if self.grid.is_exact() {
            self.late_names.insert((kind, at), name);
            return;
        }
        let column = self.cursor.column(at);
        if let Some(mark) = self.kinds[kind.index()].get_mut(column)
            && mark.at == at
        {
            mark.name = Some(name);
        }
    }

    /// The number of instants.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Merges the marks of another collector for the same columns.
    pub fn join(&mut self, other: Self) {
        self.count += other.count;
        self.exact.extend(other.exact);
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            mine.join(theirs, join);
        }
    }

    /// The marks in order of time.
    pub fn finish(self) -> Vec<Mark> {
        let mut marks = self.exact;
        marks.extend(self.kinds.into_iter().flat_map(Columns::into_values));
        for mark in marks.iter_mut().filter(|mark| mark.name.is_none()) {
            mark.name = self.late_names.get(&(mark.kind, mark.at)).copied();
        }
        marks.sort_unstable_by_key(|mark| (mark.at, mark.kind, mark.last));
        marks
    }
}

fn join(mark: &mut Mark, other: Mark) {
    if (other.at, other.name) < (mark.at, mark.name) {
        (mark.at, mark.name) = (other.at, other.name);
    }
    mark.last = mark.last.max(other.last);
    mark.count = mark.count.saturating_add(other.count);
}
