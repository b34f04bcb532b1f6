//! Differences between two summaries of metrics, for regression gates. Not for what a metric is.

use super::evaluate::summaries;
use super::filter::MetricFilter;
use crate::engine::Session;
use crate::error::Result;
use crate::schema::result::{self, Fractions, Texts};
use arrow::array::RecordBatch;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The statistics that are compared.
pub const COMPARED: [&str; 7] = ["count", "min", "avg", "max", "p50", "p95", "p99"];

/// A statistic of a metric and entity on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricDelta {
    /// Name of the metric.
    pub metric: String,
    /// The entity it is of.
    pub entity: String,
    /// Its type, as in `process_instance`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its core, if the metric is per core.
    pub core: Option<String>,
    /// One of [`COMPARED`].
    pub statistic: &'static str,
    /// In the unit of the metric; `None` if the side has no such row.
    pub left: Option<f64>,
    /// The same of the other side.
    pub right: Option<f64>,
    /// `right - left`, as a share of `left` in percent; `None` if a side is missing or `left` is 0.
    pub percent: Option<f64>,
    /// Beyond the threshold.
    pub beyond: bool,
}

/// The result of a comparison of metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MetricComparison {
    /// The verdict: no statistic is beyond the threshold.
    pub equal: bool,
    /// No statistic is beyond the threshold, but nothing was compared, or an input was not read as a whole.
    /// Not `equal`.
    pub undecided: bool,
    /// Statistics that were compared: those of every metric and entity that has a sample on one side at
    /// least.
    pub compared: u64,
    /// Metrics that were asked for, and that have no samples on either side.
    pub without_samples: Vec<String>,
    /// The statistics that differ.
    pub differing: Vec<MetricDelta>,
}

type Key = (String, String, String, Option<String>);

/// Compares the metrics `names` (all if empty) of a recording on each side. A statistic is `beyond` if it
/// differs by more than `threshold` percent in any direction, or if one side does not have it. Statistics
/// that are equal are counted only.
pub fn compare_metrics(
    left: (&Session, &str),
    right: (&Session, &str),
    names: &[String],
    threshold: f64,
) -> Result<MetricComparison> {
    let asked = names.iter().map(|name| Ok(left.0.queries().metric(name)?.name.clone()));
    let asked = asked.collect::<Result<Vec<String>>>()?;
    let side = |(session, recording): (&Session, &str)| -> Result<BTreeMap<Key, Vec<Option<f64>>>> {
        let filter = MetricFilter { recording: Some(recording.to_owned()), ..MetricFilter::default() };
        rows(&summaries(session, names, &filter)?)
    };
    let (left, right) = (side(left)?, side(right)?);
    let mut keys: Vec<&Key> = left.keys().chain(right.keys()).collect();
    keys.sort();
    keys.dedup();
    let (mut differing, mut compared, mut sampled) = (Vec::new(), 0, BTreeSet::new());
    for key in keys {
        // The first statistic is the number of samples.
        let has_samples = |side: &BTreeMap<Key, Vec<Option<f64>>>| {
            side.get(key).and_then(|v| v.first().copied().flatten()).is_some_and(|count| count > 0.0)
        };
        if has_samples(&left) || has_samples(&right) {
            compared += COMPARED.len() as u64;
            sampled.insert(key.0.as_str());
        }
        for (n, statistic) in COMPARED.iter().enumerate() {
            let of = |side: &BTreeMap<Key, Vec<Option<f64>>>| {
                side.get(key).and_then(|v| v.get(n).copied().flatten())
            };
            let (a, b) = (of(&left), of(&right));
            if a == b {
                continue;
            }
            let percent = a.zip(b).filter(|(a, _)| *a != 0.0).map(|(a, b)| (b - a) / a.abs() * 100.0);
            let beyond = percent.is_none_or(|p| p.abs() > threshold);
            let (metric, entity, kind, core) = key.clone();
            differing.push(MetricDelta {
                metric,
                entity,
                kind,
                core,
                statistic,
                left: a,
                right: b,
                percent,
                beyond,
            });
        }
    }
    let mut without_samples = asked;
    without_samples.retain(|name| !sampled.contains(name.as_str()));
    without_samples.dedup();
    let equal = differing.iter().all(|delta: &MetricDelta| !delta.beyond);
    Ok(MetricComparison { equal, undecided: false, compared, without_samples, differing })
}

fn rows(batch: &RecordBatch) -> Result<BTreeMap<Key, Vec<Option<f64>>>> {
    let text = |name| result::column::<Texts>(batch, name);
    let (metric, entity, kind, core) = (text("metric")?, text("entity")?, text("type")?, text("core")?);
    let numbers = COMPARED.iter().map(|name| result::column::<Fractions>(batch, name));
    let numbers = numbers.collect::<Result<Vec<_>>>()?;
    let row = |n: usize| {
        let core = core.get(n).map(str::to_owned);
        let key = (metric.value(n).to_owned(), entity.value(n).to_owned(), kind.value(n).to_owned(), core);
        (key, numbers.iter().map(|column| column.get(n)).collect())
    };
    Ok((0..batch.num_rows()).map(row).collect())
}
