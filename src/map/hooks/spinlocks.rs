//! Spinlocks that processes get and give back, as events of semaphores. Not the waiting for them, of which
//! kernels with hook variables say nothing.

use crate::btf::{Action, Actor, EntityType, Event, NameId, Note};
use crate::map::Output;
use std::collections::BTreeMap;

/// Who has which spinlock.
#[derive(Debug, Default)]
pub(super) struct Spinlocks {
    /// The instance that has it, and the core that it got it on; `None`: it is free. What is not in it, is
    /// not known.
    owners: BTreeMap<NameId, Option<(Actor, NameId)>>,
    /// Steps that do not follow from those before.
    pub unexpected: u64,
}

impl Spinlocks {
    /// Rule W11: a process gets a spinlock. BTF wants it to have asked before.
    pub fn lock(&mut self, lock: NameId, by: (Actor, NameId), time: i64, out: &mut Vec<Output>) {
        if let Some(Some((owner, _))) = self.owners.insert(lock, Some(by)) {
            // That it was given back was lost.
            self.unexpected += 1;
            steps(lock, owner, time, GIVEN_BACK, Output::Closing, out);
        }
        steps(lock, by.0, time, GOT, Output::Event, out);
    }

    /// Rule W11: a process gives a spinlock back. If it is not known who has it, it does; since when is not
    /// known.
    pub fn unlock(&mut self, lock: NameId, by: (Actor, NameId), time: i64, out: &mut Vec<Output>) {
        match self.owners.insert(lock, None) {
            Some(Some((owner, _))) if owner == by.0 => {}
            Some(Some((owner, _))) => {
                self.unexpected += 1;
                steps(lock, owner, time, GIVEN_BACK, Output::Closing, out);
                steps(lock, by.0, time, GOT, Output::Closing, out);
            }
            Some(None) => {
                self.unexpected += 1;
                steps(lock, by.0, time, GOT, Output::Closing, out);
            }
            None => steps(lock, by.0, time, GOT, Output::Closing, out),
        }
        steps(lock, by.0, time, GIVEN_BACK, Output::Event, out);
    }

    /// Nothing is known in a gap of a core: what its processes have, they may give back.
    pub fn forget(&mut self, core: NameId, time: i64, out: &mut Vec<Output>) {
        self.owners.retain(|lock, owner| match owner {
            Some((actor, of)) if *of == core => {
                steps(*lock, *actor, time, GIVEN_BACK, Output::Closing, out);
                false
            }
            _ => true,
        });
        // A lock that is free may have been taken meanwhile.
        self.owners.retain(|_, owner| owner.is_some());
    }
}

/// What happens when a process gets a spinlock: by itself, or by the lock (BTF 2.1.5, spinlocks).
const GOT: [(Action, bool); 3] =
    [(Action::RequestSemaphore, true), (Action::Lock, false), (Action::Assigned, true)];
const GIVEN_BACK: [(Action, bool); 2] = [(Action::Released, true), (Action::Unlock, false)];

fn steps<const N: usize>(
    lock: NameId,
    actor: Actor,
    time: i64,
    actions: [(Action, bool); N],
    output: fn(Event) -> Output,
    out: &mut Vec<Output>,
) {
    for (action, is_of_process) in actions {
        let source = if is_of_process { actor } else { (lock, 0) };
        out.push(output(Event::new(time, source, EntityType::Semaphore, (lock, 0), action, Note::None)));
    }
}
