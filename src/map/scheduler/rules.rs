//! The rules that map the events of a scheduler to system events (K1 to K17 of docs/mapping.md), event by
//! event. Not what the events of a trace mean (see `description::SchedulerProfile`), nor gaps (see `gaps`).

use super::decisions::{Decisions, Fate};
use super::directory::Directory;
use super::occurrences::{IsrKey, Leaves, Object, Occurrence, What};
use super::semaphores::Uses;
use crate::btf::{Action, EntityType, Event, NameId, Note};
use crate::description::ProcessStep;
use crate::map::Gap;
use crate::map::process::Phase;
use crate::map::processes::Processes;
use std::collections::{BTreeMap, BTreeSet};

/// The rules at some instant of a recording.
#[derive(Debug)]
pub(super) struct Rules {
    pub processes: Processes,
    pub directory: Directory,
    pub decisions: Decisions,
    pub cpus: BTreeMap<i64, Cpu>,
    /// Tasks that wait as soon as they give up their CPUs.
    pub pending: BTreeSet<u64>,
    /// Semaphores that processes want and have not got yet: which instance does, and whether it waits.
    pub requested: BTreeMap<(usize, NameId), (i64, bool)>,
    pub uses: Uses,
    /// The callbacks that have begun in each thread, and their runnables.
    pub callbacks: BTreeMap<u64, Vec<(Object, String)>>,
    /// The runnables of callbacks that have ended while their threads did not run: they end when those do.
    pub ended: BTreeMap<u64, Vec<String>>,
    /// The gaps that go on.
    pub gaps: Vec<Gap>,
    pub counts: Counts,
}

/// Events that do not fit what was before.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Ends of ISRs that did not begin.
    pub ends: u64,
    /// ISRs whose ends are missing.
    pub unended: u64,
    /// Marks where nothing runs that could have set them.
    pub marks: u64,
    /// Steps of semaphores where nothing runs.
    pub semaphores: u64,
    /// Steps of semaphores that do not follow from the ones before.
    pub steps: u64,
    /// That signals are given.
    pub signals: u64,
    /// Begins and ends of callbacks whose threads do not run, or that did not begin.
    pub callbacks: u64,
    /// Callbacks where nothing says what a CPU runs.
    pub alone: u64,
    /// Events without a parameter that they need.
    pub unread: u64,
}

#[derive(Debug)]
pub(super) struct Cpu {
    pub core: NameId,
    /// The task that runs, or goes on behind the ISRs.
    pub task: Option<u64>,
    /// The ISRs that have begun, each interrupted by the next one.
    pub isrs: Vec<usize>,
    /// The task was interrupted.
    pub is_interrupted: bool,
}

impl Rules {
    pub fn new(directory: Directory, decisions: Decisions) -> Self {
        let (processes, counts) = (Processes::default(), Counts::default());
        let (cpus, pending, requested, uses, callbacks, ended, gaps) = Default::default();
        Self {
            processes,
            directory,
            decisions,
            cpus,
            pending,
            requested,
            uses,
            callbacks,
            ended,
            gaps,
            counts,
        }
    }

    pub fn occurrence(&mut self, occurrence: &Occurrence) {
        let Occurrence { time, cpu, what } = occurrence;
        let (time, cpu) = (*time, *cpu);
        self.end_gaps(time);
        let core = self.core(cpu);
        let first = self.processes.out.len();
        match what {
            What::Task { task, name, .. } => self.directory.rename(*task, name),
            What::Create(said) => {
                let core = self.core(said.cpu.unwrap_or(cpu));
                self.create(said.task, time, core);
            }
            // Rule K5.
            What::Ready(said) if self.directory.is_reordered(said.task, time, cpu) => {}
            What::Ready(said) => {
                let core = self.core(said.cpu.unwrap_or(cpu));
                self.ready(said.task, time, core);
            }
            What::Run(said) => self.run(said.task, time, cpu),
            What::Switch { from, leaves, to } => {
                let [from, to] = [from, to].map(|said| said.as_ref().map(|said| said.task));
                self.switch(from, *leaves, to, time, cpu);
            }
            What::Stop => self.stop(time, cpu),
            What::Block(task) => self.block(*task, time),
            What::Pend(task) => self.pend(*task, time),
            What::End(task) => self.end(*task, time, core),
            What::Idle => self.idle(time, cpu),
            What::IsrBegin(isr) => self.begin_isr(&isr.key, time, cpu),
            What::IsrEnd => self.end_isr(time, cpu, true),
            What::IsrEndToScheduler => self.end_isr(time, cpu, false),
            What::Mark { mark, value } => self.mark(*mark, *value, time, cpu),
            What::Semaphore { action, name } => self.semaphore(*action, name, time, cpu),
            What::CallbackBegin { callback, process, thread } => {
                self.begin_callback(*callback, process, *thread, time, cpu);
            }
            What::CallbackEnd { callback, thread } => self.end_callback(*callback, *thread, time, cpu),
            What::Unread => self.counts.unread += 1,
            What::IsrNames(_)
            | What::MarkName { .. }
            | What::Reorder { .. }
            | What::Addresses { .. }
            | What::Label { .. }
            | What::LabelAs { .. }
            | What::Nothing => {}
        }
        self.hide(first, time);
    }

