//! Runs metrics and summarises their samples: count, minimum, average, maximum, standard deviation,
//! percentiles, jitter, and the instants of the extremes. Not for what a metric measures.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;

use super::across::{Across, Origin, Together, taken_together};
use super::filter::MetricFilter;
use super::histogram::Bin;
use super::known::{check_entity, is_of};
use super::samples::{Collector, Key};
use super::segments::Segments;
use super::span::{Span, Unseen};
use super::statistics::{Samples, Statistics};
use super::summary::{Histogram, Line, Shape, summary};
use crate::engine::{AssumedOrder, Param, ResultStream, Session, is_out_of_order};
use crate::error::{Error, ErrorKind, Result};
use crate::library::{Fold, Metric, Queries};
use crate::pipeline::fan_out;
use crate::schema::result::{Integers, Texts, column, columns};
use crate::selection::pattern;
use crate::time::TimeWindows;

/// Computes metrics; without names, all of them. One row per metric, recording and entity (and core, for
/// loads; and window, where there are windows), in the order of the names or of the list, then by recording,
/// entity and time; columns as `docs/metrics.md` lists them.
///
/// * `begin_at`, `end_at`: the window, in ticks; only with windows. Metrics that count or are a share have a
///   row for every window of the recording, others for every window with an instance in it.
/// * `count` samples; `incomplete` instances that the trace cuts off, which count for nothing else.
/// * `min`, `avg`, `max`, `stddev`, percentiles: in the unit of the metric (`duration`: ticks), as
///   floating-point numbers, exact for ticks below 2⁵³. `stddev` is that of a sample (n − 1); `p50`, `p95`,
///   `p99` and `p999` (99.9 %) are interpolated between the two nearest samples (SQL's `percentile_cont`).
/// * `jitter` is `max` − `min`. Definitions relative to a nominal value, e.g. a period, are not possible,
///   because traces do not have it.
/// * `min_at`, `max_at`: `at` of the first sample with that value, in ticks: the begin of the measured time.
/// * `core` is that of all instances, and NULL if they ran on several.
/// * With several recordings as one, `label` (its value) and `recordings` (how many) are in place of
///   `recording`, and `min_recording` and `max_recording` are those of the extremes.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such metric, recording or entity, or a metric cannot
/// be divided into windows, otherwise as [`Session::run`].
pub fn summaries(session: &Session, names: &[String], filter: &MetricFilter) -> Result<RecordBatch> {
    rows_of(session, names, filter, plain, false)
}

/// The rows of a summary. Portions of lines become columns before there are more lines: of many entities,
/// lines take several times the memory.
fn rows_of(
    session: &Session,
    names: &[String],
    filter: &MetricFilter,
    finish: impl Fn(Samples) -> (Statistics, Vec<Bin>) + Sync,
    bounds: bool,
) -> Result<RecordBatch> {
    let chosen = chosen(session.queries(), names)?;
    let (asked, shape) = (Asked::new(session, filter)?, Shape::of(filter, bounds));
    let mut parts = Vec::new();
    for metric in chosen {
        let samples = samples(session, metric, &asked.filter)?;
        let across = asked.filter.across.as_ref();
        let rows = |lines: Vec<Line<'_>>| summary(&lines, shape);
        parts.extend(in_portions(metric, samples, across, session.threads(), &finish, &rows)?);
    }
    let all = joined(&parts, shape)?;
    asked.check_rows(session, &all)?;
    Ok(all)
}

/// Batches of the same columns as one.
fn joined(parts: &[RecordBatch], shape: Shape) -> Result<RecordBatch> {
    let none = summary(&[], shape)?;
    concat_batches(&none.schema(), parts)
        .map_err(|e| Error::new(ErrorKind::Bug, "summaries do not fit each other").because(e))
}

/// Only the statistics of a line.
pub(super) fn plain(samples: Samples) -> (Statistics, Vec<Bin>) {
    (samples.finish(), Vec::new())
}

