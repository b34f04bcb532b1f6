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

mod assemble;
mod chunk;
mod format;
mod header;
mod probe;
#[cfg(test)]
mod tests;

pub use chunk::{DeltaStart, EventRows, Parser, parse_chunk};
pub use format::{Btf, NUMERIC_FORMAT};
pub use header::{Header, Keyword};
pub use probe::{probe, speaks_freertos};

/// The kind of a line that is not an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// `#keyword value`
    Parameter,
    /// `#-id name`, a row of the latest table.
    TableRow,
    /// `#` alone or followed by a blank.
    Comment,
    /// Nothing but blanks.
    Blank,
    /// Not a line of BTF; a diagnostic says why.
    Rejected,
}

impl LineKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Parameter, Self::TableRow, Self::Comment, Self::Blank, Self::Rejected];

    /// The word of table `btf_line`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::TableRow => "table_row",
            Self::Comment => "comment",
            Self::Blank => "blank",
            Self::Rejected => "rejected",
        }
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
    /// Its text; a rejected line is cut to an excerpt. Bytes that are not UTF-8 are replaced.
    pub text: String,
}
