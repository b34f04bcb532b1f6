//! An instance that is alive: its net time and its steps.

use super::ProcessId;
use crate::btf::{EntityType, NameId, State};
use crate::reconstruct::body::{Gap, Item, SetId};

/// Steps of a body that has begun.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) runnable: Option<NameId>,
    pub(super) items: Vec<Item>,
    pub(super) gaps: Vec<Gap>,
    pub(super) cut: bool,
}

/// An instance that has not ended.
#[derive(Debug)]
pub struct Live {
    pub kind: EntityType,
    pub process: Option<ProcessId>,
    pub activated: i64,
    pub state: State,
    /// When the state began.
    pub since: i64,
    /// Net time before that.
    pub(super) net: i64,
    /// Net time and time of the last step.
    pub(super) mark: (i64, i64),
    pub(super) frames: Vec<Frame>,
    /// Events that it is about to wait for.
    pub(super) awaits: Vec<NameId>,
    pub holds: Vec<NameId>,
    /// When it gave the last lock back.
    pub gave: i64,
    pub(super) asks: Option<NameId>,
    /// A gap is in it.
    pub(super) cut: bool,
    /// When it left its core, which was not seen.
    pub(super) left: Option<i64>,
    /// It was not seen from its begin on.
    pub(super) partial: bool,
    /// Wakes are not named.
    pub(super) nameless: bool,
    pub(super) called: bool,
    /// When a stimulus did something in it last.
    pub(super) acts: Option<i64>,
    /// Active instances of its task when it activated itself.
    pub(super) again: Option<usize>,
    pub(super) started: i64,
}

impl Live {
    pub(super) fn new(kind: EntityType, at: i64, cut: bool) -> Self {
        Self {
            kind,
            process: None,
            activated: at,
            state: State::Active,
            since: at,
            net: 0,
            mark: (0, at),
            frames: Vec::new(),
            awaits: Vec::new(),
            holds: Vec::new(),
            gave: at,
            asks: None,
            cut,
            left: None,
            partial: false,
            nameless: false,
            called: false,
            acts: None,
            again: None,
            started: at,
        }
    }

    /// It has a core, as far as was seen, and may have left it since.
    pub(super) fn may_have_left(&self) -> bool {
        (self.cut || self.left.is_some()) && self.state.on_core()
    }

    /// The net time at an instant of the present state.
    pub(super) fn net_at(&self, at: i64) -> i64 {
        let now = if self.state == State::Running { (at - self.since).max(0) } else { 0 };
        self.net + now
    }

    /// Does a step.
    pub(super) fn step(&mut self, at: i64, item: Item, remote: bool) {
        let net = self.net_at(at);
        let gap = Gap { at: self.mark.1, net: (net - self.mark.0).max(0), remote };
        let Some(frame) = self.frames.last_mut() else { return };
        frame.gaps.push(gap);
        frame.items.push(item);
        self.mark = (net, at);
    }

    /// Ends the steps of the innermost body.
    pub(super) fn finish(&mut self, at: i64) {
        let net = self.net_at(at);
        let gap = Gap { at: self.mark.1, net: (net - self.mark.0).max(0), remote: false };
        if let Some(frame) = self.frames.last_mut() {
            frame.gaps.push(gap);
        }
        self.mark = (net, at);
    }

    /// Takes back a step that was done at this instant, if it is of the kind that the next one belongs to.
    pub(super) fn joined(&mut self, at: i64, of: impl Fn(Item) -> Option<SetId>) -> SetId {
        let is_now = self.mark.1 == at;
        let Some(frame) = self.frames.last_mut().filter(|_| is_now) else { return Default::default() };
        let Some(set) = frame.items.last().copied().and_then(of) else { return Default::default() };
        frame.items.pop();
        if let Some(gap) = frame.gaps.pop() {
            self.mark = (self.mark.0 - gap.net, gap.at);
        }
        set
    }
}
