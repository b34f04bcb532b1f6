//! Checks that a database is what its log says, byte by byte and row by row. It repairs nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, Int64Array, RecordBatch};

use super::bucket::Bucket;
use super::database::Database;
use super::layout::{self, LOG, LogFile, TIP};
use super::location::{Kind, Location};
use super::log::{audit, files_of_log};
use super::place::{Place, is_missing};
use super::recording::{BlobEntry, FileEntry, Recording};
use super::source::Source;
use super::staging::{self, Staging};
use super::table_reader::{read_batches, row_count};
use super::target::publish;
use super::vacuum::waiting;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{TableSpec, table};

/// Rows in memory at once.
const BATCH_ROWS: usize = 1 << 16;

/// What was checked, and what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Number of files in the database.
    pub files: u64,
    /// Their size in bytes, according to the log.
    pub bytes: u64,
    /// What is wrong; empty for a sound database.
    pub problems: Vec<Problem>,
    /// What an interrupted writer left to do or to remove. The next writer does it. In a bucket, what it left
    /// is counted with the removed files.
    pub pending: Vec<String>,
    /// Number of writers at work.
    pub writers: u64,
    /// Number of files that are not part of the database any more and wait for [`super::vacuum()`].
    pub removed_files: u64,
    /// Their size.
    pub removed_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, relative to the database.
    pub path: PathBuf,
    /// What is wrong with it, a sentence without a full stop.
    pub what: String,
    /// Whether the file may be sound: it could not be read.
    pub is_unread: bool,
}

/// What is wrong with a file.
struct Fault {
    what: String,
    is_unread: bool,
}

impl From<String> for Fault {
    fn from(what: String) -> Self {
        Self { what, is_unread: false }
    }
}

/// Verifies a database: size and checksum of every file; rows, schema and order of every table; the log;
/// files that do not belong to it. Holds in memory what the log says of each recording, and of the files a
/// few megabytes at a time.
///
/// # Errors
/// When the log cannot be read: then the expected files are unknown.
pub fn verify(at: impl Into<Location>) -> Result<VerifyReport> {
    let location = at.into();
    if let Kind::Bucket(bucket) = &location.0 {
        bucket.forget();
    }
    let db = Database::open(location.clone())?;
    let mut report = VerifyReport::default();
    let mut doubts = Vec::new();
    for recording in db.recordings()? {
        for file in &recording.files {
            let place = db.place_of(file);
            let found = check_pages(file, &place).and_then(|()| check_rows(file, &place));
            report.count(&file.path, file.bytes, found, &mut doubts);
        }
        for blob in &recording.blobs {
            let found = check_blob(blob, &location.place_now(&blob.path));
            report.count(&blob.path, blob.bytes, found, &mut doubts);
        }
    }
    report.problems = still_named(&location, doubts)?;
    for (name, error) in audit(&location)? {
        let Fault { what, is_unread } = wrong(&error);
        report.problems.push(Problem { path: name.into(), what, is_unread });
    }
    match &location.0 {
        Kind::Folder(root) => {
            report.note_strays(root, &location)?;
            (report.removed_files, report.removed_bytes) = waiting(root)?;
        }
        Kind::Bucket(bucket) => report.note_objects(&db, bucket)?,
    }
    Ok(report)
}

impl VerifyReport {
    fn count(&mut self, path: &str, bytes: u64, found: Result<(), Fault>, doubts: &mut Vec<Problem>) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        if let Err(Fault { what, is_unread }) = found {
            doubts.push(Problem { path: path.into(), what, is_unread });
        }
    }

    /// Other engines read every Parquet file they find, so that a stray one gives a wrong answer. Writers may
    /// be at work: first the files, then what has to do with commits in the making, then the newest state,
    /// and once more the commits, because one may have taken files out of that state and not put them away
    /// yet. A file that is of none of them was put away meanwhile, or is a stray one.
    fn note_strays(&mut self, root: &Path, location: &Location) -> Result<()> {
        let mut found = Vec::new();
        list(root, Path::new(""), &mut found)?;
        let before = Unfinished::find(root, location)?;
        let expected = expected(&Database::open(location.clone())?)?;
        let now = Unfinished::find(root, location)?;
        let is_known = |path: &Path| {
            let name = path.to_str();
            name.is_some_and(|name| [&before.files, &expected, &now.files].iter().any(|f| f.contains(name)))
        };
        found.retain(|path| !is_known(path) && root.join(path).symlink_metadata().is_ok());
        self.note_foreign(found);
        (self.writers, self.pending) = (now.writers, now.pending);
        Ok(())
    }

    /// Objects stay in their places when a commit takes them out, and are there before theirs.
    fn note_objects(&mut self, db: &Database, bucket: &Arc<Bucket>) -> Result<()> {
        let objects = bucket.list("")?;
        let expected = expected(&Database::open(db.location().clone())?)?;
        let strays = objects.into_iter().filter(|object| !expected.contains(&object.name));
        let (removed, foreign): (Vec<_>, Vec<_>) =
            strays.partition(|object| layout::is_of_writer(&object.name));
        self.removed_files = removed.len() as u64;
        self.removed_bytes = removed.iter().map(|object| object.bytes).sum();
        self.note_foreign(foreign.into_iter().map(|object| object.name.into()));
        Ok(())
    }

    fn note_foreign(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let is_delta = |path: &PathBuf| path.to_str().is_some_and(layout::is_delta);
        for path in paths.into_iter().filter(|path| !is_delta(path)) {
            let what = "the file is not part of the database".into();
            self.problems.push(Problem { path, what, is_unread: false });
        }
    }
}

