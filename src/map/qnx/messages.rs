//! Open messages and pulses: sending and receipt are paired by server and `rcvid`, first come first served; a
//! client has one open message. Not the rules.

use super::state::ThreadKey;
use crate::btf::NameId;
use crate::map::state::pairs;
use crate::names::IdMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Maximum number of open messages: beyond it, the oldest are forgotten.
const MAX_OPEN: usize = 1 << 16;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    pub pulse: bool,
    pub id: u32,
    pub client: Option<(ThreadKey, NameId)>,
    pub server: u32,
    pub server_name: Option<NameId>,
    pub receiver: Option<ThreadKey>,
    pub send: Option<i64>,
    pub receive: Option<i64>,
}

/// All open messages by number; numbers rise.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Messages {
    open: BTreeMap<u64, Message>,
    next: u64,
    /// Messages that were not received yet, by server, id, and whether they are pulses.
    #[serde(with = "pairs")]
    sent: IdMap<(u32, u64), VecDeque<u64>>,
    #[serde(with = "pairs")]
    by_client: IdMap<ThreadKey, u64>,
    /// The last message that a thread received from an unknown client.
    #[serde(with = "pairs")]
    served: IdMap<ThreadKey, u64>,
}

/// Key of a queue: pulses and messages have queues of their own.
fn queue(pulse: bool, id: u32, server: u32) -> (u32, u64) {
    (server, u64::from(pulse) << 32 | u64::from(id))
}

impl Messages {
    /// Adds a message that was sent and can be received; returns its number.
    pub fn send(&mut self, message: Message) -> u64 {
        let key = queue(message.pulse, message.id, message.server);
        let number = self.add(message);
        self.sent.entry(key).or_default().push_back(number);
        number
    }

    /// Adds a message that was not seen being sent; returns its number.
    pub fn add(&mut self, message: Message) -> u64 {
        let number = self.next;
        self.next += 1;
        self.open.insert(number, message);
        number
    }

    /// The message to forget before another one is sent.
    pub fn surplus(&self) -> Option<u64> {
        (self.open.len() >= MAX_OPEN).then(|| self.open.keys().next().copied()).flatten()
    }

    pub fn numbers(&self) -> Vec<u64> {
        self.open.keys().copied().collect()
    }

    pub fn get(&self, number: u64) -> Option<&Message> {
        self.open.get(&number)
    }

    /// Removes and returns the oldest message of a queue.
    pub fn next_of(&mut self, pulse: bool, id: u32, server: u32) -> Option<u64> {
        let key = queue(pulse, id, server);
        let waiting = self.sent.get_mut(&key)?;
        let number = waiting.pop_front();
        if waiting.is_empty() {
            self.sent.remove(&key);
        }
        number
    }

    /// Marks a message as received, by a thread if it is known.
    pub fn receive(&mut self, number: u64, time: i64, receiver: Option<ThreadKey>) {
        if let Some(message) = self.open.get_mut(&number) {
            (message.receive, message.receiver) = (Some(time), receiver);
        }
    }

    pub fn set_client(&mut self, number: u64, client: (ThreadKey, NameId)) {
        if let Some(message) = self.open.get_mut(&number) {
            message.client = Some(client);
        }
    }

    pub fn wait(&mut self, client: ThreadKey, number: u64) {
        self.by_client.insert(client, number);
    }

    /// The message for whose reply a client waits.
    pub fn of_client(&self, client: ThreadKey) -> Option<u64> {
        self.by_client.get(&client).copied()
    }

    /// A thread serves an unknown client; returns the message that it served before.
    pub fn serve(&mut self, receiver: ThreadKey, number: u64) -> Option<u64> {
        self.served.insert(receiver, number)
    }

    /// The message of an unknown client that a thread serves.
    pub fn served_by(&self, receiver: ThreadKey) -> Option<u64> {
        self.served.get(&receiver).copied()
    }

    /// The thread that received the message of a client.
    pub fn receiver_of(&self, client: ThreadKey) -> Option<u32> {
        let message = self.open.get(self.by_client.get(&client)?)?;
        message.receiver.map(|(_, tid)| tid)
    }

    /// Removes a message from all tables.
    pub fn remove(&mut self, number: u64) -> Option<Message> {
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
