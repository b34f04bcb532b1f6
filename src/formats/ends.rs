//! Where the inputs of a recording ended: what a reader has to know to go on with the next piece of a trace
//! as if both were one input. Stored with the recording. Not what is checked of the next piece (see
//! `ops::continued`).

use serde::{Deserialize, Serialize};

/// The end of one input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputEnd {
    /// Its core.
    pub core: String,
    /// Its key in the description, e.g. `data`.
    pub role: String,
    /// Ticks that were added to its times.
    pub time_offset: i64,
    /// `seq` of the row after its last one.
    pub next_seq: i64,
    /// The time of its last row in the order of the file, in ticks.
    pub last_time: Option<i64>,
    /// Losses after which no row came.
    pub open_gaps: Vec<OpenEnd>,
}

/// A span of lost data that reaches to the next row, wherever that is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenEnd {
    /// The time of the row before it, in ticks; `None` if there is none.
    pub begin: Option<i64>,
    /// The time that its own line has, in ticks.
    pub own_time: Option<i64>,
    /// The reason stated by the trace.
    pub reason: String,
}
