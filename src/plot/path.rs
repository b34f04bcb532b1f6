//! The path of a response in a picture: a row with its parts, the rows of all that they name, and where those
//! act. Not how parts are found (see `ops::explain`), nor how they are drawn (see [`crate::render`]).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::around::{Found, with_margin};
use crate::error::{Error, Result};
use crate::names::Interner;
use crate::picture::{Band, Cause, Grid, Name, Response, Row, RowKind, Runs, Span, State};

/// So many of those that parts name have rows: those that delay the response most.
const MOST_NAMED: usize = 30;
/// The margin of the window, as a share of the response.
const MARGIN: i64 = 16;

/// The response of an instance, cut into parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponsePath {
    /// A task or an ISR.
    pub process: String,
    /// An ISR.
    pub is_isr: bool,
    /// What the picture is about: `T_4[5] took 3.43694 ms`.
    pub label: String,
    /// A sentence about it, or nothing.
    pub sentence: String,
    /// What delays it, each once.
    pub causes: Vec<PathCause>,
    /// From its begin to its end, without hole or overlap.
    pub parts: Vec<PathPart>,
    /// Who activated the instance, and who triggered that: tasks, ISRs or stimuli.
    pub activators: Vec<String>,
}

/// What the instance does in some of its parts, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathCause {
    /// One of the states of a response.
    pub state: State,
    /// A few words, which no other cause of this state has.
    pub label: String,
    /// A sentence.
    pub words: String,
    /// The core of the instance, if it is known.
    pub core: Option<String>,
    /// The rows of all that it names, by their labels.
    pub rows: Vec<(RowKind, String)>,
}

/// A part of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPart {
    /// Begin, in ticks.
    pub begin: i64,
    /// End, in ticks, not part of it.
    pub end: i64,
    /// An index in [`ResponsePath::causes`].
    pub cause: usize,
}

impl ResponsePath {
    /// Begin and end, if there are parts.
    pub fn span(&self) -> Option<(i64, i64)> {
        Some((self.parts.first()?.begin, self.parts.last()?.end))
    }

    fn kind(&self) -> RowKind {
        if self.is_isr { RowKind::Isr } else { RowKind::Task }
    }

    /// The id of the row of the process.
    pub(super) fn row_id(&self) -> String {
        format!("{}:{}", self.kind().as_str(), self.process)
    }

    /// The window of the picture. `span`: first and last instant of the recording.
    pub(super) fn found(&self, span: (i64, i64)) -> Result<Found> {
        let (begin, end) = self
            .span()
            .ok_or_else(|| Error::usage(format!("the response of {} has no part", self.process)))?;
        let margin = end.saturating_sub(begin) / MARGIN;
        let (from, to) = with_margin((begin, end), margin, span);
        Ok(Found { from, to, row: self.row_id(), begin, end, label: self.label.clone() })
    }

    /// The length of all parts of each cause, and their number.
    fn totals(&self) -> Vec<(i64, u64)> {
        let mut totals = vec![(0i64, 0u64); self.causes.len()];
        for part in &self.parts {
            if let Some((length, count)) = totals.get_mut(part.cause) {
                *length = length.saturating_add(part.end.saturating_sub(part.begin));
                *count += 1;
            }
        }
        totals
    }
}

/// The rows of a picture of a path.
pub(super) struct Shown {
    rows: BTreeSet<(RowKind, String)>,
    cores: BTreeSet<String>,
    /// How many are named that have no row.
    pub left_out: usize,
}

