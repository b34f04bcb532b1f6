//! What is known of every entity at an instant, from the events before it: what is open and in which state,
//! what is held, the last value of every signal. A gap forgets what it may have changed. Not how that is
//! written (see `state`).

use crate::btf::spec::{
    Action, EntityType, State, process_transition, rule_of_any_version, runnable_transition,
};
use crate::btf::{NameId, Names, Record};
use crate::names::IdMap;
use std::collections::BTreeMap;

/// A name and its instance, if the trace says one.
pub(super) type Who = (NameId, Option<i64>);

/// An event without its time, as the trace has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statement {
    pub source: Who,
    /// The type of the target, in the spelling of the trace.
    pub kind: NameId,
    pub target: Who,
    /// In the spelling of the trace.
    pub word: NameId,
    pub note: Option<NameId>,
}

/// An instance of a process that is not over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pub state: State,
    /// The event that led to this state.
    pub change: Statement,
    /// The core it was last on.
    core: Option<NameId>,
}

/// A runnable that is not over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Runnable {
    pub state: State,
    pub change: Statement,
}

/// The use of a semaphore by one process.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub process: Who,
    /// From the request on.
    pub steps: Vec<(Action, Statement)>,
}

impl Access {
    pub fn has(&self, action: Action) -> bool {
        self.steps.iter().any(|(step, _)| *step == action)
    }
}

#[derive(Debug, Default)]
pub(super) struct Semaphore {
    /// Its `ready`, where the version of the trace has that.
    pub ready: Option<Statement>,
    /// Its state and the event that led to it; `None` if unknown.
    pub state: Option<(State, Statement)>,
    /// It has been USED, so it has room for several users.
    pub counts: bool,
    pub accesses: Vec<Access>,
}

/// An OS event of a task.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct OsEvent {
    /// It was set, and not cleared since.
    pub set: Option<Statement>,
    /// The task began to wait for it, and it was not set since.
    pub awaited: Option<Statement>,
}

/// See the module. Everything is in the order of first appearance, as ids of names are.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub names: Names,
    pub processes: BTreeMap<Who, Process>,
    /// By process instance; outermost first.
    pub runnables: BTreeMap<Who, Vec<Runnable>>,
    pub semaphores: BTreeMap<Who, Semaphore>,
    /// The event with the last value of each signal.
    pub signals: BTreeMap<NameId, Statement>,
    /// By event and the name of the task it belongs to.
    pub os_events: BTreeMap<(NameId, Option<NameId>), OsEvent>,
    /// Activations that were lost while an instance of the process waits for its start.
    pub lost: BTreeMap<NameId, Vec<Statement>>,
    /// The last number of each process.
    pub last_numbers: IdMap<NameId, i64>,
    /// The last trigger of each stimulus.
    pub triggers: IdMap<NameId, Statement>,
}

impl Known {
    /// The next event, in the order of time.
    pub fn event(&mut self, record: &Record<'_>) {
        let kind = EntityType::parse_tolerant(record.target_type);
        let (Some(kind), Some(action)) = (kind, Action::parse_tolerant(record.action)) else { return };
        let mut id = |text: &str| self.names.intern(text);
        let event = Statement {
            source: (id(record.source), record.source_instance),
            kind: id(record.target_type),
            target: (id(record.target), record.target_instance),
            word: id(record.action),
            note: record.note.map(&mut id),
        };
        match kind {
            EntityType::Task | EntityType::Isr => self.process(action, event),
            EntityType::Runnable => self.runnable(action, event),
            EntityType::Semaphore => self.semaphore(action, event),
            EntityType::OsEvent => self.os_event(action, event),
            EntityType::Stimulus if action == Action::Trigger => {
                self.triggers.insert(event.target.0, event);
            }
            EntityType::Signal => match (action, event.note) {
                (Action::Read | Action::Write, Some(_)) => {
                    self.signals.insert(event.target.0, event);
                }
                (Action::Write, None) => {
                    self.signals.remove(&event.target.0);
                }
                _ => {}
            },
            // The initial value of a signal (BTF 2.1.5, table 22).
            EntityType::Simulation
                if action == Action::Tag
                    && record.note.is_some_and(|note| note.starts_with("SIG_INIT_VALUE")) =>
            {
                self.signals.insert(event.source.0, event);
            }
            _ => {}
        }
    }

    fn process(&mut self, action: Action, event: Statement) {
        let (name, instance) = event.target;
        if let Some(number) =
            instance.filter(|_| matches!(action, Action::Activate | Action::MtaLimitExceeded))
        {
            self.last_numbers.insert(name, number);
        }
        if action == Action::MtaLimitExceeded {
            if self.instances(name).any(|process| process.state == State::Active) {
                self.lost.entry(name).or_default().push(event);
            }
            return;
        }
        let Some((_, state)) = process_transition(action) else { return };
        if state == State::Terminated {
            self.processes.remove(&event.target);
            self.over(event.target);
        } else {
            let before = self.processes.get(&event.target).and_then(|process| process.core);
            let core = if action == Action::Activate { before } else { Some(event.source.0) };
            self.processes.insert(event.target, Process { state, change: event, core });
        }
        if !self.instances(name).any(|process| process.state == State::Active) {
            self.lost.remove(&name);
        }
    }

