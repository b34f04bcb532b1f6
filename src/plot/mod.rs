//! A recording → the [`Picture`] of a window of it: its rows, their content, and notes about what is left
//! out. Not how a picture is drawn (see [`crate::render`]) or reduced to pixels (see [`crate::picture`]).

mod around;
mod assemble;
mod chart;
mod cores;
mod cut;
mod grasp;
mod instances;
mod links;
mod loads;
mod natural;
mod objects;
mod path;
mod rare;
mod runnables;
mod several;
mod show;
mod signals;
mod states;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch};

use crate::btf::EntityType;
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::picture::{Grid, Picture, exact};
use crate::schema::columns::process_instance;
use crate::schema::{tables, view};
use crate::selection::{Selection, check_names_in_any, check_types, in_any};
use crate::store::{Scan, Within};
use crate::time::{TimeScale, check_order};
use natural::natural;

pub use around::Around;
#[cfg(test)]
use chart::chart;
pub use chart::{ChartRequest, Form, charts};
pub use path::{PathCause, PathPart, PathRemark, ResponsePath};
pub use several::{Align, plot_several};
pub use show::Rows;

/// What to draw.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Recording, window, and which entities and types (as BTF abbreviates them; `C`: cores) get rows; by
    /// default, the number of events in the window decides.
    pub selection: Selection,
    /// Rows of tasks, of cores, or both.
    pub rows: Rows,
    /// The window is the life of the instance with the extreme of a metric, with a margin.
    pub around: Option<Around>,
    /// The window is a response, and its path is drawn, with the rows of all that it names.
    pub path: Option<Arc<ResponsePath>>,
    /// Number of pixel columns for the time.
    pub columns: u32,
    /// Windows with at most this many system events are drawn exactly, not reduced to columns.
    pub exact_up_to: u64,
    /// The picture is for a page, which says of instances that they are cut off.
    pub for_page: bool,
    /// Deadlines of tasks and ISRs: how long after its activation an instance has to end, in ticks.
    pub deadlines: Vec<(String, i64)>,
    /// Text above the picture; default: the name of the recording.
    pub title: Option<String>,
}

/// A request, and facts about the recording.
pub(crate) struct Context<'a> {
    pub session: &'a Session,
    pub request: &'a Request,
    pub recording: String,
    /// The names of all tasks and ISRs of all recordings of the picture, in the order of their colours.
    pub processes: &'a [String],
    pub grid: Grid,
    /// First and last instant of the recording.
    pub span: (i64, i64),
    /// Approximate number of system events in the window.
    pub events: u64,
}

/// Draws a window of a recording.
///
/// # Errors
/// [`ErrorKind::Usage`] when there is no such recording, window, metric or type; otherwise those of a query.
pub fn plot(session: &Session, request: &Request) -> Result<Picture> {
    let recording = request.selection.recording(session).map_err(|error| {
        match session.database().count() > 1 && request.selection.recording.is_none() {
            true => error.hint("or draw them under each other: --recording for each of them"),
            false => error,
        }
    })?;
    let span = span(session, &recording)?;
    check(session, &recording, &request.selection)?;
    let selection = request.selection.with_handlers(session, &recording)?;
    let request = &Request { selection, ..request.clone() };
    let found = match (&request.path, &request.around) {
        (Some(path), _) => Some(path.found(span)?),
        (None, Some(around)) => Some(around::find(session, &recording, around, &request.selection, span)?),
        (None, None) => None,
    };
    let (from, to) = match &found {
        Some(found) => (found.from, found.to),
        None => window(&request.selection, span)?,
    };
    let grid = Grid::new(from, to, request.columns);
    let events = events_in(session, &recording, grid)?;
    let grid = if events <= request.exact_up_to { grid.exact() } else { grid };
    let processes = processes(session, std::slice::from_ref(&recording))?;
    let context = Context { session, request, recording, processes: &processes, grid, span, events };
    assemble::picture(&context, found.as_ref())
}

