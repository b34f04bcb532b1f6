//! The 15 bits of a record that say which event it is, as the writer composes them.
//!
//! These numbers repeat those of `src/qnx` on purpose. They are an independent check:
//! `formats::qnx::tests` compares class, event and layout of every simulated record with what
//! `qnx::Class::of_header` makes of its bits, and `tests/it/qnx_truth.rs` compares states by name. A shared
//! table would make both tests compare a number with itself.
//!
//! Sources: figure 4 and section c of the kernel's instrumentation document (two fields: class 5 bits, event
//! 10 bits), and the interface of `sys/trace.h` 6.5 to 8.0 for the numbers of classes and events.

/// Internal classes at their place in the header: bits 14 to 10.
const CONTROL: u16 = 0x0400;
const KERNEL_CALL: u16 = 0x0800;
const INTERRUPT: u16 = 0x0c00;
const PROCESS_THREAD: u16 = 0x1000;
const SYSTEM: u16 = 0x1400;
const USER: u16 = 0x1800;
const COMMUNICATION: u16 = 0x1c00;
const QUIP: u16 = 0x2000;
const SECURITY: u16 = 0x2400;
const HYPERVISOR: u16 = 0x2800;
const COUNTERS: u16 = 0x2c00;

/// Bit of the event of kernel calls and system events: addresses and sizes have 64 bits (7.0 and later).
const LAYOUT_64: u16 = 0x0200;

/// The kind of event of a record: the bits of its header, and how a reader should interpret them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The lower 15 bits of the header.
    pub bits: u16,
    /// The traceprinter word of the class.
    pub class: &'static str,
    /// The number of the event within that class.
    pub event: u16,
    /// The layout with 64-bit addresses.
    pub is64: bool,
}

impl Code {
    const fn new(bits: u16, class: &'static str, event: u16, is64: bool) -> Self {
        Self { bits, class, event, is64 }
    }

    /// Msb and lsb of the clock.
    pub const TIME: Self = Self::new(CONTROL | 1, "CONTROL", 1, false);
    /// The first record of a buffer: its number in the sequence and how many records it has.
    pub const BUFFER: Self = Self::new(CONTROL | 2, "CONTROL", 2, false);
    /// The last record of a buffer of 8.0.
    pub const BUFFER_END: Self = Self::new(CONTROL | 4, "CONTROL", 4, false);
    /// 8.0: events were dropped.
    pub const DROPPED: Self = Self::new(CONTROL | 8, "CONTROL", 8, false);

    /// A kernel call begins; the lower seven bits are its number.
    pub const fn call(number: u16) -> Self {
        Self::new(KERNEL_CALL | number, "KER_CALL", number, false)
    }

    /// A kernel call returns: 128 more.
    pub const fn exit(number: u16) -> Self {
        Self::new(KERNEL_CALL | 0x080 | number, "KER_EXIT", number, false)
    }

    /// A kernel call was interrupted: 256 more.
    pub const fn interrupted(number: u16) -> Self {
        Self::new(KERNEL_CALL | 0x100 | number, "INT_CALL", number, false)
    }

    /// The same event with 64-bit addresses: kernel calls and system events have a bit for it, interrupts
    /// have other numbers (5 for 1, 6 for 3; 7.x).
    #[must_use]
    pub const fn with_64(self) -> Self {
        let bits = match self.bits {
            bits if bits == INTERRUPT | 1 => INTERRUPT | 5,
            bits if bits == INTERRUPT | 3 => INTERRUPT | 6,
            bits => bits | LAYOUT_64,
        };
        Self { bits, is64: true, ..self }
    }

    /// An interrupt begins (until 7.x).
    pub const INTERRUPT_ENTRY: Self = Self::new(INTERRUPT | 1, "INT_ENTR", 1, false);
    /// An interrupt ends (until 7.x).
    pub const INTERRUPT_EXIT: Self = Self::new(INTERRUPT | 2, "INT_EXIT", 2, false);
    /// A handler begins (until 7.x).
    pub const HANDLER_ENTRY: Self = Self::new(INTERRUPT | 3, "INT_HANDLER_ENTR", 3, false);
    /// A handler ends (until 7.x).
    pub const HANDLER_EXIT: Self = Self::new(INTERRUPT | 4, "INT_HANDLER_EXIT", 4, false);
    /// An interrupt is delivered to its thread (8.0).
    pub const INTERRUPT_DELIVER: Self = Self::new(INTERRUPT | 7, "INT", 7, false);

    /// A thread changes its state.
    pub const fn thread(state: u16) -> Self {
        Self::new(PROCESS_THREAD | state, "THREAD", state, false)
    }

    /// A virtual thread changes its state (until 7.x): the numbers after those of threads.
    pub const fn virtual_thread(state: u16) -> Self {
        Self::new(PROCESS_THREAD | (state + 26), "VTHREAD", state, false)
    }

    /// An event of a process: bits 9 to 6.
    pub const fn process(event: u16) -> Self {
        Self::new(PROCESS_THREAD | event << 6, "PROCESS", event, false)
    }

