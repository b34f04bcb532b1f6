//! The clock of one CPU: extends the low 32 bits of a record to 64. Not where records come from.
//!
//! The kernel writes CONTROL/TIME with both halves before an event whose low half is smaller than that of the
//! previous event, and before the first event of a CPU after a change of buffers. Parts of combine events
//! come late, with the time of their first part; so do events of a listing, which prints them at their end,
//! and BUFFER and TIME of a buffer that such a part opens.

/// Provisional count of a clock before the first TIME: far enough from 0 for earlier times.
const UNKNOWN: u64 = 1 << 62;
/// Half the range of the low word.
const HALF: u32 = 1 << 31;
/// A low half that is behind by up to this is in the past: part of an event that began before. One that is
/// further behind has overflowed, because without TIME nothing else tells that it did.
const LATE: u32 = 1 << 30;
/// The same for records that are stamped when they are written, or as a part that opens a buffer: an event is
/// interrupted for some milliseconds at most. Otherwise their low half falls because it has overflowed.
const OPENING: u32 = 1 << 24;
/// The high half of a count.
const HIGH: u64 = !0xffff_ffff;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    /// The latest count; `None` before the first record.
    last: Option<u64>,
    /// The least provisional count.
    least: u64,
    /// Added to counts that were given before the first TIME; `None` until then. A multiple of 2³².
    offset: Option<u64>,
    /// Counts are near those of a clock that was anchored before the first record of this one.
    is_near_target: bool,
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

    /// True before the first record.
    pub fn is_new(&self) -> bool {
        self.last.is_none()
    }

    /// To be called at the first record of a CPU, with its low half and the clock of the record before it.
    /// All provisional counts belong to one time line: records that follow each other are near each other.
    pub fn begin(&mut self, low: u32, before: Clock) {
        let near = before.last.unwrap_or(UNKNOWN);
        let ahead = low.wrapping_sub(near as u32);
        let first = match u64::from(ahead.wrapping_neg()) {
            behind if ahead >= HALF && behind <= near => near - behind,
            _ => near.wrapping_add(u64::from(ahead)),
        };
        let is_near_target = before.is_anchored() || before.is_near_target;
        *self = Self { last: Some(first), least: first, offset: None, is_near_target };
    }

    /// The count at a record with this low half; provisional until the clock is anchored ([`Clock::settle`]).
    /// `may_be_late`: the record may be older than the one before. If it is not and its low half is greater,
    /// its high half is the same, after however long a silence.
    pub fn at(&mut self, low: u32, may_be_late: bool) -> u64 {
        let Some(last) = self.last else {
            let first = UNKNOWN | u64::from(low);
            (self.last, self.least) = (Some(first), first);
            return first;
        };
        let behind = (last as u32).wrapping_sub(low);
        let is_late = match may_be_late {
            true => behind <= LATE,
            false => behind <= OPENING && low < last as u32,
        };
        if behind == 0 || !is_late {
            let now = last.wrapping_add(u64::from(behind.wrapping_neg()));
            self.last = Some(now);
            now
        } else {
            let past = last.wrapping_sub(u64::from(behind));
            self.least = self.least.min(past);
            past
        }
    }

    /// The count at a TIME record, whose own low half may be later than the time it states.
    pub fn time(&mut self, high: u32, low: u32, own: u32, may_be_late: bool) -> (u64, Option<Jump>) {
        let stated = u64::from(high) << 32 | u64::from(low);
        let now = stated.wrapping_add(u64::from(own.wrapping_sub(low)));
        let ahead = self.last.map(|last| last.wrapping_add(u64::from(own.wrapping_sub(last as u32))));
        let expected = self.at(own, may_be_late);
        let jump = match self.offset {
            None => {
                self.offset = Some(now.wrapping_sub(expected));
                None
            }
            Some(_) => (expected != now && ahead != Some(now)).then_some(Jump { from: expected, to: now }),
        };
        self.last = Some(now);
        (now, jump)
    }

    /// The offset of provisional counts that are not near those of a target, if this clock knows it.
    pub fn shared_offset(&self) -> Option<u64> {
        self.offset.filter(|_| !self.is_near_target)
    }

    /// The least count of such a clock that has no offset yet.
    pub fn least_provisional(&self) -> Option<u64> {
        let is_provisional = self.last.is_some() && !self.is_anchored() && !self.is_near_target;
        is_provisional.then_some(self.least)
    }

    /// Stops waiting for a TIME. `offset` is that of another clock, or the one that makes the high half of
    /// the first record of the trace 0 ([`Clock::from_zero`]).
    pub fn assume(&mut self, offset: u64) {
        let Some(last) = self.last.filter(|_| self.offset.is_none()) else { return };
        let offset = if self.is_near_target { 0 } else { offset };
        self.offset = Some(offset);
        self.last = Some(last.wrapping_add(offset));
    }

    /// The offset with which the high half of this provisional count, the least one, is 0.
    pub fn from_zero(least: u64) -> u64 {
        (least & HIGH).wrapping_neg()
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
        let first = clock.at(0xffff_f000, false);
        assert!(!clock.is_anchored());
        // The own time is later than the stated one, because the kernel stamps the record again.
        assert_eq!(clock.time(5, 0xffff_effa, 0xffff_f000, false), (0x5_ffff_f000, None));
        assert_eq!(clock.settle(first), 0x5_ffff_f000);
        assert_eq!(clock.at(0xffff_f00a, false), 0x5_ffff_f00a);
    }

    #[test]
    fn the_low_half_rolls_over_and_late_parts_do_not_move_the_clock() {
        let mut clock = Clock::default();
        clock.time(5, 0xffff_ff00, 0xffff_ff00, false);
        assert_eq!(clock.at(0x10, false), 0x6_0000_0010);
        assert_eq!(clock.at(0xffff_ff80, true), 0x5_ffff_ff80, "the rest of an event that began before");
        assert_eq!(clock.at(0x20, false), 0x6_0000_0020);
        assert_eq!(clock.time(6, 0x2f, 0x30, false), (0x6_0000_0030, None));
    }

    #[test]
    fn a_silence_without_an_overflow_keeps_the_high_half() {
        let mut clock = Clock::default();
        clock.time(5, 0x1000, 0x1000, false);
        assert_eq!(clock.at(0x2000, false), 0x5_0000_2000);
        assert_eq!(clock.at(0xe000_0000, false), 0x5_e000_0000, "nothing tells of an overflow");
        assert_eq!(clock.time(6, 0xd000_0000, 0xd000_0000, false), (0x6_d000_0000, None));
    }

    #[test]
    fn a_low_half_that_falls_has_overflowed() {
        let mut clock = Clock::default();
        let first = clock.at(0xf000_0000, false);
        assert_eq!(clock.time(6, 0xc000_0000, 0xc000_0000, false), (0x6_c000_0000, None));
        assert_eq!(clock.settle(first), 0x5_f000_0000, "the kernel writes TIME because it fell");
        assert_eq!(clock.at(0x9000_0000, false), 0x7_9000_0000, "as without the class CONTROL");
    }

    #[test]
    fn the_first_records_of_a_buffer_have_the_stamp_of_the_part_that_opens_it() {
        let mut clock = Clock::default();
        let first = clock.at(0x9000_0000, false);
        assert_eq!(clock.time(7, 0x8fff_0000, 0x8fff_0000, false), (0x7_8fff_0000, None));
        assert_eq!(clock.settle(first), 0x7_9000_0000);
        assert_eq!(clock.at(0x9000_0010, false), 0x7_9000_0010);
        assert_eq!(clock.at(0x8fff_0004, false), 0x7_8fff_0004);
        assert_eq!(clock.time(7, 0x8fff_0004, 0x8fff_0004, false), (0x7_8fff_0004, None));
    }

    #[test]
    fn a_time_that_does_not_follow_is_reported() {
        let mut clock = Clock::default();
        clock.time(1, 0, 0, false);
        let (now, jump) = clock.time(3, 5, 6, false);
        assert_eq!(now, 0x3_0000_0006);
        assert_eq!(jump, Some(Jump { from: 0x1_0000_0006, to: now }));
    }

    #[test]
    fn without_any_time_the_first_record_has_a_high_half_of_zero() {
        let mut clock = Clock::default();
        let counts =
            [0xfff0_0000, 0xfff8_0000, 0, 0x0008_0000, 0x9000_0000, 0x10].map(|low| clock.at(low, false));
        let late = clock.at(0xffff_ff00, true);
        clock.assume(Clock::from_zero(clock.least_provisional().unwrap()));
        let settled = counts.map(|count| clock.settle(count));
        let expected = [0xfff0_0000, 0xfff8_0000, 1 << 32, 0x1_0008_0000, 0x1_9000_0000, 0x2_0000_0010];
        assert_eq!((settled, clock.settle(late)), (expected, 0x1_ffff_ff00));
        assert_eq!(clock.at(0x20, false), 0x2_0000_0020);
    }

    #[test]
    fn without_any_time_the_high_half_is_borrowed() {
        let (mut first, mut second, mut third) = <(Clock, Clock, Clock)>::default();
        first.at(0xffff_fff0, false);
        second.begin(0x10, first);
        assert_eq!(second.least_provisional(), Some(UNKNOWN + 0x1_0000_0010), "near the first");
        for low in [0x6000_0000, 0xc000_0000, 0x2000_0000] {
            first.at(low, false);
        }
        // The second was seen long before the TIME of the first.
        let (now, _) = first.time(5, 0x2000_0100, 0x2000_0100, false);
        second.assume(first.shared_offset().unwrap());
        assert_eq!((now, second.at(0x10, false)), (0x5_2000_0100, 0x4_0000_0010));
        third.begin(0xffff_0000, Clock { last: Some(0x4_0000_0001), ..first });
        assert_eq!((third.least_provisional(), third.is_anchored()), (None, false));
        third.assume(77 << 32);
        assert_eq!(third.at(0xffff_0000, true), 0x3_ffff_0000);
    }

    proptest! {
        /// Against counting with 64 bits: steps below the range, a TIME when the low half falls.
        #[test]
        fn counts_are_those_of_the_target(start in 0u64..1 << 40, steps in prop::collection::vec((0u64..1 << 32, 0u64..1 << 20), 1..60)) {
            let mut clock = Clock::default();
            let mut now = start;
            clock.time((now >> 32) as u32, now as u32, now as u32, false);
            for (step, late) in steps {
                let before = now;
                now += step;
                if (now as u32) < before as u32 {
                    prop_assert_eq!(clock.time((now >> 32) as u32, now as u32, now as u32, false), (now, None));
                }
                prop_assert_eq!(clock.at(now as u32, false), now);
                let late = now.saturating_sub(late);
                prop_assert_eq!(clock.at(late as u32, true), late);
            }
        }
    }
}
