//! The rules that map the words of hook variables to system events (W1 to W9 of docs/mapping.md), word by
//! word. Not how words are read (see `words`), nor what their bits mean (see `steps`).

use super::process::{Instance, Phase, Process, between, is_entry, is_exit, kind, phase_after, phase_before};
use super::steps::{Decoder, Step};
use super::words::Word;
use crate::btf::{Action, Actor, Event, IdleTasks, KnownState, NameId, Names, Note, State as BtfState};
use crate::description::{HookObject, HookSetup, HookStep, Profile};
use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, Result};
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
    names: Names,
    processes: Vec<Process>,
    /// The cores by index, as the decoder numbers them.
    cores: Vec<NameId>,
    /// The process that each core runs.
    running: BTreeMap<NameId, usize>,
    /// The cores of the words of each export.
    reached: Vec<BTreeSet<NameId>>,
    /// The words of one instant and export.
    instant: VecDeque<Word>,
    out: Vec<Output>,
    /// Words that do not follow from the state before.
    unexpected: u64,
}

impl Rules {
    pub fn new(mut setup: HookSetup) -> Result<Self> {
        let mut names = Names::default();
        let idle_tasks = IdleTasks::new(Profile::generic()?.idle_tasks);
        for object in setup.objects.iter_mut().filter(|object| !object.is_isr) {
            object.is_idle |= idle_tasks.verdict(&object.name) == Some(true);
        }
        let process = |object: &HookObject| Process {
            name: names.intern(&object.name),
            is_isr: object.is_isr,
            stimulus: names.intern(&format!("STI_{}", object.name)),
            core: None,
            next: 0,
            open: VecDeque::new(),
        };
        let processes = setup.objects.iter().map(process).collect();
        let cores: Vec<NameId> = setup.cores.iter().map(|(name, _)| names.intern(name)).collect();
        Ok(Self {
            decoder: Decoder::new(&setup),
            reached: vec![BTreeSet::new(); cores.len()],
            setup,
            names,
            processes,
            cores,
            running: BTreeMap::new(),
            instant: VecDeque::new(),
            out: Vec::new(),
            unexpected: 0,
        })
    }

    pub fn resume(&mut self, state: State) -> Result<()> {
        let same = |(own, other): (&Process, &Process)| (own.name, own.is_isr) == (other.name, other.is_isr);
        let are_same = self.processes.len() == state.processes.len()
            && self.processes.iter().zip(&state.processes).all(same);
        if !are_same {
            return Err(Error::input(
                "the recording has other tasks and ISRs than the one that it continues",
            ));
        }
        self.processes = state.processes;
        Ok(())
    }

    pub fn state(&self) -> State {
        State { processes: self.processes.clone() }
    }

    pub fn names(&self) -> &Names {
        &self.names
    }

    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    pub fn objects(&self) -> &[HookObject] {
        &self.setup.objects
    }

    /// The cores that can have an export.
    pub fn exports(&self) -> Vec<String> {
        self.setup.cores.iter().map(|(name, _)| name.clone()).collect()
    }

