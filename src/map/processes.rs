//! Processes and what happens to them, step by step, as events of BTF: their instances, what is assumed of
//! what was not recorded, and what is lost. The rules are W1 to W4, W6 and W7 of docs/mapping.md. Not what a
//! step follows from, which is up to each mapper.

use super::process::{Instance, Phase, Process, between, is_entry, is_exit, kind, phase_after, phase_before};
use super::{Gap, Output, UNSEEN};
use crate::btf::{Action, Actor, EntityType, Event, KnownState, NameId, Names, Note, State as BtfState};
use crate::description::ProcessStep;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The processes of a recording, by index.
#[derive(Debug, Default)]
pub(super) struct Processes {
    pub names: Names,
    all: Vec<Process>,
    /// Those of which something is known: an instance that has not ended, or that the last one has.
    known: BTreeSet<usize>,
    /// The process that each core runs.
    running: BTreeMap<NameId, usize>,
    /// The number of the next instance of each runnable.
    runnables: BTreeMap<NameId, i64>,
    pub out: Vec<Output>,
    /// Steps that do not follow from the state before.
    pub unexpected: u64,
}

impl Processes {
    /// Adds a process; returns its index.
    pub fn add(&mut self, name: &str, is_isr: bool) -> usize {
        let (name, stimulus) = (self.names.intern(name), self.names.intern(&format!("STI_{name}")));
        let open = VecDeque::new();
        self.all.push(Process { name, is_isr, stimulus, core: None, next: 0, has_ended: false, open });
        self.all.len() - 1
    }

    pub fn all(&self) -> &[Process] {
        &self.all
    }

    /// The processes of which something is known, by index: what a gap may hide.
    pub fn known(&self) -> impl Iterator<Item = usize> {
        self.known.iter().copied()
    }

    /// Continues from the state of the same processes; false if they are others.
    pub fn resume(&mut self, state: Vec<Process>) -> bool {
        let same = |(own, other): (&Process, &Process)| (own.name, own.is_isr) == (other.name, other.is_isr);
        let are_same = self.all.len() == state.len() && self.all.iter().zip(&state).all(same);
        if are_same {
            let is_known = |process: &Process| process.has_ended || !process.open.is_empty();
            self.known = (0..).zip(&state).filter(|(_, process)| is_known(process)).map(|(p, _)| p).collect();
            self.all = state;
        }
        are_same
    }

    /// The process that a core runs.
    pub fn running(&self, core: NameId) -> Option<usize> {
        self.running.get(&core).copied()
    }

    /// The phase of the oldest instance of a process; `None` if all have ended.
    pub fn phase(&self, p: usize) -> Option<Phase> {
        self.all.get(p)?.open.front().map(|instance| instance.phase)
    }

    /// The core that a process ran on last.
    pub fn home(&self, p: usize) -> Option<NameId> {
        self.all.get(p)?.core
    }

    /// A process and its oldest instance; `None` if all have ended.
    pub fn actor(&self, p: usize) -> Option<Actor> {
        let process = self.all.get(p)?;
        Some((process.name, process.open.front()?.number))
    }

