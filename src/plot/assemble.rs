//! All rows of a picture in order, with lines between them and notes about what is left out. Reads no table.

use std::collections::BTreeMap;

use super::around::Found;
use super::cores::Homes;
use super::links::Idle;
use super::natural::natural;
use super::show::{Rows, Show};
use super::states::States;
use super::{
    Context, cut, grasp, in_words, instances, links, objects, path, rare, runnables, signals, states,
};
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{Explanations, Highlight, Mark, Marks, Name, Picture, Row, RowKind, Run, Runs, spread};
use crate::selection::pattern;

/// Maximum number of rows of one kind.
const MAX_ROWS: usize = 120;
/// What a picture of a response has rows for, if no types are asked for.
const OF_A_PATH: [RowKind; 7] = [
    RowKind::Core,
    RowKind::Task,
    RowKind::Isr,
    RowKind::Semaphore,
    RowKind::Event,
    RowKind::Stimulus,
    RowKind::Trace,
];

pub(super) fn picture(context: &Context<'_>, found: Option<&Found>) -> Result<Picture> {
    let request = context.request;
    let mut show = Show::new(request.rows, &request.selection.types, context.events)?;
    let entities = &request.selection.entities;
    let named = request.path.as_deref().map(path::Shown::of);
    if named.is_some() && request.selection.types.is_empty() {
        show.only(&OF_A_PATH);
    }
    // Without names, a picture has all rows, but one of a response those that it names.
    let by_name =
        |name: &str| request.selection.has_entity(name) && !(named.is_some() && entities.is_empty());
    let is_named = |kind, label: &str| named.as_ref().is_some_and(|named| named.has(kind, label));
    let chosen = |name: &str| by_name(name) || named.as_ref().is_some_and(|named| named.has_process(name));
    let mut names = Interner::default();
    let mut notes = Vec::new();

    let mut homes = Homes::read(context)?;
    let (mut others, holds) = objects::read(context, &show, &mut names)?;
    if show.has(RowKind::Signal) {
        others.extend(signals::read(context, &homes, &mut names)?);
    }
    others.extend(grasp::read(context, &show)?);
    others.retain(|row| {
        by_name(&row.label) || row.label.rsplit(" of ").any(by_name) || is_named(row.kind, &row.label)
    });

    let with_tasks = show.has(RowKind::Task) || show.has(RowKind::Isr);
    let (with_cores, with_runnables) = (show.has(RowKind::Core), show.has(RowKind::Runnable));
    let wanted = |name: &str, isr: bool| {
        let kind = if isr { RowKind::Isr } else { RowKind::Task };
        show.has(kind) && (by_name(name) || is_named(kind, name))
    };
    let mut grasp_marks = grasp::grasp_marks(context, &mut names)?;
    let mut rows = Vec::new();
    let mut idle = Idle::default();
    if with_tasks || with_cores {
        let states = states::read(context, &holds, &wanted, with_cores)?;
        let (marks, rare) = match with_tasks {
            true => (instances::read(context, &states.processes, &mut names)?.0, rare::read(context)?),
            false => (Vec::new(), rare::Rare::new()),
        };
        // Names of processes get their ids before any run refers to them.
        rows.extend(cores(&states, &mut names, &chosen, request.rows));
        if let Some(named) = &named {
            let runs_there = |run: &Run| run.name.is_some_and(|name| chosen(names.text(name)));
            rows.retain(|row| named.has_core(&row.label) || row.runs.iter().any(runs_there));
        }
        idle = Idle::of(&states);
        homes.see(&states);
        let mut made = processes(states, (marks, rare), &mut grasp_marks.of_task, &wanted, &mut names);
        order(&mut made);
        if let Some(path) = &request.path {
            path::first(path, &mut made);
        }
        rows.extend(made);
    }
    if with_runnables {
        let at = rows.iter().filter(|row| row.kind != RowKind::Core).count();
        runnables::insert(context, &mut rows, &mut names, &chosen, at == 0)?;
    }
    if let Some(path) = &request.path {
        path::insert(path, context.grid, &mut rows, &mut names);
    }
    order(&mut others);
    rows.append(&mut others);
    let gaps = objects::gaps(context, &mut names)?;
    if !gaps.is_empty() {
        homes.place(&mut rows, &mut names);
        rows.extend(gaps);
    }
    let of_all = named.is_none() && entities.is_empty();
    rows.extend(grasp_marks.others.filter(|_| of_all).map(grasp::messages));
    cap(&mut rows, &mut notes);
    if request.for_page {
        cut::mark(context, &mut rows, &names)?;
    }

    let (links, more) = links::preemptions(&rows, &idle, &names);
    if more {
        notes.push("Preemptions are too many to be drawn as lines.".to_owned());
    }
    let colours = colours(context, &rows, &mut names);
    explain(context, &show, &rows, &mut notes);
    if let Some(named) = named.as_ref().filter(|named| named.left_out > 0) {
        notes.push(format!(
            "{} more that parts of the response name have no row: those that delay it least; choose them with --entity.",
            named.left_out
        ));
    }
    let response =
        request.path.as_ref().and_then(|path| path::response(path, context.grid, &rows, &mut names));
    let highlight = found.and_then(|found| {
        let row = rows.iter().position(|row| row.id == found.row)?;
        Some(Highlight { row, begin: found.begin, end: found.end, label: found.label.clone() })
    });
    let scale = context.session.database().time_scale();
    let (from, to) = (context.grid.from(), context.grid.to());
    let why = request.path.as_ref().map(|path| path.why()).filter(|why| !why.is_empty());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let title = request.title.clone().unwrap_or_else(|| match found {
        Some(found) => format!("{}: {}{why}", context.recording, found.label),
        None => context.recording.clone(),
    });
    let window = in_words((from, to), context.span, scale);
    let sentence = request.path.as_ref().map(|path| path.sentence.as_str()).filter(|words| !words.is_empty());
    // The window is wider than the response.
    let drawn = if request.path.is_some() { "Drawn: " } else { "" };
    let sentence = sentence.map(|words| format!("{words} ")).unwrap_or_default();
    let description = format!("{sentence}{drawn}{window}: {}", counted(&rows));
    Ok(Picture {
        title,
        description,
        scale,
        from,
        to,
        names: names.iter().map(str::to_owned).collect(),
        colours,
        rows,
        links,
        highlight,
        response,
        explanations: Explanations::default(),
        notes,
    })
}

