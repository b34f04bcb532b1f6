//! The rules that map the words of hook variables to system events (W1 to W9 of docs/mapping.md), word by
//! word. Not how words are read (see `words`), nor what their bits mean (see `steps`).

use super::steps::{Decoder, Step};
use super::words::Word;
use crate::btf::{IdleTasks, NameId, Names};
use crate::description::{HookObject, HookSetup, ProcessStep, Profile};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, Result};
use crate::map::process::Process;
use crate::map::processes::Processes;
use crate::map::{Gap, MAP_SOURCE, Output};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

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
    /// The words of one instant and export.
    instant: VecDeque<Word>,
}

impl Rules {
    pub fn new(mut setup: HookSetup) -> Result<Self> {
        let idle_tasks = IdleTasks::new(Profile::generic()?.idle_tasks);
        for object in setup.objects.iter_mut().filter(|object| !object.is_isr) {
            object.is_idle |= idle_tasks.verdict(&object.name) == Some(true);
        }
        let mut processes = Processes::default();
        for object in &setup.objects {
            processes.add(&object.name, object.is_isr);
        }
        let cores: Vec<NameId> = setup.cores.iter().map(|(name, _)| processes.names.intern(name)).collect();
        Ok(Self {
            decoder: Decoder::new(&setup),
            reached: vec![BTreeSet::new(); cores.len()],
            setup,
            processes,
            cores,
            instant: VecDeque::new(),
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

    /// Maps the next word. Words of one instant are held until all of them are there.
    pub fn word(&mut self, word: &Word) {
        if self.instant.front().is_some_and(|first| (first.time, first.export) != (word.time, word.export)) {
            self.end_instant();
        }
        self.instant.push_back(*word);
    }

    /// Ends the recording: open instances stay open.
    pub fn finish(&mut self) -> (Vec<Output>, Log) {
        self.end_instant();
        let mut log = Log::default();
        for (severity, code, message) in self.decoder.findings() {
            log.push(finding(severity, code, message));
        }
        if self.processes.unexpected > 0 {
            let message = format!(
                "{} writes of hook variables do not follow from what was written before: others were lost, and \
                 nothing is said of their processes in between",
                self.processes.unexpected
            );
            log.push(finding(Severity::Warning, "lost-writes", message));
        }
        (std::mem::take(&mut self.processes.out), log)
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
        let objects = &self.setup.objects;
        self.processes.gap(gap, &concerned, |names, p| names.find(objects.get(p)?.core.as_deref()?));
    }

    /// Rule W5: whatever leaves the core at an instant does so before another process gets it.
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
                && matches!(step.what, ProcessStep::Start | ProcessStep::Run | ProcessStep::Resume)
                && let Some(other) = self.processes.running(*core).filter(|other| *other != step.object)
            {
                let leaves = |step: &Step| {
                    use ProcessStep::{Preempt, Ready, Terminate, Wait};
                    matches!(step.what, Preempt | Ready | Terminate | Wait)
                };
                let of_other =
                    steps.iter().position(|later| later.object == other && later.core == step.core);
                if let Some(at) = of_other.filter(|at| steps.get(*at).is_some_and(leaves))
                    && let Some(exit) = steps.remove(at)
                {
                    self.step(exit);
                }
            }
            self.step(step);
        }
    }

    fn step(&mut self, step: Step) {
        let Step { time, core, object: p, what } = step;
        let (Some(core), Some(object)) = (self.cores.get(core).copied(), self.setup.objects.get(p)) else {
            return;
        };
        // Rule W9.
        if !object.is_idle {
            self.processes.step(p, time, core, what);
        }
    }
}

fn finding(severity: Severity, code: &'static str, message: String) -> Diagnostic {
    Diagnostic { source: MAP_SOURCE.into(), line: None, severity, code, message, text: String::new() }
}
