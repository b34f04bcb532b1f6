//! The BTF dialect of the FreeRTOS loggers: they write `preempt` and `resume` only, creation is a `preempt`
//! with a note, a task is named `[core/id]name` after its core, and the source of a `resume` is the previous
//! task. Taken literally, several tasks would run on one core, and a task that migrates would be several
//! tasks.

use super::step::Step;
use crate::btf::{Action, EntityType, NameId, NameMap, Names};

/// The last known state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Created,
    Running,
    Ready,
}

/// Translates events of tasks to standard BTF.
#[derive(Debug, Default)]
pub(super) struct FreeRtos {
    tasks: NameMap<Life>,
    /// The process and the core of a name in the trace.
    meanings: NameMap<(NameId, Option<NameId>)>,
    /// The core of the last event, for names without a core.
    core: Option<NameId>,
}

impl FreeRtos {
    /// The event in standard BTF; `None` if it changes nothing.
    pub fn read(&mut self, step: Step, note: Option<&str>, names: &mut Names) -> Option<Step> {
        if step.kind != EntityType::Task {
            return Some(step);
        }
        let (task, core) = self.meaning(step.target, names);
        let created = note.is_some_and(|n| n.starts_with("create") || n.starts_with("task_create"));
        if self.meanings.get(step.source).is_some() {
            self.core = core.or(self.core);
        } else {
            self.core = Some(step.source);
        }
        let life = self.tasks.get(task).copied();
        let (action, now) = match (step.action, life) {
            (Action::Preempt, None) if created => (Action::Activate, Life::Created),
            // A tick may interrupt a task that was never dispatched, or one that has left the core already.
            (Action::Preempt, Some(Life::Created | Life::Ready)) => return None,
            (Action::Resume, Some(Life::Created)) => (Action::Start, Life::Running),
            (Action::Resume, Some(Life::Running)) => return None,
            (Action::Preempt, _) => (Action::Preempt, Life::Ready),
            (Action::Resume, _) => (Action::Resume, Life::Running),
            (other, _) => (other, life.unwrap_or(Life::Ready)),
        };
        self.tasks.insert(task, now);
        let source = core.or(self.core).unwrap_or(step.source);
        Some(Step { kind: step.kind, source, target: task, action })
    }

    fn meaning(&mut self, name: NameId, names: &mut Names) -> (NameId, Option<NameId>) {
        if let Some(meaning) = self.meanings.get(name) {
            return *meaning;
        }
        let text = names.text(name).to_owned();
        let numbered = text.strip_prefix('[').and_then(|t| t.split_once(']'));
        let parts =
            numbered.and_then(|(inner, task)| inner.split_once('/').map(|(core, id)| (core, id, task)));
        let meaning = match parts {
            Some((core, id, task)) => {
                (names.intern(&format!("[{id}]{task}")), Some(names.intern(&format!("Core_{core}"))))
            }
            None => (name, None),
        };
        self.meanings.insert(name, meaning);
        meaning
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creation_dispatch_and_migration_are_understood() {
        let (mut names, mut dialect) = (Names::default(), FreeRtos::default());
        let mut read = |source: &str, target: &str, action, note| {
            let step = Step {
                kind: EntityType::Task,
                source: names.intern(source),
                target: names.intern(target),
                action,
            };
            let meant = dialect.read(step, note, &mut names)?;
            Some((names.text(meant.source).to_owned(), names.text(meant.target).to_owned(), meant.action))
        };
        let step = |core: &str, task: &str, action| Some((core.to_owned(), task.to_owned(), action));
        let (preempt, resume) = (Action::Preempt, Action::Resume);
        let created = read("Core_0", "[0/07]A", preempt, Some("create pri:4"));
        assert_eq!(created, step("Core_0", "[07]A", Action::Activate));
        assert_eq!(
            read("Core_0", "[0/08]B", preempt, Some("create")),
            step("Core_0", "[08]B", Action::Activate)
        );
        assert_eq!(read("[0/00]", "[0/07]A", resume, Some("")), step("Core_0", "[07]A", Action::Start));
        assert_eq!(read("Core_0", "[0/07]A", preempt, Some("")), step("Core_0", "[07]A", Action::Preempt));
        assert_eq!(read("Core_0", "[0/07]A", preempt, Some("")), None);
        assert_eq!(read("[1/09]C", "[1/07]A", resume, None), step("Core_1", "[07]A", Action::Resume));
        assert_eq!(
            read("Core_0", "(0001)D", preempt, Some("task_create")),
            step("Core_0", "(0001)D", Action::Activate)
        );
        assert_eq!(read("(0001)D", "(0001)D", resume, None), step("Core_0", "(0001)D", Action::Start));
    }
}
