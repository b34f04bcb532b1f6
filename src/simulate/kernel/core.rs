//! The state of a core: its time, the operations before it, its interrupts, its running tasks. Not what
//! changes it (see `schedule`, `interrupts`).

use super::counter::Counter;
use super::locks::Asks;
use super::program::Program;
use super::ready::ReadyQueue;
use super::requests::{self, Source};
use super::task::Task;
use super::{Handlers, Op};
use crate::simulate::model::Model;
use crate::simulate::random_numbers::RandomNumbers;
use std::collections::{HashMap, VecDeque};

/// The instant at which the first core starts its OS.
const BEGIN: i64 = 20;

/// A core.
#[derive(Debug)]
pub struct Core<'m> {
    /// When its next operation happens; `i64::MAX` if only another core can give it one.
    pub time: i64,
    /// Kernel code that is before it, without an interrupt in between.
    pub ops: VecDeque<Op>,
    /// The handlers that it is in, the outermost first.
    pub frames: Vec<Frame<'m>>,
    /// The running task, last, after those that it has preempted.
    pub stack: Vec<usize>,
    pub ready: ReadyQueue,
    /// The ranks that do not preempt now, as bits.
    pub ceiling: u32,
    pub counter: Counter,
    /// Handlers that are requested, with their instants.
    pub pending: Vec<(usize, i64)>,
    /// Handlers with their next requests.
    pub arrivals: Vec<Source<'m>>,
    /// What is left of the start of the OS.
    pub start: VecDeque<Op>,
    /// When it began to wait for another core.
    pub since: i64,
    /// It serves the call of another core.
    pub serves: bool,
    /// The next point of each schedule table, by its number on the core.
    pub points: HashMap<u32, usize>,
    /// The spinlocks that it has, the last one last.
    pub spinlocks: Vec<usize>,
    /// When the time that its program computes for ends, if it does.
    pub busy_until: Option<i64>,
}

/// A handler that a core is in.
#[derive(Debug)]
pub struct Frame<'m> {
    pub handler: usize,
    pub program: Program<'m>,
    /// The kernel code that it interrupted.
    pub below: VecDeque<Op>,
    pub asks: Asks,
    pub category1: bool,
}

/// What a core does next, outside of kernel code.
pub enum Next {
    Interrupt(usize),
    Program,
    Idle,
}

impl Core<'_> {
    /// Takes the requests that came, and says what is next. With nothing to do, the time is that of the
    /// next request.
    pub fn next(&mut self, handlers: &Handlers, chance: &mut [RandomNumbers], lost: &mut u64) -> Next {
        for source in &mut self.arrivals {
            while source.next.is_some_and(|at| at <= self.time) {
                let at = source.take(chance);
                if self.pending.iter().any(|(handler, _)| *handler == source.handler) {
                    *lost += 1;
                } else {
                    self.pending.push((source.handler, at));
                }
            }
        }
        if let Some(handler) = self.interrupt(handlers) {
            return Next::Interrupt(handler);
        }
        if !self.frames.is_empty() || !self.stack.is_empty() {
            return Next::Program;
        }
        self.time = self.next_request().unwrap_or(i64::MAX);
        Next::Idle
    }

    /// The next instant at which a handler may be requested.
    pub fn next_request(&self) -> Option<i64> {
        let pending = self.pending.iter().map(|(_, at)| *at).filter(|at| *at > self.time);
        self.arrivals.iter().filter_map(|source| source.next).chain(pending).min()
    }

    /// The first pending interrupt of the highest priority that is above the present one.
    pub fn interrupt(&self, handlers: &Handlers) -> Option<usize> {
        let level = self.frames.last().map_or(0, |frame| handlers.priority(frame.handler));
        let ready = self
            .pending
            .iter()
            .filter(|(handler, at)| *at <= self.time && handlers.priority(*handler) > level);
        let first =
            ready.max_by_key(|(handler, at)| (handlers.priority(*handler), std::cmp::Reverse(*at)))?;
        Some(first.0)
    }
}

/// The cores of a model, before their start.
pub fn all<'m>(
    model: &'m Model,
    handlers: &Handlers,
    tasks: &[Task<'m>],
    chances: &mut [RandomNumbers],
) -> Vec<Core<'m>> {
    let ranks = tasks.iter().map(|task| task.dispatch_rank.max(task.rank) as usize + 1).max().unwrap_or(0);
    let mut core = |number: usize| {
        let pairs: u32 = tasks.iter().filter(|task| task.core == number).map(|task| task.most + 1).sum();
        let objects = model.alarms.iter().filter(|alarm| alarm.core == number).count()
            + model.schedule_tables.iter().filter(|table| table.core == number).count();
        Core {
            time: BEGIN,
            ops: VecDeque::new(),
            frames: Vec::new(),
            stack: Vec::new(),
            ready: ReadyQueue::new(ranks, pairs as usize),
            ceiling: 0,
            counter: Counter::new(objects),
            pending: Vec::new(),
            arrivals: requests::sources(model, handlers, number, chances),
            start: VecDeque::new(),
            since: 0,
            serves: false,
            points: HashMap::new(),
            spinlocks: Vec::new(),
            busy_until: None,
        }
    };
    (0..model.cores.len()).map(&mut core).collect()
}
