//! Table `kernel_call`.

use crate::map::qnx::call::{OpenCall, Outcome};
use crate::map::qnx::mapper::QnxMapper;
use crate::schema::KernelCallRow;

impl QnxMapper {
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
                Outcome::Returned(result) => Some(result),
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
}
