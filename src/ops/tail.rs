//! `metrics --tail`: the samples of metrics, entity by entity, and what extreme value statistics say of them,
//! as rows and as a picture. Not the statistics (see [`crate::tail`]).

use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::library::{Metric, Unit};
use crate::metrics::{check_entity, is_of};
use crate::picture::Chart;
use crate::render::shifted;
use crate::schema::result::{Integers, Texts, columns};
use crate::selection::pattern;
use crate::tail::{Fit, Model, NoLevel, Outcome, Report, Settings, fit};
use crate::time::TimeScale;
use arrow::array::{ArrayRef, Float64Builder, Int64Builder, RecordBatch, StringBuilder};
use picture::Panels;
use std::sync::Arc;

mod picture;

/// The metrics that are meant when none is named.
const DEFAULT: [&str; 2] = ["NetExecutionTime", "ResponseTime"];

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Tails {
    /// Names of metrics; those of net execution and response times if empty.
    pub metrics: Vec<String>,
    /// A list of names and patterns; all entities if absent.
    pub entity: Option<String>,
    /// Samples at or after this instant, in ticks.
    pub from: Option<i64>,
    /// Samples before this instant, in ticks.
    pub to: Option<i64>,
    /// The unit of times; ticks if absent.
    pub unit: Option<TimeScale>,
    /// A picture is made, too.
    pub picture: bool,
}

impl Tails {
    fn names(&self) -> Vec<String> {
        if self.metrics.is_empty() { DEFAULT.map(str::to_owned).to_vec() } else { self.metrics.clone() }
    }
}

/// The tails of metrics: a row per recording, metric, entity, method and level; one row with the reason where
/// there is no fit. Also the picture, if that is asked for.
///
/// # Errors
/// [`ErrorKind::Usage`] when there is no such metric or entity, or its samples are no whole numbers, or there
/// are none; those of a query.
pub fn tails(session: &Session, asked: &Tails) -> Result<(RecordBatch, Option<Chart>)> {
    let (rows, panels) = found(session, asked)?;
    if let Some(list) = &asked.entity {
        check_entity(session, None, list, |word| rows.entity.iter().any(|entity| is_of(word, entity)))?;
    }
    if rows.metric.is_empty() {
        let of = asked.entity.as_ref().map(|list| format!(" of '{list}'")).unwrap_or_default();
        return Err(Error::usage(format!("{} has no samples{of}", asked.names().join(", ")))
            .hint("`btfdb metrics` shows which metrics have some"));
    }
    let scale = session.database().time_scale();
    Ok((rows.finish(asked.unit)?, panels.map(|panels| panels.chart(scale))))
}

/// The same rows; none without samples.
///
/// # Errors
/// [`ErrorKind::Usage`] when there is no such metric, or its samples are no whole numbers; those of a query.
pub fn all(session: &Session, asked: &Tails) -> Result<RecordBatch> {
    found(session, asked)?.0.finish(asked.unit)
}

fn found(session: &Session, asked: &Tails) -> Result<(Rows, Option<Panels>)> {
    let mut rows = Rows::default();
    let several = session.database().recordings()?.len() > 1;
    let mut panels = asked.picture.then(|| Panels::new(several));
    for name in asked.names() {
        let metric = session.queries().metric(&name)?;
        let decimals = |scale: TimeScale| scale.decimals() as i32;
        let digits = match asked.unit {
            Some(unit) if metric.unit == Unit::Duration => {
                decimals(session.database().time_scale()) - decimals(unit)
            }
            _ => 0,
        };
        of_metric(session, metric, asked, |line, samples| {
            let curve = panels.as_ref().map_or(0, Panels::curve);
            let report = fit(samples, &Settings { curve, ..Settings::default() });
            rows.add(metric, line, &report, digits);
            if let Some(panels) = &mut panels {
                panels.add(metric, (&line.recording, &line.entity), samples, &report);
            }
        })?;
    }
    Ok((rows, panels))
}

/// Whose samples they are.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    recording: String,
    entity: String,
    ty: String,
}

/// Passes on the samples of each line of a metric, in the order of time.
fn of_metric(
    session: &Session,
    metric: &Metric,
    asked: &Tails,
    mut visit: impl FnMut(&Line, &[i64]),
) -> Result<()> {
    let is_whole = metric.unit != Unit::Percent && metric.fold.is_none() && metric.params.is_empty();
    if !is_whole {
        return Err(Error::usage(format!(
            "{} has no samples of instances, whose tail could be fitted",
            metric.name
        ))
        .hint("ResponseTime, NetExecutionTime and others have"));
    }
    let from = asked.from.map(|from| format!(" AND at >= {from}")).unwrap_or_default();
    let to = asked.to.map(|to| format!(" AND at < {to}")).unwrap_or_default();
    let sql = format!(
        "SELECT recording, entity, type, value FROM ({}) WHERE value IS NOT NULL{from}{to} \
         ORDER BY recording, entity, type, at",
        metric.sql
    );
    let (mut line, mut samples): (Option<Line>, Vec<i64>) = (None, Vec::new());
    let is_asked = |entity: &str| {
        asked.entity.as_deref().is_none_or(|list| pattern::words(list).any(|word| is_of(word, entity)))
    };
    for batch in session.sql(&sql, &[])? {
        let batch = batch?;
        let ([recording, entity, ty], value) = columns::<([Texts; 3], Integers)>(&batch)?;
        for row in 0..batch.num_rows() {
            if !is_asked(entity.value(row)) {
                continue;
            }
            let is_same = line.as_ref().is_some_and(|line| {
                line.entity == entity.value(row)
                    && line.recording == recording.value(row)
                    && line.ty == ty.value(row)
            });
            if !is_same {
                if let Some(line) = &line {
                    visit(line, &samples);
                }
                samples.clear();
                let [recording, entity, ty] =
                    [&recording, &entity, &ty].map(|text| text.value(row).to_owned());
                line = Some(Line { recording, entity, ty });
            }
            samples.push(value.value(row));
        }
    }
    if let Some(line) = &line {
        visit(line, &samples);
    }
    Ok(())
}

