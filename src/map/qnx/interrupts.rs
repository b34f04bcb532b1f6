//! Rules for interrupts and their handlers. Interrupts nest; each takes the core from what it interrupts.

use super::counters::Finding;
use super::entities::Named;
use super::mapper::QnxMapper;
use super::state::{Frame, Proc};
use super::wake::Wake;
use super::{Irq, words};
use crate::btf::{Action, EntityType, NameId, Note};
use crate::map::UNSEEN_AT_GAP;
use crate::qnx::{Event, Version};

/// Interrupts do not nest deeper on any target; then the exits of earlier ones must be missing.
const MAX_DEPTH: usize = 64;

/// Event of class INT in 8.0: an interrupt is delivered to its thread.
const DELIVER: u16 = 7;

impl QnxMapper {
    /// Rule Q13; with rule Q16 the interrupt has a core of its own.
    pub(super) fn interrupt_enter(&mut self, cpu: usize, event: &Event<'_>) {
        let vector = event.word(0);
        // An interrupt cannot interrupt itself: it is masked until it is over.
        if let Some(n) = self.cores[cpu].frames.iter().position(|frame| frame.vector == vector) {
            self.end_frames(cpu, n, None);
        } else if self.cores[cpu].frames.len() >= MAX_DEPTH {
            self.end_frames(cpu, 0, None);
        }
        let name = self.named(Named::Interrupt, (vector, 0), |_| format!("INT_{vector:x}"));
        let stimulus = self.named(Named::InterruptStimulus, (vector, 0), |_| format!("IRQ_{vector:x}"));
        let number = self.entities.next_instance(name);
        let stimulus = if self.settings.flavour.version >= Version::V8_0 {
            self.trigger(stimulus)
        } else {
            (stimulus, number)
        };
        self.emit(stimulus, EntityType::Isr, (name, number), Action::Activate, Note::None);
        self.interrupt_top(cpu);
        let (now, core) = (self.now, self.cores[cpu].interrupts);
        let thread = self.cores[cpu].running.map(|t| self.threads[t].pid_tid());
        if let Some(outer) = self.cores[cpu].frames.last_mut() {
            outer.spent += now - outer.since;
        }
        self.cores[cpu].frames.push(Frame {
            vector,
            name,
            number,
            running: true,
            begin: now,
            since: now,
            ip: words::argument(self.settings.flavour, event, "IP").unwrap_or_default(),
            thread,
            ..Frame::default()
        });
        self.emit((core, 0), EntityType::Isr, (name, number), Action::Start, Note::None);
    }

    /// What executes loses the core to an interrupt.
    fn interrupt_top(&mut self, cpu: usize) {
        let irq = self.entities.notes.irq;
        if self.cores[cpu].frames.is_empty() {
            if let (Some(t), Irq::Preempt) = (self.cores[cpu].running, self.settings.irq) {
                self.leave(t, Action::Preempt, irq, Note::None);
            }
            return;
        }
        let actor = self.actor_on(cpu);
        self.each_runnable(cpu, Action::Suspend, Note::None);
        let core = self.cores[cpu].interrupts;
        self.emit((core, 0), EntityType::Isr, actor, Action::Preempt, irq);
        if let Some(frame) = self.cores[cpu].frames.last_mut() {
            frame.running = false;
        }
    }

    /// Suspends the runnables of the innermost interrupt, innermost first, or resumes them, outermost first.
    fn each_runnable(&mut self, cpu: usize, action: Action, note: Note) {
        let actor = self.actor_on(cpu);
        let open = self.cores[cpu].frames.last().map(|frame| frame.runnables.clone()).unwrap_or_default();
        let last = open.len();
        for n in 0..last {
            let n = if action == Action::Resume { n } else { last - 1 - n };
            if let Some(runnable) = open.get(n) {
                self.emit(actor, EntityType::Runnable, *runnable, action, note);
            }
        }
    }

    /// Rule Q14.
    pub(super) fn interrupt_exit(&mut self, cpu: usize, event: &Event<'_>) {
        let vector = event.word(0);
        match self.cores[cpu].frames.iter().rposition(|frame| frame.vector == vector) {
            Some(n) => {
                self.end_frames(cpu, n + 1, None);
                self.end_frames(cpu, n, Some(self.now));
            }
            None => self.count(Finding::InterruptExit),
        }
    }

    /// Rule Q15: ends all interrupts of a CPU, because an event there shows that they are over.
    pub(super) fn end_interrupts(&mut self, cpu: usize) {
        if let Some(core) = self.cores.get(cpu)
            && !core.frames.is_empty()
        {
            self.end_frames(cpu, 0, None);
        }
    }

