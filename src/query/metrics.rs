//! Runs metrics and summarises their samples: count, minimum, average, maximum, standard deviation, percentiles, and
//! when the extremes happened. Not for what a metric measures, which its SQL says.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, SchemaRef};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::prelude::SessionContext;

use super::failure;
use super::operators::{Numbers, OutOfOrder, Trust};
use super::run::Param;
use super::session::Session;
use super::stats::{Samples, Statistics};
use super::stdlib::{self, Metric};
use crate::error::{Error, ErrorKind, Result, did_you_mean};

/// What part of a database metrics are computed from.
#[derive(Debug, Clone, Default)]
pub struct MetricFilter {
    /// One recording; `None`: all, each by itself.
    pub recording: Option<String>,
    /// One task, interrupt service routine, runnable or core; `None`: all.
    pub entity: Option<String>,
    /// Start of the window, in ticks. A sample belongs to the window that its `at` lies in; loads are clipped.
    pub from: Option<i64>,
    /// End of the window, in ticks, not part of it.
    pub to: Option<i64>,
}

/// The columns of [`Session::metrics`], in order.
pub const SUMMARY_COLUMNS: [&str; 17] = [
    "recording",
    "metric",
    "entity",
    "type",
    "core",
    "unit",
    "count",
    "incomplete",
    "min",
    "avg",
    "max",
    "stddev",
    "p50",
    "p95",
    "p99",
    "min_at",
    "max_at",
];

/// One line of a summary, without its statistics. The order is that of the lines within a metric.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    recording: String,
    entity: String,
    ty: String,
    core: Option<String>,
}

/// A line of the summary.
struct Line {
    metric: &'static str,
    unit: &'static str,
    key: Key,
    statistics: Statistics,
}

impl Session {
    /// Computes metrics; without names, all of them. One row per metric, recording and entity (and core, for loads),
    /// in the order of the names or of the list, then by recording and entity; columns [`SUMMARY_COLUMNS`].
    ///
    /// * `count` samples; `incomplete` instances that the trace cuts off, which enter nothing else.
    /// * `min`, `avg`, `max`, `stddev`, percentiles: in the unit of the metric (`duration`: ticks), as
    ///   floating-point numbers, exact for ticks below 2⁵³. `stddev` is that of a sample (n − 1); `p50`, `p95` and
    ///   `p99` are interpolated between the two nearest samples (SQL's `percentile_cont`).
    /// * `min_at`, `max_at`: `at` of the first sample with that value, in ticks: where the measured time begins.
    /// * `core` is that of all instances, and NULL when they ran on several.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when there is no such metric, recording or entity, otherwise as [`Session::run`].
    pub fn metrics(&self, names: &[String], filter: &MetricFilter) -> Result<RecordBatch> {
        let mut chosen: Vec<Metric> = Vec::new();
        for name in names {
            let metric = stdlib::metric(name)?;
            if chosen.iter().all(|m| m.name != metric.name) {
                chosen.push(metric);
            }
        }
        if names.is_empty() {
            chosen = stdlib::metrics();
        }
        self.check_recording(filter.recording.as_deref())?;
        let mut lines = Vec::new();
        for metric in &chosen {
            let line = |(key, statistics)| {
                let (metric, unit) = (metric.name, metric.unit.as_str());
                Line { metric, unit, key, statistics }
            };
            lines.extend(finished(self.samples(metric, filter)?, self.threads()).into_iter().map(line));
        }
        if let (true, Some(entity)) = (lines.is_empty(), &filter.entity) {
            self.check_entity(entity)?;
        }
        batch_of(&lines)
    }

    /// Fails when a recording is asked for that the database does not have.
    pub(crate) fn check_recording(&self, recording: Option<&str>) -> Result<()> {
        let known: Vec<_> = self.database().recordings().iter().map(|r| r.name.as_str()).collect();
        match recording {
            Some(name) if !known.contains(&name) => {
                let error = Error::usage(format!("there is no recording '{name}'"));
                Err(match did_you_mean(name, known.iter().copied()) {
                    Some(near) => error.hint(format!("did you mean '{near}'?")),
                    None => error.hint(format!("the recordings are: {}", known.join(", "))),
                })
            }
            _ => Ok(()),
        }
    }

