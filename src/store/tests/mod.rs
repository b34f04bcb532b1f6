//! Tests of the store as a whole, and the small database that they work on.

#[cfg(feature = "remote")]
mod bucket;
mod faults;
#[cfg(feature = "remote")]
mod faulty_store;
mod files;
mod log;
mod odd_disks;
mod power_cut;
mod transactions;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;

use super::{Database, Disk, Location, RealDisk, Transaction, read_batches, vacuum};
use crate::error::Result;
use crate::schema::{DataEventRow, DataEventRows, ProcessStateRow, ProcessStateRows, TABLES, tables};
use crate::time::TimeScale;

fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn begin(at: impl Into<Location>) -> Result<Transaction> {
    Database::begin(real(), at, Some(TimeScale::Ns))
}

/// `count` accesses, one every 10 ticks from `start`.
fn accesses(start: i64, count: i64) -> RecordBatch {
    let mut rows = DataEventRows::new();
    for n in 0..count {
        let value = (n % 3 != 0).then_some(n as u64);
        let variable = ["EE_ORTI_runningtask", "SIG_1"][n as usize % 2].into();
        rows.push(DataEventRow {
            time: start + n * 10,
            seq: n,
            record: None,
            variable,
            access: "write".into(),
            value,
        });
    }
    rows.take_batch().unwrap()
}

/// One process running from `start` on, 10 ticks each time.
fn states(start: i64, count: i64) -> RecordBatch {
    let mut rows = ProcessStateRows::new();
    for n in 0..count {
        rows.push(ProcessStateRow {
            process: "Task".into(),
            r#type: "T".into(),
            instance: n,
            core: None,
            state: "running".into(),
            begin_at: start + n * 10,
            end_at: start + n * 10 + 10,
            idle: false,
        });
    }
    rows.take_batch().unwrap()
}

/// Puts a whole recording into a transaction: two tables, one of them on two cores, and a blob.
fn record(tx: &mut Transaction, name: &str, start: i64) -> Result<()> {
    for core in ["Core_0", "Core_1"] {
        let mut writer = tx.writer(tables::DATA_EVENT, name, Some(core))?;
        writer.write(&accesses(start, 5))?;
        tx.add(writer.finish()?)?;
    }
    derive(tx, name, start)?;
    tx.put_blob("setup", name, "setup.json", format!("{{\"start\":{start}}}").as_bytes())?;
    tx.set_recording(name, Some(start), Some(start + 50))
}

/// Writes the derived table of a recording again.
fn derive(tx: &mut Transaction, name: &str, start: i64) -> Result<()> {
    tx.drop_table(tables::PROCESS_STATE, name)?;
    let mut writer = tx.writer(tables::PROCESS_STATE, name, None)?;
    writer.write(&states(start, 3))?;
    tx.add(writer.finish()?)
}

/// A database with one recording, `a`.
fn database_with_a(at: impl Into<Location>) {
    let mut tx = begin(at).unwrap();
    record(&mut tx, "a", 0).unwrap();
    tx.commit().unwrap();
}

/// Everything a reader can see.
#[derive(Debug, PartialEq)]
struct Contents {
    /// Name, begin and end.
    recordings: Vec<(String, Option<i64>, Option<i64>)>,
    rows: BTreeMap<String, RecordBatch>,
    blobs: BTreeMap<String, Vec<u8>>,
}

fn contents(at: impl Into<Location>) -> Contents {
    let db = Database::open(at).unwrap();
    let (mut rows, mut blobs) = (BTreeMap::new(), BTreeMap::new());
    for table in TABLES {
        for file in db.files(table, None).unwrap() {
            let batches = read_batches(&db.place_of(&file), table, None, 1000).unwrap();
            let batches: Vec<_> = batches.collect::<Result<_>>().unwrap();
            let key = format!("{} {} {:?}", table.name, file.recording, file.core);
            let batch = concat_batches(&table.arrow_schema(), &batches).unwrap();
            assert!(rows.insert(key, batch).is_none(), "two files where one was written");
        }
    }
    let mut recordings = Vec::new();
    for r in db.recordings().unwrap() {
        recordings.push((r.name.clone(), r.begin_at, r.end_at));
        for b in &r.blobs {
            let content = b.read(&db.location().place_now(&b.path)).unwrap();
            assert!(blobs.insert(format!("{} {}", b.kind, r.name), content).is_none());
        }
    }
    Contents { recordings, rows, blobs }
}

/// The blob of that kind of recording `a`.
fn blob(db: &Database, kind: &str) -> Result<Option<Vec<u8>>> {
    let a = db.recording("a")?.unwrap();
    let found = a.blobs.iter().find(|b| b.kind == kind);
    found.map(|b| b.read(&db.location().place_now(&b.path))).transpose()
}

/// Every file and folder below `path`, relative to it, in order.
fn everything_in(path: &Path) -> Vec<String> {
    fn list(root: &Path, folder: &Path, out: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            out.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            if path.is_dir() {
                list(root, &path, out);
            }
        }
    }
    let mut out = Vec::new();
    list(path, path, &mut out);
    out.sort();
    out
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for name in everything_in(from) {
        let (from, to) = (from.join(&name), to.join(&name));
        if from.is_dir() { fs::create_dir(to).unwrap() } else { fs::copy(from, to).map(drop).unwrap() }
    }
}

/// After a vacuum, the folder has only files that the log knows, and no empty folder.
fn assert_tidy(path: &Path) {
    let is_bad = |problem: &super::verify::Problem| problem.what.contains("not part");
    let report = super::verify(path).unwrap();
    assert!(!report.problems.iter().any(is_bad), "what was removed is out of sight: {report:?}");
    vacuum(real(), path, SystemTime::now(), Duration::ZERO).unwrap();
    let db = Database::open(path).unwrap();
    let recordings = db.recordings().unwrap();
    let mut expected: Vec<_> = recordings.iter().flat_map(|r| r.paths()).map(str::to_owned).collect();
    expected.push("log/tip".into());
    let of_log = super::log::files_of_log(&path.into()).unwrap();
    expected.extend(of_log.into_iter().map(super::layout::LogFile::path));
    let folders: Vec<_> =
        expected.iter().flat_map(|p| super::layout::folders_of(p)).map(str::to_owned).collect();
    expected.extend(folders);
    // The vacuum has made the reserve again.
    expected.extend([super::layout::LOCK, super::layout::RESERVE].map(str::to_owned));
    expected.sort();
    expected.dedup();
    assert_eq!(everything_in(path), expected);
}
