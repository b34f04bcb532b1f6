//! The services for AUTOSAR spinlocks. The order of accesses is that of ERIKA. Not the words of locks,
//! nor who waits for them (see `locks`).

use super::access::{Function, Recorder, Service, Variable};
use super::effect::{Lock, Observer, Process};
use super::locks::{Free, Spin};
use super::ready::NONE;
use super::{Decision, Kernel, Op};

impl<R: Recorder, O: Observer> Kernel<'_, R, O> {
    /// The word of the spinlock that a core took last.
    pub(super) fn last_spinlock(&self, core: usize) -> u32 {
        let last = self.cores.get(core).and_then(|core| core.spinlocks.last());
        last.map_or(NONE, |spinlock| self.locks.word_of_spinlock(*spinlock) as u32)
    }

    /// The checks that `GetSpinlock` and `TryToGetSpinlock` begin with.
    fn ask_for_spinlock(&mut self, core: usize, spinlock: usize, service: Service) {
        let word = self.locks.word_of_spinlock(spinlock) as u32;
        let (nesting, last) = (self.nesting(core), self.last_spinlock(core));
        self.enter(core, Function::Service(service));
        self.enter_service(core, service);
        self.read(core, Variable::NestingLevel, nesting);
        self.read_running(core);
        self.op(core, Op::Decide(Decision::ReadLocker { word, spinlock }));
        self.read(core, Variable::LastSpinlock(core as u32), last);
    }

    /// `GetSpinlock`.
    pub(super) fn get_spinlock(&mut self, core: usize, spinlock: usize) {
        self.ask_for_spinlock(core, spinlock, Service::GetSpinlock);
        let word = self.locks.word_of_spinlock(spinlock);
        let spin = Spin { word, lock: Some(Lock::Spinlock(spinlock)), asked: false };
        self.op(core, Op::Decide(Decision::Spin(spin)));
        self.own_spinlock(core, spinlock);
        let leaving = self.leaving(Service::GetSpinlock);
        self.append(core, leaving);
    }

    /// What is written when a core has a spinlock.
    fn own_spinlock(&mut self, core: usize, spinlock: usize) {
        let word = self.locks.word_of_spinlock(spinlock) as u32;
        let below = self.last_spinlock(core);
        let locker = match self.acting(core) {
            Process::Task(task) => self.id(task),
            Process::Handler(handler) => handler as u32,
            Process::Nobody => NONE,
        };
        if let Some(core) = self.cores.get_mut(core) {
            core.spinlocks.push(spinlock);
        }
        self.read(core, Variable::LastSpinlock(core as u32), below);
        self.write(core, Variable::SpinlockBelow(word), below);
        self.write(core, Variable::LastSpinlock(core as u32), word);
        self.write(core, Variable::SpinlockLockerCore(word), core as u32);
        self.write(core, Variable::SpinlockLocker(word), locker);
    }

    /// `TryToGetSpinlock`, again and again until it has the lock.
    pub(super) fn try_to_get_spinlock(&mut self, core: usize, spinlock: usize, every: i64) {
        self.ask_for_spinlock(core, spinlock, Service::TryToGetSpinlock);
        self.op(core, Op::Decide(Decision::Try { spinlock, every }));
    }

    /// The decision of `TryToGetSpinlock`.
    pub(super) fn try_lock(&mut self, core: usize, spinlock: usize, every: i64) {
        let word = self.locks.word_of_spinlock(spinlock);
        let lock = Lock::Spinlock(spinlock);
        let process = self.acting(core);
        if self.locks.is_taken(word) {
            self.refuse(core, process, lock, false);
            self.record(core, Variable::Spinlock(word as u32), false, 1);
            let leaving = self.leaving(Service::TryToGetSpinlock);
            self.append(core, leaving);
            self.try_again(core, every);
        } else {
            self.take_word(core, word, Some(lock), process);
            self.own_spinlock(core, spinlock);
            let leaving = self.leaving(Service::TryToGetSpinlock);
            self.append(core, leaving);
        }
    }

    /// `ReleaseSpinlock`.
    pub(super) fn release_spinlock(&mut self, core: usize, spinlock: usize) {
        let word = self.locks.word_of_spinlock(spinlock);
        let (nesting, last) = (self.nesting(core), self.last_spinlock(core));
        let locker = match self.acting(core) {
            Process::Task(task) => self.id(task),
            Process::Handler(handler) => handler as u32,
            Process::Nobody => NONE,
        };
        if let Some(core) = self.cores.get_mut(core) {
            core.spinlocks.pop();
        }
        let below = self.last_spinlock(core);
        let number = word as u32;
        self.enter(core, Function::Service(Service::ReleaseSpinlock));
        self.enter_service(core, Service::ReleaseSpinlock);
        self.read(core, Variable::NestingLevel, nesting);
        self.read_running(core);
        self.read(core, Variable::SpinlockLockerCore(number), core as u32);
        self.read(core, Variable::SpinlockLocker(number), locker);
        self.read(core, Variable::LastSpinlock(core as u32), last);
        self.read(core, Variable::SpinlockBelow(number), below);
        self.write(core, Variable::LastSpinlock(core as u32), below);
        self.write(core, Variable::SpinlockLockerCore(number), NONE);
        self.write(core, Variable::SpinlockLocker(number), NONE);
        self.op(core, Op::Decide(Decision::Free(Free { word, lock: Some(Lock::Spinlock(spinlock)) })));
        let leaving = self.leaving(Service::ReleaseSpinlock);
        self.append(core, leaving);
    }

    /// The core whose process has a spinlock.
    pub(super) fn read_locker(&mut self, core: usize, word: u32, spinlock: usize) {
        let place = self.locks.place(Lock::Spinlock(spinlock));
        let owner = self.locks.owners.get(place).copied().flatten();
        let of = owner.map_or(NONE, |owner| self.core_of(owner) as u32);
        self.record(core, Variable::SpinlockLockerCore(word), false, of);
    }
}
