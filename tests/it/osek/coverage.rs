//! The table of tests/data/README.md: every action of the thesis' tables 4.1–4.10 and the recordings that
//! show it.

use super::{Line, MAPPED, data};
use std::collections::{BTreeMap, BTreeSet};

/// The rows of the thesis' tables 4.1–4.10 that a mapped recording shows.
fn shown(name: &str, lines: &[Line]) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    let mut active: BTreeMap<&str, usize> = BTreeMap::new();
    let isr_at = |l: &Line, action: &str| {
        lines.iter().any(|o| o.time == l.time && o.kind == "I" && o.action == action && o.source == l.source)
    };
    let erika = name.starts_with("erika2/");
    for line in lines {
        let (kind, action) = (line.kind.as_str(), line.action.as_str());
        let mut row = |table: &str, action: &str| {
            shown.insert(format!("{table} {action}"));
        };
        let instances = active.entry(&line.target.0).or_default();
        match (kind, action) {
            ("STI", _) if line.source.0 != "SIM" => row("4.1", "trigger (ipa)"),
            ("STI", _) if line.target.0.starts_with("AL_") => {
                row(if erika { "4.8" } else { "4.1" }, "trigger (alarm)")
            }
            ("T", "resume") => {
                row("4.2", if isr_at(line, "terminate") { "resume (isr)" } else { "resume (state)" })
            }
            ("T", "preempt") => {
                row("4.2", if isr_at(line, "start") { "preempt (isr)" } else { "preempt (state)" })
            }
            ("T", "terminate") => {
                row("4.2", if *instances > 1 { "terminate (ready)" } else { "terminate (suspended)" });
                *instances = instances.saturating_sub(1);
            }
            ("T", "mtalimitexceeded") => {
                row("4.2", action);
                row("4.8", action);
            }
            ("T", _) => {
                *instances += usize::from(action == "activate");
                row("4.2", action);
            }
            ("I", _) => row("4.3", action),
            ("R", _) => row("4.4", action),
            ("SIG", _) => row("4.5", action),
            ("SEM", "waiting" | "full" | "overfull") if erika => row("4.10", action),
            ("SEM", "ready" | "lock" | "unlock" | "full" | "overfull") => row("4.6", action),
            ("SEM", _) => row("4.7", action),
            ("EVENT", _) => row("4.9", action),
            _ => {}
        }
    }
    shown
}

/// Every row of the tables, in their order. Table 4.3 also names the polling actions of ISRs in its caption.
const TABLES: [(&str, &[&str]); 10] = [
    ("4.1", &["trigger (ipa)", "trigger (alarm)"]),
    (
        "4.2",
        &[
            "activate",
            "start",
            "resume (state)",
            "resume (isr)",
            "preempt (state)",
            "preempt (isr)",
            "terminate (suspended)",
            "terminate (ready)",
            "wait",
            "release",
            "poll",
            "run",
            "park",
            "poll_parking",
            "release_parking",
            "mtalimitexceeded",
        ],
    ),
    (
        "4.3",
        &[
            "activate",
            "start",
            "resume",
            "preempt",
            "terminate",
            "poll",
            "run",
            "park",
            "poll_parking",
            "release_parking",
        ],
    ),
    ("4.4", &["start", "terminate", "suspend", "resume"]),
    ("4.5", &["write", "read"]),
    ("4.6", &["ready", "lock", "unlock", "full", "overfull"]),
    ("4.7", &["requestsemaphore", "assigned", "waiting", "released"]),
    ("4.8", &["mtalimitexceeded", "trigger (alarm)"]),
    ("4.9", &["wait_event", "clear_event", "set_event"]),
    ("4.10", &["waiting", "full", "overfull"]),
];

#[test]
fn the_coverage_table_holds_and_is_complete() {
    let readme = std::fs::read_to_string(data().join("README.md")).unwrap();
    let mut stated: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in readme.lines().filter(|l| l.starts_with("| 4.")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let recordings = cells[3].split(',').map(|r| r.trim().trim_matches('`').to_owned()).collect();
        stated.insert(format!("{} {}", cells[0], cells[1]), recordings);
    }
    let rows = TABLES.iter().flat_map(|(table, actions)| actions.iter().map(move |a| format!("{table} {a}")));
    let rows: BTreeSet<String> = rows.collect();
    assert_eq!(stated.keys().cloned().collect::<BTreeSet<_>>(), rows, "the rows of tests/data/README.md");
    let all: BTreeMap<&str, BTreeSet<String>> =
        MAPPED.iter().map(|(n, m)| (n.as_str(), shown(n, &m.lines))).collect();
    for (row, recordings) in &stated {
        for recording in recordings {
            assert!(
                all.get(recording.as_str()).is_some_and(|s| s.contains(row)),
                "{recording} does not show {row}"
            );
        }
    }
    for name in all.keys() {
        assert!(readme.contains(&format!("`{name}`")), "{name} is not described");
    }
}
