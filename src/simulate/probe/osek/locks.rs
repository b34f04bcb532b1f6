//! Locks as OSEK resources. Who waits for another core asks again and again, as listing 4.1 of the thesis
//! does: `while (GetResource(R) != E_OK) {}`. Not which locks there are (see `numbers`).
//!
//! A kernel that spins polls from its first look on; polling shows in this loop from the second refusal on.
//! So the first two calls of a loop are at one instant. After that, each look of the kernel is one access.

use super::variables::{self, NO_TASK, Variable};
use super::{At, Translation};
use crate::simulate::kernel::NONE;
use crate::simulate::kernel::access::{Function, Service};
use crate::simulate::probe::writer::Writer;
use std::io::Write;

/// E_OS_ACCESS: "attempt to get a resource which is already occupied" (OSEK OS 2.2.3, section 13.4.3.1).
const REFUSED: u32 = 1;

/// The lockers of all locks, and who waits.
#[derive(Debug)]
pub struct Locks {
    lockers: Vec<u32>,
    /// Where each core is in its loop.
    loops: Vec<Option<Place>>,
}

/// A place in the loop that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the service, which has the error.
    Refused,
    /// Between two calls.
    Outside,
    /// In the service, before it looks at the resource.
    Inside,
}

impl Locks {
    pub fn new(locks: usize, cores: usize) -> Self {
        Self { lockers: vec![NO_TASK; locks], loops: vec![None; cores] }
    }
}

impl Translation<'_> {
    /// The operating system reads who has a lock.
    pub(super) fn look<W: Write>(&mut self, out: &mut Writer<W>, at: At, lock: usize) {
        let locker = self.locks.lockers.get(lock).copied().unwrap_or(NO_TASK);
        self.put(out, at, Variable::ResourceLocker(lock), false, locker);
    }

    /// The process that has the core gets a lock.
    pub(super) fn take<W: Write>(&mut self, out: &mut Writer<W>, at: At, lock: usize) {
        let locker = match self.cores.get(at.0) {
            Some(core) if core.isr != NONE => variables::locker(core.isr),
            Some(core) => core.running.map_or(NO_TASK, |task| task as u32),
            None => return,
        };
        self.set_locker(out, at, lock, locker);
    }

    pub(super) fn give_back<W: Write>(&mut self, out: &mut Writer<W>, at: At, lock: usize) {
        self.set_locker(out, at, lock, NO_TASK);
    }

    fn set_locker<W: Write>(&mut self, out: &mut Writer<W>, at: At, lock: usize, locker: u32) {
        if let Some(of) = self.locks.lockers.get_mut(lock) {
            *of = locker;
        }
        self.put(out, at, Variable::ResourceLocker(lock), true, locker);
    }

    /// An access to the word of a lock: 1 is taken, 0 is free. A free word is read and written at one
    /// instant.
    pub(super) fn word<W: Write>(
        &mut self,
        out: &mut Writer<W>,
        at: At,
        lock: usize,
        write: bool,
        value: u32,
    ) {
        let tries = self.cores.get(at.0).is_some_and(|core| core.service == Service::TryToGetSpinlock);
        match (write, value) {
            (false, 0) => {
                self.begin_last_call(out, at);
                self.look(out, at, lock);
            }
            (false, _) if tries => self.refuse(out, at, lock),
            (false, _) => self.ask_again(out, at, lock),
            (true, 0) => self.give_back(out, at, lock),
            (true, _) => self.take(out, at, lock),
        }
    }

    /// `GetResource` looks at a lock that another process has.
    fn refuse<W: Write>(&mut self, out: &mut Writer<W>, at: At, lock: usize) {
        self.look(out, at, lock);
        self.put(out, at, Variable::LastError(at.0), true, REFUSED);
    }

    /// The next access of the loop that waits.
    fn ask_again<W: Write>(&mut self, out: &mut Writer<W>, at: At, lock: usize) {
        let next = match self.locks.loops.get(at.0).copied().flatten() {
            None => {
                self.refuse(out, at, lock);
                self.leave(out, at);
                self.enter(out, at);
                self.refuse(out, at, lock);
                Place::Refused
            }
            Some(Place::Refused) => {
                self.leave(out, at);
                Place::Outside
            }
            Some(Place::Outside) => {
                self.enter(out, at);
                Place::Inside
            }
            Some(Place::Inside) => {
                self.refuse(out, at, lock);
                Place::Refused
            }
        };
        if let Some(place) = self.locks.loops.get_mut(at.0) {
            *place = Some(next);
        }
    }

    /// The lock is free: the loop comes to the call that gets it.
    fn begin_last_call<W: Write>(&mut self, out: &mut Writer<W>, at: At) {
        let place = self.locks.loops.get_mut(at.0).and_then(Option::take);
        if place == Some(Place::Refused) {
            self.leave(out, at);
        }
        if matches!(place, Some(Place::Refused | Place::Outside)) {
            self.enter(out, at);
        }
    }

    fn enter<W: Write>(&mut self, out: &mut Writer<W>, at: At) {
        self.function(out, at, Function::Service(Service::GetResource), true);
        self.trace_service(out, at, Service::GetResource, true);
    }

    fn leave<W: Write>(&mut self, out: &mut Writer<W>, at: At) {
        self.trace_service(out, at, Service::GetResource, false);
        self.function(out, at, Function::Service(Service::GetResource), false);
    }
}
