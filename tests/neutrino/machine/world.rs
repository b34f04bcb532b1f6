//! The population of a simulated machine: threads, channels, mutexes, interrupt sources; and the events that
//! a kernel writes when a trace starts.

use std::io::Write;

use super::super::codes::{call, process, state, system};
use super::super::{Code, Release};
use super::{Channel, Due, Effect, Machine, Mutex, Role, Source, Thread};

const KERNEL: u32 = 1;
/// Names of programs: short and long, similar and not, of various lengths.
const SERVERS: [&str; 5] = [
    "proc/boot/pci-server",
    "sbin/io-pkt-v6-hc",
    "proc/boot/devc-seromap_omap4_with_a_name_that_nobody_types_twice_but_every_listing_has_in_full_length",
    "a",
    "usr/sbin/io display/Größe 2",
];
const CLIENTS: [&str; 4] = ["opt/app/hmi", "opt/app/hmi", "bin/ksh", "opt/vendor/sensors/fusion-pipeline"];

impl<W: Write> Machine<W> {
    /// All threads are blocked, except the logger, which starts the trace.
    pub(super) fn populate(&mut self) {
        let cpus = self.cpus.len() as u32;
        for cpu in 0..cpus {
            let idle = self.add_thread((KERNEL, cpu + 1), 0, 0, Role::Idle);
            self.cpus[cpu as usize].idle = idle;
            self.threads[idle].cpu = cpu as usize;
            self.threads[idle].state = state::READY;
        }
        let boot = self.random.below(12) as u32;
        self.add_channel(KERNEL);
        for tid in 0..3 {
            self.add_thread((KERNEL, cpus + 2 + boot + 2 * tid), 0, 10, Role::Server { channel: 0 });
        }
        let mut pid = 2;
        for server in 0..SERVERS.len() {
            let channel = self.add_channel(pid);
            for tid in 0..1 + server as u32 % 3 {
                self.add_thread((pid, tid + 1), 2, 10 + server as u8, Role::Server { channel });
            }
            pid += 4097;
        }
        let channels = self.channels.len();
        self.mutexes = (0..2 + u64::from(cpus) / 4)
            .map(|n| Mutex { address: 0x0804_a000 + 64 * n, ..Mutex::default() })
            .collect();
        for client in 0..2 + 3 * cpus {
            // Most clients use the same servers.
            let channel = (self.random.below(16) as usize).pow(2) * channels / 256;
            let priority = 8 + self.random.below(12) as u8;
            for tid in 0..1 + client % 2 {
                self.add_thread((pid, tid + 1), 2, priority, Role::Client { channel });
            }
            pid += 4097;
        }
        for periodic in 0..2 + u64::from(cpus) {
            let period = (700 + 1300 * periodic + self.random.below(150)) * self.us;
            self.add_thread((pid, 1), 2, 30 - periodic.min(20) as u8, Role::Periodic { period });
            pid += 4097;
        }
        for mutex in 1..self.mutexes.len() {
            for tid in 0..3 {
                let priority = 11 + 2 * self.random.below(4) as u8;
                self.add_thread((pid, tid + 1), 2, priority, Role::Locker { mutex });
            }
            pid += 4097;
        }
        self.add_sources(pid);
        let spawner = self.add_thread((pid + 4097, 1), 2, 12, Role::Spawner);
        let logger = self.add_thread((pid + 8194, 1), self.threads[spawner].id.0, 9, Role::Logger);
        self.cpus[0].current = Some(logger);
        for cpu in 1..self.cpus.len() {
            self.cpus[cpu].current = Some(self.cpus[cpu].idle);
        }
    }

    /// The clock, two devices, and a hook.
    fn add_sources(&mut self, pid: u32) {
        let us = self.us;
        let clock = Source { vector: 0, period: 1000 * us, handlers: vec![(KERNEL, 0xf005_6570, None)] };
        self.sources.push(clock);
        for (n, (vector, period)) in
            [(27, 350 * us), (0x102, 800 * us), (0x8000_0000, 2500 * us)].into_iter().enumerate()
        {
            let source = self.sources.len();
            let channel = n % self.channels.len();
            // 8.0 has threads instead of handlers.
            let effect = if n == 0 && self.release != Release::R8 {
                Effect::Pulse { channel }
            } else {
                let role = Role::InterruptThread { source };
                Effect::Wake { thread: self.add_thread((pid, n as u32 + 1), 2, 40 + n as u8, role) }
            };
            let mut handlers = vec![(pid, 0x080b_7334 + 64 * n as u64, Some(effect))];
            if n == 1 {
                handlers.push((KERNEL, 0xf005_7000, None));
            }
            self.sources.push(Source { vector, period, handlers });
        }
    }

