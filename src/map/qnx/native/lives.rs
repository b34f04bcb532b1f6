//! Tables `kernel_process`, `kernel_thread`, `kernel_call` and `kernel_interrupt`. Not states
//! (see `stretches`), nor messages.

use crate::map::qnx::call::{OpenCall, Outcome};
use crate::map::qnx::mapper::QnxMapper;
use crate::map::qnx::state::Frame;
use crate::schema::{KernelCallRow, KernelInterruptRow, KernelProcessRow, KernelThreadRow};

impl QnxMapper {
    /// A thread is over: its call and its state end with it.
    pub(in crate::map::qnx) fn end_thread(&mut self, t: usize) {
        self.end_call(t, Outcome::ThreadEnd);
        self.end_state(t, true);
        self.client_ends(t);
    }

    /// The recording has a gap, or ends: the call and the state of a thread are cut off.
    pub(in crate::map::qnx) fn cut_thread(&mut self, t: usize) {
        if let Some(call) = self.threads[t].call.take() {
            self.write_call(t, &call, Outcome::Cut);
        }
        self.end_state(t, false);
    }

    pub(in crate::map::qnx) fn write_thread(&mut self, t: usize, destroyed_at: Option<i64>) {
        let thread = &self.threads[t];
        self.rows.threads.push(KernelThreadRow {
            pid: i64::from(thread.pid),
            tid: i64::from(thread.tid),
            incarnation: thread.incarnation,
            process: thread.process.map(|p| self.entities.names.name(p)),
            name: thread.own_name.map(|n| self.entities.names.name(n)),
            task: self.entities.names.name(thread.name),
            idle: thread.idle,
            created_at: thread.created_at,
            destroyed_at,
            dumped: thread.dumped,
        });
    }

    /// Writes all processes, which the look-ahead has found.
    pub(in crate::map::qnx) fn write_processes(&mut self) {
        for life in self.directory.lives() {
            self.rows.processes.push(KernelProcessRow {
                pid: i64::from(life.pid),
                ppid: life.ppid.map(i64::from),
                name: life.path().map(Into::into),
                created_at: life.created_at,
                destroyed_at: life.destroyed_at,
                dumped: life.dumped,
            });
        }
    }

    /// A kernel call ended, or was cut off.
    pub(in crate::map::qnx) fn write_call(&mut self, t: usize, call: &OpenCall, outcome: Outcome) {
        let exit = (outcome != Outcome::Cut).then_some(self.now);
        let thread = &self.threads[t];
        self.rows.calls.push(KernelCallRow {
            pid: i64::from(thread.pid),
            tid: i64::from(thread.tid),
            incarnation: thread.incarnation,
            process: thread.process.map(|p| self.entities.names.name(p)),
            task: self.entities.names.name(thread.name),
            cpu: call.cpu as i64,
            call: self.entities.names.name(call.name),
            number: i64::from(call.number),
            enter_at: call.enter,
            exit_at: exit,
            duration: exit.map(|exit| exit - call.enter),
            result: match outcome {
                Outcome::Returned(result) => result,
                Outcome::Error(_) => Some(-1),
                _ => None,
            },
            errno: match outcome {
                Outcome::Error(errno) => Some(errno),
                _ => None,
            },
            outcome: match outcome {
                Outcome::Returned(_) => "returned",
                Outcome::Error(_) => "error",
                Outcome::Interrupted => "interrupted",
                Outcome::Restarted => "restarted",
                Outcome::ThreadEnd => "thread_end",
                Outcome::Cut => "cut",
            }
            .into(),
            object: call.first,
        });
    }

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
