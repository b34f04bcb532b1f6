//! The mapper: its state, and the dispatch of events to rules. Not the rules.

use super::counters::{Counters, Finding};
use super::directory::Directory;
use super::dump::Dump;
use super::entities::Entities;
use super::messages::Messages;
use super::native::KernelRows;
use super::state::{Core, Phase, Servers, Threads};
use super::wake::Causes;
use super::{Irq, Occurrence, Settings};
use crate::btf::{EntityType, KnownState, NameId, State};
use crate::map::Output;
use crate::qnx::{Class, Status};

/// The mapper of kernel events.
#[derive(Debug, Default)]
pub struct QnxMapper {
    pub(super) settings: Settings,
    pub(super) directory: Directory,
    /// Begin and end of the recording, in ticks.
    pub(super) range: (i64, i64),
    /// The last gap, `[begin, end)` in ticks.
    gap: Option<(i64, i64)>,
    /// It goes on: events are those of CPUs that do not have it.
    pub(super) in_gap: bool,
    pub(super) entities: Entities,
    /// Rows of the native tables so far.
    pub(super) rows: KernelRows,
    /// Number of the current event, from 1.
    pub(super) turn: u64,
    pub(super) now: i64,
    /// The current event lists what exists already.
    pub(super) dumped: bool,
    pub(super) dump: Dump,
    /// By CPU.
    pub(super) cores: Vec<Core>,
    pub(super) threads: Threads,
    /// The idle threads so far, as tasks.
    pub(super) idle_tasks: Vec<NameId>,
    pub(super) causes: Causes,
    pub(super) messages: Messages,
    pub(super) servers: Servers,
    /// Current events only keep the rules of BTF across a gap, see [`Output::Closing`].
    pub(super) closing: bool,
    pub(super) out: Vec<Output>,
    pub(super) counters: Counters,
}

impl QnxMapper {
    /// A mapper at the begin of a recording. `range`: its begin and end, in ticks.
    pub(super) fn at_begin(settings: Settings, range: (i64, i64)) -> Self {
        Self {
            dump: Dump::new(settings.flavour.version),
            directory: Directory::new(settings.flavour.version),
            settings,
            range,
            now: range.0,
            ..Self::default()
        }
    }

    /// Maps the next event.
    pub(super) fn occurrence(&mut self, occurrence: &Occurrence<'_>) {
        let event = &occurrence.event;
        self.turn += 1;
        self.pass_gap(occurrence.time);
        self.now = self.now.max(occurrence.time);
        self.dumped = self.dump.event(event);
        // Rule Q31: the words of an incomplete event may belong to any part of it. A call is a call without
        // its words.
        let is_call = matches!(event.class, Class::KerCall | Class::KerExit | Class::IntCall);
        if event.status != Status::Ok && !(is_call && event.status == Status::Unread) {
            return;
        }
        let cpu = usize::from(event.cpu);
        while self.cores.len() <= cpu {
            let name = self.intern(&format!("Core_{}", self.cores.len()));
            let interrupts = match self.settings.irq {
                Irq::Preempt => name,
                Irq::Overlay => self.intern(&format!("Core_{}_irq", self.cores.len())),
            };
            self.cores.push(Core { name, interrupts, running: None, frames: Vec::new(), vacated: None });
            if let Some((begin, end)) = self.gap {
                // The gap was one of this core as well.
                let of_interrupts = (interrupts != name).then_some(interrupts);
                let nowhere = (self.cores.len() == 1).then_some(self.entities.nowhere);
                let cores = std::iter::once(name).chain(of_interrupts).chain(nowhere);
                self.out.extend(cores.map(|core| Output::Gap { core, begin, end }));
            }
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

    /// The recording has a gap `[begin, end)`, in ticks: what is open is cut off, and all states are unknown
    /// until the next event of a thread behind it. Threads move, so a gap of one CPU is a gap of all.
    pub(super) fn cut(&mut self, begin: i64, end: i64) {
        self.pass_gap(begin);
        let begin = self.now.max(begin);
        let known_from = self.gap.filter(|_| self.in_gap).map_or(begin, |(_, end)| end);
        let end = end.max(known_from);
        // A gap of one CPU may also be stored for another one.
        if self.gap.replace((begin, end)) == Some((begin, end)) {
            return;
        }
        self.now = begin;
        let cores = self.cores.iter().flat_map(|core| [core.name, core.interrupts]);
        let mut cores: Vec<NameId> =
            cores.chain((!self.cores.is_empty()).then_some(self.entities.nowhere)).collect();
        cores.dedup();
        self.out.extend(cores.into_iter().map(|core| Output::Gap { core, begin, end }));
        self.closing = true;
        self.close_interrupts();
        self.closing = false;
        self.cut_threads(self.threads.living());
        self.cut_messages();
        self.causes = Causes::default();
        for core in &mut self.cores {
            (core.running, core.vacated) = (None, None);
        }
        self.in_gap = begin < end;
    }

    /// Ends a gap that is over at `time`. CPUs that do not have it may have told of threads in it: who runs
    /// on one of them has it still, but nothing is known of the others.
    pub(super) fn pass_gap(&mut self, time: i64) {
        let Some((_, end)) = self.gap.filter(|(_, end)| self.in_gap && *end <= time) else { return };
        self.now = self.now.max(end);
        let mut elsewhere = Vec::new();
        for t in self.threads.living() {
            let thread = &self.threads[t];
            if thread.on.is_none() && thread.stretch.is_some() {
                elsewhere.push(t);
            } else if thread.phase == Phase::Running && thread.exported {
                self.out.push(Output::Known(KnownState {
                    process: self.actor(t),
                    kind: EntityType::Task,
                    core: thread.core,
                    state: State::Running,
                    since: self.now,
                }));
            }
        }
        self.cut_threads(elsewhere);
        self.cut_messages();
        self.in_gap = false;
    }

    /// What these threads do is cut off, and nothing is known of them until their next events.
    pub(super) fn cut_threads(&mut self, threads: Vec<usize>) {
        self.closing = true;
        for t in threads {
            let active = self.threads[t].phase == Phase::Active;
            // It may start in the gap, on any core.
            self.threads[t].may_have_run |= active;
            // All others are lost with the core.
            if (active || self.in_gap) && self.threads[t].exported {
                self.out.push(Output::Lost { process: self.actor(t), time: self.now });
            }
            self.cut_thread(t);
            self.close_thread(t);
            let thread = &mut self.threads[t];
            thread.deferred.clear();
            thread.too_deep = 0;
            (thread.on, thread.replied, thread.server, thread.cause) = (None, false, None, None);
            thread.lost = true;
        }
        self.closing = false;
    }

    /// Ends the recording: what is open stays open, and is cut off in the native tables.
    pub(super) fn end(&mut self) {
        self.now = self.now.max(self.range.1);
        self.cut_interrupts();
        for t in self.threads.living() {
            self.cut_thread(t);
            self.write_thread(t, None);
        }
        self.cut_messages();
        self.write_processes();
        for _ in 0..self.directory.beyond {
            self.count(Finding::TooManyProcesses);
        }
    }

    pub(super) fn count(&mut self, finding: Finding) {
        self.counters.count(finding, self.now);
    }
}
