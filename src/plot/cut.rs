//! Instances that the begin of the recording, its end or a gap cuts off: which ones they are, for pages, and
//! how long is known of those with a deadline. Not for marks (see `instances`).

use std::collections::{BTreeMap, BTreeSet};

use super::Context;
use super::objects::each_row;
use crate::btf::EntityType;
use crate::error::Result;
use crate::names::Interner;
use crate::picture::{Name, Row, RowKind};
use crate::schema::result::{Integers, Texts};
use crate::schema::tables;

/// An instance that is cut off, of which something is certain after its activation. Of one without an end
/// that is nothing if a later one of its process has started: its writer may have left the end out.
pub(super) struct Open {
    pub process: String,
    pub is_isr: bool,
    pub instance: Option<i64>,
    pub activate_at: i64,
    pub terminate_at: Option<i64>,
    /// When the first gap of its core after that begins: what comes behind it may be another one.
    gap_at: Option<i64>,
}

/// A later instance anywhere in the recording shows that an end was left out, so all of them are looked at.
const OPEN: &str = "
    SELECT process, type, instance, activate_at, terminate_at, gap_at
    FROM (
        SELECT process, type, instance, activate_at, terminate_at, complete,
            gap_after(recording, core, activate_at) AS gap_at,
            min(start_at) OVER (PARTITION BY process, type ORDER BY instance DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS next_start_at
        FROM process_instance
        WHERE recording = $recording) AS every
    WHERE NOT complete AND activate_at < $to
        AND (terminate_at IS NOT NULL OR next_start_at IS NULL OR coalesce(next_start_at > gap_at, false))
    ORDER BY process, type, activate_at, instance";

impl Open {
    /// Up to when it is certain that it had not ended; `last`: the last instant of the recording.
    pub fn known_until(&self, last: i64) -> i64 {
        let end = self.terminate_at.unwrap_or(last);
        self.gap_at.map_or(end, |gap| gap.min(end))
    }
}

/// Those that are activated before the end of the window.
pub(super) fn open(context: &Context<'_>) -> Result<Vec<Open>> {
    let mut open = Vec::new();
    each_row(context, OPEN, |([process, kind], numbers): &([Texts; 2], [Integers; 4]), row| {
        let [instance, activate_at, terminate_at, gap_at] = numbers.each_ref().map(|of| of.get(row));
        let Some(activate_at) = activate_at else { return };
        let is_isr = EntityType::parse_tolerant(kind.value(row)) == Some(EntityType::Isr);
        let process = process.value(row).to_owned();
        open.push(Open { process, is_isr, instance, activate_at, terminate_at, gap_at });
    })?;
    Ok(open)
}

/// A state before the start may be known, of an instance whose activation is not.
const OF_PROCESSES: &str = "
    SELECT type, process, process AS name, instance FROM process_instance
    WHERE recording = $recording AND NOT complete
        AND (activate_at IS NULL OR activate_at < $to) AND (terminate_at IS NULL OR terminate_at >= $from)";
const OF_RUNNABLES: &str = "
    SELECT 'R' AS type, coalesce(process, '') AS process, runnable AS name, instance FROM runnable_instance
    WHERE recording = $recording AND NOT complete
        AND (start_at IS NULL OR start_at < $to) AND (terminate_at IS NULL OR terminate_at >= $from)";

/// The instances of a row: names of runnables, and numbers.
type Instances = BTreeSet<(Option<Name>, i64)>;

/// Says of each row which of the instances in it are cut off. Of what is read, no more is kept.
pub(super) fn mark(context: &Context<'_>, rows: &mut [Row], names: &Interner) -> Result<()> {
    let has_instances = |row: &Row| matches!(row.kind, RowKind::Task | RowKind::Isr | RowKind::Runnable);
    // Where each row is, and what it shows.
    let mut shown: BTreeMap<String, (usize, Instances)> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate().filter(|(_, row)| has_instances(row)) {
        let is_named = row.kind == RowKind::Runnable;
        let instances =
            row.runs.iter().filter_map(|run| Some((run.name.filter(|_| is_named), run.instance?)));
        shown.insert(row.id.clone(), (place, instances.collect()));
    }
    for (table, sql) in [(tables::PROCESS_INSTANCE, OF_PROCESSES), (tables::RUNNABLE_INSTANCE, OF_RUNNABLES)]
    {
        if !context.session.database().has(table, context.recording.as_str())? {
            continue;
        }
        each_row(context, sql, |([kind, process, name], instance): &([Texts; 3], Integers), at| {
            let Some(instance) = instance.get(at) else { return };
            let kind = match EntityType::parse_tolerant(kind.value(at)) {
                Some(EntityType::Runnable) => RowKind::Runnable,
                Some(EntityType::Isr) => RowKind::Isr,
                _ => RowKind::Task,
            };
            let id = format!("{}:{}", kind.as_str(), process.value(at));
            let Some((place, instances)) = shown.get_mut(&id) else { return };
            let name = if kind == RowKind::Runnable { names.find(name.value(at)) } else { None };
            if instances.remove(&(name, instance))
                && let Some(row) = rows.get_mut(*place)
            {
                row.cut.push((name, instance));
            }
        })?;
    }
    rows.iter_mut().for_each(|row| row.cut.sort_unstable());
    Ok(())
}
