//! Opens a trace by its name: a database, one recording of it (`engine.db:idle`), or a trace file, which is
//! read into a temporary database. Not for what is then done with it.

use super::Control;
use super::archive::Unpacked;
use super::choice::Choice;
use super::ingest::ingest;
use super::ingest_options::Options;
use super::made::operations;
use crate::description::{Description, plan};
use crate::engine::{Session, SessionOptions};
use crate::error::{Error, Result};
use crate::library::Queries;
use crate::store::{Database, Location, RealDisk, Remote, is_url};
use crate::time::TimeScale;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Options for opening traces.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Time scale of the database for a file; `None`: that of the file, at least nanoseconds.
    pub time_scale: Option<TimeScale>,
    /// Which recordings of a database, or of an archive.
    pub choice: Choice,
    /// How object stores are reached.
    pub remote: Remote,
    /// Limits of the session.
    pub session: SessionOptions,
    /// The library of SQL.
    pub queries: Arc<Queries>,
}

/// An opened trace.
pub struct Trace {
    /// The name it was opened by.
    pub name: String,
    /// Its database.
    pub session: Session,
    /// Names of the selected recordings.
    pub recordings: Vec<String>,
    /// The folder of a temporary database; removed with this value.
    temporary: Option<TempDir>,
}

impl Trace {
    /// Opens what the user named. `control` cancels reading a file and the statements of the session.
    ///
    /// # Errors
    /// When there is no such database, recording or file; those of an ingest.
    pub fn open(name: &str, options: &OpenOptions, control: &Arc<Control>) -> Result<Self> {
        let (path, recording) = match name.rsplit_once(':') {
            Some((path, recording)) if is_recording(name, recording) => (path, Some(recording)),
            _ => (name, None),
        };
        let location = Location::parse(path.as_ref(), &options.remote)?;
        let path = Path::new(path);
        if path.is_file() {
            return Self::of_file(name, path, options, control);
        }
        if path.is_dir() && !Database::is_at(path)? {
            return Err(Error::usage(format!("'{name}' is neither a database nor a trace file"))
                .hint("a recording of exports is ingested first: btfdb ingest my.db RECORDING"));
        }
        let database = options.choice.of(Database::open(location)?)?;
        let session = session(database, options, control)?;
        let recordings = match recording {
            Some(recording) => {
                session.database().check_recording(Some(recording))?;
                vec![recording.to_owned()]
            }
            None => session.database().recordings()?.iter().map(|r| r.name.clone()).collect(),
        };
        Ok(Self { name: name.to_owned(), session, recordings, temporary: None })
    }

    /// Recordings of a session.
    #[cfg(feature = "cluster")]
    pub(crate) fn of_session(session: Session, recordings: Vec<String>) -> Self {
        Self { name: session.database().location().to_string(), session, recordings, temporary: None }
    }

    fn of_file(name: &str, path: &Path, options: &OpenOptions, control: &Arc<Control>) -> Result<Self> {
        let folder = TempDir::new().map_err(|e| Error::io("make a temporary folder for", path, e))?;
        let database = folder.path().join("trace.db");
        let ingesting = Options::default();
        let unpacked = Unpacked::of(&[path.to_owned()], ingesting.max_unpacked, control)?;
        let plans = unpacked.plans(|inputs| plan(inputs, &Description::default(), &[]))?;
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = options.session.threads.unwrap_or_else(all);
        let ingesting = Options { time_scale: options.time_scale, threads, digest: false, ..ingesting };
        ingest(Arc::new(RealDisk), &database, &plans, &ingesting, control)?;
        let session = session(options.choice.of(Database::open(&database)?)?, options, control)?;
        let chosen = session.database().recordings()?;
        let names = plans.iter().map(|plan| plan.name.clone());
        let recordings = names.filter(|name| chosen.iter().any(|chosen| chosen.name == *name)).collect();
        Ok(Self { name: name.to_owned(), session, recordings, temporary: Some(folder) })
    }

    /// Opens two traces with the same unit of time, the finer of both: if need be, a file is read again.
    ///
    /// # Errors
    /// Those of [`Trace::open`]; [`crate::error::ErrorKind::Usage`] when both are databases with different
    /// units.
    pub fn open_two(a: &str, b: &str, options: &OpenOptions, control: &Arc<Control>) -> Result<(Self, Self)> {
        let (mut a, mut b) = (Self::open(a, options, control)?, Self::open(b, options, control)?);
        let (of_a, of_b) = (a.time_scale(), b.time_scale());
        let in_scale = |scale| OpenOptions { time_scale: Some(scale), ..options.clone() };
        if of_a != of_b {
            if a.is_file() && (of_b.decimals() > of_a.decimals() || !b.is_file()) {
                a = Self::open(&a.name, &in_scale(of_b), control)?;
            } else if b.is_file() {
                b = Self::open(&b.name, &in_scale(of_a), control)?;
            }
        }
        Ok((a, b))
    }

    fn is_file(&self) -> bool {
        self.temporary.is_some()
    }

    /// Fails for anything but the recordings of a database: a cluster cannot see a file of this machine, and
    /// chooses recordings by options.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`].
    pub fn check_whole_database(&self) -> Result<()> {
        let all = usize::try_from(self.session.database().count()).ok();
        if !self.is_file() && all == Some(self.recordings.len()) {
            return Ok(());
        }
        Err(Error::usage(format!("a cluster works on a database, and '{}' is something else", self.name))
            .hint("choose recordings with --recording"))
    }

    /// The unit of its ticks.
    pub fn time_scale(&self) -> TimeScale {
        self.session.database().time_scale()
    }

    /// The only selected recording.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when there is none or several.
    pub fn one(&self) -> Result<&str> {
        let name = &self.name;
        match self.recordings.as_slice() {
            [one] => Ok(one),
            [] => Err(Error::usage(format!("'{name}' holds no recording"))),
            [first, ..] => {
                let count = self.recordings.len();
                Err(Error::usage(format!("'{name}' holds {count} recordings"))
                    .hint(format!("name one, e.g. {name}:{first}")))
            }
        }
    }
}

/// Whether a name ends with that of a recording, behind a colon.
fn is_recording(name: &str, behind_colon: &str) -> bool {
    match is_url(name) {
        true => !behind_colon.contains('/'),
        false => !Path::new(name).exists(),
    }
}

fn session(database: Database, options: &OpenOptions, control: &Control) -> Result<Session> {
    let session = Session::open_with(database, options.session, Arc::clone(&options.queries))?;
    Ok(session.with_interrupt(control.flag_shared()).with_operations(operations()))
}
