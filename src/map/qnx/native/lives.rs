//! Tables `kernel_process` and `kernel_thread`.

use crate::map::qnx::call::Outcome;
use crate::map::qnx::mapper::QnxMapper;
use crate::schema::{KernelProcessRow, KernelThreadRow};

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
}
