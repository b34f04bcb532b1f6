//! The mapping rules (docs/mapping.md), one small recording each (tests/data/README.md). The events are those
//! of `expected.btf`, line by line, no state chart is broken, and every action of the thesis' tables is shown
//! somewhere (`coverage`). Recordings with lines missing or wrong must still keep to the charts (`damage`).
//! What the events do not show is in the table of states (`states`).

mod coverage;
mod damage;
mod states;

use crate::faulty_disk::FaultyDisk;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use btfdb::columns::btf_event as column;
use btfdb::internals::btf::{Action, EntityType, State, Version, rule};
use btfdb::{
    Control, Database, Description, FORMATS, IngestOptions, Log, Report, Severity, ingest, plan,
    read_batches, tables,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

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

/// All recordings, mapped by one thread.
static MAPPED: LazyLock<BTreeMap<String, Mapped>> =
    LazyLock::new(|| recordings().into_iter().map(|n| (n.clone(), map(&data().join(n), 1))).collect());

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// `osek/isr` and so on, in order.
fn recordings() -> Vec<String> {
    let mut names = Vec::new();
    for set in ["erika2", "hooks", "osek"] {
        for entry in std::fs::read_dir(data().join(set)).unwrap() {
            names.push(format!("{set}/{}", entry.unwrap().file_name().to_string_lossy()));
        }
    }
    names.sort();
    names
}

/// A folder in a new database at `path`, mapped.
fn ingested(folder: &Path, threads: usize, path: &Path) -> Report {
    let plans = plan(&[folder.to_path_buf()], &Description::default(), FORMATS).unwrap();
    let options = IngestOptions { threads, ..IngestOptions::default() };
    let control = Arc::new(Control::default());
    let reports = ingest(Arc::new(FaultyDisk::sound()), path, &plans, &options, &control);
    reports.unwrap().remove(0)
}

/// Ingests and maps a folder; every line of its exports must have become something.
fn map(folder: &Path, threads: usize) -> Mapped {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let report = ingested(folder, threads, &path);
    for (source, c) in &report.sources {
        assert_eq!(c.lines, c.rows + c.gaps + c.rejected + c.skipped, "{source}");
        assert_eq!(c.rejected, 0, "{source}");
    }
    let mapped = report.mapped.unwrap();
    assert_eq!((mapped.violations.process, mapped.violations.runnable), (0, 0), "{}", folder.display());
    let db = Database::open(&path).unwrap();
    let mut lines = Vec::new();
    for file in db.files(tables::BTF_EVENT, None).unwrap() {
        for batch in read_batches(&db.place_of(&file), tables::BTF_EVENT, None, 1000).unwrap() {
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
    for (name, mapped) in &*MAPPED {
        let folder = data().join(name);
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
    for (name, mapped) in &*MAPPED {
        assert_eq!(mapped.lines, map(&data().join(name), 3).lines, "{name}");
    }
}

/// What the state charts of processes and runnables do not say: time runs forward, and a core has one
/// process.
fn time_and_cores(name: &str, mapped: &Mapped) {
    let mut on_core: BTreeMap<&str, &(String, i64)> = BTreeMap::new();
    let mut before = i64::MIN;
    for line in &mapped.lines {
        assert!(line.time >= before, "{name}: {line}");
        before = line.time;
        let core = line.source.0.as_str();
        match (line.kind.as_str(), line.action.as_str()) {
            // The process on a core after a gap is not known.
            _ if mapped.holes > 0 => {}
            ("T" | "I", "start" | "resume" | "poll_parking") => {
                assert_eq!(on_core.insert(core, &line.target), None, "{name}: {line}");
            }
            ("T" | "I", "preempt" | "park" | "wait" | "terminate") => {
                let left = on_core.remove(core);
                // A recording that starts in the middle may take a process off a core unseen.
                assert!(left.is_none_or(|p| *p == line.target), "{name}: {line} but {left:?} was there");
            }
            _ => {}
        }
    }
}

#[test]
fn a_core_has_one_process_and_semaphores_keep_to_their_chart() {
    for (name, mapped) in &*MAPPED {
        time_and_cores(name, mapped);
        let mut semaphores: BTreeMap<&str, State> = BTreeMap::new();
        for line in mapped.lines.iter().filter(|l| l.kind == "SEM" && mapped.holes == 0) {
            let state = semaphores.entry(&line.target.0).or_insert(State::NotInitialized);
            let action = Action::parse(&line.action).unwrap();
            if name.ends_with("/middle") && action == Action::Unlock {
                // Locked before the recording begins (rule L5).
                *state = State::Full;
            }
            let rule = rule(Version::V2_1_5, EntityType::Semaphore, action).unwrap();
            let Some(transition) = rule.moves else { continue };
            assert!(transition.from.contains(state), "{name}: {line} in state {state:?}");
            *state = transition.to;
        }
    }
}
