//! `check` of the recordings of a cluster, as one process does it. Not the rules.

use arrow::array::RecordBatch;

use super::ask::Fleet;
use super::task::Work;
use super::texts;
use crate::btf::spec::Version;
use crate::check::Report;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::check::check;
use crate::ops::open::Trace;

/// As [`check`].
///
/// # Errors
/// The same; when the cluster is not there, or fails.
pub(crate) fn rules(fleet: &Fleet<'_>, version: Option<Version>) -> Result<Vec<(String, Report)>> {
    let work = Work::Rules { version: version.map(|version| version.as_str().to_owned()) };
    let reports: Vec<(String, Report)> = texts::gathered(fleet, work)?;
    let recordings = fleet.session.database().recordings()?;
    if !reports.iter().map(|(name, _)| name).eq(recordings.iter().map(|recording| &recording.name)) {
        let what = format!("{} reports came for {} recordings", reports.len(), recordings.len());
        return Err(Error::new(ErrorKind::Bug, what));
    }
    Ok(reports)
}

/// The work of an executor.
pub(super) fn check_all(
    trace: &Trace,
    version: Option<&str>,
    rows: &mut dyn FnMut(RecordBatch) -> bool,
) -> Result<()> {
    rows(texts::passed(&check(trace, version.and_then(Version::parse))?)?);
    Ok(())
}
