//! Writes what a simulated kernel does as BTF, straight from the kernel: the truth to which a mapped
//! recording is compared. Shares nothing with the mapper or with `derive`, not even the vocabulary of
//! BTF.

use super::kernel::Handlers;
use super::kernel::effect::{Change, Effect, Lock, Observer, Process, Stimulus};
use super::kernel::layout::layout;
use super::model::{Action, Model};
use std::collections::{HashMap, VecDeque};
use std::io::Write;

/// A name of BTF, by number.
type Name = usize;

/// The instances of a task: their numbers, the oldest first.
#[derive(Debug, Default)]
struct Instances {
    open: VecDeque<u64>,
    next: u64,
}

/// The writer. The first error of the output is kept, and nothing is written after it.
pub struct Reference<'m, W> {
    out: W,
    failed: Option<std::io::Error>,
    /// In the terms of BTF 2.2.0 and later.
    is_new: bool,
    model: &'m Model,
    handlers: &'m Handlers,
    tasks: Vec<Instances>,
    /// The instance that each handler has now.
    handler_now: Vec<u64>,
    /// Instances so far of handlers of each name.
    handler_next: HashMap<String, u64>,
    /// Triggers so far of each stimulus.
    triggers: HashMap<String, u64>,
    /// The open runnables of each process: runnable and instance, the innermost last.
    open: HashMap<(Process, u64), Vec<(Name, u64)>>,
    runnable_next: Vec<u64>,
    events: u64,
}

impl<'m, W: Write> Reference<'m, W> {
    /// Writes the header, and that every lock is there.
    pub fn new(mut out: W, model: &'m Model, handlers: &'m Handlers) -> Self {
        // Since 2.2.0 a stimulus may set an event; before, there are words for all the rest.
        let mut actions = model.alarms.iter().map(|alarm| alarm.action);
        let is_event = |action: Action| matches!(action, Action::SetEvent { .. });
        let is_new = actions.any(is_event);
        let (version, scale) = if is_new { ("2.2.1", "timescale") } else { ("2.1.5", "timeScale") };
        let date = if is_new { "" } else { "#creationDate 1970-01-01T00:00:00Z\n" };
        // Handlers that are another process on each core: said as exports of btfdb say it.
        let shared = handlers.shared();
        let shared =
            shared.map(|name| format!("# on each core another handler: {name}\n")).unwrap_or_default();
        let head = format!("#version {version}\n#creator btfdb simulate\n{date}#{scale} ns\n{shared}");
        let failed = out.write_all(head.as_bytes()).err();
        let mut reference = Self {
            out,
            failed,
            is_new,
            model,
            handlers,
            tasks: model.tasks.iter().map(|_| Instances::default()).collect(),
            handler_now: vec![0; handlers.count()],
            handler_next: HashMap::new(),
            triggers: HashMap::new(),
            open: HashMap::new(),
            runnable_next: vec![0; model.runnables.len()],
            events: 0,
        };
        // Those that cores share come first.
        let layouts = layout(model);
        let of_cores = |shared: bool| {
            let resources = model
                .resources
                .iter()
                .zip(&layouts)
                .filter(move |(_, layout)| layout.word.is_some() == shared);
            resources
                .filter(|(_, layout)| layout.cores.iter().any(Option::is_some))
                .map(|(resource, _)| &resource.name)
        };
        let spinlocks = model.spinlocks.iter().map(|lock| &lock.name);
        let names: Vec<_> = of_cores(true).chain(spinlocks).chain(of_cores(false)).collect();
        for name in names {
            let action = if is_new { "free" } else { "ready" };
            reference.line(0, (name, 0), "SEM", (name, 0), action, None);
        }
        reference
    }