    /// Rule K14: the recording begins at `time`; what ran then on which CPU, the first switches say.
    pub fn begin(&mut self, firsts: impl Iterator<Item = (i64, u64)>, time: i64) {
        for (cpu, task) in firsts {
            self.core(cpu);
            self.run(task, time, cpu);
        }
    }

    fn core(&mut self, cpu: i64) -> NameId {
        let names = &mut self.processes.names;
        let new = || Cpu {
            core: names.intern(&core_name(cpu)),
            task: None,
            isrs: Vec::new(),
            is_interrupted: false,
        };
        self.cpus.entry(cpu).or_insert_with(new).core
    }

    /// The process of a task.
    pub fn process(&mut self, task: u64) -> usize {
        let processes = &mut self.processes;
        self.directory.process(task, |name| processes.add(name, false))
    }

    /// Rule K2.
    fn create(&mut self, task: u64, time: i64, core: NameId) {
        self.decisions.forget(task);
        let p = self.process(task);
        if !self.directory.is_endless(task) && self.processes.phase(p).is_none() {
            self.processes.step(p, time, core, ProcessStep::Activate);
        }
    }

    /// Rules K3, K4: what waits can run, or a job begins. What can run already, or runs, goes on as it is.
    fn ready(&mut self, task: u64, time: i64, core: NameId) {
        // While it has its CPU, though interrupted, it cannot have waited before it was interrupted.
        if !self.cpus.values().any(|own| own.task == Some(task)) {
            self.decisions.tell(task, Fate::Waits);
        }
        self.pending.remove(&task);
        let p = self.process(task);
        // It waits on the core that it ran on, wherever its release comes from (BTF 2.1.5 table 7).
        let core = self.processes.home(p).unwrap_or(core);
        match self.processes.phase(p) {
            None if self.directory.is_endless(task) => {
                self.processes.step(p, time, core, ProcessStep::Activate);
            }
            None => self.processes.step(p, time, core, ProcessStep::Ready),
            Some(Phase::Waiting) => self.processes.step(p, time, core, ProcessStep::Release),
            Some(_) => {}
        }
    }

    /// Rule K6: the task runs on the CPU, and what ran there before has left it.
    fn run(&mut self, task: u64, time: i64, cpu: i64) {
        self.decisions.tell(task, Fate::Ready);
        self.end_isrs(time, cpu);
        let p = self.process(task);
        let Some(own) = self.cpus.get(&cpu) else { return };
        let core = own.core;
        if own.task == Some(task) && !own.is_interrupted {
            return;
        }
        if own.task != Some(task) {
            self.leave(time, cpu);
        }
        self.migrate(task, p, time, cpu);
        // Rule K7.
        if self.processes.phase(p) == Some(Phase::Waiting) {
            let home = self.processes.home(p).unwrap_or(core);
            self.processes.step(p, time, home, ProcessStep::Release);
        }
        self.processes.step(p, time, core, ProcessStep::Run);
        for name in self.ended.remove(&task).unwrap_or_default() {
            self.processes.end_runnable(core, time, Some(&name));
        }
        if let Some(own) = self.cpus.get_mut(&cpu) {
            (own.task, own.is_interrupted) = (Some(task), false);
        }
    }

