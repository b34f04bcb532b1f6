//! Steps back in the times of a file. A few late rows, and cores or entities that are listed one after the
//! other, are disorder, which is sorted later. A clock that was set back, a counter that overflowed and an
//! appended trace begin another trace: there, a process goes back on its own core and does not catch up. Not
//! the sorting of rows.

use crate::time::TimeScale;
use std::collections::HashMap;

/// A core and a process on it, as keys of names.
pub(super) type Place = (u32, u32);

/// After a step back, so many rows tell whether the times catch up.
const LOOK_AHEAD: usize = 64;
/// If they do, fewer rows than this of processes that go back are only late.
const SET_BACK: usize = 3;
/// So many rows at the end of a chunk are known when the next one begins.
const REMEMBERED: usize = 4096;
/// Counters of so many bits are common.
const COMMON_BITS: [u32; 3] = [16, 24, 32];

#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Time of the previous row.
    last: Option<i64>,
    /// The latest time of the present trace.
    high: Option<i64>,
    /// When processes did something on cores lately.
    seen: HashMap<Place, i64>,
}

/// Where another trace begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Restart {
    pub row: usize,
    /// The latest time before.
    pub from: i64,
    pub to: i64,
}

impl Steps {
    /// The rows of a chunk before which a trace ends. `headers`: rows behind a `#version`, ascending.
    /// `place_of`: what a row of a process says of a core.
    pub fn restarts(
        &mut self,
        times: &[i64],
        headers: &[usize],
        mut place_of: impl FnMut(usize) -> Option<Place>,
    ) -> Vec<Restart> {
        let mut found = Vec::new();
        let follows = self.last.zip(times.first()).is_none_or(|(last, first)| last <= *first);
        if follows && times.is_sorted() {
            self.remember(times, place_of);
            return found;
        }
        let mut before = self.last;
        for (row, time) in times.iter().enumerate() {
            if let Some(high) = self.high.filter(|_| before.is_some_and(|before| *time < before)) {
                let next = times.get(row..times.len().min(row + LOOK_AHEAD)).unwrap_or_default();
                let behind = next.iter().take_while(|time| **time < high).count();
                let is_back = |n: &usize| {
                    let seen = place_of(row + n).and_then(|place| self.seen.get(&place));
                    seen.zip(next.get(*n)).is_some_and(|(seen, time)| time < seen)
                };
                let back = (0..behind).filter(is_back).count();
                let is_set_back = back >= if behind < next.len() { SET_BACK } else { 1 };
                if headers.binary_search(&row).is_ok() || is_set_back {
                    found.push(Restart { row, from: high, to: *time });
                    self.high = None;
                    self.seen.clear();
                }
            }
            if let Some(place) = place_of(row) {
                let seen = self.seen.entry(place).or_insert(*time);
                *seen = (*seen).max(*time);
            }
            self.high = self.high.max(Some(*time));
            before = Some(*time);
        }
        self.last = before;
        found
    }

    /// To be called when keys of names change.
    pub fn forget_places(&mut self) {
        self.seen.clear();
    }

    /// Notes the end of a chunk in the order of time.
    fn remember(&mut self, times: &[i64], mut place_of: impl FnMut(usize) -> Option<Place>) {
        let Some(last) = times.last() else { return };
        (self.last, self.high) = (Some(*last), self.high.max(Some(*last)));
        let from = times.len().saturating_sub(REMEMBERED);
        if from > 0 {
            self.seen.clear();
        }
        for (row, time) in times.iter().enumerate().skip(from) {
            if let Some(place) = place_of(row) {
                self.seen.insert(place, *time);
            }
        }
    }
}

impl Restart {
    /// What it means, for a finding. Ticks are of `scale`, and the file counts in `unit`.
    pub fn why(&self, unit: TimeScale, scale: TimeScale) -> String {
        let what = "another trace, or its clock was set back: no state and no pair goes on across it";
        match self.overflow(unit, scale) {
            Some(bits) => format!(
                "{what}; it looks like the overflow of a counter of {bits} bits, which --counter-bits {bits} undoes"
            ),
            None => what.to_owned(),
        }
    }

    /// The bits of the counter that this looks like: all times fit, and most of its range is skipped.
    fn overflow(&self, unit: TimeScale, scale: TimeScale) -> Option<u32> {
        let shift = i64::from(scale.decimals()) - i64::from(unit.decimals());
        let power = 10i128.pow(shift.unsigned_abs() as u32);
        let counted =
            |ticks: i64| if shift >= 0 { i128::from(ticks) / power } else { i128::from(ticks) * power };
        let (from, to) = (counted(self.from), counted(self.to));
        COMMON_BITS.into_iter().find(|bits| to >= 0 && from < 1 << bits && from - to > 1 << (bits - 1))
    }
}

/// The counter of a writer, whose values begin at 0 again after the largest one.
#[derive(Debug, Clone)]
pub(super) struct Counter {
    bits: u32,
    /// The previous time, continued.
    last: Option<i64>,
}

