//! Metrics of some recordings, as columns that are passed on and put together elsewhere: summaries, where
//! each recording is by itself, or samples, where the statistics need those of all. Not how they are
//! computed.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, Float64Builder, Int64Array, Int64Builder, ListBuilder, RecordBatch, StringArray,
    UInt32Array,
};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, SchemaRef};

use super::across::Across;
use super::evaluate::{Asked, chosen, in_portions, lines_of, plain, samples};
use super::filter::MetricFilter;
use super::histogram::Bin;
use super::samples::Key;
use super::statistics::{Samples, Statistics};
use super::summary::{Histogram, Line, Shape, summary};
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::library::{Metric, Queries};
use crate::schema::result::{Integers, Texts, column, columns};

/// The columns of summaries.
pub(crate) fn summary_schema(filter: &MetricFilter) -> Result<SchemaRef> {
    Ok(summary(&[], Shape::of(filter, false))?.schema())
}

/// The summaries of the recordings of a session, metric by metric, whose filter was [asked](Asked) for all of
/// them.
pub(crate) fn summaries(
    session: &Session,
    names: &[String],
    filter: &MetricFilter,
    mut rows: impl FnMut(RecordBatch) -> bool,
) -> Result<()> {
    for metric in chosen(session.queries(), names)? {
        let samples = samples(session, metric, filter)?;
        let summary = |lines: Vec<Line<'_>>| summary(&lines, Shape::of(filter, false));
        let parts = in_portions(metric, samples, None, session.threads(), &plain, &summary)?;
        if !parts.into_iter().all(&mut rows) {
            break;
        }
    }
    Ok(())
}

/// The summaries of all recordings, of parts of their lines: in the order of [`super::summaries`].
pub(crate) fn merged(
    queries: &Queries,
    names: &[String],
    filter: &MetricFilter,
    schema: &SchemaRef,
    parts: &[RecordBatch],
) -> Result<RecordBatch> {
    let metrics = chosen(queries, names)?;
    let place: HashMap<&str, (usize, &Metric)> =
        metrics.iter().enumerate().map(|(at, m)| (m.name.as_str(), (at, *m))).collect();
    let all = concat_batches(schema, parts).map_err(bug)?;
    let [metrics, entities, types, cores]: [Texts; 4] =
        [column(&all, "metric")?, column(&all, "entity")?, column(&all, "type")?, column(&all, "core")?];
    let groups: Option<Texts> = match &filter.across {
        None => Some(column(&all, "recording")?),
        Some(Across::Label(_)) => Some(column(&all, "label")?),
        Some(Across::All) => None,
    };
    let begins: Option<Integers> = filter.windows.map(|_| column(&all, "begin_at")).transpose()?;
    let mut order: Vec<u32> = (0..u32::try_from(all.num_rows()).unwrap_or(u32::MAX)).collect();
    order.sort_by_key(|row| {
        let row = *row as usize;
        let of = place.get(metrics.value(row));
        // That of a metric of no core says only where its instances ran.
        let core = of.filter(|(_, metric)| metric.per_core).and_then(|_| cores.get(row));
        let group = groups.as_ref().map(|groups| groups.value(row));
        let begin = begins.as_ref().and_then(|begins| begins.get(row));
        (of.map(|(at, _)| *at), group, entities.value(row), types.value(row), core, begin)
    });
    take_record_batch(&all, &UInt32Array::from(order)).map_err(bug)
}

/// The columns of samples: a row for each line.
pub(crate) fn samples_schema() -> SchemaRef {
    let list = |name: &str, ty| Field::new_list(name, Field::new_list_field(ty, true), false);
    Arc::new(Schema::new(vec![
        Field::new("metric", DataType::Int64, false),
        Field::new("recording", DataType::Utf8, false),
        Field::new("entity", DataType::Utf8, false),
        Field::new("type", DataType::Utf8, false),
        Field::new("core", DataType::Utf8, true),
        Field::new("begin_at", DataType::Int64, true),
        Field::new("end_at", DataType::Int64, true),
        Field::new("incomplete", DataType::Int64, false),
        Field::new("min_at", DataType::Int64, true),
        Field::new("max_at", DataType::Int64, true),
        list("integers", DataType::Int64),
        list("fractions", DataType::Float64),
    ]))
}

