//! Writes the record of causes of a simulated system as CSV, in the words of view `response_part`: the truth
//! to which explanations are compared. Not how causes are found (see `kernel::causes`).

use super::kernel::Handlers;
use super::kernel::causes::{Cause, Holder, Instance, Polls, Setter, Span, State, Why};
use super::kernel::effect::{Lock, Process, Stimulus};
use super::model::Model;
use std::io::Write;

/// The columns, in order. Times are in ns.
const COLUMNS: &str = "process,type,instance,begin_at,end_at,kind,state,core,runnable,by_process,by_type,\
    by_instance,reason,held,object,holder_state,behind_process,behind_instance,queued,last_lock";

/// The writer. The first error of the output is kept, and nothing is written after it.
pub struct Causes<'m, W> {
    out: W,
    failed: Option<std::io::Error>,
    model: &'m Model,
    /// The name of each handler: with its core, where it stands for another one on each.
    names: Vec<String>,
}

/// What follows the state in a row.
#[derive(Debug, Default)]
struct Row<'n> {
    kind: &'static str,
    runnable: &'n str,
    by: Option<(&'n str, &'static str, Option<u64>)>,
    reason: &'static str,
    held: &'n str,
    object: &'n str,
    holder_state: &'static str,
    behind: Option<(&'n str, u64)>,
}

impl<'m, W: Write> Causes<'m, W> {
    /// Writes the titles of the columns.
    pub fn new(mut out: W, model: &'m Model, handlers: &'m Handlers) -> Self {
        let failed = writeln!(out, "{COLUMNS}").err();
        let name = |handler: usize| {
            let name = handlers.name(handler);
            match model.cores.get(handlers.core(handler)) {
                Some(core) if handlers.shared() == Some(name) => format!("{}.{name}", core.name),
                _ => name.to_owned(),
            }
        };
        let names = (0..handlers.count()).map(name).collect();
        Self { out, failed, model, names }
    }

    /// Writes a row.
    pub fn write(&mut self, span: &Span) {
        if self.failed.is_none() {
            let line = self.line(span);
            self.failed = writeln!(self.out, "{line}").err();
        }
    }

    /// What has failed.
    pub fn finish(mut self) -> std::io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }

    /// Name and type of a process.
    fn process(&self, process: Process) -> (&str, &'static str) {
        match process {
            Process::Task(task) => (self.model.tasks.get(task).map_or("", |task| &task.name), "T"),
            Process::Handler(handler) => (self.names.get(handler).map_or("", String::as_str), "I"),
            Process::Nobody => ("SIM", "STI"),
        }
    }

    fn instance(&self, Instance { process, number }: Instance) -> (&str, &'static str, Option<u64>) {
        let (name, kind) = self.process(process);
        (name, kind, Some(number))
    }

    fn setter(&self, setter: Setter) -> (&str, &'static str, Option<u64>) {
        match setter {
            Setter::Instance(instance) => self.instance(instance),
            Setter::Stimulus(Stimulus::Alarm(alarm)) => {
                (self.model.alarms.get(alarm).map_or("", |alarm| &alarm.name), "STI", None)
            }
            Setter::Stimulus(_) => ("SIM", "STI", None),
        }
    }

    fn resource(&self, resource: usize) -> &str {
        self.model.resources.get(resource).map_or("", |resource| &resource.name)
    }

    fn lock(&self, lock: Lock) -> &str {
        match lock {
            Lock::Resource(resource) => self.resource(resource),
            Lock::Spinlock(spinlock) => self.model.spinlocks.get(spinlock).map_or("", |lock| &lock.name),
        }
    }

    fn row(&self, cause: Cause) -> Row<'_> {
        match cause {
            Cause::Executes { runnable } => {
                let runnable = runnable.and_then(|runnable| self.model.runnables.get(runnable));
                let runnable = runnable.map_or("", |runnable| &runnable.name);
                Row { kind: "executes", runnable, ..Row::default() }
            }
            Cause::Kernel => Row { kind: "os", ..Row::default() },
            Cause::Behind { by, why, polls } => {
                let (reason, held) = match why {
                    Why::Handler => ("isr", ""),
                    Why::PreviousInstance => ("previous_instance", ""),
                    Why::HigherPriority => ("higher_priority", ""),
                    Why::EqualPriority => ("equal_priority", ""),
                    Why::NotPreemptable => ("not_preemptable", ""),
                    Why::Ceiling(resource) => ("holds", self.resource(resource)),
                    Why::Group => ("group", ""),
                    Why::Scheduler => ("scheduler", ""),
                };
                let row = Row { kind: "behind", by: Some(self.instance(by)), reason, held, ..Row::default() };
                let Some(Polls { lock, holder }) = polls else { return row };
                let behind = holder.map(|holder| (self.process(holder.process).0, holder.number));
                Row { object: self.lock(lock), holder_state: word(State::Polling), behind, ..row }
            }
            Cause::Polls { lock, holder } => {
                let row = Row { kind: "lock", object: self.lock(lock), ..Row::default() };
                let Some(Holder { instance, state, behind }) = holder else { return row };
                let behind = behind.map(|behind| (self.process(behind.process).0, behind.number));
                Row { by: Some(self.instance(instance)), holder_state: word(state), behind, ..row }
            }
            Cause::Waits { set } => {
                let row = Row { kind: "event", ..Row::default() };
                let Some((event, setter)) = set else { return row };
                let object = self.model.events.get(event).map_or("", |event| &event.name);
                Row { object, by: Some(self.setter(setter)), ..row }
            }
        }
    }

    fn line(&self, span: &Span) -> String {
        let (process, kind, _) = self.instance(span.of);
        let core = self.model.cores.get(span.core).map_or("", |core| &core.name);
        let row = self.row(span.cause);
        let (by, by_type, by_instance) = row.by.unwrap_or_default();
        let (behind, behind_instance) = match row.behind {
            Some((name, number)) => (name, number.to_string()),
            None => ("", String::new()),
        };
        let by_instance = by_instance.map_or_else(String::new, |number| number.to_string());
        // What the one that has the core polls for comes before what the instance parks for.
        let parks_for = span.parks_for.filter(|_| row.object.is_empty());
        let object = parks_for.map_or(row.object, |lock| self.lock(lock));
        let last_lock = span.last_lock.map_or("", |lock| self.lock(lock));
        format!(
            "{process},{kind},{},{},{},{},{},{core},{},{by},{by_type},{by_instance},{},{},{object},{},{behind},\
             {behind_instance},{},{last_lock}",
            span.of.number,
            span.begin,
            span.end,
            row.kind,
            word(span.state),
            row.runnable,
            row.reason,
            row.held,
            row.holder_state,
            span.is_queued,
        )
    }
}

fn word(state: State) -> &'static str {
    match state {
        State::Active => "active",
        State::Ready => "ready",
        State::Running => "running",
        State::Waiting => "waiting",
        State::Polling => "polling",
        State::Parking => "parking",
    }
}
