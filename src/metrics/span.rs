//! The time that a metric is asked for: the requested part of each recording, and what is known of it. Not
//! the samples in it.

use std::collections::HashMap;

use crate::time::{TimeWindows, available, united};

/// The requested time.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub from: i64,
    pub to: i64,
    pub windows: Option<TimeWindows>,
    /// Begin and end of every recording.
    pub recordings: HashMap<String, (i64, i64)>,
    /// What is not known of every recording.
    pub unseen: HashMap<String, Unseen>,
}

/// The gaps of a recording, and the times between its traces where its clock was set back, which are no time
/// of the system.
#[derive(Debug, Clone, Default)]
pub(super) struct Unseen {
    /// Those of all cores.
    of_all: Vec<(i64, i64)>,
    /// By core: its own ones and those of all, once [`Unseen::finish`] was called.
    of_core: HashMap<String, Vec<(i64, i64)>>,
}

impl Unseen {
    /// Adds a gap; without a core, of all of them.
    pub fn add(&mut self, core: Option<&str>, gap: (i64, i64)) {
        match core {
            Some(core) => self.of_core.entry(core.to_owned()).or_default().push(gap),
            None => self.of_all.push(gap),
        }
    }

    /// Joins what overlaps or adjoins.
    pub fn finish(&mut self) {
        self.of_core.values_mut().for_each(|own| own.extend(&self.of_all));
        self.of_core.values_mut().chain([&mut self.of_all]).for_each(united);
    }

    fn of(&self, core: Option<&str>) -> &[(i64, i64)] {
        core.and_then(|core| self.of_core.get(core)).unwrap_or(&self.of_all)
    }
}

impl Span {
    /// The requested part of a recording; `None` if it is empty.
    pub fn of(&self, recording: &str) -> Option<(i64, i64)> {
        let (begin, end) = *self.recordings.get(recording)?;
        let (begin, end) = (begin.max(self.from), end.min(self.to));
        (begin < end).then_some((begin, end))
    }

    /// The ticks of a part of a recording that are seen of the core, see [`available`].
    pub fn available(&self, recording: &str, core: Option<&str>, part: (i64, i64), seen: i128) -> i128 {
        let gaps = self.unseen.get(recording).map(|unseen| unseen.of(core)).unwrap_or_default();
        available(gaps, part, seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gaps_hide_is_no_part_of_the_time_of_a_load() {
        let mut unseen = Unseen::default();
        for (core, gap) in
            [(Some("a"), (10, 20)), (Some("a"), (15, 25)), (None, (25, 30)), (Some("b"), (0, 5))]
        {
            unseen.add(core, gap);
        }
        unseen.finish();
        let span = Span {
            from: i64::MIN,
            to: i64::MAX,
            windows: None,
            recordings: HashMap::new(),
            unseen: HashMap::from([("r".to_owned(), unseen)]),
        };
        let ticks = |core, part, seen| span.available("r", core, part, seen);
        assert_eq!(ticks(Some("a"), (0, 100), 0), 80);
        assert_eq!(ticks(Some("a"), (10, 30), 0), 0, "two gaps that adjoin hide what they cover together");
        assert_eq!(ticks(Some("b"), (0, 100), 0), 90);
        assert_eq!((ticks(Some("c"), (0, 100), 0), ticks(None, (26, 28), 0)), (95, 0));
        assert_eq!(ticks(Some("c"), (25, 30), 3), 3, "what was seen in a gap was seen");
        assert_eq!(span.available("s", Some("a"), (10, 30), 0), 20);
    }
}
