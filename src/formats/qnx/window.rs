//! Sorts the events of one CPU by time. Parts of combine events and nested interrupts are out of order by a
//! few records in the file; an event that is later than a window is not moved, and begins another file.

use super::batch::Batch;
use crate::formats::Reorder;
use crate::qnx::Event;

/// Number of events in a window, and how many of them are held back when it is full.
const FULL: usize = 16 * 1024;
const HELD: usize = 4 * 1024;

/// Events, times (in ticks) and numbers, in the order of arrival.
#[derive(Debug, Default)]
struct Held {
    events: Batch,
    times: Vec<i64>,
    seqs: Vec<i64>,
}

/// Events in the order of (time, seq), with both.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    all: Held,
    /// Their indexes in this order: looking events up costs less than copying them.
    order: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Window(Held);

impl Default for Window {
    fn default() -> Self {
        Self(Held::with_capacity(FULL))
    }
}

impl Window {
    /// Adds the next event of the file; returns those that cannot be overtaken within the window any more.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>, time: i64, seq: i64) -> Option<Sorted> {
        self.0.push(event, time, seq);
        (self.0.times.len() >= FULL).then(|| self.split(FULL - HELD))
    }

    pub fn rest(&mut self) -> Sorted {
        let all = self.0.times.len();
        self.split(all)
    }

    /// Returns the first `count` events in the order of time.
    fn split(&mut self, count: usize) -> Sorted {
        let all = std::mem::take(&mut self.0);
        let mut order: Vec<u32> = (0..).take(all.times.len()).collect();
        Reorder::of(&all.times).apply(&mut order);
        let later = order.split_off(count.min(order.len()));
        self.0 = Held::with_capacity(FULL);
        for (event, time, seq) in later.iter().filter_map(|n| all.get(*n)) {
            self.0.push(&event, time, seq);
        }
        Sorted { all, order }
    }
}

impl Held {
    fn with_capacity(events: usize) -> Self {
        let (events, places) = (Batch::with_capacity(events), events);
        Self { events, times: Vec::with_capacity(places), seqs: Vec::with_capacity(places) }
    }

    #[inline]
    fn push(&mut self, event: &Event<'_>, time: i64, seq: i64) {
        self.events.push(event);
        self.times.push(time);
        self.seqs.push(seq);
    }

    #[inline]
    fn get(&self, n: u32) -> Option<(Event<'_>, i64, i64)> {
        let n = n as usize;
        Some((self.events.get(n)?, *self.times.get(n)?, *self.seqs.get(n)?))
    }
}

impl Sorted {
    pub fn iter(&self) -> impl Iterator<Item = (Event<'_>, i64, i64)> {
        self.order.iter().filter_map(|n| self.all.get(*n))
    }

    /// The earliest time and the latest.
    pub fn span(&self) -> Option<(i64, i64)> {
        let time = |n: Option<&u32>| self.all.times.get(*n? as usize).copied();
        time(self.order.first()).zip(time(self.order.last()))
    }
}
