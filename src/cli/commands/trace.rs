//! What `check` and `compare` are given: a database, a recording of one (`engine.db:idle`), or a trace file, which is
//! read into a database of its own for as long as the command runs.

use super::super::args::Limits;
use super::super::signals;
use super::{parse, query};
use crate::description::{Description, plan};
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::export::Selection;
use crate::library::Queries;
use crate::ops::Control;
use crate::ops::ingest::{Options, ingest};
use crate::store::RealDisk;
use crate::time::TimeScale;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// An opened trace.
pub(super) struct Trace {
    pub session: Session,
    /// Names of the recordings that are meant.
    pub recordings: Vec<String>,
    _folder: Option<TempDir>,
}

/// Opens what the user named. `scale` is the time scale of a database that is made for a file; that of the file itself
/// when it is `None`, and nanoseconds at least.
pub(super) fn open(
    name: &str,
    scale: Option<TimeScale>,
    limits: &Limits,
    control: &Arc<Control>,
) -> Result<Trace> {
    open_with(name, scale, limits, &Queries::shipped(), control)
}

/// The same with a library of SQL.
pub(super) fn open_with(
    name: &str,
    scale: Option<TimeScale>,
    limits: &Limits,
    queries: &Arc<Queries>,
    control: &Arc<Control>,
) -> Result<Trace> {
    let is_database = |path: &Path| path.join("manifest.json").is_file();
    let (path, recording) = match name.rsplit_once(':') {
        Some((path, recording)) if !Path::new(name).exists() => (path, Some(recording.to_owned())),
        _ => (name, None),
    };
    let path = Path::new(path);
    if path.is_file() {
        let folder = TempDir::new().map_err(|e| Error::io("make a temporary folder for", path, e))?;
        let database = folder.path().join("trace.db");
        let plans = plan(&[path.to_owned()], &Description::default(), true)?;
        let options =
            Options { time_scale: scale, threads: parse::threads(limits), hash: false, ..Options::default() };
        let recordings = plans.iter().map(|p| p.name.clone()).collect();
        ingest(Arc::new(RealDisk), &database, &plans, &options, control)?;
        let session = query::open_with(&database, limits, Arc::clone(queries))?;
        let session = session.with_interrupt(control.flag_shared());
        return Ok(Trace { session, recordings, _folder: Some(folder) });
    }
    if !is_database(path) && path.is_dir() {
        return Err(Error::usage(format!("'{name}' is neither a database nor a trace file"))
            .hint("a recording of exports is ingested first: btfdb ingest my.db RECORDING"));
    }
    let session = query::open_with(path, limits, Arc::clone(queries))?;
    let session = session.with_interrupt(control.flag_shared());
    let recordings = match recording {
        Some(one) => vec![Selection { recording: Some(one), ..Selection::default() }.recording(&session)?],
        None => session.database().recordings().iter().map(|r| r.name.clone()).collect(),
    };
    Ok(Trace { session, recordings, _folder: None })
}

/// Two traces that count time in the same unit, the finer of both: a file is read again for that.
pub(super) fn in_one_scale(
    (a_name, a): (&str, Trace),
    (b_name, b): (&str, Trace),
    limits: &Limits,
    control: &Arc<Control>,
) -> Result<(Trace, Trace)> {
    let (of_a, of_b) = (a.session.database().time_scale(), b.session.database().time_scale());
    if of_a == of_b {
        Ok((a, b))
    } else if a.is_file() && (of_b.decimals() > of_a.decimals() || !b.is_file()) {
        Ok((open(a_name, Some(of_b), limits, control)?, b))
    } else if b.is_file() {
        Ok((a, open(b_name, Some(of_a), limits, control)?))
    } else {
        Ok((a, b))
    }
}

impl Trace {
    fn is_file(&self) -> bool {
        self._folder.is_some()
    }

    /// The one recording that is meant.
    pub fn one(&self, name: &str) -> Result<&str> {
        match self.recordings.as_slice() {
            [one] => Ok(one),
            [] => Err(Error::usage(format!("'{name}' holds no recording"))),
            several => Err(Error::usage(format!("'{name}' holds {} recordings", several.len()))
                .hint(format!("name one, e.g. {name}:{}", several.first().map_or("", String::as_str)))),
        }
    }
}

/// A control that Ctrl-C cancels.
pub(super) fn control() -> Arc<Control> {
    signals::control()
}
