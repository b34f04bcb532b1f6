//! Metrics of the recordings of a cluster, as one process gives them. Not their computation.

use arrow::array::RecordBatch;

use super::ask::Fleet;
use super::task::Work;
use crate::error::Result;
use crate::metrics::passed::{Gathered, SAMPLE_KEYS, merged, samples_schema, summary_schema};
use crate::metrics::{Asked, Histogram, MetricFilter};

/// As [`crate::metrics::summaries`].
///
/// # Errors
/// The same; when the cluster is not there, or fails.
pub(crate) fn summaries(fleet: &Fleet<'_>, names: &[String], filter: &MetricFilter) -> Result<RecordBatch> {
    let session = fleet.session;
    let asked = asked(fleet, filter)?;
    let schema = summary_schema(filter)?;
    let mut parts = Vec::new();
    let metrics = || names.to_vec();
    let (work, of_work, then) = match filter.across {
        None => (Work::Summaries { metrics: metrics(), filter: asked.filter.clone() }, &schema, None),
        // Statistics of samples are made where all samples of a line are.
        Some(_) => {
            let then = Work::Together { metrics: metrics(), filter: asked.filter.clone() };
            (samples(names, &asked), &samples_schema(), Some((then, &SAMPLE_KEYS[..], &schema)))
        }
    };
    fleet.run_in_steps((work, of_work), then, |batch| {
        parts.push(batch);
        Ok(())
    })?;
    let all = merged(session.queries(), names, filter, &schema, &parts)?;
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
    let asked = asked(fleet, &MetricFilter { windows: None, ..filter.clone() })?;
    let mut gathered = Gathered::new(fleet.session.queries(), names)?;
    fleet.run(samples(names, &asked), &samples_schema(), |batch| gathered.add(&batch))?;
    gathered.histograms(fleet.session, &asked)
}

/// The samples of each recording.
fn samples(names: &[String], asked: &Asked) -> Work {
    Work::Samples { metrics: names.to_vec(), filter: MetricFilter { across: None, ..asked.filter.clone() } }
}

/// Names are looked up in all recordings: by the cluster.
fn asked(fleet: &Fleet<'_>, filter: &MetricFilter) -> Result<Asked> {
    match filter.entity {
        Some(_) => Asked::new(&fleet.statements()?, filter),
        None => Asked::new(fleet.session, filter),
    }
}