/// What writers have begun and not finished.
#[derive(Default)]
struct Unfinished {
    /// Writers at work.
    writers: u64,
    /// What the next writer does for those that are gone.
    pending: Vec<String>,
    /// The files that have to do with it.
    files: BTreeSet<String>,
}

impl Unfinished {
    fn find(root: &Path, location: &Location) -> Result<Self> {
        let mut found = Self::default();
        for name in staging::all(root)? {
            let Some(is_alive) = staging::is_alive(root, &name) else { continue };
            let left = Staging::to_look_at(name.clone());
            let mut pending = vec![format!("remove {name}")];
            if let Some((commit, is_made)) = publish::begun(location, &left)? {
                let (verb, paths) = match is_made {
                    true => ("put away", commit.freed),
                    false => ("take back", publish::strays(location, &commit)?),
                };
                let there: Vec<_> = paths.into_iter().filter(|path| root.join(path).exists()).collect();
                pending.extend(there.iter().map(|path| format!("{verb} {path}")));
                found.files.extend(there);
            }
            if is_alive {
                found.writers += 1;
            } else {
                found.pending.extend(pending);
            }
        }
        Ok(found)
    }
}

/// What is wrong with files of the newest state. Those of others were removed while they were checked: they
/// may have been moved, and nobody needs them.
fn still_named(location: &Location, doubts: Vec<Problem>) -> Result<Vec<Problem>> {
    if doubts.is_empty() {
        return Ok(doubts);
    }
    let named = expected(&Database::open(location.clone())?)?;
    let is_named = |problem: &Problem| problem.path.to_str().is_none_or(|path| named.contains(path));
    Ok(doubts.into_iter().filter(is_named).collect())
}

/// The files that the log names, and those of the log.
fn expected(db: &Database) -> Result<BTreeSet<String>> {
    let recordings = db.recordings()?.iter().flat_map(|r| Recording::paths(r)).map(str::to_owned);
    let mut expected: BTreeSet<_> = recordings.collect();
    expected.extend(files_of_log(db.location())?.into_iter().map(LogFile::path));
    expected.extend([LOG, TIP].map(str::to_owned));
    Ok(expected)
}

/// All files below `folder`, relative to `root`, whatever they are called. Hidden ones do not count: no
/// engine reads them.
fn list(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let path = root.join(folder);
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        // A writer has just removed it, because it was empty.
        Err(e) if is_missing(&e) && !folder.as_os_str().is_empty() => return Ok(()),
        Err(e) => return Err(Error::io("list", path, e)),
    };
    for entry in entries {
        let entry = entry.map_err(|e| Error::io("list", &path, e))?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let below = folder.join(name);
        if entry.path().is_dir() { list(root, &below, found)? } else { found.push(below) }
    }
    found.sort();
    Ok(())
}

fn check_pages(file: &FileEntry, place: &Place) -> Result<(), Fault> {
    check_size(place.size().map_err(|e| unreadable(&e))?, file.bytes)?;
    Source::open(place).and_then(|source| source.check()).map_err(|e| unreadable(&e))
}

fn check_blob(blob: &BlobEntry, place: &Place) -> Result<(), Fault> {
    check_size(place.size().map_err(|e| unreadable(&e))?, blob.bytes)?;
    blob.read(place).map(drop).map_err(|e| unreadable(&e))
}

fn check_size(found: Option<u64>, expected: u64) -> Result<(), Fault> {
    match found {
        None => Err("the file is gone".to_owned().into()),
        Some(bytes) if bytes != expected => {
            Err(format!("the file has {bytes} bytes and should have {expected}").into())
        }
        Some(_) => Ok(()),
    }
}

fn unreadable(error: &Error) -> Fault {
    if error.kind() == ErrorKind::Database {
        return Fault::from("the file is damaged: its checksum is wrong".to_owned());
    }
    let what = match std::error::Error::source(error) {
        Some(cause) => format!("the file cannot be read: {error}: {cause}"),
        None => format!("the file cannot be read: {error}"),
    };
    Fault { what, is_unread: true }
}

fn wrong(error: &Error) -> Fault {
    Fault { what: error.to_string(), is_unread: error.kind() == ErrorKind::Io }
}

fn check_rows(file: &FileEntry, place: &Place) -> Result<(), Fault> {
    // All pages were read before, and are what was written.
    let table = table(&file.table).ok_or_else(|| format!("there is no table '{}'", file.table))?;
    let rows = row_count(place).map_err(|e| wrong(&e))?;
    if rows != file.rows {
        return Err(format!("the file has {rows} rows and should have {}", file.rows).into());
    }
    check_order(table, place).map_err(|e| wrong(&e))
}

/// Opening the file for its table checks the schema; then the rows must rise by the columns of `sort`.
fn check_order(table: &'static TableSpec, place: &Place) -> Result<()> {
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
