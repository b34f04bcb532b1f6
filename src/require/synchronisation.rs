//! How far events are apart that have to happen together, in one pass. Not for finding them.

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

/// The nearest event of another kind, as far as it is known.
#[derive(Debug, Clone, Copy)]
struct Nearest {
    distance: i64,
    exact: bool,
    /// No later event can be nearer.
    done: bool,
}

#[derive(Debug)]
struct Waiting {
    kind: usize,
    at: i64,
    nearest: Vec<Nearest>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Together {
    /// The last event of each kind.
    last: Vec<Option<i64>>,
    /// Since when every event is in the trace.
    begin: i64,
    waiting: VecDeque<Waiting>,
}

impl Together {
    /// Of so many kinds of events, in a trace that begins at `begin`.
    pub fn new(kinds: usize, begin: i64) -> Self {
        Self { last: vec![None; kinds], begin, waiting: VecDeque::new() }
    }

    /// The next event, in the order of time.
    pub fn push(&mut self, kind: usize, at: i64, out: &mut Vec<Apart>) {
        for waiting in &mut self.waiting {
            waiting.see(Some(kind), at);
        }
        while self.waiting.front().is_some_and(Waiting::is_done)
            && let Some(done) = self.waiting.pop_front()
        {
            out.push(done.apart());
        }
        if let Some(last) = self.last.get_mut(kind) {
            *last = Some(at);
        }
        let before = |last: &Option<i64>| {
            let seen = last.unwrap_or(self.begin);
            // One at this very moment is as near as can be.
            Nearest { distance: at - seen, exact: last.is_some(), done: *last == Some(at) }
        };
        let mut nearest: Vec<Nearest> = self.last.iter().map(before).collect();
        if let Some(own) = nearest.get_mut(kind) {
            *own = Nearest { distance: 0, exact: true, done: true };
        }
        self.waiting.push_back(Waiting { kind, at, nearest });
    }

    /// From `end` on, the trace does not show everything; from `begin` on, it does again.
    pub fn gap(&mut self, end: i64, begin: i64, out: &mut Vec<Apart>) {
        for mut waiting in self.waiting.drain(..) {
            waiting.see(None, end);
            out.push(waiting.apart());
        }
        (self.last, self.begin) = (vec![None; self.last.len()], begin);
    }
}

impl Waiting {
    /// Takes an event, or the end of what is known, into account.
    fn see(&mut self, kind: Option<usize>, at: i64) {
        let distance = at - self.at;
        for (other, nearest) in self.nearest.iter_mut().enumerate() {
            if nearest.done || other == self.kind {
                continue;
            }
            if distance > nearest.distance {
                nearest.done = true;
            } else if kind.is_none_or(|kind| kind == other) {
                let exact = kind.is_some() || (nearest.exact && distance == nearest.distance);
                *nearest = Nearest { distance, exact, done: true };
            }
        }
    }

    fn is_done(&self) -> bool {
        self.nearest.iter().all(|n| n.done)
    }

    fn apart(&self) -> Apart {
        let distance = self.nearest.iter().map(|n| n.distance).max().unwrap_or_default();
        Apart { at: self.at, distance, exact: self.nearest.iter().all(|n| n.exact) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn apart(kinds: usize, begin: i64, end: i64, events: &[(i64, usize)]) -> Vec<Apart> {
        let (mut together, mut out) = (Together::new(kinds, begin), Vec::new());
        events.iter().for_each(|(at, kind)| together.push(*kind, *at, &mut out));
        together.gap(end, end, &mut out);
        out
    }

    fn exact(at: i64, distance: i64) -> Apart {
        Apart { at, distance, exact: true }
    }

    #[test]
    fn the_nearest_one_counts_whether_before_or_after() {
        // Kind 0 at 10, 20, 40; kind 1 at 12, 19, 35.
        let events = [(10, 0), (12, 1), (19, 1), (20, 0), (35, 1), (40, 0)];
        let expected = [exact(10, 2), exact(12, 2), exact(19, 1), exact(20, 1), exact(35, 5), exact(40, 5)];
        assert_eq!(apart(2, 0, 100, &events), expected);
    }

    #[test]
    fn what_may_be_hidden_is_not_held_against_the_event() {
        // The partner of 3 may lie before the begin at 0; that of 97 after the end at 99.
        let expected = [
            Apart { at: 3, distance: 3, exact: false },
            exact(50, 1),
            exact(51, 1),
            Apart { at: 97, distance: 2, exact: false },
        ];
        assert_eq!(apart(2, 0, 99, &[(3, 0), (50, 0), (51, 1), (97, 1)]), expected);
    }

    proptest! {
        #[test]
        fn it_finds_what_comparing_all_finds(made in prop::collection::vec((0i64..9, 0usize..3), 0..40)) {
            let mut now = 0;
            let events: Vec<(i64, usize)> = made.iter().map(|(step, kind)| { now += step; (now, *kind) }).collect();
            let end = now + 5;
            for (result, (at, kind)) in apart(3, 0, end, &events).iter().zip(&events) {
                let distance = |other: usize| {
                    let known = events.iter().filter(|e| e.1 == other).map(|e| (e.0 - at).abs()).min();
                    let edge = (*at).min(end - at);
                    known.filter(|d| *d <= edge).map_or((edge, false), |d| (d, true))
                };
                let others: Vec<_> = (0..3).filter(|o| o != kind).map(distance).collect();
                let longest = others.iter().map(|d| d.0).max().unwrap();
                prop_assert_eq!(*result, Apart { at: *at, distance: longest, exact: others.iter().all(|d| d.1) });
            }
        }
    }
}
