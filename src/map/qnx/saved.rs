//! The state at the end of a kernel recording, from which the mapping of the next one continues. Plain data.
//!
//! It has threads and what they do, open interrupts, calls and messages, possible causes of wake-ups, the
//! names of all entities that are made of numbers, the next number of every instance, and the processes with
//! their programs. The native tables of the first recording show what is open at its end as cut off; those of
//! the second show it whole. It does not have names that processes get only in the second recording, for what
//! they did in the first.

use super::directory::Directory;
use super::dump::Dump;
use super::entities::Numbers;
use super::mapper::QnxMapper;
use super::messages::Messages;
use super::state::{Core, Servers, Threads};
use super::wake::Causes;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The time of the last event in ticks, and its number.
    time: i64,
    turn: u64,
    dump: Dump,
    directory: Directory,
    entities: Numbers,
    cores: Vec<Core>,
    threads: Threads,
    causes: Causes,
    messages: Messages,
    servers: Servers,
}

impl QnxMapper {
    pub(super) fn state_at_end(&self) -> State {
        State {
            time: self.now,
            turn: self.turn,
            dump: self.dump.clone(),
            directory: self.directory.clone(),
            entities: self.entities.numbers.clone(),
            cores: self.cores.clone(),
            threads: self.threads.clone(),
            causes: self.causes.clone(),
            messages: self.messages.clone(),
            servers: self.servers.clone(),
        }
    }

    /// Continues from a state, before the look-ahead.
    pub(super) fn resume_from(&mut self, state: State) {
        self.entities.numbers = state.entities;
        (self.now, self.turn, self.dump, self.directory) =
            (state.time, state.turn, state.dump, state.directory);
        (self.cores, self.threads, self.causes) = (state.cores, state.threads.restored(), state.causes);
        (self.messages, self.servers) = (state.messages, state.servers);
        let threads = self.threads.living().into_iter().map(|t| &self.threads[t]);
        self.idle_tasks = threads.filter(|thread| thread.idle).map(|thread| thread.name).collect();
    }
}
