//! Table `kernel_message`. A reply goes to the client that waits for one, or else to the client that the
//! replying thread serves.

use crate::btf::NameId;
use crate::map::qnx::call::{OpenCall, number};
use crate::map::qnx::counters::Finding;
use crate::map::qnx::mapper::QnxMapper;
use crate::map::qnx::messages::Message;
use crate::map::qnx::state::ThreadKey;
use crate::map::qnx::words;
use crate::schema::KernelMessageRow;

impl QnxMapper {
    /// The thread that runs on a CPU, and its task.
    fn running_thread(&self, cpu: usize) -> Option<(ThreadKey, NameId)> {
        let thread = &self.threads[self.cores[cpu].running?];
        Some((thread.pid_tid(), thread.name))
    }

    /// The server of a message: a name only if it is a process.
    fn server_name(&mut self, pid: u32) -> Option<NameId> {
        // 0 is the network, −1 a failure.
        (pid != words::NONE && pid != 0).then(|| {
            let name = self.process_name(pid);
            self.intern(&name)
        })
    }

    fn send(&mut self, client: Option<(ThreadKey, NameId)>, id: u32, server: u32, pulse: bool) -> u64 {
        if let Some(oldest) = self.messages.surplus() {
            self.count(Finding::TooManyMessages);
            self.end_message(oldest, None, "cut");
        }
        let (server_name, send) = (self.server_name(server), Some(self.now));
        self.messages.send(Message { pulse, id, client, server, server_name, send, ..Message::default() })
    }

    pub(in crate::map::qnx) fn message_sent(&mut self, cpu: usize, id: u32, server: u32) {
        let client = self.running_thread(cpu);
        if let Some((key, _)) = client {
            self.abandon(key);
        }
        if let Some(t) = self.cores[cpu].running {
            self.threads[t].server = Some(server);
        }
        let number = self.send(client, id, server, false);
        if let Some((key, _)) = client {
            self.messages.wait(key, number);
        }
    }

    /// `by_thread`: a thread sent it; else the kernel did, whichever thread is running.
    pub(in crate::map::qnx) fn pulse_sent(&mut self, cpu: usize, id: u32, server: u32, by_thread: bool) {
        let client =
            if by_thread && self.cores[cpu].frames.is_empty() { self.running_thread(cpu) } else { None };
        self.send(client, id, server, true);
    }

    /// Rule Q29: the oldest message of a queue, or one that was sent before the recording.
    fn receive(&mut self, cpu: usize, id: u32, server: u32, pulse: bool) -> u64 {
        let receiver = self.running_thread(cpu).map(|(key, _)| key).filter(|(pid, _)| *pid == server);
        let number = self.messages.next_of(pulse, id, server).unwrap_or_else(|| {
            let server_name = self.server_name(server);
            self.messages.add(Message { pulse, id, server, server_name, ..Message::default() })
        });
        self.messages.receive(number, self.now, receiver);
        number
    }

    pub(in crate::map::qnx) fn message_received(&mut self, cpu: usize, id: u32, server: u32) {
        let number = self.receive(cpu, id, server, false);
        let Some(message) = self.messages.get(number) else { return };
        match (message.client, message.receiver) {
            (Some((client, _)), Some(receiver)) => {
                // From now on, the client waits for this thread.
                if let Some(t) = self.threads.find(client)
                    && let Some(stretch) = self.threads[t].stretch.as_mut().filter(|s| s.blocked)
                    && stretch.by == Some((server, None))
                {
                    stretch.by = Some((server, Some(receiver.1)));
                }
            }
            (None, Some(receiver)) => {
                if let Some(before) = self.messages.serve(receiver, number) {
                    self.end_message(before, None, "cut");
                }
            }
            // No reply could be matched to it.
            (None, None) => self.end_message(number, None, "cut"),
            (Some(_), None) => {}
        }
    }

    pub(in crate::map::qnx) fn pulse_received(&mut self, cpu: usize, id: u32, server: u32) {
        let number = self.receive(cpu, id, server, true);
        self.end_message(number, None, "received");
    }

    pub(in crate::map::qnx) fn message_replied(&mut self, cpu: usize, client: ThreadKey, error: bool) {
        let outcome = if error { "error" } else { "replied" };
        if let Some(number) = self.messages.of_client(client) {
            return self.end_message(number, Some(self.now), outcome);
        }
        let served = self.running_thread(cpu).and_then(|(key, _)| self.messages.served_by(key));
        let Some(number) = served else { return };
        // Now its client is known.
        let task = self.task(client.0, client.1);
        self.messages.set_client(number, (client, task));
        self.end_message(number, Some(self.now), outcome);
    }

    /// The client's call that sent a message is over.
    pub(in crate::map::qnx) fn client_goes_on(&mut self, t: usize, call: &OpenCall) {
        if matches!(call.number, number::MSG_SENDV | number::MSG_SENDVNC) {
            self.abandon(self.threads[t].pid_tid());
        }
    }

    pub(in crate::map::qnx) fn client_ends(&mut self, t: usize) {
        self.abandon(self.threads[t].pid_tid());
    }

    /// The client no longer waits for a reply.
    fn abandon(&mut self, client: ThreadKey) {
        if let Some(number) = self.messages.of_client(client) {
            self.end_message(number, None, "abandoned");
        }
    }

    /// The recording has a gap, or ends.
    pub(in crate::map::qnx) fn cut_messages(&mut self) {
        for number in self.messages.numbers() {
            self.end_message(number, None, "cut");
        }
    }

    fn end_message(&mut self, number: u64, reply: Option<i64>, outcome: &str) {
        let Some(message) = self.messages.remove(number) else { return };
        let pid = |pid: u32| (pid != words::NONE).then_some(i64::from(pid));
        let client = message.client.map(|(key, _)| key);
        self.rows.messages.push(KernelMessageRow {
            kind: if message.pulse { "pulse" } else { "message" }.into(),
            rcvid: u64::from(message.id),
            client_pid: client.and_then(|(p, _)| pid(p)),
            client_tid: client.map(|(_, tid)| i64::from(tid)),
            client: message.client.map(|(_, task)| self.entities.names.name(task)),
            server_pid: pid(message.server).filter(|pid| *pid != 0),
            server_tid: message.receiver.map(|(_, tid)| i64::from(tid)),
            server: message.server_name.map(|name| self.entities.names.name(name)),
            send_at: message.send,
            receive_at: message.receive,
            reply_at: reply,
            outcome: outcome.into(),
        });
    }
}
