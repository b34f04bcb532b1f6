//! `process_state` → rows of tasks and ISRs with their states, and rows of cores with what runs on them. One
//! pass on several threads; memory is rows times columns of the picture. Not the order of the rows.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;

use super::Context;
use crate::btf::{self, EntityType};
use crate::error::Result;
use crate::picture::{Runs, Span, State, join_each};
use crate::schema::{columns::process_state, tables, view};
use crate::store::{Scan, Within};

view! {
    /// The columns of a state that are read.
    struct StateRows of process_state { process, r#type, instance, core, state, begin_at, end_at, idle }
}

/// Times at which processes hold something, by process: sorted, without overlaps within a process.
pub(super) type Holds = BTreeMap<String, Vec<(i64, i64)>>;

/// The content of `process_state` in a window. Names of runs are indexes into `processes` or `cores`.
pub(super) struct States {
    /// Names, sorted.
    pub processes: Vec<String>,
    /// Names, sorted.
    pub cores: Vec<String>,
    /// Two for each process: as a task, and as an ISR.
    pub of_process: Vec<Option<Runs>>,
    /// One for each core.
    pub of_core: Vec<Option<Runs>>,
    /// When a core has an idle task on it.
    pub idle_on: Vec<Option<Runs>>,
    /// On which of the cores each process was seen, by its place in `of_process`.
    pub seen_on: Vec<Vec<bool>>,
}

/// The results of a thread.
struct Worker {
    of_process: Vec<Option<Runs>>,
    of_core: Vec<Option<Runs>>,
    idle_on: Vec<Option<Runs>>,
    seen_on: Vec<Vec<bool>>,
}

/// Reads the states of a window: of the processes that `wanted` selects (its second argument is true for an
/// ISR), and of all processes on cores.
pub(super) fn read(
    context: &Context<'_>,
    holds: &Holds,
    wanted: &(dyn Fn(&str, bool) -> bool + Sync),
    with_cores: bool,
) -> Result<States> {
    let grid = context.grid;
    let within = Within {
        begin: process_state::BEGIN_AT,
        end: process_state::END_AT,
        from: grid.from(),
        to: grid.to(),
    };
    let scan = Scan {
        table: tables::PROCESS_STATE,
        recording: &context.recording,
        columns: StateRows::COLUMNS,
        within,
        having: None,
    };
    let processes = context.session.scanner().names_of(&scan, process_state::PROCESS)?;
    let cores = context.session.scanner().names_of(&scan, process_state::CORE)?;
    let held: Vec<&[(i64, i64)]> =
        processes.iter().map(|name| holds.get(name).map(Vec::as_slice).unwrap_or_default()).collect();
    let shown: Vec<[bool; 2]> =
        processes.iter().map(|name| [wanted(name, false), wanted(name, true)]).collect();
    let many_cores = cores.len() > 1;
    let new = || Worker {
        of_process: vec![None; 2 * processes.len()],
        of_core: vec![None; cores.len()],
        idle_on: vec![None; cores.len()],
        seen_on: vec![Vec::new(); 2 * processes.len()],
    };
    let add = |worker: &mut Worker, batch: &RecordBatch| -> Result<()> {
        let rows = StateRows::of(batch)?;
        let process = rows.process.translate(|name| index(&processes, name));
        let isr =
            rows.r#type.translate(|name| Some(EntityType::parse_tolerant(name) == Some(EntityType::Isr)));
        let core = rows.core.translate(|name| index(&cores, name));
        let state = rows.state.translate(|name| btf::State::parse(name).and_then(State::of_btf));
        for (row, (begin, end)) in rows.begin_at.values().iter().zip(rows.end_at.values()).enumerate() {
            let (begin, end) = (*begin, *end);
            if !grid.shows(begin, end) {
                continue;
            }
            let (Some(process), Some(state)) = (process.get(row), state.get(row)) else { continue };
            let (instance, core) = (rows.instance.get(row), core.get(row));
            let isr = isr.get(row).unwrap_or(false);
            let span = Span { begin, end, state, name: None, instance };
            // A core with an idle task on it is idle.
            let idle = rows.idle.value(row);
            let of_core = if idle { &mut worker.idle_on } else { &mut worker.of_core };
            if with_cores
                && state.is_occupied()
                && let Some(runs) = core.and_then(|core| of_core.get_mut(core as usize))
            {
                let runs = runs.get_or_insert_with(|| Runs::new(grid));
                in_parts(Span { name: Some(process), ..span }, held[process as usize], |s| runs.add(s));
            }
            let slot = 2 * process as usize + usize::from(isr);
            if shown[process as usize][usize::from(isr)]
                && let Some(runs) = worker.of_process.get_mut(slot)
            {
                let runs = runs.get_or_insert_with(|| Runs::new(grid));
                if let Some(core) = core {
                    see(&mut worker.seen_on[slot], core as usize);
                }
                let name = core.filter(|_| many_cores);
                in_parts(Span { name, ..span }, held[process as usize], |s| runs.add(s));
            }
        }
        Ok(())
    };
    let mut all = new();
    for worker in context.session.scanner().scan(&scan, new, add)? {
        join_each(&mut all.of_process, worker.of_process, Runs::join);
        join_each(&mut all.of_core, worker.of_core, Runs::join);
        join_each(&mut all.idle_on, worker.idle_on, Runs::join);
        for (all, seen) in all.seen_on.iter_mut().zip(worker.seen_on) {
            (0..).zip(seen).filter(|(_, seen)| *seen).for_each(|(core, _)| see(all, core));
        }
    }
    let Worker { of_process, of_core, idle_on, seen_on } = all;
    Ok(States { processes, cores, of_process, of_core, idle_on, seen_on })
}

fn see(seen: &mut Vec<bool>, core: usize) {
    if seen.len() <= core {
        seen.resize(core + 1, false);
    }
    if let Some(seen) = seen.get_mut(core) {
        *seen = true;
    }
}

fn index(names: &[String], name: &str) -> Option<u32> {
    let found = names.binary_search_by(|n| n.as_str().cmp(name)).ok()?;
    u32::try_from(found).ok()
}

/// Splits a running span where a semaphore is held: those parts are critical sections.
fn in_parts(span: Span, held: &[(i64, i64)], mut each: impl FnMut(Span)) {
    if held.is_empty() || span.state != State::Running {
        return each(span);
    }
    let Span { mut begin, end, .. } = span;
    let first = held.partition_point(|(_, until)| *until <= begin);
    for (from, until) in held.get(first..).unwrap_or_default() {
        if *from >= end {
            break;
        }
        let (from, until) = ((*from).max(begin), (*until).min(end));
        if from > begin {
            each(Span { begin, end: from, ..span });
        }
        each(Span { begin: from, end: until, state: State::Critical, ..span });
        begin = until;
    }
    if begin < end || span.begin == end {
        each(Span { begin, end, ..span });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_sections_cut_what_runs() {
        let parts = |begin, end, state, held: &[(i64, i64)]| {
            let mut parts = Vec::new();
            let span = Span { begin, end, state, name: None, instance: None };
            in_parts(span, held, |s| parts.push((s.begin, s.end, s.state == State::Critical)));
            parts
        };
        let held = [(2, 4), (8, 20), (30, 31)];
        assert_eq!(
            parts(0, 10, State::Running, &held),
            [(0, 2, false), (2, 4, true), (4, 8, false), (8, 10, true)]
        );
        assert_eq!(parts(9, 12, State::Running, &held), [(9, 12, true)]);
        assert_eq!(parts(4, 8, State::Running, &held), [(4, 8, false)]);
        assert_eq!(parts(0, 10, State::Ready, &held), [(0, 10, false)]);
        assert_eq!(parts(5, 5, State::Running, &held), [(5, 5, false)]);
        assert_eq!(parts(0, 10, State::Running, &[]), [(0, 10, false)]);
    }
}
