//! Trace formats: one folder each, with the traits [`TraceFormat`] and [`Reader`], and the list of all
//! formats, [`FORMATS`].
//!
//! # The interface
//!
//! All other code uses [`FORMATS`]. To open a recording, `ops` passes a format the inputs of the recording,
//! one or several, and gets [`Stream`]s: an input and the [`Reader`] of its chunks.
//!
//! ```text
//!  inputs ─► probe ─► open ─► Stream, Stream …      one per input with rows; read at the same time
//!                               │
//!           chunk ─► Reader::chunk ─► Output: rows of tables, gaps, findings, counts
//!             …                        …
//!             end ─► Reader::finish ─► Ending: what the header says, how the recording is mapped
//! ```
//!
//! Rows are batches of a table of `schema`, in the order of the input, with `seq` rising. `ops::ingest` sorts
//! them by time according to the format's [`TableUse`], notes times that run backwards ([`Disorder`]), and
//! writes them. If making rows is most of the work, a reader returns [`Rows::later`]: a closure that makes
//! them on another thread, in order per table and core. If chunks can be parsed independently of each other,
//! a reader has [`ChunkParser`]s, and only combines their results.
//!
//! # Rules for readers
//!
//! Readers get bytes and return rows and findings; they know no files, no Parquet, and no other format. Bad
//! content is a finding; an error means that the input is not of the format at all. [`Counts`] proves that no
//! line or record is missing. `text` is shared by readers of lines.

pub mod btf;
pub mod ctf;
mod ends;
mod format;
pub mod ftrace;
pub mod grasp;
mod lines;
mod payload;
pub mod qnx;
mod reader;
mod reorder;
mod scheduler;
pub mod systemview;
mod text;
pub mod trace32;

pub use ends::{InputEnd, OpenEnd};
pub use format::{
    Confidence, Disorder, FormatInfo, Input, NamePattern, NotContinued, Part, ProfileFile, RowOrder,
    Settings, Stream, TableUse, TraceFormat,
};
pub use lines::RowLines;
pub(crate) use reader::most_times_do_not_fit;
pub use reader::{
    ChunkParser, Ending, FROM_BEGIN, Gap, Header, Lines, Output, Parsed, Reader, Remark, RowSink, Rows,
    RowsToMake, Setup,
};
pub(crate) use reorder::Reorder;

/// Every trace format, in the order of the help.
pub const FORMATS: &[&dyn TraceFormat] = &[
    &trace32::Trace32,
    &btf::Btf,
    &qnx::Qnx,
    &grasp::Grasp,
    &systemview::SystemView,
    &ctf::Ctf,
    &ftrace::Ftrace,
];

/// The counts of the lines of a chunk or a file. `lines == rows + gaps + rejected + skipped`, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All lines; text after the last line end counts as one. A line counts once for each record in it.
    pub lines: u64,
    /// Records in the line of another one, behind which a line end is missing.
    pub joined: u64,
    /// Records: accesses, function events, system events.
    pub rows: u64,
    /// Rows that report lost trace data.
    pub gaps: u64,
    /// Lines that could not be used, each with a diagnostic.
    pub rejected: u64,
    /// Headers, comments and blank lines.
    pub skipped: u64,
    /// Times of rows and gaps with digits finer than a tick; they were rounded.
    pub inexact_times: u64,
}

impl Counts {
    /// Adds the counts of another part of the same file.
    pub fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.joined += other.joined;
        self.rows += other.rows;
        self.gaps += other.gaps;
        self.rejected += other.rejected;
        self.skipped += other.skipped;
        self.inexact_times += other.inexact_times;
    }
}
