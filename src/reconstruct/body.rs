//! What bodies did: the sequences of steps of tasks, ISRs and runnables, as they were observed, with the net
//! times between the steps. Not how events show them (see `observe`), nor what a model makes of them.

use std::collections::HashMap;

use crate::btf::NameId;

/// An observed step. Names are those of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// Calls a runnable.
    Call(NameId),
    /// Reads a signal.
    Read(NameId),
    /// Writes a signal.
    Write(NameId),
    /// Activates a task.
    Activate(NameId),
    /// Triggers a stimulus of which nothing follows.
    Nothing,
    /// Sets events for a task.
    SetEvent(NameId, SetId),
    /// Clears events.
    ClearEvent(SetId),
    /// Waits for events; an empty set: for something that the trace does not name.
    Wait(SetId),
    /// Takes a lock.
    Take(NameId),
    /// Gives a lock back.
    Give(NameId),
}

/// A set of OS events; the number of one of [`Sets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SetId(u32);

/// Sets of names, each once.
#[derive(Debug, Clone)]
pub struct Sets {
    all: Vec<Vec<NameId>>,
    ids: HashMap<Vec<NameId>, SetId>,
}

impl Default for Sets {
    /// With the empty set, which is the first one.
    fn default() -> Self {
        Self { all: vec![Vec::new()], ids: HashMap::from([(Vec::new(), SetId(0))]) }
    }
}

impl Sets {
    /// The number of a set.
    pub fn id(&mut self, mut names: Vec<NameId>) -> SetId {
        names.sort_unstable();
        names.dedup();
        if let Some(id) = self.ids.get(&names) {
            return *id;
        }
        let id = SetId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(names.clone());
        self.ids.insert(names, id);
        id
    }

    /// The names of a set.
    pub fn names(&self, id: SetId) -> &[NameId] {
        self.all.get(id.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The number of a set with one more name.
    pub fn with(&mut self, id: SetId, name: NameId) -> SetId {
        let mut names = self.names(id).to_vec();
        names.push(name);
        self.id(names)
    }
}

/// The net time before a step, or before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// When it began.
    pub at: i64,
    /// How long the process ran in it.
    pub net: i64,
    /// The step ends when another core has done it, so that the way there is in this time.
    pub remote: bool,
}

/// One execution of a body: a time before each step, and one before the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub items: Vec<Item>,
    pub gaps: Vec<Gap>,
}

/// Executions of a body in the order in which they ended. Sequences of steps are kept once.
#[derive(Debug, Clone, Default)]
pub struct Body {
    ids: HashMap<Vec<Item>, usize>,
    sequences: Vec<Vec<Item>>,
    runs: Vec<(usize, Vec<Gap>)>,
    /// Executions that the end of the recording cuts: their steps up to it.
    pub cut: Vec<Run>,
    /// Executions that were not seen from their begin on.
    pub partial: Vec<Run>,
}

impl Body {
    /// Adds an execution that was seen from its begin to its end.
    pub fn push(&mut self, run: Run) {
        let id = match self.ids.get(&run.items) {
            Some(id) => *id,
            None => {
                self.sequences.push(run.items.clone());
                self.ids.insert(run.items, self.sequences.len() - 1);
                self.sequences.len() - 1
            }
        };
        self.runs.push((id, run.gaps));
    }

    /// How many executions there are.
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// How many different sequences of steps they have.
    pub fn ways(&self) -> usize {
        self.sequences.len()
    }

    /// The executions in the order of their begins.
    pub fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = self
            .runs
            .iter()
            .filter_map(|(id, gaps)| {
                Some(Run { items: self.sequences.get(*id)?.clone(), gaps: gaps.clone() })
            })
            .collect();
        runs.sort_by_key(|run| run.gaps.first().map_or(0, |gap| gap.at));
        runs
    }

    /// All steps of all executions, also of those that are cut.
    pub fn items(&self) -> impl Iterator<Item = Item> {
        let others = self.cut.iter().chain(&self.partial).map(|run| &run.items);
        self.sequences.iter().chain(others).flatten().copied()
    }
}
