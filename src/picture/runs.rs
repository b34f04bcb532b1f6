//! Spans of time → those that are wide enough to be seen, and for each column of the picture a summary of the
//! others: coverage, the longest, and their number. Memory depends on the number of columns at most. Not
//! instants (see `marks`) or numbers (see `curves`).

use super::columns::Columns;
use super::grid::{Cursor, Grid};
use super::{Name, Run, State};

/// A span that touches this many columns is drawn by itself: it covers at least one of them.
const WIDE: u32 = 3;
/// The number of shades that can be distinguished: neighbouring columns of one shade are drawn as one.
pub(crate) const SHADES: i128 = 8;

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Begin, in ticks.
    pub begin: i64,
    /// End, in ticks, not part of it; not before the begin.
    pub end: i64,
    /// Its state.
    pub state: State,
    /// The text in it.
    pub name: Option<Name>,
    /// Number of the instance.
    pub instance: Option<i64>,
}

/// Spans without a run of their own, by column.
#[derive(Debug, Clone, Copy)]
struct Cell {
    begin: i64,
    end: i64,
    count: u32,
    longest: Span,
    covered: [i64; State::COUNT],
}

/// Collects the spans of one track.
#[derive(Debug, Clone)]
pub struct Runs {
    grid: Grid,
    cursor: Cursor,
    /// The narrow ones.
    cells: Columns<Cell>,
    wide: Vec<Span>,
}

impl Span {
    fn length(&self) -> i64 {
        self.end.saturating_sub(self.begin)
    }

    /// The order for finding the longest of several; of equals, the earliest.
    fn rank(&self) -> (i64, std::cmp::Reverse<i64>, State, Option<i64>) {
        (self.length(), std::cmp::Reverse(self.begin), self.state, self.instance)
    }

    fn exact(&self) -> Run {
        let length = self.length();
        Run {
            begin: self.begin,
            end: self.end,
            track: 0,
            state: self.state,
            name: self.name,
            instance: self.instance,
            count: 1,
            covered: length,
            occupied: if self.state.is_occupied() { length } else { 0 },
            longest: length,
            longest_at: self.begin,
        }
    }
}

impl Cell {
    fn of(span: Span) -> Self {
        let mut covered = [0; State::COUNT];
        covered[span.state.index()] = span.length();
        Self { begin: span.begin, end: span.end, count: 1, longest: span, covered }
    }

    /// Adds a span: this runs for every row of a long recording.
    fn add(&mut self, span: Span) {
        let length = span.length();
        self.begin = self.begin.min(span.begin);
        self.end = self.end.max(span.end);
        self.count = self.count.saturating_add(1);
        let longest = self.longest.length();
        if length > longest || length == longest && span.rank() > self.longest.rank() {
            self.longest = span;
        }
        let covered = &mut self.covered[span.state.index()];
        *covered = covered.saturating_add(length);
    }

    fn join(&mut self, other: &Self) {
        self.begin = self.begin.min(other.begin);
        self.end = self.end.max(other.end);
        self.count = self.count.saturating_add(other.count);
        if other.longest.rank() > self.longest.rank() {
            self.longest = other.longest;
        }
        for (sum, more) in self.covered.iter_mut().zip(other.covered) {
            *sum = sum.saturating_add(more);
        }
    }

    fn run(&self) -> Run {
        if self.count == 1 {
            return self.longest.exact();
        }
        let states = || State::ALL.into_iter().zip(self.covered);
        let most =
            states().fold((self.longest.state, 0), |most, one| if one.1 > most.1 { one } else { most });
        let occupied = states().filter(|(state, _)| state.is_occupied()).map(|(_, ticks)| ticks);
        Run {
            begin: self.begin,
            end: self.end,
            track: 0,
            state: most.0,
            name: self.longest.name,
            instance: None,
            count: self.count,
            covered: self.covered.iter().fold(0i64, |sum, ticks| sum.saturating_add(*ticks)),
            occupied: occupied.fold(0i64, i64::saturating_add),
            longest: self.longest.length(),
            longest_at: self.longest.begin,
        }
    }
}