impl Shown {
    pub fn of(path: &ResponsePath) -> Self {
        let mut named: BTreeMap<&(RowKind, String), i64> = BTreeMap::new();
        for (cause, (length, _)) in path.causes.iter().zip(path.totals()) {
            for row in &cause.rows {
                let total = named.entry(row).or_default();
                *total = total.saturating_add(length);
            }
        }
        let mut named: Vec<_> = named.into_iter().collect();
        named.sort_by_key(|(row, length)| (Reverse(*length), *row));
        let (shown, others) = named.split_at(named.len().min(MOST_NAMED));
        let mut rows: BTreeSet<(RowKind, String)> = shown.iter().map(|(row, _)| (*row).clone()).collect();
        rows.insert((path.kind(), path.process.clone()));
        for name in &path.activators {
            let kinds = [RowKind::Task, RowKind::Isr, RowKind::Stimulus];
            rows.extend(kinds.map(|kind| (kind, name.clone())));
        }
        let left_out: BTreeSet<&str> =
            others.iter().filter(|(row, _)| !rows.contains(*row)).map(|(row, _)| row.1.as_str()).collect();
        let left_out = left_out.len();
        let cores = path.causes.iter().filter_map(|cause| cause.core.clone()).collect();
        Self { rows, cores, left_out }
    }

    /// True for a row of something that is named.
    pub fn has(&self, kind: RowKind, label: &str) -> bool {
        // A tuple of a reference is no reference to a tuple: there are few rows.
        self.rows.iter().any(|row| row.0 == kind && row.1 == label)
    }

    /// True for the name of a task or ISR that is named.
    pub fn has_process(&self, name: &str) -> bool {
        self.has(RowKind::Task, name) || self.has(RowKind::Isr, name)
    }

    /// True for a core that the instance has in one of its parts.
    pub fn has_core(&self, name: &str) -> bool {
        self.cores.contains(name)
    }
}

/// Puts the row of the process before those of the others.
pub(super) fn first(path: &ResponsePath, rows: &mut [Row]) {
    let id = path.row_id();
    rows.sort_by_key(|row| row.id != id);
}

/// Inserts the row of the parts below that of the process.
pub(super) fn insert(path: &ResponsePath, grid: Grid, rows: &mut Vec<Row>, names: &mut Interner) {
    let labels: Vec<Name> = path.causes.iter().map(|cause| names.intern(&cause.label)).collect();
    let mut runs = Runs::new(grid);
    for PathPart { begin, end, cause } in &path.parts {
        if let (Some(of), Some(name)) = (path.causes.get(*cause), labels.get(*cause)) {
            let (begin, end, state) = (*begin, *end, of.state);
            runs.add(Span { begin, end, state, name: Some(*name), instance: None });
        }
    }
    let id = path.row_id();
    let parent = rows.iter().position(|row| row.id == id);
    let at = parent.map_or(rows.len(), |parent| parent + 1);
    for row in rows.iter_mut() {
        row.parent = row.parent.map(|parent| if parent >= at { parent + 1 } else { parent });
    }
    let label = "response".to_owned();
    let row = Row { label, parent, runs: runs.finish(), ..Row::new(RowKind::Response, &path.process) };
    rows.insert(at, row);
}

