//! One folder per foreign format: probe, decode, and what is odd about it. Readers get bytes and give rows and
//! findings; they know no files, no Parquet and no other format. `text` is what readers of lines share.

pub mod btf;
pub mod grasp;
mod lines;
pub mod qnx;
mod text;
pub mod trace32;

pub use lines::RowLines;

/// Where the lines of a chunk or of a file went. `lines == rows + gaps + rejected + skipped`, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Lines seen; text behind the last line end counts as one.
    pub lines: u64,
    /// Records: accesses, function events, system events.
    pub rows: u64,
    /// Rows that tell of lost trace data.
    pub gaps: u64,
    /// Lines that could not be used, each with a diagnostic.
    pub rejected: u64,
    /// Headers, comments and blank lines.
    pub skipped: u64,
    /// Times of rows and gaps with digits finer than a tick, which were rounded.
    pub inexact_times: u64,
}

impl Counts {
    /// Adds those of another part of the same file.
    pub fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.rows += other.rows;
        self.gaps += other.gaps;
        self.rejected += other.rejected;
        self.skipped += other.skipped;
        self.inexact_times += other.inexact_times;
    }
}
