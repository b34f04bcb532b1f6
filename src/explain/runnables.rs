//! The innermost runnable of an instance at each time. Not when the instance runs.

use super::types::{Runnable, RunnableSpan};
use std::collections::BinaryHeap;

/// A runnable with its span; the largest one is the innermost. At equal depth, which no correct trace has,
/// it is the one that began last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Nested {
    depth: u32,
    begin: i64,
    runnable: Runnable,
    end: i64,
}

/// Buffers for the cutting, kept for the next time.
#[derive(Debug, Default)]
pub(super) struct Nest {
    spans: Vec<Nested>,
    open: BinaryHeap<Nested>,
}

impl Nest {
    /// Cuts `[begin, end)` by the innermost of the runnables: calls `part` with the begin, the end and the
    /// runnable of each part, in order and without hole. O(n log n) for n runnables.
    pub fn cut(
        &mut self,
        begin: i64,
        end: i64,
        runnables: &[RunnableSpan],
        mut part: impl FnMut(i64, i64, Option<Runnable>),
    ) {
        match runnables {
            [] => return part(begin, end, None),
            [only] if only.begin <= begin && only.end >= end => {
                return part(begin, end, Some(only.runnable));
            }
            _ => {}
        }
        self.spans.clear();
        self.open.clear();
        self.spans.extend(runnables.iter().map(|span| Nested {
            depth: span.depth,
            begin: span.begin,
            runnable: span.runnable,
            end: span.end,
        }));
        self.spans.sort_unstable_by_key(|span| (span.begin, span.depth, span.end));
        let mut next = self.spans.iter().peekable();
        let mut now = begin;
        while now < end {
            while let Some(span) = next.next_if(|span| span.begin <= now) {
                self.open.push(*span);
            }
            while self.open.peek().is_some_and(|span| span.end <= now) {
                self.open.pop();
            }
            let inner = self.open.peek();
            let until = inner.map_or(end, |span| span.end);
            let until = next.peek().map_or(until, |span| until.min(span.begin)).min(end);
            part(now, until, inner.map(|span| span.runnable));
            now = until;
        }
    }
}