/// The causes of the response, and where those act that have a row.
pub(super) fn response(
    path: &ResponsePath,
    grid: Grid,
    rows: &[Row],
    names: &mut Interner,
) -> Option<Response> {
    let row = rows.iter().position(|row| row.kind == RowKind::Response)?;
    let whole = path.span().map_or(0, |(begin, end)| end.saturating_sub(begin)).max(1);
    let mut causes: Vec<Cause> = Vec::new();
    for (cause, (length, count)) in path.causes.iter().zip(path.totals()) {
        // Half a thousandth is rounded up.
        let permille = (i128::from(length) * 1000 + i128::from(whole) / 2) / i128::from(whole);
        let permille = u32::try_from(permille).unwrap_or(1000);
        let (state, words) = (cause.state, cause.words.clone());
        causes.push(Cause { state, name: names.intern(&cause.label), words, length, permille, count });
    }
    causes.sort_by_key(|cause| Reverse(cause.length));
    let place =
        |named: &(RowKind, String)| rows.iter().position(|row| row.kind == named.0 && row.label == named.1);
    let places: Vec<Vec<usize>> =
        path.causes.iter().map(|cause| cause.rows.iter().filter_map(place).collect()).collect();
    let mut of_row: BTreeMap<usize, Runs> = BTreeMap::new();
    for PathPart { begin, end, cause } in &path.parts {
        let (Some(of), Some(places)) = (path.causes.get(*cause), places.get(*cause)) else { continue };
        for row in places {
            let (begin, end, state) = (*begin, *end, of.state);
            let span = Span { begin, end, state, name: None, instance: None };
            of_row.entry(*row).or_insert_with(|| Runs::new(grid)).add(span);
        }
    }
    let band = |row: usize, runs: Runs| {
        let runs = runs.finish().into_iter();
        runs.map(move |run| Band { row, state: run.state, begin: run.begin, end: run.end })
    };
    let bands = of_row.into_iter().flat_map(|(row, runs)| band(row, runs)).collect();
    Some(Response { row, causes, bands })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(label: &str, rows: &[(RowKind, &str)]) -> PathCause {
        let rows = rows.iter().map(|(kind, name)| (*kind, (*name).to_owned())).collect();
        let (label, words) = (label.to_owned(), format!("behind {label}"));
        PathCause { state: State::Delayed, label, words, core: Some("C".to_owned()), rows }
    }

    fn path(causes: Vec<PathCause>, parts: &[(i64, i64, usize)]) -> ResponsePath {
        let parts =
            parts.iter().map(|(begin, end, cause)| PathPart { begin: *begin, end: *end, cause: *cause });
        let (process, label) = ("T".to_owned(), "T[0] took 10 ns".to_owned());
        ResponsePath { process, label, causes, parts: parts.collect(), ..ResponsePath::default() }
    }

    #[test]
    fn causes_are_summed_and_their_rows_have_bands() {
        let causes = vec![cause("A", &[(RowKind::Task, "A")]), cause("B", &[(RowKind::Isr, "B")])];
        let path = path(causes, &[(0, 2, 0), (2, 9, 1), (9, 10, 0)]);
        let mut rows = vec![Row::new(RowKind::Isr, "B"), Row::new(RowKind::Task, "T")];
        let mut names = Interner::default();
        let grid = Grid::new(0, 10, 1000);
        first(&path, &mut rows);
        insert(&path, grid, &mut rows, &mut names);
        let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, ["task:T", "response:T", "isr:B"]);
        assert_eq!((rows[1].parent, rows[1].runs.len()), (Some(0), 3));
        let response = response(&path, grid, &rows, &mut names).unwrap();
        let causes: Vec<_> = response.causes.iter().map(|c| (c.length, c.permille, c.count)).collect();
        assert_eq!((response.row, causes), (1, vec![(7, 700, 1), (3, 300, 2)]));
        assert_eq!(response.bands, [Band { row: 2, state: State::Delayed, begin: 2, end: 9 }]);
        assert_eq!(response.cause_of(State::Delayed, rows[1].runs[0].name), Some(1));
    }

    #[test]
    fn of_very_many_that_are_named_the_longest_have_rows() {
        let names: Vec<String> = (0..500).map(|n| format!("T_{n}")).collect();
        let causes = names.iter().map(|name| cause(name, &[(RowKind::Task, name)])).collect();
        let mut parts = Vec::new();
        let mut at = 0;
        for n in 0..500usize {
            parts.push((at, at + n as i64 + 1, n));
            at += n as i64 + 1;
        }
        let shown = Shown::of(&path(causes, &parts));
        assert!(shown.has_process("T_499") && shown.has_process("T_470") && !shown.has_process("T_469"));
        assert!(shown.has(RowKind::Task, "T") && shown.has_core("C"));
        assert_eq!(shown.left_out, 500 - MOST_NAMED);
    }

    #[test]
    fn the_window_has_a_margin_and_stays_in_the_recording() {
        let path = path(vec![cause("A", &[])], &[(100, 260, 0)]);
        let found = path.found((95, 1000)).unwrap();
        assert_eq!((found.from, found.to, found.row.as_str()), (95, 270, "task:T"));
        assert!(ResponsePath::default().found((0, 1)).is_err());
    }
}
