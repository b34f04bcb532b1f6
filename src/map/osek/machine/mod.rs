//! The mapping state machine: one software event in, BTF events out. Its rules have codes (`A7`) that
//! docs/mapping.md explains; the other files of this folder contain them, about one function per rule.
//! This file contains the state and the dispatch.

mod activations;
mod alarms;
mod edges;
mod gaps;
mod handlers;
mod isrs;
mod locks;
mod occupancy;
mod os_events;
mod os_rows;
mod output_queue;
mod runnables;
mod services;
mod snapshot;
mod state;
mod tasks;

use super::listed::Others;
use super::model::{Model, OsState};
use super::slots::Role;
use super::software::EventKind::{Access, Call};
use super::software::SoftwareEvent;
use crate::btf::{Action, EntityType, Event, NameId, NameMap, Note, State as ProcessState};
use crate::diagnostics::{Diagnostic, Log, Severity, UNKNOWN_NAME};
use crate::map::{MAP_SOURCE, Output};
use crate::names::IdMap;
use gaps::Gaps;
use handlers::Handlers;
use output_queue::OutputQueue;
use state::{Actor, Context, Core, Pending, Proc, Semaphore, Task};

pub use os_rows::OsRows;
pub(super) use snapshot::State;
pub(super) use state::{Edge, Occupant};

/// S of the thesis, equation 4.6: the state between two software events.
#[derive(Debug)]
pub struct Machine {
    pub(super) model: Model,
    now: i64,
    /// The core of the current software event.
    at: usize,
    cores: Vec<Core>,
    tasks: Vec<Task>,
    sems: Vec<Semaphore>,
    /// Last value of every ALARMTIME.
    alarm_times: Vec<Option<i64>>,
    pending: Vec<Pending>,
    /// Next instance number by entity: stimuli, runnables and ISRs.
    next: IdMap<NameId, i64>,
    /// Which process an ISR is on each OS image, and the next number of an instance of it (rule I9).
    handlers: Handlers,
    /// A read of a counter of activations was traced: those before an error are, too (rule A12).
    counts_are_read: bool,
    /// The stimuli named after processes: those of the system, and those of activations by the process.
    stimuli: [NameMap<NameId>; 2],
    /// The gaps that go on.
    gaps: Gaps,
    out: OutputQueue,
    /// Rows of the tables of services and errors.
    pub(super) rows: OsRows,
    log: Log,
}

impl Machine {
    /// An empty machine: [`Machine::begin`] or [`Machine::resume`] comes next.
    pub(super) fn new(model: Model) -> Self {
        let mut machine = Self {
            now: 0,
            at: 0,
            cores: model.cores.iter().map(|c| Core::new(c.name)).collect(),
            tasks: model.tasks.iter().map(|t| Task::new(t.name, t.core)).collect(),
            sems: model.sems.iter().map(|s| Semaphore::new(s.name)).collect(),
            alarm_times: vec![None; model.alarms.len()],
            pending: Vec::new(),
            next: IdMap::default(),
            handlers: Handlers::default(),
            counts_are_read: false,
            stimuli: Default::default(),
            gaps: Gaps::default(),
            out: OutputQueue::new(model.coalescing),
            rows: OsRows::default(),
            log: Log::default(),
            model,
        };
        for finding in machine.model.findings.clone() {
            machine.report(Severity::Warning, "description", finding);
        }
        machine
    }

    /// Maps one software event. Events must come in the order of [`super::merge`].
    pub(super) fn software(&mut self, event: &SoftwareEvent) {
        self.end_gaps(event.time);
        self.now = event.time;
        self.at = event.core;
        self.out.advance(event.time);
        match event.kind {
            Access { .. } => self.access(event),
            Call { function, entry } => self.call(event.core, function, entry),
        }
    }

    /// Reports the names of the description that the recording does not have; `others` are those of the
    /// recording that no rule needs. The body of a task that never ran need not occur.
    pub(super) fn report_unknown(&mut self, others: &Others) {
        let never_ran = |function: &str| {
            self.model.task_functions.get(function).is_some_and(|t| self.tasks[*t].next_instance == 0)
        };
        let missing = self.model.listed.missing(others, never_ran);
        for message in std::mem::take(&mut self.model.unknown).into_iter().chain(missing) {
            let (source, text) = (MAP_SOURCE.into(), String::new());
            let (severity, code) = (Severity::Warning, UNKNOWN_NAME);
            self.log.push(Diagnostic { source, line: None, severity, code, message, text });
        }
    }

