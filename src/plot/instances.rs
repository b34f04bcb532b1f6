//! `process_instance` → marks of activations and deadlines in the rows of tasks and ISRs. Not for states.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;

use super::Context;
use crate::btf::EntityType;
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{MarkKind, Marks, exact, join_each};
use crate::schema::{columns::process_instance, tables, view};
use crate::store::{Scan, Within};

view! {
    /// The columns of an instance that are read.
    struct Instances of process_instance { process, r#type, instance, activate_at, terminate_at }
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
            let end = rows.terminate_at.get(row);
            // An instance that has not ended is late if the recording ends after its deadline.
            if end.unwrap_or(last) > by && grid.shows(by, by) {
                let instance = rows.instance.get(row).map(|n| format!(" #{n}")).unwrap_or_default();
                let name = processes.get(process).map(String::as_str).unwrap_or_default();
                let words = match end {
                    Some(end) => format!("{name}{instance}: deadline missed by {}", exact(end - by, scale)),
                    None => format!("{name}{instance}: deadline missed"),
                };
                marks.add(by, MarkKind::Violation, None);
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
    for ((slot, _), (at, words)) in late {
        let number = names.intern(&words);
        if let Some(Some(marks)) = all.get_mut(slot) {
            marks.name(at, MarkKind::Violation, number);
        }
    }
    let activations = all.iter().flatten().map(Marks::count).sum();
    Ok((all, activations))
}

fn keep(late: &mut Late, place: (usize, i64), words: (i64, String)) {
    match late.get_mut(&place) {
        Some(first) if *first <= words => {}
        Some(first) => *first = words,
        None => drop(late.insert(place, words)),
    }
}