    /// Rule K14: a task gives the CPU to another one, and its state says what it does from now on.
    fn switch(&mut self, from: Option<u64>, leaves: Leaves, to: Option<u64>, time: i64, cpu: i64) {
        self.miss_switch(from, cpu);
        self.end_isrs(time, cpu);
        match from {
            // It ran until now, whatever is known of it.
            Some(task) => {
                self.run(task, time, cpu);
                self.give_up(task, leaves, time, cpu);
            }
            None => self.leave(time, cpu),
        }
        if let Some(task) = to {
            self.run(task, time, cpu);
        }
    }

    /// Rule K17: if another task leaves a CPU than the one that got it, a switch in between was not recorded,
    /// nor when the one left it and the other got it.
    fn miss_switch(&mut self, from: Option<u64>, cpu: i64) {
        let held = self.cpus.get(&cpu).and_then(|own| own.task);
        if held == from {
            return;
        }
        if let Some(task) = held {
            let p = self.process(task);
            self.processes.miss(p);
        }
        if let Some(task) = from {
            let p = self.process(task);
            // One that runs elsewhere has moved: the order of two CPUs at one instant is not known.
            if self.processes.phase(p) != Some(Phase::Running) {
                self.processes.miss(p);
            }
        }
    }

    /// What the task does that leaves its CPU.
    fn give_up(&mut self, task: u64, leaves: Leaves, time: i64, cpu: i64) {
        let p = self.process(task);
        let Some(own) = self.cpus.get_mut(&cpu) else { return };
        own.task = None;
        let core = own.core;
        let leaves = match leaves {
            Leaves::MayEnd if self.decisions.ask(task) == Fate::Unknown => Leaves::Ends,
            Leaves::MayEnd => Leaves::Waits,
            known => known,
        };
        match leaves {
            Leaves::Ready => self.processes.step(p, time, core, ProcessStep::Preempt),
            Leaves::Waits => self.wait(task, p, time, core),
            Leaves::Ends | Leaves::MayEnd => {
                self.processes.step(p, time, core, ProcessStep::Terminate);
                self.directory.end(task);
            }
        }
    }

    /// The task that runs on a CPU has left it.
    fn leave(&mut self, time: i64, cpu: i64) {
        let Some(own) = self.cpus.get_mut(&cpu) else { return };
        let core = own.core;
        let is_interrupted = std::mem::take(&mut own.is_interrupted);
        if let Some(task) = own.task.take()
            && !is_interrupted
        {
            let fate = match self.pending.remove(&task) {
                true => Fate::Waits,
                false => self.decisions.ask(task),
            };
            self.lose_cpu(task, fate, time, core);
        }
    }

    /// Rule K8.
    fn lose_cpu(&mut self, task: u64, fate: Fate, time: i64, core: NameId) {
        let p = self.process(task);
        if self.processes.phase(p) != Some(Phase::Running) {
            return;
        }
        match fate {
            Fate::Waits => self.wait(task, p, time, core),
            Fate::Ready => self.processes.step(p, time, core, ProcessStep::Preempt),
            Fate::Unknown => {
                self.processes.step(p, time, core, ProcessStep::Preempt);
                self.processes.lose(p, time);
            }
        }
    }

    /// Rule K3: the wait of an endless task ends its job.
    fn wait(&mut self, task: u64, p: usize, time: i64, core: NameId) {
        let step = if self.directory.is_endless(task) { ProcessStep::Terminate } else { ProcessStep::Wait };
        self.processes.step(p, time, core, step);
    }

    /// A task that runs on another CPU leaves it: that it did is told later, or not at all.
    fn migrate(&mut self, task: u64, p: usize, time: i64, cpu: i64) {
        for (number, other) in &mut self.cpus {
            if *number != cpu && other.task == Some(task) {
                other.task = None;
                if !std::mem::take(&mut other.is_interrupted) {
                    self.processes.step(p, time, other.core, ProcessStep::Preempt);
                }
            }
        }
    }

    /// The task that runs has ended or waits: which one, its next event tells.
    fn stop(&mut self, time: i64, cpu: i64) {
        self.end_isrs(time, cpu);
        self.leave(time, cpu);
    }

    /// Rule K9: no task is left that could run.
    fn idle(&mut self, time: i64, cpu: i64) {
        let task = self.cpus.get(&cpu).and_then(|own| own.task);
        self.stop(time, cpu);
        if let Some(task) = task {
            self.decisions.suppose_waits(task);
        }
    }

