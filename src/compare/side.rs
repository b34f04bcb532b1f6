//! The unfinished events of one side by ordinal, with a short history for context. Not the reading.

use super::event::Event;
use super::sequence::{Id, Members};
use std::collections::VecDeque;

/// This many finished events are stored, so that a difference can be shown with the events before it.
const HISTORY: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// No partner yet.
    Waiting,
    /// Its partner has this ordinal on the other side.
    Paired(u64),
    /// Reported, or left out: its position does not count.
    Out,
}

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) event: Event,
    pub(super) members: Members,
    pub(super) state: State,
    /// In how many sequences its position is not settled.
    pub(super) unsettled: u8,
}

impl Slot {
    /// True for a sequence of this event.
    pub(super) fn is_in(&self, id: Id) -> bool {
        self.members.contains(&Some(id))
    }
}

#[derive(Debug, Default)]
pub(super) struct Side {
    slots: VecDeque<Slot>,
    base: u64,
    /// No more events will come.
    pub(super) ended: bool,
}

impl Side {
    /// The number of stored events.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Removes finished events except a short history.
    pub(super) fn trim(&mut self) {
        while self.slots.len() >= HISTORY
            && self.slots.front().is_some_and(|s| s.state != State::Waiting && s.unsettled == 0)
        {
            self.slots.pop_front();
            self.base += 1;
        }
    }

    /// Adds an event and removes old ones.
    pub(super) fn push(&mut self, event: Event, members: Members) -> u64 {
        self.trim();
        let unsettled = members.iter().flatten().count() as u8;
        self.slots.push_back(Slot { event, members, state: State::Waiting, unsettled });
        self.base + self.slots.len() as u64 - 1
    }

    /// The event of an ordinal, if it is stored.
    pub(super) fn get(&self, ordinal: u64) -> Option<&Slot> {
        self.slots.get(usize::try_from(ordinal.checked_sub(self.base)?).ok()?)
    }

    /// The same, to change it.
    pub(super) fn get_mut(&mut self, ordinal: u64) -> Option<&mut Slot> {
        self.slots.get_mut(usize::try_from(ordinal.checked_sub(self.base)?).ok()?)
    }

    /// The oldest event that waits for a partner.
    pub(super) fn oldest_waiting(&self) -> Option<&Slot> {
        self.slots.iter().find(|s| s.state == State::Waiting)
    }

    /// True if more events are stored than `limit` and history allow.
    pub(super) fn is_over(&self, limit: usize) -> bool {
        self.len() > limit.saturating_add(HISTORY)
    }
}
