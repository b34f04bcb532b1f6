//! Rules for messages, pulses and signals: they set and clear OS events of BTF.

use super::counters::Finding;
use super::entities::Named;
use super::mapper::QnxMapper;
use super::wake::Wake;
use super::words;
use crate::btf::{Action, EntityType, NameId, Note};
use crate::qnx::Event;

/// Event numbers of class COMM.
mod number {
    pub const SEND: u16 = 0;
    pub const SEND_PULSE: u16 = 1;
    pub const RECEIVE: u16 = 2;
    pub const RECEIVE_PULSE: u16 = 3;
    /// Pulses of the kernel: for events, and for the end of connections and threads.
    pub const KERNEL_PULSES: std::ops::RangeInclusive<u16> = 4..=8;
    pub const SIGNAL: u16 = 9;
    pub const REPLY: u16 = 10;
    pub const ERROR: u16 = 11;
}

impl QnxMapper {
    /// Rule Q22: the OS event that a message to a process sets.
    pub(super) fn message_event(&mut self, pid: u32) -> NameId {
        self.named(Named::Message, (pid, 0), |_| match pid {
            words::NONE => "MSG_unknown".to_owned(),
            _ => format!("MSG_{pid}"),
        })
    }

    /// Rule Q24.
    fn pulse_event(&mut self, pid: u32) -> NameId {
        self.named(Named::Pulse, (pid, 0), |_| match pid {
            words::NONE => "PLS_unknown".to_owned(),
            _ => format!("PLS_{pid}"),
        })
    }

    pub(super) fn comm_event(&mut self, cpu: usize, event: &Event<'_>) {
        let (id, pid) = (event.word(0), event.word(1));
        match event.event {
            number::SEND => {
                let (name, owner) = (self.message_event(pid), self.receiver(pid));
                self.sets(cpu, name, owner);
                self.causes.process(pid, self.turn, Wake::Message);
                self.message_sent(cpu, id, pid);
            }
            number::RECEIVE => {
                let name = self.message_event(pid);
                self.clears(cpu, name, id);
                self.message_received(cpu, id, pid);
            }
            number::REPLY | number::ERROR => self.replied(cpu, (pid, id), event.event == number::ERROR),
            number::SIGNAL => self.signalled(cpu),
            number::RECEIVE_PULSE => {
                let name = self.pulse_event(pid);
                self.clears(cpu, name, id);
                self.pulse_received(cpu, id, pid);
            }
            pulse if pulse == number::SEND_PULSE || number::KERNEL_PULSES.contains(&pulse) => {
                let (name, owner) = (self.pulse_event(pid), self.receiver(pid));
                self.sets(cpu, name, owner);
                self.causes.process(pid, self.turn, Wake::Pulse);
                self.pulse_sent(cpu, id, pid, pulse == number::SEND_PULSE);
            }
            _ => {}
        }
    }

    /// Rule Q24: what executes sets an event for its owner, which the note names (BTF 2.1.5 table 14).
    fn sets(&mut self, cpu: usize, name: NameId, owner: NameId) {
        let source = self.cause_on(cpu);
        self.emit(source, EntityType::OsEvent, (name, 0), Action::SetEvent, Note::Name(owner));
    }

    /// Only its owner clears an event (BTF 2.1.5 table 14): there is no event when the trace does not say who
    /// received. The note identifies the message.
    fn clears(&mut self, cpu: usize, name: NameId, id: u32) {
        match self.thread_on(cpu) {
            Some(thread) => {
                let note = Note::Hex(u64::from(id));
                self.emit(thread, EntityType::OsEvent, (name, 0), Action::ClearEvent, note);
            }
            None => self.count(Finding::ReceiptOfNobody),
        }
    }

    /// The owner of the events of messages to a process: its only thread. If it has more, nothing tells which
    /// of them will receive, and the process itself is named.
    fn receiver(&mut self, pid: u32) -> NameId {
        if let Some(thread) = self.threads.only_of(pid).map(|t| &self.threads[t]).filter(|t| t.exported) {
            return thread.name;
        }
        let name = self.process_name(pid);
        self.intern(&name)
    }

    /// Rule Q23: a thread gets the reply to its message.
    fn replied(&mut self, cpu: usize, (pid, tid): (u32, u32), error: bool) {
        if pid == words::NONE {
            return;
        }
        let name = self.named(Named::Reply, (pid, u64::from(tid)), |_| format!("RPL_{pid}_{tid}"));
        let client = self.task(pid, tid);
        self.sets(cpu, name, client);
        if let Some(t) = self.threads.find((pid, tid)) {
            let wake = if error { Wake::Error } else { Wake::Reply };
            self.threads[t].cause = Some((self.turn, wake));
            self.threads[t].replied = true;
        }
        self.message_replied(cpu, (pid, tid), error);
    }

    /// Rule Q25: the kernel delivers a signal to the thread that will continue, which is the running one.
    fn signalled(&mut self, cpu: usize) {
        let Some(t) = self.cores[cpu].running else { return };
        let (pid, tid) = self.threads[t].pid_tid();
        let name = self.named(Named::Signal, (pid, u64::from(tid)), |_| format!("SIG_{pid}_{tid}"));
        self.sets(cpu, name, self.threads[t].name);
    }
}
