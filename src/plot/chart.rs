//! Metrics of a recording → a [`Chart`]: histograms, samples over time, loads of cores. Not for timelines,
//! and not how loads are read (see `loads`).

use std::collections::{BTreeMap, BTreeSet};

use super::loads::loads;
use super::natural::natural;
use super::several::{Align, Aligned, Part, aligned};
use crate::btf::EntityType;
use crate::engine::{Param, Session};
use crate::error::{Error, Result};
use crate::library::Unit;
use crate::metrics::{self, Histogram, MetricFilter, why_absent};
use crate::picture::{Bar, Chart, Column, Content, Grid, Measure, Panel};
use crate::schema::result::{self, Fractions, Integers, Texts};
use crate::selection::kinds::Kinds;
use crate::selection::{Selection, pattern};

/// Maximum number of panels of a chart.
const MAX_PANELS: usize = 24;
/// Columns of samples over time.
const COLUMNS: u32 = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A histogram: the number of samples of a metric by value.
    Histogram,
    /// Samples of a metric over time.
    Distribution,
    /// Load of the cores over time.
    Load,
}

/// What to draw.
#[derive(Debug, Clone)]
pub struct ChartRequest {
    /// Recording, window, entities, and types for metrics; loads are those of cores, without types.
    pub selection: Selection,
    pub form: Form,
    /// Names of metrics; none for loads.
    pub metrics: Vec<String>,
    /// Length of a window of loads, in ticks; `None`: about a hundredth of the time.
    pub window: Option<i64>,
    /// Text above the chart.
    pub title: Option<String>,
}

/// Computes a chart of a recording, or of several: a panel for each entity of each recording, aligned as in
/// [`super::plot_several`].
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such recording, window or metric, or the metric has no
/// samples over time; otherwise those of a query.
pub fn charts(
    session: &Session,
    request: &ChartRequest,
    recordings: &[String],
    align: Align,
) -> Result<Chart> {
    if recordings.len() < 2 {
        let recording = request.selection.recording(session)?;
        super::check(session, &recording, &request.selection)?;
        let mut drawn = BTreeSet::new();
        let chart = chart(session, request, &mut drawn)?;
        return with_content(session, request, &[recording], &drawn, chart);
    }
    super::check_words(session, recordings, &request.selection)?;
    let Aligned { from, to, parts, words } = aligned(session, &request.selection, recordings, align)?;
    let (mut all, mut drawn): (Option<Chart>, _) = (None, BTreeSet::new());
    for Part { recording, zero, .. } in parts {
        let selection = Selection {
            recording: Some(recording.clone()),
            from: Some(from.saturating_add(zero)),
            to: Some(to.saturating_add(zero)),
            ..request.selection.clone()
        };
        let mut part = chart(session, &ChartRequest { selection, ..request.clone() }, &mut drawn)?;
        for panel in &mut part.panels {
            panel.title = format!("{recording}: {}", panel.title);
            panel.content.shift(zero);
        }
        part.notes.iter_mut().for_each(|note| *note = format!("{recording}: {note}"));
        match &mut all {
            None => all = Some(part),
            Some(all) => {
                all.panels.append(&mut part.panels);
                all.notes.append(&mut part.notes);
            }
        }
    }
    let mut all = all.ok_or_else(|| Error::usage("no recording is given"))?;
    if request.title.is_none() {
        let what = all.title.split_once(": ").map_or("", |(_, what)| what);
        all.title = format!("{}: {what}", recordings.join(", "));
    }
    all.description = words;
    with_content(session, request, recordings, &drawn, all)
}

