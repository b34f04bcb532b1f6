//! What the recordings of a database show of each requirement. Not for the shape of reports.

use arrow::array::RecordBatch;

use super::file::{Load, Synchronisation};
use super::known::{Known, Missing};
use super::synchronisation::{Apart, Together};
use super::wanted::{Wanted, wanted};
use super::{Outcome, Requirements, Verdict};
use crate::engine::{Param, Session};
use crate::error::{ErrorKind, Result};
use crate::metrics::{MetricFilter, summary_within, why_absent};
use crate::schema::result::{self, Fractions, Integers, Texts};
use crate::time::TimeScale;

/// Measures every requirement in a recording, in the order of the file. A requirement of what the recording
/// does not have is one without samples; one of what nothing knows is [unknown](super::Verdict::Unknown). The
/// session knows the [chains](Requirements::chains) whose steps the database has.
///
/// # Errors
/// [`ErrorKind::Usage`] for metrics and statistics that there are not, with a suggestion;
/// [`ErrorKind::Input`] for bounds that are not in the unit of what they bound, both with file and line;
/// otherwise as [`crate::metrics::summaries`].
pub fn measure(session: &Session, requirements: &Requirements, recording: &str) -> Result<Vec<Outcome>> {
    session.database().check_recording(Some(recording))?;
    let scale = session.database().time_scale();
    let known = Known::new(session);
    let mut outcomes = Vec::new();
    for wanted in wanted(requirements, session, scale)? {
        let chain = requirements.chain.iter().find(|chain| wanted.entity == Some(chain.name.get_ref()));
        let missing = match (chain, wanted.entity) {
            (Some(chain), Some(name)) if wanted.is_of_chain || !known.is_measured(name)? => {
                known.missing_step(recording, chain.steps.get_ref())?
            }
            (_, Some(entity)) => known.missing(entity)?,
            (_, None) => None,
        };
        outcomes.extend(match missing {
            Some(missing) => wanted.without_samples(session, recording, Some(missing)),
            None => of_metric(session, &wanted, recording)?,
        });
    }
    for load in &requirements.load {
        outcomes.extend(of_load(session, &known, (requirements, load), recording, scale)?);
    }
    for synchronisation in &requirements.synchronisation {
        let wanted = (requirements, synchronisation);
        outcomes.push(of_synchronisation(session, &known, wanted, recording, scale)?);
    }
    Ok(outcomes)
}

fn of_metric(session: &Session, wanted: &Wanted<'_>, recording: &str) -> Result<Vec<Outcome>> {
    let filter = MetricFilter {
        recording: Some(recording.to_owned()),
        entity: wanted.entity.map(str::to_owned),
        ..MetricFilter::default()
    };
    let (lower, upper) = (wanted.lower.unwrap_or(f64::NEG_INFINITY), wanted.upper.unwrap_or(f64::INFINITY));
    let summary = match summary_within(session, wanted.metric, &filter, lower, upper) {
        Ok(summary) => Summary(summary),
        // Metric and recording are known: only another recording has the name.
        Err(error) if error.kind() == ErrorKind::Usage && wanted.entity.is_some() => {
            let missing = Missing { verdict: Verdict::NoSamples, note: error.to_string() };
            return Ok(wanted.without_samples(session, recording, Some(missing)));
        }
        Err(error) => return Err(error),
    };
    let limits = [("upper", wanted.upper, "max"), ("lower", wanted.lower, "min")];
    let mut outcomes = Vec::new();
    for row in 0..summary.0.num_rows() {
        for (bound, limit, extreme) in limits {
            let Some(limit) = limit else { continue };
            let statistic = wanted.statistic.unwrap_or(extreme);
            let instant = match statistic {
                "max" => Some("max_at"),
                "min" => Some("min_at"),
                _ => None,
            };
            let samples = summary.integer("count", row)?.unwrap_or_default();
            let beyond = match (bound, statistic) {
                ("upper", "max") => Some("above"),
                ("lower", "min") => Some("below"),
                _ => None,
            };
            let value = match statistic {
                "count" => Some(samples as f64),
                _ => summary.number(statistic, row)?,
            };
            let outcome = Outcome {
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
                at: instant.map(|at| summary.integer(at, row)).transpose()?.flatten(),
                samples,
                incomplete: summary.integer("incomplete", row)?.unwrap_or_default(),
                violations: beyond.map(|name| summary.integer(name, row)).transpose()?.flatten(),
                ..Outcome::default()
            };
            outcomes.push(outcome.judged());
        }
    }
    if outcomes.is_empty() {
        let metric = session.queries().metric(wanted.metric)?;
        let why = wanted.entity.map(|entity| why_absent(session, metric, entity, &filter)).transpose()?;
        let missing = why.map(|note| Missing { verdict: Verdict::NoSamples, note });
        return Ok(wanted.without_samples(session, recording, missing));
    }
    Ok(outcomes)
}

