//! Rare events that are all shown: lost activations and migrations. Read from `btf_event`, skipping the row
//! groups that have none. Not frequent events.

use std::collections::BTreeMap;

use arrow::array::RecordBatch;

use super::Context;
use crate::btf::{Action, EntityType};
use crate::error::Result;
use crate::picture::{MarkKind, Marks};
use crate::schema::{columns::btf_event, tables, view};
use crate::store::{Having, Scan, Within};

/// BTF 2.1.5 table 5: an activation beyond the limit; an instance continues on another core. In any spelling.
fn mark(action: &str) -> Option<MarkKind> {
    use Action::{BoundedMigration, EnforcedMigration, FullMigration, MtaLimitExceeded, PhaseMigration};
    match Action::parse_tolerant(action)? {
        MtaLimitExceeded => Some(MarkKind::ActivationLost),
        BoundedMigration | PhaseMigration | FullMigration | EnforcedMigration => Some(MarkKind::Migration),
        _ => None,
    }
}

view! {
    /// The columns of an event that are read.
    struct Events of btf_event { time, target_type, target, action }
}

/// Marks by name of the process and whether it is an ISR.
pub(super) type Rare = BTreeMap<(String, bool), Marks>;

pub(super) fn read(context: &Context<'_>) -> Result<Rare> {
    let grid = context.grid;
    let within = Within { begin: btf_event::TIME, end: btf_event::TIME, from: grid.from(), to: grid.to() };
    let having = Some(Having { column: btf_event::ACTION, wanted: &|name| mark(name).is_some() });
    let table = tables::BTF_EVENT;
    let scan = Scan { table, recording: &context.recording, columns: Events::COLUMNS, within, having };
    let add = |rare: &mut Rare, batch: &RecordBatch| -> Result<()> {
        let events = Events::of(batch)?;
        let action = events.action.translate(mark);
        if action.is_meaningless() {
            return Ok(());
        }
        let isr = events
            .target_type
            .translate(|name| Some(EntityType::parse_tolerant(name) == Some(EntityType::Isr)));
        for row in 0..events.len() {
            let Some(kind) = action.get(row) else { continue };
            let name = events.target.value(row).to_owned();
            let marks = rare.entry((name, isr.get(row).unwrap_or(false))).or_insert_with(|| Marks::new(grid));
            marks.add(events.time.value(row), kind, None);
        }
        Ok(())
    };
    let mut all = Rare::new();
    for worker in context.session.scanner().scan(&scan, Rare::new, add)? {
        for (key, marks) in worker {
            match all.get_mut(&key) {
                Some(mine) => mine.join(marks),
                None => drop(all.insert(key, marks)),
            }
        }
    }
    Ok(all)
}
