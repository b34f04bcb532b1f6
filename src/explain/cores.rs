//! Who had each core when, and the gaps of the recording. Not why (see `split`).

use super::table::IdMap;
use super::types::{Actor, Core, Object};
use std::collections::VecDeque;

/// Ticks from `begin` to `end`, which is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub begin: i64,
    pub end: i64,
}

/// An explanation that waits for what is known up to a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Its place among the open instances.
    pub slot: usize,
    /// Counts the instances that had this place.
    pub generation: u64,
    pub until: i64,
}

/// The gaps of each core.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    every: Vec<Span>,
    own: IdMap<Core, Vec<Span>>,
    /// Spans in which there is a gap of any core.
    any: Vec<Span>,
    /// Gaps as they came, until they are in order.
    came: Vec<(Option<Core>, Span)>,
}

impl Gaps {
    /// A gap of a core, or of all.
    pub fn add(&mut self, core: Option<Core>, span: Span) {
        if span.begin < span.end {
            self.came.push((core, span));
        }
    }

    /// Brings the gaps in order: those of a core are its own and those of all cores.
    pub fn settle(&mut self) {
        if self.came.is_empty() {
            return;
        }
        let mut are_all_new = false;
        self.any.extend(self.came.iter().map(|(_, span)| *span));
        united(&mut self.any);
        for (core, span) in std::mem::take(&mut self.came) {
            match core {
                Some(core) => {
                    let every = &self.every;
                    self.own.entry(core).or_insert_with(|| every.clone()).push(span);
                }
                None => {
                    are_all_new = true;
                    self.every.push(span);
                }
            }
        }
        united(&mut self.every);
        for own in self.own.values_mut() {
            if are_all_new {
                own.extend_from_slice(&self.every);
            }
            united(own);
        }
    }

    /// The gaps of a core in order, apart from each other; those of all cores if the core is not known.
    pub fn of(&self, core: Option<Core>) -> &[Span] {
        if self.own.is_empty() {
            return &self.every;
        }
        core.and_then(|core| self.own.get(&core)).unwrap_or(&self.every)
    }

    /// The gaps of a core that end after `time`.
    pub fn after(&self, core: Option<Core>, time: i64) -> &[Span] {
        after(self.of(core), time)
    }

    /// Whether there is a gap of any core between two times.
    pub fn is_any(&self, begin: i64, end: i64) -> bool {
        self.after_any(begin).first().is_some_and(|gap| gap.begin < end)
    }

    /// The end of the last gap of any core that begins before `time`.
    pub fn last_any_before(&self, time: i64) -> i64 {
        let count = self.any.partition_point(|gap| gap.begin < time);
        let last = count.checked_sub(1).and_then(|n| self.any.get(n));
        last.map_or(i64::MIN, |gap| gap.end)
    }

    /// From when on a gap of any core may hide what happens after `time`.
    pub fn hide_from(&self, time: i64) -> i64 {
        self.after_any(time).first().map_or(i64::MAX, |gap| gap.begin.max(time))
    }

    /// The spans in which there is a gap of any core, that end after `time`.
    pub fn after_any(&self, time: i64) -> &[Span] {
        after(&self.any, time)
    }
}

/// The spans that end after `time`, of spans in order.
fn after(all: &[Span], time: i64) -> &[Span] {
    all.get(all.partition_point(|span| span.end <= time)..).unwrap_or_default()
}

/// Sorts spans, and unites those that touch.
fn united(spans: &mut Vec<Span>) {
    spans.sort_unstable_by_key(|span| (span.begin, span.end));
    spans.dedup_by(|next, last| {
        let touches = next.begin <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
}

/// What an instance does with its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Runs,
    /// It polls for this object, if that is known.
    Polls(Option<Object>),
}

/// A span in which an instance had a core.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occupant {
    pub actor: Actor,
    pub does: Does,
    pub begin: i64,
    pub end: i64,
}

/// Who had one core, in order and without overlap.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    spans: VecDeque<Occupant>,
    /// End of the last span that was dropped.
    dropped: Option<i64>,
    /// Explanations that wait for the next span.
    pub held: Vec<Held>,
}

impl Timeline {
    /// Adds a span. Of spans that overlap, which no system has, the one that ended first counts.
    pub fn push(&mut self, mut occupant: Occupant) {
        if let Some(until) = self.until() {
            occupant.begin = occupant.begin.max(until);
        }
        if occupant.begin < occupant.end {
            self.spans.push_back(occupant);
        }
    }

    /// Up to when it is known who had the core.
    pub fn until(&self) -> Option<i64> {
        self.spans.back().map(|last| last.end).or(self.dropped)
    }

    /// The spans that end after `time`, and the end of the one before them.
    pub fn after(&self, time: i64) -> (Option<i64>, impl Iterator<Item = &Occupant>) {
        // Most questions are about the very last spans.
        let mut first = self.spans.len();
        let mut steps = 0;
        while let Some(last) = first.checked_sub(1)
            && self.spans.get(last).is_some_and(|span| span.end > time)
        {
            first = last;
            steps += 1;
            if steps == 8 {
                first = self.spans.partition_point(|span| span.end <= time);
                break;
            }
        }
        let before = first.checked_sub(1).and_then(|n| self.spans.get(n)).map(|span| span.end);
        (before.or(self.dropped), self.spans.range(first..))
    }

    /// Nobody asks for anything before `horizon` any more.
    pub fn drop_before(&mut self, horizon: i64) {
        let count = self.spans.partition_point(|span| span.end <= horizon);
        if let Some(last) = count.checked_sub(1).and_then(|n| self.spans.get(n)) {
            self.dropped = Some(last.end);
        }
        self.spans.drain(..count);
    }

    /// How many spans are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.spans.len()
    }
}
