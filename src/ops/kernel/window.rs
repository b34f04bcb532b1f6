//! The events of one CPU in the order of time. Parts of combine events and nested interrupts are out of order by a few
//! records in the file; what comes later than a window is left where it is, and begins another sorted run.

use super::super::order::Reorder;
use crate::formats::qnx::Batch;
use crate::qnx::Event;

/// Events of a window, and how many of them are held back when it is full.
const FULL: usize = 16 * 1024;
const HELD: usize = 4 * 1024;

/// Events in the order of (time, seq), with both.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub events: Batch,
    /// In ticks.
    pub times: Vec<i64>,
    pub seqs: Vec<i64>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Window(Sorted);

impl Default for Window {
    fn default() -> Self {
        Self(Sorted::with_capacity(FULL))
    }
}

impl Window {
    /// Takes the next event in the order of the file; gives some that can no longer be overtaken within the window.
    #[inline]
    pub fn push(&mut self, event: &Event<'_>, time: i64, seq: i64) -> Option<Sorted> {
        self.0.push(event, time, seq);
        (self.0.times.len() >= FULL).then(|| self.split(FULL - HELD))
    }

    /// What is left.
    pub fn rest(&mut self) -> Sorted {
        let all = self.0.times.len();
        self.split(all)
    }

    /// Gives the first `count` events in the order of time.
    fn split(&mut self, count: usize) -> Sorted {
        let all = std::mem::take(&mut self.0);
        let mut order: Vec<usize> = (0..all.times.len()).collect();
        Reorder::of(&all.times).apply(&mut order);
        let (mut first, mut rest) = (Sorted::with_capacity(count), Sorted::with_capacity(FULL));
        for (place, n) in order.into_iter().enumerate() {
            let to = if place < count { &mut first } else { &mut rest };
            if let (Some(event), Some(time), Some(seq)) =
                (all.events.get(n), all.times.get(n), all.seqs.get(n))
            {
                to.push(&event, *time, *seq);
            }
        }
        self.0 = rest;
        first
    }
}

impl Sorted {
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

    /// Each event with its time and number.
    pub fn iter(&self) -> impl Iterator<Item = (Event<'_>, i64, i64)> {
        let places = self.times.iter().zip(&self.seqs);
        self.events.iter().zip(places).map(|(event, (time, seq))| (event, *time, *seq))
    }
}
