//! Table `kernel_call`, and the arguments of the call that is open.

use crate::btf::NameId;
use crate::map::kernel::calls::Outcome;
use crate::map::kernel::mapper::KernelMapper;
use crate::map::kernel::state::Actor;
use crate::map::kernel::sync::call;
use crate::map::kernel::words;
use crate::qnx::{Event, Flavour};
use crate::schema::KernelCallRow;

/// A kernel call that is open.
#[derive(Debug, Clone)]
pub(in crate::map::kernel) struct OpenCall {
    pub number: u16,
    pub name: NameId,
    cpu: usize,
    enter: i64,
    /// Its runnable in BTF, while that is open.
    pub runnable: Option<Actor>,
    /// First argument; an address for what synchronises.
    pub first: u64,
    /// The mutex that a wait for a condition gives back.
    pub second: Option<u64>,
    /// Owner word of the mutex.
    pub owner: Option<u32>,
}

impl OpenCall {
    pub fn new(
        flavour: Flavour,
        event: &Event<'_>,
        (name, runnable): (NameId, Option<Actor>),
        (cpu, enter): (usize, i64),
    ) -> Self {
        let number = event.event;
        let synchronises = (call::SYNC_RWLOCK..=call::SYNC_BARRIER_WAIT).contains(&number);
        let first = words::first(flavour, event, synchronises);
        let argument = |name| words::argument(flavour, event, name);
        let (second, owner) = match number {
            call::SYNC_MUTEX_LOCK => (None, argument("owner")),
            call::SYNC_CONDVAR_WAIT => (argument("mutex_p"), argument("mutex->owner")),
            _ => (None, None),
        };
        Self { number, name, cpu, enter, runnable, first, second, owner: owner.map(|owner| owner as u32) }
    }
}

impl KernelMapper {
    pub(in crate::map::kernel) fn write_call(&mut self, t: usize, call: &OpenCall, outcome: Outcome) {
        let exit = (outcome != Outcome::Cut).then_some(self.now);
        let thread = &self.threads[t];
        self.rows.calls.push(KernelCallRow {
            pid: i64::from(thread.pid),
            tid: i64::from(thread.tid),
            incarnation: thread.incarnation,
            process: thread.process.map(|p| self.names.name(p)),
            task: self.names.name(thread.name),
            cpu: call.cpu as i64,
            call: self.names.name(call.name),
            number: i64::from(call.number),
            enter_at: call.enter,
            exit_at: exit,
            duration: exit.map(|exit| exit - call.enter),
            result: match outcome {
                Outcome::Returned(result) => Some(result),
                Outcome::Error(_) => Some(-1),
                _ => None,
            },
            errno: match outcome {
                Outcome::Error(errno) => Some(errno),
                _ => None,
            },
            outcome: match outcome {
                Outcome::Returned(_) => "returned",
                Outcome::Error(_) => "error",
                Outcome::Interrupted => "interrupted",
                Outcome::Restarted => "restarted",
                Outcome::ThreadEnd => "thread_end",
                Outcome::Cut => "cut",
            }
            .into(),
            object: call.first,
        });
    }
}