fn of_load(
    session: &Session,
    known: &Known<'_>,
    (requirements, load): (&Requirements, &Load),
    recording: &str,
    scale: TimeScale,
) -> Result<Vec<Outcome>> {
    let ticks = |key: &str, bound| requirements.ticks(key, bound, 1, scale);
    let window = ticks("window", &load.window)?;
    let step = load.step.as_ref().map_or(Ok(window), |step| ticks("step", step))?;
    let sql = "SELECT p.recording, p.core, p.load, p.begin_at, w.windows, w.beyond FROM core_peak AS p \
               JOIN (SELECT recording, core, count(*) AS windows, count(*) FILTER (WHERE load > $upper) AS beyond \
               FROM core_load WHERE process IS NULL GROUP BY recording, core) AS w \
               ON p.recording = w.recording AND p.core = w.core \
               WHERE p.recording = $recording AND ($core IS NULL OR p.core = $core) \
               ORDER BY p.recording, p.core";
    let core = load.core.as_deref().map_or(Param::Null, Param::from);
    let params = [
        ("window", window.into()),
        ("step", step.into()),
        ("recording", recording.into()),
        ("core", core),
        ("upper", Param::Float(load.upper.0)),
    ];
    let requirement = |core: &str| match core {
        "" => "load".to_owned(),
        core => format!("load of {core}"),
    };
    let outcome_of = |core: String| Outcome {
        recording: recording.to_owned(),
        requirement: load.name.clone().unwrap_or_else(|| requirement(&core)),
        metric: "Load".to_owned(),
        entity: core,
        statistic: "max".to_owned(),
        unit: "percent",
        bound: "upper",
        limit: load.upper.0,
        ..Outcome::default()
    };
    let mut outcomes = Vec::new();
    for batch in session.sql(sql, &params)? {
        let batch = Summary(batch?);
        for row in 0..batch.0.num_rows() {
            let core = batch.text("core", row)?;
            let outcome = Outcome {
                value: batch.number("load", row)?,
                at: batch.integer("begin_at", row)?,
                samples: batch.integer("windows", row)?.unwrap_or_default(),
                violations: batch.integer("beyond", row)?,
                ..outcome_of(core)
            };
            outcomes.push(outcome.judged());
        }
    }
    if outcomes.is_empty() {
        let missing = load.core.as_deref().map(|core| known.missing_core(core)).transpose()?.flatten();
        let (verdict, note) = missing.map_or_else(
            || (Verdict::NoSamples, "no window of that length lies in the recording as a whole".to_owned()),
            |missing| (missing.verdict, missing.note),
        );
        let core = load.core.clone().unwrap_or_default();
        outcomes.push(Outcome { verdict, note: Some(note), ..outcome_of(core) });
    }
    Ok(outcomes)
}

