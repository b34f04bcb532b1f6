//! Compares the positions of pairs in every sequence they belong to. Pairs are made in `engine`; here it only
//! matters whether they are in the same order on both sides.

use super::engine::Engine;
use super::result::DifferenceKind;
use super::sequence::{Id, Members};
use super::side::State;

/// The front of a sequence on one side.
enum Front {
    /// Nothing.
    Empty,
    /// An event that has no partner yet.
    Waiting,
    /// An event and its partner.
    Paired(u64, u64),
}

impl Engine<'_> {
    /// Settles what can be settled in the sequences of two events.
    pub(super) fn settle_all(&mut self, members: (Members, Members)) {
        for id in members.0.into_iter().flatten() {
            self.settle(id);
        }
        // The sequences of the left are settled already, and mostly they are the same.
        for id in members.1.into_iter().flatten().filter(|id| !members.0.contains(&Some(*id))) {
            self.settle(id);
        }
    }

    pub(super) fn settle(&mut self, id: Id) {
        loop {
            let (Front::Paired(left, right_of_left), Front::Paired(right, left_of_right)) =
                (self.front(id, 0), self.front(id, 1))
            else {
                return;
            };
            if right_of_left == right {
                self.pop(id, 0);
                self.pop(id, 1);
                continue;
            }
            // The event that is further away from its place is the one that has moved.
            match (self.distance(id, 0, left_of_right), self.distance(id, 1, right_of_left)) {
                (_, None) => self.pop(id, 0),
                (None, _) => self.pop(id, 1),
                (Some(to_left), Some(to_right)) if to_right >= to_left => {
                    self.report_moved(id, left, right_of_left);
                }
                _ => self.report_moved(id, left_of_right, right),
            }
        }
    }

    /// Does not settle other sequences: they are settled when their next event comes, or at the end.
    fn report_moved(&mut self, id: Id, left: u64, right: u64) {
        self.report_pair(DifferenceKind::Moved, id, left, right);
        for (side, ordinal) in self.sides.iter_mut().zip([left, right]) {
            if let Some(slot) = side.get_mut(ordinal) {
                slot.state = State::Out;
            }
        }
    }

    /// The first event on a side that counts in this sequence.
    fn front(&mut self, id: Id, side: usize) -> Front {
        loop {
            let backlog = self.table.peek(id).and_then(|s| s.backlogs.get(side));
            let Some(ordinal) = backlog.and_then(|backlog| backlog.unsettled.front().copied()) else {
                return Front::Empty;
            };
            match self.sides.get(side).and_then(|s| s.get(ordinal)).map_or(State::Out, |slot| slot.state) {
                State::Waiting => return Front::Waiting,
                State::Paired(other) => {
                    // Sides disagree on the core of a pair only after another reported difference.
                    let partner = self.sides.get(1 - side).and_then(|s| s.get(other));
                    if partner.is_some_and(|slot| slot.is_in(id)) {
                        return Front::Paired(ordinal, other);
                    }
                }
                State::Out => {}
            }
            self.pop(id, side);
        }
    }

    /// How many events of a sequence are before an ordinal on a side; `None` if it is not there.
    fn distance(&self, id: Id, side: usize, ordinal: u64) -> Option<usize> {
        self.table.peek(id)?.backlogs.get(side)?.unsettled.binary_search(&ordinal).ok()
    }

    fn pop(&mut self, id: Id, side: usize) {
        let Some(backlog) = self.table.get(id).and_then(|s| s.backlogs.get_mut(side)) else { return };
        let Some(ordinal) = backlog.unsettled.pop_front() else { return };
        if backlog.settled.len() >= 3 {
            backlog.settled.pop_front();
        }
        backlog.settled.push_back(ordinal);
        if let Some(slot) = self.sides.get_mut(side).and_then(|s| s.get_mut(ordinal)) {
            slot.unsettled = slot.unsettled.saturating_sub(1);
        }
    }
}
