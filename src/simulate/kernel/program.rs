//! What a task or ISR does: its steps, one after the other, with the runnables that it is in. Not the
//! services that steps call (see `services`, `locks`).

use super::Kernel;
use super::access::{Function, Recorder, Variable};
use super::code::Block;
use super::effect::{Effect, Observer, Process, Stimulus};
use super::remote::Call;
use crate::simulate::model::{Distribution, Step};
use crate::simulate::random_numbers::RandomNumbers;

/// Where an instance is in its steps.
#[derive(Debug, Default)]
pub struct Program<'m> {
    levels: Vec<Level<'m>>,
    /// Time that it still computes for.
    pub remaining: i64,
}

/// Steps within steps.
#[derive(Debug)]
struct Level<'m> {
    block: Block<'m>,
    next: usize,
    /// The runnable that ends with these steps.
    runnable: Option<usize>,
    /// How often they are done again.
    again: u32,
}

/// What a program comes to.
enum Progress<'m> {
    /// With its place.
    Step(&'m Step, usize),
    /// A runnable ends.
    Leave(usize),
    End,
}

impl<'m> Program<'m> {
    /// Begins from the first step.
    pub fn begin(&mut self, block: Block<'m>) {
        self.levels.clear();
        self.remaining = 0;
        self.enter(block, None, 0);
    }

    /// The innermost runnable that it is in.
    pub fn runnable(&self) -> Option<usize> {
        self.levels.iter().rev().find_map(|level| level.runnable)
    }

    fn enter(&mut self, block: Block<'m>, runnable: Option<usize>, again: u32) {
        self.levels.push(Level { block, next: 0, runnable, again });
    }

    fn next(&mut self) -> Progress<'m> {
        while let Some(level) = self.levels.last_mut() {
            if let Some(step) = level.block.steps.get(level.next) {
                level.next += 1;
                return Progress::Step(step, level.block.first + level.next - 1);
            }
            if level.again > 0 {
                level.again -= 1;
                level.next = 0;
                continue;
            }
            if let Some(runnable) = self.levels.pop().and_then(|level| level.runnable) {
                return Progress::Leave(runnable);
            }
        }
        Progress::End
    }
}

