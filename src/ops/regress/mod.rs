//! `regress`: whether metrics are others in recordings of a new build than in those of an old one, and what
//! made them so. Not the statistics (see [`crate::regress`]), nor the text of a report.

mod causes;
mod gate_file;
mod history;
mod overload;
mod picture;
mod report;
mod rows;
mod samples;

pub use gate_file::GateFile;
pub use history::{History, history};
pub use picture::picture;
pub use report::{CauseRow, Report, Row};

use self::samples::{Names, summaries};
use super::Choice;
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::library::{Metric, Unit};
use crate::regress::{Gate, Side, Verdict, compare, judge};
use crate::selection::pattern;
use crate::store::Database;
use std::collections::{BTreeMap, BTreeSet};

/// The metrics that are compared when none are named.
pub const METRICS: [&str; 4] = ["ResponseTime", "StartDelay", "NetExecutionTime", "RunnableNetExecutionTime"];

/// What is compared, and what has to be shown.
#[derive(Debug, Clone, Default)]
pub struct RegressOptions {
    /// Metrics of durations; [`METRICS`] if empty.
    pub metrics: Vec<String>,
    /// Tasks, ISRs and runnables: a list of names and patterns; `None`: all that have samples.
    pub entities: Option<String>,
    /// What has to be shown.
    pub gate: Gate,
}

/// The database with the recordings that fit one of the words at least: a name, a list of names and
/// patterns, or `LABEL=VALUE`. All recordings if there are no words.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for a word that no recording fits; those of reading the log.
pub fn chosen(database: &Database, words: &[String]) -> Result<Database> {
    let mut names = BTreeSet::new();
    for word in words {
        let is_label = word.contains('=') && database.recording(word)?.is_none();
        let choice = match is_label {
            true => Choice { recording: None, labels: vec![word.clone()] },
            false => Choice { recording: Some(word.clone()), labels: Vec::new() },
        };
        let fitting = choice.of(database.clone())?;
        names.extend(fitting.recordings()?.iter().map(|recording| recording.name.clone()));
    }
    if words.is_empty() {
        return Ok(database.clone());
    }
    let all = database.recordings()?.iter();
    Ok(database.only(all.filter(|recording| names.contains(&recording.name)).cloned().collect()))
}

/// Both sides in one database: recordings that fit `before`, or all others if there are no words, and those
/// that fit `after`.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for a recording on both sides, and a side without recordings; as
/// [`chosen`].
pub fn both(database: &Database, before: &[String], after: &[String]) -> Result<(Database, Database)> {
    let after = chosen(database, after)?;
    let is_after: BTreeSet<&str> = after.recordings()?.iter().map(|one| one.name.as_str()).collect();
    if before.is_empty() {
        let others = database.recordings()?.iter().filter(|one| !is_after.contains(one.name.as_str()));
        let before = database.only(others.cloned().collect());
        if before.recordings()?.is_empty() {
            return Err(Error::usage("no recording is left to compare with")
                .hint("name those of the build before: btfdb regress DB BASE --against NEW"));
        }
        return Ok((before, after));
    }
    let before = chosen(database, before)?;
    if let Some(shared) = before.recordings()?.iter().find(|one| is_after.contains(one.name.as_str())) {
        return Err(Error::usage(format!("the recording '{}' is on both sides", shared.name))
            .hint("each recording is one of the build before or of the new one"));
    }
    Ok((before, after))
}

