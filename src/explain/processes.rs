//! What is known of each process, and until when its earlier instances were there. Not the instances.

use super::asks::Asks;
use super::types::ProcessFacts;
use std::collections::VecDeque;

/// What an instance is to the explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nobody asks for it.
    NotWanted,
    /// It has this place among the open ones.
    Open(usize),
}

/// A process.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub facts: ProcessFacts,
    /// Instances with the ends of their last spans; both grow.
    ends: VecDeque<(i64, i64)>,
    /// The instance that was looked up last.
    pub last: Option<(i64, Role)>,
    /// The wanted instance that ended last, and when.
    pub ended: Option<(i64, i64)>,
    /// The place of the instance that asked for an OS event last.
    pub asker: Option<(i64, usize)>,
    /// What its instances ask for.
    pub asks: Asks,
}

impl Process {
    /// A span of an instance ends. Spans come in the order of their ends, so it hides those of later
    /// instances that ended before.
    pub fn span(&mut self, instance: i64, end: i64) {
        match self.ends.back_mut() {
            Some((last, at)) if *last == instance => {
                *at = end.max(*at);
                return;
            }
            _ => {}
        }
        while self.ends.back().is_some_and(|(last, at)| *last >= instance && *at <= end) {
            self.ends.pop_back();
        }
        if self.ends.back().is_none_or(|(last, _)| *last < instance) {
            self.ends.push_back((instance, end));
        }
    }

    /// Until when an earlier instance was there, as far as its spans are known.
    pub fn earlier_until(&self, instance: i64) -> Option<i64> {
        // Nearly always it is one of the last two.
        if let Some((last, end)) = self.ends.back()
            && *last < instance
        {
            return Some(*end);
        }
        let count = self.ends.partition_point(|(other, _)| *other < instance);
        count.checked_sub(1).and_then(|n| self.ends.get(n)).map(|(_, end)| *end)
    }

    /// Nobody asks for anything before `horizon` any more.
    pub fn drop_before(&mut self, horizon: i64) {
        let passed = self.ends.partition_point(|(_, end)| *end <= horizon);
        self.ends.drain(..passed);
    }
}
