//! After `a`, `b` within a time. Not for other templates.

use std::collections::VecDeque;

use super::{Hidden, Role, Tally, Witness, ticks};

/// See [`Template::Response`](super::Template::Response).
#[derive(Debug, Clone)]
pub(super) struct Response {
    within: u64,
    /// Each `a` that may still be answered, in order.
    waiting: VecDeque<Witness>,
    /// A gap may hide an answer to those of `waiting` with a lower index.
    doubtful: u64,
    /// The earliest time of an `a` that a gap may hide, if no `b` is recorded since then.
    unseen: Option<i64>,
    hidden: Hidden,
}

impl Response {
    pub fn new(within: i64) -> Self {
        let within = u64::try_from(within).unwrap_or(0);
        Self { within, waiting: VecDeque::new(), doubtful: 0, unseen: None, hidden: Hidden::default() }
    }

    pub fn record(&mut self, role: Role, at: Witness, tally: &mut Tally) {
        self.advance(at.time, tally);
        match role {
            Role::A => self.waiting.push_back(at),
            Role::B => {
                tally.counts.kept += self.waiting.len() as u64;
                self.waiting.clear();
                let late = self.unseen.is_some_and(|a| ticks(a, at.time) > self.within);
                tally.counts.blind += u64::from(late);
                self.unseen = self.hidden.has(Role::A).then_some(at.time);
            }
            Role::From | Role::To => {}
        }
    }

    pub fn hide(&mut self, hidden: Hidden, next: Witness, tally: &mut Tally) {
        self.advance(next.time, tally);
        if hidden.has(Role::B) {
            self.doubtful = u64::MAX;
        } else if self.hidden.has(Role::B) {
            self.doubtful = next.index;
        }
        if hidden.has(Role::A) && !self.hidden.has(Role::A) {
            self.unseen.get_or_insert(next.time);
        }
        self.hidden = hidden;
    }

    pub fn finish(&mut self, end: i64, tally: &mut Tally) {
        self.advance(end, tally);
        self.waiting.drain(..).for_each(|_| tally.open(true));
        tally.counts.blind += u64::from(self.unseen.is_some());
    }

    /// Those that are too old for any answer from now on.
    fn advance(&mut self, now: i64, tally: &mut Tally) {
        while let Some(a) = self.waiting.front().copied().filter(|a| ticks(a.time, now) > self.within) {
            self.waiting.pop_front();
            if a.index < self.doubtful {
                tally.unknown(true);
            } else {
                tally.violated(a.time, a.time.saturating_add_unsigned(self.within), [a]);
            }
        }
    }
}
