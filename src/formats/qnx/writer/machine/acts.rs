//! What threads do when it is their turn: kernel calls with their events, in the order of published listings. A thread that
//! blocks tells the exit of its call when it runs again.

use std::io::Write;

use super::super::Code;
use super::super::codes::{call, communication, process, state, system};
use super::words::Arg::{Address, Both, Number, Size, Wide};
use super::{Due, Item, Machine, Message, MutexWait, Return, Role, Thread};

/// Why a server answers with an error, or a call is interrupted.
const EINVAL: u32 = 22;
const ETIMEDOUT: u32 = 260;
/// What programs insert: skewed, as most events of a kind come from one place.
const MARKERS: [u16; 8] = [7, 7, 7, 7, 100, 100, 555, 1023];
/// Lengths around 8 bytes decide whether a string is one record.
const TEXTS: [&str; 6] =
    ["ok", "frame 7", "frame 42", "decoder: late", "state=RUN", "überlauf im Puffer, Paket 9 verworfen"];

impl<W: Write> Machine<W> {
    /// The current thread of a CPU has computed long enough.
    pub(super) fn step(&mut self, cpu: usize, at: u64) {
        let Some(current) = self.cpus[cpu].current else { return };
        self.cpus[cpu].due = None;
        self.enter(cpu, at);
        self.act(cpu, current);
        self.leave(cpu);
    }

    fn act(&mut self, cpu: usize, me: usize) {
        let (us, phase) = (self.us, self.threads[me].phase);
        match (self.threads[me].role, phase) {
            (Role::Idle, _) => {}
            (Role::Server { channel }, 0) => {
                self.next(me, 1, 12 * us);
                self.receive(cpu, me, channel);
            }
            (Role::Server { .. }, 1) if self.threads[me].client.is_some() && self.random.one_in(6) => {
                self.next(me, 2, 5 * us);
                self.lock_mutex(cpu, me, 0);
            }
            (Role::Server { .. }, phase) => {
                if phase == 2 {
                    self.unlock_mutex(cpu, me, 0);
                }
                self.next(me, 0, us);
                self.reply(cpu, me);
            }
            (Role::Client { channel }, 0) => {
                self.next(me, 1, 10 * us);
                self.send(cpu, me, channel);
            }
            (Role::Client { .. }, _) => {
                if self.random.one_in(5) {
                    self.marker(cpu);
                }
                if self.random.one_in(3) {
                    self.next(me, 0, 15 * us);
                } else {
                    self.next(me, 0, 4 * us);
                    self.sleep(cpu, me, 900 * us);
                }
            }
            (Role::Periodic { period }, _) => {
                if self.random.one_in(4) {
                    let channel = self.random.below(self.channels.len() as u64) as usize;
                    self.send_pulse(cpu, channel);
                }
                self.next(me, 0, period / 20 + 1);
                // Kept by a timer, so that periods jitter but do not drift much.
                let early = self.random.below(period / 8 + 1);
                self.sleep_for(cpu, me, period - early);
            }
            (Role::Locker { mutex }, 0) => {
                self.next(me, 1, 40 * us);
                self.lock_mutex(cpu, me, mutex);
            }
            (Role::Locker { mutex }, _) => {
                self.unlock_mutex(cpu, me, mutex);
                self.next(me, 0, 6 * us);
                self.sleep(cpu, me, 250 * us);
            }
            (Role::InterruptThread { source }, _) => {
                if self.random.one_in(3) {
                    let channel = source % self.channels.len();
                    self.send_pulse(cpu, channel);
                }
                self.next(me, 0, 8 * us);
                self.wait_for_interrupt(cpu, me);
            }
            (Role::Spawner, _) => {
                match self.random.below(8) {
                    0 => self.spawn_process(cpu, me),
                    1 | 2 => self.signal_sleeper(cpu, me),
                    _ => self.spawn_thread(cpu, me),
                }
                self.next(me, 0, 20 * us);
                self.sleep(cpu, me, 1500 * us);
            }
            (Role::Worker { left: 0, .. }, _) => self.exit_thread(cpu, me),
            (Role::Worker { left, channel }, _) => {
                self.threads[me].role = Role::Worker { left: left - 1, channel };
                self.next(me, 0, 25 * us);
                self.send(cpu, me, channel);
            }
            (Role::Logger, _) => {
                if self.random.one_in(2) {
                    self.open_path(cpu, me);
                }
                self.next(me, 0, 30 * us);
                self.sleep(cpu, me, 4000 * us);
            }
        }
    }