    /// The number of events, and what has failed.
    pub fn finish(mut self) -> std::io::Result<u64> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.events),
        }
    }

    fn line(
        &mut self,
        time: i64,
        source: (&str, i64),
        kind: &str,
        target: (&str, u64),
        action: &str,
        note: Option<&str>,
    ) {
        if self.failed.is_some() {
            return;
        }
        self.events += 1;
        let (name, instance) = source;
        let (target, number) = target;
        let written = write!(self.out, "{time},{name},{instance},{kind},{target},{number},{action}");
        let written = written.and_then(|()| match note {
            Some(note) => writeln!(self.out, ",{note}"),
            None => writeln!(self.out),
        });
        self.failed = written.err();
    }

    fn task(&self, task: usize) -> &'m str {
        self.model.tasks.get(task).map_or("", |task| &task.name)
    }

    fn core(&self, core: usize) -> &'m str {
        self.model.cores.get(core).map_or("", |core| &core.name)
    }

    /// Type, name and instance of a process.
    fn process(&self, process: Process) -> (&'static str, &'m str, i64) {
        match process {
            Process::Task(task) => {
                let instance = self.tasks.get(task).and_then(|task| task.open.front()).copied();
                ("T", self.task(task), instance.map_or(-1, |instance| instance as i64))
            }
            Process::Handler(handler) => {
                let instance = self.handler_now.get(handler).copied().unwrap_or_default();
                ("I", self.handlers.name(handler), instance as i64)
            }
            Process::Nobody => ("SIM", "SIM", -1),
        }
    }

    fn stimulus(&self, stimulus: Stimulus, task: usize) -> String {
        let model = self.model;
        match stimulus {
            Stimulus::Alarm(alarm) => {
                model.alarms.get(alarm).map_or_else(String::new, |alarm| alarm.name.clone())
            }
            Stimulus::By(process) => format!("IPA_{}", self.process(process).1),
            Stimulus::Autostart | Stimulus::Table => format!("STI_{}", self.task(task)),
        }
    }

    fn lock(&self, lock: Lock) -> &'m str {
        match lock {
            Lock::Resource(resource) => {
                self.model.resources.get(resource).map_or("", |resource| &resource.name)
            }
            Lock::Spinlock(spinlock) => self.model.spinlocks.get(spinlock).map_or("", |lock| &lock.name),
        }
    }

    /// Triggers a stimulus; without a process that does, its source is SIM, and itself since 2.2.0 (BTF 2.2.1
    /// §2.3.1.1).
    fn trigger(&mut self, time: i64, name: String, source: Option<(&str, i64)>) -> u64 {
        let instance = self.triggers.get(&name).copied().unwrap_or_default();
        let outside = if self.is_new { (name.as_str(), instance as i64) } else { ("SIM", -1) };
        let source = source.unwrap_or(outside);
        self.line(time, source, "STI", (&name, instance), "trigger", None);
        self.triggers.insert(name, instance + 1);
        instance
    }

    /// The latest trigger of a stimulus.
    fn latest(&self, name: &str) -> i64 {
        self.triggers.get(name).map_or(0, |next| *next as i64 - 1)
    }

    fn change(&mut self, core: usize, time: i64, process: Process, change: Change) {
        let (kind, name, instance) = self.process(process);
        let (action, leaves, enters) = match change {
            Change::Start => ("start", false, false),
            Change::Resume => ("resume", false, true),
            Change::Preempt => ("preempt", true, false),
            Change::Wait => ("wait", true, false),
            Change::Release => ("release", false, false),
            Change::Terminate => ("terminate", false, false),
            Change::Poll => ("poll", false, false),
            Change::Run => ("run", false, false),
            Change::Park => ("park", true, false),
            Change::PollParking => ("poll_parking", false, true),
            Change::ReleaseParking => ("release_parking", false, false),
        };
        let key = (process, instance as u64);
        let open = self.open.get(&key).cloned().unwrap_or_default();
        let runnables = self.model;
        let name_of =
            |runnable: Name| runnables.runnables.get(runnable).map_or("", |runnable| runnable.name.as_str());
        if leaves || change == Change::Terminate {
            let action = if leaves { "suspend" } else { "terminate" };
            for (runnable, number) in open.iter().rev() {
                self.line(time, (name, instance), "R", (name_of(*runnable), *number), action, None);
            }
        }
        self.line(time, (self.core(core), 0), kind, (name, instance as u64), action, None);
        if enters {
            for (runnable, number) in &open {
                self.line(time, (name, instance), "R", (name_of(*runnable), *number), "resume", None);
            }
        }
        if change == Change::Terminate {
            self.open.remove(&key);
            if let Process::Task(task) = process
                && let Some(task) = self.tasks.get_mut(task)
            {
                task.open.pop_front();
            }
        }
    }
}