    pub(super) fn add_thread(&mut self, id: (u32, u32), parent: u32, priority: u8, role: Role) -> usize {
        let thread = Thread {
            id,
            parent,
            alive: true,
            priority,
            base: priority,
            policy: if priority.is_multiple_of(3) { 1 } else { 2 },
            state: state::CREATE,
            cpu: self.random.below(self.cpus.len() as u64) as usize,
            role,
            phase: 0,
            left: 1,
            returns: None,
            client: None,
            message: (0, 0, None),
            sleep: 0,
            missed: 0,
            wait: None,
        };
        match self.free.pop() {
            Some(slot) => {
                // An alarm of the thread that had this slot before must not wake this one.
                let sleep = self.threads[slot].sleep + 1;
                self.threads[slot] = Thread { sleep, ..thread };
                slot
            }
            None => {
                self.threads.push(thread);
                self.threads.len() - 1
            }
        }
    }

    fn add_channel(&mut self, pid: u32) -> usize {
        self.channels.push(Channel { pid, ..Channel::default() });
        self.channels.len() - 1
    }

    /// Emits the existing processes and threads (`_NTO_TRACE_START`), then starts the machine.
    pub(super) fn start(&mut self) {
        self.flags = u8::from(self.release == Release::R8);
        let mut named = None;
        for thread in 0..self.threads.len() {
            let Thread { id, parent, role, .. } = self.threads[thread];
            if named.replace(id.0) != Some(id.0) {
                self.emit_process_name(0, parent, id.0, name_of(id.0, role));
            }
            let running = (0..self.cpus.len()).find(|c| self.cpus[*c].current == Some(thread));
            let cpu = running.unwrap_or(0);
            // The events of a CPU do not come before those of the first CPU.
            self.cpus[cpu].now = self.cpus[cpu].now.max(self.cpus[0].now);
            self.emit_state(cpu, thread, state::CREATE);
            let state = match (running, role) {
                (Some(_), _) => state::RUNNING,
                (None, Role::Idle) => state::READY,
                (None, Role::Server { channel }) => {
                    self.channels[channel].receivers.push_back(thread);
                    self.threads[thread].returns = None;
                    state::RECEIVE
                }
                (None, Role::InterruptThread { .. }) => state::INTR,
                (None, _) => state::NANOSLEEP,
            };
            self.emit_state(cpu, thread, state);
            self.cpus[0].now = self.cpus[0].now.max(self.cpus[cpu].now);
            if id.0 % 3 == 0 || role == Role::Idle {
                self.emit_thread_name(cpu, thread);
            }
        }
        self.flags = 0;
        self.emit(0, Code::exit(call::TRACE_EVENT), &[0, 0]);
        self.lock = self.cpus.iter().map(|c| c.now).max().unwrap_or(0);
        for thread in 0..self.threads.len() {
            self.threads[thread].phase = u8::from(matches!(self.threads[thread].role, Role::Server { .. }));
            if self.threads[thread].state == state::NANOSLEEP {
                let at = self.lock + self.random.below(900 * self.us);
                let sleep = self.threads[thread].sleep;
                self.plan(at, Due::Alarm { thread, sleep });
            }
        }
        for source in 1..self.sources.len() {
            let at = self.lock + self.random.duration(self.sources[source].period);
            self.plan(at, Due::Interrupt { source });
            if let (Release::R8, Some((pid, _, Some(Effect::Wake { thread })))) =
                (self.release, self.sources[source].handlers.first().copied())
            {
                let (vector, tid) = (self.sources[source].vector, self.threads[thread].id.1);
                let priority = self.threads[thread].priority.into();
                self.emit(0, Code::system(system::IST_ATTACH), &[pid, tid, vector, 0, 0, priority]);
            }
        }
        self.arm(0);
    }

    pub(super) fn emit_process_name(&mut self, cpu: usize, parent: u32, pid: u32, name: &str) {
        let mut words = vec![parent, pid];
        self.layout.order.push_text(&mut words, name);
        self.emit(cpu, Code::process(process::CREATE_NAME), &words);
    }

    pub(super) fn emit_thread_name(&mut self, cpu: usize, thread: usize) {
        let Thread { id, role, .. } = self.threads[thread];
        let name = match role {
            Role::Idle => format!("idle_cpu_{}", id.1 - 1),
            Role::Server { channel } => format!("pool {channel}"),
            _ => format!("t{}", id.1),
        };
        let mut words = vec![id.0, id.1];
        self.layout.order.push_text(&mut words, &name);
        self.emit(cpu, Code::process(process::THREAD_NAME), &words);
    }
}

fn name_of(pid: u32, role: Role) -> &'static str {
    let n = pid as usize;
    match role {
        _ if pid == KERNEL => "proc/boot/procnto-smp-instr",
        Role::Server { channel } => SERVERS[channel % SERVERS.len()],
        Role::Client { .. } => CLIENTS[n % CLIENTS.len()],
        Role::Periodic { .. } => "opt/control/loop",
        Role::Locker { .. } => "usr/bin/ledger",
        Role::InterruptThread { .. } => "proc/boot/devb-sdmmc",
        Role::Logger => "usr/sbin/tracelogger",
        _ => "usr/bin/launcher",
    }
}
