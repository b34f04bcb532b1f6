//! The state of a task in a kernel. Not what changes it (see `schedule`, `services`).

use super::Op;
use super::locks::Asks;
use super::program::Program;
use crate::simulate::model::Model;
use std::collections::VecDeque;

/// The state of a task; the numbers are those of ERIKA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Running = 0,
    Waiting = 1,
    Ready = 2,
    Suspended = 3,
}

/// A task.
#[derive(Debug)]
pub struct Task<'m> {
    pub core: usize,
    /// Its number on its core.
    pub id: u32,
    /// The rank of its priority among those of all tasks, and that at which it runs.
    pub rank: u32,
    pub dispatch_rank: u32,
    pub status: Status,
    /// Activations that are left; wraps while a task chains itself.
    pub remaining: u32,
    pub most: u32,
    /// The events that are set, and those that it waits for.
    pub active: u32,
    pub wait_mask: u32,
    pub was_waiting: bool,
    /// What it activates when it ends.
    pub chained: Option<usize>,
    pub program: Program<'m>,
    /// The present instance has begun.
    pub begun: bool,
    /// What it does in the kernel before its program goes on.
    pub later: VecDeque<Op>,
    /// The resources that it has, the last one last, each with the ceiling and priority before.
    pub resources: Vec<Held>,
    pub priority: u32,
    pub asks: Asks,
}

/// A resource that a task has.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    pub resource: usize,
    pub ceiling: u32,
    pub priority: u32,
}

impl Task<'_> {
    /// The bit of a rank.
    pub fn bit(&self) -> u32 {
        1 << self.rank
    }

    /// The bit of the rank at which it runs.
    pub fn dispatch_bit(&self) -> u32 {
        1 << self.dispatch_rank
    }
}

/// The tasks of a model, suspended.
pub fn all(model: &Model) -> Vec<Task<'_>> {
    let mut priorities: Vec<u32> = model.tasks.iter().map(|task| task.priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    let rank_of = |priority: u32| priorities.partition_point(|other| *other < priority) as u32;
    let mut ids = vec![0u32; model.cores.len()];
    let tasks = model.tasks.iter().map(|task| {
        let id = ids.get_mut(task.core).map_or(0, |id| {
            *id += 1;
            *id - 1
        });
        let of_core = || model.tasks.iter().filter(|other| other.core == task.core);
        // What cannot be preempted runs at the highest priority of its core; a group, at its own highest.
        let highest = of_core().map(|other| other.priority).max().unwrap_or(task.priority);
        let of_group = of_core().filter(|other| task.group.is_some() && other.group == task.group);
        let of_group = of_group.map(|other| other.priority).max().unwrap_or(task.priority);
        let runs_at = if task.preemptable { of_group } else { highest };
        Task {
            core: task.core,
            id,
            rank: rank_of(task.priority),
            dispatch_rank: rank_of(runs_at),
            status: Status::Suspended,
            remaining: task.activations,
            most: task.activations,
            active: 0,
            wait_mask: 0,
            was_waiting: false,
            chained: None,
            program: Program::default(),
            begun: false,
            later: VecDeque::new(),
            resources: Vec::new(),
            priority: 0,
            asks: Asks::default(),
        }
    });
    tasks.collect()
}
