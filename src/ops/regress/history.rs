//! A metric of an entity over many recordings → from which one on it is another one. Not for two builds that
//! are known.

use super::report::statistic;
use super::samples::summaries;
use super::{RegressOptions, metric};
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::regress::{Statistic, Summary, change_points};
use serde::Serialize;
use std::collections::HashMap;

/// Recordings that a history needs.
const LEAST: usize = 5;

/// The changes of a metric of an entity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct History {
    /// Name of the metric.
    pub metric: String,
    /// Task, ISR or runnable.
    pub entity: String,
    /// `mean`, `p99` or `max`.
    pub statistic: &'static str,
    /// The recordings with samples, in the order in which they came into the database.
    pub recordings: Vec<String>,
    /// In the order of the recordings.
    pub changes: Vec<Change>,
}

/// A change in a history. Values are ticks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The first recording after it.
    pub recording: String,
    /// The place is between these two with a probability of 95 %: the first recording after it at the
    /// earliest.
    pub earliest: String,
    /// Likewise at the latest.
    pub latest: String,
    /// The probability that the place is exact.
    pub confidence: f64,
    /// The probability of so clear a change if the order of the recordings meant nothing.
    pub p_value: f64,
    /// Mean over the recordings before it, of the statistic of each.
    pub before: f64,
    /// Likewise after it.
    pub after: f64,
}

/// Looks for changes of `METRIC:ENTITY` over the recordings of a session, in the order in which they came
/// into the database. The statistic is the first one of the gate.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] for another form, a metric that is no duration of instances, and less
/// than five recordings with samples; those of a query.
pub fn history(session: &Session, asked: &str, options: &RegressOptions) -> Result<History> {
    let (name, entity) = asked
        .split_once(':')
        .filter(|(name, entity)| !name.is_empty() && !entity.is_empty())
        .ok_or_else(|| {
            Error::usage(format!("'{asked}' lacks a metric or an entity"))
                .hint("METRIC:ENTITY, e.g. ResponseTime:T_5")
        })?;
    let metric = metric(session, name)?;
    let mut found: HashMap<String, Summary> = HashMap::new();
    // A name that looks like a list or a pattern is one of its own, too.
    summaries(session, metric, Some(entity), |recording, names, mut summary| {
        if names.entity == entity {
            summary.finish();
            found.insert(recording.to_owned(), summary);
        }
    })?;
    let in_order = session.database().recordings()?.iter();
    let (recordings, summaries): (Vec<String>, Vec<Summary>) =
        in_order.filter_map(|one| found.remove(&one.name).map(|summary| (one.name.clone(), summary))).unzip();
    if recordings.len() < LEAST {
        return Err(Error::usage(format!(
            "{} recordings have samples of {} of '{entity}'",
            recordings.len(),
            metric.name
        ))
        .hint(format!("a history needs {LEAST} recordings")));
    }
    let of = options.gate.statistics.first().copied().unwrap_or(Statistic::Mean);
    let name = |index: usize| recordings.get(index).cloned().unwrap_or_default();
    let changes = change_points(&summaries, of, &options.gate)
        .into_iter()
        .map(|change| Change {
            recording: name(change.index),
            earliest: name(change.range.0),
            latest: name(change.range.1),
            confidence: change.confidence,
            p_value: change.p_value,
            before: change.before,
            after: change.after,
        })
        .collect();
    Ok(History {
        metric: metric.name.clone(),
        entity: entity.to_owned(),
        statistic: statistic(of),
        recordings,
        changes,
    })
}