    /// Ends the interrupts of a CPU down to a depth, innermost first, and gives the core back. `exit` is the
    /// time of the exit event, if there was one.
    fn end_frames(&mut self, cpu: usize, depth: usize, exit: Option<i64>) {
        let (core, irq) = (self.cores[cpu].interrupts, self.entities.notes.irq);
        let implicit = if exit.is_some() { Note::None } else { self.entities.notes.implicit };
        while self.cores[cpu].frames.len() > depth {
            let actor = self.actor_on(cpu);
            self.each_runnable(cpu, Action::Terminate, implicit);
            self.emit((core, 0), EntityType::Isr, actor, Action::Terminate, implicit);
            if exit.is_none() {
                self.count(Finding::InterruptCut);
            }
            let Some(frame) = self.cores[cpu].frames.pop() else { return };
            let depth = self.cores[cpu].frames.len();
            self.write_interrupt(cpu, depth, &frame, Some(self.now), exit.is_some());
            let now = self.now;
            if let Some(outer) = self.cores[cpu].frames.last_mut() {
                (outer.running, outer.since) = (true, now);
                let actor = self.actor_on(cpu);
                self.emit((core, 0), EntityType::Isr, actor, Action::Resume, irq);
                self.each_runnable(cpu, Action::Resume, Note::None);
            } else if let (Some(t), Irq::Preempt) = (self.cores[cpu].running, self.settings.irq) {
                let core = self.cores[cpu].name;
                self.enter(t, core, Note::None, irq);
            }
        }
    }

    /// Rule Q17.
    pub(super) fn handler_enter(&mut self, cpu: usize, event: &Event<'_>) {
        let (pid, vector) = (event.word(0), event.word(1));
        let ip = words::argument(self.settings.flavour, event, "IP").unwrap_or_default();
        if self.cores[cpu].frames.last().is_none_or(|frame| frame.vector != vector) {
            return self.count(Finding::Handler);
        }
        self.end_handler(cpu);
        let name: NameId = self
            .named(Named::Handler, (pid, ip), |mapper| format!("ISR_{}_{ip:x}", mapper.process_name(pid)));
        let runnable = self.start_runnable(Proc::Interrupt(cpu), name);
        if let Some(frame) = self.cores[cpu].frames.last_mut() {
            frame.handler = Some(runnable);
            frame.handlers += 1;
        }
    }

    pub(super) fn handler_exit(&mut self, cpu: usize, event: &Event<'_>) {
        let (vector, notify) = (event.word(0), event.word(1));
        if notify != 0 {
            self.causes.interrupt(self.turn);
        }
        let fits = |frame: &Frame| frame.vector == vector && frame.handler.is_some();
        if !self.cores[cpu].frames.last().is_some_and(fits) {
            return self.count(Finding::Handler);
        }
        self.end_handler(cpu);
        if let Some(frame) = self.cores[cpu].frames.last_mut() {
            frame.events += i64::from(notify != 0);
        }
    }

    fn end_handler(&mut self, cpu: usize) {
        let open = self.cores[cpu].frames.last_mut().and_then(|frame| frame.handler.take());
        if let Some(handler) = open {
            self.end_runnable(Proc::Interrupt(cpu), handler, Note::None);
        }
    }

    /// Rule Q18: this is the only event of interrupts in 8.0; threads serve them.
    pub(super) fn interrupt_delivered(&mut self, event: &Event<'_>) {
        if event.event != DELIVER || self.settings.flavour.version < Version::V8_0 {
            return;
        }
        let vector = event.word(0);
        let stimulus = self.named(Named::InterruptStimulus, (vector, 0), |_| format!("IRQ_{vector:x}"));
        self.trigger(stimulus);
        for thread in self.servers.of(vector) {
            if let Some(t) = self.threads.find(*thread) {
                self.threads[t].cause = Some((self.turn, Wake::Interrupt));
            }
        }
    }

    /// Ends all interrupts at a gap, in BTF; in the native tables they are cut off.
    pub(super) fn close_interrupts(&mut self) {
        let (gap, irq) = (self.note(UNSEEN_AT_GAP), self.note("irq"));
        for cpu in 0..self.cores.len() {
            let core = self.cores[cpu].interrupts;
            while !self.cores[cpu].frames.is_empty() {
                let actor = self.actor_on(cpu);
                self.each_runnable(cpu, Action::Terminate, gap);
                self.emit((core, 0), EntityType::Isr, actor, Action::Terminate, gap);
                let Some(frame) = self.cores[cpu].frames.pop() else { break };
                let depth = self.cores[cpu].frames.len();
                self.write_interrupt(cpu, depth, &frame, None, false);
                if depth > 0 {
                    let actor = self.actor_on(cpu);
                    self.emit((core, 0), EntityType::Isr, actor, Action::Resume, irq);
                    self.each_runnable(cpu, Action::Resume, Note::None);
                }
            }
        }
    }

    /// Cuts off what is open when the recording ends.
    pub(super) fn cut_interrupts(&mut self) {
        for cpu in 0..self.cores.len() {
            while let Some(frame) = self.cores[cpu].frames.pop() {
                let depth = self.cores[cpu].frames.len();
                self.write_interrupt(cpu, depth, &frame, None, false);
            }
        }
    }
}
