//! Table `kernel_interrupt`.

use crate::map::qnx::mapper::QnxMapper;
use crate::map::qnx::state::Frame;
use crate::schema::KernelInterruptRow;

impl QnxMapper {
    /// An interrupt of a CPU ended, or was cut off. It is already off the stack.
    pub(in crate::map::qnx) fn write_interrupt(
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
