//! What a script declares before its first event: processors, tasks, mutexes and semaphores. Not for jobs.

use super::Part;
use super::script::{Object, Script};
use crate::btf::spec::EntityType;
use crate::error::Result;
use crate::export::cursor::Cursor;
use crate::schema::columns::{process_instance as instance, process_state as state};
use crate::selection::Selection;
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    /// `task1`.
    pub id: String,
    pub name: String,
    /// The core that its jobs are on unless they say otherwise.
    pub core: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Semaphore {
    pub id: String,
    /// It never has two holders at a time.
    pub mutex: bool,
}

/// Ids by name.
#[derive(Debug, Default)]
pub(super) struct Declared {
    tasks: HashMap<String, Task>,
    isrs: HashMap<String, Task>,
    pub cores: HashMap<String, String>,
    pub semaphores: HashMap<String, Semaphore>,
}

impl Declared {
    /// Declares everything that the selected part of a recording may name.
    pub fn write(part: Part<'_>, script: &mut Script<'_>) -> Result<Self> {
        let mut declared = Self::default();
        declared.cores(part, script)?;
        declared.tasks(part, script)?;
        declared.semaphores(part, script)?;
        Ok(declared)
    }

    pub fn task(&self, kind: EntityType, name: &str) -> Option<&Task> {
        if kind == EntityType::Isr { self.isrs.get(name) } else { self.tasks.get(name) }
    }

    pub fn process(&self, name: &str) -> Option<(EntityType, &Task)> {
        let task = self.tasks.get(name).map(|task| (EntityType::Task, task));
        task.or_else(|| self.isrs.get(name).map(|isr| (EntityType::Isr, isr)))
    }

    fn cores(&mut self, part: Part<'_>, script: &mut Script<'_>) -> Result<()> {
        let entities = [state::PROCESS, state::CORE];
        let condition = part.selection.overlap(
            part.recording,
            (state::BEGIN_AT, state::END_AT),
            &entities,
            &[state::TYPE],
        );
        let select = "SELECT DISTINCT core FROM process_state";
        let rows = condition.rows(part.session, select, "AND core IS NOT NULL ORDER BY core")?;
        let mut rows = Cursor::new(rows);
        while rows.next()? {
            let id = format!("core{}", self.cores.len() + 1);
            script.create(Object::Processor, &id, &["-name", rows.name(0)])?;
            self.cores.insert(rows.name(0).to_owned(), id);
        }
        Ok(())
    }

    fn tasks(&mut self, part: Part<'_>, script: &mut Script<'_>) -> Result<()> {
        let span = (
            "coalesce(activate_at, start_at, terminate_at, 0)",
            "coalesce(terminate_at, start_at, activate_at, 0)",
        );
        // All processes of the recording: a window limits their events only.
        let whole = Selection { from: None, to: None, ..part.selection.clone() };
        let entities = [instance::PROCESS, instance::CORE];
        let condition = whole.overlap(part.recording, span, &entities, &[instance::TYPE]);
        let select = "SELECT process, type, min(core) AS core FROM process_instance";
        let rest = "GROUP BY process, type ORDER BY type, process";
        let mut rows = Cursor::new(condition.rows(part.session, select, rest)?);
        let mut number = 0;
        // I before T: interrupts have the higher priority, which is the lower number.
        while rows.next()? {
            number += 1;
            let isr = EntityType::parse_tolerant(rows.name(1)) == Some(EntityType::Isr);
            let task = Task {
                id: format!("task{number}"),
                name: rows.name(0).to_owned(),
                core: rows.text(2).filter(|core| self.cores.contains_key(*core)).map(str::to_owned),
            };
            let priority = number.to_string();
            let mut words = vec!["-name", &task.name, "-priority", &priority];
            if isr {
                words.extend(["-kind", "isr"]);
            }
            if let Some(core) = task.core.as_deref().and_then(|core| self.cores.get(core)) {
                words.extend(["-processor", core]);
            }
            script.create(Object::Task, &task.id, &words)?;
            let tasks = if isr { &mut self.isrs } else { &mut self.tasks };
            tasks.insert(task.name.clone(), task);
        }
        Ok(())
    }

    fn semaphores(&mut self, part: Part<'_>, script: &mut Script<'_>) -> Result<()> {
        let types = &part.selection.types;
        if !types.is_empty()
            && types.iter().all(|word| EntityType::parse_tolerant(word) != Some(EntityType::Semaphore))
        {
            return Ok(());
        }
        let sql = "SELECT target, max(held) AS held FROM (SELECT target, \
             sum(CASE WHEN is_action(action, 'assigned') THEN 1 WHEN is_action(action, 'released') THEN -1 ELSE 0 END) OVER w AS held FROM btf_event \
             WHERE recording = $recording AND is_type(target_type, 'SEM') \
             WINDOW w AS (PARTITION BY target ORDER BY time, seq)) AS step GROUP BY target ORDER BY target";
        let mut rows = Cursor::new(part.session.sql(sql, &[("recording", part.recording.into())])?);
        while rows.next()? {
            let mutex = rows.int(1).unwrap_or(0) <= 1;
            let word = if mutex { "mutex" } else { "semaphore" };
            let id = format!("{word}{}", self.semaphores.len() + 1);
            let object = if mutex { Object::Mutex } else { Object::Semaphore };
            script.create(object, &id, &["-name", rows.name(0)])?;
            self.semaphores.insert(rows.name(0).to_owned(), Semaphore { id, mutex });
        }
        Ok(())
    }
}
