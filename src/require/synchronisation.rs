//! How far events are apart that have to happen together, in one pass. Not for finding them.

use std::cmp::Ordering;
use std::collections::VecDeque;

/// How far an event is from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Apart {
    pub at: i64,
    /// The longest of the distances to the nearest event of each other kind.
    pub distance: i64,
    /// False when it may be longer: the nearest one may lie where the trace does not show it.
    pub exact: bool,
}

/// What is known of the events of a kind.
#[derive(Debug, Clone)]
struct Kind {
    /// The last one.
    seen: Option<i64>,
    /// Up to here, not part of it, there may be others that the trace does not show.
    hidden_until: i64,
    /// The first waiting event that has not met its nearest event of this kind, by its number.
    next: usize,
}

#[derive(Debug)]
struct Waiting {
    kind: usize,
    apart: Apart,
    /// Of how many kinds the nearest event is not known.
    open: usize,
}

/// See the module. Each event is looked at once for each kind.
#[derive(Debug)]
pub(super) struct Together {
    kinds: Vec<Kind>,
    waiting: VecDeque<Waiting>,
    /// The number of the first waiting event.
    first: usize,
}

impl Together {
    /// Of so many kinds of events, in a trace that begins at `begin`.
    pub fn new(kinds: usize, begin: i64) -> Self {
        let kind = Kind { seen: None, hidden_until: begin, next: 0 };
        Self { kinds: vec![kind; kinds], waiting: VecDeque::new(), first: 0 }
    }

    /// The next event, in the order of time.
    pub fn push(&mut self, kind: usize, at: i64, out: &mut Vec<Apart>) {
        self.pass(at);
        self.meet(kind, at, true);
        if let Some(kind) = self.kinds.get_mut(kind) {
            kind.seen = Some(at);
        }
        let apart = Apart { at, distance: 0, exact: true };
        self.waiting.push_back(Waiting { kind, apart, open: self.kinds.len().saturating_sub(1) });
        self.take(out);
    }

    /// From `begin` to `end`, events of a kind may be hidden. In the order of time, behind the events at
    /// `begin`.
    pub fn hide(&mut self, kind: usize, (begin, end): (i64, i64), out: &mut Vec<Apart>) {
        self.meet(kind, begin, false);
        if let Some(kind) = self.kinds.get_mut(kind) {
            kind.hidden_until = kind.hidden_until.max(end);
        }
        self.take(out);
    }

    /// The trace ends.
    pub fn finish(&mut self, end: i64, out: &mut Vec<Apart>) {
        (0..self.kinds.len()).for_each(|kind| self.meet(kind, end, false));
        self.take(out);
    }

    /// Nothing from `now` on is nearer to some of the waiting events than what was before them.
    fn pass(&mut self, now: i64) {
        for (number, kind) in self.kinds.iter_mut().enumerate() {
            kind.next = kind.next.max(self.first);
            while let Some(waiting) = self.waiting.get_mut(kind.next - self.first) {
                if waiting.kind != number {
                    let before = kind.before(waiting.apart.at);
                    // It grows from one waiting event to the next one.
                    if waiting.apart.at.saturating_add(before.0) >= now {
                        break;
                    }
                    waiting.meet(before);
                }
                kind.next += 1;
            }
        }
    }

    /// An event of a kind, or the begin of what is hidden of it, is the next one for all that wait for one.
    fn meet(&mut self, number: usize, at: i64, exact: bool) {
        let Some(kind) = self.kinds.get_mut(number) else { return };
        kind.next = kind.next.max(self.first);
        for waiting in self.waiting.iter_mut().skip(kind.next - self.first) {
            if waiting.kind != number {
                let (before, after) = (kind.before(waiting.apart.at), at.saturating_sub(waiting.apart.at));
                waiting.meet(match after.cmp(&before.0) {
                    Ordering::Less => (after, exact),
                    Ordering::Equal => (after, exact || before.1),
                    Ordering::Greater => before,
                });
            }
        }
        kind.next = self.first + self.waiting.len();
    }

    /// Those that have met all, in the order of time.
    fn take(&mut self, out: &mut Vec<Apart>) {
        while self.waiting.front().is_some_and(|waiting| waiting.open == 0)
            && let Some(done) = self.waiting.pop_front()
        {
            self.first += 1;
            out.push(done.apart);
        }
    }
}

impl Kind {
    /// How far the nearest event at an instant or before it is, and whether that is certain.
    fn before(&self, at: i64) -> (i64, bool) {
        let hidden = at.saturating_sub(self.hidden_until.min(at));
        match self.seen.map(|seen| at.saturating_sub(seen)) {
            Some(distance) if distance <= hidden => (distance, true),
            _ => (hidden, false),
        }
    }
}

