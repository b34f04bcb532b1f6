//! The result of a comparison: verdict, counts, the first divergence with its context, one row per entity.
//! Plain data for a caller to print or to serialise; nothing is decided here.

use super::Level;
use crate::btf::Place;
use crate::words::words;
use serde::Serialize;

/// One event as a line of BTF, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Where the event is in its trace.
    #[serde(flatten)]
    pub place: Place,
    /// The event as BTF text, with the names and the time of its own trace, without a line end.
    pub text: String,
}

words! {
    /// How two traces differ at a place, with words for reports.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum DifferenceKind {
        /// The events are the same, their times differ (by more than the tolerance).
        Time = "time",
        /// The events correspond, but a field other than the time differs.
        Changed = "changed",
        /// Both traces have the event, at different positions of a sequence.
        Moved = "moved",
        /// Only the left trace has the event.
        OnlyLeft = "only in A",
        /// Only the right trace has the event.
        OnlyRight = "only in B",
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// How the traces differ.
    pub kind: DifferenceKind,
    /// The sequence in which the difference shows, e.g. `core Core_0` or `task T_1 instance 5`.
    pub sequence: String,
    /// The fields that differ, for [`DifferenceKind::Changed`] and [`DifferenceKind::Time`].
    pub fields: Vec<&'static str>,
    /// The event of the left trace, if it has one.
    pub left: Option<Line>,
    /// The event of the right trace, if it has one.
    pub right: Option<Line>,
}

/// The first difference with its context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Divergence {
    /// The difference itself.
    #[serde(flatten)]
    pub difference: Difference,
    /// Up to three events of the same sequence before, then up to three after, in the order of the left
    /// trace; the event itself is not repeated.
    pub left_context: Vec<Line>,
    /// The same of the right trace.
    pub right_context: Vec<Line>,
}

/// The largest difference in time between two corresponding events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TimeDifference {
    /// Ticks.
    pub ticks: u64,
    /// The event of the left trace.
    pub left: Place,
    /// The event of the right trace.
    pub right: Place,
}

/// The verdict of the thesis, chapter 5.1.3: event by event at the same index, without realignment. If one
/// trace is more than [`super::CompareOptions::pending_limit`] events ahead, an index counts as different
/// without a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Strict {
    /// Both traces have the same number of events.
    pub same_length: bool,
    /// Indices at which the times differ.
    pub temporal: u64,
    /// Indices at which any other field differs.
    pub semantic: u64,
}

/// The results for one entity, as the target of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntitySummary {
    /// Its name in the right trace.
    pub entity: String,
    /// The type of the target.
    #[serde(rename = "type")]
    pub kind: String,
    /// Events in the left trace.
    pub left: u64,
    /// Events in the right trace.
    pub right: u64,
    /// Differences in time only.
    pub temporal: u64,
    /// All other differences. An event that has another target in the right trace counts for both targets.
    pub semantic: u64,
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The level of the comparison.
    pub level: Level,
    /// The verdict: no difference of any kind.
    pub equal: bool,
    /// No difference was found, but an input was not read as a whole, so that there may be some. Not `equal`.
    pub undecided: bool,
    /// Events of the left trace that were compared.
    pub left_events: u64,
    /// Events of the right trace that were compared.
    pub right_events: u64,
    /// Events of the left trace that were ignored by an option.
    pub left_ignored: u64,
    /// Events of the right trace that were ignored by an option.
    pub right_ignored: u64,
    /// Pairs of corresponding events.
    pub compared: u64,
    /// Pairs whose times differ (level `timing`: by more than the tolerance; level `order`: always 0).
    pub temporal: u64,
    /// Pairs that differ in another field than the time, or are at different positions.
    pub semantic: u64,
    /// Of `semantic`: pairs of equal events at different positions of a sequence.
    pub moved: u64,
    /// Events that only the left trace has.
    pub only_left: u64,
    /// Events that only the right trace has.
    pub only_right: u64,
    /// Events that may have a partner beyond the limit of pending events; they count as differences, and with
    /// this above 0 the other numbers are an upper bound.
    pub given_up: u64,
    /// Options without an effect, in the words of the command: `rename A=B`, `ignore NAME` and
    /// `tolerance ACTION` that no event of either trace matches, and options that have no effect at this
    /// level or without another option.
    pub unused: Vec<String>,
    /// The largest difference in time of two events that correspond, including those that have moved or
    /// changed; `None` if there are none.
    pub max_time_difference: Option<TimeDifference>,
    /// The verdict of the thesis; only at level `exact`.
    pub strict: Option<Strict>,
    /// The first difference in the traces.
    pub first: Option<Divergence>,
    /// The first differences, in the order of the traces; as many as requested.
    pub differing: Vec<Difference>,
    /// One row per target and type, ordered by type and name.
    pub entities: Vec<EntitySummary>,
}