    /// Fails when no process, runnable or core has that name.
    fn check_entity(&self, entity: &str) -> Result<()> {
        let sql = "SELECT process FROM process_instance UNION SELECT runnable FROM runnable_instance \
                   UNION SELECT core FROM process_state WHERE core IS NOT NULL";
        let mut known = self.names(sql, &[])?;
        known.extend(self.chains().get().iter().flat_map(|chains| chains.iter()).map(|c| c.name.clone()));
        if known.iter().any(|k| k == entity) {
            return Ok(());
        }
        let error = Error::usage(format!(
            "there is no task, interrupt service routine, runnable, core or chain '{entity}'"
        ));
        Err(match did_you_mean(entity, known.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None => error,
        })
    }

    /// The samples of one metric, by line of the summary.
    fn samples(&self, metric: &Metric, filter: &MetricFilter) -> Result<BTreeMap<Key, Samples>> {
        let mut sql =
            format!("SELECT recording, entity, type, core, value, at FROM (\n{}\n) AS sample", metric.sql);
        let mut params =
            vec![("from", filter.from.unwrap_or(i64::MIN)), ("to", filter.to.unwrap_or(i64::MAX))];
        let mut conditions = Vec::new();
        if metric.params.is_empty() {
            conditions.extend(filter.from.map(|_| "at >= $from"));
            conditions.extend(filter.to.map(|_| "at < $to"));
            params.retain(|(name, _)| conditions.iter().any(|c| c.ends_with(name)));
        }
        conditions.extend(filter.recording.as_ref().map(|_| "recording = $recording"));
        conditions.extend(filter.entity.as_ref().map(|_| "entity = $entity"));
        if !conditions.is_empty() {
            sql = format!("{sql} WHERE {}", conditions.join(" AND "));
        }
        let mut params: Vec<(&str, Param)> = params.into_iter().map(|(n, v)| (n, v.into())).collect();
        params.extend(filter.recording.as_deref().map(|r| ("recording", r.into())));
        params.extend(filter.entity.as_deref().map(|e| ("entity", e.into())));

        // Most traces have the instances of a process in their order, others all but some. It is found out on the way.
        for trust in [Trust::Fully, Trust::Mostly] {
            match self.grouped(&self.trusting(trust), &sql, &params, metric.per_core) {
                Err(e) if std::error::Error::source(&e).is_some_and(|cause| cause.is::<OutOfOrder>()) => {}
                result => return result,
            }
        }
        self.grouped(&self.sparing(), &sql, &params, metric.per_core)
    }

    fn grouped(
        &self,
        context: &SessionContext,
        sql: &str,
        params: &[(&str, Param)],
        per_core: bool,
    ) -> Result<BTreeMap<Key, Samples>> {
        let pool = &self.context().runtime_env().memory_pool;
        let reserved = MemoryConsumer::new("samples of a metric").register(pool);
        let mut groups = Groups { per_core, ..Groups::default() };
        for batch in self.sql_in(context, sql, params)? {
            let batch = batch?;
            let needed = batch.num_rows() * size_of::<f64>();
            reserved.try_grow(needed).map_err(|e| failure::from_engine(&e, "", &[]))?;
            groups.add(&batch)?;
        }
        Ok(groups.finish())
    }
}

/// Samples on their way to the lines of the summary.
#[derive(Default)]
struct Groups {
    per_core: bool,
    /// Recording, entity, type and core of a row, in one number.
    numbers: Numbers,
    /// The group of every number.
    group_of: Vec<usize>,
    /// The index in `groups`, by all names of a line; the core only where lines are per core.
    index: HashMap<[Option<String>; 4], usize>,
    groups: Vec<(Key, Samples)>,
    /// Groups whose instances ran on more than one core.
    scattered: Vec<bool>,
}

