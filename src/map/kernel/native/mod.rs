//! Rows of the native tables of kernel traces: what the kernel said, in its own words, each row written when what it tells
//! of ends. Not what BTF makes of it.

mod calls;
mod lives;
mod messages;
mod stretches;

pub(super) use calls::OpenCall;
pub(super) use messages::Messages;
pub(super) use stretches::Stretch;

use super::mapper::KernelMapper;
use super::state::Frame;
use crate::schema::{
    KernelCallRows, KernelInterruptRow, KernelInterruptRows, KernelMessageRows, KernelProcessRows,
    KernelStateRows, KernelThreadRows,
};

/// Rows ready to be written, each table in the order of the ends.
#[derive(Debug, Default)]
pub struct KernelRows {
    /// Processes; all of them at the end of the recording.
    pub processes: KernelProcessRows,
    /// Threads.
    pub threads: KernelThreadRows,
    /// Stretches of one state.
    pub states: KernelStateRows,
    /// Kernel calls.
    pub calls: KernelCallRows,
    /// Interrupts.
    pub interrupts: KernelInterruptRows,
    /// Messages and pulses.
    pub messages: KernelMessageRows,
}

impl KernelRows {
    /// Takes the rows so far, if a table has `at_least` so many.
    pub fn take(&mut self, at_least: usize) -> Option<Self> {
        let rows = [self.states.len(), self.calls.len(), self.interrupts.len(), self.messages.len()];
        rows.iter().any(|rows| *rows >= at_least).then(|| std::mem::take(self))
    }
}

impl KernelMapper {
    /// An interrupt of a CPU ended, or was cut off. It is not on the stack any more.
    pub(super) fn write_interrupt(
        &mut self,
        cpu: usize,
        depth: usize,
        frame: &Frame,
        end: Option<i64>,
        complete: bool,
    ) {
        self.rows.interrupts.push(KernelInterruptRow {
            cpu: cpu as i64,
            vector: u64::from(frame.vector),
            depth: depth as i64,
            begin_at: frame.begin,
            end_at: end,
            running: end.map(|end| frame.spent + if frame.running { end - frame.since } else { 0 }),
            ip: frame.ip,
            handlers: frame.handlers,
            events: frame.events,
            pid: frame.thread.map(|(pid, _)| i64::from(pid)),
            tid: frame.thread.map(|(_, tid)| i64::from(tid)),
            complete,
        });
    }
}