impl Counter {
    /// A counter has 8 to 62 bits.
    pub fn new(bits: u32) -> Option<Self> {
        (8..=62).contains(&bits).then_some(Self { bits, last: None })
    }

    /// Continues the times of a chunk over overflows: a time is the one of its value that is nearest to the
    /// time before. Fails with the row of a value that the counter cannot have.
    pub fn continue_times(&mut self, times: &mut [i64]) -> Result<(), usize> {
        let range = 1i64 << self.bits;
        for (row, time) in times.iter_mut().enumerate() {
            if !(0..range).contains(time) {
                return Err(row);
            }
            if let Some(last) = self.last {
                let ahead = (*time - last) & (range - 1);
                let step = if ahead < range / 2 { ahead } else { ahead - range };
                *time = last.checked_add(step).ok_or(row)?;
            }
            self.last = Some(*time);
        }
        Ok(())
    }

    pub fn bits(&self) -> u32 {
        self.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows of (time, core, process), in chunks.
    fn restarts(chunks: &[&[(i64, u32, u32)]]) -> Vec<(usize, usize)> {
        let mut steps = Steps::default();
        let of_chunk = |(n, rows): (usize, &&[(i64, u32, u32)])| {
            let times: Vec<i64> = rows.iter().map(|row| row.0).collect();
            let found = steps.restarts(&times, &[], |row| rows.get(row).map(|row| (row.1, row.2)));
            found.iter().map(|restart| (n, restart.row)).collect::<Vec<_>>()
        };
        chunks.iter().enumerate().flat_map(of_chunk).collect()
    }

    #[test]
    fn disorder_begins_no_trace() {
        assert_eq!(restarts(&[&[(10, 0, 0), (8, 1, 1), (12, 0, 0), (11, 1, 1)]]), []);
        // A process that is late, and catches up.
        assert_eq!(restarts(&[&[(10, 0, 0), (8, 0, 0), (12, 0, 0)]]), []);
        let listing = |core: u32| (0..200).map(move |n| (n, core, core % 2)).collect::<Vec<_>>();
        assert_eq!(restarts(&[&[listing(0), listing(1), listing(2)].concat()]), [], "cores one by one");
        let tasks = |task: u32| (0..200).map(move |n| (n, 0, task)).collect::<Vec<_>>();
        assert_eq!(restarts(&[&tasks(0), &tasks(1)]), [], "tasks one by one");
    }

    #[test]
    fn a_process_that_goes_back_on_its_core_begins_another_trace() {
        let trace: Vec<_> = (0..200).map(|n| (n, 0, (n % 3) as u32)).collect();
        assert_eq!(restarts(&[&[&trace[..], &trace].concat()]), [(0, 200)]);
        assert_eq!(restarts(&[&trace, &trace, &trace]), [(1, 0), (2, 0)]);
        assert_eq!(restarts(&[&[(4_294_900_000, 0, 0), (300, 0, 0)]]), [(0, 1)], "at the end of a file");
        assert_eq!(restarts(&[&[(1, 0, 0), (5, 0, 1)], &[(6, 0, 0)], &[(2, 0, 1)]]), [(2, 0)]);
    }

    #[test]
    fn an_overflow_is_named() {
        let restart = |from, to| Restart { row: 0, from, to };
        let bits = |from, to, unit| restart(from, to).overflow(unit, TimeScale::Ns);
        assert_eq!(bits(4_294_900_000, 300, TimeScale::Ns), Some(32));
        assert_eq!(bits(4_294_900_000_000, 300_000, TimeScale::Us), Some(32));
        assert_eq!(bits(65_000, 3, TimeScale::Ns), Some(16));
        assert_eq!(bits(5_000_000_000, 3, TimeScale::Ns), None);
        assert_eq!(bits(1_000_000, 3, TimeScale::Ns), None);
        assert_eq!(bits(4_294_900_000, 4_000_000_000, TimeScale::Ns), None);
    }

    proptest! {
        /// Against times that do not overflow.
        #[test]
        fn a_counter_is_continued(bits in 8u32..63, begin in 0i64..256, steps in prop::collection::vec(-100i64..1 << 20, 0..50), size in 1usize..9) {
            let range = 1i64 << bits;
            let mut now = begin;
            let times: Vec<i64> = steps.iter().map(|step| {
                now += step % (range / 2);
                now
            }).collect();
            prop_assume!(times.first().is_none_or(|first| (0..range).contains(first)));
            let mut counted: Vec<i64> = times.iter().map(|time| time.rem_euclid(range)).collect();
            let mut counter = Counter::new(bits).unwrap();
            for chunk in counted.chunks_mut(size) {
                prop_assert_eq!(counter.continue_times(chunk), Ok(()));
            }
            prop_assert_eq!(counted, times);
        }
    }
}
