//! A database as a reader sees it: one state that does not change. Not for writing (see
//! `transaction`).

use std::path::Path;
use std::sync::Arc;

use super::layout::{self, LOG, TIP};
use super::location::Location;
use super::log::{Snapshot, files_of_log};
#[cfg(feature = "engine")]
use super::open_files::OpenFiles;
use super::place::Place;
use super::recording::{FileEntry, Recording};
use crate::error::{Error, Result};
use crate::schema::TableSpec;
use crate::time::{TimeScale, check_order, format_duration};

/// A snapshot of a database. Readers take no lock and never wait. What is removed or replaced meanwhile stays
/// readable until [`super::vacuum()`] deletes it; a reader never gets the rows of another state. Opening
/// reads little, however many recordings there are: each is looked up when it is asked for.
#[derive(Debug, Clone)]
pub struct Database {
    location: Location,
    snapshot: Arc<Snapshot>,
    #[cfg(feature = "engine")]
    open_files: Arc<OpenFiles>,
}

impl Database {
    /// Opens a database to read it.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Database`] when there is none, or it is of another version, or damaged.
    pub fn open(at: impl Into<Location>) -> Result<Self> {
        let location = at.into();
        match Snapshot::open(&location)? {
            Some(snapshot) => Ok(Self::of(location, Arc::new(snapshot))),
            None => Err(none_at(&location)),
        }
    }

    /// Opens a database as it was after so many commits.
    ///
    /// # Errors
    /// As [`Database::open`]; when that part of the log is gone.
    #[cfg(feature = "cluster")]
    pub(crate) fn open_at(at: impl Into<Location>, generation: u64) -> Result<Self> {
        let location = at.into();
        let snapshot = Snapshot::at(&location, generation)?;
        Ok(Self::of(location, Arc::new(snapshot)))
    }

    pub(super) fn of(location: Location, snapshot: Arc<Snapshot>) -> Self {
        Self {
            #[cfg(feature = "engine")]
            open_files: Arc::new(OpenFiles::new(location.clone())),
            location,
            snapshot,
        }
    }

    /// The same state with some of its recordings only.
    #[must_use]
    pub fn only(&self, recordings: Vec<Arc<Recording>>) -> Self {
        let snapshot = Arc::new(self.snapshot.only(recordings));
        Self { snapshot, ..self.clone() }
    }

    /// Whether there is a database at a location.
    ///
    /// # Errors
    /// When the place cannot be read: there may be one.
    pub fn is_at(at: impl Into<Location>) -> Result<bool> {
        let location = at.into();
        Ok(location.place(TIP).exists()? || !files_of_log(&location)?.is_empty())
    }

    /// Where it is.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Number of commits so far.
    pub fn generation(&self) -> u64 {
        self.snapshot.head().number
    }

    /// Whether there has been a commit since: asks for one file.
    ///
    /// # Errors
    /// When the place cannot be read.
    pub fn is_outdated(&self) -> Result<bool> {
        self.location.place(&layout::commit(self.generation() + 1)).exists()
    }

    /// Program that made the last commit, with its version.
    pub fn creator(&self) -> &str {
        &self.snapshot.head().creator
    }

    /// Unit of every tick in the database.
    pub fn time_scale(&self) -> TimeScale {
        self.snapshot.head().time_scale
    }

    /// Number of recordings.
    pub fn count(&self) -> u64 {
        self.snapshot.head().recordings
    }

    /// Number of rows of a table, in all recordings.
    pub fn rows(&self, table: &TableSpec) -> u64 {
        self.snapshot.head().rows.get(table.name).copied().unwrap_or(0)
    }

    /// The recording of that name. Reads the part of the log that can have it.
    ///
    /// # Errors
    /// When the log cannot be read, or is damaged.
    pub fn recording(&self, name: &str) -> Result<Option<Arc<Recording>>> {
        self.snapshot.recording(name)
    }

    /// Those of some names that there are, in the order in which they came. Reads only the part of the log
    /// that can have them.
    ///
    /// # Errors
    /// When the log cannot be read, or is damaged.
    pub fn named(&self, names: &[&str]) -> Result<Vec<Arc<Recording>>> {
        self.snapshot.named(names)
    }

    /// All recordings, in the order in which they came. Reads the whole log, once: ask for one recording
    /// where one is enough.
    ///
    /// # Errors
    /// When the log cannot be read, or is damaged.
    pub fn recordings(&self) -> Result<&[Arc<Recording>]> {
        self.snapshot.recordings()
    }

    /// Names of recordings that begin with `prefix`, in order, `max` at most. Reads only the part of the log
    /// that can have them.
    ///
    /// # Errors
    /// When the log cannot be read, or is damaged.
    pub fn names(&self, prefix: &str, max: usize) -> Result<Vec<String>> {
        self.snapshot.names(prefix, max)
    }

