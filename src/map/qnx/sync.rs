//! Rules for mutexes, semaphores etc. (Q26). Only contended operations enter the kernel, so the trace is
//! incomplete: it has no times for which an object was held, and no values of counters.

use super::call::{OpenCall, Outcome, number};
use super::entities::Named;
use super::mapper::QnxMapper;
use super::state::Phase;
use crate::btf::{Action, EntityType, NameId, Note};
use crate::qnx::{Event, Version};

/// What a kernel call does to a synchronisation object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Take,
    Give,
    /// Wakes others, takes nothing.
    Wake,
    None,
}

fn operation(call: u16, version: Version) -> Operation {
    match call {
        number::SYNC_MUTEX_LOCK | number::SYNC_SEM_WAIT => Operation::Take,
        number::SYNC_RWLOCK if version >= Version::V8_0 => Operation::Take,
        number::SYNC_MUTEX_UNLOCK | number::SYNC_SEM_POST => Operation::Give,
        number::SYNC_CONDVAR_SIGNAL => Operation::Wake,
        _ => Operation::None,
    }
}

impl QnxMapper {
    /// `S_<pid>_<address>`.
    pub(super) fn sync_name(&mut self, pid: u32, address: u64) -> NameId {
        self.named(Named::Sync, (pid, address), |_| format!("S_{pid}_{address:x}"))
    }

    fn sync_event(&mut self, t: usize, address: u64, action: Action, note: Note) {
        if self.threads[t].exported && self.threads[t].phase == Phase::Running {
            let name = self.sync_name(self.threads[t].pid, address);
            let actor = self.actor(t);
            self.emit(actor, EntityType::Semaphore, (name, 0), action, note);
        }
    }

    /// Rule Q26: a thread entered a kernel call.
    pub(super) fn sync_call(&mut self, t: usize, call: &OpenCall) {
        let Some(object) = call.first else { return };
        match operation(call.number, self.settings.flavour.version) {
            Operation::Take => {
                self.sync_event(t, object, Action::RequestSemaphore, self.entities.notes.partial);
            }
            Operation::Give => {
                self.causes.object(self.threads[t].pid, object, self.turn);
                self.sync_event(t, object, Action::Released, Note::None);
            }
            Operation::Wake => self.causes.object(self.threads[t].pid, object, self.turn),
            Operation::None => {}
        }
    }

    pub(super) fn sync_exit(&mut self, t: usize, call: &OpenCall, outcome: Outcome) {
        let takes = operation(call.number, self.settings.flavour.version) == Operation::Take;
        if let Some(object) = call.first.filter(|_| takes && outcome == Outcome::Returned(Some(0))) {
            self.sync_event(t, object, Action::Assigned, Note::None);
        }
    }

    /// A thread is about to block: finds what it waits for.
    pub(super) fn waits(&mut self, t: usize, event: &Event<'_>) {
        let (state, _) = self.state(event);
        let taken = self.threads[t].call.as_ref().and_then(|call| Some((call.number, call.first?)));
        match (self.entities.names.text(state), taken) {
            ("MUTEX" | "SEM" | "RWLOCK_READ" | "RWLOCK_WRITE", Some((number, address)))
                if operation(number, self.settings.flavour.version) == Operation::Take =>
            {
                self.sync_event(t, address, Action::Waiting, Note::None);
            }
            ("RECEIVE", _) if self.threads[t].exported => {
                let event = self.message_event(self.threads[t].pid);
                let actor = self.actor(t);
                self.emit(actor, EntityType::OsEvent, (event, 0), Action::WaitEvent, Note::None);
            }
            _ => {}
        }
    }
}
