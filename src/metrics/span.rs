//! The time that a metric is asked for: the requested part of each recording, and what is known of it. Not
//! the samples in it.

use std::collections::HashMap;

use crate::time::TimeWindows;

/// A gap of a core, or of all cores: begin and end.
pub(super) type CoreGap = (Option<String>, (i64, i64));

/// The requested time.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub from: i64,
    pub to: i64,
    pub windows: Option<TimeWindows>,
    /// Begin and end of every recording.
    pub recordings: HashMap<String, (i64, i64)>,
    /// The times between the traces of a recording whose clock was set back: they are no time of the system.
    pub between: HashMap<String, Vec<(i64, i64)>>,
    /// The gaps of every recording, with their cores; `None`: all cores.
    pub gaps: HashMap<String, Vec<CoreGap>>,
}

impl Span {
    /// The requested part of a recording; `None` if it is empty.
    pub fn of(&self, recording: &str) -> Option<(i64, i64)> {
        let (begin, end) = *self.recordings.get(recording)?;
        let (begin, end) = (begin.max(self.from), end.min(self.to));
        (begin < end).then_some((begin, end))
    }

    /// The ticks of a part of a recording; 0 if nothing of it is known of the core.
    pub fn available(&self, recording: &str, core: Option<&str>, (begin, end): (i64, i64)) -> i128 {
        let mut gaps = self.gaps.get(recording).into_iter().flatten();
        let hides = |of: &Option<String>| of.is_none() || of.as_deref() == core;
        if gaps.any(|(of, (from, to))| hides(of) && *from <= begin && end <= *to) {
            return 0;
        }
        let length = |(begin, end): (i64, i64)| (i128::from(end) - i128::from(begin)).max(0);
        let between = self.between.get(recording).into_iter().flatten();
        let left_out = between.map(|(from, to)| length((begin.max(*from), end.min(*to))));
        length((begin, end)) - left_out.sum::<i128>()
    }
}
