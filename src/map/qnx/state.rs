//! The state between two kernel events: threads, CPUs with their interrupts. Not the rules.

use super::call::OpenCall;
use super::entities::Actor;
use super::wake::Wake;
use super::words::Policy;
use crate::btf::NameId;
use crate::map::state::pairs;
use crate::names::IdMap;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// The state of the instance of a thread in BTF. With `Irq::Preempt`, a thread that is running in the
/// kernel's view is [`Phase::Ready`] while an interrupt has its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// There is no instance: none yet, or the last one ended with its job.
    #[default]
    Off,
    Active,
    Ready,
    Running,
    Waiting,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Thread {
    pub pid: u32,
    pub tid: u32,
    /// The task of BTF.
    pub name: NameId,
    /// Base name of its program.
    pub process: Option<NameId>,
    /// The name that the program gave it.
    pub own_name: Option<NameId>,
    pub incarnation: i64,
    /// Number of the thread, by first occurrence.
    pub born: u64,
    pub created_at: Option<i64>,
    pub dumped: bool,
    pub idle: bool,
    /// False for idle threads, unless they are wanted: they are tracked, but without events of BTF.
    pub exported: bool,
    pub instance: i64,
    /// It had an instance before.
    pub began: bool,
    pub phase: Phase,
    /// There was a gap since its last event: `phase` may be wrong.
    pub lost: bool,
    /// Its instance may have run before the event that will start it in BTF: unseen, or in a gap.
    pub may_have_run: bool,
    /// The CPU that it has in the kernel's view.
    pub on: Option<usize>,
    /// The core on which it runs or ran last.
    pub core: NameId,
    /// Open runnables, outermost first; the last one may be its kernel call.
    pub runnables: Vec<Actor>,
    pub call: Option<OpenCall>,
    /// Synchronisation objects that its instance requested, and was not seen to get.
    #[serde(default)]
    pub requested: Vec<u64>,
    /// Functions entered (true) or left during the open kernel call: they nest independently of the call.
    pub deferred: Vec<(NameId, bool)>,
    /// Number of open functions that are nested too deep to be shown.
    pub too_deep: u64,
    /// Its message was replied to, and it has not run since.
    pub replied: bool,
    /// Process that its last message was sent to.
    pub server: Option<u32>,
    /// Native state.
    pub stretch: Option<Stretch>,
    /// CPU on which it ran last.
    pub cpu: Option<usize>,
    /// Last event that can have woken this very thread.
    pub cause: Option<(u64, Wake)>,
    /// What woke it last.
    pub woken: Option<Wake>,
}

impl Thread {
    /// Its state began at this instant.
    pub fn began_now(&self, now: i64) -> bool {
        self.stretch.as_ref().is_some_and(|stretch| stretch.begin == now)
    }

    pub fn pid_tid(&self) -> (u32, u32) {
        (self.pid, self.tid)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stretch {
    pub state: NameId,
    /// Not RUNNING, READY or CREATE.
    pub blocked: bool,
    /// Number of the event that began it.
    pub turn: u64,
    /// Address of the synchronisation object.
    pub address: Option<u64>,
    pub wake: Option<Wake>,
    pub by: Option<(u32, Option<u32>)>,
    pub begin: i64,
    pub cpu: Option<usize>,
    pub priority: Option<i64>,
    pub policy: Option<Policy>,
    pub object: Option<NameId>,
    /// The state began before the recording or in a gap.
    pub cut: bool,
}

/// An open interrupt of a CPU.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Frame {
    pub vector: u32,
    pub name: NameId,
    pub number: i64,
    /// False while another interrupt interrupts it.
    pub running: bool,
    /// Open runnables, outermost first: a handler, and functions.
    pub runnables: Vec<Actor>,
    /// The open handler among them.
    pub handler: Option<Actor>,
    pub begin: i64,
    /// Begin of the current span on top of the stack, and the time in earlier ones.
    pub since: i64,
    pub spent: i64,
    pub ip: u64,
    pub handlers: i64,
    pub events: i64,
    /// The thread that it interrupted.
    pub thread: Option<(u32, u32)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Core {
    pub name: NameId,
    /// The core of its interrupts: the same, or an additional one if interrupts take no time from threads,
    /// because in BTF a core has one process at a time.
    pub interrupts: NameId,
    /// The thread that it runs in the kernel's view, also while an interrupt has the CPU.
    pub running: Option<usize>,
    /// Open interrupts, outermost first.
    pub frames: Vec<Frame>,
    /// The last thread that became READY, by its slot and number, until another one takes its CPU.
    pub vacated: Option<(usize, u64)>,
}

/// What executes on a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proc {
    Thread(usize),
    /// The innermost interrupt of a CPU.
    Interrupt(usize),
}

/// Pid and tid.
pub(super) type ThreadKey = (u32, u32);

/// Maximum number of threads at once, and in a recording.
const MAX_LIVING: usize = 1 << 17;
const MAX_THREADS: usize = 1 << 20;

/// The threads that exist. Each has a slot, which is reused after its end.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Threads {
    list: Vec<Thread>,
    free: Vec<usize>,
    #[serde(with = "pairs")]
    places: IdMap<ThreadKey, usize>,
    /// How many threads there were with an id.
    #[serde(with = "pairs")]
    incarnations: IdMap<ThreadKey, i64>,
    born: u64,
    /// The slots by process, which follow from `places`.
    #[serde(skip)]
    by_process: IdMap<u32, Vec<usize>>,
}

