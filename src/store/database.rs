//! A database as a reader sees it: one manifest that does not change. Not for writing (see [`Transaction`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::disk::Disk;
use super::manifest::{FileEntry, Manifest, RecordingEntry};
use super::transaction::Transaction;
use crate::error::{Error, Result};
use crate::schema::TableSpec;
use crate::time::{TimeScale, check_order, format_duration};

/// A snapshot of a database. Readers take no lock and never wait. If a recording is removed or replaced
/// meanwhile, its files are gone: that is an error, but a reader never gets the rows of another state.
#[derive(Debug, Clone)]
pub struct Database {
    root: PathBuf,
    manifest: Manifest,
}

impl Database {
    /// Opens a database to read it.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Database`] when there is none, or it is of another version, or damaged.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { root: path.to_path_buf(), manifest: Manifest::read(path)? })
    }

    /// Whether there is a database at `path`.
    pub fn is_at(path: &Path) -> bool {
        path.join(super::layout::MANIFEST).is_file()
    }

    /// Begins to change a database, or to make a new one when `time_scale_if_new` says how. Fails with
    /// [`crate::error::ErrorKind::Database`] when another writer is at work, when there is no database and
    /// none may be made, or when the folder holds something else.
    pub fn begin(
        disk: Arc<dyn Disk>,
        path: &Path,
        time_scale_if_new: Option<TimeScale>,
    ) -> Result<Transaction> {
        Transaction::begin(disk, path, time_scale_if_new)
    }

    /// The folder of the database.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// What the database holds.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Unit of every tick in the database.
    pub fn time_scale(&self) -> TimeScale {
        self.manifest.time_scale
    }

    /// The recordings, in the order in which they came.
    pub fn recordings(&self) -> &[RecordingEntry] {
        &self.manifest.recordings
    }

    /// Fails if `recording` is not in the database.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`], with a suggestion.
    pub fn check_recording(&self, recording: Option<&str>) -> Result<()> {
        recording.map_or(Ok(()), |name| self.manifest.check_recording(name))
    }

    /// Fails if a window of time, from `from` to before `to` in ticks, has no instant of a recording, or of
    /// any recording.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when it does not end after it begins, or lies outside.
    pub fn check_window(&self, recording: Option<&str>, from: Option<i64>, to: Option<i64>) -> Result<()> {
        check_order(from, to).map_err(Error::usage)?;
        let (begin, end) = (from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX));
        let wanted = self.recordings().iter().filter(|r| recording.is_none_or(|name| r.name == name));
        let spans: Vec<_> = wanted.filter_map(|r| Some((r, r.begin_at.zip(r.end_at)?))).collect();
        if spans.is_empty() || spans.iter().any(|(_, (first, last))| begin <= *last && end >= *first) {
            return Ok(());
        }
        let shown = |ticks| format_duration(ticks, self.time_scale());
        let lasts = spans.iter().map(|(r, (first, last))| {
            format!("recording '{}' lasts from {} to {}", r.name, shown(*first), shown(*last))
        });
        Err(Error::usage("the window lies outside the recording").hint(lasts.collect::<Vec<_>>().join("; ")))
    }

    /// The files of a table, of one recording or of all, in order.
    pub fn files(&self, table: &TableSpec, recording: Option<&str>) -> Vec<FileEntry> {
        self.manifest.files_of(table, recording).cloned().collect()
    }

    /// Whether a recording has rows of a table.
    pub fn has(&self, table: &TableSpec, recording: &str) -> bool {
        self.manifest.files_of(table, Some(recording)).next().is_some()
    }

    /// Where a file lies now. Ask shortly before opening it: a commit may just be moving it into place.
    pub fn path_of(&self, file: &FileEntry) -> PathBuf {
        self.place(&file.path, file.staged.as_deref())
    }

    /// Staged files win: the place of a blob can still hold the one that it replaces.
    pub(super) fn place(&self, path: &str, staged: Option<&str>) -> PathBuf {
        let staged = staged.map(|s| self.root.join(s)).filter(|s| s.exists());
        staged.unwrap_or_else(|| self.root.join(path))
    }
}
