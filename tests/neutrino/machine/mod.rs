//! A small deterministic simulator of a Neutrino with several CPUs: processes, servers, periodic threads,
//! mutexes, interrupts. It writes a trace as the instrumented kernel would and knows what really happened.
//! Not a model of a certain system; it includes on purpose what makes real traces hard: jitter, bursts, reuse
//! of ids, skewed rates.
//!
//! One CPU at a time is in the kernel (up to 7.x it is one lock); interrupts come at any time. Indices of
//! CPUs, threads, channels and mutexes are the machine's own: options of a user cannot make them wrong.

mod acts;
mod interrupts;
mod lifetimes;
mod schedule;
#[cfg(test)]
mod tests;
mod truth;
mod words;
mod world;

pub use truth::{Interrupt, Message, MutexWait, StateInterval, Truth};

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write};

use super::codes::{Code, state};
use super::random::Random;
use super::{Faults, Kernel, Release, Target};
use words::{Arg, Layout};

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Options {
    /// The target: release, byte order, CPUs, clock.
    pub target: Target,
    /// The same seed and options give the same bytes.
    pub seed: u64,
    /// Events with all arguments, not two words each.
    pub wide: bool,
    /// Value of the clock when the trace starts; by default a millisecond before its lower 32 bits overflow.
    pub start: u64,
    /// By how many cycles the clock of each CPU differs from the previous one.
    pub skew: u64,
    /// Number of the first buffer.
    pub sequence: u32,
    /// Faults of the trace.
    pub faults: Faults,
    /// When to stop: bytes of the file, or a little more.
    pub bytes: u64,
    /// When to stop: cycles from the start.
    pub cycles: u64,
    /// Record the truth, which needs memory for every event.
    pub truth: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            target: Target::default(),
            seed: 1,
            wide: false,
            start: 0x37b0_fff0_bdc0,
            skew: 0,
            sequence: 33,
            faults: Faults { interlace: 3, ..Faults::default() },
            bytes: u64::MAX,
            cycles: u64::MAX,
            truth: true,
        }
    }
}

/// Simulates a machine and writes its trace; returns the output and the truth. Stops after 64 KiB if the
/// options have no end.
pub fn simulate<W: Write>(out: W, options: &Options) -> io::Result<(W, Truth)> {
    let mut machine = Machine::new(out, options)?;
    machine.populate();
    machine.start();
    let bytes = if options.bytes == u64::MAX && options.cycles == u64::MAX { 1 << 16 } else { options.bytes };
    let end = options.start.saturating_add(options.cycles);
    while machine.kernel.bytes() < bytes && !machine.kernel.has_failed() {
        if !machine.advance(end) {
            break;
        }
    }
    let mut truth = machine.truth;
    let (out, written) = machine.kernel.finish()?;
    truth.written = written;
    Ok((out, truth))
}

/// The behaviour of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Idle,
    Logger,
    Server { channel: usize },
    Client { channel: usize },
    Periodic { period: u64 },
    Locker { mutex: usize },
    InterruptThread { source: usize },
    Spawner,
    Worker { left: u8, channel: usize },
}

/// What a blocked thread emits when it runs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Return {
    Call { number: u16, error: Option<u32> },
    Interrupted { number: u16 },
    Received(Item),
}

/// An item in the queue of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// A message of this thread.
    Message(usize),
    Pulse,
}

/// The effect of an interrupt when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Pulse { channel: usize },
    Wake { thread: usize },
    Timeout { thread: usize, sleep: u32 },
}

#[derive(Debug, Clone)]
struct Thread {
    id: (u32, u32),
    parent: u32,
    alive: bool,
    priority: u8,
    base: u8,
    policy: u8,
    state: u16,
    cpu: usize,
    role: Role,
    phase: u8,
    /// Cycles to compute until it acts again.
    left: u64,
    returns: Option<Return>,
    /// The client whose message it answers next.
    client: Option<usize>,
    /// Its pending message: receive id, channel, index in the truth.
    message: (u32, usize, Option<usize>),
    /// Number of its sleeps, so that an old alarm is ignored.
    sleep: u32,
    /// Interrupts that came while it did not wait.
    missed: u32,
    /// Its wait for a mutex, as an index in the truth.
    wait: Option<usize>,
}

#[derive(Debug, Clone, Default)]
struct Cpu {
    now: u64,
    current: Option<usize>,
    idle: usize,
    /// When the current thread acts; `None` while it does, and for idle threads.
    due: Option<u64>,
    generation: u64,
    /// Nesting depth of interrupts.
    depth: u8,
    effects: Vec<Effect>,
    /// A thread that becomes running without having been ready.
    handoff: Option<usize>,
    in_kernel: bool,
}

#[derive(Debug, Clone, Default)]
struct Channel {
    pid: u32,
    receivers: VecDeque<usize>,
    queue: VecDeque<Item>,
}

