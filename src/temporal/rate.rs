//! At most so many `a` in any window of time. Not for other templates.

use std::collections::VecDeque;

use super::{Hidden, Role, Tally, Witness, ticks};

/// See [`Template::Rate`](super::Template::Rate).
#[derive(Debug, Clone)]
pub(super) struct Rate {
    at_most: usize,
    window: u64,
    /// Each `a` whose window is not over and not too full, in order; `at_most` at most.
    begun: VecDeque<Witness>,
    /// A gap may hide an `a` in the windows of those with a lower index.
    doubtful: u64,
    hidden: bool,
}

impl Rate {
    pub fn new(at_most: u32, window: i64) -> Self {
        // More than memory has do not come.
        let at_most = usize::try_from(at_most).unwrap_or(usize::MAX);
        let window = u64::try_from(window).unwrap_or(1);
        Self { at_most, window, begun: VecDeque::new(), doubtful: 0, hidden: false }
    }

    pub fn record(&mut self, role: Role, at: Witness, tally: &mut Tally) {
        if role != Role::A {
            return;
        }
        self.advance(at.time, tally);
        self.begun.push_back(at);
        if self.begun.len() > self.at_most
            && let Some(first) = self.begun.pop_front()
        {
            let last = (first != at).then_some(at);
            tally.violated(first.time, at.time, [first].into_iter().chain(last));
        }
    }

    pub fn hide(&mut self, hidden: Hidden, next: Witness, tally: &mut Tally) {
        self.advance(next.time, tally);
        match (self.hidden, hidden.has(Role::A)) {
            (false, true) => {
                // Too many may be hidden at once.
                tally.counts.blind += 1;
                self.doubtful = u64::MAX;
            }
            (true, false) => self.doubtful = next.index,
            _ => {}
        }
        self.hidden = hidden.has(Role::A);
    }

    pub fn finish(&mut self, end: i64, tally: &mut Tally) {
        self.advance(end, tally);
        self.begun.drain(..).for_each(|_| tally.open(false));
    }

    /// Those whose windows are over.
    fn advance(&mut self, now: i64, tally: &mut Tally) {
        while let Some(a) = self.begun.front().filter(|a| ticks(a.time, now) >= self.window) {
            match a.index < self.doubtful {
                true => tally.unknown(false),
                false => tally.counts.kept += 1,
            }
            self.begun.pop_front();
        }
    }
}
