//! A checker of system events, written from the BTF specification (state charts of processes, runnables and
//! semaphores; rules for sources, instances and order) and not from the mapper's own tables. Shared by the
//! tests of whole, cut and broken recordings.

use super::Event;
use std::collections::{BTreeMap, HashMap, HashSet};

type Key = (String, i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not known: the trace begins, or goes on after a gap, with this instance alive.
    Any,
    Active,
    Running,
    Ready,
    Waiting,
    Polling,
    Parking,
}

#[derive(Debug)]
struct Process {
    state: State,
    /// The core it is on or was on last.
    core: Option<String>,
    /// Open runnables, outermost first, with "is suspended".
    runnables: Vec<(Key, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    Any,
    Free,
    Full,
    Overfull,
}

#[derive(Debug)]
struct Semaphore {
    lock: Lock,
    owner: Option<Key>,
    /// A process may hold it that was not seen to take it.
    unseen: bool,
    /// Processes that wait for it.
    waiters: Vec<Key>,
}

/// See the module.
pub struct Checker {
    /// Nothing exists before the first event. If false, an entity may have existed before its first event.
    from_start: bool,
    /// Something happened unseen in between.
    hole: bool,
    now: i64,
    processes: BTreeMap<Key, Process>,
    /// The process on each core, where that is known.
    on_core: HashMap<String, Option<Key>>,
    semaphores: HashMap<String, Semaphore>,
    /// Next instance of processes, runnables and stimuli.
    next: HashMap<String, i64>,
    /// Stimuli that fired and did not activate anything yet.
    fired: HashSet<Key>,
    /// Processes that came back to a core at this very time and have runnables to resume.
    returned: Vec<Key>,
    problems: Vec<String>,
}

impl Checker {
    pub fn new(from_start: bool) -> Self {
        Self {
            from_start,
            hole: false,
            now: i64::MIN,
            processes: BTreeMap::new(),
            on_core: HashMap::new(),
            semaphores: HashMap::new(),
            next: HashMap::new(),
            fired: HashSet::new(),
            returned: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Checks `events`; returns what is wrong with them.
    pub fn check(mut self, events: &[Event]) -> Vec<String> {
        events.iter().for_each(|e| self.event(e));
        self.finish()
    }

    /// What was wrong.
    pub fn finish(mut self) -> Vec<String> {
        self.settle();
        self.problems
    }

    /// The trace of `core` has a gap: a process of the core may be in any state now, or gone, and instances
    /// may have come and gone unseen. `lives_on` names the home core of a task that has not run yet.
    pub fn forget(&mut self, core: &str, lives_on: &HashMap<String, String>) {
        self.from_start = false;
        self.hole = true;
        self.on_core.remove(core);
        self.returned.clear();
        for (key, process) in &mut self.processes {
            let home = process.core.as_ref().or_else(|| lives_on.get(&key.0));
            if home.is_none_or(|c| c == core) {
                process.state = State::Any;
                process.runnables.clear();
            }
        }
        for semaphore in self.semaphores.values_mut() {
            *semaphore = Semaphore { lock: Lock::Any, owner: None, unseen: true, waiters: Vec::new() };
        }
    }

    fn wrong(&mut self, event: &Event, why: &str) {
        self.problems.push(format!("{}: {why}", event.line()));
    }

    fn require(&mut self, event: &Event, holds: bool, why: &str) {
        if !holds {
            self.wrong(event, why);
        }
    }

    pub fn event(&mut self, e: &Event) {
        self.require(e, e.time >= self.now, "time decreases");
        if e.time > self.now {
            self.settle();
            self.now = e.time;
        }
        match e.kind.as_str() {
            "T" | "I" => self.process(e),
            "R" => self.runnable(e),
            "SEM" => self.semaphore(e),
            "STI" => {
                self.require(e, e.action == "trigger", "not an action of a stimulus");
                self.acts(e, "an inter-process activation");
                self.number(e, "stimulus");
                self.fired.insert(e.to());
            }
            "SIG" => {
                self.require(e, matches!(e.action.as_str(), "read" | "write"), "not an action of a signal");
                self.require(e, e.note.is_some(), "no value");
                self.acts(e, "a signal access");
            }
            "EVENT" => match e.action.as_str() {
                "wait_event" | "clear_event" => self.acts(e, "an OS event"),
                "set_event" => {
                    self.require(e, e.note.is_some(), "no owner");
                    if !self.next.contains_key(&format!("stimulus {}", e.source)) {
                        self.acts(e, "an OS event");
                    }
                }
                _ => self.wrong(e, "not an action of an OS event"),
            },
            _ => self.wrong(e, "unknown type"),
        }
    }

    /// The source must be a process that is on a core, or code outside of every process.
    fn acts(&mut self, e: &Event, what: &str) {
        let on_core = match self.processes.get(&e.by()).map(|p| p.state) {
            _ if e.by() == ("SIM".to_owned(), -1) => true,
            Some(state) => matches!(state, State::Any | State::Running | State::Polling),
            None => !self.from_start,
        };
        self.require(e, on_core, &format!("source of {what} is not on a core"));
    }

    /// Instances rise by one. The first of a recording that starts in the middle may follow unseen ones.
    fn number(&mut self, e: &Event, what: &str) {
        let known = self.next.insert(format!("{what} {}", e.target), e.instance + 1);
        let before = if what == "process" && !self.from_start { known } else { Some(known.unwrap_or(0)) };
        // Instances that came and went within a gap have used up their numbers.
        let skips = self.hole && what == "process";
        let fits = |n: i64| n == e.instance || (skips && n < e.instance);
        self.require(e, before.is_none_or(fits), "instance is not the next one");
    }

    fn process(&mut self, e: &Event) {
        use State::{Active, Any, Parking, Polling, Ready, Running, Waiting};
        let (from, to) = match e.action.as_str() {
            "activate" | "mtalimitexceeded" => return self.comes_into_being(e),
            "start" => (Active, Some(Running)),
            "preempt" => (Running, Some(Ready)),
            "resume" => (Ready, Some(Running)),
            "terminate" => (Running, None),
            "wait" => (Running, Some(Waiting)),
            "release" => (Waiting, Some(Ready)),
            "poll" => (Running, Some(Polling)),
            "run" => (Polling, Some(Running)),
            "park" => (Polling, Some(Parking)),
            "poll_parking" => (Parking, Some(Polling)),
            "release_parking" => (Parking, Some(Ready)),
            _ => return self.wrong(e, "not an action of a process"),
        };
        let (key, core) = (e.to(), e.source.clone());
        if !self.processes.contains_key(&key) {
            self.require(e, !self.from_start, "of an instance that was never activated");
            let new = Process { state: Any, core: None, runnables: Vec::new() };
            self.processes.insert(key.clone(), new);
            let next = self.next.get_mut(&format!("process {}", e.target));
            let known = self.hole || next.as_ref().is_none_or(|n| e.instance < **n);
            if let Some(next) = next {
                *next = (*next).max(e.instance + 1);
            }
            self.require(e, known, "of an instance that is not yet");
        }
        let Process { state, core: last, runnables } = &self.processes[&key];
        let (state, last) = (*state, last.clone());
        let running = runnables.iter().any(|(_, suspended)| !suspended);
        let any = !runnables.is_empty();
        self.require(e, state == Any || state == from, &format!("not possible in {state:?}"));
        self.require(e, last.is_none_or(|c| c == core), "on another core than before");
        let enters = matches!(e.action.as_str(), "start" | "resume" | "poll_parking");
        let leaves = matches!(e.action.as_str(), "preempt" | "park" | "wait" | "terminate");
        if enters {
            let free = self.on_core.get(&core).is_none_or(Option::is_none);
            self.require(e, free, &format!("the core has {:?}", self.on_core.get(&core)));
            self.on_core.insert(core.clone(), Some(key.clone()));
            self.returned.push(key.clone());
            let older = self.processes.range((e.target.clone(), i64::MIN)..key.clone()).next().is_some();
            self.require(
                e,
                e.kind == "I" || !older || !self.from_start,
                "before an older instance has ended",
            );
        }
        if leaves || e.action == "poll" || e.action == "run" {
            let there = self.on_core.get(&core).is_none_or(|p| p.as_ref() == Some(&key));
            self.require(e, there, "not on this core");
            let now = if leaves { None } else { Some(key.clone()) };
            self.on_core.insert(core.clone(), now);
        }
        self.require(e, !leaves || !running, "a runnable of it was not suspended or terminated");
        self.require(e, e.action != "terminate" || !any, "a runnable of it is still open");
        self.polling(e, &key);
        match (to, self.processes.get_mut(&key)) {
            (Some(state), Some(process)) => (process.state, process.core) = (state, Some(core)),
            _ => {
                self.processes.remove(&key);
            }
        }
    }

    /// A process polls, and goes on polling, for a semaphore that it waits for; it runs once it has it.
    fn polling(&mut self, e: &Event, key: &Key) {
        let waits = self.semaphores.values().find(|s| s.waiters.contains(key));
        let fits = match e.action.as_str() {
            "poll" => waits.is_some(),
            "poll_parking" => waits.is_none_or(|s| s.lock != Lock::Free),
            "release_parking" => waits.is_none_or(|s| s.lock == Lock::Free || s.lock == Lock::Any),
            "run" => self.semaphores.values().any(|s| s.owner.as_ref() == Some(key)),
            _ => true,
        };
        self.require(e, fits, "does not agree with the semaphore it waits for");
    }

    fn comes_into_being(&mut self, e: &Event) {
        let fired = self.fired.remove(&e.by());
        self.require(e, fired, "the stimulus has not fired, or was used before");
        self.number(e, "process");
        self.require(e, !self.processes.contains_key(&e.to()), "exists already");
        if e.action == "activate" {
            let new = Process { state: State::Active, core: None, runnables: Vec::new() };
            self.processes.insert(e.to(), new);
        }
    }

    fn runnable(&mut self, e: &Event) {
        self.acts(e, "a runnable event");
        let (key, target) = (e.by(), e.to());
        let outside = Process { state: State::Any, core: None, runnables: Vec::new() };
        let open = &mut self.processes.entry(key).or_insert(outside).runnables;
        let at = open.iter().position(|(r, _)| *r == target);
        let inner_suspended = at.is_some_and(|n| open[n + 1..].iter().all(|(_, suspended)| *suspended));
        let outer_running = at.is_some_and(|n| open[..n].iter().all(|(_, suspended)| !suspended));
        let suspended = at.is_some_and(|n| open[n].1);
        let fits = match e.action.as_str() {
            "start" => at.is_none() && open.iter().all(|(_, suspended)| !suspended),
            "suspend" => at.is_some() && !suspended && inner_suspended,
            "resume" => at.is_some() && suspended && outer_running,
            "terminate" => at.is_some_and(|n| n + 1 == open.len()) && !suspended,
            _ => false,
        };
        match (e.action.as_str(), at) {
            ("start", _) => open.push((target, false)),
            ("suspend", Some(n)) => open[n].1 = true,
            ("resume", Some(n)) => open[n].1 = false,
            ("terminate", Some(n)) => {
                open.remove(n);
            }
            _ => {}
        }
        self.require(e, fits, "not possible for the runnable, or in the wrong order");
        if e.action == "start" {
            self.number(e, "runnable");
        }
    }

    fn semaphore(&mut self, e: &Event) {
        let by = e.by();
        let of_process =
            matches!(e.action.as_str(), "requestsemaphore" | "assigned" | "waiting" | "released");
        if of_process {
            self.acts(e, "a semaphore event");
        } else {
            self.require(e, by == e.to(), "the source is the semaphore itself");
        }
        let from_start = self.from_start;
        let fits = {
            let new = Semaphore { lock: Lock::Any, owner: None, unseen: !from_start, waiters: Vec::new() };
            let made = e.action == "ready";
            let known = self.semaphores.contains_key(&e.target);
            let s = self.semaphores.entry(e.target.clone()).or_insert(new);
            match (e.action.as_str(), s.lock) {
                _ if made == known => false,
                ("ready", _) => {
                    s.lock = if from_start { Lock::Free } else { Lock::Any };
                    true
                }
                ("requestsemaphore", _) => s.owner.as_ref() != Some(&by),
                ("assigned", lock) => {
                    s.waiters.retain(|w| *w != by);
                    s.unseen = false;
                    lock == Lock::Full && s.owner.replace(by).is_none()
                }
                ("waiting", lock) => {
                    s.waiters.push(by);
                    lock == Lock::Overfull
                }
                ("released", _) => {
                    let owner = s.owner.take();
                    owner.as_ref() == Some(&by) || (owner.is_none() && s.unseen)
                }
                (action, lock) => {
                    let (fits, next) = match action {
                        "lock" => (matches!(lock, Lock::Free | Lock::Any), Lock::Full),
                        "unlock" => (matches!(lock, Lock::Full | Lock::Any) && s.owner.is_none(), Lock::Free),
                        "overfull" => (lock != Lock::Free, Lock::Overfull),
                        "full" => (matches!(lock, Lock::Overfull | Lock::Any), Lock::Full),
                        _ => (false, lock),
                    };
                    s.lock = next;
                    // A lock of before the recording is taken without an owner.
                    s.unseen &= action != "unlock";
                    fits
                }
            }
        };
        self.require(e, fits, "not possible for the semaphore");
    }

    /// Time goes on: a process that came back to a core must have resumed its runnables by now.
    fn settle(&mut self) {
        for key in std::mem::take(&mut self.returned) {
            let on_core = self.on_core.values().any(|p| p.as_ref() == Some(&key));
            let suspended = self.processes.get(&key).is_some_and(|p| p.runnables.iter().any(|(_, s)| *s));
            if on_core && suspended {
                self.problems.push(format!("{}: {key:?} is back, its runnables are suspended", self.now));
            }
        }
    }
}
