//! The mapping rules, one small recording each (tests/data/README.md): what comes out is what `expected.btf` says,
//! line by line, no state chart is broken, and every action of the thesis' tables is shown somewhere.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use btfdb::btf::{Action, SemaphoreState, semaphore_transition};
use btfdb::diagnostics::{Log, Severity};
use btfdb::ops::{Control, ingest};
use btfdb::recording::{Description, plan};
use btfdb::schema::columns::btf_event as column;
use btfdb::schema::tables;
use btfdb::store::{Database, RealDisk, read_batches};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One system event; `Display` of it is a line of `expected.btf`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    time: i64,
    source: (String, i64),
    kind: String,
    target: (String, i64),
    action: String,
    note: Option<String>,
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ((source, si), (target, ti)) = (&self.source, &self.target);
        write!(f, "{},{source},{si},{},{target},{ti},{}", self.time, self.kind, self.action)?;
        self.note.iter().try_for_each(|note| write!(f, ",{note}"))
    }
}

/// A mapped recording.
struct Mapped {
    lines: Vec<Line>,
    log: Log,
    holes: u64,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// `osek/isr` and so on, in order.
fn recordings() -> Vec<String> {
    let mut names = Vec::new();
    for set in ["erika2", "osek"] {
        for entry in std::fs::read_dir(data().join(set)).unwrap() {
            names.push(format!("{set}/{}", entry.unwrap().file_name().to_string_lossy()));
        }
    }
    names.sort();
    names
}

/// Ingests and maps a folder; every line of its exports must have become something.
fn map(folder: &Path, threads: usize) -> Mapped {
    let dir = tempfile::tempdir().unwrap();
    let plans = plan(&[folder.to_path_buf()], &Description::default()).unwrap();
    let options = ingest::Options { time_scale: None, map: true, strict: false, threads };
    let control = Arc::new(Control::default());
    let path = dir.path().join("db");
    let report = ingest::ingest(Arc::new(RealDisk), &path, &plans, &options, &control).unwrap().remove(0);
    for (source, c) in &report.sources {
        assert_eq!(c.lines, c.rows + c.gaps + c.rejected + c.skipped, "{source}");
        assert_eq!(c.rejected, 0, "{source}");
    }
    let mapped = report.mapped.unwrap();
    assert_eq!((mapped.violations.process, mapped.violations.runnable), (0, 0), "{}", folder.display());
    let db = Database::open(&path).unwrap();
    let mut lines = Vec::new();
    for file in db.files(tables::BTF_EVENT, None) {
        for batch in read_batches(&db.path_of(&file), tables::BTF_EVENT, None, 1000).unwrap() {
            read(&batch.unwrap(), &mut lines);
        }
    }
    let holes = report.sources.iter().map(|(_, c)| c.gaps).sum();
    Mapped { lines, log: report.log, holes }
}

fn read(batch: &RecordBatch, lines: &mut Vec<Line>) {
    let column_of = |name: &str| batch.column_by_name(name).unwrap();
    let number = |name: &str| column_of(name).as_primitive::<Int64Type>().clone();
    let text = |name: &str| cast(column_of(name), &DataType::Utf8).unwrap().as_string::<i32>().clone();
    let (time, source_instance, target_instance) =
        (number(column::TIME), number(column::SOURCE_INSTANCE), number(column::TARGET_INSTANCE));
    let (source, kind, target) = (text(column::SOURCE), text(column::TARGET_TYPE), text(column::TARGET));
    let (action, note) = (text(column::ACTION), text(column::NOTE));
    for row in 0..batch.num_rows() {
        lines.push(Line {
            time: time.value(row),
            source: (source.value(row).into(), source_instance.value(row)),
            kind: kind.value(row).into(),
            target: (target.value(row).into(), target_instance.value(row)),
            action: action.value(row).into(),
            note: note.is_valid(row).then(|| note.value(row).into()),
        });
    }
}

/// Lines of both texts in order: ` ` in both, `-` only expected, `+` only there. Few common lines are shown.
fn diff(expected: &[String], got: &[String]) -> String {
    let (n, m) = (expected.len(), got.len());
    let mut common = vec![vec![0usize; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let skip = common[i + 1][j].max(common[i][j + 1]);
            common[i][j] = if expected[i] == got[j] { common[i + 1][j + 1] + 1 } else { skip };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    while i < n || j < m {
        if i < n && j < m && expected[i] == got[j] {
            out.push(format!("  {}", got[j]));
            (i, j) = (i + 1, j + 1);
        } else if j == m || (i < n && common[i + 1][j] >= common[i][j + 1]) {
            out.push(format!("- {}", expected[i]));
            i += 1;
        } else {
            out.push(format!("+ {}", got[j]));
            j += 1;
        }
    }
    let near = |k: usize| out.iter().skip(k.saturating_sub(2)).take(5).any(|l| !l.starts_with(' '));
    let shown: Vec<&str> = (0..out.len()).filter(|k| near(*k)).map(|k| out[k].as_str()).collect();
    shown.join("\n")
}

/// Compares with the file, or writes it when `UPDATE_EXPECT` is set. An empty text is no file.
fn compare(file: &Path, got: &[String], failures: &mut Vec<String>) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        if got.is_empty() {
            let _ = std::fs::remove_file(file);
        } else {
            std::fs::write(file, got.join("\n") + "\n").unwrap();
        }
        return;
    }
    let expected: Vec<String> =
        std::fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect();
    if expected != got {
        let file = file.strip_prefix(data()).unwrap().display();
        failures.push(format!("{file} (- expected, + found)\n{}", diff(&expected, got)));
    }
}

#[test]
fn every_recording_maps_to_its_expected_events() {
    let mut failures = Vec::new();
    for name in recordings() {
        let folder = data().join(&name);
        let mapped = map(&folder, 1);
        let lines: Vec<String> = mapped.lines.iter().map(Line::to_string).collect();
        compare(&folder.join("expected.btf"), &lines, &mut failures);
        let file = folder.join("expected.diagnostics");
        // Information is pinned where the file is there, and of no interest elsewhere.
        let least = if file.exists() { Severity::Info } else { Severity::Warning };
        let found = mapped.log.entries().iter().filter(|d| d.severity >= least);
        let found: Vec<String> =
            found.map(|d| format!("{} {} {}", d.severity.as_str(), d.code, d.message)).collect();
        compare(&file, &found, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}\nUPDATE_EXPECT=1 rewrites them", failures.join("\n\n"));
}

#[test]
fn the_events_do_not_depend_on_the_number_of_threads() {
    for name in recordings() {
        assert_eq!(map(&data().join(&name), 1).lines, map(&data().join(&name), 3).lines, "{name}");
    }
}

/// What the state charts of processes and runnables do not say: time, cores and semaphores.
#[test]
fn time_runs_forward_a_core_has_one_process_and_semaphores_keep_to_their_chart() {
    for name in recordings() {
        let mapped = map(&data().join(&name), 1);
        let mut on_core: BTreeMap<&str, &(String, i64)> = BTreeMap::new();
        let mut semaphores: BTreeMap<&str, SemaphoreState> = BTreeMap::new();
        let mut before = i64::MIN;
        for line in &mapped.lines {
            assert!(line.time >= before, "{name}: {line}");
            before = line.time;
            let core = line.source.0.as_str();
            match (line.kind.as_str(), line.action.as_str()) {
                ("T" | "I", "start" | "resume" | "poll_parking") if mapped.holes == 0 => {
                    assert_eq!(on_core.insert(core, &line.target), None, "{name}: {line}");
                }
                ("T" | "I", "preempt" | "park" | "wait" | "terminate") if mapped.holes == 0 => {
                    let left = on_core.remove(core);
                    // A recording that starts in the middle may take a process off a core unseen.
                    assert!(left.is_none_or(|p| *p == line.target), "{name}: {line} but {left:?} was there");
                }
                ("SEM", action) if mapped.holes == 0 => {
                    let state = semaphores.entry(&line.target.0).or_insert(SemaphoreState::NotInitialized);
                    let next = semaphore_transition(*state, Action::parse(action).unwrap());
                    *state = next.unwrap_or_else(|| panic!("{name}: {line} in state {state:?}"));
                }
                _ => {}
            }
        }
    }
}

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
    let all: BTreeMap<String, BTreeSet<String>> =
        recordings().into_iter().map(|n| (n.clone(), shown(&n, &map(&data().join(&n), 1).lines))).collect();
    for (row, recordings) in &stated {
        for recording in recordings {
            assert!(all.get(recording).is_some_and(|s| s.contains(row)), "{recording} does not show {row}");
        }
    }
    for name in all.keys() {
        assert!(readme.contains(&format!("`{name}`")), "{name} is not described");
    }
}