/// As [`summaries`] for one metric, with two more columns: the number of samples less than `lower` (`below`),
/// and greater than `upper` (`above`).
pub fn summary_within(
    session: &Session,
    name: &str,
    filter: &MetricFilter,
    lower: f64,
    upper: f64,
) -> Result<RecordBatch> {
    let against = |samples: Samples| (samples.finish_within(lower, upper), Vec::new());
    rows_of(session, &[name.to_owned()], filter, against, true)
}

/// The distribution of the samples of metrics: a histogram per line of [`summaries`] without windows.
pub fn histograms(session: &Session, names: &[String], filter: &MetricFilter) -> Result<Vec<Histogram>> {
    let filter = MetricFilter { windows: None, ..filter.clone() };
    let lines = asked_lines(session, names, &filter, Samples::finish_with_bins)?;
    Ok(lines.into_iter().map(Line::into_histogram).collect())
}

/// The chosen metrics, in the order of the names; all of them if there are no names.
pub(super) fn chosen<'q>(queries: &'q Queries, names: &[String]) -> Result<Vec<&'q Metric>> {
    if names.is_empty() {
        return Ok(queries.metrics().iter().collect());
    }
    let mut chosen: Vec<&Metric> = Vec::new();
    for name in names {
        let metric = queries.metric(name)?;
        if chosen.iter().all(|m| m.name != metric.name) {
            chosen.push(metric);
        }
    }
    Ok(chosen)
}

/// A filter that was compared with what a database has.
pub(crate) struct Asked {
    /// With the handlers that a name stands for.
    pub filter: MetricFilter,
    /// The names that were asked for.
    list: Option<String>,
}

impl Asked {
    /// Fails for recordings and windows that the database does not have.
    pub fn new(session: &Session, filter: &MetricFilter) -> Result<Self> {
        session.database().check_recording(filter.recording.as_deref())?;
        session.database().check_window(filter.recording.as_deref(), filter.from, filter.to)?;
        filter.windows.map_or(Ok(()), TimeWindows::check).map_err(Error::usage)?;
        let list = filter.entity.clone();
        let entity = list.as_deref().map(|list| with_handlers(session, list)).transpose()?;
        Ok(Self { filter: MetricFilter { entity, ..filter.clone() }, list })
    }

    /// Fails for a name that nothing has. `entities`: those of the lines.
    pub fn check<'e>(
        &self,
        session: &Session,
        entities: &(impl Iterator<Item = &'e str> + Clone),
    ) -> Result<()> {
        let Some(list) = &self.list else { return Ok(()) };
        let has_line = |word: &str| entities.clone().any(|entity| is_of(word, entity));
        check_entity(session, self.filter.recording.as_deref(), list, has_line)
    }
}

impl Asked {
    /// As [`Asked::check`], for the rows of a summary.
    pub fn check_rows(&self, session: &Session, rows: &RecordBatch) -> Result<()> {
        let entities: Texts = column(rows, "entity")?;
        self.check(session, &(0..rows.num_rows()).map(|row| entities.value(row)))
    }
}

fn asked_lines<'a>(
    session: &'a Session,
    names: &[String],
    filter: &MetricFilter,
    finish: impl Fn(Samples) -> (Statistics, Vec<Bin>) + Sync,
) -> Result<Vec<Line<'a>>> {
    let chosen = chosen(session.queries(), names)?;
    let asked = Asked::new(session, filter)?;
    let mut lines = Vec::new();
    for metric in chosen {
        let samples = samples(session, metric, &asked.filter)?;
        lines.extend(lines_of(metric, samples, asked.filter.across.as_ref(), session.threads(), &finish)?);
    }
    asked.check(session, &lines.iter().map(|line: &Line<'_>| &*line.key.entity))?;
    Ok(lines)
}

/// The lines of a metric.
pub(super) fn lines_of<'m>(
    metric: &'m Metric,
    samples: impl IntoIterator<Item = (Key, Samples), IntoIter: Send>,
    across: Option<&Across>,
    threads: usize,
    finish: &(impl Fn(Samples) -> (Statistics, Vec<Bin>) + Sync),
) -> Result<Vec<Line<'m>>> {
    let portions = in_portions(metric, samples, across, threads, finish, &Ok)?;
    Ok(portions.into_iter().flatten().collect())
}

