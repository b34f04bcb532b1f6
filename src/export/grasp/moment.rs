//! Everything that happens at one instant, in the order that a script needs. Not for where it comes from.

use super::declare::{Declared, Task};
use super::jobs::{Job, JobAction, Step};
use super::others::{Form, Other, SemaphoreAction};
use super::script::{Object, Script};
use crate::btf::spec::EntityType;
use crate::error::Result;
use std::collections::HashMap;

/// A job that was declared and has not ended.
#[derive(Debug)]
struct Open {
    /// The core of the job in the script.
    core: Option<String>,
    runs: bool,
    /// Ids of mutexes that the job holds in the script.
    holds: Vec<String>,
}

/// The present instant.
pub(super) struct Moment<'d> {
    declared: &'d Declared,
    open: HashMap<Job, Open>,
    steps: Vec<Step>,
    others: Vec<Other>,
}

impl<'d> Moment<'d> {
    pub fn new(declared: &'d Declared) -> Self {
        Self { declared, open: HashMap::new(), steps: Vec::new(), others: Vec::new() }
    }

    /// Adds a step. Arrivals come first, then what leaves a core, then what gets it.
    pub fn step(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Adds another event.
    pub fn other(&mut self, other: Other) {
        self.others.push(other);
    }

    /// Writes everything that happens now.
    pub fn write(&mut self, at: i64, script: &mut Script<'_>) -> Result<()> {
        let (steps, others) = (std::mem::take(&mut self.steps), std::mem::take(&mut self.others));
        for step in steps.iter().filter(|s| s.act == JobAction::Arrive) {
            self.arrive(step, at, script)?;
        }
        // Actions of a running job come before it leaves its core: a job must run to take a mutex.
        let (before, after): (Vec<_>, Vec<_>) = others.into_iter().partition(|other| match &other.saying {
            Form::Semaphore { process, instance, .. } => self.runs(process, *instance),
            _ => true,
        });
        for other in &before {
            self.say(other, at, script)?;
        }
        for (n, step) in steps.iter().enumerate() {
            match step.act {
                JobAction::Arrive => {}
                JobAction::Preempt | JobAction::Block | JobAction::Complete => {
                    let target = self.next_on(&steps, n, step);
                    self.leave(step, target, at, script)?;
                }
                JobAction::Resume => self.resume(step, at, script)?,
                JobAction::Pass => {
                    self.resume(step, at, script)?;
                    self.leave(step, None, at, script)?;
                }
                JobAction::Poll => {
                    script.comment(&format!("{at},{},{},poll", step.job.process, step.job.instance))?
                }
            }
        }
        for other in &after {
            self.say(other, at, script)?;
        }
        Ok(())
    }

    fn task(&self, job: &Job) -> Option<&'d Task> {
        self.declared.task(job.kind, &job.process)
    }

    fn job_of(&self, process: &str, instance: i64) -> Option<Job> {
        let (kind, _) = self.declared.process(process)?;
        Some(Job { kind, process: process.to_owned(), instance })
    }

    fn runs(&self, process: &str, instance: i64) -> bool {
        self.job_of(process, instance).and_then(|job| self.open.get(&job)).is_some_and(|open| open.runs)
    }

    /// What the core of a step runs next.
    fn next_on(&self, steps: &[Step], n: usize, step: &Step) -> Option<Job> {
        let later = steps.get(n + 1..).unwrap_or_default();
        let next = later
            .iter()
            .find(|s| matches!(s.act, JobAction::Resume | JobAction::Pass) && s.core == step.core);
        // The next job must be declared by now, and differ from this one, which only changes its core.
        next.map(|s| s.job.clone()).filter(|job| *job != step.job && self.open.contains_key(job))
    }

    fn arrive(&mut self, step: &Step, at: i64, script: &mut Script<'_>) -> Result<()> {
        let Some(task) = self.task(&step.job) else { return Ok(()) };
        let (id, name) = (id(task, &step.job), format!("{} {}", task.name, step.job.instance));
        if script.old {
            script.plot(at, &["taskArrived", &task.id])?;
            script.create(Object::Job, &id, &[&task.id, "-name", &name])?;
        } else {
            script.plot(at, &["jobArrived", &id, &task.id, "-name", &name])?;
        }
        self.open.insert(step.job.clone(), Open { core: task.core.clone(), runs: false, holds: Vec::new() });
        Ok(())
    }

