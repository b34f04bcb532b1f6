//! Rules for mutexes, semaphores and the like. Only operations that are contended enter the kernel, so what is here is part
//! of the truth: never times for which something was held, never values of counters.

use super::calls::Outcome;
use super::emit::Named;
use super::mapper::KernelMapper;
use super::native::OpenCall;
use super::state::Phase;
use crate::btf::{Action, EntityType, NameId, Note};
use crate::qnx::{Event, Version};

/// Numbers of kernel calls; the same in all versions, where they exist.
pub(super) mod call {
    pub const MSG_SENDV: u16 = 11;
    pub const MSG_SENDVNC: u16 = 12;
    pub const MSG_RECEIVEV: u16 = 14;
    pub const MSG_RECEIVEPULSEV: u16 = 24;
    pub const SIGNAL_KILL: u16 = 26;
    /// Since 7.0.
    pub const SIGNAL_KILL_SIGVAL: u16 = 33;
    pub const THREAD_JOIN: u16 = 50;
    /// Since 8.0.
    pub const SYNC_RWLOCK: u16 = 77;
    pub const SYNC_MUTEX_LOCK: u16 = 80;
    pub const SYNC_MUTEX_UNLOCK: u16 = 81;
    pub const SYNC_CONDVAR_WAIT: u16 = 82;
    pub const SYNC_CONDVAR_SIGNAL: u16 = 83;
    pub const SYNC_SEM_POST: u16 = 84;
    pub const SYNC_SEM_WAIT: u16 = 85;
    /// Since 8.0; a call that says that a mutex is alive again before.
    pub const SYNC_BARRIER_WAIT: u16 = 87;
}

/// What a kernel call does to a synchronisation object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Take,
    Give,
    /// Wakes others, takes nothing.
    Wake,
    None,
}

fn operation(number: u16, version: Version) -> Operation {
    match number {
        call::SYNC_MUTEX_LOCK | call::SYNC_SEM_WAIT => Operation::Take,
        call::SYNC_RWLOCK if version >= Version::V8_0 => Operation::Take,
        call::SYNC_MUTEX_UNLOCK | call::SYNC_SEM_POST => Operation::Give,
        call::SYNC_CONDVAR_SIGNAL => Operation::Wake,
        _ => Operation::None,
    }
}

impl KernelMapper {
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

    /// A kernel call of a thread was entered.
    pub(super) fn sync_call(&mut self, t: usize, call: &OpenCall) {
        match operation(call.number, self.setup.flavour.version) {
            Operation::Take => {
                self.sync_event(t, call.first, Action::RequestSemaphore, self.notes.partial);
            }
            Operation::Give => {
                self.causes.object(self.threads[t].pid, call.first, self.turn);
                self.sync_event(t, call.first, Action::Released, Note::None);
            }
            Operation::Wake => self.causes.object(self.threads[t].pid, call.first, self.turn),
            Operation::None => {}
        }
    }

    /// A kernel call of a thread ended.
    pub(super) fn sync_exit(&mut self, t: usize, call: &OpenCall, outcome: Outcome) {
        let takes = operation(call.number, self.setup.flavour.version) == Operation::Take;
        if takes && outcome == Outcome::Returned(0) {
            self.sync_event(t, call.first, Action::Assigned, Note::None);
        }
    }

    /// A thread is about to block: what it waits for.
    pub(super) fn waits(&mut self, t: usize, event: &Event<'_>) {
        let (state, _) = self.state(event);
        let taken = self.threads[t].call.as_ref().map(|call| (call.number, call.first));
        match (self.names.text(state), taken) {
            ("MUTEX" | "SEM" | "RWLOCK_READ" | "RWLOCK_WRITE", Some((number, address)))
                if operation(number, self.setup.flavour.version) == Operation::Take =>
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