    /// Fails if `recording` is not in the database.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`], with a suggestion.
    pub fn check_recording(&self, recording: Option<&str>) -> Result<()> {
        let Some(name) = recording else { return Ok(()) };
        if self.recording(name)?.is_some() {
            return Ok(());
        }
        let names = self.recordings()?.iter().map(|r| r.name.as_str());
        let error = Error::usage(format!("there is no recording '{name}'"));
        Err(error.hint_near(name, names, |all| format!("the recordings are: {all}")))
    }

    /// Fails if a window of time, from `from` to before `to` in ticks, has no instant of a recording, or of
    /// any recording.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when it does not end after it begins, or lies outside.
    pub fn check_window(&self, recording: Option<&str>, from: Option<i64>, to: Option<i64>) -> Result<()> {
        check_order(from, to).map_err(Error::usage)?;
        if from.is_none() && to.is_none() {
            return Ok(());
        }
        let (begin, end) = (from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX));
        let wanted = self.some_recordings(recording)?;
        let spans: Vec<_> = wanted.iter().filter_map(|r| Some((r, r.begin_at.zip(r.end_at)?))).collect();
        if spans.is_empty() || spans.iter().any(|(_, (first, last))| begin <= *last && end >= *first) {
            return Ok(());
        }
        let shown = |ticks| format_duration(ticks, self.time_scale());
        let lasts = spans.iter().map(|(r, (first, last))| {
            format!("recording '{}' lasts from {} to {}", r.name, shown(*first), shown(*last))
        });
        Err(Error::usage("the window lies outside the recording").hint(lasts.collect::<Vec<_>>().join("; ")))
    }

    /// The recording of that name, if there is one, or all.
    fn some_recordings(&self, name: Option<&str>) -> Result<Vec<Arc<Recording>>> {
        match name {
            Some(name) => Ok(self.recording(name)?.into_iter().collect()),
            None => Ok(self.recordings()?.to_vec()),
        }
    }

    /// The files of a table, of one recording or of all, by recording and core.
    ///
    /// # Errors
    /// When the log cannot be read, or is damaged.
    pub fn files(&self, table: &TableSpec, recording: Option<&str>) -> Result<Vec<FileEntry>> {
        let mut owners = self.some_recordings(recording)?;
        owners.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(owners.iter().flat_map(|owner| owner.files_of(table)).cloned().collect())
    }

    /// Whether a recording, or any of them, has rows of a table.
    ///
    /// # Errors
    /// When the log cannot be read, or is damaged.
    pub fn has<'a>(&self, table: &TableSpec, recording: impl Into<Option<&'a str>>) -> Result<bool> {
        match recording.into() {
            Some(name) => Ok(self.recording(name)?.is_some_and(|owner| owner.has(table))),
            None => Ok(self.rows(table) > 0),
        }
    }

    /// Where a file lies now. Ask shortly before opening it: a commit may take it out of its place.
    pub fn place_of(&self, file: &FileEntry) -> Place {
        self.location.place_now(&file.path).sealed(file.seal())
    }

    /// The files that scans of SQL read.
    #[cfg(feature = "engine")]
    pub(crate) fn open_files(&self) -> &OpenFiles {
        &self.open_files
    }
}

/// Says why there is no database at a location.
pub(super) fn none_at(location: &Location) -> Error {
    let Some(path) = location.folder() else {
        return Error::database(format!("there is no database at '{location}'"))
            .hint(format!("a database has a folder {LOG}; `btfdb ingest` makes one"));
    };
    let shown = path.display();
    if path.join("manifest.json").is_file() {
        return Error::database("the database has a format before 6, and this btfdb reads format 7")
            .at(path)
            .hint("use the older btfdb that wrote it, or ingest the recordings again");
    }
    if path.is_dir() {
        return Error::database(format!("'{shown}' is not a btfdb database"))
            .hint(format!("a database is a folder with a folder {LOG}; `btfdb ingest` makes one"));
    }
    let what = if path.exists() { "is a file, not a database" } else { "does not exist" };
    let error = Error::database(format!("'{shown}' {what}"));
    // Some commands take one recording like this.
    let one = path.to_str().and_then(|text| text.rsplit_once(':'));
    match one.filter(|(database, _)| Path::new(database).join(LOG).is_dir()) {
        Some((database, recording)) => error.hint(format!(
            "'{database}' is one; here, its recordings are chosen with an option: {database} --recording {recording}"
        )),
        None => error.hint("`btfdb ingest DB INPUT...` makes a database"),
    }
}
