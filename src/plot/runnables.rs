//! `runnable_state` → a row below that of their process, with a track per depth of nesting. Not how long they
//! took.

use std::collections::BTreeMap;

use super::Context;
use super::natural::natural;
use super::objects::each_row;
use crate::btf;
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{Row, RowKind, Runs, Span, State};
use crate::schema::result::{Integers, Texts};

/// Deeper runnables are drawn on top of each other.
const MAX_TRACKS: i64 = 12;

/// The states, and the executions that take no time: those have none.
const RUNNABLES: &str = "
    SELECT coalesce(process, '') AS process, runnable, state, instance, depth, begin_at, end_at
    FROM runnable_state
    WHERE recording = $recording AND begin_at < $to AND end_at > $from
    UNION ALL
    SELECT coalesce(process, '') AS process, runnable, 'running' AS state, instance, depth,
        start_at AS begin_at, terminate_at AS end_at
    FROM runnable_instance
    WHERE recording = $recording AND start_at = terminate_at AND start_at < $to AND start_at >= $from
    ORDER BY begin_at, depth, process, runnable, instance";

/// Inserts a row of runnables after the row of their process; `alone`: also if the process has no row.
/// `chosen` selects processes or runnables by name.
pub(super) fn insert(
    context: &Context<'_>,
    into: &mut Vec<Row>,
    names: &mut Interner,
    chosen: &dyn Fn(&str) -> bool,
    alone: bool,
) -> Result<()> {
    let grid = context.grid;
    let mut all: BTreeMap<String, Vec<Option<Runs>>> = BTreeMap::new();
    type Columns = ([Texts; 3], [Integers; 4]);
    each_row(
        context,
        RUNNABLES,
        |([process, runnable, state], [instance, depth, begin, end]): &Columns, row| {
            let (Some(begin), Some(end)) = (begin.get(row), end.get(row)) else { return };
            let Some(state) = btf::State::parse(state.value(row)).and_then(State::of_btf) else { return };
            let process = process.value(row);
            let runnable = runnable.value(row);
            if !chosen(process) && !chosen(runnable) {
                return;
            }
            let depth = depth.get(row).unwrap_or(0).clamp(0, MAX_TRACKS - 1);
            let track = usize::try_from(depth).unwrap_or(0);
            let tracks = all.entry(process.to_owned()).or_default();
            if tracks.len() <= track {
                tracks.resize_with(track + 1, || None);
            }
            let (name, instance) = (Some(names.intern(runnable)), instance.get(row));
            let span = Span { begin, end, state, name, instance };
            if let Some(runs) = tracks.get_mut(track) {
                runs.get_or_insert_with(|| Runs::new(grid)).add(span);
            }
        },
    )?;
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| natural(&a.0, &b.0));
    for (process, tracks) in all {
        let parent = into
            .iter()
            .position(|row| matches!(row.kind, RowKind::Task | RowKind::Isr) && row.label == process);
        if parent.is_none() && !alone && !process.is_empty() {
            continue;
        }
        let at = parent.map_or(into.len(), |parent| parent + 1);
        let made = row(&process, tracks, parent);
        for other in into.iter_mut() {
            other.parent = other.parent.map(|p| if p >= at { p + 1 } else { p });
        }
        into.insert(at, made);
    }
    Ok(())
}

fn row(process: &str, of_tracks: Vec<Option<Runs>>, parent: Option<usize>) -> Row {
    let tracks = u16::try_from(of_tracks.len()).unwrap_or(1).max(1);
    let mut runs = Vec::new();
    for (track, of_track) in (0..).zip(of_tracks) {
        let made = of_track.map(Runs::finish).unwrap_or_default();
        runs.extend(made.into_iter().map(|run| crate::picture::Run { track, ..run }));
    }
    runs.sort_by_key(|run| (run.begin, run.track));
    let label = if process.is_empty() || parent.is_some() {
        "runnables".to_owned()
    } else {
        format!("runnables of {process}")
    };
    Row { label, parent, tracks, runs, ..Row::new(RowKind::Runnable, process) }
}
