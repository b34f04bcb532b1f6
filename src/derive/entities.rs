//! Which entities occur in a trace, and which tasks of them are idle tasks. Not what a description says about
//! them (see `map`).

use crate::btf::spec::EntityTypes;
use crate::btf::{EntityType, IdleTasks, NameId, NameMap, Names};

/// An entity that occurs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entity {
    /// Its type, as BTF abbreviates it.
    pub kind: &'static str,
    pub name: String,
    /// A task that runs when nothing else can.
    pub idle: bool,
}

#[derive(Debug, Default)]
pub(super) struct Entities {
    pub idle_tasks: IdleTasks,
    /// The types with which each name occurs.
    seen: Vec<EntityTypes>,
    /// Whether tasks are idle tasks, as far as it has been asked.
    idle: NameMap<bool>,
    /// Idle tasks whatever their names are.
    known: NameMap<()>,
}

impl Entities {
    #[inline]
    pub fn occurs(&mut self, entity: NameId, kind: EntityType) {
        let index = entity.index();
        if self.seen.len() <= index {
            self.seen.resize(index + 1, EntityTypes::NONE);
        }
        if let Some(kinds) = self.seen.get_mut(index) {
            *kinds = kinds.with(kind);
        }
    }

    pub fn idle_task(&mut self, task: NameId) {
        self.known.insert(task, ());
    }

    /// Whether a process is an idle task.
    pub fn idles(&mut self, process: NameId, kind: EntityType, names: &Names) -> bool {
        if kind != EntityType::Task {
            return false;
        }
        if let Some(idle) = self.idle.get(process) {
            return *idle;
        }
        let idle = self.verdict(process, names);
        self.idle.insert(process, idle);
        idle
    }

    fn verdict(&self, task: NameId, names: &Names) -> bool {
        self.idle_tasks.verdict(names.text(task)).unwrap_or_else(|| self.known.get(task).is_some())
    }

    pub fn all(&self, names: &Names) -> Vec<Entity> {
        let mut all = Vec::new();
        for (text, kinds) in names.since(0).zip(&self.seen) {
            for kind in EntityType::ALL.into_iter().filter(|kind| kinds.has(*kind)) {
                let idle = kind == EntityType::Task
                    && names.find(text).is_some_and(|task| self.verdict(task, names));
                all.push(Entity { kind: kind.as_str(), name: text.to_owned(), idle });
            }
        }
        all.sort_unstable();
        all
    }
}
