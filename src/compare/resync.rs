//! Puts the events that wait in a sequence of both sides next to each other, from their first difference to where they
//! agree again. Only a search; what becomes of the events is decided in `engine`.
//!
//! Two windows grow until the best way through both contains a few equal events in a row: most differences are small
//! and are told apart at once, with the events that are there. The cost of the way is bounded by the largest window.

use super::event::{Event, Key, Map};
use super::sequence::Lane;
use super::side::Side;

/// The smallest window, in events.
pub(super) const SMALLEST: usize = 4;
/// The largest window in which events are put next to each other one by one.
const LARGEST: usize = 256;
/// Places up to this many events away are looked for when no window helps.
const WIDE: usize = 4096;
/// How many equal events in a row say that both sides agree again: one may be chance, where the same event comes
/// often.
const RUN: usize = 3;
/// What an event costs that stays alone. Two that differ cost less when they are paired, but a pair that stands the
/// other way round costs less as one event that stays alone on each side.
const ALONE: u32 = 4;
/// Events that differ in more fields than this are not one event that has changed.
pub(super) const SIMILAR: usize = 3;

/// One step through two sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The next events of both sides are equal but for their times.
    Equal,
    /// The next events of both sides are one that has changed.
    Changed,
    /// The next event of the left stays alone.
    Left,
    /// The next event of the right stays alone.
    Right,
}

/// Two sequences from their first difference on.
pub(super) struct Pending<'a> {
    pub(super) lanes: &'a [Lane; 2],
    pub(super) sides: &'a [Side; 2],
    /// Per side: nothing more comes.
    pub(super) complete: [bool; 2],
    /// How much later the right is, in ticks, as far as is known.
    pub(super) offset: i64,
}

impl<'a> Pending<'a> {
    fn len(&self, side: usize) -> usize {
        self.lanes.get(side).map_or(0, |lane| lane.unpaired.len())
    }

    fn event(&self, side: usize, n: usize) -> Option<&'a Event> {
        let ordinal = self.lanes.get(side)?.unpaired.get(n)?;
        self.sides.get(side)?.get(*ordinal).map(|slot| &slot.event)
    }

    fn key(&self, side: usize, n: usize) -> Option<&'a Key> {
        self.event(side, n).map(|event| &event.key)
    }

    fn window(&self, side: usize, size: usize) -> Vec<&'a Event> {
        (0..size.min(self.len(side))).filter_map(|n| self.event(side, n)).collect()
    }

    /// Where the next events of both sides are equal and `apart` in time: how many of one side stay alone, because the
    /// next of the other is exactly at the time of an equal one behind them.
    pub(super) fn shift(&self, apart: i64) -> Option<(Step, usize)> {
        if apart == self.offset {
            return None;
        }
        let (behind, step) = if apart > self.offset { (0, Step::Left) } else { (1, Step::Right) };
        let fixed = self.event(1 - behind, 0)?;
        let is_it = |event: &Event| {
            let (left, right) = if behind == 0 { (event, fixed) } else { (fixed, event) };
            left.key == right.key && right.time.saturating_sub(left.time) == self.offset
        };
        (1..RUN + 1).find(|n| self.event(behind, *n).is_some_and(is_it)).map(|n| (step, n))
    }

    /// The steps from here to where both sides agree again; `None` when that depends on events that have not come
    /// yet. `size` is the window to begin with; it is kept for the next time.
    pub(super) fn steps(&self, size: &mut usize) -> Option<Vec<Step>> {
        loop {
            if (0..2).any(|side| self.len(side) < *size && !self.complete.get(side).is_some_and(|c| *c)) {
                return None;
            }
            let window = (*size).min(LARGEST);
            let all = self.complete == [true; 2] && self.len(0).max(self.len(1)) <= window;
            let mut steps = align(&self.window(0, window), &self.window(1, window), self.offset);
            if all {
                return Some(steps);
            }
            if let Some(end) = steps.windows(RUN).position(|run| run.iter().all(|s| *s == Step::Equal)) {
                steps.truncate(end + RUN);
                return Some(steps);
            }
            if *size < WIDE {
                *size = if *size < LARGEST { *size * 2 } else { WIDE };
                continue;
            }
            if let Some((left, right)) = self.wide() {
                return Some([vec![Step::Left; left], vec![Step::Right; right]].concat());
            }
            // The end of the windows is the least certain.
            steps.truncate(steps.len().div_ceil(2));
            return Some(steps);
        }
    }

    /// The nearest agreement after a gap that is too long for a window: events of one side that the other lost.
    fn wide(&self) -> Option<(usize, usize)> {
        let mut places: Map<&Key, Vec<usize>> = Map::default();
        for n in 0..WIDE {
            let Some(key) = self.key(1, n) else { break };
            let at = places.entry(key).or_default();
            // A key that comes often tells little about the place.
            if at.len() < 8 {
                at.push(n);
            }
        }
        let mut best: Option<(usize, usize)> = None;
        for left in 0..WIDE {
            let Some(key) = self.key(0, left) else { break };
            if best.is_some_and(|(l, r)| left >= l + r) {
                break;
            }
            for right in places.get(key).into_iter().flatten().copied() {
                let is_gap = left.min(right) <= LARGEST / 8;
                let is_nearer = best.is_none_or(|(l, r)| left + right < l + r);
                if is_gap && is_nearer && self.agree(left, right) {
                    best = Some((left, right));
                }
            }
        }
        best
    }

    fn agree(&self, left: usize, right: usize) -> bool {
        (0..RUN).all(|n| self.key(0, left + n).is_some_and(|key| Some(key) == self.key(1, right + n)))
    }
}

