//! Finds what woke a thread: the last event before that could have. A guess, because the kernel does not
//! record it; it has to fit the state that the thread was blocked in.

use crate::map::state::pairs;
use crate::names::IdMap;
use crate::words::words;
use serde::{Deserialize, Serialize};

words! {
    /// What ends a blocking. `as_str` is the word of column `wake`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum Wake {
        Message = "message",
        Pulse = "pulse",
        Reply = "reply",
        Error = "error",
        Signal = "signal",
        Timer = "timer",
        Interrupt = "interrupt",
        Sync = "sync",
    }
}

impl Wake {
    /// True if it can end blocking in that state. Signals and timeouts can end any.
    fn ends(self, state: &str) -> bool {
        match self {
            Self::Signal | Self::Timer => true,
            Self::Message => state == "RECEIVE",
            Self::Pulse => matches!(state, "RECEIVE" | "SIGWAITINFO"),
            Self::Reply | Self::Error => matches!(state, "SEND" | "REPLY" | "NET_SEND" | "NET_REPLY"),
            Self::Interrupt => matches!(state, "INTR" | "RECEIVE" | "SIGWAITINFO" | "SIGSUSPEND" | "SEM"),
            Self::Sync => {
                let rw = matches!(state, "RWLOCK_READ" | "RWLOCK_WRITE" | "BARRIER" | "MUON_MUTEX");
                rw || matches!(state, "MUTEX" | "CONDVAR" | "SEM")
            }
        }
    }
}

/// Maximum number of contended objects; beyond it, all are forgotten.
const MAX_CAUSES: usize = 1 << 16;

/// The last causes, by the process or object that they concern, with the number of their event.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Causes {
    #[serde(with = "pairs")]
    processes: IdMap<u32, [Option<(u64, Wake)>; 3]>,
    #[serde(with = "pairs")]
    objects: IdMap<(u32, u64), u64>,
    interrupt: u64,
}

impl Causes {
    /// Something happened to a process.
    pub fn process(&mut self, pid: u32, turn: u64, wake: Wake) {
        if self.processes.len() >= MAX_CAUSES {
            self.processes.clear();
        }
        let slot = match wake {
            Wake::Message => 0,
            Wake::Pulse => 1,
            _ => 2,
        };
        let causes = self.processes.entry(pid).or_default();
        if let Some(place) = causes.get_mut(slot) {
            *place = Some((turn, wake));
        }
    }

    /// A synchronisation object was released or signalled.
    pub fn object(&mut self, pid: u32, address: u64, turn: u64) {
        if self.objects.len() >= MAX_CAUSES {
            self.objects.clear();
        }
        self.objects.insert((pid, address), turn);
    }

    /// An interrupt handler returned an event to deliver; its receiver is not recorded.
    pub fn interrupt(&mut self, turn: u64) {
        self.interrupt = turn;
    }

    /// Rule Q27: what woke a thread of process `pid` that was blocked in `state` since event number `since`:
    /// the last possible cause. `of_thread` is the last cause for the thread itself, `address` the object
    /// that it waited for.
    pub fn last(
        &self,
        pid: u32,
        (state, since): (&str, u64),
        of_thread: Option<(u64, Wake)>,
        address: Option<u64>,
    ) -> Option<Wake> {
        let of_process = self.processes.get(&pid).copied().unwrap_or_default();
        let object = address.and_then(|address| self.objects.get(&(pid, address)));
        let candidates = of_process.into_iter().flatten().chain(of_thread);
        let candidates = candidates.chain(object.map(|turn| (*turn, Wake::Sync)));
        let candidates = candidates.chain([(self.interrupt, Wake::Interrupt)]);
        let fits = |(turn, wake): &(u64, Wake)| *turn > since && wake.ends(state);
        candidates.filter(fits).max_by_key(|(turn, _)| *turn).map(|(_, wake)| wake)
    }
}