/// The columns of the result.
#[derive(Default)]
struct Rows {
    recording: Vec<String>,
    metric: Vec<String>,
    entity: Vec<String>,
    ty: Vec<String>,
    unit: Vec<&'static str>,
    method: Vec<&'static str>,
    samples: Vec<i64>,
    greatest: Vec<Option<f64>>,
    used: Vec<Option<i64>>,
    /// Of the distribution: shape, location (of maxima) or threshold (of peaks), scale.
    shape: Vec<Option<f64>>,
    location: Vec<Option<f64>>,
    scale: Vec<Option<f64>>,
    one_in: Vec<Option<i64>>,
    level: [Vec<Option<f64>>; 3],
    refused: Vec<Option<String>>,
}

impl Rows {
    fn add(&mut self, metric: &Metric, line: &Line, report: &Report, digits: i32) {
        for (method, outcome) in [("block_maxima", &report.maxima), ("peaks_over_threshold", &report.peaks)] {
            let mut row = |fit: Option<&Fit>, one_in: Option<u64>, level: [Option<f64>; 3], refused| {
                self.recording.push(line.recording.clone());
                self.metric.push(metric.name.clone());
                self.entity.push(line.entity.clone());
                self.ty.push(line.ty.clone());
                self.unit.push(metric.unit.as_str());
                self.method.push(method);
                self.samples.push(report.samples as i64);
                self.greatest.push(report.greatest.map(|greatest| shifted(greatest as f64, digits)));
                self.used.push(fit.map(|fit| fit.used as i64));
                let parameters = fit.map(|fit| match &fit.model {
                    Model::Maxima { gev, .. } => [gev.shape, gev.location, gev.scale],
                    Model::Peaks { threshold, gpd, .. } => [gpd.shape, *threshold, gpd.scale],
                });
                self.shape.push(parameters.map(|[shape, ..]| shape));
                self.location.push(parameters.map(|[_, location, _]| shifted(location, digits)));
                self.scale.push(parameters.map(|[.., scale]| shifted(scale, digits)));
                self.one_in.push(one_in.and_then(|one_in| i64::try_from(one_in).ok()));
                for (column, value) in self.level.iter_mut().zip(level) {
                    column.push(value.map(|value| shifted(value, digits)));
                }
                self.refused.push(refused);
            };
            match outcome {
                Outcome::Refused(refusal) => row(None, None, [None; 3], Some(refusal.to_string())),
                Outcome::Fitted(fit) => {
                    for (one_in, level) in &fit.levels {
                        match level {
                            Ok(level) => {
                                let all = [level.value, level.low, level.high].map(Some);
                                row(Some(fit), Some(*one_in), all, None);
                            }
                            Err(why) => {
                                row(Some(fit), Some(*one_in), [None; 3], Some(no_level(*why).to_owned()))
                            }
                        }
                    }
                }
            }
        }
    }

    fn finish(self, unit: Option<TimeScale>) -> Result<RecordBatch> {
        let texts = |values: &[String]| -> ArrayRef {
            let mut column = StringBuilder::new();
            values.iter().for_each(|value| column.append_value(value));
            Arc::new(column.finish())
        };
        let floats = |values: &[Option<f64>]| -> ArrayRef {
            let mut column = Float64Builder::new();
            values.iter().for_each(|value| column.append_option(*value));
            Arc::new(column.finish())
        };
        let integers = |values: &mut dyn Iterator<Item = Option<i64>>| -> ArrayRef {
            let mut column = Int64Builder::new();
            values.for_each(|value| column.append_option(value));
            Arc::new(column.finish())
        };
        let of_unit = |of: &&'static str| match unit {
            Some(unit) if *of == Unit::Duration.as_str() => unit.as_str().to_owned(),
            _ => (*of).to_owned(),
        };
        let units: Vec<String> = self.unit.iter().map(of_unit).collect();
        let methods: Vec<String> = self.method.iter().map(|method| (*method).to_owned()).collect();
        let mut refused = StringBuilder::new();
        self.refused.iter().for_each(|why| refused.append_option(why.as_deref()));
        let [level, low, high] = &self.level;
        RecordBatch::try_from_iter_with_nullable([
            ("recording", texts(&self.recording), false),
            ("metric", texts(&self.metric), false),
            ("entity", texts(&self.entity), false),
            ("type", texts(&self.ty), false),
            ("unit", texts(&units), false),
            ("method", texts(&methods), false),
            ("samples", integers(&mut self.samples.iter().copied().map(Some)), false),
            ("greatest", floats(&self.greatest), true),
            ("used", integers(&mut self.used.iter().copied()), true),
            ("shape", floats(&self.shape), true),
            ("location", floats(&self.location), true),
            ("scale", floats(&self.scale), true),
            ("one_in", integers(&mut self.one_in.iter().copied()), true),
            ("level", floats(level), true),
            ("low", floats(low), true),
            ("high", floats(high), true),
            ("refused", Arc::new(refused.finish()), true),
        ])
        .map_err(|e| Error::new(ErrorKind::Bug, "the columns of tails do not fit").because(e))
    }
}

fn no_level(why: NoLevel) -> &'static str {
    match why {
        NoLevel::Within => "so common a value is not in the tail: the samples have it",
        NoLevel::Beyond => "so rare a value is too far beyond the samples",
        NoLevel::Unbounded => "its interval has no upper end",
    }
}
