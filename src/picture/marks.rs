//! Instants → one mark for each kind and column of the picture, with their number. Not spans (see `runs`).

use std::collections::HashMap;

use super::grid::{Cursor, Grid};
use super::runs::join_each;
use super::{Mark, MarkKind, Name};

/// Collects the instants of a row.
#[derive(Debug, Clone)]
pub struct Marks {
    grid: Grid,
    cursor: Cursor,
    /// By kind and column; empty until the first mark.
    kinds: [Vec<Option<Mark>>; MarkKind::COUNT],
    count: u64,
    /// Names that were set later, for marks without a column.
    late_names: HashMap<(MarkKind, i64), Name>,
}

impl Marks {
    /// Empty, for the columns of a grid.
    pub fn new(grid: Grid) -> Self {
        let kinds = [const { Vec::new() }; MarkKind::COUNT];
        Self { grid, cursor: Cursor::new(grid), kinds, count: 0, late_names: HashMap::new() }
    }

    /// Adds an instant; instants outside the window are ignored.
    pub fn add(&mut self, at: i64, kind: MarkKind, name: Option<Name>) {
        if !self.grid.shows(at, at) {
            return;
        }
        self.count += 1;
        let columns = &mut self.kinds[kind.index()];
        if self.grid.is_exact() {
            columns.push(Some(Mark { at, last: at, kind, name, count: 1 }));
            return;
        }
        let column = self.cursor.column(at) as usize;
        if columns.is_empty() {
            *columns = vec![None; self.grid.columns() as usize];
        }
        let new = Mark { at, last: at, kind, name, count: 1 };
        match columns.get_mut(column) {
            Some(Some(mark)) => join(mark, new),
            Some(none) => *none = Some(new),
            None => {}
        }
    }

    /// Names the mark of an instant, if it is the first one of its kind in its column.
    pub fn name(&mut self, at: i64, kind: MarkKind, name: Name) {
        if self.grid.is_exact() {
            self.late_names.insert((kind, at), name);
            return;
        }
        let column = self.cursor.column(at) as usize;
        if let Some(Some(mark)) = self.kinds[kind.index()].get_mut(column)
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
        for (mine, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            if self.grid.is_exact() || mine.is_empty() {
                mine.extend(theirs);
            } else {
                join_each(mine, theirs, join);
            }
        }
    }

    /// The marks in order of time.
    pub fn finish(self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = self.kinds.into_iter().flatten().flatten().collect();
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
