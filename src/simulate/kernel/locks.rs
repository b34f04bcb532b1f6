//! The words of locks, which cores take one after the other: who has them, who asks in vain, polls and
//! parks. Not the services that take them (see `resources`, `spinlocks`).

use super::access::{Recorder, Variable};
use super::effect::{Change, Effect, Lock, Observer, Process};
use super::layout::{Layout, layout};
use super::{Decision, Kernel, Op};
use crate::simulate::model::Model;

/// What a process asks for in vain. A process polls from the second refusal on, if it has had its core
/// ever since the first one; one that spins polls at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asks {
    refused: Option<Lock>,
    polling: Option<Lock>,
    /// It lost its core while it polled.
    parks: bool,
}

impl Asks {
    /// What it polls for, or parks.
    pub fn lock(&self) -> Option<Lock> {
        self.polling
    }

    /// Whether it lost its core while it polled.
    pub fn is_parked(&self) -> bool {
        self.parks
    }

    /// Whether it polls.
    pub fn polls(&self) -> bool {
        self.polling.is_some()
    }

    /// It loses its core.
    pub fn leaves_core(&mut self) {
        self.refused = None;
        self.parks = self.polling.is_some();
    }

    /// It has a core again. Whether it goes on to poll.
    pub fn gets_core(&mut self) -> bool {
        std::mem::take(&mut self.parks) && self.polling.is_some()
    }

    /// It calls another service.
    pub fn forget_refusal(&mut self) {
        self.refused = None;
    }
}

/// A lock that is asked for by a loop without interrupts.
#[derive(Debug, Clone, Copy)]
pub struct Spin {
    pub word: usize,
    /// The lock of the model; none for those of the kernel.
    pub lock: Option<Lock>,
    pub asked: bool,
}

/// A lock that is given back.
#[derive(Debug, Clone, Copy)]
pub struct Free {
    pub word: usize,
    pub lock: Option<Lock>,
}

/// The words of locks, and the layout of resources.
#[derive(Debug)]
pub struct Locks {
    taken: Vec<bool>,
    /// Who has each lock of the model: resources, then spinlocks.
    pub owners: Vec<Option<Process>>,
    /// Who has asked for each in vain, and still does.
    waiters: Vec<Vec<Process>>,
    resources: Vec<Layout>,
    shared: usize,
    spinlocks: usize,
}

impl Locks {
    /// Those of a model, free.
    pub fn new(model: &Model) -> Self {
        let resources = layout(model);
        let shared = resources.iter().filter(|resource| resource.word.is_some()).count();
        let words = shared + model.spinlocks.len() + model.cores.len();
        let locks = model.resources.len() + model.spinlocks.len();
        Self {
            taken: vec![false; words],
            owners: vec![None; locks],
            waiters: vec![Vec::new(); locks],
            resources,
            shared,
            spinlocks: model.spinlocks.len(),
        }
    }

    /// Whether a word is taken.
    pub fn is_taken(&self, word: usize) -> bool {
        self.taken.get(word) == Some(&true)
    }

    /// The word of a spinlock.
    pub fn word_of_spinlock(&self, spinlock: usize) -> usize {
        self.shared + spinlock
    }

    /// The word that guards the calls to a core; the last core has the first one.
    pub fn word_of_core(&self, core: usize, cores: usize) -> usize {
        self.shared + self.spinlocks + cores - 1 - core
    }

    /// Where a resource is used.
    pub fn layout(&self, resource: usize) -> Option<&Layout> {
        self.resources.get(resource)
    }