    /// What a thread does next, after computing for about so long.
    fn next(&mut self, me: usize, phase: u8, usual: u64) {
        self.threads[me].phase = phase;
        self.threads[me].left = self.random.duration(usual);
    }

    /// The events of a call that ends.
    pub(super) fn tell_return(&mut self, cpu: usize, me: usize, returns: Return) {
        match returns {
            Return::Interrupted { number } => {
                self.tell(cpu, Code::interrupted(number), &[0, 0]);
            }
            Return::Received(item) => self.received(cpu, me, item),
            Return::Call { number, error } => {
                let stamp = self.tell_exit(cpu, number, error);
                let wait = self.threads[me].wait.take_if(|_| number == call::MUTEX_LOCK);
                if let Some(wait) = wait.and_then(|w| self.truth.mutex_waits.get_mut(w)) {
                    wait.returned = Some(stamp);
                }
            }
        }
    }

    /// The exit of a call: what it returns, or −1 and why.
    fn tell_exit(&mut self, cpu: usize, number: u16, error: Option<u32>) -> u64 {
        let code = Code::exit(number);
        match error {
            Some(error) => self.tell(cpu, code, &[u32::MAX, error]),
            None if number == call::MSG_SEND => {
                let text = self.random.bits() as u32 & 0x7f7f_7f7f;
                self.tell_args(cpu, code, &[Number(0), Both(text), Wide(0x6f6c_6c65), Wide(0)])
            }
            None => self.tell(cpu, code, &[0, 0]),
        }
    }

    fn send(&mut self, cpu: usize, me: usize, channel: usize) {
        let Thread { id, priority, .. } = self.threads[me];
        let (coid, server) = (0x4000_0000 | channel as u32, self.channels[channel].pid);
        let size = 16 + self.random.below(2000);
        let args = [Both(coid), Size(size), Size(64), Both(0x0004_0116), Wide(0x10), Wide(0)];
        self.tell_args(cpu, Code::call(call::MSG_SEND), &args);
        // The connection's number and the thread's: comes again with every message of this thread.
        let rcvid = (id.1 - 1) << 16 | (id.0 >> 12 & 0xfff) << 4 | id.0 & 0xf;
        let sent = self.tell(cpu, Code::communication(communication::SEND_MESSAGE), &[rcvid, server]);
        let known = self.keep.then_some(self.truth.messages.len());
        if self.keep {
            self.truth.messages.push(Message {
                client: id,
                server,
                server_tid: None,
                rcvid,
                sent,
                received: None,
                replied: None,
                error: false,
            });
        }
        self.threads[me].message = (rcvid, channel, known);
        if let Some(receiver) = self.channels[channel].receivers.pop_front() {
            self.tell_state(cpu, me, state::REPLY);
            self.block(cpu);
            // A server works at the priority of its client.
            self.threads[receiver].priority = priority;
            self.threads[receiver].returns = Some(Return::Received(Item::Message(me)));
            self.wake(cpu, receiver);
        } else {
            self.tell_state(cpu, me, state::SEND);
            self.block(cpu);
            self.channels[channel].queue.push_back(Item::Message(me));
        }
    }

    fn receive(&mut self, cpu: usize, me: usize, channel: usize) {
        let chid = channel as u32 + 1;
        // Sizes have 64 bits in wide layouts only: a fast event has the count.
        let parts = if self.layout.wide && self.layout.has_64 { Size(1) } else { Both(1) };
        self.tell_args(cpu, Code::call(call::MSG_RECEIVE), &[Both(chid), parts]);
        match self.channels[channel].queue.pop_front() {
            Some(item) => {
                if let Item::Message(client) = item {
                    self.threads[me].priority = self.threads[client].priority;
                }
                self.received(cpu, me, item);
            }
            None => {
                self.threads[me].priority = self.threads[me].base;
                self.tell_state(cpu, me, state::RECEIVE);
                self.block(cpu);
                self.channels[channel].receivers.push_back(me);
            }
        }
    }

