//! System events to instances and states: the tables `process_instance`, `process_state`, `runnable_instance`
//! and `runnable_state` from BTF events in time order, mapped or read from a file. Needs no software events
//! and no files.

mod edges;
mod entities;
mod freertos;
mod instance;
mod occupants;
mod processes;
mod records;
mod runnables;
mod step;

use crate::btf::{Action, Actor, EntityType, Event, IdleTasks, KnownState, NameId, Names};
use crate::names::IdMap;
use crate::schema::{ProcessInstanceRows, ProcessStateRows, RunnableInstanceRows, RunnableStateRows};
use edges::LeftEdge;
use entities::Entities;
use occupants::Occupants;
use processes::Processes;
use runnables::Runnables;

pub use entities::Entity;
pub use records::{Dialect, FromRecords};

/// Rows that are ready to be written.
#[derive(Debug, Default)]
pub struct Rows {
    /// Ended instances of tasks and ISRs, in the order of their ends.
    pub instances: ProcessInstanceRows,
    /// Ended spans of one state, in the order of their ends.
    pub states: ProcessStateRows,
    /// Ended runnable instances, in the order of their ends.
    pub runnables: RunnableInstanceRows,
    /// Ended spans of one state of a runnable, in the order of their ends.
    pub runnable_states: RunnableStateRows,
}

/// What a trace does that no system can do, counted; 0 for a correct trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Violations {
    /// Process actions that are not allowed in the current state.
    pub process: u64,
    /// Runnable actions that are not allowed in the current state.
    pub runnable: u64,
    /// Processes that ran on a core on which another one was running, which was not preempted.
    pub occupied: u64,
    /// Instances without an end, although a later instance of their process started.
    pub endless: u64,
}

impl Violations {
    /// Adds those of another part of the trace.
    pub fn add(&mut self, other: Self) {
        self.process += other.process;
        self.runnable += other.runnable;
        self.occupied += other.occupied;
        self.endless += other.endless;
    }

    /// What they mean for results: codes and messages of findings.
    pub fn doubts(&self) -> Vec<(&'static str, String)> {
        let chart = self.process + self.runnable;
        let all = [
            (
                chart,
                "illegal-transition",
                format!(
                    "{} process and {} runnable events break the state charts; 'btfdb check' names the places",
                    self.process, self.runnable
                ),
            ),
            (
                self.occupied,
                "core-occupied",
                format!(
                    "{} times a process runs on a core on which another one runs: that one is taken for preempted until \
                 the core is free again; 'btfdb check' names the places",
                    self.occupied
                ),
            ),
            (
                self.endless,
                "instance-without-end",
                format!(
                    "{} instances do not end, although the next one of their process starts: SELECT * FROM \
                 process_instance WHERE terminate_at IS NULL",
                    self.endless
                ),
            ),
        ];
        all.into_iter().filter(|(count, ..)| *count > 0).map(|(_, code, message)| (code, message)).collect()
    }
}

/// The state of all open instances. Of an instance whose first event is not its activation nothing is known
/// before, unless [`Derive::known`] says it, or, in a foreign trace, it must have existed at the begin.
#[derive(Debug, Default)]
pub struct Derive {
    /// Open instances of ISRs that are processes of another name, see [`Derive::handler`].
    handlers: IdMap<Actor, Actor>,
    processes: Processes,
    runnables: Runnables,
    entities: Entities,
    /// The rows made so far; the caller may take them at any time.
    pub rows: Rows,
}

impl Derive {
    /// Tasks with these names are idle tasks.
    #[must_use]
    pub fn with_idle_tasks(mut self, tasks: IdleTasks) -> Self {
        self.entities.idle_tasks = tasks;
        self
    }

    /// This task is an idle task whatever its name is, unless its name says that it is none.
    pub fn idle_task(&mut self, task: NameId) {
        self.entities.idle_task(task);
    }

    /// An entity occurs, in an event that concerns no instances.
    pub fn occurs(&mut self, entity: NameId, kind: EntityType) {
        self.entities.occurs(entity, kind);
    }

    /// Everything that has occurred: by type, then by name.
    pub fn entities(&self, names: &Names) -> Vec<Entity> {
        self.entities.all(names)
    }

    /// For a trace whose first instant is `begin`, in ticks, and that does not say what held there; it may
    /// omit activations. The first instance of a process that is seen was, from `begin` on, in the state that
    /// its first action leaves; a first event `start` does not imply an earlier state.
    pub fn of_foreign_trace(begin: i64) -> Self {
        let mut derive = Self::default();
        derive.processes.left_edge = Some(LeftEdge::new(begin));
        derive.processes.occupants = Some(Occupants::default());
        derive
    }

