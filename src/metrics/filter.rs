//! Which part of a database metrics are computed from, and how it is divided. Not the computation.

use serde::{Deserialize, Serialize};

use super::across::Across;
use crate::time::TimeWindows;

/// The part of a database that metrics are computed from.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MetricFilter {
    /// One recording; `None`: all, separately.
    pub recording: Option<String>,
    /// Names of tasks, interrupt service routines, runnables or cores, separated by commas, or patterns with
    /// `*` and `?`; `None`: all.
    pub entity: Option<String>,
    /// Start of the window, in ticks. A sample belongs to the window of its `at`; loads are clipped.
    pub from: Option<i64>,
    /// End of the window, in ticks, not part of it.
    pub to: Option<i64>,
    /// A line for each of these windows instead of one for the whole time. The first and the last window only
    /// count what is also within `from` and `to`.
    pub windows: Option<TimeWindows>,
    /// Several recordings as one; `None`: each by itself.
    pub across: Option<Across>,
}