/// The samples of the recordings of a session, metric by metric; see [`summaries`].
pub(crate) fn samples_of(
    session: &Session,
    names: &[String],
    filter: &MetricFilter,
    mut rows: impl FnMut(RecordBatch) -> bool,
) -> Result<()> {
    for (at, metric) in chosen(session.queries(), names)?.into_iter().enumerate() {
        let lines = samples(session, metric, filter)?;
        for lines in lines.blocks() {
            if !rows(batch(i64::try_from(at).unwrap_or(i64::MAX), lines)?) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The places of the columns of samples that those of one line of a summary have in common, whatever the
/// recordings: metric, entity, type, and begin of the window.
pub(crate) const SAMPLE_KEYS: [usize; 4] = [0, 2, 3, 5];

/// The summary of samples, which are all of their lines.
pub(crate) fn together(
    queries: &Queries,
    names: &[String],
    filter: &MetricFilter,
    samples: &[RecordBatch],
) -> Result<RecordBatch> {
    let mut gathered = Gathered::new(queries, names)?;
    samples.iter().try_for_each(|batch| gathered.add(batch))?;
    summary(&gathered.finish(filter, 1, plain)?, Shape::of(filter, false))
}

fn batch(metric: i64, lines: &[(Key, Samples)]) -> Result<RecordBatch> {
    let text = |get: fn(&Key) -> Option<&str>| -> ArrayRef {
        Arc::new(lines.iter().map(|(key, _)| get(key)).collect::<StringArray>())
    };
    let integer = |get: &dyn Fn(&(Key, Samples)) -> Option<i64>| -> ArrayRef {
        Arc::new(lines.iter().map(get).collect::<Int64Array>())
    };
    let mut integers = ListBuilder::new(Int64Builder::new());
    let mut fractions = ListBuilder::new(Float64Builder::new());
    for (_, samples) in lines {
        samples.integers().for_each(|value| integers.values().append_value(value));
        fractions.values().append_slice(samples.fractions());
        integers.append(true);
        fractions.append(true);
    }
    let columns: Vec<ArrayRef> = vec![
        integer(&|_| Some(metric)),
        text(|key| Some(&key.recording)),
        text(|key| Some(&key.entity)),
        text(|key| Some(&key.ty)),
        text(|key| key.core.as_deref()),
        integer(&|(key, _)| key.window.map(|window| window.0)),
        integer(&|(key, _)| key.window.map(|window| window.1)),
        integer(&|(_, samples)| Some(samples.incomplete())),
        integer(&|(_, samples)| samples.extremes_at()[0]),
        integer(&|(_, samples)| samples.extremes_at()[1]),
        Arc::new(integers.finish()),
        Arc::new(fractions.finish()),
    ];
    RecordBatch::try_new(samples_schema(), columns).map_err(bug)
}

/// Samples of all recordings, from those of some.
pub(crate) struct Gathered<'q> {
    metrics: Vec<&'q Metric>,
    lines: Vec<Vec<(Key, Samples)>>,
}

impl<'q> Gathered<'q> {
    pub fn new(queries: &'q Queries, names: &[String]) -> Result<Self> {
        let metrics = chosen(queries, names)?;
        let lines = metrics.iter().map(|_| Vec::new()).collect();
        Ok(Self { metrics, lines })
    }

    pub fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let (metrics, names, [begins, ends, incomplete, min_at, max_at]): (
            Integers,
            [Texts; 4],
            [Integers; 5],
        ) = columns(batch)?;
        let [recordings, entities, types, cores] = names;
        let misfit = || Error::new(ErrorKind::Bug, "samples came without their metric or values");
        let list = |name: &str| {
            let lists = batch.column_by_name(name).and_then(|c| c.as_list_opt::<i32>());
            lists.ok_or_else(misfit)
        };
        let (integers, fractions) = (list("integers")?, list("fractions")?);
        for row in 0..batch.num_rows() {
            let metric = usize::try_from(metrics.value(row)).ok();
            let lines = metric.and_then(|at| self.lines.get_mut(at)).ok_or_else(misfit)?;
            let key = Key {
                recording: recordings.value(row).into(),
                entity: entities.value(row).into(),
                ty: types.value(row).into(),
                core: cores.get(row).map(Into::into),
                window: begins.get(row).zip(ends.get(row)),
            };
            let (whole, broken) = (integers.value(row), fractions.value(row));
            let values = whole.as_primitive_opt::<Int64Type>().zip(broken.as_primitive_opt::<Float64Type>());
            let (whole, broken) = values.ok_or_else(misfit)?;
            let at = [min_at.get(row), max_at.get(row)];
            let samples = Samples::passed(whole.values(), broken.values(), at, incomplete.value(row));
            lines.push((key, samples));
        }
        Ok(())
    }

    fn finish(
        mut self,
        filter: &MetricFilter,
        threads: usize,
        finish: impl Fn(Samples) -> (Statistics, Vec<Bin>) + Sync,
    ) -> Result<Vec<Line<'q>>> {
        let mut all = Vec::new();
        for (metric, lines) in self.metrics.iter().zip(&mut self.lines) {
            let mut lines = std::mem::take(lines);
            lines.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            all.extend(lines_of(metric, lines, filter.across.as_ref(), threads, &finish)?);
        }
        Ok(all)
    }

    /// As [`super::histograms`].
    pub fn histograms(self, session: &Session, asked: &Asked) -> Result<Vec<Histogram>> {
        let lines = self.finish(&asked.filter, session.threads(), Samples::finish_with_bins)?;
        asked.check(session, &lines.iter().map(|line| &*line.key.entity))?;
        Ok(lines.into_iter().map(Line::into_histogram).collect())
    }
}

fn bug(e: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Bug, "metrics of several recordings cannot be put together").because(e)
}
