//! The rules that map the events of a scheduler to system events (K1 to K13 of docs/mapping.md), event by
//! event. Not what the events of a trace mean (see `description::SchedulerProfile`).

use super::decisions::{Decisions, Fate};
use super::directory::Directory;
use super::occurrences::{Occurrence, What};
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
    cpus: BTreeMap<i64, Cpu>,
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
    /// Events without a parameter that they need.
    pub unread: u64,
}

#[derive(Debug)]
struct Cpu {
    core: NameId,
    /// The task that runs, or goes on behind the ISRs.
    task: Option<u64>,
    /// The ISRs that have begun, each interrupted by the next one.
    isrs: Vec<usize>,
    /// The task was interrupted.
    is_interrupted: bool,
}

impl Rules {
    pub fn new(directory: Directory, decisions: Decisions) -> Self {
        let (processes, counts) = (Processes::default(), Counts::default());
        Self { processes, directory, decisions, cpus: BTreeMap::new(), counts }
    }

    pub fn occurrence(&mut self, occurrence: &Occurrence) {
        let Occurrence { time, cpu, what } = occurrence;
        let (time, cpu) = (*time, *cpu);
        let core = self.core(cpu);
        match what {
            What::Task { task, name, .. } => self.directory.rename(*task, name),
            What::Create(task) => self.create(*task, time, core),
            // Rule K5.
            What::Ready(task) if self.directory.is_reordered(*task, time, cpu) => {}
            What::Ready(task) => self.ready(*task, time, core),
            What::Run(task) => self.run(*task, time, cpu),
            What::Stop => self.stop(time, cpu),
            What::Block(task) => self.block(*task, time),
            What::End(task) => self.end(*task, time, core),
            What::Idle => self.idle(time, cpu),
            What::IsrBegin(isr) => self.begin_isr(*isr, time, cpu),
            What::IsrEnd => self.end_isr(time, cpu, true),
            What::IsrEndToScheduler => self.end_isr(time, cpu, false),
            What::Mark { mark, value } => self.mark(*mark, *value, time, cpu),
            What::Unread => self.counts.unread += 1,
            What::IsrNames(_) | What::MarkName { .. } | What::Reorder { .. } | What::Addresses { .. } => {}
        }
    }

    /// Rule K12: nothing is known in a gap, and what comes behind it is as at the begin of a recording.
    pub fn gap(&mut self, gap: &Gap) {
        let is_concerned = |names: &crate::btf::Names, cpu: &Cpu| {
            gap.core.as_deref().is_none_or(|core| names.text(cpu.core) == core)
        };
        let mut cores = BTreeSet::new();
        for cpu in self.cpus.values_mut() {
            if is_concerned(&self.processes.names, cpu) {
                cores.insert(cpu.core);
                cpu.task = None;
                cpu.isrs.clear();
                cpu.is_interrupted = false;
            }
        }
        // A task of no core that is known may have been on any.
        let homes = self.processes.homes();
        for (task, process) in self.directory.tasks() {
            if homes.get(process).copied().flatten().is_none_or(|home| cores.contains(&home)) {
                self.decisions.forget(task);
            }
        }
        self.processes.gap(gap, &cores, |_, _| None);
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
    fn process(&mut self, task: u64) -> usize {
        let processes = &mut self.processes;
        self.directory.process(task, |name| processes.add(name, false))
    }

    /// Rule K2.
    fn create(&mut self, task: u64, time: i64, core: NameId) {
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
        if let Some(own) = self.cpus.get_mut(&cpu) {
            (own.task, own.is_interrupted) = (Some(task), false);
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
            let fate = self.decisions.ask(task);
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
    }

    /// Rule K10: an ISR interrupts what runs. If that does not go on behind it, but becomes ready, it has
    /// waited before: it gave the CPU back by an interrupt.
    fn begin_isr(&mut self, isr: u64, time: i64, cpu: i64) {
        let processes = &mut self.processes;
        let p = self.directory.isr(isr, cpu, |name| processes.add(name, true));
        let Some(own) = self.cpus.get_mut(&cpu) else { return };
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
        let Some(own) = self.cpus.get(&cpu) else { return };
        let isr = own.isrs.last().copied();
        let task = own.task.filter(|_| !own.is_interrupted);
        let runs = isr.or_else(|| task.map(|task| self.process(task)));
        let Some(source) = runs.and_then(|p| self.processes.actor(p)) else {
            self.counts.marks += 1;
            return;
        };
        let signal = self.processes.names.intern(&self.directory.mark(mark));
        let event =
            Event::new(time, source, EntityType::Signal, (signal, 0), Action::Write, Note::Value(value));
        self.processes.push(event);
    }
}

/// What BTF calls the CPU of this number.
pub(super) fn core_name(cpu: i64) -> String {
    format!("Core_{cpu}")
}
