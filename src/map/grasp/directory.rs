//! The entities of a Grasp trace: its tasks, processors, mutexes and semaphores. Collected in a first
//! look-ahead over all of it, because recorders may declare them last. Not jobs, which come and go.

use super::Occurrence;
use crate::btf::EntityType;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub name: String,
    #[serde(with = "kind")]
    pub kind: EntityType,
    /// The processor of its jobs, unless they name another one.
    pub processor: Option<usize>,
    /// Its jobs report their arrivals themselves, so that arrivals of the task do not belong to jobs.
    pub jobs_arrive: bool,
    /// How many of its jobs never arrive; known after a first mapping.
    pub unarrived: i64,
    pub declared: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Directory {
    pub(super) tasks: Vec<Task>,
    pub(super) task_ids: HashMap<String, usize>,
    pub(super) processors: Vec<String>,
    pub(super) processor_ids: HashMap<String, usize>,
    /// Names of mutexes and semaphores.
    pub(super) locks: HashMap<String, String>,
    /// All names: in BTF, a name belongs to one entity.
    taken: BTreeSet<String>,
}

#[derive(Clone, Copy)]
enum ObjectKind {
    Processor,
    Task,
    Lock,
}

impl Directory {
    /// The processor of a trace that names none.
    pub(super) const MAIN: &'static str = "main";

    pub fn declaration(&mut self, o: &Occurrence<'_>) {
        let processor = o.processor;
        match o.command {
            "newProcessor" => {
                if let Some(id) = processor {
                    self.processor_named(id, o.name);
                }
            }
            "newTask" => {
                if let Some(id) = o.task {
                    let home = processor.map(|p| self.processor(p));
                    let kind = if o.kind == Some("isr") { EntityType::Isr } else { EntityType::Task };
                    self.add_task(id, o.name, kind, home, true);
                }
            }
            "newMutex" | "newSemaphore" => {
                if let Some(id) = o.mutex.or(o.semaphore) {
                    self.add_lock(id, o.name);
                }
            }
            _ => {}
        }
    }

    /// Adds the objects that a command uses, after all declarations: these need none.
    pub fn usage(&mut self, o: &Occurrence<'_>) {
        if let Some(id) = o.task {
            let kind = if o.kind == Some("isr") { EntityType::Isr } else { EntityType::Task };
            let task = self.add_task(id, None, kind, None, false);
            if o.event == "jobArrived"
                && let Some(task) = self.tasks.get_mut(task)
            {
                task.jobs_arrive = true;
            }
        }
        if let Some(id) = o.mutex.or(o.semaphore) {
            self.add_lock(id, None);
        }
    }

    /// Sets how many jobs of each task never arrive; they come first, so that arrivals have no holes.
    pub fn note_unarrived(&mut self, unarrived: impl Iterator<Item = i64>) {
        for (task, unarrived) in self.tasks.iter_mut().zip(unarrived) {
            task.unarrived = unarrived;
        }
    }

    /// The index of a processor, which is added if it was not declared.
    pub(super) fn processor(&mut self, id: &str) -> usize {
        match self.processor_ids.get(id) {
            Some(known) => *known,
            None => self.processor_named(id, None),
        }
    }

    /// The ids of tasks that nothing declares.
    pub fn undeclared(&self) -> impl Iterator<Item = &str> {
        let undeclared =
            |(id, n): (&'_ String, &usize)| self.tasks.get(*n).filter(|t| !t.declared).map(|_| id.clone());
        let mut ids: Vec<(usize, &str)> = Vec::new();
        for (id, n) in &self.task_ids {
            if undeclared((id, n)).is_some() {
                ids.push((*n, id));
            }
        }
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id)
    }

    fn processor_named(&mut self, id: &str, name: Option<&str>) -> usize {
        if let Some(known) = self.processor_ids.get(id) {
            return *known;
        }
        let name = self.unique(name, id, ObjectKind::Processor);
        self.processors.push(name);
        self.processor_ids.insert(id.to_owned(), self.processors.len() - 1);
        self.processors.len() - 1
    }

    fn add_task(
        &mut self,
        id: &str,
        name: Option<&str>,
        kind: EntityType,
        processor: Option<usize>,
        declared: bool,
    ) -> usize {
        if let Some(known) = self.task_ids.get(id) {
            return *known;
        }
        let name = self.unique(name, id, ObjectKind::Task);
        self.tasks.push(Task { name, kind, processor, jobs_arrive: false, unarrived: 0, declared });
        self.task_ids.insert(id.to_owned(), self.tasks.len() - 1);
        self.tasks.len() - 1
    }

    fn add_lock(&mut self, id: &str, name: Option<&str>) {
        if !self.locks.contains_key(id) {
            let name = self.unique(name.filter(|n| *n != "?"), id, ObjectKind::Lock);
            self.locks.insert(id.to_owned(), name);
        }
    }

    /// Rule J1: a unique name, because BTF identifies entities by their names only.
    fn unique(&mut self, name: Option<&str>, id: &str, of: ObjectKind) -> String {
        let name = clean(name.filter(|n| !n.trim().is_empty()).unwrap_or(id));
        let id = clean(id);
        let of = match of {
            ObjectKind::Processor => "processor",
            ObjectKind::Task => "task",
            ObjectKind::Lock => "lock",
        };
        let mut candidate = name.clone();
        let mut n = 0;
        while !self.taken.insert(candidate.clone()) {
            n += 1;
            candidate = match n {
                1 => format!("{name} ({id})"),
                2 => format!("{name} ({of} {id})"),
                _ => format!("{name} ({of} {id}, {n})"),
            };
        }
        candidate
    }

    /// The name of the stimulus that activates a task.
    pub(super) fn arrival_of(&mut self, task: &str) -> String {
        self.unique(Some(&format!("{task}.arrival")), "arrival", ObjectKind::Task)
    }
}

/// A name without the characters that BTF uses to separate fields, lines and comments.
fn clean(text: &str) -> String {
    let bad = |c: char| c == ',' || c.is_control();
    let text: String = text.trim().chars().map(|c| if bad(c) { '_' } else { c }).collect();
    match text.strip_prefix('#') {
        Some(rest) => format!("_{rest}"),
        None if text.is_empty() => "_".to_owned(),
        None => text,
    }
}

/// The kinds of tasks, by their words in BTF.
pub(super) mod kind {
    use crate::btf::EntityType;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(kind: &EntityType, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(kind.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<EntityType, D::Error> {
        let word = String::deserialize(deserializer)?;
        EntityType::parse(&word).ok_or_else(|| D::Error::custom(format!("'{word}' is no type of BTF")))
    }
}