impl Groups {
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let names = [text(batch, 0)?, text(batch, 1)?, text(batch, 2)?, text(batch, 3)?];
        let numbers = self.numbers.of(&names).map_err(|e| failure::from_engine(&e, "", &[]))?;
        let values = batch.column(4);
        let integers = values.as_primitive_opt::<Int64Type>();
        let fractions = values.as_primitive_opt::<Float64Type>();
        let times = batch.column(5).as_primitive_opt::<Int64Type>();
        if integers.is_none() && fractions.is_none() {
            return Err(Error::new(ErrorKind::Bug, "the value of a metric is not a number"));
        }
        for (row, number) in numbers.into_iter().enumerate() {
            // Numbers are handed out in the order of the rows.
            if number as usize >= self.group_of.len() {
                let name = |column: &ArrayRef| {
                    let names = column.as_string_view_opt()?;
                    names.is_valid(row).then(|| names.value(row).to_owned())
                };
                let group = self.group(names.each_ref().map(name));
                self.group_of.push(group);
            }
            let group = self.group_of.get(number as usize).and_then(|g| self.groups.get_mut(*g));
            let Some((_, samples)) = group else { continue };
            let at = times.filter(|t| t.is_valid(row)).map(|t| t.value(row));
            match (integers, fractions) {
                (Some(v), _) if v.is_valid(row) => samples.push_integer(v.value(row), at),
                (_, Some(v)) if v.is_valid(row) => samples.push_fraction(v.value(row), at),
                _ => samples.push_incomplete(),
            }
        }
        Ok(())
    }

    /// The group of a line and a core that are seen for the first time together.
    fn group(&mut self, names: [Option<String>; 4]) -> usize {
        let mut line = names.clone();
        if !self.per_core {
            line[3] = None;
        }
        let group = *self.index.entry(line).or_insert(self.groups.len());
        let [recording, entity, ty, core] = names;
        match (self.groups.get_mut(group), self.scattered.get_mut(group)) {
            (Some((key, _)), Some(scattered)) => match (&key.core, core) {
                (Some(known), Some(core)) => *scattered |= *known != core,
                // An instance that never ran says nothing about the core.
                (None, Some(core)) => key.core = Some(core),
                _ => {}
            },
            _ => {
                let [recording, entity, ty] = [recording, entity, ty].map(Option::unwrap_or_default);
                self.groups.push((Key { recording, entity, ty, core }, Samples::default()));
                self.scattered.push(false);
            }
        }
        group
    }

    fn finish(self) -> BTreeMap<Key, Samples> {
        let lines = self.groups.into_iter().zip(self.scattered);
        let line = |((mut key, samples), scattered): ((Key, Samples), bool)| {
            if scattered {
                key.core = None;
            }
            (key, samples)
        };
        lines.map(line).collect()
    }
}

/// The statistics of all groups, made by some threads.
fn finished(groups: BTreeMap<Key, Samples>, threads: usize) -> BTreeMap<Key, Statistics> {
    let todo = Mutex::new(groups.into_iter());
    let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).next();
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((key, samples)) = next() {
                    let statistics = samples.finish();
                    done.lock().unwrap_or_else(PoisonError::into_inner).insert(key, statistics);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A column of strings, whatever their Arrow type.
fn text(batch: &RecordBatch, column: usize) -> Result<ArrayRef> {
    let bug = |e| Error::new(ErrorKind::Bug, "a name in the result of a metric is not a string").because(e);
    cast(batch.column(column), &DataType::Utf8View).map_err(bug)
}

/// Types of the columns of a summary: names, then counts, then statistics, then times.
fn summary_schema() -> SchemaRef {
    let ty = |i: usize| match i {
        0..=5 => DataType::Utf8,
        8..=14 => DataType::Float64,
        _ => DataType::Int64,
    };
    let required = |i: usize| i != 4 && i < 8;
    let field = |(i, name): (usize, &&str)| Field::new(*name, ty(i), !required(i));
    Arc::new(Schema::new(SUMMARY_COLUMNS.iter().enumerate().map(field).collect::<Vec<_>>()))
}

fn batch_of(lines: &[Line]) -> Result<RecordBatch> {
    let names =
        |get: fn(&Line) -> Option<&str>| Arc::new(lines.iter().map(get).collect::<StringArray>()) as ArrayRef;
    let integers = |get: fn(&Statistics) -> Option<i64>| {
        Arc::new(lines.iter().map(|l| get(&l.statistics)).collect::<Int64Array>()) as ArrayRef
    };
    let numbers = |get: fn(&Statistics) -> Option<f64>| {
        Arc::new(lines.iter().map(|l| get(&l.statistics)).collect::<Float64Array>()) as ArrayRef
    };
    let columns = vec![
        names(|l| Some(&l.key.recording)),
        names(|l| Some(l.metric)),
        names(|l| Some(&l.key.entity)),
        names(|l| Some(&l.key.ty)),
        names(|l| l.key.core.as_deref()),
        names(|l| Some(l.unit)),
        integers(|s| Some(s.count)),
        integers(|s| Some(s.incomplete)),
        numbers(|s| s.min),
        numbers(|s| s.avg),
        numbers(|s| s.max),
        numbers(|s| s.stddev),
        numbers(|s| s.p50),
        numbers(|s| s.p95),
        numbers(|s| s.p99),
        integers(|s| s.min_at),
        integers(|s| s.max_at),
    ];
    let bug = |e| Error::new(ErrorKind::Bug, "the summary does not fit its columns").because(e);
    RecordBatch::try_new(summary_schema(), columns).map_err(bug)
}