    /// The trace says that a task waits.
    fn block(&mut self, task: u64, time: i64) {
        // If it lost its CPU before, it could run until now.
        self.decisions.tell(task, Fate::Ready);
        let p = self.process(task);
        let own = self.cpus.values_mut().find(|own| own.task == Some(task) && !own.is_interrupted);
        match own {
            Some(own) => {
                own.task = None;
                let core = own.core;
                self.wait(task, p, time, core);
            }
            // Another task has suspended it, or it did so before an ISR came: BTF lets only what runs wait.
            None if self.processes.phase(p) != Some(Phase::Waiting) => self.processes.lose(p, time),
            None => {}
        }
    }

    /// The same as soon as it gives up its CPU.
    fn pend(&mut self, task: u64, time: i64) {
        match self.core_of(task) {
            Some(_) => drop(self.pending.insert(task)),
            None => self.block(task, time),
        }
    }

    /// Rule K2: a task ends; one that does not run is ended by another.
    fn end(&mut self, task: u64, time: i64, core: NameId) {
        self.decisions.forget(task);
        let p = self.process(task);
        let own = self.cpus.values_mut().find(|own| own.task == Some(task));
        match own {
            Some(own) if !own.is_interrupted => {
                own.task = None;
                let core = own.core;
                self.processes.step(p, time, core, ProcessStep::Terminate);
            }
            other => {
                if let Some(own) = other {
                    (own.task, own.is_interrupted) = (None, false);
                }
                self.processes.end(p, time, core);
            }
        }
        self.directory.end(task);
    }

    /// Rule K10: an ISR interrupts what runs. If that does not go on behind it, but becomes ready, it has
    /// waited before: it gave the CPU back by an interrupt.
    fn begin_isr(&mut self, isr: &IsrKey, time: i64, cpu: i64) {
        let processes = &mut self.processes;
        let Some(own) = self.cpus.get_mut(&cpu) else { return };
        // Where ISRs have no numbers, those that interrupt each other differ by their depth.
        let is_open = |p: &usize| own.isrs.contains(p);
        let all = 0..=own.isrs.len();
        let mut of_depth =
            all.map(|depth| self.directory.isr(isr, depth, cpu, |name| processes.add(name, true)));
        let Some(p) = of_depth.find(|p| !is_open(p)) else { return };
        let core = own.core;
        match (own.isrs.last().copied(), own.task) {
            (Some(outer), _) => self.processes.step(outer, time, core, ProcessStep::Preempt),
            (None, Some(task)) if !own.is_interrupted => {
                own.is_interrupted = true;
                let fate = self.decisions.ask(task);
                self.lose_cpu(task, fate, time, core);
            }
            _ => {}
        }
        self.processes.step(p, time, core, ProcessStep::Start);
        if let Some(own) = self.cpus.get_mut(&cpu) {
            own.isrs.push(p);
        }
    }

    /// Rule K11: the end of an ISR; `goes_on`: what it has interrupted goes on.
    fn end_isr(&mut self, time: i64, cpu: i64, goes_on: bool) {
        let Some(own) = self.cpus.get_mut(&cpu) else { return };
        let (core, task) = (own.core, own.task.filter(|_| own.is_interrupted));
        let Some(isr) = own.isrs.pop() else {
            self.counts.ends += 1;
            return;
        };
        let outer = own.isrs.last().copied();
        self.processes.step(isr, time, core, ProcessStep::Terminate);
        match (outer, task) {
            (Some(outer), _) => self.processes.step(outer, time, core, ProcessStep::Resume),
            (None, Some(task)) if goes_on => self.run(task, time, cpu),
            _ => {}
        }
    }

    /// ISRs whose ends are missing are over when the scheduler acts.
    fn end_isrs(&mut self, time: i64, cpu: i64) {
        while self.cpus.get(&cpu).is_some_and(|own| !own.isrs.is_empty()) {
            self.counts.unended += 1;
            self.end_isr(time, cpu, false);
        }
    }

    /// Rule K13: the mark of a program is a signal that gets a value.
    fn mark(&mut self, mark: u64, value: u64, time: i64, cpu: i64) {
        let Some(source) = self.runs(cpu).and_then(|p| self.processes.actor(p)) else {
            self.counts.marks += 1;
            return;
        };
        let signal = self.processes.names.intern(&self.directory.mark(mark));
        let event =
            Event::new(time, source, EntityType::Signal, (signal, 0), Action::Write, Note::Value(value));
        self.processes.push(event);
    }

