//! Tests over recordings of a real kernel that do not ship with the project: every folder below
//! `$BTFDB_CORPUS/ee/` that has a `recording.toml`. Without the variable the tests pass and say so. This file
//! has what all of them share; nothing in it judges the mapper.
//!
//! | file | question |
//! |---|---|
//! | `accesses` | does the simulated kernel access its variables as the real one does? |
//! | `accounting` | is every line of the exports in the database, unchanged? |
//! | `charts` | does every event follow the state charts of BTF? |
//! | `oracle` | is the process on each core the one that really executed, record by record? |
//! | `switches` | … and between records, by the host's own list of context switches? |
//! | `calls` | is every activation and signal by the process that really asked for it? |
//! | `counts` | does nothing happen more or less often than the application counted? |
//! | `draft` | are the events those of an independent prototype? |
//! | `threads` | do the tables depend on the number of threads? |
//! | `cuts` | does a part of a recording give the same events as the whole? |
//! | `gaps` | does the mapping survive a gap? |
//! | `edges` | … and gaps and begins at random places, in the derived tables? |
//! | `hooks` | are hook variables of the same systems mapped to the same steps of processes? |
//! | `scheduler` | do tasks run where the switches of a traced kernel say so? |
//! | `task_events` | … and task events to the same events? |
//! | `pieces` | are pieces the whole, and do slices with their state say it? |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]
#![allow(clippy::print_stderr, reason = "a test that was skipped says so")]
#![allow(clippy::disallowed_methods, reason = "tests ask where the corpus is, and write parts of recordings")]

mod accesses;
mod accounting;
mod calls;
mod charts;
mod checker;
mod compare;
mod counts;
pub mod cuts;
mod draft;
mod edges;
pub mod gaps;
mod hooks;
mod occupancy;
pub mod oracle;
mod pieces;
mod scheduler;
mod switches;
mod task_events;
mod threads;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, UInt32Type, UInt64Type};
use btfdb::{
    Control, Database, Description, FORMATS, IngestOptions as Options, NameList, RealDisk, TableSpec, ingest,
    plan, read_batches, tables,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;

/// A recording of the corpus and the system events that it is mapped to.
pub struct Recording {
    pub name: String,
    pub folder: PathBuf,
    pub description: Description,
    pub events: Vec<Event>,
    /// Every core is recorded from the start of the OS on: nothing happened before.
    pub from_start: bool,
    /// First and last instant, both inclusive, in ns.
    pub range: (i64, i64),
}

/// A row of `btf_event`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub time: i64,
    pub source: String,
    pub source_instance: i64,
    pub kind: String,
    pub target: String,
    pub instance: i64,
    pub action: String,
    pub note: Option<String>,
}

impl Event {
    /// The line of BTF that says this.
    pub fn line(&self) -> String {
        let Self { time, source, source_instance, kind, target, instance, action, note } = self;
        let note = note.as_ref().map(|n| format!(",{n}")).unwrap_or_default();
        format!("{time},{source},{source_instance},{kind},{target},{instance},{action}{note}")
    }

    /// True for what happens to a task or an ISR.
    pub fn is_process(&self) -> bool {
        self.kind == "T" || self.kind == "I"
    }

    /// Source with its instance.
    pub fn by(&self) -> (String, i64) {
        (self.source.clone(), self.source_instance)
    }

    /// Target with its instance.
    pub fn to(&self) -> (String, i64) {
        (self.target.clone(), self.instance)
    }
}

/// A database made for one test; it is removed with this value.
pub struct Ingested {
    _folder: TempDir,
    pub db: Database,
}

/// The recordings of the corpus, or `None` (and a line that says so) where there is no corpus.
pub fn corpus() -> Option<&'static [Recording]> {
    static RECORDINGS: LazyLock<Option<Vec<Recording>>> = LazyLock::new(|| {
        let root = PathBuf::from(std::env::var_os("BTFDB_CORPUS")?).join("ee");
        let listing = root.read_dir().unwrap_or_else(|e| panic!("{}: {e}", root.display()));
        let mut folders: Vec<PathBuf> = listing.map(|e| e.unwrap().path()).collect();
        folders.retain(|f| f.join("recording.toml").is_file());
        folders.sort();
        assert!(!folders.is_empty(), "no recording in {}", root.display());
        Some(folders.iter().map(|f| Recording::read(f)).collect())
    });
    if RECORDINGS.is_none() {
        eprintln!("skipped: BTFDB_CORPUS is not set");
    }
    RECORDINGS.as_deref()
}

impl Recording {
    /// Ingests and maps a recording folder, and keeps what tests ask for.
    pub fn read(folder: &Path) -> Self {
        let description =
            plan(&[folder.to_path_buf()], &Description::default(), FORMATS).unwrap().remove(0).description;
        let ingested = ingested(folder, 2);
        let range = ingested.db.recordings().unwrap()[0]
            .begin_at
            .zip(ingested.db.recordings().unwrap()[0].end_at)
            .unwrap();
        let starts = |file: &Option<String>| {
            let text = file.as_ref().map(|f| std::fs::read_to_string(folder.join(f)).unwrap());
            text.is_none_or(|t| t.lines().next().is_some_and(|l| l.contains("StartOS; fentry")))
        };
        Self {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            folder: folder.to_path_buf(),
            from_start: description.core.iter().all(|c| starts(&c.functions)),
            description,
            events: ingested.events(),
            range,
        }
    }