/// The chart, with notes on names that it has nothing of.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for a chart of nothing.
fn with_content(
    session: &Session,
    request: &ChartRequest,
    recordings: &[String],
    drawn: &BTreeSet<String>,
    mut chart: Chart,
) -> Result<Chart> {
    let is_drawn = |word: &&String| {
        drawn.iter().any(|name| pattern::fits(word, name) || pattern::fits_on_core(word, name))
    };
    let mut notes = Vec::new();
    for word in request.selection.entities.iter().filter(|word| !is_drawn(word)) {
        let recording = match recordings {
            [one] => Some(one.clone()),
            _ => None,
        };
        let filter = MetricFilter {
            recording,
            from: request.selection.from,
            to: request.selection.to,
            ..MetricFilter::default()
        };
        if request.form == Form::Load {
            let kinds = Kinds::of(session, filter.recording.as_deref(), word)?;
            notes.push(match kinds.types.contains("C") {
                true => format!("there is no load of '{word}' in the window"),
                false => format!("'{word}' is no core, and a chart of loads shows cores"),
            });
        }
        for name in &request.metrics {
            notes.push(why_absent(session, session.queries().metric(name)?, word, &filter)?);
        }
    }
    if chart.panels.is_empty() {
        let types = &request.selection.types;
        let what = match request.metrics.as_slice() {
            [] => "the load of a core".to_owned(),
            metrics => metrics.join(" and "),
        };
        let of = if types.is_empty() { String::new() } else { format!(" of type {}", types.join(", ")) };
        let error = match notes.as_slice() {
            [] => Error::usage(format!("there are no samples of {what}{of} to draw")),
            notes => Error::usage(notes.join("; ")),
        };
        return Err(match request.form {
            Form::Load => error.hint(format!("the cores are: {}", cores(session)?.join(", "))),
            _ => error.hint("`btfdb metrics DATABASE` shows which metrics have samples, and of what"),
        });
    }
    chart.notes.extend(notes.into_iter().map(|note| format!("{note}.")));
    Ok(chart)
}

fn cores(session: &Session) -> Result<Vec<String>> {
    session.names("SELECT DISTINCT core FROM process_state WHERE core IS NOT NULL ORDER BY core", &[])
}

/// Computes a chart of a recording. Adds the entities that have a panel, or would have without their limit.
pub(super) fn chart(
    session: &Session,
    request: &ChartRequest,
    entities: &mut BTreeSet<String>,
) -> Result<Chart> {
    let recording = request.selection.recording(session)?;
    let span = super::span(session, &recording)?;
    let selection = request.selection.with_handlers(session, &recording)?;
    let request = &ChartRequest { selection, ..request.clone() };
    let (from, to) = super::window(&request.selection, span)?;
    if (request.form == Form::Load) != request.metrics.is_empty() {
        return Err(match request.form {
            Form::Load => Error::usage("a chart of loads takes no metric"),
            _ => Error::usage("the chart needs a metric").hint("`btfdb metrics --list` shows them"),
        });
    }
    let (mut panels, what) = match request.form {
        Form::Histogram => (histograms(session, &recording, request)?, "histogram"),
        Form::Distribution => (distributions(session, &recording, request, (from, to))?, "over time"),
        Form::Load => {
            let wanted = |core: &str| chosen(&request.selection, core);
            (loads(session, &recording, request.window, wanted, (from, to), span)?, "load of the cores")
        }
    };
    entities.extend(panels.iter().map(|(entity, _)| entity.clone()));
    let scale = session.database().time_scale();
    let mut notes = Vec::new();
    if panels.len() > MAX_PANELS {
        notes.push(format!("{MAX_PANELS} of {} are shown; choose others with --entity.", panels.len()));
        panels.truncate(MAX_PANELS);
    }
    let what = match request.metrics.is_empty() {
        true => what.to_owned(),
        false => format!("{}, {what}", request.metrics.join(", ")),
    };
    Ok(Chart {
        title: request.title.clone().unwrap_or_else(|| format!("{recording}: {what}")),
        description: super::in_words((from, to), span, scale),
        scale,
        panels: panels.into_iter().map(|(_, panel)| panel).collect(),
        notes,
    })
}

fn chosen(selection: &Selection, name: &str) -> bool {
    selection.has_entity(name)
}

/// True if entities of a type are selected, which any writer may have spelled.
fn has_type(selection: &Selection, kind: &str) -> bool {
    let of = EntityType::parse_tolerant;
    let is = |word: &String| word == kind || of(word).is_some_and(|ty| of(kind) == Some(ty));
    selection.types.is_empty() || selection.types.iter().any(is)
}

fn measure(unit: Unit) -> Measure {
    match unit {
        Unit::Duration => Measure::Time,
        Unit::Count => Measure::Number,
        Unit::Percent => Measure::Percent,
    }
}

