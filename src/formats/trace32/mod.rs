//! Exports of Lauterbach TRACE32: data accesses printed as CSV, function nesting (`Trace.EXPORT.CSVFunc`) and
//! task events (`Trace.EXPORT.TASKEVENTS`). The parser turns chunks of text into columns of numbers and
//! interned names; it knows nothing of files, of tables, or of the meaning of a variable.
//!
//! Bad content is never an error here: each line is a row, a gap, a located rejection or a skipped line, and
//! [`Counts`] proves that none is missing. A chunk that is read alone gives the same rows. Times that run
//! backwards are detected by the collector of the chunks, not here.

mod batches;
mod columns;
mod data;
mod fields;
mod format;
mod functions;
mod layout;
mod line_reader;
mod lost_data;
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

/// The kind of an export.
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
    /// Hexadecimal without a prefix, which is the default of TRACE32.
    #[default]
    Hex,
    /// Decimal, optionally with a point after the number.
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

/// What a parser must know in addition to the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSettings {
    /// How data values are printed.
    pub radix: Radix,
    /// The tick in which times are counted.
    pub scale: TimeScale,
    /// Ticks that are added to every time, to align cores with separate clocks.
    pub offset: i64,
    /// The path given by the user, for diagnostics.
    pub source: String,
}

/// A span for which the trace reports lost data, `[begin, end)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The time of the row before it in this chunk, in ticks.
    pub begin: Option<i64>,
    /// The time that the line of the gap itself has, in ticks: it is somewhere in the gap.
    pub own_time: Option<i64>,
    /// The time of the row after it; `None` if the chunk ends first.
    pub end: Option<i64>,
    /// The text of the trace, in lower case, for example `target fifo overflow`.
    pub reason: String,
}
