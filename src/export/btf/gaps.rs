//! The gaps of a recording in the order of time: events on both sides of one do not fit together. Not how
//! they were found.

use std::collections::VecDeque;

use crate::btf::remark::{self, Remark};
use crate::engine::Session;
use crate::error::Result;
use crate::schema::{tables, view};
use crate::time::{TimeScale, convert};

view! {
    struct Rows of gap { core, begin_at, end_at, reason }
}

/// A span in which the recorder lost events.
#[derive(Debug)]
pub(crate) struct Gap {
    /// `None`: all cores.
    pub core: Option<String>,
    pub reason: String,
    /// The last instant before it, and the first one after it, in ticks.
    pub begin: i64,
    pub end: i64,
}

/// The gaps that are still to come.
#[derive(Debug, Default)]
pub(crate) struct Gaps(VecDeque<Gap>);

impl Gaps {
    pub fn read(session: &Session, recording: &str) -> Result<Self> {
        let mut all = Vec::new();
        for batch in session.scanner().rows(tables::GAP, recording, Rows::COLUMNS)? {
            let rows = Rows::of(&batch)?;
            all.extend((0..rows.len()).map(|row| Gap {
                core: rows.core.get(row).map(str::to_owned),
                reason: rows.reason.value(row).to_owned(),
                begin: rows.begin_at.value(row),
                end: rows.end_at.value(row),
            }));
        }
        all.sort_by(|a, b| (a.begin, &a.core).cmp(&(b.begin, &b.core)));
        Ok(Self(all.into()))
    }

    /// Leaves out the gaps that do not begin in a window.
    pub fn within(mut self, from: Option<i64>, to: Option<i64>) -> Self {
        self.0.retain(|gap| from.is_none_or(|from| gap.begin >= from) && to.is_none_or(|to| gap.begin < to));
        self
    }

    /// The last instant before the next gap.
    pub fn next_begin(&self) -> Option<i64> {
        self.0.front().map(|gap| gap.begin)
    }

    /// The next gap, if it is before an event at `time`. Events at the begin of a gap are before it.
    pub fn next_before(&mut self, time: i64) -> Option<Gap> {
        self.0.front().is_some_and(|gap| gap.begin < time).then(|| self.0.pop_front()).flatten()
    }

    /// Passes the core of each gap that is before an event at `time`, and the first instant after the gap.
    /// Events at the begin of a gap are before it.
    pub fn before(&mut self, time: i64, mut each: impl FnMut(Option<&str>, i64)) {
        while let Some(gap) = self.next_before(time) {
            each(gap.core.as_deref(), gap.end);
        }
    }

    /// Appends a comment for each gap that is before an event at `time`; returns how many times were rounded.
    pub(super) fn write_before(&mut self, time: i64, counting: Counting, out: &mut Vec<u8>) -> u64 {
        let mut rounded = 0;
        while let Some(gap) = self.next_before(time) {
            let (span, unit, inexact) = counting.span((gap.begin, gap.end));
            let line = remark::gap(gap.core.as_deref(), &gap.reason, span, unit.as_str());
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
            rounded += inexact;
        }
        rounded
    }
}

/// How the output counts, where its comments have times: they are rounded as those of events are, so that the
/// order of both stays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counting {
    /// The unit of the times in the database.
    pub scale: TimeScale,
    /// The instant that is written as 0.
    pub zero: i64,
    /// The unit of the output.
    pub unit: TimeScale,
}

impl Counting {
    /// Two instants as the output has them, in which unit, and how many of them were rounded. The unit is
    /// that of the database if a number does not fit 64 bits in another one.
    fn span(self, (begin, end): (i64, i64)) -> ((i64, i64), TimeScale, u64) {
        let Self { scale, zero, unit } = self;
        let since = |time: i64| time.saturating_sub(zero);
        let written = |time| convert(since(time), scale, unit);
        match written(begin).zip(written(end)) {
            Some((begin, end)) => {
                let rounded = u64::from(begin.inexact) + u64::from(end.inexact);
                ((begin.ticks, end.ticks), unit, rounded)
            }
            None => ((since(begin), since(end)), scale, 0),
        }
    }

    /// The comment for a gap in a file that counted in another way; `None` if it stays as it is. `unit`: that
    /// of the file.
    pub fn again(self, line: &str, unit: TimeScale) -> Option<String> {
        let Some(Remark::Gap { core, reason, span, unit: printed }) = remark::read(line) else { return None };
        let stated = printed.and_then(TimeScale::parse);
        let from = stated.unwrap_or(unit);
        let ticks = |time| convert(time, from, self.scale).map(|rounded| rounded.ticks);
        let (new, unit, _) = self.span((ticks(span.0)?, ticks(span.1)?));
        let same = (new, unit) == (span, from);
        (!same).then(|| remark::gap(core, reason, new, unit.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_another_unit_are_written_again() {
        let (scale, unit) = (TimeScale::Ns, TimeScale::Us);
        let again = |line: &str, zero| Counting { scale, zero, unit }.again(line, TimeScale::Ms);
        let line = |span: &str| format!("# gap of Core_0: overflow, from {span}");
        assert_eq!(again(&line("3 to 5 us"), 0), None);
        assert_eq!(again(&line("3 to 5 us"), -2000), Some(line("5 to 7 us")));
        assert_eq!(again(&line("3500 to 4500 ns"), 0), Some(line("4 to 4 us")));
        // Without a unit, it is that of the file.
        assert_eq!(again(&line("3 to 5"), 0), Some(line("3000 to 5000 us")));
        assert_eq!(again(&line("3 to 5 ticks"), 0), Some(line("3000 to 5000 us")));
        let unit = TimeScale::Ms;
        assert_eq!(Counting { scale, zero: 0, unit }.again(&line("3 to 5"), unit), None);
        assert_eq!(again("# a comment", 0), None);
        // More than 64 bits of the finer unit.
        let (far, unit) = (i64::MAX - 1, TimeScale::Ps);
        let fine = Counting { scale, zero: 0, unit };
        assert_eq!(fine.again(&line(&format!("{far} to {far} ns")), scale), None);
    }
}