/// The colours of tasks and ISRs, if there are rows of cores, which use them. They follow from the names of
/// the whole recording: other windows of it have the same.
fn colours(context: &Context<'_>, rows: &[Row], names: &mut Interner) -> Vec<(Name, u16)> {
    if rows.iter().all(|row| row.kind != RowKind::Core) {
        return Vec::new();
    }
    for row in rows.iter().filter(|row| matches!(row.kind, RowKind::Task | RowKind::Isr)) {
        names.intern(&row.label);
    }
    let number = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
    let all = context.processes.iter().enumerate();
    let mut colours: Vec<_> =
        all.filter_map(|(at, process)| Some((names.find(process)?, number(at)))).collect();
    colours.sort_unstable();
    colours
}

/// `2 cores, 12 tasks, 3 ISRs`
pub(super) fn counted(rows: &[Row]) -> String {
    let mut words = Vec::new();
    for kind in RowKind::ALL {
        let count = rows.iter().filter(|row| row.kind == kind).count();
        if count > 0 && !matches!(kind, RowKind::Trace | RowKind::Recording | RowKind::Response) {
            words.push(format!("{count} {}", noun(kind, count)));
        }
    }
    if words.is_empty() { "nothing happens".to_owned() } else { words.join(", ") }
}

fn noun(kind: RowKind, count: usize) -> String {
    let one = match kind {
        RowKind::Isr => "ISR",
        RowKind::Stimulus if count != 1 => return "stimuli".to_owned(),
        RowKind::Runnable if count != 1 => return "processes with runnables".to_owned(),
        RowKind::Runnable => "process with runnables",
        other => other.as_str(),
    };
    if count == 1 { one.to_owned() } else { format!("{one}s") }
}

