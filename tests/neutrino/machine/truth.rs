//! What happened in a simulated machine, for tests to compare with the results from its trace.
//!
//! Times are clock counts of the CPU that emitted the event. Facts are complete even where buffers were lost.

use std::collections::HashMap;

use super::super::Written;

/// The truth about a simulated trace.
#[derive(Debug, Clone, Default)]
pub struct Truth {
    /// What a reader should find in the file.
    pub written: Written,
    /// What the threads did, in the order in which it began.
    pub states: Vec<StateInterval>,
    /// Messages in the order of sending.
    pub messages: Vec<Message>,
    /// Waits for mutexes, in the order of their begins.
    pub mutex_waits: Vec<MutexWait>,
    /// Interrupts in the order of their begins.
    pub interrupts: Vec<Interrupt>,
    incarnations: HashMap<(u32, u32), u32>,
    open: HashMap<(u32, u32), usize>,
}

/// A thread was in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateInterval {
    /// Process and thread.
    pub thread: (u32, u32),
    /// Number of the thread among those with these ids, from 1.
    pub incarnation: u32,
    /// Number of the state.
    pub state: u16,
    /// The CPU that emitted the change; for RUNNING, the CPU it runs on.
    pub cpu: u8,
    /// When it began.
    pub from: u64,
    /// When the next one began; `None` at the end of the trace.
    pub to: Option<u64>,
    /// Emitted at the start of the trace: the state began earlier.
    pub snapshot: bool,
}

/// A message and its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Process and thread that sent it.
    pub client: (u32, u32),
    /// Process that it was sent to.
    pub server: u32,
    /// Thread that received it.
    pub server_tid: Option<u32>,
    /// Its receive id, which is reused.
    pub rcvid: u32,
    /// SND_MESSAGE.
    pub sent: u64,
    /// REC_MESSAGE.
    pub received: Option<u64>,
    /// REPLY_MESSAGE or ERROR.
    pub replied: Option<u64>,
    /// The reply was an error.
    pub error: bool,
}

/// A thread waited for a mutex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MutexWait {
    /// Process and thread.
    pub thread: (u32, u32),
    /// The mutex.
    pub address: u64,
    /// Kernel call SYNC_MUTEX_LOCK.
    pub called: u64,
    /// State MUTEX.
    pub from: u64,
    /// It got the mutex: READY or RUNNING.
    pub to: Option<u64>,
    /// KER_EXIT.
    pub returned: Option<u64>,
}

/// An interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    /// Where.
    pub cpu: u8,
    /// Which.
    pub vector: u32,
    /// 0, or how many others it interrupted.
    pub depth: u8,
    /// INT_ENTR; 8.0: DELIVER.
    pub entered: u64,
    /// INT_EXIT; 8.0: the same as `entered`.
    pub left: u64,
}

impl Truth {
    /// A thread is created, changes its state, or ends (state 0).
    pub(super) fn state(&mut self, thread: (u32, u32), state: u16, cpu: u8, at: u64, snapshot: bool) {
        if state == super::super::codes::state::CREATE {
            *self.incarnations.entry(thread).or_default() += 1;
        }
        if let Some(last) = self.open.remove(&thread).and_then(|open| self.states.get_mut(open)) {
            last.to = Some(at);
        }
        if state != super::super::codes::state::DEAD {
            self.open.insert(thread, self.states.len());
            let incarnation = self.incarnations.get(&thread).copied().unwrap_or(1);
            self.states.push(StateInterval { thread, incarnation, state, cpu, from: at, to: None, snapshot });
        }
    }
}
