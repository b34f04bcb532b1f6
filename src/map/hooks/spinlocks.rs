//! Spinlocks that processes ask for, get and give back, as events of semaphores. Not what becomes of a
//! process while it waits, of which kernels with hook variables say nothing.

use crate::btf::{Action, Actor, EntityType, Event, NameId, Note};
use crate::map::Output;
use std::collections::BTreeMap;

/// Who does something to a spinlock, and on which core.
type By = (Actor, NameId);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Owner {
    /// As at the begin of a recording.
    #[default]
    Unknown,
    Nobody,
    By(By),
}

#[derive(Debug, Default)]
struct Spinlock {
    owner: Owner,
    /// Those that have asked for it and do not have it.
    asked: Vec<By>,
    /// Those of them that found it taken.
    waiting: Vec<By>,
    is_overfull: bool,
}

/// Who has which spinlock.
#[derive(Debug, Default)]
pub(super) struct Spinlocks {
    all: BTreeMap<NameId, Spinlock>,
    /// Steps that do not follow from those before.
    pub unexpected: u64,
}

/// Writes the events of one step.
struct Emit<'a> {
    lock: NameId,
    time: i64,
    out: &'a mut Vec<Output>,
}

impl Spinlocks {
    /// Rule W13: a process asks for a spinlock, and waits for it if another one has it.
    pub fn request(&mut self, lock: NameId, by: By, time: i64, out: &mut Vec<Output>) {
        let (spinlock, mut emit) = (self.all.entry(lock).or_default(), Emit { lock, time, out });
        if spinlock.asked.contains(&by) {
            return;
        }
        spinlock.asked.push(by);
        emit.of(by.0, Action::RequestSemaphore, Output::Event);
        if matches!(spinlock.owner, Owner::By(owner) if owner != by) {
            spinlock.waiting.push(by);
            if !std::mem::replace(&mut spinlock.is_overfull, true) {
                emit.own(Action::Overfull, Output::Event);
            }
            emit.of(by.0, Action::Waiting, Output::Event);
        }
    }

    /// Rule W11: a process gets a spinlock. BTF wants it to have asked before.
    pub fn lock(&mut self, lock: NameId, by: By, time: i64, out: &mut Vec<Output>) {
        let (spinlock, mut emit) = (self.all.entry(lock).or_default(), Emit { lock, time, out });
        if let Owner::By(owner) = spinlock.owner {
            // That it was given back was lost.
            self.unexpected += 1;
            spinlock.give_back(owner.0, &mut emit, Output::Closing);
        }
        spinlock.get(by, &mut emit, Output::Event);
    }

    /// Rule W11: a process gives a spinlock back. If it is not known who has it, it does; since when is not
    /// known.
    pub fn unlock(&mut self, lock: NameId, by: By, time: i64, out: &mut Vec<Output>) {
        let (spinlock, mut emit) = (self.all.entry(lock).or_default(), Emit { lock, time, out });
        match spinlock.owner {
            Owner::By(owner) if owner.0 == by.0 => {}
            Owner::By(owner) => {
                self.unexpected += 1;
                spinlock.give_back(owner.0, &mut emit, Output::Closing);
                spinlock.get(by, &mut emit, Output::Closing);
            }
            Owner::Nobody => {
                self.unexpected += 1;
                spinlock.get(by, &mut emit, Output::Closing);
            }
            Owner::Unknown => spinlock.get(by, &mut emit, Output::Closing),
        }
        spinlock.give_back(by.0, &mut emit, Output::Event);
    }

    /// An instance ends: it asks for nothing any more.
    pub fn end(&mut self, actor: Actor, time: i64, out: &mut Vec<Output>) {
        for (lock, spinlock) in &mut self.all {
            spinlock.stop_asking(|(by, _)| *by == actor, &mut Emit { lock: *lock, time, out });
        }
    }

    /// The core on which it was got, if it is known who has it.
    pub fn core_of(&self, lock: NameId) -> Option<NameId> {
        match self.all.get(&lock)?.owner {
            Owner::By((_, core)) => Some(core),
            Owner::Nobody | Owner::Unknown => None,
        }
    }

    /// Nothing is known in a gap of a core: what its processes have, they may give back; a lock that is free
    /// may be taken.
    pub fn forget(&mut self, core: NameId, time: i64, out: &mut Vec<Output>) {
        for (lock, spinlock) in &mut self.all {
            let mut emit = Emit { lock: *lock, time, out };
            match spinlock.owner {
                Owner::By((actor, of)) if of == core => {
                    spinlock.give_back(actor, &mut emit, Output::Closing);
                    spinlock.owner = Owner::Unknown;
                }
                Owner::By(_) => {}
                Owner::Nobody | Owner::Unknown => spinlock.owner = Owner::Unknown,
            }
            spinlock.stop_asking(|(_, of)| *of == core, &mut emit);
        }
    }
}

impl Spinlock {
    /// Some wait no longer; if nobody does, the spinlock has its owner alone.
    fn stop_asking(&mut self, is_one: impl Fn(&By) -> bool, emit: &mut Emit<'_>) {
        self.asked.retain(|by| !is_one(by));
        self.waiting.retain(|by| !is_one(by));
        if self.is_overfull && self.waiting.is_empty() {
            emit.own(Action::Full, Output::Closing);
            self.is_overfull = false;
        }
    }

    fn get(&mut self, by: By, emit: &mut Emit<'_>, output: fn(Event) -> Output) {
        let has_asked = self.asked.contains(&by);
        if !has_asked {
            emit.of(by.0, Action::RequestSemaphore, output);
        }
        emit.own(Action::Lock, output);
        emit.of(by.0, Action::Assigned, output);
        self.owner = Owner::By(by);
        self.asked.retain(|other| *other != by);
        self.waiting.retain(|other| *other != by);
        if !self.waiting.is_empty() {
            emit.own(Action::Overfull, output);
            self.is_overfull = true;
        }
    }

    fn give_back(&mut self, by: Actor, emit: &mut Emit<'_>, output: fn(Event) -> Output) {
        emit.of(by, Action::Released, output);
        // An overfull semaphore has no edge `unlock`.
        if std::mem::take(&mut self.is_overfull) {
            emit.own(Action::Full, output);
        }
        emit.own(Action::Unlock, output);
        self.owner = Owner::Nobody;
    }
}

impl Emit<'_> {
    /// By a process, or code outside of all of them.
    fn of(&mut self, actor: Actor, action: Action, output: fn(Event) -> Output) {
        let lock = (self.lock, 0);
        self.out.push(output(Event::new(self.time, actor, EntityType::Semaphore, lock, action, Note::None)));
    }

    /// By the spinlock itself (BTF 2.1.5, spinlocks).
    fn own(&mut self, action: Action, output: fn(Event) -> Output) {
        self.of((self.lock, 0), action, output);
    }
}