/// What is made of the lines of a metric, a portion at a time, in order.
pub(super) fn in_portions<'m, T: Send>(
    metric: &'m Metric,
    samples: impl IntoIterator<Item = (Key, Samples), IntoIter: Send>,
    across: Option<&Across>,
    threads: usize,
    finish: &(impl Fn(Samples) -> (Statistics, Vec<Bin>) + Sync),
    make: &(impl Fn(Vec<Line<'m>>) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let finish = |(key, samples, origin)| {
        let (statistics, bins) = finish(samples);
        Line { metric, key, statistics, bins, origin }
    };
    let make =
        |lines: Vec<(Key, Samples, Option<Box<Origin>>)>| make(lines.into_iter().map(finish).collect());
    match across {
        None => {
            let lines = samples.into_iter().map(|(key, samples)| (key, samples, None));
            made_in_order(threads, portions(lines), &make)
        }
        Some(across) => {
            let lines = taken_together(samples, across, metric.per_core).into_iter();
            let lines = lines.map(|(key, Together { samples, origin })| (key, samples, Some(origin.into())));
            made_in_order(threads, portions(lines), &make)
        }
    }
}

/// Lines of a portion, and samples, at most but for the last line: so many are worth a thread.
const PORTION_LINES: usize = 1024;
const PORTION_SAMPLES: usize = 1 << 16;

/// Lines, some at a time.
fn portions<O>(
    mut lines: impl Iterator<Item = (Key, Samples, O)>,
) -> impl Iterator<Item = Vec<(Key, Samples, O)>> {
    std::iter::from_fn(move || {
        let (mut portion, mut samples) = (Vec::new(), 0);
        while portion.len() < PORTION_LINES && samples < PORTION_SAMPLES {
            let Some(line) = lines.next() else { break };
            samples += line.1.count();
            portion.push(line);
        }
        (!portion.is_empty()).then_some(portion)
    })
}

/// A list of names, in which a name that no process has stands for its handlers on several cores (rule I9 of
/// docs/mapping.md).
fn with_handlers(session: &Session, list: &str) -> Result<String> {
    let processes = session.names("SELECT DISTINCT process FROM process_instance", &[])?;
    let mut names: Vec<&str> = Vec::new();
    for word in pattern::words(list) {
        let handlers = processes.iter().filter(|process| pattern::fits_on_core(word, process));
        names.push(word);
        if !processes.iter().any(|process| process == word) {
            names.extend(handlers.map(String::as_str));
        }
    }
    Ok(if names.len() > pattern::words(list).count() { names.join(",") } else { list.to_owned() })
}

