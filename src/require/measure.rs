//! What the recordings of a database show of each requirement. Not for the shape of reports.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type};

use super::chain::{Latency, Moment, paths};
use super::file::{Bound, Chain, ChainStep, Load};
use super::{Outcome, Requirements, Verdict};
use crate::error::{Error, ErrorKind, Result, did_you_mean};
use crate::query::{MetricFilter, Param, Session};
use crate::time::TimeScale;

/// The statistics that a limit can be on.
const STATISTICS: [&str; 10] =
    ["count", "min", "avg", "max", "stddev", "p50", "p95", "p99", "p999", "jitter"];

/// A metric that is asked for, and its bounds.
struct Wanted<'a> {
    name: String,
    metric: &'a str,
    entity: Option<&'a str>,
    statistic: Option<&'a str>,
    lower: Option<f64>,
    upper: Option<f64>,
}

/// Measures every requirement in a recording, in the order of the file. A requirement of what the recording does not have is
/// one without samples.
///
/// # Errors
/// [`ErrorKind::Usage`] for names that the database does not have, with a suggestion; [`ErrorKind::Input`] for bounds that
/// are no numbers or times; otherwise as [`Session::metrics`].
pub fn measure(session: &Session, requirements: &Requirements, recording: &str) -> Result<Vec<Outcome>> {
    session.check_recording(Some(recording))?;
    let scale = session.database().time_scale();
    let mut wanted = Vec::new();
    let value = |bound: &Option<Bound>| bound.as_ref().map(|b| b.value(scale)).transpose();
    for limit in &requirements.limit {
        let of = limit.entity.as_ref().map_or_else(String::new, |entity| format!(" of {entity}"));
        wanted.push(Wanted {
            name: limit.name.clone().unwrap_or_else(|| format!("{}{of}", limit.metric)),
            metric: &limit.metric,
            entity: limit.entity.as_deref(),
            statistic: limit.statistic.as_deref(),
            lower: value(&limit.lower)?,
            upper: value(&limit.upper)?,
        });
    }
    for deadline in &requirements.deadline {
        wanted.push(Wanted {
            name: deadline.name.clone().unwrap_or_else(|| format!("deadline of {}", deadline.entity)),
            metric: "ResponseTime",
            entity: Some(&deadline.entity),
            statistic: None,
            lower: None,
            upper: Some(deadline.deadline.value(scale)?),
        });
    }
    for period in &requirements.period {
        let (distance, jitter) = (period.period.value(scale)?, period.jitter.value(scale)?);
        wanted.push(Wanted {
            name: period.name.clone().unwrap_or_else(|| format!("period of {}", period.entity)),
            metric: "ActivateToActivate",
            entity: Some(&period.entity),
            statistic: None,
            lower: Some(distance - jitter),
            upper: Some(distance + jitter),
        });
    }
    let mut outcomes = Vec::new();
    for wanted in &wanted {
        outcomes.extend(of_metric(session, wanted, recording)?);
    }
    for load in &requirements.load {
        outcomes.extend(of_load(session, load, recording, scale)?);
    }
    for chain in &requirements.chain {
        outcomes.extend(of_chain(session, chain, recording, scale)?);
    }
    Ok(outcomes)
}

