//! QNX kernel events to system events, and to the native tables of kernel traces. Not their records of 16
//! bytes (see `formats::qnx`).
//!
//! Threads are tasks, interrupts are ISRs, kernel calls, handlers and instrumented functions are runnables. A
//! kernel trace has less information than BTF needs (a thread gets a CPU before its predecessor is recorded
//! to lose it; a blocked one may run without having been ready), so some events are derived, with a note that
//! says why (`docs/mapping.md`).

mod call;
mod calls;
mod comm;
mod counters;
mod directory;
mod dump;
mod emit;
mod entities;
mod functions;
mod interrupts;
mod mapper;
mod messages;
mod native;
mod saved;
mod state;
mod stored;
mod sync;
#[cfg(test)]
mod tests;
mod threads;
mod wake;
mod words;

pub use mapper::QnxMapper;
pub use native::KernelRows;

use super::{Finished, Gap, Mapper, Output, Recording, StoredRows};
use crate::btf::{NameId, Names};
use crate::error::Result;
use crate::qnx::{Event, Flavour};
use crate::schema::{TableSpec, tables};
use saved::State;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// A kernel event at its place in the recording.
#[derive(Debug, Clone, Copy)]
pub struct Occurrence<'a> {
    pub time: i64,
    pub event: Event<'a>,
    /// The string among its words, if any: the name of a process or thread, a path, or a text of a program.
    pub text: Option<&'a str>,
}

/// What an interrupt does to the thread that it interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Irq {
    /// It preempts it: the time of the interrupt does not count for the thread.
    #[default]
    Preempt,
    /// Nothing: the thread keeps running, as the kernel sees it, and the interrupt runs on an additional core
    /// of its CPU, `Core_<cpu>_irq`.
    Overlay,
}

/// How to map a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of Neutrino that wrote it.
    pub flavour: Flavour,
    /// Number of CPUs of the target (`TRACE_CPU_NUM`): as many threads of process 1 are idle threads.
    pub cpus: u32,
    /// Blocking states that end an instance of a task, by their names (`RECEIVE`): each wake-up begins
    /// another. Without any, an instance is a thread from its creation to its end.
    pub jobs: Vec<String>,
    /// What interrupts do to threads.
    pub irq: Irq,
    /// Whether idle threads become tasks.
    pub idle: bool,
}

impl Mapper for QnxMapper {
    const NAME: &'static str = "qnx";
    const STATE_VERSION: u32 = 2;
    const TABLES: &'static [&'static TableSpec] = &[tables::KERNEL_EVENT];
    const NATIVE_TABLES: &'static [&'static TableSpec] = &[
        tables::KERNEL_PROCESS,
        tables::KERNEL_THREAD,
        tables::KERNEL_STATE,
        tables::KERNEL_CALL,
        tables::KERNEL_INTERRUPT,
        tables::KERNEL_MESSAGE,
    ];
    /// Events of all kinds show what exists already, and which threads are idle.
    const LOOK_AHEADS: usize = 1;

    type Settings = Settings;
    type Event<'a> = Occurrence<'a>;
    type NativeRows = KernelRows;
    type State = State;

    fn new(settings: Settings, recording: &Recording<'_>) -> Result<Self> {
        Ok(Self::at_begin(settings, (recording.begin, recording.end)))
    }

    fn resume(&mut self, state: State) -> Result<()> {
        self.resume_from(state);
        Ok(())
    }

    fn read<R: StoredRows>(
        &mut self,
        rows: &R,
        _pass: usize,
        mut take: impl FnMut(&mut Self, &Occurrence<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        stored::in_order(rows, |occurrence| take(self, occurrence))
    }

    fn time_of(occurrence: &Occurrence<'_>) -> i64 {
        occurrence.time
    }

    fn look_ahead(&mut self, _pass: usize, occurrence: &Occurrence<'_>) -> ControlFlow<()> {
        self.directory.event(occurrence);
        ControlFlow::Continue(())
    }

    fn end_look_ahead(&mut self, _pass: usize) {}

    fn range(&self) -> (i64, i64) {
        self.range
    }

    fn event(&mut self, occurrence: &Occurrence<'_>) {
        self.occurrence(occurrence);
    }

    fn gap(&mut self, gap: &Gap) {
        self.cut(gap.begin, gap.end);
    }

    fn known_idle_tasks(&self) -> &[NameId] {
        &self.idle_tasks
    }

    fn names(&self) -> &Names {
        &self.entities.names
    }

    fn names_mut(&mut self) -> &mut Names {
        &mut self.entities.names
    }

    fn take(&mut self, at_least: usize) -> Option<Vec<Output>> {
        (self.out.len() >= at_least).then(|| std::mem::take(&mut self.out))
    }

    fn take_rows(&mut self, at_least: usize) -> Option<KernelRows> {
        self.rows.take(at_least)
    }

    fn finish(&mut self) -> Finished<Self> {
        self.pass_gap(self.range.1);
        let state = self.state_at_end();
        self.end();
        let (outputs, rows) = (std::mem::take(&mut self.out), std::mem::take(&mut self.rows));
        Finished { outputs, rows, log: self.counters.log(), relevant: self.turn, state }
    }
}