    pub fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        (self.out.len() >= at_least).then(|| std::mem::take(&mut self.out))
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
        if self.unexpected > 0 {
            let message = format!(
                "{} writes of hook variables do not follow from what was written before: others were lost, and \
                 nothing is said of their processes in between",
                self.unexpected
            );
            log.push(finding(Severity::Warning, "lost-writes", message));
        }
        (std::mem::take(&mut self.out), log)
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
        let Some(any) = concerned.first().copied() else { return };
        for p in 0..self.processes.len() {
            let described = self.setup.objects.get(p).and_then(|object| object.core.as_deref());
            let home = self.processes[p].core.or_else(|| described.and_then(|name| self.names.find(name)));
            if home.is_none_or(|home| concerned.contains(&home)) {
                while !self.processes[p].open.is_empty() {
                    self.lose(p, gap.begin);
                    self.end_unseen(p, gap.begin, home.unwrap_or(any));
                }
            }
        }
        for core in concerned {
            self.running.remove(&core);
            self.out.push(Output::Gap { core, begin: gap.begin, end: gap.end });
        }
    }

    /// Rule W5: whatever leaves the core at an instant does so before another process gets it.
    fn end_instant(&mut self) {
        let words = std::mem::take(&mut self.instant);
        let mut steps: VecDeque<Step> = VecDeque::new();
        for word in words {
            let (names, cores) = (&mut self.names, &mut self.cores);
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
                && matches!(step.what, HookStep::Start | HookStep::Run | HookStep::Resume)
                && let Some(other) = self.running.get(core).copied().filter(|other| *other != step.object)
            {
                let leaves = |step: &Step| {
                    use HookStep::{Preempt, Ready, Terminate, Wait};
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
        if object.is_idle {
            return;
        }
        let phase = self.processes[p].open.front().map(|instance| instance.phase);
        match what {
            HookStep::Activate => self.activate(p, time),
            HookStep::Start => self.act(p, time, core, Action::Start),
            // Rule W3.
            HookStep::Run => match phase {
                Some(Phase::Ready | Phase::Waiting) => self.act(p, time, core, Action::Resume),
                Some(Phase::Active | Phase::Running) => self.act(p, time, core, Action::Start),
                None if self.processes[p].is_isr => self.act(p, time, core, Action::Start),
                None => self.appears(p, time, core, Phase::Running),
            },
            HookStep::Resume => self.act(p, time, core, Action::Resume),
            HookStep::Preempt => self.act(p, time, core, Action::Preempt),
            // Rule W4.
            HookStep::Ready => match phase {
                Some(Phase::Waiting) => self.act(p, time, core, Action::Release),
                Some(_) => self.act(p, time, core, Action::Preempt),
                None => self.appears(p, time, core, Phase::Ready),
            },
            HookStep::Wait => self.act(p, time, core, Action::Wait),
            HookStep::Release => self.act(p, time, core, Action::Release),
            HookStep::Terminate => self.act(p, time, core, Action::Terminate),
        }
    }

    /// Rule W1.
    fn activate(&mut self, p: usize, time: i64) {
        let event = self.open(p, time);
        self.out.push(Output::Event(event));
    }

    /// A recorded action of the oldest instance.
    fn act(&mut self, p: usize, time: i64, core: NameId, action: Action) {
        let before = phase_before(action);
        let first = self.processes[p].open.front().map(|first| (first.phase, first.since));
        let is_elsewhere = before == Phase::Running && self.processes[p].core != Some(core);
        match first {
            Some((phase, _)) if phase == before && !is_elsewhere => {}
            Some((_, since)) => {
                // Rule W7.
                self.unexpected += 1;
                self.lose(p, since);
                if before == Phase::Active {
                    self.end_unseen(p, time, core);
                    if self.processes[p].open.is_empty() {
                        self.open_unseen(p, time, action);
                    }
                } else {
                    if is_elsewhere && first.is_some_and(|(phase, _)| phase == Phase::Running) {
                        self.close(p, time, core, Action::Preempt);
                    }
                    self.lead(p, time, core, before);
                }
            }
            None => {
                self.open_unseen(p, time, action);
                self.lead(p, time, core, before);
            }
        }
        if is_entry(action) {
            self.free(core, p, time);
        }
        let event = self.event(p, time, core, action);
        self.out.push(Output::Event(event));
        self.track(p, time, core, action);
    }

    /// Rule W6: an instance that has begun before the recording, or in a gap, is in `phase` from now on.
    fn appears(&mut self, p: usize, time: i64, core: NameId, phase: Phase) {
        self.open_unseen(p, time, Action::Resume);
        self.lead(p, time, core, phase);
        let process = &self.processes[p];
        let state = if phase == Phase::Running { BtfState::Running } else { BtfState::Ready };
        let actor = (process.name, process.open.front().map_or(0, |first| first.number));
        let known = KnownState { process: actor, kind: kind(process), core, state, since: time };
        self.out.push(Output::Known(known));
    }

    /// A new instance, and its activation.
    fn open(&mut self, p: usize, time: i64) -> Event {
        let process = &mut self.processes[p];
        let number = process.next;
        process.next += 1;
        process.open.push_back(Instance { number, phase: Phase::Active, since: time });
        let (source, target) = ((process.stimulus, number), (process.name, number));
        Event::new(time, source, kind(process), target, Action::Activate, Note::None)
    }

    /// Rule W2: a new instance, of which `action` is the first that is told. Kernels need not tell of the
    /// activation of an ISR.
    fn open_unseen(&mut self, p: usize, time: i64, action: Action) {
        let event = self.open(p, time);
        if !(self.processes[p].is_isr && action == Action::Start) {
            self.out.push(Output::Assumed(event));
        }
    }

    /// The oldest instance ends, when and how is not known.
    fn end_unseen(&mut self, p: usize, time: i64, core: NameId) {
        let home = self.processes[p].core.unwrap_or(core);
        let is_off = self.processes[p].open.front().is_some_and(|first| first.phase != Phase::Running);
        // Who has the core has it still.
        let other = self.running.get(&home).copied().filter(|other| *other != p && is_off);
        for (action, is_before) in [(Action::Preempt, true), (Action::Resume, false)] {
            if !is_before {
                self.running.remove(&home);
                self.lead(p, time, home, Phase::Running);
                self.close(p, time, home, Action::Terminate);
            }
            if let Some(other) = other {
                let event = self.event(other, time, home, action);
                self.out.push(Output::Closing(event));
            }
        }
        if let Some(other) = other {
            self.running.insert(home, other);
        }
    }

    /// Leads the oldest instance to a phase by events that were not recorded, so that those that were keep
    /// the rules of BTF.
    fn lead(&mut self, p: usize, time: i64, core: NameId, to: Phase) {
        let Some(from) = self.processes[p].open.front().map(|first| first.phase) else { return };
        for action in between(from, to) {
            self.close(p, time, core, *action);
        }
    }

    /// An event that was not recorded.
    fn close(&mut self, p: usize, time: i64, core: NameId, action: Action) {
        let own = self.processes[p].core.filter(|_| is_exit(action));
        let core = own.unwrap_or(core);
        if is_entry(action) {
            self.free(core, p, time);
        }
        let event = self.event(p, time, core, action);
        self.out.push(Output::Closing(event));
        self.track(p, time, core, action);
    }

    /// Another process gets the core: that the one before has left it was lost.
    fn free(&mut self, core: NameId, p: usize, time: i64) {
        let Some(other) = self.running.get(&core).copied().filter(|other| *other != p) else { return };
        self.unexpected += 1;
        let since = self.processes[other].open.front().map_or(time, |first| first.since);
        self.lose(other, since);
        self.close(other, time, core, Action::Preempt);
    }

    /// Nothing is known of the oldest instance from `since` on.
    fn lose(&mut self, p: usize, since: i64) {
        let number = self.processes[p].open.front().map_or(0, |first| first.number);
        self.out.push(Output::Lost { process: (self.processes[p].name, number), time: since });
    }

    /// What an action of the oldest instance changes.
    fn track(&mut self, p: usize, time: i64, core: NameId, action: Action) {
        let process = &mut self.processes[p];
        match (phase_after(action), process.open.front_mut()) {
            (Some(after), Some(first)) => (first.phase, first.since) = (after, time),
            _ => drop(process.open.pop_front()),
        }
        if is_entry(action) {
            process.core = Some(core);
            self.running.insert(core, p);
        } else if self.running.get(&core) == Some(&p) {
            self.running.remove(&core);
        }
    }

    /// An event of the oldest instance.
    fn event(&self, p: usize, time: i64, core: NameId, action: Action) -> Event {
        let process = &self.processes[p];
        let number = process.open.front().map_or(0, |first| first.number);
        let target: Actor = (process.name, number);
        Event::new(time, (core, 0), kind(process), target, action, Note::None)
    }
}

fn finding(severity: Severity, code: &'static str, message: String) -> Diagnostic {
    Diagnostic { source: MAP_SOURCE.into(), line: None, severity, code, message, text: String::new() }
}