    fn received(&mut self, cpu: usize, me: usize, item: Item) {
        let id = self.threads[me].id;
        let exit = Code::exit(call::MSG_RECEIVE);
        let Item::Message(client) = item else {
            let pulse = Code::communication(communication::RECEIVE_PULSE);
            self.tell(cpu, pulse, &[0x4000_0002, id.0]);
            self.tell(cpu, exit, &[0, 0]);
            return;
        };
        let (rcvid, channel, known) = self.threads[client].message;
        let sender = self.threads[client].id;
        self.threads[me].client = Some(client);
        let stamp = self.tell(cpu, Code::communication(communication::RECEIVE_MESSAGE), &[rcvid, id.0]);
        if let Some(message) = known.and_then(|m| self.truth.messages.get_mut(m)) {
            (message.received, message.server_tid) = (Some(stamp), Some(id.1));
        }
        if self.threads[client].state == state::SEND {
            self.tell_state(cpu, client, state::REPLY);
        }
        let priority = self.threads[client].priority.into();
        let words = [Wide(0x10), Wide(0), Wide(0), Wide(0), Wide(sender.0), Wide(sender.1)];
        let args: Vec<_> = [Both(rcvid), Both(0x0004_0116)]
            .into_iter()
            .chain(words)
            .chain([Wide(channel as u32 + 1), Wide(rcvid & 0xffff), Wide(0x4000_0000 | channel as u32)])
            .chain([Size(16), Size(16), Size(64), Wide(priority), Wide(0), Wide(0)])
            .collect();
        self.tell_args(cpu, exit, &args);
    }

    fn reply(&mut self, cpu: usize, me: usize) {
        let Some(client) = self.threads[me].client.take() else { return };
        let (rcvid, _, known) = self.threads[client].message;
        let (pid, tid) = self.threads[client].id;
        let failed = self.random.one_in(40);
        let (number, answer) = if failed {
            self.tell(cpu, Code::call(call::MSG_ERROR), &[rcvid, EINVAL]);
            (call::MSG_ERROR, communication::ERROR)
        } else {
            let args = [Both(rcvid), Size(12), Number(0), Wide(0x6568), Wide(0), Wide(0)];
            self.tell_args(cpu, Code::call(call::MSG_REPLY), &args);
            (call::MSG_REPLY, communication::REPLY)
        };
        let stamp = self.tell(cpu, Code::communication(answer), &[tid, pid]);
        if let Some(message) = known.and_then(|m| self.truth.messages.get_mut(m)) {
            (message.replied, message.error) = (Some(stamp), failed);
        }
        let error = failed.then_some(EINVAL);
        self.threads[client].returns = Some(Return::Call { number: call::MSG_SEND, error });
        self.wake(cpu, client);
        self.tell_exit(cpu, number, None);
    }

    fn send_pulse(&mut self, cpu: usize, channel: usize) {
        let (coid, pid) = (0x4000_0000 | channel as u32, self.channels[channel].pid);
        self.tell_args(cpu, Code::call(call::MSG_SEND_PULSE), &[Both(coid), Wide(21), Both(5), Wide(0xcafe)]);
        self.tell(cpu, Code::communication(communication::SEND_PULSE), &[0x4000_0002, pid]);
        self.pulse(cpu, channel);
        self.tell_exit(cpu, call::MSG_SEND_PULSE, None);
    }

    fn sleep(&mut self, cpu: usize, me: usize, usual: u64) {
        let duration = self.random.duration(usual);
        self.sleep_for(cpu, me, duration);
    }