fn of_metric(session: &Session, wanted: &Wanted<'_>, recording: &str) -> Result<Vec<Outcome>> {
    if let Some(statistic) = wanted.statistic.filter(|s| !STATISTICS.contains(s)) {
        let error = Error::usage(format!("there is no statistic '{statistic}'"));
        return Err(match did_you_mean(statistic, STATISTICS) {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None => error.hint(format!("the statistics are: {}", STATISTICS.join(", "))),
        });
    }
    let filter = MetricFilter {
        recording: Some(recording.to_owned()),
        entity: wanted.entity.map(str::to_owned),
        ..MetricFilter::default()
    };
    let summary = Summary(session.metrics(&[wanted.metric.to_owned()], &filter)?);
    let mut outcomes = Vec::new();
    for row in 0..summary.0.num_rows() {
        for (bound, limit, extreme) in [("upper", wanted.upper, "max"), ("lower", wanted.lower, "min")] {
            let Some(limit) = limit else { continue };
            let statistic = wanted.statistic.unwrap_or(extreme);
            let instant = match statistic {
                "max" => Some("max_at"),
                "min" => Some("min_at"),
                _ => None,
            };
            let samples = summary.integer("count", row)?.unwrap_or_default();
            let value = match statistic {
                "count" => Some(samples as f64),
                _ => summary.number(statistic, row)?,
            };
            outcomes.push(
                Outcome {
                    recording: summary.text("recording", row)?,
                    requirement: wanted.name.clone(),
                    metric: summary.text("metric", row)?,
                    entity: summary.text("entity", row)?,
                    statistic: statistic.to_owned(),
                    unit: match summary.text("unit", row)?.as_str() {
                        "duration" if statistic != "count" => "duration",
                        "percent" if statistic != "count" => "percent",
                        _ => "count",
                    },
                    bound,
                    limit,
                    value,
                    margin: None,
                    at: instant.map(|at| summary.integer(at, row)).transpose()?.flatten(),
                    samples,
                    verdict: Verdict::NoSamples,
                }
                .judged(),
            );
        }
    }
    if outcomes.is_empty() {
        // The entity exists, or its name would have been refused.
        let limits = [("upper", wanted.upper, "max"), ("lower", wanted.lower, "min")];
        outcomes.extend(limits.into_iter().filter_map(|(bound, limit, extreme)| {
            Some(
                Outcome {
                    recording: recording.to_owned(),
                    requirement: wanted.name.clone(),
                    metric: wanted.metric.to_owned(),
                    entity: wanted.entity.unwrap_or_default().to_owned(),
                    statistic: wanted.statistic.unwrap_or(extreme).to_owned(),
                    unit: "duration",
                    bound,
                    limit: limit?,
                    value: None,
                    margin: None,
                    at: None,
                    samples: 0,
                    verdict: Verdict::NoSamples,
                }
                .judged(),
            )
        }));
    }
    Ok(outcomes)
}

fn of_load(session: &Session, load: &Load, recording: &str, scale: TimeScale) -> Result<Vec<Outcome>> {
    let window = load.window.ticks(scale)?;
    let step = load.step.as_ref().map_or(Ok(window), |step| step.ticks(scale))?;
    let sql = "SELECT recording, core, load, begin_at FROM core_peak \
               WHERE recording = $recording AND ($core IS NULL OR core = $core) \
               ORDER BY recording, core";
    let core = load.core.as_deref().map_or(Param::Null, Param::from);
    let params =
        [("window", window.into()), ("step", step.into()), ("recording", recording.into()), ("core", core)];
    let mut outcomes = Vec::new();
    for batch in session.sql(sql, &params)? {
        let batch = Summary(batch?);
        for row in 0..batch.0.num_rows() {
            let core = batch.text("core", row)?;
            outcomes.push(
                Outcome {
                    recording: batch.text("recording", row)?,
                    requirement: load.name.clone().unwrap_or_else(|| format!("load of {core}")),
                    metric: "Load".to_owned(),
                    entity: core,
                    statistic: "max".to_owned(),
                    unit: "percent",
                    bound: "upper",
                    limit: load.upper,
                    value: batch.number("load", row)?,
                    margin: None,
                    at: batch.integer("begin_at", row)?,
                    samples: 0,
                    verdict: Verdict::NoSamples,
                }
                .judged(),
            );
        }
    }
    if outcomes.is_empty() {
        if let Some(core) = &load.core {
            // Refuses a core that is not there.
            let filter = MetricFilter { entity: Some(core.clone()), ..MetricFilter::default() };
            session.metrics(&["CPULoad".to_owned()], &filter)?;
        }
        let message = format!("no window of a required load lies in the recording '{recording}' as a whole");
        return Err(Error::usage(message).hint("take a shorter window"));
    }
    Ok(outcomes)
}

