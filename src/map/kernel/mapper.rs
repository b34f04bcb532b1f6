//! The mapper: what it remembers, and which rule an event goes to. Not the rules.

use super::counters::{Counters, Finding};
use super::dump::Dump;
use super::emit::Notes;
use super::native::{KernelRows, Messages};
use super::state::{Core, Thread};
use super::wake::Causes;
use super::{Directory, Irq, KernelSetup, Occurrence};
use crate::btf::{IdMap, NameId, Names};
use crate::diagnostics::Log;
use crate::map::Output;
use crate::qnx::{Class, Status};

/// What is left when everything is mapped.
#[derive(Debug)]
pub struct Finished {
    /// The last events.
    pub outputs: Vec<Output>,
    /// Findings of the mapping.
    pub log: Log,
}

/// Maps the kernel events of one recording. Give it a [`Directory`] of the whole recording, then every event in the order
/// of (time, seq), and the gaps between them; take events and rows at will.
#[derive(Debug)]
pub struct KernelMapper {
    pub(super) setup: KernelSetup,
    pub(super) directory: Directory,
    /// Names of everything, in events and rows.
    pub names: Names,
    /// Rows of the native tables so far.
    pub rows: KernelRows,
    pub(super) name_count: usize,
    pub(super) known: IdMap<(u64, u64), NameId>,
    pub(super) notes: Notes,
    pub(super) sim: NameId,
    /// Pseudo core of slices that BTF needs and nobody saw.
    pub(super) nowhere: NameId,
    /// Number of the present event, from 1.
    pub(super) turn: u64,
    pub(super) now: i64,
    /// The present event tells what is there already.
    pub(super) dumped: bool,
    pub(super) dump: Dump,
    /// By CPU.
    pub(super) cores: Vec<Core>,
    /// Threads that live, and slots that are free.
    pub(super) threads: Vec<Thread>,
    pub(super) free: Vec<usize>,
    pub(super) slots: IdMap<(u32, u32), usize>,
    /// How many incarnations of a thread there were.
    pub(super) incarnations: IdMap<(u32, u32), i64>,
    pub(super) born: u64,
    /// Next instance number by entity.
    pub(super) next: IdMap<NameId, i64>,
    pub(super) causes: Causes,
    pub(super) messages: Messages,
    /// Threads that serve interrupts, by vector (8.0).
    pub(super) servers: IdMap<u32, Vec<(u32, u32)>>,
    /// Events only keep the rules across a gap, see [`Output::Closing`].
    pub(super) closing: bool,
    pub(super) out: Vec<Output>,
    pub(super) counters: Counters,
}

impl KernelMapper {
    /// A mapper of a recording that begins at `begin`, in ticks.
    pub fn new(setup: KernelSetup, directory: Directory, begin: i64) -> Self {
        let mut names = Names::default();
        let (sim, nowhere) = (names.intern("SIM"), names.intern("Core_X"));
        let notes = Notes::new(&mut names);
        Self {
            dump: Dump::new(setup.flavour.version),
            setup,
            directory,
            names,
            rows: KernelRows::default(),
            name_count: 0,
            known: IdMap::default(),
            notes,
            sim,
            nowhere,
            turn: 0,
            now: begin,
            dumped: false,
            cores: Vec::new(),
            threads: Vec::new(),
            free: Vec::new(),
            slots: IdMap::default(),
            incarnations: IdMap::default(),
            born: 0,
            next: IdMap::default(),
            causes: Causes::default(),
            messages: Messages::default(),
            servers: IdMap::default(),
            closing: false,
            out: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// The next event.
    pub fn event(&mut self, occurrence: &Occurrence<'_>) {
        let event = &occurrence.event;
        self.turn += 1;
        self.now = self.now.max(occurrence.time);
        self.dumped = self.dump.event(event);
        // Words of an incomplete event may be those of any part of it.
        if event.status != Status::Ok {
            return;
        }
        let cpu = usize::from(event.cpu);
        while self.cores.len() <= cpu {
            let name = self.intern(&format!("Core_{}", self.cores.len()));
            let interrupts = match self.setup.irq {
                Irq::Preempt => name,
                Irq::Overlay => self.intern(&format!("Core_{}_irq", self.cores.len())),
            };
            self.cores.push(Core { name, interrupts, running: None, frames: Vec::new(), vacated: None });
        }
        match event.class {
            Class::Thread => self.thread_event(cpu, event),
            Class::Process => self.process_event(event, occurrence.text),
            Class::KerCall => self.call_enter(cpu, event),
            Class::KerExit => self.call_exit(cpu, event),
            Class::IntCall => self.call_interrupted(cpu, event),
            Class::IntEnter => self.interrupt_enter(cpu, event),
            Class::IntExit => self.interrupt_exit(cpu, event),
            Class::HandlerEnter => self.handler_enter(cpu, event),
            Class::HandlerExit => self.handler_exit(cpu, event),
            Class::Int => self.interrupt_delivered(event),
            Class::Comm => self.comm_event(cpu, event),
            Class::System => self.system_event(cpu, event),
            Class::User => self.user_event(cpu, event, occurrence.text),
            Class::Control
            | Class::VThread
            | Class::Quip
            | Class::Sec
            | Class::Qvm
            | Class::Pmu
            | Class::Unknown => {}
        }
    }

    /// The recording has a hole `[begin, end)`, in ticks: what is open is cut off, and all states are unknown until the next
    /// event of a thread. Threads move, so a hole in the records of one CPU is a hole for all.
    pub fn gap(&mut self, begin: i64, end: i64) {
        self.now = self.now.max(begin);
        let (begin, end) = (self.now, end.max(self.now));
        let cores = self.cores.iter().flat_map(|core| [core.name, core.interrupts]);
        let mut cores: Vec<NameId> = cores.chain((!self.cores.is_empty()).then_some(self.nowhere)).collect();
        cores.dedup();
        self.out.extend(cores.into_iter().map(|core| Output::Gap { core, begin, end }));
        self.closing = true;
        self.close_interrupts();
        for t in self.living() {
            self.cut_thread(t);
            self.close_thread(t);
            let thread = &mut self.threads[t];
            thread.deferred.clear();
            thread.too_deep = 0;
            (thread.on, thread.replied, thread.server, thread.cause) = (None, false, None, None);
            thread.lost = true;
        }
        self.closing = false;
        self.cut_messages();
        self.causes = Causes::default();
        for core in &mut self.cores {
            (core.running, core.vacated) = (None, None);
        }
        self.now = end;
    }

    /// Takes the events so far, if there are `at_least` so many.
    pub fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        (self.out.len() >= at_least).then(|| std::mem::take(&mut self.out))
    }

    /// Ends the recording at `end`, in ticks: what is open stays open. The last rows are in [`KernelMapper::rows`].
    pub fn finish(&mut self, end: i64) -> Finished {
        self.now = self.now.max(end);
        self.cut_interrupts();
        for t in self.living() {
            self.cut_thread(t);
            self.write_thread(t, None);
        }
        self.cut_messages();
        self.write_processes();
        for _ in 0..self.directory.beyond {
            self.count(Finding::TooManyProcesses);
        }
        Finished { outputs: std::mem::take(&mut self.out), log: self.counters.log() }
    }

    /// The slots of all threads that live, in the order in which they were seen first.
    pub(super) fn living(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.slots.values().copied().collect();
        all.sort_unstable_by_key(|t| self.threads[*t].born);
        all
    }

    pub(super) fn count(&mut self, finding: Finding) {
        self.counters.count(finding, self.now);
    }
}
