//! That each index of a model is one of its lists. The text of a model cannot break it; a program can.

use super::{Checks, each_step};
use crate::error::Result;
use crate::simulate::model::{Action, Model, Step};

impl Checks<'_> {
    pub(super) fn references(self) -> Result<()> {
        let model = self.model;
        for (ix, task) in model.tasks.iter().enumerate() {
            let line = self.places.tasks.get(ix).map(|body| body.line);
            let shown = format!("task '{}'", task.name);
            self.exists(&shown, line, "core", task.core, model.cores.len())?;
            if let Some(group) = task.group {
                self.exists(&shown, line, "resource", group, model.resources.len())?;
            }
            for event in &task.events {
                self.exists(&shown, line, "event", *event, model.events.len())?;
            }
        }
        for (ix, isr) in model.isrs.iter().enumerate() {
            let line = self.places.isrs.get(ix).map(|body| body.line);
            self.exists(&format!("ISR '{}'", isr.name), line, "core", isr.core, model.cores.len())?;
        }
        for body in self.bodies() {
            let shown = body.shown();
            each_step(body.steps, body.places, 1, &mut |step, line, depth| {
                // Everything else relies on it, so that it is checked first.
                if depth > super::MOST_NESTED {
                    let message = format!("steps of {shown} are nested deeper than {}", super::MOST_NESTED);
                    return self.mistake(line, message, "move the inner steps to a runnable, and call it");
                }
                of_step(model, step)
                    .into_iter()
                    .try_for_each(|(kind, ix, count)| self.exists(&shown, line, kind, ix, count))
            })?;
        }
        for (ix, alarm) in model.alarms.iter().enumerate() {
            let shown = format!("alarm '{}'", alarm.name);
            let line = self.places.alarms.get(ix).copied();
            self.exists(&shown, line, "core", alarm.core, model.cores.len())?;
            self.action_exists(&shown, line, alarm.action)?;
        }
        for (ix, table) in model.schedule_tables.iter().enumerate() {
            let shown = format!("schedule table '{}'", table.name);
            let line = self.places.schedule_tables.get(ix).copied();
            self.exists(&shown, line, "core", table.core, model.cores.len())?;
            for action in table.points.iter().flat_map(|(_, actions)| actions) {
                self.action_exists(&shown, line, *action)?;
            }
        }
        Ok(())
    }

    fn action_exists(self, of: &str, line: Option<u64>, action: Action) -> Result<()> {
        let (task, event) = match action {
            Action::Activate { task } => (task, None),
            Action::SetEvent { task, event } => (task, Some(event)),
        };
        self.exists(of, line, "task", task, self.model.tasks.len())?;
        event.map_or(Ok(()), |event| self.exists(of, line, "event", event, self.model.events.len()))
    }

    fn exists(self, of: &str, line: Option<u64>, kind: &str, ix: usize, count: usize) -> Result<()> {
        if ix < count {
            return Ok(());
        }
        let message = format!("{of} names {kind} {ix}, but the model has {count}");
        self.mistake(line, message, format!("add the {kind} to the model before what names it"))
    }
}

/// The indices of a step, with their kinds and how many of the kind there are.
fn of_step(model: &Model, step: &Step) -> Vec<(&'static str, usize, usize)> {
    let events = |events: &[usize]| -> Vec<_> {
        events.iter().map(|event| ("event", *event, model.events.len())).collect()
    };
    match step {
        Step::Execute(_)
        | Step::Terminate
        | Step::Schedule
        | Step::Branch { .. }
        | Step::Repeat { .. }
        | Step::Turns { .. } => Vec::new(),
        Step::Call { runnable } => vec![("runnable", *runnable, model.runnables.len())],
        Step::Read { signal } | Step::Write { signal, .. } => {
            vec![("signal", *signal, model.signals.len())]
        }
        Step::Activate { task } | Step::Chain { task } => vec![("task", *task, model.tasks.len())],
        Step::SetEvent { task, events: list } => {
            let mut all = events(list);
            all.push(("task", *task, model.tasks.len()));
            all
        }
        Step::ClearEvent { events: list } | Step::WaitEvent { events: list } => events(list),
        Step::GetResource { resource } | Step::ReleaseResource { resource } => {
            vec![("resource", *resource, model.resources.len())]
        }
        Step::GetSpinlock { spinlock }
        | Step::TryToGetSpinlock { spinlock, .. }
        | Step::ReleaseSpinlock { spinlock } => vec![("spinlock", *spinlock, model.spinlocks.len())],
    }
}
