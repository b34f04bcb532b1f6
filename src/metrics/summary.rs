//! Lines of a summary of metrics, and of histograms, as columns. Not for their content.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Field, Float64Type, Schema};

use super::across::{Across, Origin};
use super::filter::MetricFilter;
use super::histogram::Bin;
use super::samples::Key;
use super::statistics::Statistics;
use crate::error::{Error, ErrorKind, Result};
use crate::library::{Metric, Unit};
use crate::render::{InUnit, shifted};
use crate::time::TimeScale;

pub(super) struct Line<'a> {
    pub metric: &'a Metric,
    pub key: Key,
    pub statistics: Statistics,
    /// Empty unless a histogram is requested.
    pub bins: Vec<Bin>,
    /// If it is of several recordings as one.
    pub origin: Option<Box<Origin>>,
}

/// Which columns a summary has besides those of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub windows: bool,
    /// `below` and `above`.
    pub bounds: bool,
    /// Several recordings as one.
    pub across: bool,
    /// By the value of a label.
    pub by_label: bool,
}

impl Shape {
    pub fn of(filter: &MetricFilter, bounds: bool) -> Self {
        let by_label = matches!(filter.across, Some(Across::Label(_)));
        Self { windows: filter.windows.is_some(), bounds, across: filter.across.is_some(), by_label }
    }
}

/// The distribution of the samples of an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Name of the recording.
    pub recording: String,
    /// Name of the metric.
    pub metric: String,
    /// The entity it is of.
    pub entity: String,
    /// Its type, as in `process_instance`; `C` is a core.
    pub kind: String,
    /// As in a summary.
    pub core: Option<String>,
    /// The unit of samples and bounds of bins.
    pub unit: Unit,
    /// Number of samples.
    pub count: i64,
    /// Least sample.
    pub min: Option<f64>,
    /// The sample in the middle.
    pub p50: Option<f64>,
    /// Greatest sample.
    pub max: Option<f64>,
    /// From the least sample to the greatest, with empty bins in between.
    pub bins: Vec<Bin>,
}

impl Line<'_> {
    pub fn into_histogram(self) -> Histogram {
        let Key { recording, entity, ty, core, .. } = self.key;
        let Statistics { count, min, p50, max, .. } = self.statistics;
        let (metric, unit) = (self.metric.name.clone(), self.metric.unit);
        let [recording, entity, kind] = [recording, entity, ty].map(|name| name.to_string());
        let core = core.map(|core| core.to_string());
        Histogram { recording, metric, entity, kind, core, unit, count, min, p50, max, bins: self.bins }
    }
}