    /// The rows of a tab-separated file of the recording without its header, if there is such a file.
    pub fn tsv(&self, file: &str) -> Option<Vec<Vec<String>>> {
        let text = std::fs::read_to_string(self.folder.join(file)).ok()?;
        let rows = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
        Some(rows.map(|l| l.split('\t').map(str::to_owned).collect()).collect())
    }

    /// A JSON file of the recording, if there is such a file.
    pub fn json(&self, file: &str) -> Option<serde_json::Value> {
        let text = std::fs::read_to_string(self.folder.join(file)).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    /// Functions that are ISRs: those of the symbol tables, and those of category 1.
    pub fn handlers(&self) -> Vec<String> {
        let symbols = self.description.core.iter().filter_map(|c| c.symbols.as_deref());
        let symbols = symbols.filter_map(|s| self.tsv(s)).flatten().map(|row| row[1].clone());
        symbols.chain(self.category1()).collect()
    }

    /// Functions that are category 1 ISRs.
    pub fn category1(&self) -> Vec<String> {
        match &self.description.category1_isrs {
            NameList::Names(names) => names.clone(),
            NameList::File { file } => {
                let text = std::fs::read_to_string(self.folder.join(file)).unwrap();
                text.lines().map(str::to_owned).collect()
            }
        }
    }
}

/// Ingests and maps the recording in `folder` into a database of its own.
pub fn ingested(folder: &Path, threads: usize) -> Ingested {
    let temporary = TempDir::new().unwrap();
    let path = temporary.path().join("t.db");
    let plans = plan(&[folder.to_path_buf()], &Description::default(), FORMATS).unwrap();
    let options = Options { threads, ..Options::default() };
    let control = Arc::new(Control::default());
    ingest(Arc::new(RealDisk), &path, &plans, &options, &control).unwrap();
    Ingested { _folder: temporary, db: Database::open(&path).unwrap() }
}

impl Ingested {
    /// All rows of a table, or those of one core.
    pub fn batches(&self, table: &'static TableSpec, core: Option<&str>) -> Vec<RecordBatch> {
        let files = self.db.files(table, None).unwrap();
        let files = files.iter().filter(|f| core.is_none() || f.core.as_deref() == core);
        let batches = files.map(|f| read_batches(&self.db.place_of(f), table, None, 8192).unwrap());
        batches.flatten().map(|b| b.unwrap()).collect()
    }

    /// `f` of every row of a table.
    pub fn rows<T>(
        &self,
        table: &'static TableSpec,
        core: Option<&str>,
        mut f: impl FnMut(&Row<'_>) -> T,
    ) -> Vec<T> {
        let mut out = Vec::new();
        for batch in self.batches(table, core) {
            out.extend((0..batch.num_rows()).map(|row| f(&Row { batch: &batch, row })));
        }
        out
    }

    /// The system events, in order.
    pub fn events(&self) -> Vec<Event> {
        let mut seq = 0;
        self.rows(tables::BTF_EVENT, None, |r| {
            assert_eq!(r.int("seq"), Some(seq), "btf_event.seq must count the rows");
            seq += 1;
            Event {
                time: r.int("time").unwrap(),
                source: r.text("source").unwrap().to_owned(),
                source_instance: r.int("source_instance").unwrap(),
                kind: r.text("target_type").unwrap().to_owned(),
                target: r.text("target").unwrap().to_owned(),
                instance: r.int("target_instance").unwrap(),
                action: r.text("action").unwrap().to_owned(),
                note: r.text("note").map(str::to_owned),
            }
        })
    }
}

/// One row of a batch.
pub struct Row<'a> {
    batch: &'a RecordBatch,
    row: usize,
}

impl Row<'_> {
    fn cell(&self, column: &str) -> Option<&dyn Array> {
        let array = &**self.batch.column_by_name(column).unwrap_or_else(|| panic!("no column {column}"));
        array.is_valid(self.row).then_some(array)
    }

    /// A cell of a column of names or texts; `None` when it is null.
    pub fn text(&self, column: &str) -> Option<&str> {
        let cell = self.cell(column)?;
        Some(match cell.as_dictionary_opt::<UInt32Type>() {
            Some(names) => names.values().as_string::<i32>().value(names.keys().value(self.row) as usize),
            None => cell.as_string::<i32>().value(self.row),
        })
    }

    /// A cell of a column of times, counts or integers; `None` when it is null.
    pub fn int(&self, column: &str) -> Option<i64> {
        Some(self.cell(column)?.as_primitive::<Int64Type>().value(self.row))
    }

    /// A cell of a column of unsigned bits; `None` when it is null.
    pub fn bits(&self, column: &str) -> Option<u64> {
        Some(self.cell(column)?.as_primitive::<UInt64Type>().value(self.row))
    }

    /// A cell of a column of flags.
    pub fn flag(&self, column: &str) -> bool {
        self.cell(column).unwrap().as_boolean().value(self.row)
    }
}

/// Fails with the first of `problems`, if there are any.
pub fn none(what: &str, problems: &[String]) {
    let shown = problems.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n  ");
    assert!(problems.is_empty(), "{what}: {} problems\n  {shown}", problems.len());
}