impl Threads {
    pub fn find(&self, key: ThreadKey) -> Option<usize> {
        self.places.get(&key).copied()
    }

    /// The slot of the only thread of a process.
    pub fn only_of(&self, pid: u32) -> Option<usize> {
        match self.by_process.get(&pid)?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Finds the threads of each process again, in a state that was stored.
    pub fn restored(mut self) -> Self {
        self.by_process.clear();
        for ((pid, _), place) in &self.places {
            self.by_process.entry(*pid).or_default().push(*place);
        }
        self
    }

    /// True for a thread that exists or existed.
    pub fn was_seen(&self, key: ThreadKey) -> bool {
        self.incarnations.contains_key(&key)
    }

    pub fn keys(&self) -> impl Iterator<Item = &ThreadKey> {
        self.places.keys()
    }

    /// The slots of all threads, by first occurrence.
    pub fn living(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.places.values().copied().collect();
        all.sort_unstable_by_key(|place| self[*place].born);
        all
    }

    /// The incarnation and the number of a thread to add. `None` beyond the limits.
    pub fn next(&mut self, key: ThreadKey) -> Option<(i64, u64)> {
        let is_new = !self.was_seen(key);
        if self.places.len() >= MAX_LIVING || is_new && self.incarnations.len() >= MAX_THREADS {
            return None;
        }
        let count = self.incarnations.entry(key).or_insert(0);
        *count += 1;
        self.born += 1;
        Some((*count - 1, self.born))
    }

    pub fn add(&mut self, thread: Thread) -> usize {
        let key = thread.pid_tid();
        let place = match self.free.pop() {
            Some(place) => {
                self[place] = thread;
                place
            }
            None => {
                self.list.push(thread);
                self.list.len() - 1
            }
        };
        self.places.insert(key, place);
        self.by_process.entry(key.0).or_default().push(place);
        place
    }

    pub fn remove(&mut self, place: usize) {
        let key = self[place].pid_tid();
        self.places.remove(&key);
        if let Some(of_process) = self.by_process.get_mut(&key.0) {
            of_process.retain(|other| *other != place);
        }
        self.free.push(place);
    }
}

impl Index<usize> for Threads {
    type Output = Thread;

    fn index(&self, place: usize) -> &Thread {
        &self.list[place]
    }
}

impl IndexMut<usize> for Threads {
    fn index_mut(&mut self, place: usize) -> &mut Thread {
        &mut self.list[place]
    }
}

/// Maximum number of interrupts, and of threads that serve one of them.
const MAX_SERVED: usize = 4096;
const MAX_SERVERS: usize = 64;

/// Threads that serve interrupts, by vector (8.0).
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Servers {
    #[serde(with = "pairs")]
    by_vector: IdMap<u32, Vec<ThreadKey>>,
}

impl Servers {
    pub fn set(&mut self, vector: u32, thread: ThreadKey, serves: bool) {
        if !self.by_vector.contains_key(&vector) && self.by_vector.len() >= MAX_SERVED {
            return;
        }
        let servers = self.by_vector.entry(vector).or_default();
        servers.retain(|server| *server != thread);
        if serves && servers.len() < MAX_SERVERS {
            servers.push(thread);
        }
    }

    /// The threads that serve an interrupt.
    pub fn of(&self, vector: u32) -> &[ThreadKey] {
        self.by_vector.get(&vector).map_or(&[], Vec::as_slice)
    }
}
