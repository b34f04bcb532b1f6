//! What woke a thread: the last event before that can have. Guesses, as the kernel does not say it; a guess has to fit the
//! state that the thread was blocked in.

use super::mapper::KernelMapper;
use crate::btf::IdMap;

/// What ends a blocking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    Message,
    Pulse,
    Reply,
    Error,
    Signal,
    Timer,
    Interrupt,
    Sync,
}

impl Wake {
    /// The word of column `wake`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Pulse => "pulse",
            Self::Reply => "reply",
            Self::Error => "error",
            Self::Signal => "signal",
            Self::Timer => "timer",
            Self::Interrupt => "interrupt",
            Self::Sync => "sync",
        }
    }

    /// The stimulus of a job that begins with it.
    pub fn stimulus(self) -> &'static str {
        match self {
            Self::Message => "STI_message",
            Self::Pulse => "STI_pulse",
            Self::Reply => "STI_reply",
            Self::Error => "STI_error",
            Self::Signal => "STI_signal",
            Self::Timer => "STI_timer",
            Self::Interrupt => "STI_interrupt",
            Self::Sync => "STI_sync",
        }
    }

    /// True if it can end a blocking in that state. Signals and timeouts can end any.
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

/// More objects than are contended at once; all are forgotten then.
const MAX_CAUSES: usize = 1 << 16;

/// The last causes, by whom they concern; with the number of their event.
#[derive(Debug, Default)]
pub(super) struct Causes {
    processes: IdMap<u32, [Option<(u64, Wake)>; 3]>,
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

    /// A synchronisation object was given back or signalled.
    pub fn object(&mut self, pid: u32, address: u64, turn: u64) {
        if self.objects.len() >= MAX_CAUSES {
            self.objects.clear();
        }
        self.objects.insert((pid, address), turn);
    }

    /// A handler of an interrupt gave an event to deliver; to whom is not said.
    pub fn interrupt(&mut self, turn: u64) {
        self.interrupt = turn;
    }
}

impl KernelMapper {
    /// A blocked thread leaves its state: what it was woken by.
    pub(super) fn woken(&mut self, t: usize) {
        let thread = &self.threads[t];
        let Some(stretch) = thread.stretch.as_ref().filter(|stretch| stretch.blocked) else { return };
        let state = self.names.text(stretch.state);
        let pid = thread.pid;
        let object = stretch.address.and_then(|address| self.causes.objects.get(&(pid, address)));
        let all = self.causes.processes.get(&pid).copied().unwrap_or_default();
        let candidates = all.into_iter().flatten().chain(thread.cause);
        let candidates = candidates.chain(object.map(|turn| (*turn, Wake::Sync)));
        let candidates = candidates.chain([(self.causes.interrupt, Wake::Interrupt)]);
        let fits = |(turn, wake): &(u64, Wake)| *turn > stretch.turn && wake.ends(state);
        let wake = candidates.filter(fits).max_by_key(|(turn, _)| *turn).map(|(_, wake)| wake);
        let thread = &mut self.threads[t];
        thread.woken = wake;
        if let Some(stretch) = &mut thread.stretch {
            stretch.wake = wake;
        }
    }
}
