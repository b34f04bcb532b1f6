//! Finds the nearest place where two sequences that differ agree again. Only a search; what becomes of the events
//! that are skipped is decided in `engine`.

use super::event::{Key, Map};
use super::sequence::Sequence;
use super::side::Side;

/// Places up to this many events away are tried one by one.
pub(super) const NEAR: usize = 32;
/// Places up to this many events away are tried at all.
const WIDE: usize = 1024;
/// How many events after a place must agree too: one agreement may be chance, where the same event comes often.
const CONFIRM: usize = 2;

/// What a search says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Agreement after skipping so many events of the left and of the right.
    After(usize, usize),
    /// It depends on events that have not come yet.
    Later,
}

/// Two sequences from their first difference on.
struct Pending<'a> {
    sequence: &'a Sequence,
    sides: &'a [Side; 2],
    /// Per side: nothing more comes.
    complete: [bool; 2],
}

impl Pending<'_> {
    fn key(&self, side: usize, n: usize) -> Option<&Key> {
        let ordinal = self.sequence.lanes.get(side)?.unpaired.get(n)?;
        self.sides.get(side)?.get(*ordinal).map(|slot| &slot.event.key)
    }

    /// Whether the events at `i` and `j` and those after agree; `None` when one of them has not come.
    fn agrees(&self, i: usize, j: usize) -> Option<bool> {
        for n in 0..=CONFIRM {
            match (self.key(0, i + n), self.key(1, j + n)) {
                (Some(left), Some(right)) if left == right => {}
                (Some(_), Some(_)) => return Some(false),
                (None, None) if self.complete == [true; 2] => return Some(n > 0),
                (None, _) if !self.complete[0] => return None,
                (_, None) if !self.complete[1] => return None,
                // One sequence ends here: an agreement before it holds.
                _ => return Some(n > 0),
            }
        }
        Some(true)
    }

    fn same_time(&self, i: usize, j: usize) -> bool {
        let time = |side: usize, n: usize| {
            let ordinal = self.sequence.lanes.get(side)?.unpaired.get(n)?;
            self.sides.get(side)?.get(*ordinal).map(|slot| slot.event.time)
        };
        time(0, i).is_some() && time(0, i) == time(1, j)
    }

    /// An agreement at `i` and `j` may be one of a loop that repeats. If its times differ, and there is an agreement
    /// with equal times where both sides have skipped as many, that is the better one. `None`: not known yet.
    fn same_place(&self, i: usize, j: usize, reach: usize) -> Option<Found> {
        if i != j && !self.same_time(i, j) {
            for n in 1..=reach {
                if self.agrees(n, n)? && self.same_time(n, n) {
                    return Some(Found::After(n, n));
                }
            }
        }
        Some(Found::After(i, j))
    }
}

/// The nearest agreement. `complete`: whether nothing more comes, per side. `tried` is how far earlier searches got.
pub(super) fn find(sequence: &Sequence, sides: &[Side; 2], complete: [bool; 2], tried: &mut usize) -> Found {
    let pending = Pending { sequence, sides, complete };
    let [left, right] = [0, 1].map(|side: usize| sequence.lanes.get(side).map_or(0, |l| l.unpaired.len()));
    for distance in *tried..=NEAR {
        let mut known = true;
        // From the middle outwards: a changed event is likelier than one that is gone and another that came.
        for step in 0..=distance {
            let (half, offset) = (distance / 2, step.div_ceil(2));
            let i = if step % 2 == 0 { half.saturating_sub(offset) } else { half + offset };
            match pending.agrees(i, distance.saturating_sub(i)) {
                Some(true) => match pending.same_place(i, distance.saturating_sub(i), distance) {
                    Some(found) => return found,
                    None => known = false,
                },
                Some(false) => {}
                None => known = false,
            }
        }
        if !known {
            return Found::Later;
        }
        *tried = distance + 1;
    }
    if (left < WIDE && !complete[0]) || (right < WIDE && !complete[1]) {
        return Found::Later;
    }
    wide(&pending).map_or(Found::After(left.min(NEAR), right.min(NEAR)), |(i, j)| Found::After(i, j))
}

fn wide(pending: &Pending<'_>) -> Option<(usize, usize)> {
    let mut places: Map<&Key, Vec<usize>> = Map::default();
    for j in 0..WIDE {
        let Some(key) = pending.key(1, j) else { break };
        let at = places.entry(key).or_default();
        // A key that comes often tells little about the place.
        if at.len() < 8 {
            at.push(j);
        }
    }
    let mut best: Option<(usize, usize)> = None;
    for i in 0..WIDE {
        let Some(key) = pending.key(0, i) else { break };
        if best.is_some_and(|(a, b)| i >= a + b) {
            break;
        }
        for j in places.get(key).into_iter().flatten() {
            if best.is_none_or(|(a, b)| i + j < a + b) && pending.agrees(i, *j) == Some(true) {
                best = Some((i, *j));
            }
        }
    }
    best
}

/// Puts two short sequences side by side, both in order, so that the sum of costs is smallest: `cost` of a pair, if
/// it may be one, and 4 for an event that stays alone.
pub(super) fn align(
    lefts: &[u64],
    rights: &[u64],
    cost: impl Fn(&u64, &u64) -> Option<usize>,
) -> Vec<(u64, u64)> {
    const ALONE: usize = 4;
    // Per left event, from the last: the best sum from (left, right) on, and whether that begins with the pair.
    let last: Vec<(usize, bool)> = (0..=rights.len()).rev().map(|n| (n * ALONE, false)).collect();
    let mut rows = vec![last];
    for left in lefts.iter().rev() {
        let below = rows.last().map_or(&[][..], Vec::as_slice);
        let mut row = vec![(below.last().map_or(0, |b| b.0) + ALONE, false)];
        for (right, pair) in rights.iter().zip(below.windows(2)).rev() {
            let [under, diagonal] = pair else { continue };
            let beside = row.last().map_or(usize::MAX, |b: &(usize, bool)| b.0);
            let alone = under.0.min(beside) + ALONE;
            let together = cost(left, right).map(|c| c + diagonal.0).filter(|sum| *sum <= alone);
            row.push(together.map_or((alone, false), |sum| (sum, true)));
        }
        row.reverse();
        rows.push(row);
    }
    rows.reverse();
    let sum = |i: usize, j: usize| rows.get(i).and_then(|row| row.get(j)).copied();
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while let (Some(left), Some(right)) = (lefts.get(i), rights.get(j)) {
        if sum(i, j).is_some_and(|s| s.1) {
            pairs.push((*left, *right));
            (i, j) = (i + 1, j + 1);
        } else if sum(i + 1, j) <= sum(i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
