//! The rules that map a Grasp trace to system events (see the module above), command by command, by time.

use super::Occurrence;
use super::directory::{Directory, kind};
use super::faults::FaultChecker;
use super::jobs::{Job, Jobs, Phase};
use crate::btf::{Action, EntityType, NameId, Names};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::map::{MAP_SOURCE, Output};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskState {
    pub name: NameId,
    #[serde(with = "kind")]
    pub kind: EntityType,
    pub stimulus: NameId,
    /// The number of its arrivals: the next instance of the stimulus.
    pub arrivals: i64,
    #[serde(skip)]
    pub first: i64,
    pub next: i64,
    /// How many jobs of this recording began without an arrival.
    #[serde(skip)]
    pub unarrived: i64,
    /// Instances that arrived with the task, and have no job yet.
    pub pending: VecDeque<i64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Core {
    pub name: NameId,
    pub occupant: Option<usize>,
    /// A job was seen on it.
    pub used: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Lock {
    name: NameId,
    owner: Option<usize>,
    /// Jobs that wait for the semaphore.
    waiting: Vec<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Rules {
    directory: Directory,
    pub names: Names,
    pub tasks: Vec<TaskState>,
    pub cores: Vec<Core>,
    pub jobs: Jobs,
    locks: HashMap<String, Lock>,
    pub out: Vec<Output>,
    pub now: i64,
    pub sim: NameId,
    checker: FaultChecker,
    log: Log,
    /// Commands that a rule used.
    relevant: u64,
}

/// The state at the end of a recording. It does not include the clocks of processors, which are compared anew
/// in each recording, and the number of jobs that never arrive, which are numbered before all other jobs of
/// their recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The time of the last command, in ticks.
    time: i64,
    pub(super) directory: Directory,
    tasks: Vec<TaskState>,
    cores: Vec<Core>,
    jobs: Jobs,
    locks: HashMap<String, Lock>,
    checker: FaultChecker,
}

impl Rules {
    /// Rules at the begin of a trace with a complete directory. `names` are those that have ids already.
    pub fn new(directory: Directory, names: Names) -> Self {
        let mut rules = Self { directory, names, ..Self::default() };
        rules.sim = rules.names.intern("SIM");
        rules.add_tasks();
        rules
    }

    /// Rules that continue from the end of an earlier recording; `directory` begins with that of `state`.
    pub fn resume(directory: Directory, names: Names, state: &State) -> Self {
        let mut rules = Self {
            directory,
            names,
            tasks: state.tasks.clone(),
            cores: state.cores.clone(),
            jobs: state.jobs.clone(),
            locks: state.locks.clone(),
            checker: state.checker.clone(),
            now: state.time,
            ..Self::default()
        };
        rules.sim = rules.names.intern("SIM");
        for (task, known) in rules.tasks.iter_mut().zip(&rules.directory.tasks) {
            task.first = task.next;
            task.next += known.unarrived;
        }
        rules.add_tasks();
        rules
    }

    /// Adds the tasks of the directory that are new.
    fn add_tasks(&mut self) {
        let known = self.directory.tasks.clone();
        for task in known.iter().skip(self.tasks.len()) {
            let stimulus = self.directory.arrival_of(&task.name);
            self.tasks.push(TaskState {
                name: self.names.intern(&task.name),
                kind: task.kind,
                stimulus: self.names.intern(&stimulus),
                arrivals: 0,
                first: 0,
                next: task.unarrived,
                unarrived: 0,
                pending: VecDeque::new(),
            });
        }
    }

    pub fn state(&self) -> State {
        let mut directory = self.directory.clone();
        directory.note_unarrived(std::iter::repeat(0));
        State {
            time: self.now,
            directory,
            tasks: self.tasks.clone(),
            cores: self.cores.clone(),
            jobs: self.jobs.clone(),
            locks: self.locks.clone(),
            checker: self.checker.clone(),
        }
    }

    /// Maps the next command, in the order of time (rule J16).
    pub fn occurrence(&mut self, o: &Occurrence<'_>) {
        self.now = o.effect_at;
        for fault in self.checker.occurrence(o) {
            self.note(fault.rule.severity(), fault.rule.as_str(), fault.message, o);
        }
        match o.command {
            "newJob" => {
                self.relevant += 1;
                let task = o.task.and_then(|t| self.directory.task_ids.get(t).copied());
                if let (Some(id), Some(task)) = (o.job, task) {
                    let processor = o.processor.map(|p| self.processor(p));
                    self.declare(id, task, processor, o);
                }
            }
            "plot" => self.plot(o),
            _ => {}
        }
    }

    pub fn finish(&mut self, end: i64) {
        for fault in self.checker.finish(end) {
            self.note(fault.rule.severity(), fault.rule.as_str(), fault.message, &Occurrence::default());
        }
    }

    /// The rest of the events, the findings, and the number of commands that a rule used.
    pub fn take_rest(&mut self) -> (Vec<Output>, Log, u64) {
        (std::mem::take(&mut self.out), std::mem::take(&mut self.log), self.relevant)
    }

    /// Adds a finding about the whole trace.
    pub fn find(&mut self, severity: Severity, code: &'static str, message: String) {
        self.note(severity, code, message, &Occurrence::default());
    }

    fn plot(&mut self, o: &Occurrence<'_>) {
        let task = o.task.and_then(|t| self.directory.task_ids.get(t).copied());
        self.relevant += 1;
        match (o.event, task) {
            ("taskArrived", Some(task)) => {
                let jobs_arrive = self.directory.tasks.get(task).is_some_and(|t| t.jobs_arrive);
                if !jobs_arrive
                    && let Some(instance) = self.activate(task, Action::Activate)
                    && let Some(state) = self.tasks.get_mut(task)
                {
                    state.pending.push_back(instance);
                }
            }
            // Rule J7.
            ("taskArrivedAndIgnored", Some(task)) => drop(self.activate(task, Action::MtaLimitExceeded)),
            ("jobArrived", Some(task)) => self.arrived(task, o),
            ("jobResumed", _) => {
                if let Some(job) = self.job(o) {
                    let core = self.core_for(job, o);
                    self.enter(job, core);
                }
            }
            ("jobPreempted", _) => self.preempted(o),
            ("jobCompleted", _) => self.completed(o),
            ("jobBlocked", _) => {
                if let Some(job) = self.job(o) {
                    self.block(job);
                }
            }
            (
                "jobAcquiredMutex"
                | "jobReleasedMutex"
                | "jobAcquiredSemaphore"
                | "jobReleasedSemaphore"
                | "jobSuspendedOnSemaphore",
                _,
            ) => self.locked(o),
            _ => self.relevant -= 1,
        }
    }

    /// Rule J4: a job is declared. It takes the oldest arrival of its task without a job.
    fn declare(
        &mut self,
        id: &str,
        task: usize,
        processor: Option<usize>,
        o: &Occurrence<'_>,
    ) -> Option<usize> {
        if let Some(known) =
            self.jobs.find(id).and_then(|n| self.jobs.get(n)).filter(|j| j.phase != Phase::Done)
        {
            let message = format!("job '{}' is declared again before it has completed", known.id);
            self.note(Severity::Info, "declared-again", message, o);
            return self.jobs.find(id);
        }
        let instance = self.tasks.get_mut(task)?.pending.pop_front();
        let phase = if instance.is_some() { Phase::Active } else { Phase::New };
        Some(self.jobs.add(Job { id: id.to_owned(), task, instance, phase, processor, core: None }))
    }

    /// Rules J4 and J5: a job arrives. If it has arrived before, it is another job of the same id.
    fn arrived(&mut self, task: usize, o: &Occurrence<'_>) {
        let Some(id) = o.job else { return };
        let mut processor = o.processor.map(|p| self.processor(p));
        if let Some(n) = self.jobs.find(id) {
            let known = self.jobs.get(n).map(|j| (j.phase, j.processor));
            if let Some((phase, said)) = known {
                processor = processor.or(said);
                if phase == Phase::Running {
                    self.leave(n, Action::Preempt, Phase::Ready);
                }
                if !matches!(phase, Phase::New | Phase::Done) {
                    let message =
                        format!("job '{id}' arrives again before it has completed: it is another one");
                    self.note(Severity::Info, "arrived-again", message, o);
                }
            }
        }
        let Some(instance) = self.activate(task, Action::Activate) else { return };
        let (instance, phase) = (Some(instance), Phase::Active);
        self.jobs.add(Job { id: id.to_owned(), task, instance, phase, processor, core: None });
    }

    /// Rule J9.
    fn preempted(&mut self, o: &Occurrence<'_>) {
        let Some(job) = self.job(o) else { return };
        let Some(phase) = self.jobs.get(job).map(|j| j.phase) else { return };
        let core = self.core_for_last(job);
        match phase {
            Phase::Running => self.leave(job, Action::Preempt, Phase::Ready),
            // It was running when the trace began: no other job was seen on its core.
            Phase::New if self.cores.get(core).is_some_and(|c| !c.used) => {
                self.settle(job, core);
                self.leave(job, Action::Preempt, Phase::Ready);
            }
            Phase::New | Phase::Active | Phase::Ready => {
                let message = "a job is preempted that was not running".to_owned();
                self.note(Severity::Info, "not-running", message, o);
            }
            Phase::Waiting | Phase::Done => {}
        }
        if phase != Phase::Done
            && let Some(processor) = o.processor
        {
            let processor = self.processor(processor);
            if let Some(job) = self.jobs.get_mut(job) {
                job.processor = Some(processor);
            }
        }
    }

    /// Rules J10 and J11: a job that is not on a core gets one for no time: only a running job can end.
    fn completed(&mut self, o: &Occurrence<'_>) {
        let Some(job) = self.job(o) else { return };
        let Some(phase) = self.jobs.get(job).map(|j| j.phase) else { return };
        if phase == Phase::Done {
            return;
        }
        let core = self.core_for(job, o);
        let mut behind = None;
        if phase != Phase::Running {
            behind = self.cores.get(core).and_then(|c| c.occupant);
            let message = "a job completes that was not running".to_owned();
            self.note(Severity::Info, "completed-off-core", message, o);
            self.enter(job, core);
        }
        self.leave(job, Action::Terminate, Phase::Done);
        if let Some(other) = behind {
            self.enter(other, core);
        }
    }

    /// Rule J12.
    fn block(&mut self, job: usize) {
        self.leave(job, Action::Wait, Phase::Waiting);
    }

    /// Rule J13: mutexes and semaphores. A job must run to use them, so it is resumed if it does not.
    fn locked(&mut self, o: &Occurrence<'_>) {
        let (Some(id), Some(job)) = (o.mutex.or(o.semaphore), self.job(o)) else { return };
        if self.jobs.get(job).is_none_or(|j| j.phase == Phase::Done) {
            return;
        }
        let core = self.core_for(job, o);
        self.enter(job, core);
        let Some((actor, _)) = self.actor(job) else { return };
        let name = match self.locks.get(id) {
            Some(lock) => lock.name,
            None => {
                let name = self.directory.locks.get(id).cloned().unwrap_or_else(|| id.to_owned());
                let name = self.names.intern(&name);
                self.locks.insert(id.to_owned(), Lock { name, owner: None, waiting: Vec::new() });
                if o.mutex.is_some() && o.event == "jobAcquiredMutex" {
                    self.emit((name, 0), EntityType::Semaphore, (name, 0), Action::Ready);
                }
                name
            }
        };
        let Some(lock) = self.locks.get_mut(id) else { return };
        let (own, sem) = ((name, 0), EntityType::Semaphore);
        match o.event {
            "jobAcquiredMutex" if lock.owner.is_none() => {
                lock.owner = Some(job);
                self.emit(actor, sem, own, Action::RequestSemaphore);
                self.emit(own, sem, own, Action::Lock);
                self.emit(actor, sem, own, Action::Assigned);
            }
            "jobReleasedMutex" if lock.owner == Some(job) => {
                lock.owner = None;
                self.emit(actor, sem, own, Action::Released);
                self.emit(own, sem, own, Action::Unlock);
            }
            "jobSuspendedOnSemaphore" => {
                lock.waiting.push(job);
                self.emit(actor, sem, own, Action::RequestSemaphore);
                self.emit(actor, sem, own, Action::Waiting);
                self.block(job);
            }
            "jobAcquiredSemaphore" => {
                let place = lock.waiting.iter().position(|n| *n == job);
                match place {
                    Some(n) => drop(lock.waiting.remove(n)),
                    None => self.emit(actor, sem, own, Action::RequestSemaphore),
                }
                self.emit(actor, sem, own, Action::Assigned);
            }
            "jobReleasedSemaphore" => self.emit(actor, sem, own, Action::Released),
            _ => {}
        }
    }

    /// Rule J3: the job that a command names. An undeclared one is created if its id tells its task.
    fn job(&mut self, o: &Occurrence<'_>) -> Option<usize> {
        let id = o.job?;
        if let Some(known) = self.jobs.find(id) {
            return Some(known);
        }
        let task = id.rsplit_once('.').filter(|(task, n)| !task.is_empty() && !n.is_empty());
        let task = task.and_then(|(task, _)| self.directory.task_ids.get(task).copied());
        match task {
            Some(task) => self.declare(id, task, None, o),
            None => {
                let message = format!("nothing says which task job '{id}' is of");
                self.note(Severity::Warning, "undefined-job", message, o);
                None
            }
        }
    }

    /// Rule J2: the core of a job from now on: of the command, else its previous one, else that of its task.
    fn core_for(&mut self, job: usize, o: &Occurrence<'_>) -> usize {
        if let Some(said) = o.processor {
            let said = self.processor(said);
            if let Some(job) = self.jobs.get_mut(job) {
                job.processor = Some(said);
            }
        }
        self.core_for_last(job)
    }

    fn core_for_last(&mut self, job: usize) -> usize {
        let of = self.jobs.get(job);
        let said = of.and_then(|j| j.processor.or_else(|| self.directory.tasks.get(j.task)?.processor));
        let core = said.unwrap_or_else(|| self.directory.processor(Directory::MAIN));
        self.ensure_core(core);
        core
    }

    fn processor(&mut self, id: &str) -> usize {
        let n = self.directory.processor(id);
        self.ensure_core(n);
        n
    }

    /// Makes sure that there is a core of that number.
    fn ensure_core(&mut self, core: usize) {
        while self.cores.len() <= core {
            let name = self.directory.processors.get(self.cores.len()).map_or("", String::as_str);
            let name = self.names.intern(name);
            self.cores.push(Core { name, occupant: None, used: false });
        }
    }

    fn note(&mut self, severity: Severity, code: &'static str, message: String, o: &Occurrence<'_>) {
        let line = u64::try_from(o.line).ok().filter(|n| *n > 0);
        let text = o.job.or(o.server).unwrap_or_default().to_owned();
        self.log.push(Diagnostic { source: MAP_SOURCE.into(), line, severity, code, message, text });
    }
}
