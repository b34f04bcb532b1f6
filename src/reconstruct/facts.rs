//! What is known about a recording apart from its events. Not what the events say.

use std::collections::{BTreeMap, BTreeSet};

use crate::btf::NameId;
use crate::time::TimeScale;

/// What is known about a recording before its first event. Names are those of the events.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The name of the recording.
    pub name: String,
    /// The unit of the times of its events.
    pub scale: TimeScale,
    /// When it begins and ends, in ticks; `None`: with its first and last event.
    pub begin: Option<i64>,
    /// See `begin`.
    pub end: Option<i64>,
    /// Tasks that run when nothing else can; they are no part of a model.
    pub idle: BTreeSet<NameId>,
    /// What a description of the system says about its entities.
    pub hints: BTreeMap<NameId, Hint>,
}

/// What a description says about a task, an event or another entity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// Of a task: a higher number runs first.
    pub priority: Option<u32>,
    /// Of a task: how many activations may be pending, the running one included.
    pub activations: Option<u32>,
    /// Of a task: whether others can take the core from it.
    pub preemptable: Option<bool>,
    /// Of an OS event: its bit.
    pub mask: Option<u32>,
}

impl Facts {
    /// A recording of which nothing else is known.
    pub fn new(name: impl Into<String>, scale: TimeScale) -> Self {
        let (idle, hints) = (BTreeSet::new(), BTreeMap::new());
        Self { name: name.into(), scale, begin: None, end: None, idle, hints }
    }

    /// A time in ns; of ps, the nearest one. Saturates.
    pub fn ns(&self, ticks: i64) -> i64 {
        let (per, ns) = (self.scale.per_second(), TimeScale::Ns.per_second());
        if per > ns {
            let part = per / ns;
            return ticks.saturating_add(part / 2).div_euclid(part);
        }
        ticks.saturating_mul(ns / per)
    }

    pub(super) fn hint(&self, name: NameId) -> Hint {
        self.hints.get(&name).cloned().unwrap_or_default()
    }
}
