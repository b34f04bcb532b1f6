//! `check` of the recordings of a cluster, as one process does it. Not the rules.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::ask::Fleet;
use super::task::Work;
use crate::btf::spec::Version;
use crate::check::Report;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::check::check;
use crate::ops::open::Trace;
use crate::schema::result::{Texts, column};

fn schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    Arc::new(Schema::new(vec![text("recording"), text("report")]))
}

/// As [`check`].
///
/// # Errors
/// The same; when the cluster is not there, or fails.
pub(crate) fn rules(fleet: &Fleet<'_>, version: Option<Version>) -> Result<Vec<(String, Report)>> {
    let work = Work::Rules { version: version.map(|version| version.as_str().to_owned()) };
    let mut reports = Vec::new();
    for batch in fleet.run_in_order(work, &schema())? {
        let (names, texts): (Texts, Texts) = (column(&batch, "recording")?, column(&batch, "report")?);
        for row in 0..batch.num_rows() {
            let report = serde_json::from_str(texts.value(row)).map_err(bug)?;
            reports.push((names.value(row).to_owned(), report));
        }
    }
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
    let (mut names, mut texts) = (Vec::new(), Vec::new());
    for (name, report) in check(trace, version.and_then(Version::parse))? {
        names.push(name);
        texts.push(serde_json::to_string(&report).map_err(bug)?);
    }
    let columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(names)), Arc::new(StringArray::from(texts))];
    let batch = RecordBatch::try_new(schema(), columns);
    rows(batch.map_err(|e| Error::new(ErrorKind::Bug, "reports do not fit their columns").because(e))?);
    Ok(())
}

fn bug(e: serde_json::Error) -> Error {
    Error::new(ErrorKind::Bug, "a report of an executor cannot be read").because(e)
}