impl Runs {
    /// Empty, for the columns of a grid.
    pub fn new(grid: Grid) -> Self {
        Self { grid, cursor: Cursor::new(grid), cells: Columns::default(), wide: Vec::new() }
    }

    /// Adds a span; spans outside the window are ignored.
    pub fn add(&mut self, span: Span) {
        let Span { begin, end, .. } = span;
        if !self.grid.shows(begin, end) || end < begin {
            return;
        }
        if self.grid.is_exact() {
            self.wide.push(span);
            return;
        }
        // The last tick gives the column of the end. It is looked up first: the cursor stays at the begin.
        let last = self.cursor.column(begin.max(end.saturating_sub(1)));
        let first = self.cursor.column(begin);
        if last - first + 1 >= WIDE {
            self.wide.push(span);
            return;
        }
        self.cells.add(first, span, Cell::of, Cell::add);
    }

    /// Merges the stretches of another collector for the same columns.
    pub fn join(&mut self, mut other: Self) {
        self.wide.append(&mut other.wide);
        self.cells.join(other.cells, |mine, theirs| mine.join(&theirs));
    }

    /// The runs in order of time. Neighbouring columns of one state with similar coverage are one run.
    pub fn finish(self) -> Vec<Run> {
        let width = self.grid.begin_of(1).saturating_sub(self.grid.from()).max(1);
        let mut runs: Vec<Run> = self.wide.iter().map(Span::exact).collect();
        runs.extend(self.cells.values().map(Cell::run));
        runs.sort_unstable_by_key(|run| (run.begin, run.end, run.state, run.instance, run.count));
        let mut merged: Vec<Run> = Vec::with_capacity(runs.len());
        for run in runs {
            match merged.last_mut() {
                Some(last) if alike(last, &run, width) => extend(last, &run),
                _ => merged.push(run),
            }
        }
        merged
    }
}

/// The shades of a merged run: how much of it is covered, and how much is occupied.
pub(crate) fn shades(run: &Run) -> (i128, i128) {
    let length = i128::from(run.end.saturating_sub(run.begin)).max(1);
    let shade = |ticks: i64| ((i128::from(ticks) * SHADES + length - 1) / length).clamp(0, SHADES);
    (shade(run.covered), shade(run.occupied))
}

fn alike(last: &Run, next: &Run, width: i64) -> bool {
    let many = last.count > 1 && next.count > 1;
    let near = next.begin >= last.end && next.begin - last.end <= width;
    many && near && last.state == next.state && shades(last) == shades(next)
}

fn extend(last: &mut Run, next: &Run) {
    last.end = next.end;
    last.count = last.count.saturating_add(next.count);
    last.covered = last.covered.saturating_add(next.covered);
    last.occupied = last.occupied.saturating_add(next.occupied);
    if next.longest > last.longest {
        (last.longest, last.longest_at, last.name) = (next.longest, next.longest_at, next.name);
    }
}

/// Distributes overlapping runs, in order of time, to tracks; returns the number of tracks.
pub fn spread(runs: &mut [Run]) -> u16 {
    let mut ends: Vec<i64> = Vec::new();
    for run in runs.iter_mut() {
        let free = ends.iter().position(|end| *end <= run.begin);
        let track = free.unwrap_or(ends.len()).min(MAX_TRACKS - 1);
        match ends.get_mut(track) {
            Some(end) => *end = run.end.max(*end),
            None => ends.push(run.end),
        }
        run.track = u16::try_from(track).unwrap_or(0);
    }
    u16::try_from(ends.len().max(1)).unwrap_or(1)
}

/// Maximum number of tracks; further simultaneous runs are drawn on top of each other.
const MAX_TRACKS: usize = 4;

/// Joins each of `theirs` to that of `mine` at the same place; either may be missing.
pub(crate) fn join_each<T>(mine: &mut [Option<T>], theirs: Vec<Option<T>>, join: impl Fn(&mut T, T)) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        match (mine.as_mut(), theirs) {
            (Some(mine), Some(theirs)) => join(mine, theirs),
            (None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
    }
}
