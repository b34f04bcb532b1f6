//! The record of causes of a run: what each open instance does, brought up to date with each note. Not how
//! the kernel decides (see `schedule`), nor how the record is written.

use super::{Cause, Condition, Holder, Instance, Note, Polls, Setter, Span, State, Why};
use crate::simulate::kernel::Handlers;
use crate::simulate::kernel::effect::{Lock, Process, Stimulus};
use crate::simulate::kernel::layout::{Layout, layout};
use crate::simulate::kernel::task::Task;
use crate::simulate::model::Model;
use std::collections::VecDeque;

/// What one instance does, and since when.
#[derive(Debug)]
struct Open {
    number: u64,
    /// The part that ended last; the next one may be equal.
    last: Option<Span>,
    now: Span,
}

/// A task or handler.
#[derive(Debug)]
struct Actor {
    core: usize,
    /// The present one, then those that are activated.
    open: VecDeque<Open>,
    next: u64,
    condition: Condition,
    runnable: Option<usize>,
    /// What it has, in the order in which it got it.
    locks: Vec<Lock>,
    /// The rank of its priority, and that at which it runs; of a handler, none.
    ranks: Option<(u32, u32)>,
    is_preemptable: bool,
}

#[derive(Debug, Default)]
struct Core {
    seat: Option<Process>,
    /// The ranks that do not preempt now, as bits.
    ceiling: u32,
}

/// The record, up to now.
#[derive(Debug)]
pub struct Ledger {
    tasks: Vec<Actor>,
    handlers: Vec<Actor>,
    cores: Vec<Core>,
    layouts: Vec<Layout>,
    done: Vec<Span>,
}

const BEGUN: Condition = Condition { state: State::Running, lock: None };
const ACTIVE: Condition = Condition { state: State::Active, lock: None };

impl Ledger {
    /// That of a system before its start.
    pub fn new(model: &Model, handlers: &Handlers, tasks: &[Task]) -> Self {
        let actor = |core, condition, ranks, is_preemptable| Actor {
            core,
            open: VecDeque::new(),
            next: 0,
            condition,
            runnable: None,
            locks: Vec::new(),
            ranks,
            is_preemptable,
        };
        let of_tasks = tasks.iter().zip(&model.tasks);
        let of_tasks = of_tasks.map(|(task, of_model)| {
            actor(task.core, ACTIVE, Some((task.rank, task.dispatch_rank)), of_model.preemptable)
        });
        let of_handlers =
            (0..handlers.count()).map(|number| actor(handlers.core(number), BEGUN, None, false));
        Self {
            tasks: of_tasks.collect(),
            handlers: of_handlers.collect(),
            cores: model.cores.iter().map(|_| Core::default()).collect(),
            layouts: layout(model),
            done: Vec::new(),
        }
    }

    /// A kernel notes something.
    pub fn note(&mut self, core: usize, time: i64, note: Note) {
        match note {
            Note::Opens(task) => self.open(Process::Task(task), time),
            Note::Refuses(task) => {
                if let Some(task) = self.tasks.get_mut(task) {
                    task.next += 1;
                }
            }
            Note::Enters { handler, seat } => {
                self.seat(core, seat);
                self.open(Process::Handler(handler), time);
            }
            Note::Closes { process, seat } => {
                self.seat(core, seat);
                self.close(process, time);
            }
            Note::Stands { process, condition, runnable, seat } => {
                self.seat(core, seat);
                if let Some(actor) = self.actor_mut(process) {
                    (actor.condition, actor.runnable) = (condition, runnable);
                }
            }
            Note::Asks { process, condition } => {
                if let Some(actor) = self.actor_mut(process) {
                    actor.condition = condition;
                }
            }
            Note::Freed { task, event, by, condition } => {
                let by = match by {
                    Stimulus::By(process) => {
                        self.present(process).map_or(Setter::Stimulus(by), Setter::Instance)
                    }
                    _ => Setter::Stimulus(by),
                };
                if let Some(actor) = self.tasks.get_mut(task) {
                    actor.condition = condition;
                    if let Some(open) = actor.open.front_mut() {
                        open.now.cause = Cause::Waits { set: Some((event, by)) };
                    }
                }
            }
            Note::Calls { process, runnable } => {
                if let Some(actor) = self.actor_mut(process) {
                    actor.runnable = runnable;
                }
            }
            Note::Takes { process, lock } => {
                if let Some(actor) = self.actor_mut(process) {
                    actor.locks.push(lock);
                }
            }
            Note::Gives { process, lock } => {
                if let Some(actor) = self.actor_mut(process) {
                    actor.locks.retain(|held| *held != lock);
                }
            }
        }
        self.bring_up_to_date(time);
    }

