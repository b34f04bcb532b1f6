//! Exports of Lauterbach TRACE32: data accesses printed as CSV, function nesting (`Trace.EXPORT.CSVFunc`) and
//! task events (`Trace.EXPORT.TASKEVENTS`). Turns chunks of text into columns of numbers and names; knows
//! nothing of files, tables or what a variable means.
//!
//! Bad content is never an error here: each line ends as a row, a gap, a located rejection or a skipped line,
//! and [`Counts`] proves that none is missing. A chunk that is read alone gives the same rows. Whether time runs backwards is for the collector of the chunks to see.

mod batches;
mod columns;
mod data;
mod fields;
mod format;
mod functions;
mod layout;
mod line_reader;
mod parser;
mod plan;
mod probe;
mod report;
mod rows;
mod task_events;
#[cfg(test)]
mod tests;

pub use super::Counts;
pub use columns::Column;
pub use format::Trace32;
pub use layout::{DataLayout, detect_data_layout};
pub use parser::{ExportParser, Grammar, parse_data, parse_functions};
pub use probe::probe;
pub use rows::ExportRows;
pub use task_events::FUNCTION_KINDS;

use crate::time::TimeScale;

/// Which export a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Accesses to variables, read by [`parse_data`].
    Data,
    /// Function entries and exits, read by [`parse_functions`].
    Functions,
    /// Events of tasks and interrupts, read by [`parse_functions`] as well: the grammar is the same.
    TaskEvents,
}

/// How data values are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Radix {
    /// Hexadecimal without a prefix, which is what TRACE32 does unless told otherwise.
    #[default]
    Hex,
    /// Decimal, maybe with a point behind the number.
    Decimal,
}

impl Radix {
    /// Reads the value of `data_radix` in a recording's description.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "hex" => Some(Self::Hex),
            "decimal" => Some(Self::Decimal),
            _ => None,
        }
    }
}

/// What has to be known beside the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSettings {
    /// How data values are printed.
    pub radix: Radix,
    /// The tick that times are counted in.
    pub scale: TimeScale,
    /// Ticks added to every time, to bring cores with separate clocks together.
    pub offset: i64,
    /// The path as the user gave it, for diagnostics.
    pub source: String,
}

/// A stretch for which the trace says that something was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The gap's own time, else that of the row before it, else (see `begin_open`) that of the row behind it;
    /// 0 when the chunk knows no time at all.
    pub begin: i64,
    /// True when neither the gap nor a row before it in this chunk has a time: the last row of the chunks
    /// before, if there is any, tells better when it began.
    pub begin_open: bool,
    /// Time of the row behind it; `None` when the chunk ends first.
    pub end: Option<i64>,
    /// What the trace says, in lower case, for example `target fifo overflow`.
    pub reason: String,
}
