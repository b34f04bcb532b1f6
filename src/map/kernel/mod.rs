//! QNX kernel events to system events, and to the native tables of kernel traces. Kernel events in, BTF events and rows
//! out, one at a time; knows no files, no records of 16 bytes, no SQL. The other rooms of QNX are listed in [`crate::qnx`].
//!
//! Threads are tasks, interrupts are ISRs, kernel calls, handlers and instrumented functions are runnables. A kernel
//! trace says less than BTF wants (a thread gets a CPU before its predecessor is said to have lost it; a blocked one may
//! run without having been ready), so some events are derived, and their notes say so:
//!
//! | note | derived because |
//! |---|---|
//! | `implicit` | another event of the kernel means it: a thread lost its CPU, an interrupt is over |
//! | `direct` | a thread ran that had been blocked: the kernel hands over without READY |
//! | `irq` | an interrupt took the core from a process, and gave it back |
//! | `migrate` | a thread runs on another CPU now |
//! | `gap` | the trace has a hole: BTF knows none, so what runs there is taken from its core (see `Output::Closing`) |
//! | `synth` | BTF has no such transition: a slice of no length on `Core_X` makes it legal |
//!
//! * `directory` – which process a process id means, from a first look at the whole recording
//! * `dump` – which events tell what is there already
//! * `state`, `emit` – what is remembered; processes enter and leave cores with their runnables
//! * `threads`, `interrupts`, `calls`, `functions`, `comm`, `sync` – the rules, by class of event
//! * `wake` – what woke a thread
//! * `native` – rows of the native tables
//! * `words` – arguments of events

mod calls;
mod comm;
mod counters;
mod directory;
mod dump;
mod emit;
mod functions;
mod interrupts;
mod mapper;
mod native;
mod state;
mod sync;
#[cfg(test)]
mod tests;
mod threads;
mod wake;
mod words;

pub use directory::Directory;
pub use mapper::{Finished, KernelMapper};
pub use native::KernelRows;

use crate::qnx::{Event, Flavour};

/// A kernel event at its place in the recording.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence<'a> {
    /// When, in ticks.
    pub time: i64,
    /// Its number in the recording; orders events of equal time.
    pub seq: i64,
    /// The event.
    pub event: Event<'a>,
    /// The string among its words, if it has one: the name of a process or thread, a path, what a program wrote.
    pub text: Option<&'a str>,
}

/// What an interrupt does to the thread that it interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Irq {
    /// It preempts it: the time of the interrupt is none of the thread's.
    #[default]
    Preempt,
    /// Nothing: the thread goes on running, as the kernel counts it, and the interrupt runs on a core beside that of the
    /// CPU, `Core_<cpu>_irq`.
    Overlay,
}

/// How to map a recording.
#[derive(Debug, Clone, Default)]
pub struct KernelSetup {
    /// Who wrote it.
    pub flavour: Flavour,
    /// How many CPUs the target has (`TRACE_CPU_NUM`): that many threads of process 1 are idle threads.
    pub cpus: u32,
    /// Blocking states that end an instance of a task, by their names (`RECEIVE`): each awakening begins another. Without
    /// any, an instance is a thread from its creation to its end.
    pub jobs: Vec<String>,
    /// What interrupts do to threads.
    pub irq: Irq,
    /// Whether idle threads become tasks.
    pub idle: bool,
}