    /// Takes the output that is final, if it has at least `at_least` items.
    pub(super) fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        self.out.take(at_least)
    }

    /// Ends the trace: open instances stay open (rule L7). Returns the remaining output, and the findings.
    pub(super) fn finish(&mut self) -> (Vec<Output>, Log) {
        self.end_gaps(i64::MAX);
        self.cut_all_calls();
        self.out.release_all();
        (self.out.take(0).unwrap_or_default(), std::mem::take(&mut self.log))
    }

    fn access(&mut self, event: &SoftwareEvent) {
        let Access { slot, signal, write, value, follows } = event.kind else { return };
        let core = event.core;
        // Values are stored as the 64 bits that were traced; formulas narrow them to their C type (rule
        // O11).
        let bits = value as i64;
        if let Some(slot) = slot {
            let before = self.model.slots.value(slot);
            self.model.slots.set(slot, Some(bits));
            let previous = if follows { self.cores[core].previous } else { None };
            for n in 0..self.model.slot(slot).roles.len() {
                let role = self.model.slot(slot).roles[n];
                self.counts_are_read |= !write && matches!(role, Role::Remaining(_) | Role::Activations(_));
                self.role_accessed(core, role, write, bits, before, previous);
            }
        }
        self.cores[core].previous = slot.map(|s| (s, !write));
        if let Some(signal) = signal {
            self.signal(core, signal, write, value);
        }
    }

    /// A relevant variable was accessed. `before` is its last known value.
    fn role_accessed(
        &mut self,
        core: usize,
        role: Role,
        write: bool,
        value: i64,
        before: Option<i64>,
        previous: Option<(usize, bool)>,
    ) {
        match role {
            Role::TaskState(t) => self.task_state(t, write),
            Role::Activations(t) => self.task_activations(t, write),
            // Cores of one OS image may share a variable; its attribute then applies to the core that
            // writes.
            Role::RunningTask(c) if c == core => self.running_task(c, write),
            Role::RunningIsr(c) if c == core => self.running_isr(c, write),
            Role::Service(c) if c == core && write => self.service(c),
            Role::LastError(c) if c == core && write => self.last_error(c, previous),
            Role::SemState(s) => self.resource_state(core, s, write),
            Role::SemLocker(s) => self.resource_locker(core, s, write),
            Role::Spin(s) => self.spinlock(core, s, write, value),
            Role::AlarmTime(a) => self.alarm_time(a),
            Role::AlarmAction(a) if !write => self.alarm_action(a),
            Role::Expiry if !write => self.cores[core].alarm_event = None,
            Role::RemoteServer(caller) => self.remote_server(core, caller, write, value),
            Role::EventActive(t) if write => self.event_active(core, t, value as u64, before),
            Role::EventWait(t) if write => self.event_waitmask(t, value as u64),
            _ => {}
        }
    }

    /// Rule C1: the process that occupies a core is the top ISR, else the running task.
    fn proc(&self, core: usize) -> Option<Proc> {
        let c = &self.cores[core];
        match c.isrs.len() {
            0 => c.running.map(Proc::Task),
            n => Some(Proc::Isr(core, n - 1)),
        }
    }

    fn actor(&self, p: Proc) -> Actor {
        match p {
            Proc::Task(t) => {
                let task = &self.tasks[t];
                (task.name, task.queue.front().map_or(0, |i| i.number))
            }
            Proc::Isr(c, n) => (self.cores[c].isrs[n].name, self.cores[c].isrs[n].number),
        }
    }

    /// The source of actions on a core: its process, or `SIM` (BTF 2.1: instance −1) if there is none.
    fn actor_on(&self, core: usize) -> Actor {
        self.actor_or_sim(self.proc(core))
    }

    fn actor_or_sim(&self, p: Option<Proc>) -> Actor {
        p.map_or((self.model.sim, -1), |p| self.actor(p))
    }

    fn context(&mut self, p: Option<Proc>, core: usize) -> &mut Context {
        match p {
            Some(Proc::Task(t)) => &mut self.tasks[t].context,
            Some(Proc::Isr(c, n)) => &mut self.cores[c].isrs[n].context,
            None => &mut self.cores[core].idle,
        }
    }

    fn state(&self, p: Proc) -> ProcessState {
        match p {
            Proc::Task(t) => self.tasks[t].queue.front().map_or(ProcessState::Terminated, |i| i.state),
            Proc::Isr(c, n) => self.cores[c].isrs[n].state,
        }
    }

    fn set_state(&mut self, p: Proc, state: ProcessState) {
        match p {
            Proc::Task(t) => {
                if let Some(head) = self.tasks[t].queue.front_mut() {
                    head.state = state;
                }
            }
            Proc::Isr(c, n) => self.cores[c].isrs[n].state = state,
        }
    }

    fn kind(p: Proc) -> EntityType {
        match p {
            Proc::Task(_) => EntityType::Task,
            Proc::Isr(..) => EntityType::Isr,
        }
    }

    fn core_of(&self, p: Proc) -> usize {
        match p {
            Proc::Task(t) => self.tasks[t].core,
            Proc::Isr(c, _) => c,
        }
    }

    /// True for the ISR that executes service calls of another core.
    fn is_rpc(&self, p: Proc) -> bool {
        matches!(p, Proc::Isr(c, n) if self.model.rpc.contains(&self.cores[c].isrs[n].name))
    }

    /// True for two cores of one control unit, which can call each other.
    fn is_near(&self, core: usize, other: usize) -> bool {
        self.model.cores[core].ecu == self.model.cores[other].ecu
    }

    fn next_instance(&mut self, entity: NameId) -> i64 {
        let n = self.next.entry(entity).or_insert(0);
        *n += 1;
        *n - 1
    }

    fn emit(&mut self, source: Actor, target_type: EntityType, target: Actor, action: Action) {
        self.emit_note(source, target_type, target, action, Note::None);
    }

    fn emit_note(
        &mut self,
        source: Actor,
        target_type: EntityType,
        target: Actor,
        action: Action,
        note: Note,
    ) {
        self.out.push(Output::Event(Event::new(self.now, source, target_type, target, action, note)));
    }

    /// A process action; its source is the core, instance 0.
    fn process(&mut self, p: Proc, action: Action) {
        let core = self.cores[self.core_of(p)].name;
        self.emit((core, 0), Self::kind(p), self.actor(p), action);
    }

    /// The stimulus that activates `process` if no other process does.
    fn own_stimulus(&mut self, process: NameId) -> NameId {
        self.stimulus(0, "STI_", process)
    }

    /// The stimulus by which `process` activates others.
    fn activation_stimulus(&mut self, process: NameId) -> NameId {
        self.stimulus(1, "IPA_", process)
    }

    fn stimulus(&mut self, kind: usize, prefix: &str, process: NameId) -> NameId {
        if let Some(known) = self.stimuli[kind].get(process) {
            return *known;
        }
        let name = format!("{prefix}{}", self.name(process));
        let name = self.model.names.intern(&name);
        self.stimuli[kind].insert(process, name);
        name
    }

    fn trigger(&mut self, source: Actor, stimulus: NameId) -> Actor {
        let n = self.next_instance(stimulus);
        self.emit(source, EntityType::Stimulus, (stimulus, n), Action::Trigger);
        (stimulus, n)
    }

    /// Counts a finding of the mapping; its location is time and core, because it has no line.
    fn report(&mut self, severity: Severity, code: &'static str, message: String) {
        let (source, text) = (MAP_SOURCE.into(), format!("t={}", self.now));
        self.log.push(Diagnostic { source, line: None, severity, code, message, text });
    }

    fn name(&self, id: NameId) -> &str {
        self.model.names.text(id)
    }

    fn task_name(&self, t: usize) -> &str {
        self.name(self.tasks[t].name)
    }

    /// Rule S1, and the state at the begin (rules L1 to L5), of a recording that ends at `end`.
    pub(super) fn begin(&mut self, edge: &Edge, end: i64) {
        // Of a clock that has counted for longer than the recording, 0 is not the start of the OS.
        let starts_at_zero = edge.complete && edge.begin <= end.saturating_sub(edge.begin);
        self.now = if starts_at_zero { edge.begin.min(0) } else { edge.begin };
        for s in 0..self.sems.len() {
            let name = self.sems[s].name;
            if !self.sems[..s].iter().any(|other| other.name == name) {
                self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Ready);
            }
        }
        self.now = edge.begin;
        for (slot, value) in &edge.values {
            self.model.slots.set(*slot, Some(*value));
        }
        if edge.complete {
            for (task, model) in self.tasks.iter_mut().zip(&self.model.tasks) {
                task.os = Some(OsState::Suspended);
                task.activations = (!model.counts_down).then_some(0);
            }
            self.no_event_is_set();
            return;
        }
        for c in 0..self.cores.len() {
            self.cores[c].task_value = self.model.value(&self.model.cores[c].running_task);
        }
        for t in 0..self.tasks.len() {
            self.task_at_left_edge(t, edge);
        }
        for s in 0..self.sems.len() {
            self.lock_at_left_edge(s, edge);
        }
        for (core, handlers) in edge.isrs.iter().enumerate() {
            for handler in handlers {
                self.isr_at_left_edge(core, handler);
            }
        }
        self.show_locks_at_left_edge();
        (0..self.cores.len()).for_each(|core| self.tell_states(core, edge.begin, edge));
    }
}
