//! `metrics`: tables and histograms of metrics, and the measurement table of Grasp. Not their computation.

use crate::engine::Session;
use crate::error::{Error, Result};
use crate::metrics::{self, Histogram, MEASUREMENT, MetricFilter};
use crate::time::TimeScale;
use arrow::array::RecordBatch;

pub fn is_measurement(name: &str) -> bool {
    name.eq_ignore_ascii_case(MEASUREMENT)
}

/// The statistics of metrics in ticks or in `unit`, all of them if `names` is empty; or the measurement table
/// of Grasp, which cannot be combined. Fails with [`crate::error::ErrorKind::Usage`] when there is no such
/// metric, or when the measurement table is combined with metrics or windows; those of a query.
pub fn table(
    session: &Session,
    names: &[String],
    filter: &MetricFilter,
    unit: Option<TimeScale>,
) -> Result<RecordBatch> {
    if !names.iter().any(|name| is_measurement(name)) {
        let rows = metrics::summaries(session, names, filter)?;
        return match unit {
            Some(unit) => metrics::in_unit(&rows, session.database().time_scale(), unit),
            None => Ok(rows),
        };
    }
    check_measurement(names, filter.windows.is_some() || filter.across.is_some())?;
    metrics::measurement(session, filter, unit)
}

/// The distribution of the samples of metrics. Fails with [`crate::error::ErrorKind::Usage`] when there is no
/// such metric, and for the measurement table; those of a query.
pub fn histograms(session: &Session, names: &[String], filter: &MetricFilter) -> Result<Vec<Histogram>> {
    if names.iter().any(|name| is_measurement(name)) {
        check_measurement(names, true)?;
    }
    metrics::histograms(session, names, filter)
}

fn check_measurement(names: &[String], parts: bool) -> Result<()> {
    if names.len() > 1 {
        return Err(Error::usage(format!("{MEASUREMENT} is a table of its own, without other metrics")));
    }
    if parts {
        return Err(Error::usage(format!(
            "{MEASUREMENT} has neither windows nor histograms, and is of each recording by itself"
        ))
        .hint("the metrics NetExecutionTime and ResponseTime have"));
    }
    Ok(())
}