    fn sleep_for(&mut self, cpu: usize, me: usize, duration: u64) {
        self.tell_args(cpu, Code::call(call::TIMER_TIMEOUT), &[Wide(2), Both(1 << 12), Both(0), Wide(0)]);
        self.tell_state(cpu, me, state::NANOSLEEP);
        self.block(cpu);
        self.threads[me].returns = Some(Return::Call { number: call::TIMER_TIMEOUT, error: None });
        if self.random.one_in(30) {
            self.threads[me].returns =
                Some(Return::Call { number: call::TIMER_TIMEOUT, error: Some(ETIMEDOUT) });
        }
        self.threads[me].sleep += 1;
        let (at, sleep) = (self.cpus[cpu].now + duration, self.threads[me].sleep);
        self.plan(at, Due::Alarm { thread: me, sleep });
    }

    fn wait_for_interrupt(&mut self, cpu: usize, me: usize) {
        self.tell_args(cpu, Code::call(call::INTERRUPT_WAIT), &[Both(0), Both(0), Wide(0)]);
        if self.threads[me].missed > 0 {
            self.threads[me].missed -= 1;
            self.tell_exit(cpu, call::INTERRUPT_WAIT, None);
            return;
        }
        self.tell_state(cpu, me, state::INTR);
        self.block(cpu);
        self.threads[me].returns = Some(Return::Call { number: call::INTERRUPT_WAIT, error: None });
    }

    /// Only who has to wait calls the kernel.
    fn lock_mutex(&mut self, cpu: usize, me: usize, mutex: usize) {
        let Some(owner) = self.mutexes[mutex].owner else {
            self.mutexes[mutex].owner = Some(me);
            return;
        };
        let (address, owner) = (self.mutexes[mutex].address, self.threads[owner].id);
        let word = owner.0 << 16 | owner.1;
        let args = [Address(address), Wide(0), Both(word)];
        let called = self.tell_args(cpu, Code::call(call::MUTEX_LOCK), &args);
        let from = self.tell_state(cpu, me, state::MUTEX);
        self.block(cpu);
        self.mutexes[mutex].waiters.push(me);
        self.threads[me].returns = Some(Return::Call { number: call::MUTEX_LOCK, error: None });
        if self.keep {
            self.threads[me].wait = Some(self.truth.mutex_waits.len());
            let thread = self.threads[me].id;
            self.truth.mutex_waits.push(MutexWait {
                thread,
                address,
                called,
                from,
                to: None,
                returned: None,
            });
        }
    }

    /// Only when somebody waits, the kernel is called.
    fn unlock_mutex(&mut self, cpu: usize, me: usize, mutex: usize) {
        let rank = |at: &usize| self.threads[self.mutexes[mutex].waiters[*at]].priority;
        let waiters = self.mutexes[mutex].waiters.len();
        let Some(best) = (0..waiters).rev().max_by_key(rank) else {
            self.mutexes[mutex].owner = None;
            return;
        };
        let waiter = self.mutexes[mutex].waiters.remove(best);
        self.mutexes[mutex].owner = Some(waiter);
        let (address, id) = (self.mutexes[mutex].address, self.threads[me].id);
        let args = [Address(address), Wide(0), Both(id.0 << 16 | id.1)];
        self.tell_args(cpu, Code::call(call::MUTEX_UNLOCK), &args);
        self.wake(cpu, waiter);
        self.tell_exit(cpu, call::MUTEX_UNLOCK, None);
    }

    /// A program inserts an event: two numbers, or a string, which is a simple event when it has at most eight bytes.
    fn marker(&mut self, cpu: usize) {
        let bits = self.random.bits();
        let code = Code::user(MARKERS[(bits & 7) as usize]);
        self.tell(cpu, Code::call(call::TRACE_EVENT), &[0x2000_0000, 0]);
        if bits & 0x100 == 0 {
            self.tell(cpu, code, &[(bits >> 32) as u32 & 0xffff, (bits >> 16) as u32 & 0xff]);
        } else {
            let mut words = Vec::new();
            self.layout.order.push_text(&mut words, TEXTS[(bits >> 40) as usize % TEXTS.len()]);
            self.tell(cpu, code, &words);
        }
        self.tell_exit(cpu, call::TRACE_EVENT, None);
    }

