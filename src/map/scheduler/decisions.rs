//! What became of a task that lost its CPU, where the trace does not say: the next event of the task tells,
//! so that it is looked up in advance. Not the rules that ask (see `rules`).

use std::collections::{BTreeMap, BTreeSet};

/// What a task does that has lost its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It waits: the next that is told of it is that it can run.
    Waits,
    /// It could run: the next that is told of it is that it does.
    Ready,
    /// Nothing is told of it any more.
    Unknown,
}

/// The answers to the questions of a pass over the events, in the order of the questions, which is the same
/// in each pass: what is asked must not depend on an answer, and each pass begins with the same tasks on the
/// same CPUs (see `firsts`).
#[derive(Debug)]
pub(super) struct Decisions {
    fates: Vec<Fate>,
    /// The number of the next question.
    next: usize,
    /// The last question about each task that has no answer yet, by the number of the task.
    open: BTreeMap<u64, usize>,
    /// The questions are asked for the first time.
    collects: bool,
}

impl Default for Decisions {
    fn default() -> Self {
        Self { fates: Vec::new(), next: 0, open: BTreeMap::new(), collects: true }
    }
}

impl Decisions {
    /// The same, with answers from the first question on.
    pub fn known(self) -> Self {
        Self { next: 0, open: BTreeMap::new(), collects: false, ..self }
    }

    /// What becomes of a task that loses its CPU now. `Unknown` while answers are collected.
    pub fn ask(&mut self, task: u64) -> Fate {
        let question = self.next;
        self.next += 1;
        if self.collects {
            self.fates.push(Fate::Unknown);
            self.open.insert(task, question);
        }
        self.fates.get(question).copied().unwrap_or(Fate::Unknown)
    }

    /// The next that is told of a task.
    pub fn tell(&mut self, task: u64, fate: Fate) {
        if let Some(question) = self.open.remove(&task)
            && let Some(known) = self.fates.get_mut(question)
        {
            *known = fate;
        }
    }

    /// The CPU of a task idles: it waits, unless something else is told of it.
    pub fn suppose_waits(&mut self, task: u64) {
        if let Some(question) = self.open.get(&task)
            && let Some(known) = self.fates.get_mut(*question)
        {
            *known = Fate::Waits;
        }
    }

    /// What comes next does not follow from what was before.
    pub fn forget(&mut self, task: u64) {
        self.open.remove(&task);
    }

    /// The same, of all tasks but these.
    pub fn forget_but(&mut self, tasks: &BTreeSet<u64>) {
        self.open.retain(|task, _| tasks.contains(task));
    }
}
