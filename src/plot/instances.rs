//! `process_instance` → marks of activations and deadlines in the rows of tasks and ISRs. Not for states, and
//! not which instances are not known as a whole (see `cut`).

use std::collections::BTreeMap;

use arrow::array::RecordBatch;

use super::{Context, cut};
use crate::btf::EntityType;
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{MarkKind, Marks, exact, join_each};
use crate::schema::{columns::process_instance, tables, view};
use crate::store::{Scan, Within};
use crate::time::TimeScale;

view! {
    /// The columns of an instance that are read.
    struct Instances of process_instance { process, r#type, instance, activate_at, terminate_at, complete }
}

/// Instances that missed their deadline, the first of each row and column: the deadline, and a text about it.
type Late = BTreeMap<(usize, i64), (i64, String)>;

/// The results of a thread.
struct Worker {
    marks: Vec<Option<Marks>>,
    late: Late,
}

/// The marks of processes, two for each of the sorted names: as a task, and as an ISR. Also the number of
/// activations and missed deadlines.
pub(super) fn read(
    context: &Context<'_>,
    processes: &[String],
    names: &mut Interner,
) -> Result<(Vec<Option<Marks>>, u64)> {
    let grid = context.grid;
    let deadlines: Vec<Option<i64>> = processes
        .iter()
        .map(|name| context.request.deadlines.iter().filter(|d| d.0 == *name).map(|d| d.1).min())
        .collect();
    let longest = deadlines.iter().flatten().copied().max().unwrap_or(0).max(0);
    let within = Within {
        begin: process_instance::ACTIVATE_AT,
        end: process_instance::ACTIVATE_AT,
        from: grid.from().saturating_sub(longest),
        to: grid.to(),
    };
    let table = tables::PROCESS_INSTANCE;
    let scan =
        Scan { table, recording: &context.recording, columns: Instances::COLUMNS, within, having: None };
    let (scale, last) = (context.session.database().time_scale(), context.span.1);
    let new = || Worker { marks: vec![None; 2 * processes.len()], late: Late::new() };
    let add = |worker: &mut Worker, batch: &RecordBatch| -> Result<()> {
        let rows = Instances::of(batch)?;
        let process =
            rows.process.translate(|name| processes.binary_search_by(|n| n.as_str().cmp(name)).ok());
        let isr =
            rows.r#type.translate(|name| Some(EntityType::parse_tolerant(name) == Some(EntityType::Isr)));
        for row in 0..rows.len() {
            let (Some(process), Some(at)) = (process.get(row), rows.activate_at.get(row)) else { continue };
            let slot = 2 * process + usize::from(isr.get(row).unwrap_or(false));
            let Some(marks) = worker.marks.get_mut(slot) else { continue };
            let marks = marks.get_or_insert_with(|| Marks::new(grid));
            marks.add(at, MarkKind::Activation, None);
            let Some(deadline) = deadlines.get(process).copied().flatten() else { continue };
            let by = at.saturating_add(deadline);
            marks.add(by, MarkKind::Deadline, None);
            // Of others, it is not certain that what is seen of them is all.
            let Some(end) = rows.terminate_at.get(row).filter(|_| rows.complete.value(row)) else { continue };
            if end > by && grid.shows(by, by) {
                let name = processes.get(process).map(String::as_str).unwrap_or_default();
                marks.add(by, MarkKind::Violation, None);
                let words = missed(name, rows.instance.get(row), Some(end - by), scale);
                keep(&mut worker.late, (slot, grid.place(by)), (by, words));
            }
        }
        Ok(())
    };
    let mut all: Vec<Option<Marks>> = vec![None; 2 * processes.len()];
    let mut late = Late::new();
    for worker in context.session.scanner().scan(&scan, new, add)? {
        worker.late.into_iter().for_each(|(place, words)| keep(&mut late, place, words));
        join_each(&mut all, worker.marks, Marks::join);
    }
    let is_any = deadlines.iter().any(Option::is_some);
    for open in if is_any { cut::open(context)? } else { Vec::new() } {
        let Ok(process) = processes.binary_search(&open.process) else { continue };
        let Some(deadline) = deadlines.get(process).copied().flatten() else { continue };
        let (slot, by) = (2 * process + usize::from(open.is_isr), open.activate_at.saturating_add(deadline));
        if open.known_until(last) <= by || !grid.shows(by, by) {
            continue;
        }
        let Some(Some(marks)) = all.get_mut(slot) else { continue };
        marks.add(by, MarkKind::Violation, None);
        let words = missed(&open.process, open.instance, open.terminate_at.map(|end| end - by), scale);
        keep(&mut late, (slot, grid.place(by)), (by, words));
    }
    for ((slot, _), (at, words)) in late {
        let number = names.intern(&words);
        if let Some(Some(marks)) = all.get_mut(slot) {
            marks.name(at, MarkKind::Violation, number);
        }
    }
    let activations = all.iter().flatten().map(Marks::count).sum();
    Ok((all, activations))
}

/// That an instance missed its deadline, and by how much if it has ended.
fn missed(process: &str, instance: Option<i64>, by: Option<i64>, scale: TimeScale) -> String {
    let instance = instance.map(|n| format!("[{n}]")).unwrap_or_default();
    let by = by.map(|by| format!(" by {}", exact(by, scale))).unwrap_or_default();
    format!("{process}{instance}: deadline missed{by}")
}

fn keep(late: &mut Late, place: (usize, i64), words: (i64, String)) {
    match late.get_mut(&place) {
        Some(first) if *first <= words => {}
        Some(first) => *first = words,
        None => drop(late.insert(place, words)),
    }
}
