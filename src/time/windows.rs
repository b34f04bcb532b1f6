//! Windows of time, one after the other or overlapping, and spans as one. Not the SQL functions that are made
//! of them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// More windows than this are a mistake in the units.
const MAX_WINDOWS: i128 = 10_000_000;
/// And so are more windows over one instant.
const MAX_OPEN: i64 = 1000;

/// Windows `[k * step, k * step + width)` for every whole number k, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWindows {
    /// Length of a window; greater than 0.
    pub width: i64,
    /// Distance between the begins of two windows; greater than 0. Smaller than the width, windows overlap.
    pub step: i64,
}

impl TimeWindows {
    /// Fails when these are no windows, or so many are open at once that they must be a mistake.
    pub(crate) fn check(self) -> Result<(), &'static str> {
        if self.width <= 0 || self.step <= 0 {
            return Err("the width and the step of windows must be greater than 0");
        }
        match self.width / self.step > MAX_OPEN {
            true => Err("every instant lies in more than a thousand windows; take a larger step"),
            false => Ok(()),
        }
    }

    /// The numbers of all windows that have an instant of `[begin, end)`; they cannot overflow.
    fn numbers(self, begin: i64, end: i64) -> Result<Range<i128>, &'static str> {
        if self.width <= 0 || self.step <= 0 {
            return Err("the width and the step of windows must be greater than 0");
        }
        let [begin, end, width, step] = [begin, end, self.width, self.step].map(i128::from);
        // Almost all quotients are those of 64 bits, which take a fraction of the time.
        let quotient = |a: i128| match (i64::try_from(a), i64::try_from(step)) {
            (Ok(a), Ok(step)) => i128::from(a.div_euclid(step)),
            _ => a.div_euclid(step),
        };
        let range = match begin < end {
            true => quotient(begin - width) + 1..quotient(end - 1) + 1,
            false => 0..0,
        };
        if range.end - range.start > MAX_WINDOWS {
            return Err("an interval touches more than ten million windows; take a larger step");
        }
        Ok(range)
    }

    /// How many windows have an instant of `[begin, end)`.
    pub(crate) fn count(self, begin: i64, end: i64) -> Result<usize, &'static str> {
        self.numbers(begin, end).map(|numbers| (numbers.end - numbers.start) as usize)
    }

    /// The begins of all windows that have an instant of `[begin, end)`, ascending.
    pub(crate) fn touching(
        self,
        begin: i64,
        end: i64,
    ) -> Result<impl Iterator<Item = i64> + Clone, &'static str> {
        // A window whose begin is no `i64` has no begin.
        let begin_of = move |k: i128| i64::try_from(k * i128::from(self.step)).ok();
        self.numbers(begin, end).map(|numbers| numbers.filter_map(begin_of))
    }

    /// The end of the window that begins there, not part of it.
    pub(crate) fn end(self, begin: i64) -> i64 {
        begin.saturating_add(self.width)
    }
}

/// Sorts spans, and joins those that touch.
pub(crate) fn united(spans: &mut Vec<(i64, i64)>) {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let touches = next.0 <= last.1;
        if touches {
            last.1 = last.1.max(next.1);
        }
        touches
    });
}

/// The ticks of a part that are seen, where [united] gaps hide some: at least those in which something was
/// seen, as a core can be seen first within a gap of all cores.
pub(crate) fn available(gaps: &[(i64, i64)], (begin, end): (i64, i64), seen: i128) -> i128 {
    let length = (i128::from(end) - i128::from(begin)).max(0);
    length - covered(gaps, (begin, end)).min((length - seen).max(0))
}

/// How many ticks of `[begin, end)` lie in [united] spans.
fn covered(united: &[(i64, i64)], (begin, end): (i64, i64)) -> i128 {
    let first = united.partition_point(|span| span.1 <= begin);
    let within = united.iter().skip(first).take_while(|span| span.0 < end);
    within.map(|span| (i128::from(span.1.min(end)) - i128::from(span.0.max(begin))).max(0)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{TimeWindows, covered, united};

    #[test]
    fn spans_that_touch_are_one() {
        let mut spans = vec![(5, 9), (0, 2), (2, 3), (6, 7), (20, 30)];
        united(&mut spans);
        assert_eq!(spans, [(0, 3), (5, 9), (20, 30)]);
        assert_eq!(
            [(0, 40), (1, 6), (3, 5), (9, 9), (29, 99)].map(|part| covered(&spans, part)),
            [17, 3, 0, 0, 1]
        );
    }

    #[test]
    fn what_makes_no_windows_says_why() {
        let touching =
            |begin, end, width, step| TimeWindows { width, step }.touching(begin, end).map(Iterator::count);
        assert!(touching(0, 1, 0, 1).is_err() && touching(0, 1, 1, -1).is_err());
        assert!(touching(i64::MIN, i64::MAX, 1, 1).unwrap_err().contains("larger step"));
        assert_eq!(touching(7, 7, 1, 1), Ok(0));
        let check = |width, step| TimeWindows { width, step }.check();
        assert!(check(0, 1).is_err() && check(1, 0).is_err() && check(1001, 1).is_err());
        assert_eq!(check(1000, 1), Ok(()));
    }

    proptest! {
        #[test]
        fn a_window_is_there_when_it_has_an_instant_of_the_interval(
            begin in -40i64..40, length in 0i64..30, width in 1i64..20, step in 1i64..20,
        ) {
            let end = begin + length;
            let touches = |begins: &i64| (*begins..begins + width).any(|at| (begin..end).contains(&at));
            let expected: Vec<i64> = (-200..200).map(|k| k * step).filter(touches).collect();
            let windows = TimeWindows { width, step };
            prop_assert_eq!(windows.count(begin, end), Ok(expected.len()));
            prop_assert_eq!(windows.touching(begin, end).unwrap().collect::<Vec<_>>(), expected);
        }
    }
}