    /// The job, declared if it is not yet.
    fn open(&mut self, job: &Job, script: &mut Script<'_>) -> Result<Option<(String, &mut Open)>> {
        let Some(task) = self.task(job) else { return Ok(None) };
        let id = id(task, job);
        if !self.open.contains_key(job) {
            let name = format!("{} {}", task.name, job.instance);
            script.create(Object::Job, &id, &[&task.id, "-name", &name])?;
            self.open.insert(job.clone(), Open { core: task.core.clone(), runs: false, holds: Vec::new() });
        }
        Ok(self.open.get_mut(job).map(|open| (id, open)))
    }

    fn resume(&mut self, step: &Step, at: i64, script: &mut Script<'_>) -> Result<()> {
        let declared = self.declared;
        let Some((id, open)) = self.open(&step.job, script)? else { return Ok(()) };
        let mut words = vec!["jobResumed", id.as_str()];
        if let Some(core) = step.core.as_ref().filter(|core| open.core.as_ref() != Some(*core)) {
            words.extend(declared.cores.get(core).into_iter().flat_map(|core| ["-processor", core.as_str()]));
            open.core = Some(core.clone());
        }
        open.runs = true;
        script.plot(at, &words)
    }

    fn leave(&mut self, step: &Step, target: Option<Job>, at: i64, script: &mut Script<'_>) -> Result<()> {
        let target = target.and_then(|job| Some(id(self.task(&job)?, &job)));
        let Some((id, open)) = self.open(&step.job, script)? else { return Ok(()) };
        open.runs = false;
        let word = match step.act {
            JobAction::Preempt => "jobPreempted",
            JobAction::Block => "jobBlocked",
            _ => "jobCompleted",
        };
        let mut words = vec![word, id.as_str()];
        if let Some(target) = target.as_deref().filter(|_| word != "jobBlocked") {
            words.extend(["-target", target]);
        }
        if word == "jobCompleted" {
            self.open.remove(&step.job);
        }
        script.plot(at, &words)
    }

    fn say(&mut self, other: &Other, at: i64, script: &mut Script<'_>) -> Result<()> {
        match &other.saying {
            Form::Message(text) => script.plot(at, &["message", text]),
            Form::Ignored { kind, process } => match self.declared.task(*kind, process) {
                Some(task) => script.plot(at, &["taskArrivedAndIgnored", &task.id]),
                None => script.comment(&other.line),
            },
            Form::Semaphore { process, instance, grip, semaphore } => {
                let job = self.job_of(process, *instance).filter(|job| self.open.contains_key(job));
                let known = job.as_ref().and_then(|job| Some(id(self.task(job)?, job)));
                let (Some(id), Some(semaphore)) = (known, self.declared.semaphores.get(semaphore)) else {
                    return script.comment(&other.line);
                };
                let Some(open) = job.and_then(|job| self.open.get_mut(&job)) else {
                    return script.comment(&other.line);
                };
                // The player draws a job that takes or gives back a mutex as running, and a job can only give
                // back what it has taken.
                let held = open.holds.iter().position(|id| *id == semaphore.id);
                let word = match (semaphore.mutex, grip) {
                    (true, SemaphoreAction::Acquire) if open.runs && held.is_none() => {
                        open.holds.push(semaphore.id.clone());
                        "jobAcquiredMutex"
                    }
                    (true, SemaphoreAction::Release) if open.runs && held.is_some() => {
                        held.map(|held| open.holds.remove(held));
                        "jobReleasedMutex"
                    }
                    (true, _) => return script.comment(&other.line),
                    (false, SemaphoreAction::Acquire) => "jobAcquiredSemaphore",
                    (false, SemaphoreAction::Release) => "jobReleasedSemaphore",
                    (false, SemaphoreAction::Suspend) => "jobSuspendedOnSemaphore",
                };
                script.plot(at, &[word, &id, &semaphore.id])
            }
            Form::Comment => script.comment(&other.line),
        }
    }
}

/// `task3.17`; tasks and ISRs never share a number.
fn id(task: &Task, job: &Job) -> String {
    debug_assert!(matches!(job.kind, EntityType::Task | EntityType::Isr), "only they have jobs");
    format!("{}.{}", task.id, job.instance)
}
