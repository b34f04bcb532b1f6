//! Writes table `entity`: what a description says about the entities of a recording, and which of them occur.
//! Not where either comes from (see `map` and `derive`).

use super::parts::ROWS_OUT;
use crate::btf::{EntityType, IdleTasks};
use crate::derive::Entity;
use crate::error::Result;
use crate::map::EntityFacts;
use crate::schema::{EntityRow, EntityRows, EntityView, tables};
use crate::store::{FileEntry, Transaction, read_batches};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Default)]
struct Known {
    facts: Option<EntityFacts>,
    /// It occurs, and whether it does as an idle task.
    occurs: Option<bool>,
}

/// Writes a row for everything that is described or `occurring`.
pub(super) fn write_entities(
    tx: &mut Transaction,
    recording: &str,
    described: Vec<EntityFacts>,
    occurring: Vec<Entity>,
    idle_tasks: &IdleTasks,
) -> Result<()> {
    let mut all: BTreeMap<(&str, String), Known> = BTreeMap::new();
    for facts in described {
        let key = (facts.kind.as_str(), facts.name.clone());
        all.entry(key).or_default().facts = Some(facts);
    }
    for Entity { kind, name, idle } in occurring {
        let occurs = &mut all.entry((kind, name)).or_default().occurs;
        *occurs = Some(occurs.unwrap_or(false) || idle);
    }
    if all.is_empty() {
        return Ok(());
    }
    let mut rows = EntityRows::new();
    for ((kind, name), Known { facts, occurs }) in &all {
        let facts = facts.as_ref();
        let is_idle_task = || *kind == EntityType::Task.as_str() && idle_tasks.has(name);
        rows.push(EntityRow {
            entity: name.as_str().into(),
            r#type: (*kind).into(),
            core: facts.and_then(|f| f.core.as_deref()).map(Into::into),
            priority: facts.and_then(|f| f.priority),
            activation_limit: facts.and_then(|f| f.activation_limit),
            period: facts.and_then(|f| f.period),
            cycle: facts.and_then(|f| f.cycle),
            preemption: facts.and_then(|f| f.preemption).map(Into::into),
            mask: facts.and_then(|f| f.mask),
            process: facts.and_then(|f| f.process.as_deref()).map(Into::into),
            idle: occurs.unwrap_or_else(is_idle_task),
            occurs: occurs.is_some(),
            file: facts.and_then(|f| f.file.as_deref()),
        });
    }
    tx.put_rows(tables::ENTITY, recording, &[rows.take_batch()?])
}

/// The idle tasks that files of table `entity` list, by name.
pub(super) fn idle_tasks_of(files: impl IntoIterator<Item = (FileEntry, PathBuf)>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (_, path) in files {
        for batch in read_batches(&path, tables::ENTITY, None, ROWS_OUT)? {
            let batch = batch?;
            let rows = EntityView::of(&batch)?;
            found.extend(rows.rows().filter(|row| row.idle).map(|row| row.entity.text().to_owned()));
        }
    }
    Ok(found)
}