    fn open_path(&mut self, cpu: usize, me: usize) {
        let id = self.threads[me].id;
        let mut words = vec![id.0, id.1];
        let number = self.random.below(90);
        let deep = "/session".repeat(number as usize % 12);
        self.layout.order.push_text(&mut words, &format!("/var/log/trace{deep}/{number}"));
        self.tell(cpu, Code::system(system::PATH_MANAGER), &words);
    }

    /// Wakes somebody who sleeps: its call is interrupted.
    fn signal_sleeper(&mut self, cpu: usize, me: usize) {
        let first = self.random.below(self.threads.len() as u64) as usize;
        let threads = (first..self.threads.len()).chain(0..first);
        let sleeping = |t: &usize| self.threads[*t].alive && self.threads[*t].state == state::NANOSLEEP;
        let Some(target) = threads.into_iter().find(|t| *t != me && sleeping(t)) else { return };
        let (pid, tid) = self.threads[target].id;
        let args = [Wide(0), Both(pid), Wide(tid), Both(16), Wide(0), Wide(0)];
        self.tell_args(cpu, Code::call(call::SIGNAL_KILL), &args);
        self.tell(cpu, Code::communication(communication::SIGNAL), &[16, 0]);
        self.threads[target].sleep += 1;
        self.threads[target].returns = Some(Return::Interrupted { number: call::TIMER_TIMEOUT });
        self.wake(cpu, target);
        self.tell_exit(cpu, call::SIGNAL_KILL, None);
    }

    /// Makes a thread with the lowest free tid: ids come again soon.
    fn spawn_thread(&mut self, cpu: usize, me: usize) {
        let Thread { id, parent, priority, .. } = self.threads[me];
        let taken = |tid: u32| self.threads.iter().any(|t| t.alive && t.id == (id.0, tid));
        let Some(tid) = (2..20).find(|tid| !taken(*tid)) else { return };
        let pid = Wide(id.0);
        let args = [pid, Address(0x0810_2440), Address(0x0812_0000), Wide(0), Size(0x1_0000), Size(0)];
        self.tell_args(cpu, Code::call(call::THREAD_CREATE), &args);
        let worker = self.worker((id.0, tid), parent, priority);
        self.tell_state(cpu, worker, state::CREATE);
        self.wake(cpu, worker);
        self.tell(cpu, Code::exit(call::THREAD_CREATE), &[tid, 0]);
        if self.random.one_in(2) {
            self.tell_thread_name(cpu, worker);
        }
    }

    /// Makes a process with one thread. Its pid may be that of one that ended.
    fn spawn_process(&mut self, cpu: usize, me: usize) {
        let Thread { id: parent, priority, .. } = self.threads[me];
        let pid = self.free_pids.pop().unwrap_or(self.next_pid);
        if pid == self.next_pid {
            self.next_pid += 4099;
        }
        let worker = self.worker((pid, 1), parent.0, priority.saturating_sub(1).max(1));
        self.tell_process_name(cpu, parent.0, pid, "usr/bin/worker");
        self.tell_state(cpu, worker, state::CREATE);
        self.wake(cpu, worker);
    }

    fn worker(&mut self, id: (u32, u32), parent: u32, priority: u8) -> usize {
        let (bits, channels) = (self.random.bits(), self.channels.len() as u64);
        let role = Role::Worker { left: (bits & 3) as u8, channel: ((bits >> 8) % channels) as usize };
        let worker = self.add_thread(id, parent, priority, role);
        self.threads[worker].left = self.random.duration(60 * self.us);
        worker
    }

    /// A thread ends itself, and with the last one its process.
    fn exit_thread(&mut self, cpu: usize, me: usize) {
        let Thread { id, parent, .. } = self.threads[me];
        self.tell_args(cpu, Code::call(call::THREAD_DESTROY), &[Both(u32::MAX), Wide(0), Both(0)]);
        self.tell_state(cpu, me, state::DESTROY);
        self.tell_state(cpu, me, state::DEAD);
        self.block(cpu);
        self.threads[me].alive = false;
        self.free.push(me);
        if !self.threads.iter().any(|t| t.alive && t.id.0 == id.0) {
            self.tell(cpu, Code::process(process::DESTROY), &[parent, id.0]);
            self.free_pids.push(id.0);
        }
    }
}
