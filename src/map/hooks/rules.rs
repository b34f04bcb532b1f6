//! The rules that map the words of hook variables to system events (W1 to W15 of docs/mapping.md), word by
//! word. Not how words are read (see `words`), nor what their bits mean (see `steps`).

use super::calls::{CallRows, Caller, Calls};
use super::spinlocks::Spinlocks;
use super::steps::{Decoder, Step};
use super::words::Word;
use crate::btf::{Action, Actor, EntityType, Event, IdleTasks, NameId, Names, Note};
use crate::description::{HookKind, HookObject, HookSetup, HookStep, OtherStep, ProcessStep, Profile};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, Result};
use crate::map::process::Process;
use crate::map::processes::Processes;
use crate::map::{Gap, MAP_SOURCE, Output};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The state at the end of a recording: of the processes in the order of the description.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    processes: Vec<Process>,
}

pub(super) struct Rules {
    setup: HookSetup,
    decoder: Decoder,
    processes: Processes,
    /// The cores by index, as the decoder numbers them.
    cores: Vec<NameId>,
    /// The cores of the words of each export.
    reached: Vec<BTreeSet<NameId>>,
    /// The words of one instant, of one export after the other.
    instant: VecDeque<Word>,
    /// The process of each object that is one.
    of_objects: Vec<Option<usize>>,
    spinlocks: Spinlocks,
    calls: Calls,
    /// Runnables where nothing runs, or that have not started.
    runnables: u64,
    /// What ISRs have interrupted on each core, without a word of it, the outermost first.
    interrupted: BTreeMap<NameId, Vec<usize>>,
}

impl Rules {
    /// For a recording that begins at `begin`.
    pub fn new(mut setup: HookSetup, begin: i64) -> Result<Self> {
        let idle_tasks = IdleTasks::new(Profile::generic()?.idle_tasks);
        for object in setup.objects.iter_mut().filter(|object| object.kind == HookKind::Task) {
            if idle_tasks.verdict(&object.name) == Some(true) {
                object.kind = HookKind::Idle;
            }
        }
        let mut processes = Processes::default();
        let mut process = |object: &HookObject| {
            object.is_process().then(|| processes.add(&object.name, object.kind == HookKind::Isr))
        };
        let of_objects = setup.objects.iter().map(&mut process).collect();
        for lock in setup.objects.iter().filter(|object| object.kind == HookKind::Spinlock) {
            let lock = (processes.names.intern(&lock.name), 0);
            let kind = EntityType::Semaphore;
            processes.push(Event::new(begin, lock, kind, lock, Action::Ready, Note::None));
        }
        let cores: Vec<NameId> = setup.cores.iter().map(|(name, _)| processes.names.intern(name)).collect();
        Ok(Self {
            decoder: Decoder::new(&setup),
            reached: vec![BTreeSet::new(); cores.len()],
            setup,
            processes,
            cores,
            instant: VecDeque::new(),
            of_objects,
            spinlocks: Spinlocks::default(),
            calls: Calls::default(),
            runnables: 0,
            interrupted: BTreeMap::new(),
        })
    }

    pub fn resume(&mut self, state: State) -> Result<()> {
        if self.processes.resume(state.processes) {
            return Ok(());
        }
        Err(Error::input("the recording has other tasks and ISRs than the one that it continues"))
    }

    pub fn state(&self) -> State {
        State { processes: self.processes.all().to_vec() }
    }