    /// Takes the events so far, if they are at least `at_least`.
    pub fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        (self.out.len() >= at_least).then(|| std::mem::take(&mut self.out))
    }

    /// A recorded event that is not a step of a process.
    pub fn push(&mut self, event: Event) {
        self.out.push(Output::Event(event));
    }

    /// A runnable starts in the process that a core runs; false if it runs none.
    pub fn start_runnable(&mut self, core: NameId, time: i64, name: &str) -> bool {
        let Some(p) = self.running(core) else { return false };
        let name = self.names.intern(name);
        let (Some(source), next) = (self.actor(p), self.runnables.entry(name).or_default()) else {
            return false;
        };
        let runnable = (name, *next);
        *next += 1;
        if let Some(first) = self.all[p].open.front_mut() {
            first.runnables.push(runnable);
        }
        self.push(Event::new(time, source, EntityType::Runnable, runnable, Action::Start, Note::None));
        true
    }

    /// A runnable of the process that a core runs ends, and those that it has called; without a name, the one
    /// that was called last. False if there is none.
    pub fn end_runnable(&mut self, core: NameId, time: i64, name: Option<&str>) -> bool {
        let Some(p) = self.running(core) else { return false };
        let name = name.map(|name| self.names.find(name));
        let source = self.actor(p);
        let Some(first) = self.all[p].open.front_mut() else { return false };
        let is_it = |runnable: &Actor| name.is_none_or(|name| name == Some(runnable.0));
        let Some(at) = first.runnables.iter().rposition(is_it) else { return false };
        let ended = first.runnables.split_off(at);
        for runnable in ended.into_iter().rev() {
            if let Some(source) = source {
                self.push(Event::new(
                    time,
                    source,
                    EntityType::Runnable,
                    runnable,
                    Action::Terminate,
                    Note::None,
                ));
            }
        }
        true
    }

    /// A process that does not run is ended by another one: its state is known up to now.
    pub fn end(&mut self, p: usize, time: i64, core: NameId) {
        if self.phase(p).is_some() {
            self.lose(p, time);
            self.end_unseen(p, time, core);
        }
    }

    /// Something happens to a process.
    pub fn step(&mut self, p: usize, time: i64, core: NameId, what: ProcessStep) {
        let Some(process) = self.all.get(p) else { return };
        let (is_isr, phase) = (process.is_isr, self.phase(p));
        match what {
            ProcessStep::Activate => self.activate(p, time),
            // Rule W15.
            ProcessStep::New => {
                if phase == Some(Phase::Running) {
                    self.act(p, time, core, Action::Terminate);
                }
                self.activate(p, time);
            }
            ProcessStep::Start => self.act(p, time, core, Action::Start),
            // Rule W3.
            ProcessStep::Run => match phase {
                Some(Phase::Ready | Phase::Waiting) => self.act(p, time, core, Action::Resume),
                Some(Phase::Active | Phase::Running) => self.act(p, time, core, Action::Start),
                None if is_isr => self.act(p, time, core, Action::Start),
                None => self.appears(p, time, core, Phase::Running),
            },
            ProcessStep::Resume => self.act(p, time, core, Action::Resume),
            ProcessStep::Preempt => self.act(p, time, core, Action::Preempt),
            // Rules W4 and W14.
            ProcessStep::Ready | ProcessStep::Queue => match phase {
                Some(Phase::Active | Phase::Ready) if what == ProcessStep::Queue => {}
                None if what == ProcessStep::Queue && self.all[p].has_ended => self.activate(p, time),
                Some(Phase::Waiting) => self.act(p, time, core, Action::Release),
                Some(_) => self.act(p, time, core, Action::Preempt),
                None => self.appears(p, time, core, Phase::Ready),
            },
            ProcessStep::Wait => self.act(p, time, core, Action::Wait),
            ProcessStep::Release => self.act(p, time, core, Action::Release),
            ProcessStep::Terminate => self.act(p, time, core, Action::Terminate),
        }
    }

    /// Nothing is known in a gap of these cores, and what comes behind it is as at the begin of a recording:
    /// what is open there ends, unseen. `described`: the core of a process that has not run yet.
    pub fn gap(
        &mut self,
        gap: &Gap,
        cores: &BTreeSet<NameId>,
        described: impl Fn(&Names, usize) -> Option<NameId>,
    ) {
        let Some(any) = cores.first().copied() else { return };
        for p in self.known().collect::<Vec<usize>>() {
            let home = self.all[p].core.or_else(|| described(&self.names, p));
            if home.is_none_or(|home| cores.contains(&home)) {
                self.cut(p, gap.begin, home.unwrap_or(any));
            }
        }
        self.hide(gap, cores);
    }

    /// All that is open of a process ends, unseen: nothing is known of it from `time` on. `core` is for one
    /// that has not run yet.
    pub fn cut(&mut self, p: usize, time: i64, core: NameId) {
        self.known.remove(&p);
        self.all[p].has_ended = false;
        while !self.all[p].open.is_empty() {
            self.lose(p, time);
            self.end_unseen(p, time, core);
        }
    }

    /// The traces of these cores have a gap, and what was open there is cut.
    pub fn hide(&mut self, gap: &Gap, cores: &BTreeSet<NameId>) {
        for core in cores {
            self.running.remove(core);
            self.out.push(Output::Gap { core: *core, begin: gap.begin, end: gap.end });
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
        let first = self.all[p].open.front().map(|first| (first.phase, first.since));
        let is_elsewhere = before == Phase::Running && self.all[p].core != Some(core);
        match first {
            Some((phase, _)) if phase == before && !is_elsewhere => {}
            Some((_, since)) => {
                // Rule W7.
                self.unexpected += 1;
                self.lose(p, since);
                if before == Phase::Active {
                    self.end_unseen(p, time, core);
                    if self.all[p].open.is_empty() {
                        self.open_unseen(p, time);
                    }
                } else {
                    if is_elsewhere && first.is_some_and(|(phase, _)| phase == Phase::Running) {
                        self.close(p, time, core, Action::Preempt);
                    }
                    self.lead(p, time, core, before);
                }
            }
            None => {
                self.open_unseen(p, time);
                self.lead(p, time, core, before);
            }
        }
        if is_entry(action) {
            self.free(core, p, time);
        }
        self.emit(p, time, core, action, Note::None);
        self.track(p, time, core, action);
        self.all[p].has_ended = action == Action::Terminate;
    }

    /// Rule W6: an instance that has begun before the recording, or in a gap, is in `phase` from now on.
    fn appears(&mut self, p: usize, time: i64, core: NameId, phase: Phase) {
        self.open_unseen(p, time);
        match phase {
            Phase::Running => self.lead(p, time, core, phase),
            _ => self.aside(p, time, core, |processes| processes.lead(p, time, core, phase)),
        }
        let process = &self.all[p];
        let state = if phase == Phase::Running { BtfState::Running } else { BtfState::Ready };
        let actor = (process.name, process.open.front().map_or(0, |first| first.number));
        let known = KnownState { process: actor, kind: kind(process), core, state, since: time };
        self.out.push(Output::Known(known));
    }

    /// BTF wants a process on a core for no time: who has the core has it still.
    fn aside(&mut self, p: usize, time: i64, core: NameId, act: impl FnOnce(&mut Self)) {
        let other = self.running.get(&core).copied().filter(|other| *other != p);
        if let Some(other) = other {
            self.emit_unseen(other, time, core, Action::Preempt);
            self.running.remove(&core);
        }
        act(self);
        if let Some(other) = other {
            self.emit_unseen(other, time, core, Action::Resume);
            self.running.insert(core, other);
        }
    }

    /// A new instance, and its activation.
    fn open(&mut self, p: usize, time: i64) -> Event {
        self.known.insert(p);
        let process = &mut self.all[p];
        let number = process.next;
        process.next += 1;
        process.open.push_back(Instance { number, phase: Phase::Active, since: time, runnables: Vec::new() });
        let (source, target) = ((process.stimulus, number), (process.name, number));
        Event::new(time, source, kind(process), target, Action::Activate, Note::None)
    }

    /// Rule W2: a new instance, of which something else is told first. Kernels need not tell of the
    /// activation of an ISR.
    fn open_unseen(&mut self, p: usize, time: i64) {
        let event = self.open(p, time);
        if !self.all[p].is_isr {
            self.out.push(Output::Assumed(event));
        }
    }

    /// The oldest instance ends, when and how is not known.
    fn end_unseen(&mut self, p: usize, time: i64, core: NameId) {
        let home = self.all[p].core.unwrap_or(core);
        let end = |processes: &mut Self| {
            processes.lead(p, time, home, Phase::Running);
            processes.close(p, time, home, Action::Terminate);
        };
        match self.phase(p) {
            Some(Phase::Running) => end(self),
            _ => self.aside(p, time, home, end),
        }
    }

    /// Leads the oldest instance to a phase by events that were not recorded, so that those that were keep
    /// the rules of BTF.
    fn lead(&mut self, p: usize, time: i64, core: NameId, to: Phase) {
        let Some(from) = self.all[p].open.front().map(|first| first.phase) else { return };
        for action in between(from, to) {
            self.close(p, time, core, *action);
        }
    }

    /// An event that was not recorded.
    fn close(&mut self, p: usize, time: i64, core: NameId, action: Action) {
        let own = self.all[p].core.filter(|_| is_exit(action));
        let core = own.unwrap_or(core);
        if is_entry(action) {
            self.free(core, p, time);
        }
        self.emit_unseen(p, time, core, action);
        self.track(p, time, core, action);
    }

    /// Another process gets the core: that the one before has left it was lost.
    fn free(&mut self, core: NameId, p: usize, time: i64) {
        let Some(other) = self.running.get(&core).copied().filter(|other| *other != p) else { return };
        self.unexpected += 1;
        let since = self.all[other].open.front().map_or(time, |first| first.since);
        self.lose(other, since);
        self.close(other, time, core, Action::Preempt);
    }

    /// A step of the oldest instance was not recorded: from its last one on, nothing is known of it.
    pub fn miss(&mut self, p: usize) {
        if let Some(since) = self.all.get(p).and_then(|process| process.open.front()).map(|first| first.since)
        {
            self.unexpected += 1;
            self.lose(p, since);
        }
    }

    /// Nothing is known of the oldest instance from `since` on.
    pub fn lose(&mut self, p: usize, since: i64) {
        let number = self.all[p].open.front().map_or(0, |first| first.number);
        self.out.push(Output::Lost { process: (self.all[p].name, number), time: since });
    }

    /// What an action of the oldest instance changes.
    fn track(&mut self, p: usize, time: i64, core: NameId, action: Action) {
        let process = &mut self.all[p];
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

    /// Emits an event of the oldest instance that was not recorded.
    fn emit_unseen(&mut self, p: usize, time: i64, core: NameId, action: Action) {
        let note = Note::Name(self.names.intern(UNSEEN));
        self.emit(p, time, core, action, note);
    }

    /// Emits an event of the oldest instance; one with a note was not recorded. Its runnables leave the core
    /// before it, innermost first, and come back after it (BTF 2.1.5: a runnable runs only while its process
    /// does).
    fn emit(&mut self, p: usize, time: i64, core: NameId, action: Action, note: Note) {
        let output: fn(Event) -> Output = if note == Note::None { Output::Event } else { Output::Closing };
        let process = &self.all[p];
        let first = process.open.front();
        let target: Actor = (process.name, first.map_or(0, |first| first.number));
        let runnables = first.map(|first| first.runnables.as_slice()).unwrap_or_default();
        let of_runnable = |runnable: &Actor, action| {
            output(Event::new(time, target, EntityType::Runnable, *runnable, action, note))
        };
        if is_exit(action) {
            let action = if action == Action::Terminate { action } else { Action::Suspend };
            self.out.extend(runnables.iter().rev().map(|runnable| of_runnable(runnable, action)));
        }
        self.out.push(output(Event::new(time, (core, 0), kind(process), target, action, note)));
        if is_entry(action) {
            self.out.extend(runnables.iter().map(|runnable| of_runnable(runnable, Action::Resume)));
        }
    }
}