    /// A system event.
    pub const fn system(event: u16) -> Self {
        Self::new(SYSTEM | event, "SYSTEM", event, false)
    }

    /// An event that a program inserts.
    pub const fn user(event: u16) -> Self {
        Self::new(USER | event, "USER", event, false)
    }

    /// Messages, pulses, signals.
    pub const fn communication(event: u16) -> Self {
        Self::new(COMMUNICATION | event, "COMM", event, false)
    }

    /// An event of QUIP (6.6 and later).
    pub const fn quip(event: u16) -> Self {
        Self::new(QUIP | event, "QUIP", event, false)
    }

    /// An event of security (7.0 and later).
    pub const fn security(event: u16) -> Self {
        Self::new(SECURITY | event, "SEC", event, false)
    }

    /// An event of the hypervisor (7.x).
    pub const fn hypervisor(event: u16) -> Self {
        Self::new(HYPERVISOR | event, "QVM", event, false)
    }

    /// An event of performance counters (8.0).
    pub const fn counters(event: u16) -> Self {
        Self::new(COUNTERS | event, "PMU", event, false)
    }

    /// Bits that no document explains: a reader stores them unchanged as the event.
    pub const fn unknown(bits: u16) -> Self {
        Self::new(bits & 0x7fff, "UNKNOWN", bits & 0x7fff, false)
    }
}

/// Events of processes; a name is a string after two numbers.
pub mod process {
    /// Parent's pid, pid.
    pub const CREATE: u16 = 1;
    /// Parent's pid, pid.
    pub const DESTROY: u16 = 2;
    /// Parent's pid, pid, name.
    pub const CREATE_NAME: u16 = 3;
    /// Pid, tid, name.
    pub const THREAD_NAME: u16 = 5;
}

/// States of threads that all releases number alike.
pub mod state {
    /// It has ended.
    pub const DEAD: u16 = 0;
    /// On a CPU.
    pub const RUNNING: u16 = 1;
    /// Waits for a CPU.
    pub const READY: u16 = 2;
    /// Sent a message that is not received yet.
    pub const SEND: u16 = 4;
    /// Waits for a message.
    pub const RECEIVE: u16 = 5;
    /// Sent a message that is not answered.
    pub const REPLY: u16 = 6;
    /// Sleeps.
    pub const NANOSLEEP: u16 = 12;
    /// Waits for a mutex.
    pub const MUTEX: u16 = 13;
    /// Waits for an interrupt.
    pub const INTR: u16 = 16;
    /// It is created.
    pub const CREATE: u16 = 24;
    /// Ends.
    pub const DESTROY: u16 = 25;
}

/// Kernel calls that all releases number alike.
pub mod call {
    /// Controls the trace; inserts user events.
    pub const TRACE_EVENT: u16 = 1;
    /// Sends a message and waits for the answer.
    pub const MSG_SEND: u16 = 11;
    /// Answers a message with an error.
    pub const MSG_ERROR: u16 = 13;
    /// Waits for a message or pulse.
    pub const MSG_RECEIVE: u16 = 14;
    /// Answers a message.
    pub const MSG_REPLY: u16 = 15;
    /// Sends a pulse.
    pub const MSG_SEND_PULSE: u16 = 20;
    /// Sends a signal.
    pub const SIGNAL_KILL: u16 = 26;
    /// Makes a thread.
    pub const THREAD_CREATE: u16 = 46;
    /// Ends a thread.
    pub const THREAD_DESTROY: u16 = 47;
    /// Waits for an interrupt.
    pub const INTERRUPT_WAIT: u16 = 58;
    /// Sleeps, or limits the time of the next call.
    pub const TIMER_TIMEOUT: u16 = 75;
    /// Locks a mutex that another thread holds.
    pub const MUTEX_LOCK: u16 = 80;
    /// Unlocks a mutex that another thread waits for.
    pub const MUTEX_UNLOCK: u16 = 81;
}

/// Events of communication.
pub mod communication {
    /// Receive id, pid of the server.
    pub const SEND_MESSAGE: u16 = 0;
    /// Connection of the server, pid of the server.
    pub const SEND_PULSE: u16 = 1;
    /// Receive id, pid of the server.
    pub const RECEIVE_MESSAGE: u16 = 2;
    /// Connection of the server, pid of the server.
    pub const RECEIVE_PULSE: u16 = 3;
    /// A pulse of a timer or an interrupt.
    pub const SEND_PULSE_EXE: u16 = 4;
    /// Number and code of the signal.
    pub const SIGNAL: u16 = 9;
    /// Tid and pid of the client.
    pub const REPLY: u16 = 10;
    /// Tid and pid of the client.
    pub const ERROR: u16 = 11;
}

/// System events.
pub mod system {
    /// Pid, tid, path.
    pub const PATH_MANAGER: u16 = 2;
    /// Pid, address, length, flags and more (7.0 and later).
    pub const MAP: u16 = 6;
    /// Instruction, tid, pid.
    pub const PROFILE: u16 = 0x14;
    /// Pid, tid, interrupt, CPU, flags, priority of an interrupt's thread (8.0).
    pub const IST_ATTACH: u16 = 0x1d;
}