/// Rows of cores, in the order of their names.
fn cores(states: &States, names: &mut Interner, chosen: &dyn Fn(&str) -> bool, rows: Rows) -> Vec<Row> {
    let mut made = Vec::new();
    for (core, runs) in states.cores.iter().zip(&states.of_core) {
        let Some(runs) = runs.clone() else { continue };
        // Tasks that are selected by name are shown with the cores they run on.
        if rows == Rows::Core && !chosen(core) && states.cores.iter().any(|core| chosen(core)) {
            continue;
        }
        let mut runs = runs.finish();
        for run in &mut runs {
            let process = run.name.and_then(|name| states.processes.get(name as usize));
            run.name = process.map(|name| names.intern(name));
        }
        made.push(row(RowKind::Core, core, runs, Vec::new()));
    }
    made.sort_by(|a, b| natural(&a.label, &b.label));
    made
}

fn processes(
    states: States,
    (marks, mut rare): (Vec<Option<Marks>>, rare::Rare),
    grasp_marks: &mut BTreeMap<String, Marks>,
    wanted: &dyn Fn(&str, bool) -> bool,
    names: &mut Interner,
) -> Vec<Row> {
    let mut marks = marks.into_iter();
    let mut made = Vec::new();
    for (slot, runs) in states.of_process.into_iter().enumerate() {
        let (Some(name), isr) = (states.processes.get(slot / 2), slot % 2 == 1) else { continue };
        let mut marks = marks.next().flatten().filter(|_| wanted(name, isr));
        let of_grasp = if runs.is_some() || marks.is_some() { grasp_marks.remove(name) } else { None };
        for more in [rare.remove(&(name.clone(), isr)), of_grasp].into_iter().flatten() {
            match &mut marks {
                Some(marks) => marks.join(more),
                None => marks = Some(more),
            }
        }
        if runs.is_none() && marks.is_none() || !wanted(name, isr) {
            continue;
        }
        let mut runs = runs.map(Runs::finish).unwrap_or_default();
        let first = runs.iter().find_map(|run| run.name);
        let several = runs.iter().filter_map(|run| run.name).any(|core| Some(core) != first);
        for run in &mut runs {
            // The core is named where it changes.
            let core = run.name.filter(|_| several).and_then(|core| states.cores.get(core as usize));
            run.name = core.map(|core| names.intern(core));
        }
        let kind = if isr { RowKind::Isr } else { RowKind::Task };
        made.push(row(kind, name, runs, marks.map(Marks::finish).unwrap_or_default()));
    }
    // A process without states: all its activations were lost.
    for ((name, isr), marks) in rare {
        let kind = if isr { RowKind::Isr } else { RowKind::Task };
        if wanted(&name, isr) {
            made.push(row(kind, &name, Vec::new(), marks.finish()));
        }
    }
    made
}

fn row(kind: RowKind, name: &str, mut runs: Vec<Run>, marks: Vec<Mark>) -> Row {
    let tracks = spread(&mut runs);
    runs.sort_by_key(|run| (run.begin, run.track));
    Row { tracks, runs, marks, ..Row::new(kind, name) }
}

/// By kind, with ISRs before tasks, because they run before them; then by name.
fn order(rows: &mut [Row]) {
    let rank = |kind: RowKind| match kind {
        RowKind::Isr => (RowKind::Task, 0),
        kind => (kind, 1),
    };
    rows.sort_by(|a, b| (rank(a.kind)).cmp(&rank(b.kind)).then_with(|| natural(&a.label, &b.label)));
}

/// Of many rows of one kind, keeps the busiest ones.
fn cap(rows: &mut Vec<Row>, notes: &mut Vec<String>) {
    for kind in RowKind::ALL {
        let count = rows.iter().filter(|row| row.kind == kind).count();
        if count <= MAX_ROWS {
            continue;
        }
        let weight = |row: &Row| {
            let covered: i128 = row.runs.iter().map(|run| i128::from(run.occupied)).sum();
            let rare = row.marks.iter().any(|mark| mark.kind.is_rare());
            (rare, covered, row.marks.iter().map(|m| u64::from(m.count)).sum::<u64>())
        };
        let mut weights: Vec<_> = rows.iter().filter(|row| row.kind == kind).map(weight).collect();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        let Some(least) = weights.get(MAX_ROWS - 1).copied() else { continue };
        let above = weights.iter().filter(|w| **w > least).count();
        let mut equal = MAX_ROWS - above;
        let keep: Vec<bool> = rows
            .iter()
            .map(|row| {
                let weight = weight(row);
                let also = row.kind == kind && weight == least && equal > 0;
                equal -= usize::from(also);
                row.kind != kind || weight > least || also
            })
            .collect();
        retain(rows, &keep);
        notes.push(format!(
            "{} of {count} {} are shown, those that run most; choose others with --entity.",
            MAX_ROWS,
            noun(kind, count)
        ));
    }
}

