//! The rules that map rows of task events (D1 to D4 of docs/mapping.md), row by row. Not how rows are read
//! (see `stored`).

use super::stored::{Kind, TaskEvent};
use crate::btf::NameId;
use crate::description::ProcessStep;
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::map::processes::Processes;
use crate::map::{Gap, MAP_SOURCE};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What stands for no task.
const NO_TASK: &str = "NO_TASK";

/// The rules at some instant of a recording.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub processes: Processes,
    cores: Vec<NameId>,
    /// The processes by name and whether they are ISRs.
    by_name: BTreeMap<(Arc<str>, bool), usize>,
    /// What the ISRs of each core have interrupted though no row says so, innermost last.
    interrupted: BTreeMap<NameId, Vec<Option<usize>>>,
    /// Runnables where nothing runs, or that have not started.
    runnables: u64,
}

impl Rules {
    /// The cores, as the rows number them.
    pub fn add_cores(&mut self, cores: &[String]) {
        self.cores = cores.iter().map(|core| self.processes.names.intern(core)).collect();
    }

    /// Maps a row; false if it adds nothing.
    pub fn event(&mut self, event: &TaskEvent) -> bool {
        let TaskEvent { time, core, name, kind } = event;
        let Some(core) = self.cores.get(*core).copied() else { return false };
        // Rule D1: a row for nobody.
        if name.is_empty() || **name == *NO_TASK {
            return false;
        }
        let step = match kind {
            Kind::Activate => ProcessStep::Activate,
            Kind::Start => ProcessStep::Start,
            Kind::Preempt => ProcessStep::Preempt,
            Kind::Resume => ProcessStep::Resume,
            Kind::Wait => ProcessStep::Wait,
            Kind::Release => ProcessStep::Release,
            Kind::Terminate => ProcessStep::Terminate,
            Kind::IsrStart => return self.start_isr(name, *time, core),
            Kind::IsrEnd => return self.end_isr(name, *time, core),
            Kind::RunnableStart | Kind::RunnableStop => {
                // Rule D2.
                let is_owned = match kind {
                    Kind::RunnableStart => self.processes.start_runnable(core, *time, name),
                    _ => self.processes.end_runnable(core, *time, Some(name)),
                };
                self.runnables += u64::from(!is_owned);
                return is_owned;
            }
            // Rule D1: said by the rows beside it.
            Kind::Other => return false,
        };
        let p = self.process(name, false);
        self.processes.step(p, *time, core, step);
        true
    }

    /// Rule D4: behind a gap, all is as at the begin of a recording.
    pub fn gap(&mut self, gap: &Gap) {
        let own =
            |core: &&NameId| gap.core.as_deref().is_none_or(|name| self.processes.names.text(**core) == name);
        let cores: BTreeSet<NameId> = self.cores.iter().filter(own).copied().collect();
        self.interrupted.retain(|core, _| !cores.contains(core));
        self.processes.gap(gap, &cores, |_, _| None);
    }

    /// What was found.
    pub fn findings(&self) -> Log {
        let mut log = Log::default();
        for (count, code, what) in [
            (
                self.runnables,
                "runnable-of-nobody",
                "runnables start or stop where no process runs, or did not start",
            ),
            (
                self.processes.unexpected,
                "lost-events",
                "rows do not follow from those before: others are missing, and nothing is said of their processes in between",
            ),
        ] {
            if count > 0 {
                log.push(Diagnostic {
                    source: MAP_SOURCE.into(),
                    line: None,
                    severity: Severity::Warning,
                    code,
                    message: format!("{count} {what}"),
                    text: String::new(),
                });
            }
        }
        log
    }

    fn process(&mut self, name: &Arc<str>, is_isr: bool) -> usize {
        let processes = &mut self.processes;
        let add = || processes.add(name, is_isr);
        *self.by_name.entry((Arc::clone(name), is_isr)).or_insert_with(add)
    }

    /// Rule D3: an ISR interrupts what runs, also where no row says that it is preempted.
    fn start_isr(&mut self, name: &Arc<str>, time: i64, core: NameId) -> bool {
        let p = self.process(name, true);
        let runs = self.processes.running(core);
        if let Some(runs) = runs {
            self.processes.step(runs, time, core, ProcessStep::Preempt);
        }
        self.interrupted.entry(core).or_default().push(runs);
        self.processes.step(p, time, core, ProcessStep::Start);
        true
    }

    /// Rule D3: what an ISR has interrupted goes on behind it.
    fn end_isr(&mut self, name: &Arc<str>, time: i64, core: NameId) -> bool {
        let p = self.process(name, true);
        self.processes.step(p, time, core, ProcessStep::Terminate);
        if let Some(runs) = self.interrupted.entry(core).or_default().pop().flatten() {
            self.processes.step(runs, time, core, ProcessStep::Resume);
        }
        true
    }
}