impl<W: Write> Observer for Reference<'_, W> {
    fn effect(&mut self, core: usize, time: i64, effect: Effect) {
        match effect {
            Effect::Trigger(stimulus) => {
                let source = match stimulus {
                    Stimulus::By(process) => Some(self.process(process)),
                    _ => None,
                };
                let name = self.stimulus(stimulus, 0);
                self.trigger(time, name, source.map(|(_, name, instance)| (name, instance)));
            }
            Effect::Activate { task, by } | Effect::Refuse { task, by } => {
                let refused = matches!(effect, Effect::Refuse { .. });
                let stimulus = self.stimulus(by, task);
                if matches!(by, Stimulus::Autostart | Stimulus::Table) {
                    self.trigger(time, stimulus.clone(), None);
                }
                let latest = self.latest(&stimulus);
                let Some(instances) = self.tasks.get_mut(task) else { return };
                let number = instances.next;
                instances.next += 1;
                if !refused {
                    instances.open.push_back(number);
                }
                let action = if refused { "mtalimitexceeded" } else { "activate" };
                self.line(time, (&stimulus, latest), "T", (self.task(task), number), action, None);
            }
            Effect::Enter(handler) => {
                let name = self.handlers.name(handler);
                let next = self.handler_next.entry(name.to_owned()).or_default();
                let instance = *next;
                *next += 1;
                if let Some(now) = self.handler_now.get_mut(handler) {
                    *now = instance;
                }
                let stimulus = format!("STI_{name}");
                let trigger = self.trigger(time, stimulus.clone(), None);
                self.line(time, (&stimulus, trigger as i64), "I", (name, instance), "activate", None);
                self.line(time, (self.core(core), 0), "I", (name, instance), "start", None);
            }
            Effect::Change(process, change) => self.change(core, time, process, change),
            Effect::RunnableStart(by, runnable) => {
                let (_, name, instance) = self.process(by);
                let Some(next) = self.runnable_next.get_mut(runnable) else { return };
                let number = *next;
                *next += 1;
                self.open.entry((by, instance as u64)).or_default().push((runnable, number));
                let target = self.model.runnables.get(runnable).map_or("", |runnable| &runnable.name);
                self.line(time, (name, instance), "R", (target, number), "start", None);
            }
            Effect::RunnableEnd(by, runnable) => {
                let (_, name, instance) = self.process(by);
                let number =
                    self.open.get_mut(&(by, instance as u64)).and_then(Vec::pop).map_or(0, |(_, n)| n);
                let target = self.model.runnables.get(runnable).map_or("", |runnable| &runnable.name);
                self.line(time, (name, instance), "R", (target, number), "terminate", None);
            }
            Effect::Read { by, signal, value } | Effect::Write { by, signal, value } => {
                let (_, name, instance) = self.process(by);
                let target = self.model.signals.get(signal).map_or("", |signal| &signal.name);
                let action = if matches!(effect, Effect::Read { .. }) { "read" } else { "write" };
                self.line(time, (name, instance), "SIG", (target, 0), action, Some(&value.to_string()));
            }
            Effect::WaitEvent { task, event } | Effect::ClearEvent { task, event } => {
                let (_, name, instance) = self.process(Process::Task(task));
                let target = self.model.events.get(event).map_or("", |event| &event.name);
                let action =
                    if matches!(effect, Effect::WaitEvent { .. }) { "wait_event" } else { "clear_event" };
                self.line(time, (name, instance), "EVENT", (target, 0), action, None);
            }
            Effect::SetEvent { by, task, event } => {
                let target = self.model.events.get(event).map_or("", |event| &event.name);
                let note = self.task(task);
                match by {
                    Stimulus::By(process) => {
                        let (_, name, instance) = self.process(process);
                        self.line(time, (name, instance), "EVENT", (target, 0), "set_event", Some(note));
                    }
                    stimulus => {
                        let name = self.stimulus(stimulus, task);
                        let latest = self.latest(&name);
                        self.line(time, (&name, latest), "EVENT", (target, 0), "set_event", Some(note));
                    }
                }
            }
            Effect::AskInVain(process, lock) => {
                let ((_, name, instance), lock) = (self.process(process), self.lock(lock));
                self.line(time, (name, instance), "SEM", (lock, 0), "requestsemaphore", None);
                self.line(time, (lock, 0), "SEM", (lock, 0), "overfull", None);
                self.line(time, (name, instance), "SEM", (lock, 0), "waiting", None);
                self.change(core, time, process, Change::Poll);
            }
            Effect::Lock { by, lock, waited, polls, others } => {
                let ((_, name, instance), lock) = (self.process(by), self.lock(lock));
                if !waited {
                    self.line(time, (name, instance), "SEM", (lock, 0), "requestsemaphore", None);
                }
                self.line(time, (lock, 0), "SEM", (lock, 0), "lock", None);
                self.line(time, (name, instance), "SEM", (lock, 0), "assigned", None);
                if others {
                    self.line(time, (lock, 0), "SEM", (lock, 0), "overfull", None);
                }
                if polls {
                    self.change(core, time, by, Change::Run);
                }
            }
            Effect::Unlock(process, lock, others) => {
                let ((_, name, instance), lock) = (self.process(process), self.lock(lock));
                self.line(time, (name, instance), "SEM", (lock, 0), "released", None);
                if others {
                    self.line(time, (lock, 0), "SEM", (lock, 0), "full", None);
                }
                self.line(time, (lock, 0), "SEM", (lock, 0), "unlock", None);
            }
        }
    }
}
