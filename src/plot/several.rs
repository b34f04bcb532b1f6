//! Several recordings under each other in one picture: their windows on one axis of time. Not what is drawn
//! of each (see `assemble`).

use super::{Context, Request, assemble, check_words, events_in, in_words, processes, span};
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::names::Interner;
use crate::picture::{Explanations, Grid, Link, Picture, Row, RowKind, Run, State};
use crate::selection::Selection;
use crate::time::format_duration;
use crate::words::words;

words! {
    /// How the times of several recordings are aligned.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Align {
        /// Each recording counts from its own begin.
        #[default]
        Begin = "begin",
        /// All have the same clock.
        Time = "time",
    }
}

/// Recordings on one axis of time, in the given order. With [`Align::Begin`] the window of the request counts
/// from the begin of each recording.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such recording, window or type, or the window is that
/// around an instance; otherwise those of a query.
pub fn plot_several(
    session: &Session,
    request: &Request,
    recordings: &[String],
    align: Align,
) -> Result<Picture> {
    if request.around.is_some() {
        return Err(Error::usage("--around is about an instance of one recording")
            .hint("choose one --recording, or a window with --from and --to"));
    }
    let Aligned { from, to, parts, words } = aligned(session, &request.selection, recordings, align)?;
    check_words(session, recordings, &request.selection)?;
    let of = |zero: i64| Grid::new(from.saturating_add(zero), to.saturating_add(zero), request.columns);
    let events = parts.iter().map(|part| events_in(session, &part.recording, of(part.zero)));
    let events: u64 = events.sum::<Result<_>>()?;
    let processes = processes(session, recordings)?;
    let mut picture = Picture {
        title: request.title.clone().unwrap_or_else(|| recordings.join(", ")),
        description: words,
        scale: session.database().time_scale(),
        from,
        to,
        names: Vec::new(),
        colours: Vec::new(),
        rows: Vec::new(),
        links: Vec::new(),
        highlight: None,
        response: None,
        explanations: Explanations::default(),
        notes: Vec::new(),
    };
    let mut names = Interner::default();
    for Part { recording, span, zero } in parts {
        let grid = if events <= request.exact_up_to { of(zero).exact() } else { of(zero) };
        let selection = request.selection.with_handlers(session, &recording)?;
        let request = &Request { selection, ..request.clone() };
        let name = recording.clone();
        let context =
            Context { session, request, recording: name, processes: &processes, grid, span, events };
        let part = assemble::picture(&context, None)?;
        picture.description += &format!("; {recording}: {}", assemble::counted(&part.rows));
        let begin = picture.rows.len();
        picture.rows.push(heading(&recording, span, grid));
        append(&mut picture, part, &recording, &mut names);
        picture.rows.iter_mut().skip(begin).for_each(|row| shift(row, zero));
        let links = picture.links.iter_mut().filter(|link| link.from_row > begin);
        links.for_each(|link| {
            link.from_at = link.from_at.saturating_sub(zero);
            link.to_at = link.to_at.saturating_sub(zero);
        });
    }
    picture.names = names.iter().map(str::to_owned).collect();
    picture.colours.sort_unstable();
    picture.colours.dedup();
    Ok(picture)
}

/// A recording on the common axis of time.
pub(super) struct Part {
    pub recording: String,
    /// Its first and last instant.
    pub span: (i64, i64),
    /// The instant that is 0 on the axis.
    pub zero: i64,
}

/// Recordings on a common axis of time.
pub(super) struct Aligned {
    /// Begin and end of the window on the axis.
    pub from: i64,
    pub to: i64,
    pub parts: Vec<Part>,
    /// The window in words.
    pub words: String,
}