    /// The ceiling of a core changes.
    pub fn ceiling(&mut self, core: usize, time: i64, ceiling: u32) {
        if let Some(core) = self.cores.get_mut(core) {
            core.ceiling = ceiling;
        }
        self.bring_up_to_date(time);
    }

    /// The spans that have ended since the last time.
    pub fn take(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.done)
    }

    fn seat(&mut self, core: usize, seat: Option<Process>) {
        if let Some(core) = self.cores.get_mut(core) {
            core.seat = seat;
        }
    }

    fn actor(&self, process: Process) -> Option<&Actor> {
        match process {
            Process::Task(task) => self.tasks.get(task),
            Process::Handler(handler) => self.handlers.get(handler),
            Process::Nobody => None,
        }
    }

    fn actor_mut(&mut self, process: Process) -> Option<&mut Actor> {
        match process {
            Process::Task(task) => self.tasks.get_mut(task),
            Process::Handler(handler) => self.handlers.get_mut(handler),
            Process::Nobody => None,
        }
    }

    /// The present instance of a process.
    fn present(&self, process: Process) -> Option<Instance> {
        let number = self.actor(process)?.open.front()?.number;
        Some(Instance { process, number })
    }

    fn open(&mut self, process: Process, time: i64) {
        let Some(actor) = self.actor_mut(process) else { return };
        let number = actor.next;
        actor.next += 1;
        if let Process::Handler(_) = process {
            (actor.condition, actor.runnable) = (BEGUN, None);
        }
        let of = Instance { process, number };
        let (core, state) = (actor.core, actor.condition.state);
        let now = Span {
            of,
            core,
            begin: time,
            end: time,
            state,
            parks_for: None,
            is_queued: false,
            last_lock: None,
            cause: Cause::Kernel,
        };
        actor.open.push_back(Open { number, last: None, now });
    }

    fn close(&mut self, process: Process, time: i64) {
        let Some(actor) = self.actor_mut(process) else { return };
        (actor.condition, actor.runnable) = (ACTIVE, None);
        actor.locks.clear();
        let Some(mut open) = actor.open.pop_front() else { return };
        let before = open.ends(time);
        self.done.extend(before.into_iter().chain(open.last));
    }

    /// Finds what each open instance does now.
    fn bring_up_to_date(&mut self, time: i64) {
        let handlers = (0..self.handlers.len()).map(Process::Handler);
        for process in (0..self.tasks.len()).map(Process::Task).chain(handlers) {
            let count = self.actor(process).map_or(0, |actor| actor.open.len());
            for place in 0..count {
                let Some(now) = self.now(process, place, time) else { continue };
                let open = self.actor_mut(process).and_then(|actor| actor.open.get_mut(place));
                let Some(open) = open else { continue };
                let ended = open.becomes(now, time);
                self.done.extend(ended);
            }
        }
    }

    /// What an open instance of a process does.
    fn now(&self, process: Process, place: usize, time: i64) -> Option<Span> {
        let actor = self.actor(process)?;
        let open = actor.open.get(place)?;
        let Condition { state, lock } = if place == 0 { actor.condition } else { ACTIVE };
        let of = Instance { process, number: open.number };
        let is_queued = place > 0;
        let mut span = Span {
            of,
            core: actor.core,
            begin: time,
            end: time,
            state,
            parks_for: lock.filter(|_| state == State::Parking),
            is_queued,
            last_lock: None,
            cause: Cause::Kernel,
        };
        span.cause = match (state, lock) {
            (State::Running, _) => Cause::Executes { runnable: actor.runnable },
            (State::Polling, Some(lock)) => Cause::Polls { lock, holder: self.holder(lock, process) },
            // Who sets the event is noted at the end.
            (State::Waiting, _) => Cause::Waits { set: None },
            _ => match self.seated(actor.core) {
                None => Cause::Kernel,
                Some(by) => {
                    let other = self.actor(by.process)?;
                    span.last_lock = other.locks.last().copied();
                    let polls = other.condition.lock.filter(|_| other.condition.state == State::Polling);
                    let polls = polls.map(|lock| {
                        let holder = self.holder(lock, by.process).map(|holder| holder.instance);
                        Polls { lock, holder }
                    });
                    Cause::Behind { by, why: self.why(actor, of, by), polls }
                }
            },
        };
        Some(span)
    }

    /// The instance that has a core.
    fn seated(&self, core: usize) -> Option<Instance> {
        self.present(self.cores.get(core)?.seat?)
    }

    fn why(&self, mine: &Actor, of: Instance, by: Instance) -> Why {
        let (Some((rank, _)), Some(other)) = (mine.ranks, self.actor(by.process)) else {
            return Why::Handler;
        };
        let Some((others, runs_at)) = other.ranks else { return Why::Handler };
        if by.process == of.process {
            return Why::PreviousInstance;
        }
        if others >= rank {
            return if others > rank { Why::HigherPriority } else { Why::EqualPriority };
        }
        let ceiling = self.cores.get(mine.core).map_or(0, |core| core.ceiling);
        if 1 << rank > ceiling {
            return Why::Scheduler;
        }
        // What it has for as long as it runs comes first: without the resource, it would run all the same.
        if runs_at >= rank {
            return if other.is_preemptable { Why::Group } else { Why::NotPreemptable };
        }
        let reaches = |lock: &Lock| match lock {
            Lock::Resource(resource) => {
                let of_core = self.layouts.get(*resource).and_then(|layout| *layout.cores.get(mine.core)?);
                of_core.is_some_and(|(_, ceiling)| ceiling >= rank).then_some(*resource)
            }
            Lock::Spinlock(_) => None,
        };
        // Only when the first one is given back, the last of them is.
        other.locks.iter().find_map(reaches).map_or(Why::Scheduler, Why::Ceiling)
    }

    /// Who has a lock, besides the one that asks.
    fn holder(&self, lock: Lock, asks: Process) -> Option<Holder> {
        let tasks = (0..self.tasks.len()).map(Process::Task);
        let mut all = tasks.chain((0..self.handlers.len()).map(Process::Handler));
        let has = |process: &Process| self.actor(*process).is_some_and(|actor| actor.locks.contains(&lock));
        let process = all.find(|process| *process != asks && has(process))?;
        let (instance, actor) = (self.present(process)?, self.actor(process)?);
        let state = actor.condition.state;
        let needs_core = matches!(state, State::Active | State::Ready | State::Parking);
        let behind = needs_core.then(|| self.seated(actor.core)).flatten();
        Some(Holder { instance, state, behind })
    }
}

impl Open {
    /// From now on it does something else, if it does. Returns a part that has ended for good.
    fn becomes(&mut self, now: Span, time: i64) -> Option<Span> {
        if self.now.is_like(&now) {
            return None;
        }
        let ended = self.ends(time);
        self.now = now;
        ended
    }

    /// What it does ends now. Returns the part before, unless both are one part.
    fn ends(&mut self, time: i64) -> Option<Span> {
        let now = Span { end: time, ..self.now };
        if now.begin == time {
            return None;
        }
        match &mut self.last {
            Some(last) if last.end == now.begin && last.is_like(&now) => {
                last.end = now.end;
                None
            }
            last => last.replace(now),
        }
    }
}
