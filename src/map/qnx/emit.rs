//! Emits events: names, numbers, processes that enter and leave cores with their runnables. Not the rules.

use super::counters::Finding;
use super::entities::{Actor, Named};
use super::mapper::QnxMapper;
use super::state::{Phase, Proc};
use crate::btf::{Action, EntityType, Event, KnownState, NameId, Note, State};
use crate::map::Output;
use crate::qnx::Version;

impl QnxMapper {
    /// The id of a name, unless there are too many.
    pub(super) fn intern(&mut self, text: &str) -> NameId {
        self.entities.intern(text).unwrap_or_else(|| {
            self.count(Finding::TooManyNames);
            self.entities.names.intern("OTHER")
        })
    }

    /// The name of the entity denoted by `kind` and two numbers; formatted on first use.
    pub(super) fn named(
        &mut self,
        kind: Named,
        numbers: (u32, u64),
        spell: impl FnOnce(&Self) -> String,
    ) -> NameId {
        if let Some(known) = self.entities.of_numbers(kind, numbers) {
            return known;
        }
        let text = spell(self);
        let name = self.intern(&text);
        self.entities.set_of_numbers(kind, numbers, name);
        name
    }

    /// A name in the character set of BTF.
    pub(super) fn clean(text: &str) -> String {
        let bad = |c: char| c == ',' || c == '#' || c.is_whitespace() || c.is_control();
        text.chars().map(|c| if bad(c) { '_' } else { c }).collect()
    }

    /// Base name and id of a process, as in names of tasks.
    pub(super) fn process_name(&self, pid: u32) -> String {
        match self.directory.name_at(pid, self.now) {
            Some(name) => format!("{}_{pid}", Self::clean(name)),
            None => format!("pid_{pid}"),
        }
    }

    /// A note that is not among `Notes`.
    pub(super) fn note(&mut self, text: &str) -> Note {
        Note::Name(self.intern(text))
    }

    pub(super) fn emit(
        &mut self,
        source: Actor,
        kind: EntityType,
        target: Actor,
        action: Action,
        note: Note,
    ) {
        let event = Event::new(self.now, source, kind, target, action, note);
        self.out.push(if self.closing { Output::Closing(event) } else { Output::Event(event) });
    }

    /// A stimulus that is about to activate something. Up to 7 nothing triggers stimuli; since 8.0 interrupts
    /// do nothing else, and if some triggers are recorded, all are.
    pub(super) fn stimulus(&mut self, name: &str) -> Actor {
        let name = self.intern(name);
        if self.settings.flavour.version >= Version::V8_0 { self.trigger(name) } else { (name, 0) }
    }

    pub(super) fn trigger(&mut self, name: NameId) -> Actor {
        let stimulus = (name, self.entities.next_instance(name));
        // The simulation has no instance: −1 (BTF 2.1).
        self.emit((self.entities.sim, -1), EntityType::Stimulus, stimulus, Action::Trigger, Note::None);
        stimulus
    }

    pub(super) fn actor(&self, t: usize) -> Actor {
        (self.threads[t].name, self.threads[t].instance)
    }

    /// What executes on a CPU, as far as BTF shows it.
    pub(super) fn executing(&self, cpu: usize) -> Option<Proc> {
        let core = &self.cores[cpu];
        if !core.frames.is_empty() {
            return Some(Proc::Interrupt(cpu));
        }
        let t = core.running?;
        (self.threads[t].exported && self.threads[t].phase == Phase::Running).then_some(Proc::Thread(t))
    }

    /// Name and instance of what executes on a CPU; the CPU itself if nothing does.
    pub(super) fn actor_on(&self, cpu: usize) -> Actor {
        match self.executing(cpu) {
            Some(Proc::Thread(t)) => self.actor(t),
            Some(Proc::Interrupt(cpu)) => {
                self.cores[cpu].frames.last().map_or((self.cores[cpu].name, 0), |f| (f.name, f.number))
            }
            None => (self.cores[cpu].name, 0),
        }
    }

    /// What executes on a CPU, as the source of an event that it causes. When the trace does not say what
    /// does, a stimulus stands for the kernel: only processes and stimuli can cause such events (BTF 2.3
    /// tables 2-33 and 2-36).
    pub(super) fn cause_on(&mut self, cpu: usize) -> Actor {
        match self.executing(cpu) {
            Some(_) => self.actor_on(cpu),
            None => self.stimulus("STI_kernel"),
        }
    }

    /// The thread that runs on a CPU in BTF.
    pub(super) fn thread_on(&self, cpu: usize) -> Option<Actor> {
        let t = self.cores[cpu].running?;
        (self.threads[t].exported && self.threads[t].phase == Phase::Running).then(|| self.actor(t))
    }

    /// An event of a thread, caused by a core.
    fn of_thread(&mut self, core: NameId, t: usize, action: Action, note: Note) {
        if self.threads[t].exported {
            let target = self.actor(t);
            self.emit((core, 0), EntityType::Task, target, action, note);
        }
    }