    pub fn names(&self) -> &Names {
        &self.processes.names
    }

    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.processes.names
    }

    pub fn objects(&self) -> &[HookObject] {
        &self.setup.objects
    }

    /// The cores that can have an export.
    pub fn exports(&self) -> Vec<String> {
        self.setup.cores.iter().map(|(name, _)| name.clone()).collect()
    }

    pub fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        self.processes.take(at_least)
    }

    pub fn take_rows(&mut self, at_least: usize) -> Option<CallRows> {
        self.calls.rows.take(at_least)
    }

    /// Maps the next word. Words of one instant are held until all of them are there.
    pub fn word(&mut self, word: &Word) {
        if self.instant.front().is_some_and(|first| first.time != word.time) {
            self.end_instant();
        }
        self.instant.push_back(*word);
    }

    /// Ends the recording: open instances stay open.
    pub fn finish(&mut self) -> (Vec<Output>, CallRows, Log) {
        self.end_instant();
        self.calls.finish(&self.processes.names);
        let mut log = Log::default();
        for (severity, code, message) in self.decoder.findings() {
            log.push(finding(severity, code, message));
        }
        if !self.setup.unused.is_empty() {
            let names = self.setup.unused.join(", ");
            let message = format!(
                "objects of the Profiler XML are of no variable with masks, and say nothing: {names}"
            );
            log.push(finding(Severity::Info, "hook-object", message));
        }
        if self.processes.unexpected > 0 {
            let message = format!(
                "{} writes of hook variables do not follow from what was written before: others were lost, and \
                 nothing is said of their processes in between",
                self.processes.unexpected
            );
            log.push(finding(Severity::Warning, "lost-writes", message));
        }
        for (count, code, what) in [
            (
                self.runnables,
                "runnable-of-nobody",
                "runnables start or stop where no process runs, or did not start",
            ),
            (
                self.spinlocks.unexpected,
                "lost-locks",
                "steps of spinlocks do not follow from those before: others were lost",
            ),
            (
                self.calls.unentered,
                "call-without-begin",
                "services return that were not called in the recording",
            ),
        ] {
            if count > 0 {
                log.push(finding(Severity::Warning, code, format!("{count} {what}")));
            }
        }
        (std::mem::take(&mut self.processes.out), std::mem::take(&mut self.calls.rows), log)
    }

    /// Rule W8: nothing is known in a gap, and what comes behind it is as at the begin of a recording.
    pub fn gap(&mut self, gap: &Gap) {
        self.end_instant();
        let export = self.setup.cores.iter().position(|(name, _)| Some(name) == gap.core.as_ref());
        let concerned: BTreeSet<NameId> = match export {
            None => self.cores.iter().copied().collect(),
            Some(export) => {
                let own = self.cores.get(export).copied();
                self.reached.get(export).into_iter().flatten().copied().chain(own).collect()
            }
        };
        for core in &concerned {
            self.interrupted.remove(core);
            self.spinlocks.forget(*core, gap.begin, &mut self.processes.out);
            self.calls.forget(*core, &self.processes.names);
        }
        let (objects, of_objects) = (&self.setup.objects, &self.of_objects);
        self.processes.gap(gap, &concerned, |names, p| {
            let object = of_objects.iter().position(|of| *of == Some(p))?;
            names.find(objects.get(object)?.core.as_deref()?)
        });
    }

    /// Rule W5: whatever leaves the core at an instant does so before another process gets it; a spinlock is
    /// given back before another core gets it.
    fn end_instant(&mut self) {
        let words = std::mem::take(&mut self.instant);
        let mut steps: VecDeque<Step> = VecDeque::new();
        for word in words {
            let (names, cores) = (&mut self.processes.names, &mut self.cores);
            let step = self.decoder.step(&word, |name| {
                let core = names.intern(name);
                cores.push(core);
            });
            if let Some(step) = step {
                if let (Some(reached), Some(core)) =
                    (self.reached.get_mut(word.export), self.cores.get(step.core))
                {
                    reached.insert(*core);
                }
                steps.push_back(step);
            }
        }
        while let Some(step) = steps.pop_front() {
            if let Some(core) = self.cores.get(step.core)
                && let Some(ProcessStep::Start | ProcessStep::Run | ProcessStep::Resume) =
                    self.of_process(&step)
                && let Some(other) =
                    self.processes.running(*core).filter(|other| Some(*other) != self.process(&step))
            {
                let leaves = |step: &Step| {
                    use ProcessStep::{Preempt, Queue, Ready, Terminate, Wait};
                    matches!(step.what, HookStep::Process(Preempt | Queue | Ready | Terminate | Wait))
                };
                let of_other = steps
                    .iter()
                    .position(|later| self.process(later) == Some(other) && later.core == step.core);
                if let Some(at) = of_other.filter(|at| steps.get(*at).is_some_and(leaves))
                    && let Some(exit) = steps.remove(at)
                {
                    self.step(exit);
                }
            }
            if step.what == HookStep::Other(OtherStep::Lock) && self.is_taken_elsewhere(&step) {
                let gives_back = |later: &Step| {
                    later.what == HookStep::Other(OtherStep::Unlock) && later.object == step.object
                };
                let at = steps.iter().position(|later| gives_back(later) && later.core != step.core);
                if let Some(before) = at.and_then(|at| steps.remove(at)) {
                    self.step(before);
                }
            }
            self.step(step);
        }
    }

    /// The spinlock of a step is that of another core.
    fn is_taken_elsewhere(&self, step: &Step) -> bool {
        let object = step.object.and_then(|object| self.setup.objects.get(object));
        let lock = object.and_then(|object| self.processes.names.find(&object.name));
        let owner = lock.and_then(|lock| self.spinlocks.core_of(lock));
        owner.is_some_and(|owner| self.cores.get(step.core) != Some(&owner))
    }

    /// The process that a step is of.
    fn process(&self, step: &Step) -> Option<usize> {
        self.of_objects.get(step.object?).copied().flatten()
    }

    /// What happens to a process.
    fn of_process(&self, step: &Step) -> Option<ProcessStep> {
        match step.what {
            HookStep::Process(what) if self.process(step).is_some() => Some(what),
            _ => None,
        }
    }

    fn step(&mut self, step: Step) {
        let Some(core) = self.cores.get(step.core).copied() else { return };
        let object = step.object.and_then(|object| self.setup.objects.get(object));
        let time = step.time;
        match (step.what, object) {
            // Rule W9.
            (HookStep::Process(_), Some(HookObject { kind: HookKind::Idle, .. }) | None) => {}
            (HookStep::Process(what), Some(object)) => match self.process(&step) {
                Some(p) => {
                    self.interrupt(p, &step, core);
                    let ends = (what == ProcessStep::Terminate).then(|| self.processes.actor(p)).flatten();
                    self.processes.step(p, time, core, what);
                    if let Some(ends) = ends {
                        self.calls.end(ends, &self.processes.names);
                        self.spinlocks.end(ends, time, &mut self.processes.out);
                    }
                    if step.interrupts && what == ProcessStep::Terminate {
                        self.go_on(time, core);
                    }
                }
                // Rule W10.
                None => {
                    let is_owned = match what {
                        ProcessStep::Terminate => self.processes.end_runnable(core, time, Some(&object.name)),
                        _ => self.processes.start_runnable(core, time, &object.name),
                    };
                    self.runnables += u64::from(!is_owned);
                }
            },
            (HookStep::Other(what), object) => {
                let name = object.map(|object| self.processes.names.intern(&object.name));
                let caller = self.caller(core);
                match (what, name) {
                    // Rule W10.
                    (OtherStep::Return, _) => {
                        let is_owned = self.processes.end_runnable(core, time, None);
                        self.runnables += u64::from(!is_owned);
                    }
                    // Rules W11 and W13: code outside of all processes is the environment.
                    (OtherStep::Request | OtherStep::Lock | OtherStep::Unlock, Some(lock)) => {
                        let outside = (self.processes.names.intern(EntityType::Simulation.as_str()), -1);
                        let by: (Actor, NameId) = (caller.map_or(outside, |(actor, _)| actor), core);
                        let out = &mut self.processes.out;
                        match what {
                            OtherStep::Request => self.spinlocks.request(lock, by, time, out),
                            OtherStep::Lock => self.spinlocks.lock(lock, by, time, out),
                            _ => self.spinlocks.unlock(lock, by, time, out),
                        }
                    }
                    (OtherStep::Request | OtherStep::Lock | OtherStep::Unlock, None) => {}
                    // Rule W12.
                    (OtherStep::Enter, name) => self.calls.enter(core, caller, time, step.id, name),
                    (OtherStep::Exit, _) => {
                        self.calls.exit(core, caller, time, step.id, &self.processes.names);
                    }
                }
            }
        }
    }

    /// Rule W15: an ISR that starts interrupts what runs on its core, which has no word of it.
    fn interrupt(&mut self, p: usize, step: &Step, core: NameId) {
        let is_entry = matches!(
            step.what,
            HookStep::Process(ProcessStep::Start | ProcessStep::Run | ProcessStep::Resume)
        );
        if step.interrupts && is_entry {
            if let Some(other) = self.processes.running(core).filter(|other| *other != p) {
                self.processes.step(other, step.time, core, ProcessStep::Preempt);
                self.interrupted.entry(core).or_default().push(other);
            }
        } else if step.what != HookStep::Process(ProcessStep::Activate) {
            // A word of it: what becomes of it, words say from then on.
            self.interrupted.values_mut().for_each(|interrupted| interrupted.retain(|other| *other != p));
        }
    }

    /// Rule W15: what was interrupted last goes on.
    fn go_on(&mut self, time: i64, core: NameId) {
        let Some(p) = self.interrupted.get_mut(&core).and_then(Vec::pop) else { return };
        if self.processes.running(core).is_none() {
            self.processes.step(p, time, core, ProcessStep::Resume);
        }
    }

    /// The process that a core runs, as a caller.
    fn caller(&self, core: NameId) -> Caller {
        let p = self.processes.running(core)?;
        let is_isr = self.processes.all().get(p)?.is_isr;
        let kind = if is_isr { EntityType::Isr } else { EntityType::Task };
        Some((self.processes.actor(p)?, kind))
    }
}

fn finding(severity: Severity, code: &'static str, message: String) -> Diagnostic {
    Diagnostic { source: MAP_SOURCE.into(), line: None, severity, code, message, text: String::new() }
}