/// Name and values of a column, and whether some may be NULL.
type Column = (&'static str, ArrayRef, bool);

fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn integers(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

fn batch(columns: Vec<Column>) -> Result<RecordBatch> {
    let fields: Vec<_> = columns
        .iter()
        .map(|(name, values, null)| Field::new(*name, values.data_type().clone(), *null))
        .collect();
    let values = columns.into_iter().map(|(_, values, _)| values).collect();
    let bug = |e| Error::new(ErrorKind::Bug, "the summary does not fit its columns").because(e);
    RecordBatch::try_new(Arc::new(Schema::new(fields)), values).map_err(bug)
}

/// One row per line.
pub(super) fn summary(lines: &[Line<'_>], shape: Shape) -> Result<RecordBatch> {
    let name = |get: for<'a> fn(&'a Line<'_>) -> &'a str| texts(lines.iter().map(|l| Some(get(l))));
    let integer = |get: fn(&Statistics) -> Option<i64>| integers(lines.iter().map(|l| get(&l.statistics)));
    let number = |get: fn(&Statistics) -> Option<f64>| numbers(lines.iter().map(|l| get(&l.statistics)));
    let window = |get: fn((i64, i64)) -> i64| integers(lines.iter().map(|l| l.key.window.map(get)));
    let origin =
        |get: fn(&Origin) -> Option<&str>| texts(lines.iter().map(|l| l.origin.as_deref().and_then(get)));
    let mut columns = match (shape.across, shape.by_label) {
        (false, _) => vec![("recording", name(|l| &l.key.recording), false)],
        (true, true) => vec![("label", name(|l| &l.key.recording), false)],
        (true, false) => Vec::new(),
    };
    if shape.across {
        let count = |l: &Line<'_>| i64::try_from(l.origin.as_deref()?.recordings.len()).ok();
        columns.push(("recordings", integers(lines.iter().map(count)), false));
    }
    columns.extend([
        ("metric", name(|l| &l.metric.name), false),
        ("entity", name(|l| &l.key.entity), false),
        ("type", name(|l| &l.key.ty), false),
        ("core", texts(lines.iter().map(|l| l.key.core.as_deref())), true),
        ("unit", name(|l| l.metric.unit.as_str()), false),
    ]);
    if shape.windows {
        columns.push(("begin_at", window(|w| w.0), false));
        columns.push(("end_at", window(|w| w.1), false));
    }
    columns.extend([
        ("count", integer(|s| Some(s.count)), false),
        ("incomplete", integer(|s| Some(s.incomplete)), false),
        ("min", number(|s| s.min), true),
        ("avg", number(|s| s.avg), true),
        ("max", number(|s| s.max), true),
        ("stddev", number(|s| s.stddev), true),
        ("p50", number(|s| s.p50), true),
        ("p95", number(|s| s.p95), true),
        ("p99", number(|s| s.p99), true),
        ("p999", number(|s| s.p999), true),
        ("jitter", number(|s| s.jitter), true),
        ("min_at", integer(|s| s.min_at), true),
        ("max_at", integer(|s| s.max_at), true),
    ]);
    if shape.across {
        columns.push(("min_recording", origin(|o| o.least.as_deref()), true));
        columns.push(("max_recording", origin(|o| o.greatest.as_deref()), true));
    }
    if shape.bounds {
        columns.push(("below", integer(|s| Some(s.beyond[0])), false));
        columns.push(("above", integer(|s| Some(s.beyond[1])), false));
    }
    batch(columns)
}

/// One row per bin: the names of the line, `bin_from`, `bin_to` (the begin of the next one) and `count`.
pub fn bins_of(histograms: &[Histogram]) -> Result<RecordBatch> {
    let rows = || histograms.iter().flat_map(|h| h.bins.iter().map(move |b| (h, b)));
    let name = |get: fn(&Histogram) -> &str| texts(rows().map(|(h, _)| Some(get(h))));
    batch(vec![
        ("recording", name(|h| &h.recording), false),
        ("metric", name(|h| &h.metric), false),
        ("entity", name(|h| &h.entity), false),
        ("type", name(|h| &h.kind), false),
        ("core", texts(rows().map(|(h, _)| h.core.as_deref())), true),
        ("unit", name(|h| h.unit.as_str()), false),
        ("bin_from", numbers(rows().map(|(_, b)| Some(b.from))), false),
        ("bin_to", numbers(rows().map(|(_, b)| Some(b.to))), false),
        ("count", integers(rows().map(|(_, b)| Some(b.count))), false),
    ])
}

/// A summary, or bins, with times in another unit. Instants become columns that are named after it; lines of
/// durations have it in the column `unit`. Other values stay.
///
/// # Errors
/// Never, for the columns of a summary.
pub fn in_unit(rows: &RecordBatch, scale: TimeScale, unit: TimeScale) -> Result<RecordBatch> {
    let schema = rows.schema();
    let instants: Vec<_> = schema.fields().iter().map(|f| f.name().ends_with("_at")).collect();
    let instants = InUnit::new(&schema, &instants, scale, unit);
    let rows = instants.convert(rows)?;
    let Some(units) = rows.column_by_name("unit").and_then(|u| u.as_string_opt::<i32>()) else {
        return Ok(rows);
    };
    let is_time: Vec<bool> = units.iter().map(|unit| unit == Some(Unit::Duration.as_str())).collect();
    let shown = unit.as_str();
    let digits = scale.decimals() as i32 - unit.decimals() as i32;
    let convert = |(field, column): (&Arc<Field>, &ArrayRef)| -> ArrayRef {
        if field.name() == "unit" {
            let of = |(unit, time): (Option<&str>, &bool)| {
                if *time { Some(shown.to_owned()) } else { unit.map(str::to_owned) }
            };
            return Arc::new(units.iter().zip(&is_time).map(of).collect::<StringArray>());
        }
        match column.as_primitive_opt::<Float64Type>() {
            Some(values) => {
                let of = |(value, time): (Option<f64>, &bool)| {
                    value.map(|v| if *time { shifted(v, digits) } else { v })
                };
                Arc::new(values.iter().zip(&is_time).map(of).collect::<Float64Array>())
            }
            None => Arc::clone(column),
        }
    };
    let columns = rows.schema().fields().iter().zip(rows.columns()).map(convert).collect();
    let bug = |e| Error::new(ErrorKind::Bug, "the summary does not fit its columns").because(e);
    RecordBatch::try_new(rows.schema(), columns).map_err(bug)
}
