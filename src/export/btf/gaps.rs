//! The gaps of a recording in the order of time: events on both sides of one do not fit together. Not how
//! they were found.

use std::collections::VecDeque;

use crate::btf::remark;
use crate::engine::Session;
use crate::error::Result;
use crate::schema::{tables, view};

view! {
    struct Rows of gap { core, begin_at, end_at, reason }
}

/// A span in which the recorder lost events.
#[derive(Debug)]
struct Gap {
    /// `None`: all cores.
    core: Option<String>,
    reason: String,
    /// The last instant before it, and the first one after it, in ticks.
    begin: i64,
    end: i64,
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

    fn next_before(&mut self, time: i64) -> Option<Gap> {
        self.0.front().is_some_and(|gap| gap.begin < time).then(|| self.0.pop_front()).flatten()
    }

    /// Passes the core of each gap that is before an event at `time`, and the first instant after the gap.
    /// Events at the begin of a gap are before it.
    pub fn before(&mut self, time: i64, mut each: impl FnMut(Option<&str>, i64)) {
        while let Some(gap) = self.next_before(time) {
            each(gap.core.as_deref(), gap.end);
        }
    }

    /// Appends a comment for each gap that is before an event at `time`. `zero` is the instant that is
    /// written as 0.
    pub fn write_before(&mut self, time: i64, zero: i64, unit: &str, out: &mut Vec<u8>) {
        while let Some(gap) = self.next_before(time) {
            let span = (gap.begin.saturating_sub(zero), gap.end.saturating_sub(zero));
            out.extend_from_slice(remark::gap(gap.core.as_deref(), &gap.reason, span, unit).as_bytes());
            out.push(b'\n');
        }
    }
}
