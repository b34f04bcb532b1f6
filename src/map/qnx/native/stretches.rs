//! Table `kernel_state`: spans of one state of a thread, with what it waits for.

use crate::btf::NameId;
use crate::map::qnx::call::number;
use crate::map::qnx::dump::thread;
use crate::map::qnx::entities::Named;
use crate::map::qnx::mapper::QnxMapper;
use crate::map::qnx::state::Stretch;
use crate::map::qnx::words::{self, Policy};
use crate::qnx::Event;
use crate::schema::KernelStateRow;

/// What a thread blocks on.
#[derive(Debug, Default)]
struct Object {
    name: Option<NameId>,
    address: Option<u64>,
    by: Option<(u32, Option<u32>)>,
}

impl QnxMapper {
    /// A thread enters the state of an event.
    pub(in crate::map::qnx) fn begin_event_state(&mut self, t: usize, event: &Event<'_>) {
        let (state, _) = self.state(event);
        let (priority, policy) = words::scheduling(event);
        let cpu = self.threads[t].cpu;
        if let Some(open) = self.threads[t].stretch.as_mut().filter(|s| s.state == state && s.cpu == cpu) {
            // The state is repeated; a wide event may add to it, or begin another span with another priority.
            let same = open.priority.is_none() || priority.is_none() || open.priority == priority;
            if same {
                open.priority = open.priority.or(priority);
                open.policy = open.policy.or(policy);
                return;
            }
        }
        let blocked = !matches!(event.event, thread::RUNNING | thread::READY);
        let object = if blocked { self.object(t, state) } else { Object::default() };
        self.put_state(t, state, blocked, (priority, policy), object);
    }

    /// A thread enters a state without an event: `by` took its CPU.
    pub(in crate::map::qnx) fn begin_state(&mut self, t: usize, state: NameId, by: Option<(u32, u32)>) {
        let by = by.map(|(pid, tid)| (pid, Some(tid)));
        self.put_state(t, state, false, (None, None), Object { by, ..Object::default() });
    }

    fn put_state(
        &mut self,
        t: usize,
        state: NameId,
        blocked: bool,
        (priority, policy): (Option<i64>, Option<Policy>),
        Object { name, address, by }: Object,
    ) {
        self.end_state(t, true);
        let (turn, begin, cut) = (self.turn, self.now, self.dumped || self.in_gap);
        let thread = &mut self.threads[t];
        let cpu = thread.cpu;
        let stretch = Stretch {
            state,
            blocked,
            turn,
            address,
            wake: None,
            by,
            begin,
            cpu,
            priority,
            policy,
            object: name,
            cut,
        };
        thread.stretch = Some(stretch);
    }

    /// Another thread got the CPU of the one that left it last.
    pub(in crate::map::qnx) fn note_successor(&mut self, cpu: usize, t: usize) {
        let Some((left, born)) = self.cores[cpu].vacated.take() else { return };
        let (pid, tid) = self.threads[t].pid_tid();
        let left = &mut self.threads[left];
        if left.born == born
            && left.on.is_none()
            && let Some(stretch) = left.stretch.as_mut().filter(|s| !s.blocked && s.by.is_none())
        {
            stretch.by = Some((pid, Some(tid)));
        }
    }

    /// Rule Q30: what a thread blocks on, as far as its open call tells.
    fn object(&mut self, t: usize, state: NameId) -> Object {
        let thread = &self.threads[t];
        let (pid, server) = (thread.pid, thread.server);
        let Some(open) = thread.call.clone() else { return Object::default() };
        match (self.entities.names.text(state), open.number, open.first) {
            ("MUTEX", number::SYNC_MUTEX_LOCK, Some(mutex)) => self.sync_object(pid, mutex, open.owner),
            ("MUTEX", number::SYNC_CONDVAR_WAIT, Some(condition)) => {
                self.sync_object(pid, open.second.unwrap_or(condition), None)
            }
            ("CONDVAR", number::SYNC_CONDVAR_WAIT, Some(object))
            | ("SEM", number::SYNC_SEM_WAIT, Some(object))
            | ("RWLOCK_READ" | "RWLOCK_WRITE", number::SYNC_RWLOCK, Some(object))
            | ("BARRIER", number::SYNC_BARRIER_WAIT, Some(object)) => self.sync_object(pid, object, None),
            ("RECEIVE", number::MSG_RECEIVEV | number::MSG_RECEIVEPULSEV, Some(channel)) => {
                let name = self.named(Named::Channel, (pid, channel), |_| format!("CH_{pid}_{channel:x}"));
                Object { name: Some(name), ..Object::default() }
            }
            ("SEND" | "REPLY", ..) => match server {
                Some(server) => {
                    let name = Some(self.message_event(server));
                    // The receipt may have been recorded before the state.
                    let receiver = self.messages.receiver_of(self.threads[t].pid_tid());
                    let by = (server != words::NONE).then_some((server, receiver));
                    Object { name, address: None, by }
                }
                None => Object::default(),
            },
            ("JOIN", number::THREAD_JOIN, Some(thread)) => {
                Object { by: Some((pid, Some(thread as u32))), ..Object::default() }
            }
            _ => Object::default(),
        }
    }

    fn sync_object(&mut self, pid: u32, address: u64, owner: Option<u32>) -> Object {
        let name = self.sync_name(pid, address);
        Object { name: Some(name), address: Some(address), by: owner.and_then(|o| self.holder(pid, o)) }
    }

    /// The thread of an owner word, which has only the low bits of the pid. Mostly it is the same process.
    fn holder(&self, pid: u32, owner: u32) -> Option<(u32, Option<u32>)> {
        let (low, tid) = words::holder(owner)?;
        if pid & 0x7fff == low {
            return Some((pid, Some(tid)));
        }
        let mut all = self.threads.keys().filter(|(p, t)| p & 0x7fff == low && *t == tid);
        let found = all.next()?;
        all.next().is_none().then_some((found.0, Some(tid)))
    }

    /// Ends the state of a thread; `whole` is false if it is cut off.
    pub(in crate::map::qnx) fn end_state(&mut self, t: usize, whole: bool) {
        let Some(stretch) = self.threads[t].stretch.take() else { return };
        let thread = &self.threads[t];
        self.rows.states.push(KernelStateRow {
            pid: i64::from(thread.pid),
            tid: i64::from(thread.tid),
            incarnation: thread.incarnation,
            process: thread.process.map(|p| self.entities.names.name(p)),
            task: self.entities.names.name(thread.name),
            state: self.entities.names.name(stretch.state),
            cpu: stretch.cpu.map(|cpu| cpu as i64),
            priority: stretch.priority,
            policy: stretch.policy.map(|policy| policy.as_str().into()),
            begin_at: stretch.begin,
            end_at: self.now,
            object: stretch.object.map(|o| self.entities.names.name(o)),
            by_pid: stretch.by.map(|(pid, _)| i64::from(pid)),
            by_tid: stretch.by.and_then(|(_, tid)| tid.map(i64::from)),
            wake: stretch.wake.map(|w| w.as_str().into()),
            complete: whole && !stretch.cut,
        });
    }
}
