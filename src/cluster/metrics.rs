//! Metrics of the recordings of a cluster, as one process gives them. Not their computation.

use arrow::array::RecordBatch;

use super::ask::Fleet;
use super::task::Work;
use crate::error::Result;
use crate::metrics::passed::{Gathered, merged, samples_schema, summary_schema};
use crate::metrics::{Asked, Histogram, MetricFilter};

/// As [`crate::metrics::summaries`].
///
/// # Errors
/// The same; when the cluster is not there, or fails.
pub(crate) fn summaries(fleet: &Fleet<'_>, names: &[String], filter: &MetricFilter) -> Result<RecordBatch> {
    let (session, queries) = (fleet.session, fleet.session.queries());
    let asked = Asked::new(session, filter)?;
    if filter.across.is_some() {
        return gathered(fleet, names, &asked)?.summary(session, &asked);
    }
    let schema = summary_schema(filter)?;
    let mut parts = Vec::new();
    let work = Work::Summaries { metrics: names.to_vec(), filter: asked.filter.clone() };
    fleet.run(work, &schema, |batch| {
        parts.push(batch);
        Ok(())
    })?;
    let all = merged(queries, names, &schema, &parts)?;
    asked.check_rows(session, &all)?;
    Ok(all)
}

/// As [`crate::metrics::histograms`].
///
/// # Errors
/// The same; when the cluster is not there, or fails.
pub(crate) fn histograms(
    fleet: &Fleet<'_>,
    names: &[String],
    filter: &MetricFilter,
) -> Result<Vec<Histogram>> {
    let asked = Asked::new(fleet.session, &MetricFilter { windows: None, ..filter.clone() })?;
    gathered(fleet, names, &asked)?.histograms(fleet.session, &asked)
}

fn gathered<'a>(fleet: &Fleet<'a>, names: &[String], asked: &Asked) -> Result<Gathered<'a>> {
    let mut gathered = Gathered::new(fleet.session.queries(), names)?;
    // The executors give the samples of each recording.
    let filter = MetricFilter { across: None, ..asked.filter.clone() };
    let work = Work::Samples { metrics: names.to_vec(), filter };
    fleet.run(work, &samples_schema(), |batch| gathered.add(&batch))?;
    Ok(gathered)
}
