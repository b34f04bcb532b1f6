//! Table `kernel_message`: sending and receipt are paired by server and `rcvid`, first come first served; the reply goes to
//! the client, who has one message under way, or is that of the client whom the replying thread serves.

use std::collections::{BTreeMap, VecDeque};

use super::OpenCall;
use crate::btf::{IdMap, NameId};
use crate::map::kernel::counters::Finding;
use crate::map::kernel::mapper::KernelMapper;
use crate::map::kernel::sync::call;
use crate::map::kernel::words;
use crate::schema::KernelMessageRow;

/// More messages than are under way on any target: the oldest are forgotten.
const MAX_OPEN: usize = 1 << 16;

type ThreadKey = (u32, u32);

/// A message or pulse under way.
#[derive(Debug, Clone)]
struct Message {
    pulse: bool,
    id: u32,
    client: Option<(ThreadKey, NameId)>,
    server: u32,
    server_name: Option<NameId>,
    receiver: Option<ThreadKey>,
    send: Option<i64>,
    receive: Option<i64>,
}

/// Everything under way, by its number; numbers rise.
#[derive(Debug, Default)]
pub(in crate::map::kernel) struct Messages {
    open: BTreeMap<u64, Message>,
    next: u64,
    /// What was sent and not received, by server, id, and whether it is a pulse.
    sent: IdMap<(u32, u64), VecDeque<u64>>,
    /// The message of a client.
    by_client: IdMap<ThreadKey, u64>,
    /// The message that a thread received last from a client that is not known.
    served: IdMap<ThreadKey, u64>,
}

/// Key of a queue: pulses and messages have queues of their own.
fn queue(pulse: bool, id: u32, server: u32) -> (u32, u64) {
    (server, u64::from(pulse) << 32 | u64::from(id))
}

impl Messages {
    fn add(&mut self, message: Message) -> u64 {
        let number = self.next;
        self.next += 1;
        self.open.insert(number, message);
        number
    }

    /// The thread that received the message of a client.
    pub(super) fn receiver_of(&self, client: ThreadKey) -> Option<u32> {
        let message = self.open.get(self.by_client.get(&client)?)?;
        message.receiver.map(|(_, tid)| tid)
    }

    /// Takes one out, with every mark of it.
    fn remove(&mut self, number: u64) -> Option<Message> {
        let message = self.open.remove(&number)?;
        if message.receive.is_none() {
            let key = queue(message.pulse, message.id, message.server);
            if let Some(waiting) = self.sent.get_mut(&key) {
                waiting.retain(|n| *n != number);
                if waiting.is_empty() {
                    self.sent.remove(&key);
                }
            }
        }
        if let Some((client, _)) = message.client
            && self.by_client.get(&client) == Some(&number)
        {
            self.by_client.remove(&client);
        }
        if let Some(receiver) = message.receiver
            && self.served.get(&receiver) == Some(&number)
        {
            self.served.remove(&receiver);
        }
        Some(message)
    }
}

impl KernelMapper {
    /// The thread that runs on a CPU, with the task that it is.
    fn who(&self, cpu: usize) -> Option<(ThreadKey, NameId)> {
        let thread = &self.threads[self.cores[cpu].running?];
        Some((thread.pid_tid(), thread.name))
    }

    /// The server of a message: a name only if it is a process.
    fn server_name(&mut self, pid: u32) -> Option<NameId> {
        // 0 is the network, −1 a failure.
        (pid != words::NOBODY && pid != 0).then(|| {
            let name = self.process_name(pid);
            self.intern(&name)
        })
    }

    fn send(&mut self, client: Option<(ThreadKey, NameId)>, id: u32, server: u32, pulse: bool) -> u64 {
        if self.messages.open.len() >= MAX_OPEN
            && let Some(oldest) = self.messages.open.keys().next().copied()
        {
            self.count(Finding::TooManyMessages);
            self.end_message(oldest, None, "cut");
        }
        let (server_name, send) = (self.server_name(server), Some(self.now));
        let message = Message { pulse, id, client, server, server_name, receiver: None, send, receive: None };
        let number = self.messages.add(message);
        self.messages.sent.entry(queue(pulse, id, server)).or_default().push_back(number);
        number
    }

    pub(in crate::map::kernel) fn message_sent(&mut self, cpu: usize, id: u32, server: u32) {
        let client = self.who(cpu);
        if let Some((key, _)) = client {
            self.abandon(key);
        }
        if let Some(t) = self.cores[cpu].running {
            self.threads[t].server = Some(server);
        }
        let number = self.send(client, id, server, false);
        if let Some((key, _)) = client {
            self.messages.by_client.insert(key, number);
        }
    }

    /// `by_thread`: a thread sent it; else the kernel did, whoever runs.
    pub(in crate::map::kernel) fn pulse_sent(&mut self, cpu: usize, id: u32, server: u32, by_thread: bool) {
        let client = if by_thread && self.cores[cpu].frames.is_empty() { self.who(cpu) } else { None };
        self.send(client, id, server, true);
    }