/// The samples of one metric, by line of the summary.
pub(super) fn samples(
    session: &Session,
    metric: &Metric,
    filter: &MetricFilter,
) -> Result<Segments<(Key, Samples)>> {
    if filter.windows.is_some() && metric.fold.is_none() && !metric.params.is_empty() {
        let error = Error::usage(format!("the metric {} cannot be cut into windows of time", metric.name));
        return Err(
            error.hint("its SQL takes the window that it is given; with `fold:` in its header it could")
        );
    }
    let mut sql =
        format!("SELECT recording, entity, type, core, value, at FROM (\n{}\n) AS sample", metric.sql);
    let span = span(session, metric, filter)?;
    let mut params = vec![("from", span.from), ("to", span.to)];
    let mut conditions = Vec::new();
    if metric.params.is_empty() {
        // An entity without summands in the window still has a sum.
        if metric.fold.is_none() {
            conditions.extend(filter.from.map(|_| "at >= $from"));
            conditions.extend(filter.to.map(|_| "at < $to"));
        }
        params.retain(|(name, _)| conditions.iter().any(|c| c.ends_with(name)));
    }
    conditions.extend(filter.recording.as_ref().map(|_| "recording = $recording"));
    let is_one = |entity: &str| !entity.contains(',') && !pattern::is_pattern(entity);
    conditions.extend(filter.entity.as_deref().map(|entity| match is_one(entity) {
        true => "entity = $entity",
        false => "regexp_like(entity, $entity)",
    }));
    if !conditions.is_empty() {
        sql = format!("{sql} WHERE {}", conditions.join(" AND "));
    }
    let mut params: Vec<(&str, Param)> = params.into_iter().map(|(n, v)| (n, v.into())).collect();
    params.extend(filter.recording.as_deref().map(|r| ("recording", r.into())));
    params.extend(filter.entity.as_deref().map(|entity| match is_one(entity) {
        true => ("entity", entity.into()),
        false => ("entity", pattern::regex(entity).as_str().into()),
    }));

    // Most traces have the instances of a process in order, or all but some. A wrong assumption is noticed.
    for assumed in [AssumedOrder::Fully, AssumedOrder::Mostly] {
        let rows = session.sql_assuming(assumed, &sql, &params);
        match rows.and_then(|rows| collect(session, rows, metric, &span)) {
            Err(e) if is_out_of_order(&e) => {}
            result => return result,
        }
    }
    collect(session, session.sql_low_memory(&sql, &params)?, metric, &span)
}

/// The requested time.
fn span(session: &Session, metric: &Metric, filter: &MetricFilter) -> Result<Span> {
    let recordings = match &filter.recording {
        Some(name) => session.database().recording(name)?.into_iter().collect(),
        None => session.database().recordings()?.to_vec(),
    };
    let recordings =
        recordings.iter().filter_map(|r| Some((r.name.clone(), r.begin_at.zip(r.end_at)?))).collect();
    let (from, to) = (filter.from.unwrap_or(i64::MIN), filter.to.unwrap_or(i64::MAX));
    let mut unseen: HashMap<String, Unseen> = HashMap::new();
    if metric.fold == Some(Fold::Share) {
        for batch in session.sql("SELECT recording, core, begin_at, end_at FROM gap", &[])? {
            let batch = batch?;
            let ([recordings, cores], [begins, ends]): ([Texts; 2], [Integers; 2]) = columns(&batch)?;
            for row in 0..batch.num_rows() {
                let of = unseen.entry(recordings.value(row).to_owned()).or_default();
                of.add(cores.get(row), (begins.value(row), ends.value(row)));
            }
        }
    }
    unseen.values_mut().for_each(Unseen::finish);
    Ok(Span { from, to, windows: filter.windows, recordings, unseen })
}

fn collect(
    session: &Session,
    rows: ResultStream,
    metric: &Metric,
    span: &Span,
) -> Result<Segments<(Key, Samples)>> {
    let memory = session.reserve_memory("samples of a metric");
    let mut collector = Collector::new(metric, span);
    for batch in rows {
        collector.add(&batch?, |bytes| memory.grow(bytes))?;
    }
    collector.finish()
}

/// What `make` makes of each item, in their order.
fn made_in_order<I: Send, T: Send>(
    threads: usize,
    items: impl Iterator<Item = I> + Send,
    make: &(impl Fn(I) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let made = fan_out(threads, items.enumerate(), |items| {
        items.map(|(place, item)| Ok((place, make(item)?))).collect::<Result<Vec<_>>>()
    })?;
    let mut made: Vec<_> = made.into_iter().flatten().collect();
    made.sort_unstable_by_key(|(place, _)| *place);
    Ok(made.into_iter().map(|(_, item)| item).collect())
}