    /// The place of a lock of the model among all of them.
    pub fn place(&self, lock: Lock) -> usize {
        match lock {
            Lock::Resource(resource) => resource,
            Lock::Spinlock(spinlock) => self.resources.len() + spinlock,
        }
    }
}

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// The loop that waits for a word.
    pub(super) fn spin(&mut self, core: usize, spin: Spin) {
        let process = self.acting(core);
        if self.locks.is_taken(spin.word) {
            if let Some(lock) = spin.lock.filter(|_| !spin.asked) {
                self.refuse(core, process, lock, true);
            }
            if let Some(state) = self.cores.get_mut(core) {
                state.ops.push_front(Op::Decide(Decision::Spin(Spin { asked: true, ..spin })));
            }
            if !spin.asked {
                self.look_for_standstill(core);
            }
            self.record(core, Variable::Spinlock(spin.word as u32), false, 1);
            self.sleep_in_loop(core);
        } else {
            self.take_word(core, spin.word, spin.lock, process);
        }
    }

    /// A free word is read and written at once.
    pub(super) fn take_word(&mut self, core: usize, word: usize, lock: Option<Lock>, process: Process) {
        let time = self.time(core);
        if let Some(taken) = self.locks.taken.get_mut(word) {
            *taken = true;
        }
        if let Some(lock) = lock {
            let place = self.locks.place(lock);
            self.set_owner(lock, Some(process));
            let waiters = self.locks.waiters.get_mut(place);
            let (waited, others) = waiters.map_or((false, false), |waiters| {
                let before = waiters.len();
                waiters.retain(|waiter| *waiter != process);
                (waiters.len() < before, !waiters.is_empty())
            });
            let polls = self.asks(core, process).is_some_and(|asks| {
                asks.refused = None;
                asks.polling.take().is_some()
            });
            let effect = Effect::Lock { by: process, lock, waited, polls, others };
            self.happens(core, time, effect);
            if let Some(note) = self.note_asks(process) {
                self.keep(|ledger| ledger.note(core, time, note));
            }
        }
        let variable = Variable::Spinlock(word as u32);
        self.recorder.data(core, time, variable, false, 0);
        self.record(core, variable, true, 1);
    }

    /// A process is refused a lock. Spinning is polling at once.
    pub(super) fn refuse(&mut self, core: usize, process: Process, lock: Lock, spins: bool) {
        let (place, time) = (self.locks.place(lock), self.time(core));
        let Some(asks) = self.asks(core, process) else { return };
        if asks.polling == Some(lock) {
            return;
        }
        if !spins && asks.refused != Some(lock) {
            asks.refused = Some(lock);
            return;
        }
        asks.polling = Some(lock);
        let Some(waiters) = self.locks.waiters.get_mut(place) else { return };
        if waiters.contains(&process) {
            self.happens(core, time, Effect::Change(process, Change::Poll));
        } else {
            waiters.push(process);
            self.happens(core, time, Effect::AskInVain(process, lock));
        }
    }

    /// A word is given back. Processes that park for it are ready from now on.
    pub(super) fn free(&mut self, core: usize, free: Free) {
        let time = self.time(core);
        if let Some(taken) = self.locks.taken.get_mut(free.word) {
            *taken = false;
        }
        if let Some(lock) = free.lock {
            let place = self.locks.place(lock);
            let owner = self.locks.owners.get_mut(place).and_then(Option::take).unwrap_or(Process::Nobody);
            let waiters = self.locks.waiters.get(place).cloned().unwrap_or_default();
            self.happens(core, time, Effect::Unlock(owner, lock, !waiters.is_empty()));
            for waiter in waiters {
                let of_core = self.core_of(waiter);
                let Some(asks) = self.asks(of_core, waiter) else { continue };
                if std::mem::take(&mut asks.parks) {
                    asks.polling = None;
                    self.happens(of_core, time, Effect::Change(waiter, Change::ReleaseParking));
                }
            }
        }
        self.record(core, Variable::Spinlock(free.word as u32), true, 0);
        for state in &mut self.cores {
            if matches!(state.ops.front(), Some(Op::Decide(Decision::Spin(spin))) if spin.word == free.word) {
                state.time = state.time.min(time.max(state.since));
            }
        }
    }

    /// A loop that waits for another core. If its accesses take no time, it goes on when the other core
    /// is done.
    pub(super) fn sleep_in_loop(&mut self, core: usize) {
        if self.os().access == 0
            && let Some(state) = self.cores.get_mut(core)
        {
            state.since = state.time;
            state.time = i64::MAX;
        }
    }

    pub(super) fn core_of(&self, process: Process) -> usize {
        match process {
            Process::Task(task) => self.tasks.get(task).map_or(0, |task| task.core),
            Process::Handler(handler) => self.handlers.core(handler),
            Process::Nobody => 0,
        }
    }

    /// What a process asks for.
    pub(super) fn asks(&mut self, core: usize, process: Process) -> Option<&mut Asks> {
        match process {
            Process::Task(task) => self.tasks.get_mut(task).map(|task| &mut task.asks),
            Process::Handler(handler) => {
                let frames = &mut self.cores.get_mut(core)?.frames;
                frames.iter_mut().rev().find(|frame| frame.handler == handler).map(|frame| &mut frame.asks)
            }
            Process::Nobody => None,
        }
    }

    pub(super) fn set_owner(&mut self, lock: Lock, owner: Option<Process>) {
        let place = self.locks.place(lock);
        if let Some(of) = self.locks.owners.get_mut(place) {
            *of = owner;
        }
    }

    pub(super) fn time(&self, core: usize) -> i64 {
        self.cores.get(core).map_or(0, |core| core.time)
    }

    /// An access that happens now.
    pub(super) fn record(&mut self, core: usize, variable: Variable, write: bool, value: u32) {
        let time = self.time(core);
        self.recorder.data(core, time, variable, write, value);
        self.pass(core, self.os().access);
    }
}