#[derive(Debug, Clone, Default)]
struct Mutex {
    address: u64,
    owner: Option<usize>,
    waiters: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Source {
    vector: u32,
    /// Mean time between two interrupts, in cycles.
    period: u64,
    /// Process, instruction, effect.
    handlers: Vec<(u32, u64, Option<Effect>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Step { cpu: usize, generation: u64 },
    Alarm { thread: usize, sleep: u32 },
    Interrupt { source: usize },
}

struct Machine<W> {
    kernel: Kernel<W>,
    random: Random,
    layout: Layout,
    release: Release,
    skew: u64,
    /// Cycles per microsecond, at least one.
    us: u64,
    keep: bool,
    /// Flags of the events emitted now.
    flags: u8,
    cpus: Vec<Cpu>,
    threads: Vec<Thread>,
    free: Vec<usize>,
    channels: Vec<Channel>,
    mutexes: Vec<Mutex>,
    sources: Vec<Source>,
    /// Threads that wait for a CPU, in order of arrival; a preempted thread is first again.
    ready: Vec<usize>,
    agenda: BinaryHeap<Reverse<(u64, u64, Due)>>,
    planned: u64,
    /// When the kernel is free again.
    lock: u64,
    /// When the last state of a thread was emitted.
    latest: u64,
    truth: Truth,
    /// Pids and tids that can be reused.
    next_pid: u32,
    free_pids: Vec<u32>,
    words: Vec<u32>,
}

impl<W: Write> Machine<W> {
    fn new(out: W, options: &Options) -> io::Result<Self> {
        let Options { target, seed, faults, .. } = options;
        let mut target = target.clone();
        target.cpus = target.cpus.clamp(1, 64);
        target.global_clock &= options.skew == 0;
        let kernel = Kernel::new(out, &target, options.sequence, *faults, !*seed, options.truth)?;
        let layout = Layout {
            order: target.order,
            wide: options.wide,
            has_64: target.release != Release::R6 && target.order == super::ByteOrder::Little,
        };
        let cpu = Cpu { now: options.start, ..Cpu::default() };
        Ok(Self {
            kernel,
            random: Random::new(*seed),
            layout,
            release: target.release,
            skew: options.skew,
            us: (target.cycles_per_sec / 1_000_000).max(1),
            keep: options.truth,
            flags: 0,
            cpus: vec![cpu; target.cpus.into()],
            threads: Vec::new(),
            free: Vec::new(),
            channels: Vec::new(),
            mutexes: Vec::new(),
            sources: Vec::new(),
            ready: Vec::new(),
            agenda: BinaryHeap::new(),
            planned: 0,
            lock: options.start,
            latest: options.start,
            truth: Truth::default(),
            next_pid: 900_000,
            free_pids: Vec::new(),
            words: Vec::new(),
        })
    }

    /// Does the next due action; returns false if it is after `end`.
    fn advance(&mut self, end: u64) -> bool {
        let Some(Reverse((at, _, due))) = self.agenda.pop() else { return false };
        if at >= end {
            return false;
        }
        match due {
            Due::Step { cpu, generation } => {
                if self.cpus[cpu].generation == generation && self.cpus[cpu].due.is_some() {
                    self.step(cpu, at);
                }
            }
            Due::Alarm { thread, sleep } => {
                if self.threads[thread].sleep == sleep && self.threads[thread].state == state::NANOSLEEP {
                    self.alarm(thread, sleep, at);
                }
            }
            Due::Interrupt { source } => {
                let cpu = self.random.below(self.cpus.len() as u64) as usize;
                self.interrupt_at(cpu, source, None, at);
                let pause = self.random.duration(self.sources[source].period);
                self.plan(at + pause, Due::Interrupt { source });
            }
        }
        true
    }

    fn plan(&mut self, at: u64, due: Due) {
        self.planned += 1;
        self.agenda.push(Reverse((at, self.planned, due)));
    }

    /// Emits an event at the current time of the CPU, which then advances a little; sometimes an interrupt
    /// follows. Returns the stamp.
    fn emit(&mut self, cpu: usize, code: Code, words: &[u32]) -> u64 {
        let skew = self.skew * cpu as u64;
        let nested = self.cpus[cpu].depth > 0;
        let now = self.cpus[cpu].now + skew;
        let stamp = self.kernel.emit(cpu as u8, now, self.flags, code, words, nested);
        self.cpus[cpu].now = stamp - skew + 20 + self.random.below(200);
        if self.cpus[cpu].in_kernel && !nested && !self.sources.is_empty() {
            let rare = if self.kernel.holds(cpu as u8) { 6 } else { 400 };
            if self.random.one_in(rare) {
                let source = self.random.below(self.sources.len() as u64) as usize;
                self.interrupt(cpu, source, None);
            }
        }
        stamp
    }

    /// Emits an event whose words depend on fast or wide mode.
    fn emit_args(&mut self, cpu: usize, code: Code, args: &[Arg]) -> u64 {
        let mut words = std::mem::take(&mut self.words);
        let code = self.layout.lay(code, args, &mut words);
        let stamp = self.emit(cpu, code, &words);
        self.words = words;
        stamp
    }

    /// Emits the state of a thread.
    fn emit_state(&mut self, cpu: usize, thread: usize, to: u16) -> u64 {
        let Thread { id, priority, policy, .. } = self.threads[thread];
        let words = [id.0, id.1, priority.into(), policy.into()];
        let lifetime = matches!(to, state::CREATE | state::DESTROY);
        let words = if self.layout.wide && !lifetime { &words[..] } else { &words[..2] };
        let stamp = self.emit(cpu, Code::thread(to), words);
        self.latest = self.latest.max(stamp - self.skew * cpu as u64);
        if to != state::CREATE {
            self.threads[thread].state = to;
        }
        if self.keep {
            self.truth.state(id, to, cpu as u8, stamp, self.in_snapshot());
        }
        stamp
    }

    fn in_snapshot(&self) -> bool {
        self.agenda.is_empty()
    }
}
