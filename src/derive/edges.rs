//! The edges of a trace, behind which nothing is known: the gaps of each core, and the begin of a trace whose
//! mapper does not say what held there. Not the states themselves (see `processes`).

use crate::btf::{Event, NameId, State};
use crate::names::{IdMap, IdSet};

/// The end of the latest gap of each core, and of those of all cores: of cores that come later, too.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    of_core: IdMap<NameId, i64>,
    of_all: Option<i64>,
}

impl Gaps {
    /// A gap of `core`, or of all, that lasts until `end`. Exports of one core may have gaps that overlap:
    /// then the later end counts.
    pub fn add(&mut self, core: Option<NameId>, end: i64) {
        match core {
            Some(core) => {
                let known = self.of_core.entry(core).or_insert(end);
                *known = (*known).max(end);
            }
            None => self.of_all = self.of_all.max(Some(end)),
        }
    }

    /// The end of the latest gap of `core`, exclusive.
    fn end(&self, core: NameId) -> Option<i64> {
        // Nearly always there was no gap.
        let own = if self.of_core.is_empty() { None } else { self.of_core.get(&core).copied() };
        own.max(self.of_all)
    }

    /// From when on a state is known that begins at `time` on `core`: the trace may have a gap there, and the
    /// event come from another export of the core.
    pub fn visible(&self, core: NameId, time: i64) -> i64 {
        self.end(core).map_or(time, |end| end.max(time))
    }

    /// The same for an unknown core: it may be any.
    pub fn visible_everywhere(&self, time: i64) -> i64 {
        self.of_core.values().chain(&self.of_all).fold(time, |latest, end| latest.max(*end))
    }
}

/// Infers from the first event of an instance that it existed when the trace began. That is certain only for
/// the first instance of a process that is seen: the activation of a later one would be in the trace.
#[derive(Debug)]
pub(super) struct LeftEdge {
    begin: i64,
    seen: IdSet<NameId>,
    /// When each core was first entered or left.
    used: IdMap<NameId, i64>,
}

impl LeftEdge {
    pub fn new(begin: i64) -> Self {
        Self { begin, seen: IdSet::default(), used: IdMap::default() }
    }

    /// The first event of an instance, which leaves state `from`: since when it had that state, if that is
    /// before the event. What runs on a core that another process has used was not there all the time.
    pub fn first_event(&mut self, event: &Event, from: State) -> Option<i64> {
        let first = self.seen.insert(event.target);
        let alone = !from.on_core() || self.used.get(&event.source).is_none_or(|used| *used >= event.time);
        (first && alone).then_some(self.begin)
    }

    /// An event leads a process from state `from` to state `to`.
    pub fn moved(&mut self, event: &Event, from: State, to: State) {
        if from.on_core() || to.on_core() {
            self.used.entry(event.source).or_insert(event.time);
        }
    }
}
