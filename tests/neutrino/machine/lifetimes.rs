//! Threads and processes that start and end, signals, and further events of programs and of the system. Not
//! the work of threads (see `acts`).

use std::io::Write;

use super::super::Code;
use super::super::codes::{call, communication, process, state, system};
use super::words::Arg::{Address, Both, Size, Wide};
use super::{Machine, Return, Role, Thread};

/// Events of programs: skewed, as most events of a kind come from one place.
const MARKERS: [u16; 8] = [7, 7, 7, 7, 100, 100, 555, 1023];
/// Lengths around 8 bytes: up to 8, a string is one record.
const TEXTS: [&str; 6] =
    ["ok", "frame 7", "frame 42", "decoder: late", "state=RUN", "überlauf im Puffer, Paket 9 verworfen"];

impl<W: Write> Machine<W> {
    /// A program inserts an event: two numbers, or a string; up to eight bytes are a simple event.
    pub(super) fn marker(&mut self, cpu: usize) {
        let bits = self.random.bits();
        let code = Code::user(MARKERS[(bits & 7) as usize]);
        self.emit(cpu, Code::call(call::TRACE_EVENT), &[0x2000_0000, 0]);
        if bits & 0x100 == 0 {
            self.emit(cpu, code, &[(bits >> 32) as u32 & 0xffff, (bits >> 16) as u32 & 0xff]);
        } else {
            let mut words = Vec::new();
            self.layout.order.push_text(&mut words, TEXTS[(bits >> 40) as usize % TEXTS.len()]);
            self.emit(cpu, code, &words);
        }
        self.emit_exit(cpu, call::TRACE_EVENT, None);
    }

    pub(super) fn open_path(&mut self, cpu: usize, me: usize) {
        let id = self.threads[me].id;
        let mut words = vec![id.0, id.1];
        let number = self.random.below(90);
        let deep = "/session".repeat(number as usize % 12);
        self.layout.order.push_text(&mut words, &format!("/var/log/trace{deep}/{number}"));
        self.emit(cpu, Code::system(system::PATH_MANAGER), &words);
    }

    /// Wakes a sleeping thread: its call is interrupted.
    pub(super) fn signal_sleeper(&mut self, cpu: usize, me: usize) {
        let first = self.random.below(self.threads.len() as u64) as usize;
        let threads = (first..self.threads.len()).chain(0..first);
        let sleeping = |t: &usize| self.threads[*t].alive && self.threads[*t].state == state::NANOSLEEP;
        let Some(target) = threads.into_iter().find(|t| *t != me && sleeping(t)) else { return };
        let (pid, tid) = self.threads[target].id;
        let args = [Wide(0), Both(pid), Wide(tid), Both(16), Wide(0), Wide(0)];
        self.emit_args(cpu, Code::call(call::SIGNAL_KILL), &args);
        self.emit(cpu, Code::communication(communication::SIGNAL), &[16, 0]);
        self.threads[target].sleep += 1;
        self.threads[target].returns = Some(Return::Interrupted { number: call::TIMER_TIMEOUT });
        self.wake(cpu, target);
        self.emit_exit(cpu, call::SIGNAL_KILL, None);
    }

    /// Creates a thread with the lowest free tid: ids are soon reused.
    pub(super) fn spawn_thread(&mut self, cpu: usize, me: usize) {
        let Thread { id, parent, priority, .. } = self.threads[me];
        let taken = |tid: u32| self.threads.iter().any(|t| t.alive && t.id == (id.0, tid));
        let Some(tid) = (2..20).find(|tid| !taken(*tid)) else { return };
        let pid = Wide(id.0);
        let args = [pid, Address(0x0810_2440), Address(0x0812_0000), Wide(0), Size(0x1_0000), Size(0)];
        self.emit_args(cpu, Code::call(call::THREAD_CREATE), &args);
        let worker = self.worker((id.0, tid), parent, priority);
        self.emit_state(cpu, worker, state::CREATE);
        self.wake(cpu, worker);
        self.emit(cpu, Code::exit(call::THREAD_CREATE), &[tid, 0]);
        if self.random.one_in(2) {
            self.emit_thread_name(cpu, worker);
        }
    }

    /// Creates a process with one thread. Its pid may be that of one that ended.
    pub(super) fn spawn_process(&mut self, cpu: usize, me: usize) {
        let Thread { id: parent, priority, .. } = self.threads[me];
        let pid = self.free_pids.pop().unwrap_or(self.next_pid);
        if pid == self.next_pid {
            self.next_pid += 4099;
        }
        let worker = self.worker((pid, 1), parent.0, priority.saturating_sub(1).max(1));
        self.emit_process_name(cpu, parent.0, pid, "usr/bin/worker");
        self.emit_state(cpu, worker, state::CREATE);
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
    pub(super) fn exit_thread(&mut self, cpu: usize, me: usize) {
        let Thread { id, parent, .. } = self.threads[me];
        self.emit_args(cpu, Code::call(call::THREAD_DESTROY), &[Both(u32::MAX), Wide(0), Both(0)]);
        self.emit_state(cpu, me, state::DESTROY);
        self.emit_state(cpu, me, state::DEAD);
        self.block(cpu);
        self.threads[me].alive = false;
        self.free.push(me);
        if !self.threads.iter().any(|t| t.alive && t.id.0 == id.0) {
            self.emit(cpu, Code::process(process::DESTROY), &[parent, id.0]);
            self.free_pids.push(id.0);
        }
    }
}
