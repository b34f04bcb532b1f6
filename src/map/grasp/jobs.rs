//! The jobs of a trace by their ids, and the phase of each. Completed jobs are remembered for a while,
//! because recorders still name them for what their task does between jobs.

use crate::map::state::pairs;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};

/// How many completed jobs of a task are remembered: recorders name the last one.
const REMEMBERED: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Phase {
    /// It exists; nothing happened to it yet.
    New,
    /// Arrived.
    Active,
    /// On its core.
    Running,
    /// Preempted.
    Ready,
    /// Blocked.
    Waiting,
    /// Completed.
    Done,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Job {
    pub id: String,
    pub task: usize,
    /// `None` until it arrives or runs.
    pub instance: Option<i64>,
    pub phase: Phase,
    /// The processor of its latest command.
    pub processor: Option<usize>,
    /// The core it was on last.
    pub core: Option<usize>,
}

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Jobs {
    slots: Vec<Job>,
    free: Vec<usize>,
    ids: HashMap<String, usize>,
    /// Completed jobs by task, the oldest first.
    #[serde(with = "pairs")]
    done: HashMap<usize, VecDeque<usize>>,
}

impl Jobs {
    pub fn find(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    pub fn get(&self, n: usize) -> Option<&Job> {
        self.slots.get(n)
    }

    pub fn get_mut(&mut self, n: usize) -> Option<&mut Job> {
        self.slots.get_mut(n)
    }

    /// Adds a job; an older one of the same id can no longer be found by it.
    pub fn add(&mut self, job: Job) -> usize {
        let id = job.id.clone();
        let n = match self.free.pop() {
            Some(n) => {
                if let Some(slot) = self.slots.get_mut(n) {
                    *slot = job;
                }
                n
            }
            None => {
                self.slots.push(job);
                self.slots.len() - 1
            }
        };
        self.ids.insert(id, n);
        n
    }

    pub fn complete(&mut self, n: usize) {
        let Some(job) = self.slots.get_mut(n) else { return };
        job.phase = Phase::Done;
        let done = self.done.entry(job.task).or_default();
        done.push_back(n);
        if done.len() > REMEMBERED
            && let Some(oldest) = done.pop_front()
            && let Some(job) = self.slots.get(oldest)
        {
            if self.ids.get(&job.id) == Some(&oldest) {
                self.ids.remove(&job.id);
            }
            self.free.push(oldest);
        }
    }
}
