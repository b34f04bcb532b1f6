//! Writes table `entity`: what a description says about the entities of a recording, and which of them occur.
//! Not where either comes from (see `map` and `derive`).

use super::parts::ROWS_OUT;
use crate::btf::{EntityType, IdleTasks};
use crate::derive::Entity;
use crate::error::{Result, did_you_mean};
use crate::map::EntityFacts;
use crate::schema::{EntityRow, EntityRows, EntityView, tables};
use crate::store::{FileEntry, Place, Transaction, read_batches};
use std::collections::BTreeMap;

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

/// A sentence for each pattern of idle tasks that matches no task of files of table `entity`. There are no
/// tasks as long as nothing is mapped, and then no sentences.
pub(super) fn unmatched(
    files: impl IntoIterator<Item = (FileEntry, Place)>,
    patterns: &[String],
) -> Result<Vec<String>> {
    let mut tasks = Vec::new();
    for (_, path) in files.into_iter().filter(|_| !patterns.is_empty()) {
        for batch in read_batches(&path, tables::ENTITY, None, ROWS_OUT)? {
            let batch = batch?;
            let rows = EntityView::of(&batch)?;
            let is_task = |ty: &str| EntityType::parse_tolerant(ty) == Some(EntityType::Task);
            let rows = rows.rows().filter(|row| is_task(row.r#type.text()));
            tasks.extend(rows.map(|row| row.entity.text().to_owned()));
        }
    }
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let matches_none =
        |pattern: &&String| tasks.iter().all(|task| IdleTasks::new([pattern]).verdict(task).is_none());
    let sentence = |pattern: &String| {
        let name = pattern.trim().trim_start_matches('!');
        let near = did_you_mean(name, tasks.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"));
        format!("idle_tasks: '{pattern}' matches no task{near}")
    };
    Ok(patterns.iter().filter(matches_none).map(sentence).collect())
}

/// The idle tasks that files of table `entity` list, by name.
pub(super) fn idle_tasks_of(files: impl IntoIterator<Item = (FileEntry, Place)>) -> Result<Vec<String>> {
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
