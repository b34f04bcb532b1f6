//! Trace formats: one folder each, behind [`TraceFormat`] and [`Reader`], and the one list of them,
//! [`FORMATS`].
//!
//! # The seam
//!
//! A format says what it is ([`TraceFormat`]): its name and help, the options that it takes, the tables that
//! it fills, how sure it is that some first bytes are its own. Everything else asks [`FORMATS`]: the values
//! of `--format`, the options of the command line, the errors about an option that is for another format. To
//! open a recording, `ops` gives a format the inputs of the recording, one or several, and gets [`Stream`]s:
//! an input and the [`Reader`] of its chunks. A format that has to read metadata first takes it from its
//! inputs while it opens.
//!
//! ```text
//!  inputs ─► probe ─► open ─► Stream, Stream …      one per input with rows; read at the same time
//!                               │
//!           chunk ─► Reader::chunk ─► Output: rows of tables, gaps, findings, counts
//!             …                        …
//!             end ─► Reader::finish ─► Ending: what the header says, how the recording is mapped
//! ```
//!
//! Rows are batches of a table of `schema`, in the order of the input, with `seq` rising. Whoever reads them
//! (`ops::ingest`) brings them into the order of time as the format's [`TableUse`] says, notes times that run
//! backwards ([`Disorder`]), and writes them. Where making rows is most of the work, a reader hands over
//! [`Rows::later`]: a closure that makes them on another thread, one after the other per table and core.
//! Where chunks can be parsed independently of each other, a reader has [`ChunkParser`]s, and only puts
//! together what they give.
//!
//! A new format is a folder here, a file in `schemas/` if it needs a table, and one line in [`FORMATS`].
//!
//! # Rules for readers
//!
//! Readers get bytes and give rows and findings; they know no files, no Parquet, and no other format. Bad
//! content is a finding; an error is for what is not the format at all. [`Counts`] proves that no line or
//! record is missing. `text` is what readers of lines share.

pub mod btf;
mod format;
pub mod grasp;
mod lines;
pub mod qnx;
mod reader;
mod reorder;
mod text;
pub mod trace32;

pub use format::{Confidence, Disorder, Input, Part, RowOrder, Settings, Stream, TableUse, TraceFormat};
pub use lines::RowLines;
pub use reader::{
    ChunkParser, Ending, Gap, Header, Lines, Output, Parsed, Reader, RowSink, Rows, RowsToMake, Setup,
};
pub(crate) use reorder::Reorder;

/// Every trace format, in the order of the help.
pub const FORMATS: &[&dyn TraceFormat] = &[&trace32::Trace32, &btf::Btf, &qnx::Qnx, &grasp::Grasp];

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
