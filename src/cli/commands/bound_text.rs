//! Bounds of response times as text: a table for each core, what they assume, and what contradicts that. Not
//! how they are found (see `ops::bound`).

use crate::bound::Assumption;
use crate::ops::bound::ProcessBound;
use crate::render::{line, widths};
use crate::time::{TimeScale, format_duration};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const HEADER: [&str; 9] =
    ["process", "priority", "activations", "distance", "execution", "blocked", "measured", "bound", "ratio"];

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
    let all: BTreeSet<Assumption> = rows.iter().flat_map(|row| &row.assumptions).copied().collect();
    if rows.iter().any(|row| row.bound.is_ok()) {
        out.push_str("\nA bound holds as long as this does:\n");
        for assumption in all {
            let _ = writeln!(out, "  {}: {}", assumption.as_str(), assumption.text());
        }
        out.push_str(
            "\nIt is one for all that arrives and executes as recorded, and no safe one for the system.\n",
        );
    }
    out
}

fn table(out: &mut String, rows: &[ProcessBound], scale: TimeScale) {
    let time = |ticks: Option<i64>| ticks.map_or("-".to_owned(), |ticks| format_duration(ticks, scale));
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
        ]
    }));
    let (widths, mut right) = (widths(&cells), [true; 9]);
    right[0] = false;
    for row in &cells {
        out.push_str("  ");
        line(out, row, &widths, &right);
    }
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
            let length = format_duration(blocking, scale);
            let _ = writeln!(out, "  {} is blocked for {length} by {by}, {why}", row.process);
        }
        for (of, what) in &row.contradictions {
            let _ = writeln!(out, "  {}, {} is contradicted: {what}", row.process, of.as_str());
        }
    }
}
