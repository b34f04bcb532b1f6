//! Lines between rows: from an instance that is preempted to the one that preempts it. Found between runs
//! that are drawn exactly, not between merged runs.

use std::collections::HashMap;

use crate::names::Interner;
use crate::picture::{Link, LinkKind, Row, RowKind, State};

/// Maximum number of lines: more would hide the picture.
const MAX_LINES: usize = 600;

/// Preemptions between rows of tasks and ISRs, in order of time; true without lines if there are too many.
pub(super) fn preemptions(rows: &[Row], names: &Interner) -> (Vec<Link>, bool) {
    let by_name: HashMap<&str, Vec<usize>> = {
        let mut all: HashMap<&str, Vec<usize>> = HashMap::new();
        let processes =
            rows.iter().enumerate().filter(|(_, r)| matches!(r.kind, RowKind::Task | RowKind::Isr));
        processes.for_each(|(n, row)| all.entry(row.label.as_str()).or_default().push(n));
        all
    };
    // By core: what begins when, and after what.
    let mut follows: HashMap<(i64, &str), &str> = HashMap::new();
    for row in rows.iter().filter(|row| row.kind == RowKind::Core) {
        for pair in row.runs.windows(2) {
            let [last, next] = pair else { continue };
            let name = |run: &crate::picture::Run| run.name.map(|n| names.text(n));
            if let (true, Some(last_name), Some(next_name)) =
                (last.count == 1 && next.count == 1 && last.end == next.begin, name(last), name(next))
            {
                follows.insert((last.end, last_name), next_name);
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
            let Some(next) = follows.get(&(run.begin, row.label.as_str())) else { continue };
            let targets = by_name.get(next).map(Vec::as_slice).unwrap_or_default();
            let target = targets
                .iter()
                .find(|to| rows[**to].runs.iter().any(|r| r.begin == run.begin && r.state.is_occupied()));
            if let Some(to_row) = target.copied().filter(|to| *to != from_row) {
                let at = run.begin;
                links.push(Link { kind: LinkKind::Preemption, from_row, from_at: at, to_row, to_at: at });
            }
        }
    }
    if links.len() > MAX_LINES {
        return (Vec::new(), true);
    }
    links.sort_by_key(|link| (link.from_at, link.from_row, link.to_row));
    (links, false)
}
