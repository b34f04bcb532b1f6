//! The path of a response in a picture: a row with its parts, the rows of all that they name, and where those
//! act. Not how parts are found (see `ops::explain`), nor how they are drawn (see [`crate::render`]).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::around::{Found, with_margin};
use crate::error::{Error, Result};
use crate::names::Interner;
use crate::picture::{Band, Cause, Grid, Highlight, Name, Remark, Response, Row, RowKind, Runs, Span, State};

/// So many of those that parts name have rows: those that delay the response most.
const MOST_NAMED: usize = 30;
/// The margin of the window, as a share of the response.
const MARGIN: i64 = 16;
/// So many of those that delay a response are in the title, the longest.
const IN_TITLE: usize = 3;
/// What activates an instance.
const ACTIVATORS: [RowKind; 3] = [RowKind::Task, RowKind::Isr, RowKind::Stimulus];

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
    /// Who activated the instance, and who triggered that: tasks, ISRs or stimuli. They have rows, as those
    /// have whose activations were lost meanwhile.
    pub activators: Vec<String>,
    /// Words for instants of it.
    pub remarks: Vec<PathRemark>,
    /// The end of the sample that was asked for, in ticks, and its metric: where it begins with the response,
    /// and is a part of it.
    pub sample: Option<(i64, String)>,
}

/// A few words for an instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRemark {
    /// The task, ISR or stimulus in whose row they are.
    pub name: String,
    /// When, in ticks.
    pub at: i64,
    /// `activates T_4[5]`
    pub words: String,
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

    /// What keeps the instance from executing, for a title: `61 % behind T_3, T_5`. Nothing for what is less
    /// than half a percent of the response.
    pub(super) fn why(&self) -> String {
        let whole = self.span().map_or(0, |(begin, end)| end.saturating_sub(begin)).max(1);
        let totals = self.totals();
        let mut found: Vec<(i64, String)> = Vec::new();
        for state in [State::Delayed, State::Blocked, State::Awaits] {
            let mut length = 0i64;
            let mut behind: BTreeMap<&str, i64> = BTreeMap::new();
            for (cause, (ticks, _)) in self.causes.iter().zip(&totals).filter(|(of, _)| of.state == state) {
                length = length.saturating_add(*ticks);
                // The first process that a cause names is the one that has the core.
                let by = cause.rows.iter().find(|row| matches!(row.0, RowKind::Task | RowKind::Isr));
                if let Some((_, name)) = by {
                    let total = behind.entry(name).or_default();
                    *total = total.saturating_add(*ticks);
                }
            }
            let share = percent(length, whole);
            if share == 0 {
                continue;
            }
            let words = match state {
                State::Blocked => "waits for a lock".to_owned(),
                State::Awaits => "waits for an event".to_owned(),
                _ => names_behind(behind.into_iter().filter(|one| percent(one.1, whole) > 0).collect()),
            };
            found.push((length, format!("{share} % {words}")));
        }
        found.sort_by_key(|one| Reverse(one.0));
        found.into_iter().map(|one| one.1).collect::<Vec<_>>().join(", ")
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

/// A share in percent, rounded; of less than the whole, at most 99.
fn percent(part: i64, whole: i64) -> i128 {
    let rounded = (i128::from(part) * 100 + i128::from(whole) / 2) / i128::from(whole);
    if part < whole { rounded.min(99) } else { rounded }
}

/// The names of those that have the core, the longest first.
fn names_behind(mut of: Vec<(&str, i64)>) -> String {
    of.sort_by_key(|one| Reverse(one.1));
    let names: Vec<&str> = of.iter().take(IN_TITLE).map(|one| one.0).collect();
    match (names.is_empty(), of.len() > IN_TITLE) {
        (true, _) => "behind others".to_owned(),
        (false, true) => format!("behind {} and others", names.join(", ")),
        (false, false) => format!("behind {}", names.join(", ")),
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
            rows.extend(ACTIVATORS.map(|kind| (kind, name.clone())));
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
    let remark = |said: &PathRemark| {
        let has_name = |row: &Row| row.label == said.name && ACTIVATORS.contains(&row.kind);
        let row = rows.iter().position(has_name)?;
        Some(Remark { row, at: said.at, words: said.words.clone() })
    };
    let mut remarks: Vec<Remark> = path.remarks.iter().filter_map(remark).collect();
    remarks.sort_by_key(|remark| (remark.row, remark.at));
    let sample = path.sample.as_ref().zip(path.span()).map(|((end, metric), (begin, _))| Highlight {
        row,
        begin,
        end: *end,
        label: metric.clone(),
    });
    Some(Response { row, causes, bands, remarks, sample })
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
    fn a_title_says_what_keeps_an_instance_from_executing() {
        let of = |label: &str| cause(label, &[(RowKind::Task, label)]);
        let executes = PathCause { state: State::Executes, ..cause("executes", &[]) };
        let locked = PathCause { state: State::Blocked, ..of("holder") };
        let why = |causes: &[&PathCause], parts: &[(i64, i64, usize)]| {
            path(causes.iter().copied().cloned().collect(), parts).why()
        };
        let (a, b) = (of("A"), of("B"));
        let parts = [(0, 274, 0), (274, 612, 1), (612, 613, 2), (613, 1000, 3)];
        assert_eq!(why(&[&a, &b, &of("C"), &executes], &parts), "61 % behind B, A", "C is very short");
        assert_eq!(why(&[&a, &locked, &executes], &parts[..3]), "55 % waits for a lock, 45 % behind A");
        assert_eq!(why(&[&a, &executes], &[(0, 1, 0), (1, 1000, 1)]), "");
        // Not all of it.
        assert_eq!(why(&[&a, &executes], &[(0, 999, 0), (999, 1000, 1)]), "99 % behind A");
        assert_eq!(why(&[&a], &[(0, 999, 0)]), "100 % behind A");
        let four: Vec<(i64, i64, usize)> = (0..4).map(|n| (10 * n as i64, 10 * n as i64 + 10, n)).collect();
        assert_eq!(why(&[&a, &b, &of("C"), &of("D")], &four), "100 % behind A, B, C and others");
    }

    #[test]
    fn causes_are_summed_and_their_rows_have_bands() {
        let causes = vec![cause("A", &[(RowKind::Task, "A")]), cause("B", &[(RowKind::Isr, "B")])];
        let mut path = path(causes, &[(0, 2, 0), (2, 9, 1), (9, 10, 0)]);
        let remark = |name: &str, at| PathRemark { name: name.to_owned(), at, words: "said".to_owned() };
        path.remarks = vec![remark("B", 9), remark("B", 0), remark("no row", 0), remark("T", 9)];
        path.sample = Some((2, "StartDelay".to_owned()));
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
        let remarks: Vec<_> = response.remarks.iter().map(|remark| (remark.row, remark.at)).collect();
        assert_eq!(remarks, [(0, 9), (2, 0), (2, 9)]);
        assert_eq!(response.sample.map(|sample| (sample.begin, sample.end)), Some((0, 2)));
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