/// How far events of one recording are apart that have to happen together.
fn of_synchronisation(
    session: &Session,
    known: &Known<'_>,
    (requirements, wanted): (&Requirements, &Synchronisation),
    recording: &str,
    scale: TimeScale,
) -> Result<Outcome> {
    let tolerance = requirements.ticks("tolerance", &wanted.tolerance, 0, scale)?;
    let events = wanted.events.get_ref();
    let outcome = Outcome {
        recording: recording.to_owned(),
        requirement: wanted.name.clone(),
        metric: "Synchronisation".to_owned(),
        entity: events.iter().map(|e| e.entity.as_str()).collect::<Vec<_>>().join(", "),
        statistic: "max".to_owned(),
        unit: "duration",
        bound: "upper",
        limit: tolerance as f64,
        ..Outcome::default()
    };
    if let Some(Missing { verdict, note }) = known.missing_step(recording, events)? {
        return Ok(Outcome { verdict, note: Some(note), ..outcome });
    }
    let when = events.iter().enumerate().map(|(i, event)| format!("WHEN {} THEN {i}", event.condition()));
    let sql = format!(
        "SELECT time, seq, kind, 0 AS until FROM (SELECT time, seq, CASE {} END AS kind FROM btf_event \
         WHERE recording = $recording) AS e WHERE kind IS NOT NULL \
         UNION ALL SELECT begin_at, {}, -1, end_at FROM gap WHERE recording = $recording ORDER BY time, seq",
        when.collect::<Vec<_>>().join(" "),
        i64::MAX
    );
    let bounds = "SELECT begin_at, end_at FROM recording WHERE recording = $recording";
    let (mut begin, mut end) = (i64::MIN, i64::MAX);
    for batch in session.sql(bounds, &[("recording", recording.into())])? {
        let batch = Summary(batch?);
        begin = batch.integer("begin_at", 0)?.unwrap_or(begin);
        end = batch.integer("end_at", 0)?.unwrap_or(end);
    }
    let (mut together, mut apart) = (Together::new(events.len(), begin), Vec::new());
    let (mut worst, mut samples, mut incomplete, mut violations) = (None, 0, 0, 0);
    let mut judge = |apart: &mut Vec<Apart>| {
        for a in apart.drain(..) {
            if !a.exact && a.distance <= tolerance {
                incomplete += 1;
                continue;
            }
            samples += 1;
            violations += i64::from(a.distance > tolerance);
            if worst.is_none_or(|w: Apart| a.distance > w.distance) {
                worst = Some(a);
            }
        }
    };
    for batch in session.sql(&sql, &[("recording", recording.into())])? {
        let batch = batch?;
        let times: Integers = result::column(&batch, "time")?;
        let kinds: Integers = result::column(&batch, "kind")?;
        let ends: Integers = result::column(&batch, "until")?;
        for row in 0..batch.num_rows() {
            let (Some(time), Some(kind)) = (times.get(row), kinds.get(row)) else { continue };
            match usize::try_from(kind) {
                Ok(kind) => together.push(kind, time, &mut apart),
                Err(_) => together.gap(time, ends.get(row).unwrap_or(time), &mut apart),
            }
        }
        judge(&mut apart);
    }
    together.gap(end, end, &mut apart);
    judge(&mut apart);
    Ok(Outcome {
        value: worst.map(|w| w.distance as f64),
        at: worst.map(|w| w.at),
        samples,
        incomplete,
        violations: Some(violations),
        ..outcome
    }
    .judged())
}

struct Summary(RecordBatch);

impl Summary {
    fn text(&self, name: &str, row: usize) -> Result<String> {
        Ok(result::column::<Texts>(&self.0, name)?.value(row).to_owned())
    }

    fn number(&self, name: &str, row: usize) -> Result<Option<f64>> {
        Ok(result::column::<Fractions>(&self.0, name)?.get(row))
    }

    fn integer(&self, name: &str, row: usize) -> Result<Option<i64>> {
        Ok(result::column::<Integers>(&self.0, name)?.get(row))
    }
}