    /// The open instances of a process.
    fn instances(&self, name: NameId) -> impl Iterator<Item = &Process> {
        self.processes
            .range((name, None)..)
            .take_while(move |((n, _), _)| *n == name)
            .map(|(_, process)| process)
    }

    /// Everything that ends with an instance of a process.
    fn over(&mut self, process: Who) {
        self.runnables.remove(&process);
        for semaphore in self.semaphores.values_mut() {
            semaphore.accesses.retain(|access| access.process != process);
        }
        // The OS clears the events of a task when it is activated again (OSEK OS 2.2.3, §13.5.1).
        if self.instances(process.0).next().is_none() {
            self.os_events.retain(|(_, owner), _| *owner != Some(process.0));
        }
    }

    fn runnable(&mut self, action: Action, event: Statement) {
        let Some((_, state)) = runnable_transition(action) else { return };
        let open = self.runnables.entry(event.source).or_default();
        let place = open.iter().rposition(|runnable| runnable.change.target == event.target);
        match (place, state) {
            (Some(n), State::Terminated) => {
                open.remove(n);
            }
            (None, State::Terminated) => {}
            (Some(n), _) if action != Action::Start => {
                if let Some(runnable) = open.get_mut(n) {
                    *runnable = Runnable { state, change: event };
                }
            }
            // Older than what is known: inner ones are suspended before those that called them.
            (_, State::Suspended) => open.insert(0, Runnable { state, change: event }),
            _ => open.push(Runnable { state, change: event }),
        }
        if open.is_empty() {
            self.runnables.remove(&event.source);
        }
    }

    fn semaphore(&mut self, action: Action, event: Statement) {
        let semaphore = self.semaphores.entry(event.target).or_default();
        let rule = rule_of_any_version(EntityType::Semaphore, action);
        if let Some(transition) = rule.and_then(|rule| rule.moves) {
            semaphore.state = Some((transition.to, event));
            semaphore.counts |= matches!(action, Action::Used | Action::LockUsed | Action::UnlockFull);
            if action == Action::Ready {
                semaphore.ready = Some(event);
            }
            return;
        }
        let accesses = &mut semaphore.accesses;
        let place = accesses.iter().position(|access| access.process == event.source);
        let counted = place.and_then(|n| accesses.get(n)).is_some_and(|access| access.has(Action::Increment));
        match (action, place) {
            (Action::Decrement, Some(n)) => drop(accesses.remove(n)),
            (Action::Released, Some(n)) if !counted => drop(accesses.remove(n)),
            (Action::RequestSemaphore, Some(n)) => {
                if let Some(access) = accesses.get_mut(n) {
                    access.steps = vec![(action, event)];
                }
            }
            (
                Action::Increment | Action::Queued | Action::Waiting | Action::Assigned | Action::Released,
                Some(n),
            ) => {
                if let Some(access) = accesses.get_mut(n) {
                    access.steps.push((action, event));
                }
            }
            (Action::RequestSemaphore | Action::Increment | Action::Waiting | Action::Assigned, None) => {
                accesses.push(Access { process: event.source, steps: vec![(action, event)] });
            }
            _ => {}
        }
    }

    fn os_event(&mut self, action: Action, event: Statement) {
        let owner = if action == Action::SetEvent { event.note } else { Some(event.source.0) };
        let key = (event.target.0, owner);
        match action {
            Action::SetEvent => {
                self.os_events.insert(key, OsEvent { set: Some(event), awaited: None });
            }
            Action::WaitEvent => self.os_events.entry(key).or_default().awaited = Some(event),
            Action::ClearEvent => {
                self.os_events.remove(&key);
            }
            _ => {}
        }
    }

    /// The trace of a core, or of all, has a gap: what may have changed there is not known any more. Signals
    /// and free semaphores may have been changed by any core.
    pub fn gap(&mut self, core: Option<&str>) {
        let core = core.map(|core| self.names.intern(core));
        let stays = |process: &Process| core.is_some() && process.core.is_some() && process.core != core;
        self.processes.retain(|_, process| stays(process));
        let processes = &self.processes;
        self.lost.retain(|name, _| processes.keys().any(|(known, _)| known == name));
        self.runnables.retain(|owner, _| processes.contains_key(owner));
        self.signals.clear();
        self.os_events
            .retain(|(_, owner), _| owner.is_some_and(|o| processes.keys().any(|(name, _)| *name == o)));
        for semaphore in self.semaphores.values_mut() {
            semaphore.accesses.retain(|access| processes.contains_key(&access.process));
            let held = semaphore.accesses.iter().any(|access| access.has(Action::Assigned));
            if !held || semaphore.counts {
                semaphore.state = None;
            }
        }
    }
}
