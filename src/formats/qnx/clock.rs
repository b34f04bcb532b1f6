//! The clock of one CPU: extends the low 32 bits of a record to 64. Not where records come from.
//!
//! The kernel writes CONTROL/TIME with both halves before an event whose low half is smaller than that of the
//! previous event, and before the first event of a CPU after a change of buffers. Parts of combine events
//! come late, with the time of their first part.

/// Provisional count of a clock before its first TIME: far enough from 0 for earlier times.
const UNKNOWN: u64 = 1 << 62;
/// Half the range of the low word: a low half that is further ahead than this is in the past.
const HALF: u32 = 1 << 31;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    /// The latest count; `None` before the first record.
    last: Option<u64>,
    /// Added to counts that were given before the first TIME; `None` until then.
    offset: Option<u64>,
}

/// A TIME that does not follow from the previous times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Jump {
    /// The count of the clock so far.
    pub from: u64,
    /// The count according to the TIME.
    pub to: u64,
}

impl Clock {
    /// True if counts are those of the target, not provisional ones.
    pub fn is_anchored(&self) -> bool {
        self.offset.is_some()
    }

    /// The latest count, once it is that of the target.
    pub fn now(&self) -> Option<u64> {
        self.offset.and(self.last)
    }

    /// The count at a record with this low half; provisional until the clock is anchored ([`Clock::settle`]).
    pub fn at(&mut self, low: u32) -> u64 {
        let Some(last) = self.last else {
            let first = UNKNOWN | u64::from(low);
            self.last = Some(first);
            return first;
        };
        let ahead = low.wrapping_sub(last as u32);
        if ahead < HALF {
            let now = last.wrapping_add(u64::from(ahead));
            self.last = Some(now);
            now
        } else {
            last.wrapping_sub(u64::from(ahead.wrapping_neg()))
        }
    }

    /// The count at a TIME record, whose own low half may be later than the time it states.
    pub fn time(&mut self, high: u32, low: u32, own: u32) -> (u64, Option<Jump>) {
        let stated = u64::from(high) << 32 | u64::from(low);
        let now = stated.wrapping_add(u64::from(own.wrapping_sub(low)));
        let expected = self.at(own);
        let jump = match self.offset {
            None => {
                self.offset = Some(now.wrapping_sub(expected));
                None
            }
            Some(_) => (expected != now).then_some(Jump { from: expected, to: now }),
        };
        self.last = Some(now);
        (now, jump)
    }

    /// Stops waiting for a TIME: the count is the one with this low half that is nearest to `other`, the
    /// count of another CPU's clock (or 0).
    pub fn assume(&mut self, other: u64) {
        let Some(last) = self.last.filter(|_| self.offset.is_none()) else { return };
        let ahead = (last as u32).wrapping_sub(other as u32);
        let count = match u64::from(ahead.wrapping_neg()) {
            behind if ahead >= HALF && behind <= other => other - behind,
            _ => other.wrapping_add(u64::from(ahead)),
        };
        self.offset = Some(count.wrapping_sub(last));
        self.last = Some(count);
    }

    /// Converts a provisional count to that of the target.
    pub fn settle(&self, provisional: u64) -> u64 {
        provisional.wrapping_add(self.offset.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_comes_before_the_first_time_is_filled_in() {
        let mut clock = Clock::default();
        let first = clock.at(0xffff_f000);
        assert!(!clock.is_anchored());
        // The own time is later than the stated one, because the kernel stamps the record again.
        assert_eq!(clock.time(5, 0xffff_effa, 0xffff_f000), (0x5_ffff_f000, None));
        assert_eq!(clock.settle(first), 0x5_ffff_f000);
        assert_eq!(clock.at(0xffff_f00a), 0x5_ffff_f00a);
    }

    #[test]
    fn the_low_half_rolls_over_and_late_parts_do_not_move_the_clock() {
        let mut clock = Clock::default();
        clock.time(5, 0xffff_ff00, 0xffff_ff00);
        assert_eq!(clock.at(0x10), 0x6_0000_0010);
        assert_eq!(clock.at(0xffff_ff80), 0x5_ffff_ff80, "the rest of an event that began before");
        assert_eq!(clock.at(0x20), 0x6_0000_0020);
        assert_eq!(clock.time(6, 0x2f, 0x30), (0x6_0000_0030, None));
    }

    #[test]
    fn a_time_that_does_not_follow_is_reported() {
        let mut clock = Clock::default();
        clock.time(1, 0, 0);
        let (now, jump) = clock.time(3, 5, 6);
        assert_eq!(now, 0x3_0000_0006);
        assert_eq!(jump, Some(Jump { from: 0x1_0000_0006, to: now }));
    }

    #[test]
    fn without_any_time_the_high_half_is_borrowed() {
        let mut clock = Clock::default();
        let first = clock.at(7);
        clock.at(9);
        clock.assume(0x3_ffff_5678);
        assert_eq!(clock.settle(first), 0x4_0000_0007);
        assert_eq!(clock.at(10), 0x4_0000_000a);
        let mut late = Clock::default();
        late.at(0xffff_0000);
        late.assume(0x4_0000_0001);
        assert_eq!(late.now(), Some(0x3_ffff_0000));
        let mut alone = Clock::default();
        alone.at(0xffff_0000);
        alone.assume(0);
        assert_eq!(alone.now(), Some(0xffff_0000));
    }

    proptest! {
        /// Against counting with 64 bits: steps below half the range, a TIME when the low half falls.
        #[test]
        fn counts_are_those_of_the_target(start in 0u64..1 << 40, steps in prop::collection::vec((0u64..1 << 31, 0u64..1 << 20), 1..60)) {
            let mut clock = Clock::default();
            let mut now = start;
            clock.time((now >> 32) as u32, now as u32, now as u32);
            for (step, late) in steps {
                let before = now;
                now += step;
                if (now as u32) < before as u32 {
                    prop_assert_eq!(clock.time((now >> 32) as u32, now as u32, now as u32), (now, None));
                }
                prop_assert_eq!(clock.at(now as u32), now);
                let late = now.saturating_sub(late);
                prop_assert_eq!(clock.at(late as u32), late);
            }
        }
    }
}
