//! The parts of one response → its path for a picture. Not how it is drawn (see [`crate::plot`]).

use super::{Asked, Causes, Parts, check_metric, find, name_runnables, named, parts, ranked};
use crate::engine::Session;
use crate::error::Result;
use crate::picture::exact;
use crate::plot::{PathCause, PathPart, ResponsePath};
use crate::time::TimeScale;
use arrow::array::RecordBatch;
use std::collections::HashMap;

/// The response that is asked for, of these recordings or of all: the name of its recording, and its path.
///
/// # Errors
/// Those of [`check_metric`], [`find`] and [`parts`].
pub fn path(session: &Session, asked: &Asked, recordings: &[String]) -> Result<(String, ResponsePath)> {
    check_metric(session, asked)?;
    let chosen = find(session, asked, recordings)?;
    let (rows, _) = parts(session, &chosen)?;
    let scale = session.database().time_scale();
    let mut path = of_rows(&rows, &chosen.process, chosen.instance, scale)?;
    path.sentence =
        chosen.sample.as_ref().map_or_else(String::new, |sample| ranked(sample, asked.which, scale));
    Ok((chosen.recording, path))
}

/// The path of rows of one response, without a sentence about it.
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
