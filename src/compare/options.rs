//! What to compare and how strictly. Plain data; the command line that fills it is not here.

use crate::words::words;
use serde::Serialize;

words! {
    /// How similar two traces must be.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Level {
        /// The same events with the same times in the same total order (thesis, chapter 5.1.3).
        #[default]
        Exact = "exact",
        /// The same order in each sequence; times do not count.
        Order = "order",
        /// As [`Level::Order`], and times within a tolerance.
        Timing = "timing",
    }
}

/// How far the times of a pair may be apart: either bound suffices; both are inclusive. The default is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tolerance {
    /// Distance of the two times, in ticks.
    pub ticks: u64,
    /// Per mille of the *interval*: the time since the previous event of the same sequence that both traces
    /// have (the home sequence, see [`super`]). The first event of a process or stimulus instance is measured
    /// from the first of the previous instance, so an activation from the previous activation; events without
    /// a predecessor are measured from the first event of their trace. The two intervals may differ by so
    /// many per mille of the longer one. A clock that drifts stays within this bound however long the trace
    /// is, and the zero of a clock does not matter, with or without [`CompareOptions::align`]; only `ticks`
    /// bounds that.
    pub per_mille: u32,
}

impl Tolerance {
    /// True if a pair is within the bounds: its times, and the times from which its intervals are measured.
    pub(super) fn allows(self, times: (i64, i64), previous: (i64, i64)) -> bool {
        let apart = times.0.abs_diff(times.1);
        let since = |now: i64, then: i64| i128::from(now) - i128::from(then);
        let (left, right) = (since(times.0, previous.0), since(times.1, previous.1));
        let bound = left.abs().max(right.abs()) * i128::from(self.per_mille);
        // Without a bound in ticks only the interval counts: equal times are no exception, otherwise the zero
        // of a clock would matter.
        let within = apart <= self.ticks && (self.ticks > 0 || self.per_mille == 0);
        within || (self.per_mille > 0 && (left - right).abs() * 1000 <= bound)
    }
}

/// What to compare. Names of entities are those of the right trace (after renaming) or of its own trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompareOptions {
    /// How similar the traces must be.
    pub level: Level,
    /// Level `timing`: for actions without their own tolerance.
    pub tolerance: Tolerance,
    /// Level `timing`: tolerances of single actions, by the word of BTF, e.g. `start`.
    pub action_tolerances: Vec<(String, Tolerance)>,
    /// Types whose events are left out, e.g. `SIG`; case and `I`/`ISR` do not matter. For a process type this
    /// includes what processes of the type cause, once an event has shown their type.
    pub ignore_types: Vec<String>,
    /// Entities that are left out, whether they are source or target.
    pub ignore_entities: Vec<String>,
    /// Also leaves out the interruption by ignored events: a preempt of a process that is followed on its
    /// core by ignored events only (at least one) and then by its resume, together with the suspends of its
    /// runnables right before and their resumes right after. Without this they remain differences.
    pub collapse_ignored_isrs: bool,
    /// Entities of the left trace (first) and their names in the right trace (second).
    pub rename: Vec<(String, String)>,
    /// Leaves out the end of the longer trace (thesis, chapter 5.1.3), in the same way at all levels: events
    /// later than the last event of the other trace are not compared. Events at exactly the time of that last
    /// event are. With `align`, times count from the first event of each trace.
    pub cut_to_common_length: bool,
    /// Measures the times of each trace from its own first event.
    pub align: bool,
    /// How many events of a side may wait for their partner, or for the verdict on their position.
    pub pending_limit: usize,
    /// How many differences to return in full ([`super::Comparison::differing`]); all are counted.
    pub differing: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            level: Level::Exact,
            tolerance: Tolerance::default(),
            action_tolerances: Vec::new(),
            ignore_types: Vec::new(),
            ignore_entities: Vec::new(),
            collapse_ignored_isrs: false,
            rename: Vec::new(),
            cut_to_common_length: false,
            align: false,
            pending_limit: 1_000_000,
            differing: 20,
        }
    }
}