pub(super) fn aligned(
    session: &Session,
    selection: &Selection,
    recordings: &[String],
    align: Align,
) -> Result<Aligned> {
    let mut parts: Vec<Part> = Vec::new();
    for recording in recordings {
        session.database().check_recording(Some(recording))?;
        if parts.iter().any(|part| part.recording == *recording) {
            return Err(Error::usage(format!("recording '{recording}' is given twice")));
        }
        let span = span(session, recording)?;
        let zero = if align == Align::Begin { span.0 } else { 0 };
        parts.push(Part { recording: recording.clone(), span, zero });
    }
    let begins = parts.iter().map(|part| part.span.0.saturating_sub(part.zero));
    let ends = parts.iter().map(|part| part.span.1.saturating_sub(part.zero).saturating_add(1));
    let from = selection.from.or(begins.min()).unwrap_or(0);
    let end = ends.max().unwrap_or(0);
    let to = selection.to.unwrap_or(end);
    if from >= to {
        return Err(Error::usage("the window is empty, or no recording reaches into it"));
    }
    let on_axis = |part: &Part| [part.span.0, part.span.1].map(|at| at.saturating_sub(part.zero));
    let scale = session.database().time_scale();
    if !parts.iter().map(on_axis).any(|[first, last]| from <= last && first < to) {
        let shown = |at| format_duration(at, scale);
        let lasts = parts.iter().map(|part| {
            let [first, last] = on_axis(part);
            format!("recording '{}' lasts from {} to {}", part.recording, shown(first), shown(last))
        });
        return Err(Error::usage("the window lies outside of all recordings")
            .hint(lasts.collect::<Vec<_>>().join("; ")));
    }
    let aligned = match align {
        Align::Begin => "each from its begin",
        Align::Time => "on one clock",
    };
    let words = format!("{aligned}: {}", in_words((from, to), (from, end.saturating_sub(1)), scale));
    Ok(Aligned { from, to, parts, words })
}

/// The row above those of a recording. Its runs are the parts of the window outside of the recording.
fn heading(recording: &str, (first, last): (i64, i64), grid: Grid) -> Row {
    let end = last.saturating_add(1);
    let outside = [(grid.from(), first.min(grid.to())), (end.max(grid.from()), grid.to())];
    let gap = |(begin, end): (i64, i64)| Run {
        begin,
        end,
        track: 0,
        state: State::Gap,
        name: None,
        instance: None,
        count: 1,
        covered: end - begin,
        occupied: 0,
        longest: end - begin,
        longest_at: begin,
    };
    let runs = outside.into_iter().filter(|(begin, end)| begin < end).map(gap).collect();
    Row { runs, ..Row::new(RowKind::Recording, recording) }
}

/// Adds the rows, lines and notes of a recording below its heading, which is the last row.
fn append(all: &mut Picture, part: Picture, recording: &str, names: &mut Interner) {
    let below = all.rows.len();
    let ids: Vec<u32> = part.names.iter().map(|name| names.intern(name)).collect();
    let id = |name: u32| ids.get(name as usize).copied().unwrap_or(name);
    for mut row in part.rows {
        row.id = format!("{recording}/{}", row.id);
        row.parent = Some(row.parent.map_or(below - 1, |parent| below + parent));
        row.runs.iter_mut().for_each(|run| run.name = run.name.map(id));
        row.marks.iter_mut().for_each(|mark| mark.name = mark.name.map(id));
        row.cut.iter_mut().for_each(|(name, _)| *name = name.map(id));
        all.rows.push(row);
    }
    let link = |l: Link| Link { from_row: below + l.from_row, to_row: below + l.to_row, ..l };
    all.links.extend(part.links.into_iter().map(link));
    all.colours.extend(part.colours.into_iter().map(|(name, colour)| (id(name), colour)));
    all.notes.extend(part.notes.into_iter().map(|note| format!("{recording}: {note}")));
}

/// Moves the content of a row to where `zero` is 0.
fn shift(row: &mut Row, zero: i64) {
    for run in &mut row.runs {
        for at in [&mut run.begin, &mut run.end, &mut run.longest_at] {
            *at = at.saturating_sub(zero);
        }
    }
    for mark in &mut row.marks {
        mark.at = mark.at.saturating_sub(zero);
        mark.last = mark.last.saturating_sub(zero);
    }
    for point in row.curve.iter_mut().flat_map(|curve| &mut curve.points) {
        point.at = point.at.saturating_sub(zero);
    }
}
