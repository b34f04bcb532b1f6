//! The arrivals of a stream, one after the other → its event model, in bounded memory. Not the model itself
//! (see `curve`), and not what arrives.
//!
//! All windows of up to `n` arrivals are seen exactly: the last `n` − 1 times are kept. For longer ones,
//! every second, fourth, eighth … arrival goes to a list of its own, of the same length. A window of m·s
//! arrivals has at least m of those that a list with step s gets, so that the least distance of m entries of
//! the list bounds it from below. The memory grows with the logarithm of the number of arrivals.

use super::curve::{Curve, Span};
use std::collections::VecDeque;

/// Observes a stream.
#[derive(Debug, Clone)]
pub struct Distances {
    most: usize,
    levels: Vec<Level>,
    /// Arrivals of the current stretch, and the time of its first and its latest one.
    count: u64,
    first: i64,
    latest: i64,
    /// The greatest number of arrivals of a stretch.
    greatest: u64,
    total: u64,
    early: u64,
}

/// One list: every so manieth arrival.
#[derive(Debug, Clone, Default)]
struct Level {
    /// The latest times, the latest one last.
    times: VecDeque<i64>,
    /// Index 0: one gap of the list.
    least: Vec<i64>,
    most: Vec<i64>,
}

impl Level {
    fn push(&mut self, time: i64, keep: usize) {
        for (gap, before) in self.times.iter().rev().enumerate() {
            let length = time.saturating_sub(*before);
            match (self.least.get_mut(gap), self.most.get_mut(gap)) {
                (Some(least), Some(most)) => {
                    *least = length.min(*least);
                    *most = length.max(*most);
                }
                _ => {
                    self.least.push(length);
                    self.most.push(length);
                }
            }
        }
        self.times.push_back(time);
        if self.times.len() >= keep {
            self.times.pop_front();
        }
    }
}

impl Distances {
    /// Sees windows of up to `most` arrivals exactly; at least 4. The time for each arrival grows with it.
    pub fn new(most: usize) -> Self {
        Self {
            most: most.max(4),
            levels: Vec::new(),
            count: 0,
            first: 0,
            latest: 0,
            greatest: 0,
            total: 0,
            early: 0,
        }
    }

    /// The next arrival, at a time in ticks. A time before the latest one counts as the latest one.
    pub fn push(&mut self, time: i64) {
        let mut time = time;
        if self.count == 0 {
            self.first = time;
        } else if time < self.latest {
            self.early += 1;
            time = self.latest;
        }
        let number = self.count;
        // A list that gets its second entry begins with the first arrival.
        if number.is_power_of_two() || number == 0 {
            let needed = number.checked_ilog2().map_or(1, |log| log as usize + 1);
            while self.levels.len() < needed {
                let mut level = Level::default();
                if number > 0 {
                    level.push(self.first, self.most);
                }
                self.levels.push(level);
            }
        }
        for (log, level) in self.levels.iter_mut().enumerate() {
            if number.trailing_zeros() as usize >= log {
                level.push(time, self.most);
            } else {
                break;
            }
        }
        self.latest = time;
        self.count += 1;
        self.total += 1;
        self.greatest = self.greatest.max(self.count);
    }

    /// An arrival among others that are not known: it counts, and has no distance to any.
    pub fn pass(&mut self) {
        self.total += 1;
    }

    /// What comes next is not known to follow directly: events were lost in between.
    pub fn cut(&mut self) {
        self.count = 0;
        for level in &mut self.levels {
            level.times.clear();
        }
    }

    /// Arrivals so far.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Arrivals that came with a time before that of the one before them.
    pub fn early(&self) -> u64 {
        self.early
    }

    /// The event model, of a recording whose longest stretch without a loss has `length` ticks. In so much
    /// time no more arrivals are assumed than were seen in a stretch at most.
    pub fn curve(&self, length: i64) -> Curve {
        if self.total == 0 {
            return Curve::never();
        }
        if self.greatest == 0 {
            // All arrivals are among others that are not known.
            return Curve::from_distances(&[(1, 0)], &[], Vec::new());
        }
        let mut least: Vec<(u64, i64)> = Vec::new();
        let mut most: Vec<(u64, i64)> = Vec::new();
        let mut spans: Vec<Span> = Vec::new();
        for (log, level) in self.levels.iter().enumerate() {
            let step = 1u64 << log.min(63);
            for ((shortest, longest), entries) in level.least.iter().zip(&level.most).zip(2u64..) {
                if log == 0 {
                    least.push((entries - 1, *shortest));
                    most.push((entries - 1, *longest));
                } else if entries * 2 <= self.most as u64 {
                    // The list before says it more exactly.
                    continue;
                } else if entries.saturating_mul(step) <= self.greatest {
                    least.push((entries.saturating_mul(step) - 1, *shortest));
                }
                let gaps = (entries - 1).saturating_mul(step);
                spans.push(Span { gaps, least: *shortest, most: *longest });
            }
        }
        least.push((self.greatest, length.max(1)));
        Curve::from_distances(&least, &most, spans)
    }
}
