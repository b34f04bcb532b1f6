//! Aligns the pending events of a sequence on both sides, from their first difference to where they agree
//! again. Only a search; `engine` decides about the events.
//!
//! Two windows grow until the cheapest alignment contains some equal events in a row: most differences are
//! small and are found at once, with the available events. The largest window bounds the cost.

use super::event::{Event, Key};
use super::sequence::Backlog;
use super::side::Side;
use crate::names::IdMap;

/// The largest window in which events are aligned one by one.
const MAX_WINDOW: usize = 256;
/// If no window helps, an agreement is searched up to this many events away.
const WIDE: usize = 4096;
/// This many equal events in a row mean that both sides agree again. A single one may be chance.
const RUN: usize = 3;
/// The cost of an event without a partner. Two similar events cost less as a pair; two events in the opposite
/// order cost less as one event without a partner on each side.
const ALONE: u32 = 4;
/// Events that differ in more fields than this are not one event that has changed.
pub(super) const SIMILAR: usize = 3;

/// One step through two sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The next events of both sides are equal except for their times.
    Equal,
    /// The next events of both sides are one that has changed.
    Changed,
    /// The next event of the left has no partner.
    Left,
    /// The next event of the right has no partner.
    Right,
}

/// Two sequences from their first difference on.
pub(super) struct Pending<'a> {
    pub(super) backlogs: &'a [Backlog; 2],
    pub(super) sides: &'a [Side; 2],
    /// Per side: no more events will come.
    pub(super) complete: [bool; 2],
    /// How much later the right side is, in ticks, as far as is known.
    pub(super) offset: i64,
}

impl<'a> Pending<'a> {
    fn len(&self, side: usize) -> usize {
        self.backlogs.get(side).map_or(0, |backlog| backlog.unpaired.len())
    }

    fn event(&self, side: usize, n: usize) -> Option<&'a Event> {
        let ordinal = self.backlogs.get(side)?.unpaired.get(n)?;
        self.sides.get(side)?.get(*ordinal).map(|slot| &slot.event)
    }

    fn key(&self, side: usize, n: usize) -> Option<&'a Key> {
        self.event(side, n).map(|event| &event.key)
    }

    fn window(&self, side: usize, size: usize) -> Vec<&'a Event> {
        (0..size.min(self.len(side))).filter_map(|n| self.event(side, n)).collect()
    }

    /// For next events that are equal and `apart` in time: how many events of one side have no partner,
    /// because a later equal event of that side has exactly the time of the next event of the other side.
    pub(super) fn shift(&self, apart: i64) -> Option<(Step, usize)> {
        if apart == self.offset {
            return None;
        }
        let (late, step) = if apart > self.offset { (0, Step::Left) } else { (1, Step::Right) };
        let fixed = self.event(1 - late, 0)?;
        let is_it = |event: &Event| {
            let (left, right) = if late == 0 { (event, fixed) } else { (fixed, event) };
            left.key == right.key && right.time.saturating_sub(left.time) == self.offset
        };
        (1..RUN + 1).find(|n| self.event(late, *n).is_some_and(is_it)).map(|n| (step, n))
    }

    /// The steps from here to where both sides agree again; `None` if that depends on events that have not
    /// come yet. `size` is the first window to try, here and next time.
    pub(super) fn steps(&self, size: &mut usize) -> Option<Vec<Step>> {
        loop {
            if (0..2).any(|side| self.len(side) < *size && !self.complete.get(side).is_some_and(|c| *c)) {
                return None;
            }
            let window = (*size).min(MAX_WINDOW);
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
                *size = if *size < MAX_WINDOW { *size * 2 } else { WIDE };
                continue;
            }
            if let Some((left, right)) = self.wide() {
                return Some([vec![Step::Left; left], vec![Step::Right; right]].concat());
            }
            // The alignment at the end of the windows is the least certain.
            steps.truncate(steps.len().div_ceil(2));
            return Some(steps);
        }
    }

    /// The nearest agreement after a gap that is too long for a window: events that one side lost.
    fn wide(&self) -> Option<(usize, usize)> {
        let mut places: IdMap<&Key, Vec<usize>> = IdMap::default();
        for n in 0..WIDE {
            let Some(key) = self.key(1, n) else { break };
            let at = places.entry(key).or_default();
            // A frequent key says little about the place.
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
                let is_gap = left.min(right) <= MAX_WINDOW / 8;
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

/// The cost of a pair, if it may be one.
fn cost(left: &Event, right: &Event, offset: i64) -> Option<u32> {
    let apart = u32::from(right.time.saturating_sub(left.time) != offset);
    match left.key.distance(&right.key) {
        0 => Some(apart),
        fields if fields <= SIMILAR => Some(ALONE + fields as u32 + apart).filter(|cost| *cost < 2 * ALONE),
        _ => None,
    }
}

/// The cheapest alignment of two windows, both in order.
fn align(lefts: &[&Event], rights: &[&Event], offset: i64) -> Vec<Step> {
    // From the last events to the first: the cheapest path from (left, right) on, and its first step.
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
    let (mut left, mut right, mut path) = (0, 0, Vec::new());
    while left < lefts.len() || right < rights.len() {
        let Some(step) = steps.get(left * width + right).copied() else { break };
        path.push(step);
        left += usize::from(step != Step::Right);
        right += usize::from(step != Step::Left);
    }
    path
}
