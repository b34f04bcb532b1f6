//! BTF text of any version and writer: event lines into columns, all other lines as they are. Turns chunks of
//! text into numbers and names; knows nothing of files, tables or state charts (for those see `check`).
//!
//! A line is an event, a parameter (`#version 2.2.0`), a row of a table (`#-3 Task_1ms`), a comment (`# …`),
//! blank, or rejected, and [`super::Counts`] proves that none is missing. Chunks are read independently of
//! each other, except for the names that a [`Parser`] already knows. What depends on earlier lines (time
//! scale, numeric mode) is left to a [`Header`], which gets them in the order of the file.
//!
//! BTF has no quoting, so the note is the rest of the line after the seventh comma, commas included. Blanks
//! around fields are ignored (BTF 2.1.5 prints its examples with them).

use crate::words::words;

mod assemble;
mod chunk;
mod format;
mod header;
mod probe;
mod steps;
#[cfg(test)]
mod tests;

pub use chunk::{DeltaStart, EventRows, Parser, parse_chunk};
pub use format::{Btf, NUMERIC_FORMAT};
pub use header::{Header, Keyword};
pub use probe::{probe, speaks_freertos};

words! {
    /// What a line is that is no event. `as_str` is the word of table `btf_line`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum LineKind {
        /// `#keyword value`
        Parameter = "parameter",
        /// `#-id name`, of the table that was opened before.
        TableRow = "table_row",
        /// `#` alone or followed by a blank.
        Comment = "comment",
        /// Nothing but blanks.
        Blank = "blank",
        /// Not a line of BTF; a diagnostic says why.
        Rejected = "rejected",
    }
}

/// A line that is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherLine {
    /// 0-based within the chunk.
    pub line: u32,
    /// Number of the next event row of the chunk.
    pub before: u32,
    /// Its kind.
    pub kind: LineKind,
    /// Its text; a rejected line is cut to an excerpt. Bytes that are not UTF-8 are escaped.
    pub text: String,
}