    /// From now on, an instance of an ISR is one of a process with another name or number, until it ends: a
    /// process is a handler of one core, and BTF may know several by one name.
    pub fn handler(&mut self, isr: Actor, process: Actor) {
        self.handlers.insert(isr, process);
    }

    /// An instance of an ISR turns out to be one of a process with another name or number. False if it is
    /// known to be one already.
    pub fn begins_as(&mut self, isr: Actor, process: Actor) -> bool {
        let is_new = !self.handlers.contains_key(&isr);
        if is_new {
            self.processes.rename(isr, process);
            self.handlers.insert(isr, process);
        }
        is_new
    }

    /// Adds an event. What occurs has the name that BTF knows it by.
    pub fn event(&mut self, event: &Event, names: &Names) {
        self.entities.occurs(event.target, event.target_type);
        if self.handlers.is_empty() {
            return self.own_event(event, names);
        }
        let own = self.own(event);
        self.own_event(&own, names);
        if event.target_type == EntityType::Isr && event.action == Action::Terminate {
            self.handlers.remove(&(event.target, event.target_instance));
        }
    }

    fn own_event(&mut self, event: &Event, names: &Names) {
        match event.target_type {
            EntityType::Task | EntityType::Isr => {
                if event.action == Action::Start {
                    for older in self.processes.over(event) {
                        self.end_lost(older, names);
                    }
                }
                self.processes.event(event, names, &mut self.entities, &mut self.rows);
                self.runnables.of_process(event, names, &mut self.rows);
            }
            EntityType::Runnable => self.runnables.event(event, names, &self.processes, &mut self.rows),
            _ => {}
        }
    }

    /// An event with the processes that its ISRs are.
    fn own(&self, event: &Event) -> Event {
        let mut own = *event;
        if event.target_type == EntityType::Isr {
            (own.target, own.target_instance) = self.process((event.target, event.target_instance));
        } else if event.target_type == EntityType::Runnable {
            (own.source, own.source_instance) = self.process((event.source, event.source_instance));
        }
        own
    }

    /// The process that an ISR is, see [`Derive::handler`]; any other is itself.
    fn process(&self, actor: Actor) -> Actor {
        self.handlers.get(&actor).copied().unwrap_or(actor)
    }

    /// The activation of an instance that was activated before, at an unknown time: the instance is never
    /// complete.
    pub fn assumed(&mut self, activation: &Event, names: &Names) {
        self.entities.occurs(activation.target, activation.target_type);
        self.processes.assumed(&self.own(activation), names, &mut self.entities);
    }

    /// What is known of a process instance without an event.
    pub fn known(&mut self, known: &KnownState, names: &Names) {
        self.entities.occurs(known.process.0, known.kind);
        let own = KnownState { process: self.process(known.process), ..*known };
        self.processes.known(&own, names, &mut self.entities, &mut self.rows);
    }

    /// The state of a process instance is unknown from `time` on, until its next event.
    pub fn lose(&mut self, process: Actor, time: i64, names: &Names) {
        let process = self.process(process);
        self.runnables.lose(process, time, names, &mut self.rows);
        self.processes.lose(process, time, names, &mut self.rows);
    }

    /// An event that was not recorded, but keeps the rules of BTF: nothing is derived from it, but that a
    /// lost instance which it ends has no more events.
    pub fn closing(&mut self, event: &Event, names: &Names) {
        if event.action != Action::Terminate {
            return;
        }
        let target = (event.target, event.target_instance);
        match event.target_type {
            EntityType::Task | EntityType::Isr => {
                let process = self.handlers.remove(&target).unwrap_or(target);
                self.end_lost(process, names);
            }
            EntityType::Runnable => {
                let process = self.process((event.source, event.source_instance));
                self.runnables.end_lost_one(target, process, names, &mut self.rows);
            }
            _ => {}
        }
    }

    /// A process instance has ended if it is lost, when and how is not known.
    fn end_lost(&mut self, process: Actor, names: &Names) {
        if self.processes.end_lost(process, names, &mut self.entities, &mut self.rows) {
            self.runnables.end_lost(process, names, &mut self.rows);
        }
    }

    /// The trace of `core`, or of all cores, has a gap `[begin, end)`: what was open there is cut off and
    /// stays incomplete.
    pub fn gap(&mut self, core: Option<NameId>, (begin, end): (i64, i64), names: &Names) {
        self.runnables.gap(core, begin, names, &mut self.rows);
        self.processes.gap(core, (begin, end), names, &mut self.rows);
    }

    /// Writes what is still open at `end`, as incomplete instances in the order of their first events.
    pub fn finish(&mut self, end: i64, names: &Names) -> Violations {
        self.processes.finish(end, names, &mut self.entities, &mut self.rows);
        self.runnables.finish(end, names, &mut self.rows);
        Violations { runnable: self.runnables.violations, ..self.processes.violations }
    }
}

#[cfg(test)]
mod tests;
