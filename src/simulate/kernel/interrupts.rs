//! Interrupts of a core: how a handler is entered and left. The order of accesses is that of ERIKA's
//! wrapper of handlers of category 2. Not when they are requested (see `requests`), nor what handlers do
//! (see `program`, `timer`, `remote`).

use super::access::{Function, Recorder, Variable};
use super::core::Frame;
use super::effect::{Change, Effect, Observer, Process};
use super::locks::Asks;
use super::program::Program;
use super::ready::NONE;
use super::schedule::Occasion;
use super::{Decision, HandlerKind, Kernel, Op};
use std::collections::VecDeque;

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// Whether a core that waits for another one has a call to serve.
    pub(super) fn answers_calls_now(&self, core: usize) -> bool {
        let remote = self.handlers.remote(core);
        self.cores.get(core).is_some_and(|core| {
            matches!(core.ops.front(), Some(Op::Decide(Decision::Await { .. })))
                && core.pending.iter().any(|(handler, at)| *handler == remote && *at <= core.time)
                && core.interrupt(self.handlers) == Some(remote)
        })
    }

    /// A handler takes the core.
    pub(super) fn enter_handler(&mut self, core: usize, handler: usize) {
        let kind = self.handlers.kind(handler);
        let before = self.acting(core);
        let old = self.running_isr(core);
        let Some(state) = self.cores.get_mut(core) else { return };
        state.pending.retain(|(pending, _)| *pending != handler);
        let left = state.busy_until.take().map(|end| end - state.time);
        let below = std::mem::take(&mut state.ops);
        // Of a program that has not gone on since the handler before, what is left is known already.
        if let (Some(left), Some(program)) = (left, self.program(core)) {
            program.remaining = left;
        }
        if kind == HandlerKind::Timer && !self.os().timer_isr {
            // What expires without an interrupt needs the scheduler all the same.
            self.append(core, below);
            self.tick(core);
            return self.schedule_in_service(core, VecDeque::new());
        }
        let category1 = self.is_category1(handler);
        if category1 {
            // Nothing but its entry is recorded.
            self.pause(core, self.os().interrupt);
        } else {
            self.read(core, Variable::RunningIsr2, old);
        }
        let nesting = self.nesting(core);
        if let Some(state) = self.cores.get_mut(core) {
            let program = Program::default();
            state.frames.push(Frame { handler, program, below, asks: Asks::default(), category1 });
        }
        if let Some(asks) = self.asks(core, before) {
            let change = if asks.polls() { Change::Park } else { Change::Preempt };
            asks.leaves_core();
            self.effect(core, Effect::Change(before, change));
        }
        self.effect(core, Effect::Enter(handler));
        if !category1 {
            self.write(core, Variable::RunningIsr2, handler as u32);
            self.read(core, Variable::NestingLevel, nesting);
            self.write(core, Variable::NestingLevel, nesting + 1);
            self.pause(core, self.os().interrupt);
        }
        self.enter(core, self.function_of(handler));
        match kind {
            HandlerKind::Isr(isr) => {
                if let (Some(block), Some(program)) = (self.code.isr(isr), self.program(core)) {
                    program.begin(block);
                }
            }
            HandlerKind::Timer => {
                self.enter(core, Function::IncrementHardware);
                self.tick(core);
                self.leave(core, Function::IncrementHardware);
                self.leave_handler(core);
            }
            HandlerKind::Remote => {
                self.enter(core, Function::RemoteServe);
                self.op(core, Op::Decide(Decision::Serve));
            }
        }
    }

    /// The handler of a core ends, and what it interrupted has the core again.
    pub(super) fn leave_handler(&mut self, core: usize) {
        let Some(frame) = self.cores.get_mut(core).and_then(|core| core.frames.pop()) else { return };
        let (handler, below) = (frame.handler, frame.below);
        self.pause(core, self.os().interrupt);
        if frame.category1 {
            // The OS does not know that it was interrupted.
            self.effect(core, Effect::Change(Process::Handler(handler), Change::Terminate));
            self.give_back(core);
            self.leave(core, self.function_of(handler));
            return self.append(core, below);
        }
        self.leave(core, self.function_of(handler));
        self.enter(core, Function::IrqPostStub);
        self.read(core, Variable::InterruptsDisabled, 0);
        self.read(core, Variable::Isr2Index, NONE);
        self.leave(core, Function::IrqPostStub);
        let nesting = self.nesting(core);
        self.read(core, Variable::NestingLevel, nesting + 1);
        self.write(core, Variable::NestingLevel, nesting);
        self.effect(core, Effect::Change(Process::Handler(handler), Change::Terminate));
        self.give_back(core);
        let old = self.running_isr(core);
        self.write(core, Variable::RunningIsr2, old);
        // Kernel code that waits for another core is not left.
        if below.is_empty() && self.cores.get(core).is_some_and(|core| core.frames.is_empty()) {
            self.schedule_after_handler(core);
        }
        self.append(core, below);
    }

    /// What a handler interrupted has the core again, also if the scheduler takes it away right
    /// afterwards: it runs in the context of the interrupted task.
    fn give_back(&mut self, core: usize) {
        let process = self.acting(core);
        let Some(asks) = self.asks(core, process) else { return };
        let change = if asks.gets_core() { Change::PollParking } else { Change::Resume };
        self.effect(core, Effect::Change(process, change));
    }

    /// The scheduler at the end of the outermost handler.
    fn schedule_after_handler(&mut self, core: usize) {
        self.enter(core, Function::IrqEnd);
        let first = self.first_ready(core);
        self.read_running(core);
        let ceiling = self.ceiling(core);
        if first.is_some() {
            self.read(core, Variable::Ceiling, ceiling);
        }
        let leaving = VecDeque::from([Op::Function(Function::IrqEnd, false)]);
        match first.filter(|task| self.preempts(core, *task)) {
            Some(task) => {
                self.preempt(core, leaving);
                self.dispatch(core, task, Occasion::End);
            }
            None => self.append(core, leaving),
        }
    }

    /// The value of the variable that says which handler of category 2 runs.
    fn running_isr(&self, core: usize) -> u32 {
        let frames = self.cores.get(core).map(|core| core.frames.as_slice()).unwrap_or_default();
        frames.iter().rev().find(|frame| !frame.category1).map_or(NONE, |frame| frame.handler as u32)
    }

    fn is_category1(&self, handler: usize) -> bool {
        match self.handlers.kind(handler) {
            HandlerKind::Isr(isr) => self.model.isrs.get(isr).is_some_and(|isr| isr.category1),
            _ => false,
        }
    }

    fn function_of(&self, handler: usize) -> Function {
        match self.handlers.kind(handler) {
            HandlerKind::Isr(isr) => Function::Isr(isr as u32),
            HandlerKind::Timer => Function::TimerHandler,
            HandlerKind::Remote => Function::RemoteHandler,
        }
    }
}
