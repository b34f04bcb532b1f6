//! A simulated multi-core OSEK kernel: per core a processor that runs operations one after the other, and
//! the loop that always lets the core go on whose next operation is the earliest. Written after the
//! services and data structures of ERIKA Enterprise v2. Not the names of its variables (see `probe`), nor
//! BTF (see `reference`).

pub mod access;
mod boot;
pub mod causes;
mod code;
mod core;
mod counter;
pub mod effect;
mod handlers;
mod interrupts;
pub mod layout;
mod locks;
mod program;
mod ready;
mod remote;
mod requests;
mod resources;
mod schedule;
mod services;
mod spinlocks;
mod standstill;
mod task;
mod timer;

#[cfg(test)]
mod tests;

use self::core::{Core, Next};
use super::model::{Model, Os};
use super::random_numbers::RandomNumbers;
use access::{Function, Recorder, Variable};
use causes::{Ledger, Note, Sink};
use code::Code;
use effect::{Effect, Observer};
use task::Task;

pub use handlers::{HandlerKind, Handlers};
pub use ready::NONE;
pub use standstill::Standstill;
pub use task::Status;

/// An operation of a core. It happens at the time of the core, and takes some.
#[derive(Debug, Clone)]
enum Op {
    /// An access to a variable.
    Data { variable: Variable, write: bool, value: u32 },
    /// A function is entered or left.
    Function(Function, bool),
    /// Time in which nothing is recorded.
    Pause(i64),
    /// What the next access does to the system; takes no time.
    Effect(Effect, Option<Note>),
    /// What depends on other cores, and is decided when it happens.
    Decide(Decision),
}

/// See [`Op::Decide`].
#[derive(Debug, Clone, Copy)]
enum Decision {
    /// Takes the word of a lock, as soon as it is free.
    Spin(locks::Spin),
    /// Gives the word of a lock back.
    Free(locks::Free),
    /// Looks who has a spinlock.
    ReadLocker { word: u32, spinlock: usize },
    /// Looks at a spinlock, and takes it if it is free.
    Try { spinlock: usize, every: i64 },
    /// A call of another core is ready: its interrupt is requested.
    Call { server: usize },
    /// Looks whether a core serves calls.
    ReadServing { server: usize },
    /// A call is served: the caller may go on.
    Served { caller: usize, error: u32 },
    /// Waits for the end of that call. It `asked` before.
    Await { server: usize, asked: bool },
    /// Serves the next call of another core, if there is one.
    Serve,
    /// Sets the ceiling, when a task goes on.
    Ceiling(u32),
}

/// What went on in a simulation, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests of ISRs that came while the same one was pending.
    pub lost_requests: u64,
    /// Services that returned an error.
    pub errors: u64,
    /// The first time that cores wait for each other, if they do.
    pub standstill: Option<Standstill>,
}

/// A system that runs. `R` records accesses, `O` the events of the system.
pub struct Kernel<'m, R, O> {
    model: &'m Model,
    handlers: &'m Handlers,
    code: Code<'m>,
    cores: Vec<Core<'m>>,
    tasks: Vec<Task<'m>>,
    locks: locks::Locks,
    signals: Vec<u32>,
    calls: Vec<remote::Mailbox>,
    chance: Vec<RandomNumbers>,
    counts: Counts,
    recorder: R,
    observer: O,
    /// Why instances do not run, if somebody takes that.
    ledger: Option<Ledger>,
    causes: Option<Sink<'m>>,
}

impl<'m, R: Recorder, O: Observer> Kernel<'m, R, O> {
    /// A system before its start.
    pub fn new(model: &'m Model, handlers: &'m Handlers, recorder: R, observer: O) -> Self {
        let tasks = task::all(model);
        let names = model.tasks.iter().map(|task| task.name.as_str());
        let names = names.chain((0..handlers.count()).map(|handler| handlers.name(handler)));
        let mut chance: Vec<_> = names.map(|name| RandomNumbers::stream(model.seed, name)).collect();
        Self {
            model,
            handlers,
            code: Code::of(model),
            cores: core::all(model, handlers, &tasks, &mut chance),
            tasks,
            locks: locks::Locks::new(model),
            signals: model.signals.iter().map(|signal| signal.initial).collect(),
            calls: vec![remote::Mailbox::default(); model.cores.len()],
            chance,
            counts: Counts::default(),
            recorder,
            observer,
            ledger: None,
            causes: None,
        }
    }

    /// The same system. It says why each instance does not run, if somebody takes that.
    pub fn with_causes(mut self, sink: Option<Sink<'m>>) -> Self {
        self.ledger = sink.is_some().then(|| Ledger::new(self.model, self.handlers, &self.tasks));
        self.causes = sink;
        self
    }

    /// Runs until the end of the model. `go_on` is asked now and then, with the time; an error ends the
    /// run.
    pub fn run<E>(mut self, mut go_on: impl FnMut(i64) -> Result<(), E>) -> Result<(R, O, Counts), E> {
        for core in 0..self.cores.len() {
            self.boot(core);
        }
        let mut steps = 0u32;
        while let Some((core, time)) = self.next() {
            if time >= self.model.duration {
                break;
            }
            self.step(core);
            steps = steps.wrapping_add(1);
            if steps & 0xFFFF == 0 {
                go_on(time)?;
            }
        }
        Ok((self.recorder, self.observer, self.counts))
    }