    /// A thread gets a new instance. `recorded` is false if the instance existed before, as far as is known.
    pub(super) fn activate(&mut self, t: usize, stimulus: &str, recorded: bool) {
        let name = self.threads[t].name;
        let instance = self.entities.next_instance(name);
        let thread = &mut self.threads[t];
        (thread.instance, thread.phase, thread.began) = (instance, Phase::Active, true);
        thread.may_have_run = !recorded || self.in_gap;
        if self.threads[t].exported {
            let stimulus = self.stimulus(stimulus);
            let task = (name, instance);
            let event = Event::new(self.now, stimulus, EntityType::Task, task, Action::Activate, Note::None);
            self.out.push(if recorded { Output::Event(event) } else { Output::Assumed(event) });
        }
    }

    /// A thread is no longer blocked: it is ready.
    pub(super) fn release(&mut self, t: usize, note: Note) {
        let core = self.threads[t].core;
        self.of_thread(core, t, Action::Release, note);
        self.threads[t].phase = Phase::Ready;
    }

    /// A thread with an instance gets a core; its runnables resume after it, outermost first. `released` is
    /// the note of the release, if it was blocked.
    pub(super) fn enter(&mut self, t: usize, core: NameId, released: Note, note: Note) {
        let action = match self.threads[t].phase {
            Phase::Active => Action::Start,
            Phase::Waiting => {
                self.release(t, released);
                Action::Resume
            }
            Phase::Ready => Action::Resume,
            Phase::Off | Phase::Running => return,
        };
        let actor = self.actor(t);
        let unseen = std::mem::take(&mut self.threads[t].may_have_run) && action == Action::Start;
        if unseen && self.threads[t].exported && !self.closing {
            // BTF starts an instance once; the tables know only that it runs.
            self.closing = true;
            self.of_thread(core, t, action, note);
            self.closing = false;
            let (kind, state) = (EntityType::Task, State::Running);
            self.out.push(Output::Known(KnownState { process: actor, kind, core, state, since: self.now }));
        } else {
            self.of_thread(core, t, action, note);
        }
        self.threads[t].phase = Phase::Running;
        self.threads[t].core = core;
        for n in 0..self.threads[t].runnables.len() {
            let runnable = self.threads[t].runnables[n];
            self.emit(actor, EntityType::Runnable, runnable, Action::Resume, Note::None);
        }
    }

    /// A thread leaves its core, after its runnables, innermost first. `why`: the note of runnables that end.
    pub(super) fn leave(&mut self, t: usize, action: Action, note: Note, why: Note) {
        if self.threads[t].phase != Phase::Running {
            return;
        }
        let (phase, ends) = match action {
            Action::Wait => (Phase::Waiting, false),
            Action::Terminate => (Phase::Off, true),
            _ => (Phase::Ready, false),
        };
        let actor = self.actor(t);
        for n in (0..self.threads[t].runnables.len()).rev() {
            let runnable = self.threads[t].runnables[n];
            let (action, note) = if ends { (Action::Terminate, why) } else { (Action::Suspend, Note::None) };
            self.emit(actor, EntityType::Runnable, runnable, action, note);
        }
        let core = self.threads[t].core;
        self.of_thread(core, t, action, note);
        let thread = &mut self.threads[t];
        thread.phase = phase;
        if ends {
            thread.runnables.clear();
            thread.requested.clear();
            thread.deferred.clear();
            thread.too_deep = 0;
            if let Some(call) = &mut thread.call {
                call.runnable = None;
            }
        }
    }

    pub(super) fn runnables(&mut self, p: Proc) -> Option<&mut Vec<Actor>> {
        match p {
            Proc::Thread(t) => Some(&mut self.threads[t].runnables),
            Proc::Interrupt(cpu) => self.cores[cpu].frames.last_mut().map(|frame| &mut frame.runnables),
        }
    }

    fn actor_of(&self, p: Proc) -> Actor {
        match p {
            Proc::Thread(t) => self.actor(t),
            Proc::Interrupt(cpu) => self.actor_on(cpu),
        }
    }

    pub(super) fn start_runnable(&mut self, p: Proc, name: NameId) -> Actor {
        let runnable = (name, self.entities.next_instance(name));
        let actor = self.actor_of(p);
        self.emit(actor, EntityType::Runnable, runnable, Action::Start, Note::None);
        if let Some(open) = self.runnables(p) {
            open.push(runnable);
        }
        runnable
    }

    /// Ends a runnable of a thread or interrupt, after those that it called.
    pub(super) fn end_runnable(&mut self, p: Proc, runnable: Actor, note: Note) {
        let actor = self.actor_of(p);
        let Some(open) = self.runnables(p) else { return };
        let Some(n) = open.iter().rposition(|r| *r == runnable) else { return };
        for inner in open.split_off(n).into_iter().rev() {
            let note = if inner == runnable { note } else { Note::None };
            self.emit(actor, EntityType::Runnable, inner, Action::Terminate, note);
        }
    }
}