view! {
    struct Kinds of process_instance { process, r#type }
}

/// The names of all tasks of recordings, then those of their ISRs, in natural order.
fn processes(session: &Session, recordings: &[String]) -> Result<Vec<String>> {
    let (begin, end) = (process_instance::ACTIVATE_AT, process_instance::TERMINATE_AT);
    let within = Within { begin, end, from: i64::MIN, to: i64::MAX };
    let mut names: BTreeSet<(bool, String)> = BTreeSet::new();
    for recording in recordings {
        let table = tables::PROCESS_INSTANCE;
        let scan = Scan { table, recording, columns: Kinds::COLUMNS, within, having: None };
        let add = |names: &mut BTreeSet<(bool, String)>, batch: &RecordBatch| -> Result<()> {
            let rows = Kinds::of(batch)?;
            let isr =
                rows.r#type.translate(|name| Some(EntityType::parse_tolerant(name) == Some(EntityType::Isr)));
            let mut seen = vec![[false; 2]; rows.process.dictionary().len()];
            for row in 0..rows.len() {
                let place = rows.process.key(row).and_then(|key| seen.get_mut(key));
                if let Some(seen) = place {
                    seen[usize::from(isr.get(row).unwrap_or(false))] = true;
                }
            }
            for (key, kinds) in seen.into_iter().enumerate() {
                let name = || rows.process.dictionary().value(key).to_owned();
                names.extend(
                    [false, true].into_iter().zip(kinds).filter(|(_, seen)| *seen).map(|k| (k.0, name())),
                );
            }
            Ok(())
        };
        names.extend(session.scanner().scan(&scan, BTreeSet::new, add)?.into_iter().flatten());
    }
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| natural(&a.1, &b.1)));
    let mut known = BTreeSet::new();
    Ok(names.into_iter().map(|(_, name)| name).filter(|name| known.insert(name.clone())).collect())
}

/// Fails if a name, a type of BTF or the window of a selection selects nothing.
fn check(session: &Session, recording: &str, selection: &Selection) -> Result<()> {
    selection.check_window(session, recording)?;
    check_words(session, &[recording.to_owned()], selection)
}

/// Fails if a name or a type of BTF selects nothing in any of the recordings.
fn check_words(session: &Session, recordings: &[String], selection: &Selection) -> Result<()> {
    check_names_in_any(session, recordings, &selection.entities)?;
    // Pictures have kinds of rows of their own, which `Show` knows.
    match selection.types.iter().all(|word| EntityType::parse_tolerant(word).is_some()) {
        true => in_any(recordings, &|recording| check_types(session, recording, &selection.types)),
        false => Ok(()),
    }
}

/// The requested window, or the whole recording.
fn window(selection: &Selection, span: (i64, i64)) -> Result<(i64, i64)> {
    let from = selection.from.unwrap_or(span.0);
    let to = selection.to.unwrap_or_else(|| span.1.saturating_add(1));
    check_order(selection.from, selection.to).map_err(Error::usage)?;
    match from < to {
        true => Ok((from, to)),
        false => Err(Error::usage("the window lies outside the recording")),
    }
}

/// A window: `20 ns to 99.00086 ms, 99.00084 ms`. The window of a whole recording ends one tick after its
/// last event; the text names the last event.
fn in_words((from, to): (i64, i64), span: (i64, i64), scale: TimeScale) -> String {
    let end = if to == span.1.saturating_add(1) { span.1 } else { to };
    let long = exact(end.saturating_sub(from), scale);
    format!("{} to {}, {long}", exact(from, scale), exact(end, scale))
}

view! {
    struct RecordingSpan of recording { begin_at, end_at }
}

/// First and last instant of a recording.
fn span(session: &Session, name: &str) -> Result<(i64, i64)> {
    let rows = session.scanner().rows(tables::RECORDING, name, RecordingSpan::COLUMNS)?;
    let mut found = None;
    for batch in &rows {
        let span = RecordingSpan::of(batch)?;
        found = found.or(span.begin_at.get(0).zip(span.end_at.get(0)));
    }
    found.ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("recording '{name}' has no record with a time"))
            .hint("there is nothing to draw")
    })
}

/// The first instant of a recording.
///
/// # Errors
/// [`ErrorKind::Usage`] when it has none.
pub fn begin_of(session: &Session, recording: &str) -> Result<i64> {
    Ok(span(session, recording)?.0)
}

/// Approximate number of system events in a window: those of the files, by their share of the time.
fn events_in(session: &Session, recording: &str, grid: Grid) -> Result<u64> {
    let share = |file: crate::store::FileEntry| {
        let (Some(begin), Some(end)) = (file.begin_at, file.end_at) else { return file.rows };
        let (begin, end) = (i128::from(begin), i128::from(end) + 1);
        let inside = end.min(i128::from(grid.to())) - begin.max(i128::from(grid.from()));
        let rows = i128::from(file.rows) * inside.max(0) / (end - begin).max(1);
        u64::try_from(rows).unwrap_or(file.rows)
    };
    Ok(session.database().files(tables::BTF_EVENT, Some(recording))?.into_iter().map(share).sum())
}
