//! Lines between rows: from an instance that is preempted to the one that preempts it. Found between runs
//! that are drawn exactly, not between merged runs.

use std::collections::HashMap;

use super::states::States;
use crate::names::Interner;
use crate::picture::{Link, LinkKind, Row, RowKind, Runs, State};
use crate::time::united;

/// Maximum number of lines: more would hide the picture.
const MAX_LINES: usize = 600;
/// How many runs before another one its predecessor may be: instances of one task overlap.
const NEAR: usize = 16;

/// When cores have an idle task on them, by their names.
#[derive(Debug, Default)]
pub(super) struct Idle(HashMap<String, Vec<(i64, i64)>>);

impl Idle {
    pub fn of(states: &States) -> Self {
        let times = |runs: &Option<Runs>| {
            let runs = runs.clone().map(Runs::finish).unwrap_or_default();
            runs.iter().map(|run| (run.begin, run.end)).collect()
        };
        Self(states.cores.iter().cloned().zip(states.idle_on.iter().map(times)).collect())
    }

    fn of_core(&self, core: &str) -> &[(i64, i64)] {
        self.0.get(core).map(Vec::as_slice).unwrap_or_default()
    }
}

/// True if a part of a time is in one of these, which are sorted and do not overlap.
fn meets(times: &[(i64, i64)], (begin, end): (i64, i64)) -> bool {
    let first = times.partition_point(|time| time.1 <= begin);
    begin < end && times.get(first).is_some_and(|time| time.0 < end)
}

/// When nothing of a core was recorded.
fn gaps_of(core: &Row, rows: &[Row]) -> Vec<(i64, i64)> {
    let gaps = rows.iter().filter(|row| row.kind == RowKind::Trace && core.is_blind_in(row));
    let gaps = gaps.flat_map(|row| &row.runs).filter(|run| run.state == State::Gap);
    let mut times = gaps.map(|gap| (gap.begin, gap.end)).collect();
    united(&mut times);
    times
}

/// What runs next on a core.
struct Next<'a> {
    name: &'a str,
    begin: i64,
}

/// Preemptions between rows of tasks and ISRs, in order of time; true without lines if there are too many.
///
/// The kernel may take some time between the two: a line ends where the other one begins to run. It is drawn
/// where the core has nothing else in between, not even an idle task or a gap, the first is ready all that
/// time, and the other one, if it is a task, was ready before: what comes later was not the reason.
pub(super) fn preemptions(rows: &[Row], idle: &Idle, names: &Interner) -> (Vec<Link>, bool) {
    let by_name: HashMap<&str, Vec<usize>> = {
        let mut all: HashMap<&str, Vec<usize>> = HashMap::new();
        let processes =
            rows.iter().enumerate().filter(|(_, r)| matches!(r.kind, RowKind::Task | RowKind::Isr));
        processes.for_each(|(n, row)| all.entry(row.label.as_str()).or_default().push(n));
        all
    };
    // By core: what begins when, and after what.
    let mut follows: HashMap<(i64, &str), Next<'_>> = HashMap::new();
    for row in rows.iter().filter(|row| row.kind == RowKind::Core) {
        let (idle, gaps) = (idle.of_core(&row.label), gaps_of(row, rows));
        for pair in row.runs.windows(2) {
            let [last, next] = pair else { continue };
            let name = |run: &crate::picture::Run| run.name.map(|n| names.text(n));
            let between = (last.end, next.begin);
            let follows_it = last.count == 1
                && next.count == 1
                && between.0 <= between.1
                && !meets(idle, between)
                && !meets(&gaps, between);
            if let (true, Some(last_name), Some(name)) = (follows_it, name(last), name(next)) {
                follows.insert((last.end, last_name), Next { name, begin: next.begin });
            }
        }
    }
    let mut links = Vec::new();
    for (from_row, row) in rows.iter().enumerate() {
        if !matches!(row.kind, RowKind::Task | RowKind::Isr) {
            continue;
        }
        let taken = |state| matches!(state, State::Ready | State::Parking);
        for run in row.runs.iter().filter(|run| run.count == 1 && taken(run.state)) {
            let from_at = run.begin;
            let Some(next) = follows.get(&(from_at, row.label.as_str())) else { continue };
            let to_at = next.begin;
            let targets = by_name.get(next.name).map(Vec::as_slice).unwrap_or_default();
            let target = targets.iter().find(|to| goes_on(&rows[**to], (from_at, to_at)));
            let still_ready = run.end >= to_at;
            if let Some(to_row) = target.copied().filter(|to| *to != from_row && still_ready) {
                links.push(Link { kind: LinkKind::Preemption, from_row, from_at, to_row, to_at });
            }
        }
    }
    if links.len() > MAX_LINES {
        return (Vec::new(), true);
    }
    links.sort_by_key(|link| (link.from_at, link.from_row, link.to_row));
    (links, false)
}

/// True if a process that was not activated or released after `from` gets a core at `at`.
fn goes_on(row: &Row, (from, at): (i64, i64)) -> bool {
    let place = row.runs.partition_point(|run| run.begin < at);
    let (before, after) = row.runs.split_at(place);
    let Some(run) = after.iter().take_while(|run| run.begin == at).find(|run| run.state.is_occupied()) else {
        return false;
    };
    let mut last =
        before.iter().rev().take(NEAR).filter(|last| last.end == at && last.instance == run.instance);
    from == at || row.kind == RowKind::Isr || last.all(|last| last.begin <= from)
}