    /// What waits longest in a queue, or what was sent before anybody saw it.
    fn receive(&mut self, cpu: usize, id: u32, server: u32, pulse: bool) -> u64 {
        let receiver = self.who(cpu).map(|(key, _)| key).filter(|(pid, _)| *pid == server);
        let key = queue(pulse, id, server);
        let waiting = self.messages.sent.get_mut(&key).and_then(VecDeque::pop_front);
        if self.messages.sent.get(&key).is_some_and(VecDeque::is_empty) {
            self.messages.sent.remove(&key);
        }
        let number = waiting.unwrap_or_else(|| {
            let server_name = self.server_name(server);
            self.messages.add(Message {
                pulse,
                id,
                client: None,
                server,
                server_name,
                receiver: None,
                send: None,
                receive: None,
            })
        });
        let now = self.now;
        if let Some(message) = self.messages.open.get_mut(&number) {
            (message.receive, message.receiver) = (Some(now), receiver);
        }
        number
    }

    pub(in crate::map::kernel) fn message_received(&mut self, cpu: usize, id: u32, server: u32) {
        let number = self.receive(cpu, id, server, false);
        let Some(message) = self.messages.open.get(&number) else { return };
        match (message.client, message.receiver) {
            (Some((client, _)), Some(receiver)) => {
                // The client waits for this thread from now on.
                if let Some(t) = self.slots.get(&client).copied()
                    && let Some(stretch) = self.threads[t].stretch.as_mut().filter(|s| s.blocked)
                    && stretch.by == Some((server, None))
                {
                    stretch.by = Some((server, Some(receiver.1)));
                }
            }
            (None, Some(receiver)) => {
                if let Some(before) = self.messages.served.insert(receiver, number) {
                    self.end_message(before, None, "cut");
                }
            }
            // Nobody can tell a reply to it.
            (None, None) => self.end_message(number, None, "cut"),
            (Some(_), None) => {}
        }
    }

    pub(in crate::map::kernel) fn pulse_received(&mut self, cpu: usize, id: u32, server: u32) {
        let number = self.receive(cpu, id, server, true);
        self.end_message(number, None, "received");
    }

    pub(in crate::map::kernel) fn message_replied(&mut self, cpu: usize, client: ThreadKey, error: bool) {
        let outcome = if error { "error" } else { "replied" };
        if let Some(number) = self.messages.by_client.get(&client).copied() {
            return self.end_message(number, Some(self.now), outcome);
        }
        let served = self.who(cpu).and_then(|(key, _)| self.messages.served.get(&key).copied());
        let Some(number) = served else { return };
        // Now it is known whose it was.
        let task = self.task(client.0, client.1);
        if let Some(message) = self.messages.open.get_mut(&number) {
            message.client = Some((client, task));
        }
        self.end_message(number, Some(self.now), outcome);
    }

    /// The call by which a client sent is over.
    pub(in crate::map::kernel) fn client_goes_on(&mut self, t: usize, call: &OpenCall) {
        if matches!(call.number, call::MSG_SENDV | call::MSG_SENDVNC) {
            let key = self.threads[t].pid_tid();
            self.abandon(key);
        }
    }

    /// A client is no more.
    pub(in crate::map::kernel) fn client_ends(&mut self, t: usize) {
        let key = self.threads[t].pid_tid();
        self.abandon(key);
    }

    /// A client waits for no reply any more.
    fn abandon(&mut self, client: ThreadKey) {
        if let Some(number) = self.messages.by_client.get(&client).copied() {
            self.end_message(number, None, "abandoned");
        }
    }

    /// The recording has a hole, or ends.
    pub(in crate::map::kernel) fn cut_messages(&mut self) {
        let open: Vec<u64> = self.messages.open.keys().copied().collect();
        for number in open {
            self.end_message(number, None, "cut");
        }
    }

    fn end_message(&mut self, number: u64, reply: Option<i64>, outcome: &str) {
        let Some(message) = self.messages.remove(number) else { return };
        let pid = |pid: u32| (pid != words::NOBODY).then_some(i64::from(pid));
        let client = message.client.map(|(key, _)| key);
        self.rows.messages.push(KernelMessageRow {
            kind: if message.pulse { "pulse" } else { "message" }.into(),
            rcvid: u64::from(message.id),
            client_pid: client.and_then(|(p, _)| pid(p)),
            client_tid: client.map(|(_, tid)| i64::from(tid)),
            client: message.client.map(|(_, task)| self.names.name(task)),
            server_pid: pid(message.server).filter(|pid| *pid != 0),
            server_tid: message.receiver.map(|(_, tid)| i64::from(tid)),
            server: message.server_name.map(|name| self.names.name(name)),
            send_at: message.send,
            receive_at: message.receive,
            reply_at: reply,
            outcome: outcome.into(),
        });
    }
}