    /// The core whose next operation is the earliest. At one instant, locks are given back first.
    fn next(&self) -> Option<(usize, i64)> {
        let mut next: Option<(usize, i64, bool)> = None;
        for (number, core) in self.cores.iter().enumerate() {
            if core.time == i64::MAX {
                continue;
            }
            let frees = matches!(core.ops.front(), Some(Op::Decide(Decision::Free(_))));
            let is_earlier =
                next.is_none_or(|(_, time, other)| core.time < time || core.time == time && frees && !other);
            if is_earlier {
                next = Some((number, core.time, frees));
            }
        }
        next.map(|(core, time, _)| (core, time))
    }

    /// Lets a core go on.
    fn step(&mut self, number: usize) {
        if self.answers_calls_now(number) {
            return self.enter_handler(number, self.handlers.remote(number));
        }
        let Some(core) = self.cores.get_mut(number) else { return };
        let (time, access) = (core.time, self.model.os.access);
        match core.ops.pop_front() {
            Some(Op::Data { variable, write, value }) => {
                self.recorder.data(number, time, variable, write, value);
                if write && variable == Variable::Ceiling {
                    self.keep(|ledger| ledger.ceiling(number, time, value));
                }
                self.pass(number, access);
            }
            Some(Op::Function(function, entry)) => {
                self.recorder.function(number, time, function, entry);
                self.pass(number, access);
            }
            Some(Op::Pause(length)) => self.pass(number, length),
            Some(Op::Effect(effect, note)) => {
                self.observer.effect(number, time, effect);
                if let Some(note) = note {
                    self.keep(|ledger| ledger.note(number, time, note));
                }
            }
            Some(Op::Decide(decision)) => self.decide(number, decision),
            None => self.go_on(number),
        }
    }

    fn decide(&mut self, core: usize, decision: Decision) {
        match decision {
            Decision::Spin(spin) => self.spin(core, spin),
            Decision::Free(free) => self.free(core, free),
            Decision::ReadLocker { word, spinlock } => self.read_locker(core, word, spinlock),
            Decision::Try { spinlock, every } => self.try_lock(core, spinlock, every),
            Decision::Call { server } => self.request_call(core, server),
            Decision::ReadServing { server } => self.read_serving(core, server),
            Decision::Served { caller, error } => self.served(core, caller, error),
            Decision::Await { server, asked } => self.await_call(core, server, asked),
            Decision::Serve => self.serve(core),
            Decision::Ceiling(ceiling) => {
                if let Some(core) = self.cores.get_mut(core) {
                    core.ceiling = ceiling;
                    core.ops.push_front(Op::Data {
                        variable: Variable::Ceiling,
                        write: true,
                        value: ceiling,
                    });
                }
            }
        }
    }

    /// What a core does outside of the kernel.
    fn go_on(&mut self, number: usize) {
        let Some(core) = self.cores.get_mut(number) else { return };
        match core.next(self.handlers, &mut self.chance, &mut self.counts.lost_requests) {
            Next::Interrupt(handler) => self.enter_handler(number, handler),
            Next::Program => self.continue_program(number),
            Next::Idle => {}
        }
    }

    fn os(&self) -> &'m Os {
        &self.model.os
    }

    fn pass(&mut self, core: usize, time: i64) {
        if let Some(core) = self.cores.get_mut(core) {
            core.time += time;
        }
    }

    // What kernel code is made of.

    fn op(&mut self, core: usize, op: Op) {
        if let Some(core) = self.cores.get_mut(core) {
            core.ops.push_back(op);
        }
    }

    fn read(&mut self, core: usize, variable: Variable, value: u32) {
        self.op(core, Op::Data { variable, write: false, value });
    }

    fn write(&mut self, core: usize, variable: Variable, value: u32) {
        self.op(core, Op::Data { variable, write: true, value });
    }

    fn enter(&mut self, core: usize, function: Function) {
        self.op(core, Op::Function(function, true));
    }

    fn leave(&mut self, core: usize, function: Function) {
        self.op(core, Op::Function(function, false));
    }

    fn effect(&mut self, core: usize, effect: Effect) {
        let note = self.note(core, effect);
        self.op(core, Op::Effect(effect, note));
    }

    /// An effect that is decided when it happens.
    fn happens(&mut self, core: usize, time: i64, effect: Effect) {
        self.observer.effect(core, time, effect);
        if let Some(note) = self.note(core, effect) {
            self.keep(|ledger| ledger.note(core, time, note));
        }
    }

    /// Keeps the record of causes, if there is one.
    fn keep(&mut self, change: impl FnOnce(&mut Ledger)) {
        if let (Some(ledger), Some(take)) = (&mut self.ledger, &mut self.causes) {
            change(ledger);
            ledger.take().iter().for_each(take);
        }
    }

    fn pause(&mut self, core: usize, time: i64) {
        if time > 0 {
            self.op(core, Op::Pause(time));
        }
    }
}