impl<'m, R: Recorder, O: Observer> Kernel<'m, R, O> {
    /// The program that a core is in.
    pub(super) fn program(&mut self, core: usize) -> Option<&mut Program<'m>> {
        let running = self.running(core);
        let state = self.cores.get_mut(core)?;
        match state.frames.last_mut() {
            Some(frame) => Some(&mut frame.program),
            None => running.and_then(|task| self.tasks.get_mut(task)).map(|task| &mut task.program),
        }
    }

    /// Lets the program of a core go on: until it computes for a time, or calls the kernel.
    pub(super) fn continue_program(&mut self, core: usize) {
        let Some(state) = self.cores.get_mut(core) else { return };
        if let Some(end) = state.busy_until {
            if state.time < end {
                state.time = state.next_request().map_or(end, |at| at.min(end));
                return;
            }
            state.busy_until = None;
        }
        let left = self.program(core).map_or(0, |program| std::mem::take(&mut program.remaining));
        if left > 0 {
            return self.compute(core, left);
        }
        let process = self.acting(core);
        let Some(progress) = self.program(core).map(Program::next) else { return };
        match progress {
            Progress::Step(step, place) => self.do_step(core, process, step, place),
            Progress::Leave(runnable) => {
                self.effect(core, Effect::RunnableEnd(process, runnable));
                self.leave(core, Function::Runnable(runnable as u32));
            }
            Progress::End => match process {
                Process::Handler(_) => self.leave_handler(core),
                _ => self.fall_off(core),
            },
        }
    }

    fn compute(&mut self, core: usize, length: i64) {
        let Some(state) = self.cores.get_mut(core) else { return };
        let end = state.time.saturating_add(length);
        state.busy_until = Some(end);
        state.time = state.next_request().map_or(end, |at| at.min(end));
    }

    fn do_step(&mut self, core: usize, process: Process, step: &'m Step, place: usize) {
        let forgets = !matches!(
            step,
            Step::Execute(_)
                | Step::TryToGetSpinlock { .. }
                | Step::Branch { .. }
                | Step::Repeat { .. }
                | Step::Turns { .. }
        );
        if forgets && let Some(asks) = self.asks(core, process) {
            asks.forget_refusal();
        }
        match step {
            Step::Execute(length) => {
                let length = self.next_time(process, length, place);
                self.compute(core, length);
            }
            Step::Call { runnable } => {
                let Some(block) = self.code.runnable(*runnable) else { return };
                self.enter_block(core, Some(block), Some(*runnable), 0);
                self.effect(core, Effect::RunnableStart(process, *runnable));
                self.enter(core, Function::Runnable(*runnable as u32));
            }
            Step::Read { signal } => {
                let value = self.signals.get(*signal).copied().unwrap_or_default();
                self.effect(core, Effect::Read { by: process, signal: *signal, value });
                self.read(core, Variable::Signal(*signal as u32), value);
            }
            Step::Write { signal, value } => {
                let Some(of_signal) = self.signals.get_mut(*signal) else { return };
                *of_signal = value.unwrap_or(of_signal.wrapping_add(1));
                let value = *of_signal;
                self.effect(core, Effect::Write { by: process, signal: *signal, value });
                self.write(core, Variable::Signal(*signal as u32), value);
            }
            Step::Activate { task } => {
                if self.is_here(core, *task) {
                    self.activate_task(core, *task);
                } else {
                    self.call(core, Call::Activate { task: *task, by: Stimulus::By(process) });
                }
            }
            Step::Chain { task } => self.chain_task(core, *task),
            Step::Terminate => self.terminate_task(core),
            Step::SetEvent { task, events } => {
                let mask = self.mask(events);
                if self.is_here(core, *task) {
                    self.set_event(core, *task, mask);
                } else {
                    self.call(core, Call::SetEvent { task: *task, mask, by: Stimulus::By(process) });
                }
            }
            Step::ClearEvent { events } => self.clear_event(core, events),
            Step::WaitEvent { events } => self.wait_event(core, events),
            Step::GetResource { resource } => self.get_resource(core, *resource),
            Step::ReleaseResource { resource } => self.release_resource(core, *resource),
            Step::GetSpinlock { spinlock } => self.get_spinlock(core, *spinlock),
            Step::TryToGetSpinlock { spinlock, every } => self.try_to_get_spinlock(core, *spinlock, *every),
            Step::ReleaseSpinlock { spinlock } => self.release_spinlock(core, *spinlock),
            Step::Schedule => self.schedule_service(core),
            Step::Branch { probability, .. } => {
                let stream = self.stream_of(process).and_then(|stream| self.chance.get_mut(stream));
                let draw = stream.map_or(0.0, RandomNumbers::unit);
                let way = usize::from(draw >= *probability);
                self.enter_block(core, self.code.inside(place, way), None, 0);
            }
            Step::Repeat { times, .. } => {
                if let Some(again) = times.checked_sub(1) {
                    self.enter_block(core, self.code.inside(place, 0), None, again);
                }
            }
            Step::Turns { of } => {
                let way = self.code.position(place).and_then(|position| of.take_turn(position));
                let block = way.and_then(|way| self.code.inside(place, way));
                self.enter_block(core, block, None, 0);
            }
        }
    }

    /// The program of a core goes on with a block.
    fn enter_block(&mut self, core: usize, block: Option<Block<'m>>, runnable: Option<usize>, again: u32) {
        if let (Some(block), Some(program)) = (block, self.program(core)) {
            program.enter(block, runnable, again);
        }
    }

    /// The time that a process computes for at a place.
    fn next_time(&mut self, process: Process, time: &Distribution, place: usize) -> i64 {
        let random = self.stream_of(process).and_then(|stream| self.chance.get_mut(stream));
        random.zip(self.code.position(place)).map_or(0, |(random, position)| time.next(random, position))
    }

    /// A lock was refused: the same step is done again, after some time.
    pub(super) fn try_again(&mut self, core: usize, every: i64) {
        if let Some(program) = self.program(core) {
            program.remaining = every;
            if let Some(level) = program.levels.last_mut() {
                level.next -= 1;
            }
        }
    }

    fn is_here(&self, core: usize, task: usize) -> bool {
        self.tasks.get(task).is_some_and(|task| task.core == core)
    }

    /// The random numbers of a process.
    fn stream_of(&self, process: Process) -> Option<usize> {
        match process {
            Process::Task(task) => Some(task),
            Process::Handler(handler) => Some(self.tasks.len() + handler),
            Process::Nobody => None,
        }
    }
}
