//! Bounds of response times as text: a table for each core, what they assume, and what contradicts that. Not
//! how they are found (see `ops::bound`).

use crate::bound::Assumption;
use crate::ops::bound::ProcessBound;
use crate::picture::exact;
use crate::render::{line, widths};
use crate::time::TimeScale;
use std::collections::BTreeSet;
use std::fmt::Write as _;

const HEADER: [&str; 10] = [
    "process",
    "priority",
    "activations",
    "distance",
    "execution",
    "blocked",
    "measured",
    "bound",
    "ratio",
    "",
];

/// The rows in their order: recordings, and in them cores.
pub(super) fn text(rows: &[ProcessBound], scale: TimeScale) -> String {
    let mut out = String::new();
    let is_together =
        |one: &ProcessBound, other: &ProcessBound| one.recording == other.recording && one.core == other.core;
    for of_core in rows.chunk_by(is_together) {
        let Some(first) = of_core.first() else { continue };
        if !out.is_empty() {
            out.push('\n');
        }
        // Writing to a text does not fail.
        let _ = match &first.core {
            Some(core) => writeln!(out, "{}, {core}:", first.recording),
            None => writeln!(out, "{}, on no core or several ones:", first.recording),
        };
        table(&mut out, of_core, scale);
        notes(&mut out, of_core, scale);
    }
    let assumed = rows.iter().flat_map(|row| &row.assumptions);
    let contradicted = rows.iter().flat_map(|row| &row.contradictions).map(|(of, _)| of);
    let all: BTreeSet<Assumption> = assumed.chain(contradicted).copied().collect();
    if rows.iter().any(|row| row.bound.is_ok()) {
        out.push_str("\nA bound holds as long as this does:\n");
        for assumption in all {
            let _ = writeln!(out, "  {}: {}", assumption.as_str(), assumption.text());
        }
        out.push_str(
            "\nNothing that arrives and executes as recorded takes longer. Longer executions and denser \
             activations can: a bound is no safe one for the system.\n",
        );
    }
    out
}

fn table(out: &mut String, rows: &[ProcessBound], scale: TimeScale) {
    let time = |ticks: Option<i64>| ticks.map_or("-".to_owned(), |ticks| exact(ticks, scale));
    let mut cells = vec![HEADER.map(str::to_owned)];
    cells.extend(rows.iter().map(|row| {
        [
            row.process.clone(),
            row.priority.map_or("-".to_owned(), |priority| priority.to_string()),
            row.activations.to_string(),
            time(row.min_distance),
            time(row.worst_execution),
            time(row.blocking),
            time(row.measured),
            time(row.bound.as_ref().ok().copied()),
            row.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            remark(row).to_owned(),
        ]
    }));
    let (widths, mut right) = (widths(&cells), [true; 10]);
    (right[0], right[9]) = (false, false);
    for row in &cells {
        out.push_str("  ");
        line(out, row, &widths, &right);
    }
}

/// What else the figures of a row mean.
fn remark(row: &ProcessBound) -> &'static str {
    // Its response time has the waits, too: it can be above the bound.
    if row.assumptions.contains(&Assumption::Segments) { "of a part between waits" } else { "" }
}

/// What a table has no place for.
fn notes(out: &mut String, rows: &[ProcessBound], scale: TimeScale) {
    for row in rows {
        if let Err(reason) = &row.bound {
            let _ = writeln!(out, "  {} has no bound: {reason}", row.process);
        }
        if let (Some((by, why)), Some(blocking)) = (&row.blocked_by, row.blocking) {
            let why = match why.as_str() {
                "not_preemptable" => "which is not preemptable".to_owned(),
                "seen" => "as was seen, nothing says why".to_owned(),
                other => format!("which {other}"),
            };
            let length = exact(blocking, scale);
            let _ = writeln!(out, "  {} is blocked for {length} by {by}, {why}", row.process);
        }
        for (of, what) in &row.contradictions {
            let _ = writeln!(out, "  {}, against {}: {what}", row.process, of.as_str());
        }
    }
}