impl Waiting {
    /// The nearest event of another kind is so far away, or may be nearer than that.
    fn meet(&mut self, (distance, exact): (i64, bool)) {
        self.apart.distance = self.apart.distance.max(distance);
        self.apart.exact &= exact;
        self.open = self.open.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The kind that is hidden, from when to when.
    type Gap = (usize, (i64, i64));

    fn apart(kinds: usize, (begin, end): (i64, i64), events: &[(i64, usize)], gaps: &[Gap]) -> Vec<Apart> {
        let (mut together, mut out) = (Together::new(kinds, begin), Vec::new());
        let mut gaps = gaps.iter().peekable();
        for (at, kind) in events {
            while let Some((hidden, gap)) = gaps.next_if(|(_, gap)| gap.0 < *at) {
                together.hide(*hidden, *gap, &mut out);
            }
            together.push(*kind, *at, &mut out);
        }
        gaps.for_each(|(hidden, gap)| together.hide(*hidden, *gap, &mut out));
        together.finish(end, &mut out);
        out
    }

    fn exact(at: i64, distance: i64) -> Apart {
        Apart { at, distance, exact: true }
    }

    fn at_least(at: i64, distance: i64) -> Apart {
        Apart { at, distance, exact: false }
    }

    #[test]
    fn the_nearest_one_counts_whether_before_or_after() {
        // Kind 0 at 10, 20, 40; kind 1 at 12, 19, 35.
        let events = [(10, 0), (12, 1), (19, 1), (20, 0), (35, 1), (40, 0)];
        let expected = [exact(10, 2), exact(12, 2), exact(19, 1), exact(20, 1), exact(35, 5), exact(40, 5)];
        assert_eq!(apart(2, (0, 100), &events, &[]), expected);
    }

    #[test]
    fn what_may_be_hidden_is_not_held_against_the_event() {
        // The partner of 3 may lie before the begin at 0; that of 97 after the end at 99.
        let expected = [at_least(3, 3), exact(50, 1), exact(51, 1), at_least(97, 2)];
        assert_eq!(apart(2, (0, 99), &[(3, 0), (50, 0), (51, 1), (97, 1)], &[]), expected);
    }

    #[test]
    fn nothing_is_certain_in_a_gap_and_right_behind_it() {
        // Kind 1 is hidden from 20 to 60 by two gaps; the second one ends first.
        let gaps = [(1, (20, 60)), (1, (30, 40))];
        let events = [(10, 1), (25, 0), (50, 0), (50, 1), (65, 0), (90, 0), (95, 1)];
        let expected = [
            at_least(10, 10),
            at_least(25, 0),
            exact(50, 0),
            exact(50, 0),
            at_least(65, 5),
            exact(90, 5),
            exact(95, 5),
        ];
        assert_eq!(apart(2, (0, 200), &events, &gaps), expected);
    }

    /// A million events without a partner took n²/4 steps.
    #[test]
    fn it_takes_one_pass_also_if_one_kind_never_happens() {
        let events: Vec<(i64, usize)> = (0..1_000_000).map(|at| (at, 0)).collect();
        let all = apart(2, (0, 1_000_000), &events, &[]);
        assert_eq!((all.len(), all.get(10)), (1_000_000, Some(&at_least(10, 10))));
    }

    proptest! {
        #[test]
        fn it_finds_what_comparing_all_finds(
            made in prop::collection::vec((0i64..9, 0usize..3), 0..40),
            hidden in prop::collection::vec((0usize..3, 0i64..200, 0i64..40), 0..5),
        ) {
            let mut now = 0;
            let events: Vec<(i64, usize)> = made.iter().map(|(step, kind)| { now += step; (now, *kind) }).collect();
            let end = now + 5;
            let within = hidden.iter().filter(|gap| gap.1 <= end);
            let mut gaps: Vec<Gap> = within.map(|(kind, from, length)| (*kind, (*from, from + length))).collect();
            gaps.sort_by_key(|gap| gap.1);
            for (result, (at, kind)) in apart(3, (0, end), &events, &gaps).iter().zip(&events) {
                let distance = |other: usize| {
                    let known = events.iter().filter(|e| e.1 == other).map(|e| (e.0 - at).abs()).min();
                    let of_kind = gaps.iter().filter(|gap| gap.0 == other);
                    let to_gap = of_kind.map(|(_, (from, to))| (from - at).max(at - to).max(0)).min();
                    let edge = (*at).min(end - at).min(to_gap.unwrap_or(i64::MAX));
                    known.filter(|d| *d <= edge).map_or((edge, false), |d| (d, true))
                };
                let others: Vec<_> = (0..3).filter(|o| o != kind).map(distance).collect();
                let longest = others.iter().map(|d| d.0).max().unwrap();
                prop_assert_eq!(*result, Apart { at: *at, distance: longest, exact: others.iter().all(|d| d.1) });
            }
        }
    }
}