    /// The process that a CPU runs.
    fn runs(&mut self, cpu: i64) -> Option<usize> {
        let own = self.cpus.get(&cpu)?;
        let isr = own.isrs.last().copied();
        let task = own.task.filter(|_| !own.is_interrupted);
        isr.or_else(|| task.map(|task| self.process(task)))
    }

    /// Rule K15: what runs uses a semaphore. A step needs the request (BTF 2.3 §2.3.7).
    fn semaphore(&mut self, action: Action, text: &str, time: i64, cpu: i64) {
        let runs = self.runs(cpu).and_then(|p| Some((p, self.processes.actor(p)?)));
        let Some((p, source)) = runs else {
            self.counts.semaphores += 1;
            return;
        };
        let name = self.processes.names.intern(text);
        let (of, instance) = ((p, name), source.1);
        let wanted = self.requested.get(&of).filter(|(by, _)| *by == instance).map(|(_, waits)| *waits);
        let follows = match action {
            Action::RequestSemaphore => wanted != Some(false),
            Action::Assigned => wanted.is_some(),
            Action::Waiting => wanted == Some(false),
            _ => wanted.is_none(),
        };
        match action {
            Action::RequestSemaphore => drop(self.requested.insert(of, (instance, false))),
            Action::Assigned => drop(self.requested.remove(&of)),
            Action::Waiting if follows => drop(self.requested.insert(of, (instance, true))),
            _ => {}
        }
        if !follows {
            self.counts.steps += 1;
            return;
        }
        if self.uses.is_signal(action, of) {
            self.directory.signals(text);
        }
        let is_signal = self.directory.is_signal(text);
        let event = |action| Event::new(time, source, EntityType::Semaphore, (name, 0), action, Note::None);
        match action {
            // Who has got a signal has nothing to give back.
            Action::Assigned if is_signal => {
                self.processes.push(event(Action::Assigned));
                self.processes.push(event(Action::Released));
            }
            Action::Released if is_signal => self.counts.signals += 1,
            action => self.processes.push(event(action)),
        }
    }

    /// Rule K16: a callback is a runnable of its thread. Where nothing says what a CPU runs, the thread runs
    /// from its begin to its end.
    fn begin_callback(&mut self, callback: Object, process: &str, thread: u64, time: i64, cpu: i64) {
        if !self.directory.has_scheduler() {
            self.run(thread, time, cpu);
        }
        let name = self.directory.callback(callback, process);
        let is_begun = match self.core_of(thread) {
            Some(core) => self.processes.start_runnable(core, time, &name),
            None => false,
        };
        self.counts.alone += u64::from(!self.directory.has_scheduler());
        match is_begun {
            true => self.callbacks.entry(thread).or_default().push((callback, name)),
            false => self.counts.callbacks += 1,
        }
    }

    fn end_callback(&mut self, callback: Object, thread: u64, time: i64, cpu: i64) {
        let open = self.callbacks.entry(thread).or_default();
        let Some(at) = open.iter().rposition(|(known, _)| *known == callback) else {
            self.counts.callbacks += 1;
            return;
        };
        let (_, name) = open.remove(at);
        let is_last = open.is_empty();
        if !self.directory.has_scheduler() {
            self.run(thread, time, cpu);
        }
        let Some(core) = self.core_of(thread) else {
            self.counts.callbacks += 1;
            self.ended.entry(thread).or_default().push(name);
            return;
        };
        self.processes.end_runnable(core, time, Some(&name));
        if is_last && !self.directory.has_scheduler() {
            if let Some(own) = self.cpus.values_mut().find(|own| own.task == Some(thread)) {
                own.task = None;
            }
            self.lose_cpu(thread, Fate::Unknown, time, core);
        }
    }

    /// The core that runs a task now.
    fn core_of(&self, task: u64) -> Option<NameId> {
        self.cpus.values().find(|own| own.task == Some(task) && own.isrs.is_empty()).map(|own| own.core)
    }
}

/// What BTF calls the CPU of this number.
pub(super) fn core_name(cpu: i64) -> String {
    format!("Core_{cpu}")
}