/// Keeps some rows, and their children if any.
fn retain(rows: &mut Vec<Row>, keep: &[bool]) {
    let mut place = Vec::with_capacity(rows.len());
    let mut next = 0;
    for keep in keep {
        place.push(keep.then_some(next));
        next += usize::from(*keep);
    }
    let mut keep = keep.iter();
    rows.retain(|_| keep.next().copied().unwrap_or(true));
    for row in rows {
        row.parent = row.parent.and_then(|parent| place.get(parent).copied().flatten());
    }
}

/// True if spans of the row overlap, because it has no more tracks.
fn is_crowded(row: &Row) -> bool {
    let mut ends = vec![i64::MIN; usize::from(row.tracks)];
    row.runs.iter().filter(|run| run.count == 1).any(|run| match ends.get_mut(usize::from(run.track)) {
        Some(end) => std::mem::replace(end, run.end.max(*end)) > run.begin,
        None => true,
    })
}

fn explain(context: &Context<'_>, show: &Show, rows: &[Row], notes: &mut Vec<String>) {
    let merged = |of_response: bool| {
        let rows = rows.iter().filter(|row| (row.kind == RowKind::Response) == of_response);
        let runs = rows.flat_map(|row| &row.runs).filter(|run| run.count > 1);
        runs.fold((0u64, 0u64), |n, run| (n.0 + 1, n.1 + u64::from(run.count)))
    };
    if let (runs @ 1.., parts) = merged(true) {
        notes.push(format!(
            "{parts} parts of the response narrower than two pixels are merged into {runs}, in the colour of what takes most of the time."
        ));
    }
    if let (runs @ 1.., stretches) = merged(false) {
        notes.push(format!(
            "{stretches} stretches shorter than two pixels are drawn as {runs}: their height is the share of the time that they run."
        ));
    }
    let crowded: Vec<&str> =
        rows.iter().filter(|row| is_crowded(row)).map(|row| row.label.as_str()).collect();
    if !crowded.is_empty() {
        notes.push(format!(
            "More happens at once than there is room for, drawn over each other: {}.",
            crowded.join(", ")
        ));
    }
    if !show.left_out.is_empty() && !rows.is_empty() {
        let words: Vec<_> = show.left_out.iter().map(|kind| noun(*kind, 2)).collect();
        notes.push(format!(
            "Not shown, as about {} events lie in the window: {}; choose them with --type, or a shorter window.",
            context.events,
            words.join(", ")
        ));
    }
    for name in &context.request.selection.entities {
        let fits = |part: &str| pattern::fits(name, part);
        if !rows.iter().any(|row| fits(&row.label) || row.label.rsplit(" of ").any(fits)) {
            notes.push(format!("Nothing is called '{name}' in this window, of what is shown."));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{Grid, Span, State};

    #[test]
    fn what_is_drawn_over_each_other_is_said() {
        let crowded = |at_once: i64| {
            let mut runs = Runs::new(Grid::new(0, 1000, 1000).exact());
            for n in 0..at_once {
                let (begin, end) = (n, 900 + n);
                runs.add(Span { begin, end, state: State::Active, name: None, instance: Some(n) });
            }
            let mut runs = runs.finish();
            let tracks = spread(&mut runs);
            is_crowded(&Row { tracks, ..row(RowKind::Task, "T", runs, Vec::new()) })
        };
        assert_eq!((crowded(1), crowded(4), crowded(5)), (false, false, true));
    }
}