fn histograms(session: &Session, recording: &str, request: &ChartRequest) -> Result<Vec<(String, Panel)>> {
    let selection = &request.selection;
    let recording = Some(recording.to_owned());
    let filter =
        MetricFilter { recording, from: selection.from, to: selection.to, ..MetricFilter::default() };
    let scale = session.database().time_scale();
    let panel = |h: Histogram| {
        let core = h.core.as_ref().filter(|core| **core != h.entity).map(|core| format!(" on {core}"));
        let statistics = h.min.zip(h.p50).zip(h.max).map(|((min, median), max)| {
            let [min, median, max] = [min, median, max].map(|v| measure(h.unit).shown(v, scale));
            format!(", {min} to {max}, median {median}")
        });
        let bar = |bin: &metrics::Bin| Bar { from: bin.from, to: bin.to, count: bin.count.unsigned_abs() };
        let panel = Panel {
            title: format!("{} of {}{}", h.metric, h.entity, core.unwrap_or_default()),
            summary: format!("{} samples{}", h.count, statistics.unwrap_or_default()),
            measure: measure(h.unit),
            content: Content::Histogram(h.bins.iter().map(bar).collect()),
        };
        (h.entity, panel)
    };
    let all = metrics::histograms(session, &request.metrics, &filter)?;
    let is_drawn =
        |h: &Histogram| h.count > 0 && chosen(selection, &h.entity) && has_type(selection, &h.kind);
    Ok(all.into_iter().filter(is_drawn).map(panel).collect())
}

/// Samples by entity and column of time. The percentiles are SQL's `percentile_cont`, as in `btfdb metrics`.
fn distributions(
    session: &Session,
    recording: &str,
    request: &ChartRequest,
    (from, to): (i64, i64),
) -> Result<Vec<(String, Panel)>> {
    let grid = Grid::new(from, to, COLUMNS);
    let width = (grid.begin_of(1) - from).max(1);
    let mut panels = Vec::new();
    for name in &request.metrics {
        let metric = session.queries().metric(name)?;
        if metric.fold.is_some() {
            return Err(Error::usage(format!(
                "{name} has one value for all of the time, not one per instance"
            ))
            .hint("use --chart load, or a metric such as ResponseTime"));
        }
        let sql = format!(
            "SELECT entity, type, (at - $begin) / $width AS nth, count(*) AS samples,
                CAST(min(value) AS DOUBLE) AS least,
                CAST(percentile_cont(0.05) WITHIN GROUP (ORDER BY CAST(value AS DOUBLE)) AS DOUBLE) AS low,
                CAST(percentile_cont(0.5) WITHIN GROUP (ORDER BY CAST(value AS DOUBLE)) AS DOUBLE) AS middle,
                CAST(percentile_cont(0.95) WITHIN GROUP (ORDER BY CAST(value AS DOUBLE)) AS DOUBLE) AS high,
                CAST(max(value) AS DOUBLE) AS greatest
            FROM (\n{}\n) AS sample
            WHERE recording = $recording AND value IS NOT NULL AND at >= $begin AND at < $end
            GROUP BY entity, type, nth ORDER BY entity, nth",
            metric.sql
        );
        let mut params = vec![
            ("recording", Param::from(recording)),
            ("begin", Param::from(from)),
            ("end", Param::from(to)),
            ("width", Param::from(width)),
        ];
        if !metric.params.is_empty() {
            params.extend([("from", Param::from(from)), ("to", Param::from(to))]);
        }
        let mut all: BTreeMap<String, Vec<Column>> = BTreeMap::new();
        for batch in session.sql(&sql, &params)? {
            let batch = batch?;
            let ([entity, kind], [nth, samples], [least, low, middle, high, greatest]): (
                [Texts; 2],
                [Integers; 2],
                [Fractions; 5],
            ) = result::columns(&batch)?;
            for row in 0..batch.num_rows() {
                let entity = entity.value(row);
                if !chosen(&request.selection, entity) || !has_type(&request.selection, kind.value(row)) {
                    continue;
                }
                let begin = from.saturating_add(nth.value(row).saturating_mul(width));
                all.entry(entity.to_owned()).or_default().push(Column {
                    begin,
                    end: begin.saturating_add(width).min(to),
                    count: samples.value(row).unsigned_abs(),
                    least: least.value(row),
                    low: low.value(row),
                    middle: middle.value(row),
                    high: high.value(row),
                    greatest: greatest.value(row),
                });
            }
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by(|a, b| natural(&a.0, &b.0));
        panels.extend(all.into_iter().map(|(entity, columns)| {
            let count: u64 = columns.iter().map(|column| column.count).sum();
            let panel = Panel {
                title: format!("{name} of {entity}"),
                summary: format!("{count} samples"),
                measure: measure(metric.unit),
                content: Content::Spread { from, to, columns },
            };
            (entity, panel)
        }));
    }
    Ok(panels)
}
