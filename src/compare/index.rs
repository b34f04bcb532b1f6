//! The comparison of the thesis (chapter 5.1.3): events at the same index, without alignment. Not the verdict
//! of the module, which pairs events in `engine`.

use super::event::{Event, Key};
use super::result::Strict;
use std::collections::VecDeque;

/// Counts of indices that differ, and the surplus events of the side that was read further.
#[derive(Debug, Default)]
pub(super) struct ByIndex {
    unpaired: VecDeque<(i64, Key)>,
    /// The side of `unpaired`.
    side: usize,
    /// Indices that were given up because one side had too many unpaired events.
    lost: u64,
    temporal: u64,
    semantic: u64,
}

impl ByIndex {
    /// Adds the next event of a side. If that side is ahead by more than `limit` events, the oldest index
    /// counts as different without a comparison.
    pub(super) fn put(&mut self, side: usize, event: &Event, limit: usize) {
        if self.side != side && self.lost > 0 {
            self.lost -= 1;
            self.temporal += 1;
            self.semantic += 1;
        } else if self.side != side
            && let Some((time, key)) = self.unpaired.pop_front()
        {
            self.temporal += u64::from(time != event.time);
            self.semantic += u64::from(key != event.key);
        } else {
            self.side = side;
            self.unpaired.push_back((event.time, event.key.clone()));
            if self.unpaired.len() > limit {
                self.unpaired.pop_front();
                self.lost += 1;
            }
        }
    }

    /// The counts, after both sides have ended.
    pub(super) fn verdict(&self) -> Strict {
        let same_length = self.unpaired.is_empty() && self.lost == 0;
        Strict { same_length, temporal: self.temporal, semantic: self.semantic }
    }
}
