//! The parts of one response → its path for a picture. Not how it is drawn (see [`crate::plot`]).

use super::{
    Asked, Causes, Parts, Sample, check_metric, find, lost_activations, name_runnables, named, parts, ranked,
};
use crate::engine::Session;
use crate::error::Result;
use crate::picture::exact;
use crate::plot::{PathCause, PathPart, PathRemark, ResponsePath};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::collections::HashMap;

/// The metric whose samples begin with a response and end where the instance starts.
const START_DELAY: &str = "StartDelay";
/// So many lost activations are named, the first ones.
const MOST_LOST: usize = 20;

/// The response that is asked for, of these recordings or of all: the name of its recording, and its path.
///
/// # Errors
/// Those of [`check_metric`], [`find()`], [`parts()`] and [`lost_activations`].
pub fn path(session: &Session, asked: &Asked, recordings: &[String]) -> Result<(String, ResponsePath)> {
    check_metric(session, asked)?;
    let chosen = find(session, asked, recordings)?;
    let (rows, _) = parts(session, &chosen)?;
    let scale = session.database().time_scale();
    let mut path = of_rows(&rows, &chosen.process, chosen.instance, scale)?;
    if let Some(sample) = &chosen.sample {
        let said = [std::mem::take(&mut path.sentence), ranked(sample, asked.which, scale)];
        path.sentence = said.join(" ").trim_start().to_owned();
        path.sample = end_of(sample, &path);
    }
    let lost = match path.span() {
        Some(span) => lost_activations(session, &chosen, span)?,
        None => Vec::new(),
    };
    for lost in lost.into_iter().take(MOST_LOST) {
        let by = lost.by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default();
        let words = format!("lost{by}");
        path.remarks.push(PathRemark { name: chosen.process.clone(), at: lost.at, words });
        // It has a row, as the one that is not lost has: the picture shows where it came from.
        if let Some(by) = lost.by.filter(|by| !path.activators.contains(by)) {
            path.activators.push(by);
        }
    }
    Ok((chosen.recording, path))
}

/// Where a start delay ends: it is shorter than the response, which alone would be marked.
fn end_of(sample: &Sample, path: &ResponsePath) -> Option<(i64, String)> {
    let end = path.span()?.0.saturating_add(sample.value as i64);
    // A metric of the user may have the name of another one: what ends within a part is something else.
    let is_there = sample.metric == START_DELAY && path.parts.iter().skip(1).any(|part| part.begin == end);
    is_there.then(|| (end, sample.metric.clone()))
}

/// The path of rows of one response, without a sentence about the sample.
fn of_rows(rows: &[RecordBatch], process: &str, instance: i64, scale: TimeScale) -> Result<ResponsePath> {
    let mut path = ResponsePath { process: process.to_owned(), ..ResponsePath::default() };
    let mut places: HashMap<String, usize> = HashMap::new();
    let named_runnables = name_runnables(rows)?;
    for batch in rows {
        let mut columns = Parts::of(batch)?;
        columns.causes.is_outside_named = named_runnables;
        if path.parts.is_empty() {
            path.is_isr = columns.is_isr(0);
            path.activators = columns.activators();
            if let (Some(by), Some(name)) = (columns.activator(), path.activators.first().cloned()) {
                path.sentence = format!("Activated by {by}.");
                let words = format!("activates {}", named(process, Some(instance)));
                path.remarks.push(PathRemark { name, at: columns.span(0).0, words });
            }
        }
        for row in 0..batch.num_rows() {
            let words = columns.causes.sentence(row, process, false);
            let cause = match places.get(&words) {
                Some(place) => *place,
                None => {
                    places.insert(words.clone(), path.causes.len());
                    let cause = cause(&columns.causes, row, words, &path);
                    path.causes.push(cause);
                    path.causes.len() - 1
                }
            };
            let (begin, end) = columns.span(row);
            path.parts.push(PathPart { begin, end, cause });
        }
    }
    let (begin, end) = path.span().unwrap_or_default();
    path.label = format!(
        "{} took {}, from {} to {}",
        named(process, Some(instance)),
        exact(end.saturating_sub(begin), scale),
        exact(begin, scale),
        exact(end, scale)
    );
    Ok(path)
}

/// A cause of its own. Of causes with the same label, the later ones have a number.
fn cause(causes: &Causes, row: usize, words: String, path: &ResponsePath) -> PathCause {
    let (state, label) = (causes.state(row), causes.label(row));
    let is_taken = |label: &str| path.causes.iter().any(|cause| cause.state == state && cause.label == label);
    let mut numbered = (2..).map(|n| format!("{label} ({n})"));
    let label = match is_taken(&label) {
        true => numbered.find(|label| !is_taken(label)).unwrap_or(label),
        false => label,
    };
    let rows = causes.rows(row, &path.process);
    PathCause { state, label, words, core: causes.core(row).map(str::to_owned), rows }
}
