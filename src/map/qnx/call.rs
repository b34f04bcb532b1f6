//! An open kernel call, how it can end, and the numbers of calls. Not the rules.

use super::entities::Actor;
use super::words;
use crate::btf::NameId;
use crate::qnx::{Event, Flavour, Status};
use serde::{Deserialize, Serialize};

/// Numbers of kernel calls; the same in all versions that have them.
pub(super) mod number {
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
    /// Since 8.0; before, a call that revives a mutex.
    pub const SYNC_BARRIER_WAIT: u16 = 87;
}

/// How a kernel call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// With its result; `None` where a listing prints what cannot be read.
    Returned(Option<i64>),
    Error(i64),
    Interrupted,
    /// The thread entered the same call again: the kernel had restarted it.
    Restarted,
    ThreadEnd,
    /// Its end was not recorded.
    Cut,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenCall {
    pub number: u16,
    pub name: NameId,
    pub cpu: usize,
    pub enter: i64,
    /// Its runnable in BTF, while that is open.
    pub runnable: Option<Actor>,
    /// First argument; an address for synchronisation calls. `None` where a listing prints what cannot be
    /// read.
    pub first: Option<u64>,
    /// The mutex that a wait for a condition releases.
    pub second: Option<u64>,
    pub owner: Option<u32>,
}

impl OpenCall {
    pub fn new(
        flavour: Flavour,
        event: &Event<'_>,
        (name, runnable): (NameId, Option<Actor>),
        (cpu, enter): (usize, i64),
    ) -> Self {
        let synchronises = (number::SYNC_RWLOCK..=number::SYNC_BARRIER_WAIT).contains(&event.event);
        let is_read = event.status != Status::Unread;
        let first = is_read.then(|| words::first(flavour, event, synchronises));
        let argument = |name| words::argument(flavour, event, name);
        let (second, owner) = match event.event {
            number::SYNC_MUTEX_LOCK => (None, argument("owner")),
            number::SYNC_CONDVAR_WAIT => (argument("mutex_p"), argument("mutex->owner")),
            _ => (None, None),
        };
        let number = event.event;
        Self { number, name, cpu, enter, runnable, first, second, owner: owner.map(|owner| owner as u32) }
    }
}