/// What a pair costs, if it may be one.
fn cost(left: &Event, right: &Event, offset: i64) -> Option<u32> {
    let apart = u32::from(right.time.saturating_sub(left.time) != offset);
    match left.key.distance(&right.key) {
        0 => Some(apart),
        fields if fields <= SIMILAR => Some(ALONE + fields as u32 + apart).filter(|cost| *cost < 2 * ALONE),
        _ => None,
    }
}

/// The cheapest way through two windows, both in order.
fn align(lefts: &[&Event], rights: &[&Event], offset: i64) -> Vec<Step> {
    // From the last events to the first: the cheapest way from (left, right) on, and its first step.
    let width = rights.len() + 1;
    let mut below: Vec<u32> = (0..width as u32).rev().map(|n| n * ALONE).collect();
    let mut row = below.clone();
    let mut steps = vec![Step::Right; width * (lefts.len() + 1)];
    for (left, choices) in lefts.iter().zip(steps.chunks_mut(width)).rev() {
        let mut right_of = below.last().map_or(0, |last| last + ALONE);
        if let (Some(sum), Some(choice)) = (row.last_mut(), choices.last_mut()) {
            (*sum, *choice) = (right_of, Step::Left);
        }
        let cells = rights.iter().zip(below.windows(2)).zip(row.iter_mut().zip(choices));
        for ((right, sums), (sum, choice)) in cells.rev() {
            let [under, diagonal] = sums else { continue };
            (*sum, *choice) = if *under <= right_of {
                (under + ALONE, Step::Left)
            } else {
                (right_of + ALONE, Step::Right)
            };
            if let Some(cost) = cost(left, right, offset)
                && cost + diagonal <= *sum
            {
                *sum = cost + diagonal;
                *choice = if cost > 1 { Step::Changed } else { Step::Equal };
            }
            right_of = *sum;
        }
        std::mem::swap(&mut row, &mut below);
    }
    let (mut left, mut right, mut way) = (0, 0, Vec::new());
    while left < lefts.len() || right < rights.len() {
        let Some(step) = steps.get(left * width + right).copied() else { break };
        way.push(step);
        left += usize::from(step != Step::Right);
        right += usize::from(step != Step::Left);
    }
    way
}
