//! What threads do when they run: messages, pulses, sleep, mutexes, with the events of these kernel calls in
//! the order of published listings. A thread that blocks emits the exit of its call when it runs again.

use std::io::Write;

use super::super::Code;
use super::super::codes::{call, communication, state};
use super::words::Arg::{Address, Both, Number, Size, Wide};
use super::{Due, Item, Machine, Message, MutexWait, Return, Role, Thread};

/// The error of a server's reply or of an interrupted call.
const EINVAL: u32 = 22;
const ETIMEDOUT: u32 = 260;

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
                // A timer keeps the period, which jitters but does not drift much.
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

    /// Sets what a thread does next, after computing for about so long.
    fn next(&mut self, me: usize, phase: u8, mean: u64) {
        self.threads[me].phase = phase;
        self.threads[me].left = self.random.duration(mean);
    }

    /// Emits the end of a call.
    pub(super) fn emit_return(&mut self, cpu: usize, me: usize, returns: Return) {
        match returns {
            Return::Interrupted { number } => {
                self.emit(cpu, Code::interrupted(number), &[0, 0]);
            }
            Return::Received(item) => self.received(cpu, me, item),
            Return::Call { number, error } => {
                let stamp = self.emit_exit(cpu, number, error);
                let wait = self.threads[me].wait.take_if(|_| number == call::MUTEX_LOCK);
                if let Some(wait) = wait.and_then(|w| self.truth.mutex_waits.get_mut(w)) {
                    wait.returned = Some(stamp);
                }
            }
        }
    }

    /// Emits the exit of a call: its result, or −1 and the error.
    pub(super) fn emit_exit(&mut self, cpu: usize, number: u16, error: Option<u32>) -> u64 {
        let code = Code::exit(number);
        match error {
            Some(error) => self.emit(cpu, code, &[u32::MAX, error]),
            None if number == call::MSG_SEND => {
                let text = self.random.bits() as u32 & 0x7f7f_7f7f;
                self.emit_args(cpu, code, &[Number(0), Both(text), Wide(0x6f6c_6c65), Wide(0)])
            }
            None => self.emit(cpu, code, &[0, 0]),
        }
    }

    fn send(&mut self, cpu: usize, me: usize, channel: usize) {
        let Thread { id, priority, .. } = self.threads[me];
        let (coid, server) = (0x4000_0000 | channel as u32, self.channels[channel].pid);
        let size = 16 + self.random.below(2000);
        let args = [Both(coid), Size(size), Size(64), Both(0x0004_0116), Wide(0x10), Wide(0)];
        self.emit_args(cpu, Code::call(call::MSG_SEND), &args);
        // From the connection and the thread: the same for every message of this thread.
        let rcvid = (id.1 - 1) << 16 | (id.0 >> 12 & 0xfff) << 4 | id.0 & 0xf;
        let sent = self.emit(cpu, Code::communication(communication::SEND_MESSAGE), &[rcvid, server]);
        let fact = self.keep.then_some(self.truth.messages.len());
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
        self.threads[me].message = (rcvid, channel, fact);
        if let Some(receiver) = self.channels[channel].receivers.pop_front() {
            self.emit_state(cpu, me, state::REPLY);
            self.block(cpu);
            // A server works at the priority of its client.
            self.threads[receiver].priority = priority;
            self.threads[receiver].returns = Some(Return::Received(Item::Message(me)));
            self.wake(cpu, receiver);
        } else {
            self.emit_state(cpu, me, state::SEND);
            self.block(cpu);
            self.channels[channel].queue.push_back(Item::Message(me));
        }
    }

    fn receive(&mut self, cpu: usize, me: usize, channel: usize) {
        let chid = channel as u32 + 1;
        // Sizes have 64 bits in wide layouts only: a fast event has the count.
        let parts = if self.layout.wide && self.layout.has_64 { Size(1) } else { Both(1) };
        self.emit_args(cpu, Code::call(call::MSG_RECEIVE), &[Both(chid), parts]);
        match self.channels[channel].queue.pop_front() {
            Some(item) => {
                if let Item::Message(client) = item {
                    self.threads[me].priority = self.threads[client].priority;
                }
                self.received(cpu, me, item);
            }
            None => {
                self.threads[me].priority = self.threads[me].base;
                self.emit_state(cpu, me, state::RECEIVE);
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
            self.emit(cpu, pulse, &[0x4000_0002, id.0]);
            self.emit(cpu, exit, &[0, 0]);
            return;
        };
        let (rcvid, channel, fact) = self.threads[client].message;
        let sender = self.threads[client].id;
        self.threads[me].client = Some(client);
        let stamp = self.emit(cpu, Code::communication(communication::RECEIVE_MESSAGE), &[rcvid, id.0]);
        if let Some(message) = fact.and_then(|m| self.truth.messages.get_mut(m)) {
            (message.received, message.server_tid) = (Some(stamp), Some(id.1));
        }
        if self.threads[client].state == state::SEND {
            self.emit_state(cpu, client, state::REPLY);
        }
        let priority = self.threads[client].priority.into();
        let words = [Wide(0x10), Wide(0), Wide(0), Wide(0), Wide(sender.0), Wide(sender.1)];
        let args: Vec<_> = [Both(rcvid), Both(0x0004_0116)]
            .into_iter()
            .chain(words)
            .chain([Wide(channel as u32 + 1), Wide(rcvid & 0xffff), Wide(0x4000_0000 | channel as u32)])
            .chain([Size(16), Size(16), Size(64), Wide(priority), Wide(0), Wide(0)])
            .collect();
        self.emit_args(cpu, exit, &args);
    }

    fn reply(&mut self, cpu: usize, me: usize) {
        let Some(client) = self.threads[me].client.take() else { return };
        let (rcvid, _, fact) = self.threads[client].message;
        let (pid, tid) = self.threads[client].id;
        let failed = self.random.one_in(40);
        let (number, answer) = if failed {
            self.emit(cpu, Code::call(call::MSG_ERROR), &[rcvid, EINVAL]);
            (call::MSG_ERROR, communication::ERROR)
        } else {
            let args = [Both(rcvid), Size(12), Number(0), Wide(0x6568), Wide(0), Wide(0)];
            self.emit_args(cpu, Code::call(call::MSG_REPLY), &args);
            (call::MSG_REPLY, communication::REPLY)
        };
        let stamp = self.emit(cpu, Code::communication(answer), &[tid, pid]);
        if let Some(message) = fact.and_then(|m| self.truth.messages.get_mut(m)) {
            (message.replied, message.error) = (Some(stamp), failed);
        }
        let error = failed.then_some(EINVAL);
        self.threads[client].returns = Some(Return::Call { number: call::MSG_SEND, error });
        self.wake(cpu, client);
        self.emit_exit(cpu, number, None);
    }

    fn send_pulse(&mut self, cpu: usize, channel: usize) {
        let (coid, pid) = (0x4000_0000 | channel as u32, self.channels[channel].pid);
        self.emit_args(cpu, Code::call(call::MSG_SEND_PULSE), &[Both(coid), Wide(21), Both(5), Wide(0xcafe)]);
        self.emit(cpu, Code::communication(communication::SEND_PULSE), &[0x4000_0002, pid]);
        self.pulse(cpu, channel);
        self.emit_exit(cpu, call::MSG_SEND_PULSE, None);
    }

    fn sleep(&mut self, cpu: usize, me: usize, mean: u64) {
        let duration = self.random.duration(mean);
        self.sleep_for(cpu, me, duration);
    }

    fn sleep_for(&mut self, cpu: usize, me: usize, duration: u64) {
        self.emit_args(cpu, Code::call(call::TIMER_TIMEOUT), &[Wide(2), Both(1 << 12), Both(0), Wide(0)]);
        self.emit_state(cpu, me, state::NANOSLEEP);
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
        self.emit_args(cpu, Code::call(call::INTERRUPT_WAIT), &[Both(0), Both(0), Wide(0)]);
        if self.threads[me].missed > 0 {
            self.threads[me].missed -= 1;
            self.emit_exit(cpu, call::INTERRUPT_WAIT, None);
            return;
        }
        self.emit_state(cpu, me, state::INTR);
        self.block(cpu);
        self.threads[me].returns = Some(Return::Call { number: call::INTERRUPT_WAIT, error: None });
    }

    /// A free mutex is taken without a kernel call.
    fn lock_mutex(&mut self, cpu: usize, me: usize, mutex: usize) {
        let Some(owner) = self.mutexes[mutex].owner else {
            self.mutexes[mutex].owner = Some(me);
            return;
        };
        let (address, owner) = (self.mutexes[mutex].address, self.threads[owner].id);
        let word = owner.0 << 16 | owner.1;
        let args = [Address(address), Wide(0), Both(word)];
        let called = self.emit_args(cpu, Code::call(call::MUTEX_LOCK), &args);
        let from = self.emit_state(cpu, me, state::MUTEX);
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

    /// The kernel is called only when another thread waits.
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
        self.emit_args(cpu, Code::call(call::MUTEX_UNLOCK), &args);
        self.wake(cpu, waiter);
        self.emit_exit(cpu, call::MUTEX_UNLOCK, None);
    }
}