fn of_chain(session: &Session, chain: &Chain, recording: &str, scale: TimeScale) -> Result<Vec<Outcome>> {
    let events =
        chain.steps.iter().map(|step| events(session, step, recording)).collect::<Result<Vec<_>>>()?;
    let paths = paths(&events);
    let mut outcomes = Vec::new();
    for (metric, bound, latencies) in
        [("Reaction", &chain.reaction, &paths.reactions), ("Age", &chain.age, &paths.ages)]
    {
        let Some(bound) = bound else { continue };
        let length = |l: &&Latency| (l.end - l.begin, std::cmp::Reverse(l.begin));
        let worst = latencies.iter().max_by_key(length);
        outcomes.push(
            Outcome {
                recording: recording.to_owned(),
                requirement: format!("{} of {}", metric.to_lowercase(), chain.name),
                metric: metric.to_owned(),
                entity: chain.name.clone(),
                statistic: "max".to_owned(),
                unit: "duration",
                bound: "upper",
                limit: bound.value(scale)?,
                value: worst.map(|l| (l.end - l.begin) as f64),
                margin: None,
                at: worst.map(|l| l.begin),
                samples: latencies.len() as i64,
                verdict: Verdict::NoSamples,
            }
            .judged(),
        );
    }
    Ok(outcomes)
}

/// The events of a step, in their order.
fn events(session: &Session, step: &ChainStep, recording: &str) -> Result<Vec<Moment>> {
    let sql = "SELECT time, seq FROM btf_event WHERE recording = $recording AND target = $entity AND action = $action \
               AND ($source IS NULL OR source = $source) ORDER BY time, seq";
    let source = step.source.as_deref().map_or(Param::Null, Param::from);
    let entity = step.entity.as_str();
    let params = [
        ("recording", recording.into()),
        ("entity", entity.into()),
        ("action", step.action.as_str().into()),
        ("source", source),
    ];
    let mut moments = Vec::new();
    for batch in session.sql(sql, &params)? {
        let batch = Summary(batch?);
        for row in 0..batch.0.num_rows() {
            moments.extend(batch.integer("time", row)?.zip(batch.integer("seq", row)?));
        }
    }
    if moments.is_empty() {
        check_step(session, step)?;
    }
    Ok(moments)
}

/// Fails when nothing like the step is anywhere in the database, which is a mistake in its names.
fn check_step(session: &Session, step: &ChainStep) -> Result<()> {
    let mut known = Vec::new();
    for batch in session.sql("SELECT DISTINCT target AS name FROM btf_event", &[])? {
        let batch = Summary(batch?);
        for row in 0..batch.0.num_rows() {
            known.push(batch.text("name", row)?);
        }
    }
    if !known.contains(&step.entity) {
        return Err(unknown("entity", &step.entity, &known));
    }
    let mut actions = Vec::new();
    let sql = "SELECT DISTINCT action AS name FROM btf_event WHERE target = $entity";
    for batch in session.sql(sql, &[("entity", step.entity.as_str().into())])? {
        let batch = Summary(batch?);
        for row in 0..batch.0.num_rows() {
            actions.push(batch.text("name", row)?);
        }
    }
    if !actions.contains(&step.action) {
        return Err(unknown(&format!("action of {}", step.entity), &step.action, &actions));
    }
    Ok(())
}

fn unknown(what: &str, name: &str, known: &[String]) -> Error {
    let error = Error::usage(format!("there is no {what} '{name}'"));
    match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error,
    }
}

/// Rows by the names of their columns.
struct Summary(RecordBatch);

impl Summary {
    fn column(&self, name: &str) -> Result<&ArrayRef> {
        let missing = || Error::new(ErrorKind::Bug, format!("a result has no column '{name}'"));
        self.0.column_by_name(name).ok_or_else(missing)
    }

    fn cast(&self, name: &str, ty: &DataType) -> Result<ArrayRef> {
        let bug = |e| Error::new(ErrorKind::Bug, format!("the column '{name}' has another type")).because(e);
        cast(self.column(name)?, ty).map_err(bug)
    }

    fn text(&self, name: &str, row: usize) -> Result<String> {
        let column = self.cast(name, &DataType::Utf8)?;
        Ok(if column.is_valid(row) { column.as_string::<i32>().value(row).to_owned() } else { String::new() })
    }

    fn number(&self, name: &str, row: usize) -> Result<Option<f64>> {
        let column = self.cast(name, &DataType::Float64)?;
        Ok(column.is_valid(row).then(|| column.as_primitive::<Float64Type>().value(row)))
    }

    fn integer(&self, name: &str, row: usize) -> Result<Option<i64>> {
        let column = self.cast(name, &DataType::Int64)?;
        Ok(column.is_valid(row).then(|| column.as_primitive::<Int64Type>().value(row)))
    }
}
