//! Checks that a database is what its manifest says, byte by byte and row by row. It repairs nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use arrow::array::{Array, Int64Array, RecordBatch};

use super::checksum::Seal;
use super::database::Database;
use super::layout::{MANIFEST, STAGING};
use super::manifest::FileEntry;
use super::table_reader::{read_batches, row_count};
use crate::error::{Error, Result};
use crate::schema::{TableSpec, table};

/// Rows in memory at once.
const BATCH_ROWS: usize = 1 << 16;

/// What was checked, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Number of files in the manifest.
    pub files: u64,
    /// Their size in bytes, according to the manifest.
    pub bytes: u64,
    /// What is wrong; empty for a sound database.
    pub problems: Vec<Problem>,
    /// What an interrupted writer left to do or to remove. Harmless: the next writer does it.
    pub pending: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, relative to the database.
    pub path: PathBuf,
    /// What is wrong with it, a sentence without a full stop.
    pub what: String,
}

/// Verifies a database: size and checksum of every file; rows, schema and order of every table; files that do
/// not belong to it. Reads everything once, in bounded memory.
///
/// # Errors
/// When the manifest cannot be read: then the expected files are unknown.
pub fn verify(path: &Path) -> Result<VerifyReport> {
    let db = Database::open(path)?;
    let mut report = VerifyReport { pending: db.manifest().pending(), ..VerifyReport::default() };
    for file in &db.manifest().files {
        let seal = Seal { bytes: file.bytes, checksum: file.checksum.clone() };
        let place = db.path_of(file);
        let found = check_seal(&place, &seal).and_then(|()| check_rows(&db, file, &place));
        report.note(&file.path, file.bytes, found);
    }
    for blob in &db.manifest().blobs {
        let seal = Seal { bytes: blob.bytes, checksum: blob.checksum.clone() };
        let found = check_seal(&db.place(&blob.path, blob.staged.as_deref()), &seal);
        report.note(&blob.path, blob.bytes, found);
    }
    report.note_strays(&db)?;
    Ok(report)
}

impl VerifyReport {
    fn note(&mut self, path: &str, bytes: u64, found: Result<(), String>) {
        self.files += 1;
        self.bytes += bytes;
        if let Err(what) = found {
            self.problems.push(Problem { path: path.into(), what });
        }
    }

    /// Other engines read every Parquet file they find, so that a stray one gives a wrong answer.
    fn note_strays(&mut self, db: &Database) -> Result<()> {
        let m = db.manifest();
        let files = m.files.iter().map(|f| f.path.as_str());
        let blobs = m.blobs.iter().map(|b| b.path.as_str());
        let removals = m.removals.iter().map(String::as_str);
        let expected: BTreeSet<_> = files.chain(blobs).chain(removals).chain([MANIFEST]).collect();
        let mut found = Vec::new();
        list(db.path(), "", &mut found)?;
        for path in found.into_iter().filter(|p| !expected.contains(p.as_str())) {
            if path.ends_with(super::layout::NEXT_MANIFEST) {
                self.pending.push(format!("remove {path}"));
            } else {
                self.problems
                    .push(Problem { path: path.into(), what: "the file is not part of the database".into() });
            }
        }
        if m.moves().next().is_none() && db.path().join(STAGING).exists() {
            self.pending.push(format!("remove {STAGING}"));
        }
        Ok(())
    }
}

/// All files below `folder`, relative to `root`, with `/`. Hidden ones do not count: no engine reads them.
fn list(root: &Path, folder: &str, found: &mut Vec<String>) -> Result<()> {
    let path = root.join(folder);
    for entry in fs::read_dir(&path).map_err(|e| Error::io("list", &path, e))? {
        let entry = entry.map_err(|e| Error::io("list", &path, e))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let below = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if name.starts_with('.') {
            continue;
        }
        if entry.path().is_dir() { list(root, &below, found)? } else { found.push(below) }
    }
    found.sort();
    Ok(())
}

fn check_seal(path: &Path, expected: &Seal) -> Result<(), String> {
    let found = Seal::of_file(path).map_err(|e| format!("the file cannot be read: {e}"))?;
    if found.bytes != expected.bytes {
        return Err(format!("the file has {} bytes and should have {}", found.bytes, expected.bytes));
    }
    if found.checksum != expected.checksum {
        return Err("the file is damaged: its checksum is wrong".into());
    }
    Ok(())
}

fn check_rows(db: &Database, file: &FileEntry, place: &Path) -> Result<(), String> {
    let table = table(&file.table).ok_or_else(|| format!("there is no table '{}'", file.table))?;
    if db.manifest().recording(&file.recording).is_none() {
        return Err(format!("there is no recording '{}'", file.recording));
    }
    let rows = row_count(place).map_err(|e| e.to_string())?;
    if rows != file.rows {
        return Err(format!("the file has {rows} rows and should have {}", file.rows));
    }
    check_order(table, place).map_err(|e| e.to_string())
}

/// Opening the file for its table checks the schema; then the rows must rise by the columns of `sort`.
fn check_order(table: &'static TableSpec, place: &Path) -> Result<()> {
    let mut last: Option<Vec<i64>> = None;
    for batch in read_batches(place, table, Some(table.sort), BATCH_ROWS)? {
        let batch = batch?;
        let columns = integers(&batch);
        for row in 0..batch.num_rows() {
            let key = || columns.iter().map(|c| c.value(row));
            if last.as_ref().is_some_and(|l| key().lt(l.iter().copied())) {
                return Err(Error::database(format!("the rows are not sorted by {}", table.sort.join(", "))));
            }
            let last = last.get_or_insert_default();
            last.clear();
            last.extend(key());
        }
    }
    Ok(())
}

fn integers(batch: &RecordBatch) -> Vec<&Int64Array> {
    batch.columns().iter().filter_map(|c| c.as_any().downcast_ref()).collect()
}
