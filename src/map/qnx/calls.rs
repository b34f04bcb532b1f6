//! Rules for kernel calls: a thread has one open call at a time, also while it is blocked in it.

use super::call::{OpenCall, Outcome, number};
use super::counters::Finding;
use super::entities::Named;
use super::mapper::QnxMapper;
use super::state::{Phase, Proc};
use super::wake::Wake;
use super::words;
use crate::btf::{NameId, Note};
use crate::qnx::{Event, LATER_CALLS, Status, UNKNOWN, event_name, is_failure};

impl QnxMapper {
    /// Rule Q19.
    pub(super) fn call_enter(&mut self, cpu: usize, event: &Event<'_>) {
        let Some(t) = self.cores[cpu].running else { return self.count(Finding::CallOfUnknownThread) };
        // Threads call the kernel, interrupts do not.
        self.end_interrupts(cpu);
        if let Some(call) = &self.threads[t].call {
            let again = call.number == event.event;
            self.end_call(t, if again { Outcome::Restarted } else { Outcome::Cut });
        }
        let name = self.call_name(event);
        let shown = self.threads[t].exported && self.threads[t].phase == Phase::Running;
        let runnable = shown.then(|| {
            let runnable = self.named(Named::Call, (1, u64::from(event.event)), |mapper| {
                format!("K_{}", mapper.entities.names.text(name))
            });
            self.start_runnable(Proc::Thread(t), runnable)
        });
        let call = OpenCall::new(self.settings.flavour, event, (name, runnable), (cpu, self.now));
        self.threads[t].server = None;
        self.sync_call(t, &call);
        if event.status != Status::Unread {
            self.signal_call(event);
        }
        self.threads[t].call = Some(call);
    }

    pub(super) fn call_exit(&mut self, cpu: usize, event: &Event<'_>) {
        let Some(t) = self.cores[cpu].running else { return self.count(Finding::CallExit) };
        let number = self.threads[t].call.as_ref().map(|call| call.number);
        if number != Some(event.event) {
            return self.count(Finding::CallExit);
        }
        self.end_interrupts(cpu);
        let outcome = match is_failure(event) {
            true => Outcome::Error(i64::from(event.word(1))),
            false => {
                let is_read = event.status != Status::Unread;
                Outcome::Returned(is_read.then(|| words::result(self.settings.flavour, event)))
            }
        };
        self.end_call(t, outcome);
    }

    pub(super) fn call_interrupted(&mut self, cpu: usize, event: &Event<'_>) {
        let Some(t) = self.cores[cpu].running else { return self.count(Finding::CallExit) };
        if self.threads[t].call.as_ref().is_none_or(|call| call.number != event.event) {
            return self.count(Finding::CallExit);
        }
        self.end_interrupts(cpu);
        self.end_call(t, Outcome::Interrupted);
    }

    pub(super) fn end_call(&mut self, t: usize, outcome: Outcome) {
        let Some(call) = self.threads[t].call.take() else { return };
        if outcome == Outcome::Cut {
            self.counters.count(Finding::CallCut, call.enter);
        }
        self.sync_exit(t, &call, outcome);
        self.client_goes_on(t, &call);
        self.write_call(t, &call, outcome);
        if let Some(runnable) = call.runnable {
            let note = match outcome {
                Outcome::Returned(_) => Note::None,
                Outcome::Error(errno) => self.note(&format!("ret=-1 errno={errno}")),
                Outcome::Interrupted => self.note("interrupted"),
                Outcome::Restarted => self.note("restarted"),
                Outcome::ThreadEnd => self.entities.notes.thread_end,
                Outcome::Cut => self.note("cut"),
            };
            self.end_runnable(Proc::Thread(t), runnable, note);
        }
        self.deferred_functions(t);
    }

    /// A thread sends a signal, which can wake threads of the target process.
    fn signal_call(&mut self, event: &Event<'_>) {
        if matches!(event.event, number::SIGNAL_KILL | number::SIGNAL_KILL_SIGVAL) {
            // `pid, signo` fast; `nd, pid, tid, signo, code, value` wide.
            let pid = event.word(if event.words.len() > 2 { 1 } else { 0 });
            self.causes.process(pid, self.turn, Wake::Signal);
        }
    }

    fn call_name(&mut self, event: &Event<'_>) -> NameId {
        let number = event.event;
        let version = self.settings.flavour.version;
        self.named(Named::Call, (0, u64::from(number)), |_| match event_name(version, event) {
            UNKNOWN if (LATER_CALLS..LATER_CALLS + 0x80).contains(&number) => {
                format!("CALL_{}", number - LATER_CALLS)
            }
            UNKNOWN => format!("CALL_{number}"),
            name => name.to_owned(),
        })
    }
}