/// Compares the recordings of two sessions. Rows are in the order of the metrics, then of entities.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for a metric that is no duration of instances, entities of which
/// neither side has samples, databases with different units of time; those of a query.
pub fn regress(before: &Session, after: &Session, options: &RegressOptions) -> Result<Report> {
    let scale = before.database().time_scale();
    if scale != after.database().time_scale() {
        return Err(Error::usage("the two databases count time in different units")
            .hint("make one of them anew with the --time-scale of the other"));
    }
    let metrics = metrics(before, &options.metrics)?;
    let mut sides: BTreeMap<(usize, Names), [Side; 2]> = BTreeMap::new();
    for (n, metric) in metrics.iter().enumerate() {
        for (side, session) in [before, after].into_iter().enumerate() {
            summaries(session, metric, options.entities.as_deref(), |_, names, summary| {
                if let Some(side) = sides.entry((n, names)).or_default().get_mut(side) {
                    side.push(summary);
                }
            })?;
        }
    }
    check_entities(before, &metrics, options, &sides.keys().map(|(_, names)| names))?;
    for (side, session) in [before, after].into_iter().enumerate() {
        let overloaded = overload::overloaded(session)?;
        for ((_, names), sides) in &mut sides {
            if let Some(side) = sides.get_mut(side).filter(|_| overloaded.contains(names)) {
                side.set_overloaded();
            }
        }
    }
    let mut comparisons: Vec<_> =
        sides.values().map(|[before, after]| compare(before, after, &options.gate)).collect();
    if comparisons.iter().all(|one| one.before.is_none() || one.after.is_none()) {
        return Err(Error::usage("there is nothing that both sides have samples of")
            .hint("`btfdb metrics` shows which metrics and entities have samples"));
    }
    judge(&mut comparisons, &options.gate);
    let judged: Vec<_> = sides
        .keys()
        .zip(&comparisons)
        .map(|((n, names), one)| (metrics.get(*n).map_or("", |metric| &metric.name), names, one))
        .collect();
    let has_causes = |metric: &str| [causes::RESPONSE, causes::EXECUTION].contains(&metric);
    let needs_causes =
        judged.iter().any(|(metric, _, one)| has_causes(metric) && one.verdict == Verdict::Changed);
    let responses = if needs_causes { causes::responses(before, after)? } else { Vec::new() };
    let names = |session: &Session| -> Result<Vec<String>> {
        Ok(session.database().recordings()?.iter().map(|one| one.name.clone()).collect())
    };
    let causes = |metric: &str, entity: &str| causes::of(metric, entity, &responses);
    let rows = judged.iter().flat_map(|judged| report::rows(*judged, &options.gate, &causes)).collect();
    Ok(Report::new((names(before)?, names(after)?), rows, scale, options.gate.alpha))
}

/// The metrics of these names, each once.
fn metrics<'s>(session: &'s Session, names: &[String]) -> Result<Vec<&'s Metric>> {
    let names: Vec<&str> = match names.is_empty() {
        true => METRICS.to_vec(),
        false => names.iter().map(String::as_str).collect(),
    };
    let mut metrics: Vec<&Metric> = Vec::new();
    for name in names {
        let metric = metric(session, name)?;
        if metrics.iter().all(|one| one.name != metric.name) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

/// A metric whose rows are samples of time.
fn metric<'s>(session: &'s Session, name: &str) -> Result<&'s Metric> {
    let metric = session.queries().metric(name)?;
    if metric.unit == Unit::Duration && metric.fold.is_none() && metric.params.is_empty() {
        return Ok(metric);
    }
    Err(Error::usage(format!("{} is no duration with a sample per instance", metric.name))
        .hint("ResponseTime, NetExecutionTime, RunnableNetExecutionTime and others are"))
}

/// Fails for a name or pattern that nothing with samples fits.
fn check_entities<'n>(
    session: &Session,
    metrics: &[&Metric],
    options: &RegressOptions,
    found: &(impl Iterator<Item = &'n Names> + Clone),
) -> Result<()> {
    let Some(list) = &options.entities else { return Ok(()) };
    let missing =
        pattern::words(list).find(|word| !found.clone().any(|names| pattern::fits(word, &names.entity)));
    let Some(word) = missing else { return Ok(()) };
    let mut known = BTreeSet::new();
    for metric in metrics {
        known.extend(
            session.names(&format!("SELECT DISTINCT entity FROM (\n{}\n) AS sample", metric.sql), &[])?,
        );
    }
    let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    Err(Error::usage(format!("neither side has samples of {} of '{word}'", names.join(", "))).hint_near(
        word,
        known.iter().map(String::as_str),
        |all| format!("those that have are: {all}"),
    ))
}
