//! Events without a partner in their sequence, held for a while: one of each side may be the same event at
//! another place nearby, or an event that has changed so that it is in another sequence now. Only the search;
//! `report` counts.

use super::align::SIMILAR;
use super::event::Event;
use super::result::Line;
use super::sequence::Subject;
use std::collections::VecDeque;

/// Maximum number of events per side.
const ROOM: usize = 512;
/// An event has moved if at most this many pairs of its sequence are between its two places. Further apart
/// they are two events: one was removed and one was added.
const NEAR: u64 = 32;

/// The events of a sequence around one event, and how many of them come after it.
pub(super) type Context = (Vec<Line>, usize);

/// An event without a partner.
#[derive(Debug)]
pub(super) struct Orphan {
    pub(super) ordinal: u64,
    pub(super) event: Event,
    /// Not its id, which may have been reused since.
    pub(super) sequence: Subject,
    /// How many pairs of its sequence were made before it.
    pub(super) place: u64,
    /// The events around it, if they may have to be shown.
    pub(super) context: Option<Context>,
}

/// Those of both sides, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Orphans {
    sides: [VecDeque<Orphan>; 2],
    /// Nothing is decided before all events are known.
    held: bool,
}

impl Orphans {
    /// Adds an orphan. If an older one with a partner has to be removed, returns the two halves of that
    /// event.
    pub(super) fn put(&mut self, side: usize, orphan: Orphan) -> Option<[Orphan; 2]> {
        let queue = self.sides.get_mut(side)?;
        queue.push_back(orphan);
        if self.held || queue.len() <= ROOM { None } else { self.take_oldest(side) }
    }

    /// From now on, orphans come by sequence and not in order of time: waits for all of them.
    pub(super) fn hold(&mut self) {
        self.held = true;
    }

    /// The two halves of every event that is left.
    pub(super) fn drain(&mut self) -> Vec<[Orphan; 2]> {
        self.held = false;
        let mut all: Vec<(usize, Orphan)> = Vec::new();
        for (side, queue) in self.sides.iter_mut().enumerate() {
            all.extend(queue.drain(..).map(|orphan| (side, orphan)));
        }
        all.sort_by_key(|(side, orphan)| (orphan.event.time, orphan.ordinal, *side));
        let mut pairs: Vec<_> = all.into_iter().filter_map(|(side, orphan)| self.put(side, orphan)).collect();
        for side in [0, 1] {
            while self.sides.get(side).is_some_and(|queue| !queue.is_empty()) {
                pairs.extend(self.take_oldest(side));
            }
        }
        pairs
    }

    /// True when an event may be the other half of the one with this ordinal on the other side.
    pub(super) fn may_join(&self, ordinal: u64, side: usize, orphan: &Orphan) -> bool {
        let other = self.sides.get(1 - side).into_iter().flatten();
        other.filter(|o| o.ordinal == ordinal).any(|o| distance(o, orphan).is_some())
    }

    /// Removes the oldest event of a side, with its nearest partner, unless that has a nearer one itself.
    fn take_oldest(&mut self, side: usize) -> Option<[Orphan; 2]> {
        let [left, right] = &mut self.sides;
        let (mine, others) = if side == 0 { (left, right) } else { (right, left) };
        let orphan = mine.pop_front()?;
        let nearest = others.iter().enumerate().filter_map(|(n, other)| {
            let near = distance(&orphan, other)?;
            let has_nearer = mine.iter().any(|one| distance(one, other).is_some_and(|d| d < near));
            (!has_nearer).then_some((near, n))
        });
        let (_, n) = nearest.min()?;
        let other = others.remove(n)?;
        Some(if side == 0 { [orphan, other] } else { [other, orphan] })
    }
}

/// In how many fields two events differ and how far apart they are, if they may be one.
fn distance(one: &Orphan, other: &Orphan) -> Option<(usize, u64)> {
    let at_once = one.event.time == other.event.time;
    let apart = if one.sequence == other.sequence { one.place.abs_diff(other.place) } else { u64::MAX };
    if !at_once && apart > NEAR {
        return None;
    }
    let fields = one.event.key.distance(&other.event.key);
    (fields == 0 || at_once && fields <= SIMILAR).then_some((fields, apart))
}
