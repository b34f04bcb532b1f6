//! Why metrics have no samples of names that something has. Not whether anything has them (see `known`), and
//! not what is sampled.

use super::evaluate::summaries;
use super::filter::MetricFilter;
use super::known::is_of;
use crate::engine::Session;
use crate::error::Result;
use crate::library::Metric;
use crate::schema::result::{self, Texts};
use crate::selection::kinds::{Kinds, described_only, plural};
use crate::selection::pattern;
use arrow::array::RecordBatch;
use std::collections::BTreeSet;

/// Why names of the filter have no row in a summary of metrics, or in the measurement table: a sentence for
/// each name and metric. Where all metrics are asked for, a name needs samples of one of them only. Without
/// names of entities, a sentence for each metric that has no row.
///
/// # Errors
/// Those of a query.
pub(crate) fn absent(
    session: &Session,
    names: &[String],
    filter: &MetricFilter,
    summary: &RecordBatch,
) -> Result<Vec<String>> {
    let column = if summary.column_by_name("entity").is_some() { "entity" } else { "task" };
    let entities: Texts = result::column(summary, column)?;
    let metrics: Option<Texts> = match column {
        "entity" => Some(result::column(summary, "metric")?),
        _ => None,
    };
    let has = |word: &str, metric: Option<&Metric>| {
        (0..summary.num_rows()).any(|row| {
            let fits = metric.zip(metrics.as_ref()).is_none_or(|(m, names)| names.value(row) == m.name);
            fits && is_of(word, entities.value(row))
        })
    };
    let in_window = if filter.from.is_some() || filter.to.is_some() { " in the window" } else { "" };
    let Some(list) = filter.entity.as_deref() else {
        if summary.num_rows() == 0 && (metrics.is_none() || names.is_empty()) {
            return Ok(vec![format!("there are no samples{in_window}")]);
        }
        let mut without = Vec::new();
        for name in names.iter().filter(|_| metrics.is_some()) {
            let metric = session.queries().metric(name)?;
            let has_rows = metrics
                .as_ref()
                .is_some_and(|m| (0..summary.num_rows()).any(|row| m.value(row) == metric.name));
            if !has_rows {
                without.push(format!("{} has no samples{in_window}", metric.name));
            }
        }
        return Ok(without);
    };
    let mut sentences = Vec::new();
    for word in pattern::words(list) {
        if metrics.is_none() || names.is_empty() {
            if !has(word, None) {
                let kinds = Kinds::of(session, filter.recording.as_deref(), word)?;
                sentences.push(match kinds.never_ran {
                    true => described_only(word),
                    false => format!("there are no samples of '{word}'{}", kinds.apposition()),
                });
            }
            continue;
        }
        for name in names {
            let metric = session.queries().metric(name)?;
            if !has(word, Some(metric)) {
                let why = why_absent(session, metric, word, filter)?;
                if !sentences.contains(&why) {
                    sentences.push(why);
                }
            }
        }
    }
    Ok(sentences)
}

/// Why a metric has no samples of a name or pattern that something has.
///
/// # Errors
/// Those of a query.
pub(crate) fn why_absent(
    session: &Session,
    metric: &Metric,
    word: &str,
    filter: &MetricFilter,
) -> Result<String> {
    let kinds = Kinds::of(session, filter.recording.as_deref(), word)?;
    if kinds.never_ran {
        return Ok(described_only(word));
    }
    let all = MetricFilter { recording: filter.recording.clone(), ..MetricFilter::default() };
    let summary = summaries(session, std::slice::from_ref(&metric.name), &all)?;
    let types: Texts = result::column(&summary, "type")?;
    let measured: BTreeSet<String> = (0..summary.num_rows()).map(|row| types.value(row).to_owned()).collect();
    let sentence = format!("{} has no samples of '{word}'{}", metric.name, kinds.apposition());
    let is_part = filter.from.is_some() || filter.to.is_some();
    Ok(match () {
        () if measured.is_empty() => format!("{sentence}, nor of anything else"),
        () if !kinds.are_among(&measured) => format!("{sentence}; it has those of {}", plural(&measured)),
        () if is_part => format!("{sentence}, in the window"),
        () => sentence,
    })
}
