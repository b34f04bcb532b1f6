//! Open instances of processes and their open runnables. Not what events mean (`processes`, `runnables`).

use std::collections::HashMap;

use super::entities::{Entities, EntityId, Key};
use crate::btf::State;

#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) key: Key,
    pub(super) state: State,
    /// True if the enclosing runnable was running at the same time: then it called this one (2.3.0 §2.3.3: a
    /// runnable is running while its sub-runnable is). Some tools suspend the caller during a call, others
    /// suspend unrelated runnables; the caller is unknown then.
    pub(super) called: bool,
}

/// A process instance that is not over.
#[derive(Debug, Default)]
pub(super) struct Process {
    /// `None` until its first event: a trace may start anywhere.
    pub(super) state: Option<State>,
    /// The core it is or was on.
    pub(super) core: Option<EntityId>,
    /// Its open runnables, outermost first.
    pub(super) frames: Vec<Frame>,
    /// How many of them are older than the trace.
    pub(super) old: usize,
}

/// Open instances of processes and runnables.
#[derive(Debug, Default)]
pub(super) struct Software {
    pub(super) processes: HashMap<Key, Process>,
    /// Open runnables and the process instance that each runs in.
    pub(super) runnables: HashMap<Key, Key>,
    /// True behind the begin of a gap, in which a lock may become free unseen, so that a process that parks
    /// for it may become ready unseen.
    pub(super) is_behind_gap: bool,
}

impl Software {
    /// Nothing is known any more of processes that are or were on `core`, or never on one; `None`: of all.
    /// Their runnables are over, or go on unseen; those of a process that may be on another core, either. Of
    /// the others, those that have a core go on.
    pub(super) fn forget(&mut self, core: Option<EntityId>) {
        self.is_behind_gap = true;
        for process in self.processes.values_mut() {
            if core.is_none() || process.core.is_none() || process.core == core {
                let certain = core.is_none() || process.core == core;
                for frame in process.frames.drain(..) {
                    if certain {
                        self.runnables.remove(&frame.key);
                    }
                }
                (process.state, process.core, process.old) = (None, None, 0);
            }
            // What the lost core did may have released it, or made it run and end there.
            process.state = process.state.filter(|state| state.on_core());
        }
    }

    /// The state of a process instance, as far as it is known.
    pub(super) fn process_state(&self, key: Key, entities: &Entities) -> Option<State> {
        match self.processes.get(&key) {
            Some(process) => process.state,
            None => entities.state_if_closed(key),
        }
    }
}

/// Ends an instance.
pub(super) fn end(entities: &mut Entities, key: Key) {
    if let Some(entity) = entities.get_mut(key.0) {
        entity.end(key.1);
    }
}
