//! The rows of a chunk, column by column, in the form that both exports share. Not the batches of a table
//! (see `batches`).

use super::plan::Batch;
use super::{Counts, Gap};
use crate::diagnostics::Log;
use crate::formats::RowLines;
use crate::names::TextList;
use crate::schema::Optional;

/// The words for the kinds of accesses: [`ExportRows::kind`] is an index into this list.
pub const ACCESS_KINDS: [&str; 2] = ["read", "write"];

/// The accesses or function events of a chunk, in the order of the text.
#[derive(Debug, Clone, Default)]
pub struct ExportRows {
    /// Instants in ticks of [`super::ExportSettings::scale`], with [`super::ExportSettings::offset`] added.
    pub time: Vec<i64>,
    /// Numbers of the trace records, if they are readable. Only for accesses.
    pub record: Optional<i64>,
    /// The variable, function, task or interrupt: interned ids, which are indices into the names of all
    /// earlier chunks followed by `names`.
    pub name: Vec<u32>,
    /// Dictionary delta: names by first use, without those of earlier chunks of the parser. A name may be
    /// empty. Bytes that are not UTF-8 are escaped.
    pub names: TextList,
    /// The id of the first of `names`: the number of those in earlier deltas. A smaller id means that the
    /// parser has dropped the names from there on.
    pub first_name: u32,
    /// The kind of the access or event: indices into [`ACCESS_KINDS`] or [`super::FUNCTION_KINDS`].
    pub kind: Vec<u8>,
    /// The value that was written or read. Only for accesses.
    pub value: Vec<u64>,
    /// The line of each row.
    pub lines: RowLines,
    /// Spans of lost trace data.
    pub gaps: Vec<Gap>,
    /// The counts of lines.
    pub counts: Counts,
    /// The findings; lines are 1-based within the chunk.
    pub log: Log,
    /// Whether the rows are accesses.
    are_accesses: bool,
}

/// One access or function event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) time: i64,
    /// `None` also for function events.
    pub(super) record: Option<i64>,
    pub(super) name: u32,
    pub(super) kind: u8,
    /// Zero for function events.
    pub(super) value: u64,
}

impl ExportRows {
    /// No rows, with room for those of a chunk of `bytes` bytes.
    pub(super) fn new(are_accesses: bool, first_name: u32, bytes: usize) -> Self {
        // Lines of real recordings have 45 to 70 bytes (accesses) or 25 to 50 (functions). A little too much
        // room costs less than a reallocation.
        let rows = bytes / if are_accesses { 44 } else { 24 } + 8;
        let of_accesses = if are_accesses { rows } else { 0 };
        Self {
            time: Vec::with_capacity(rows),
            record: Optional::with_capacity(of_accesses),
            name: Vec::with_capacity(rows),
            kind: Vec::with_capacity(rows),
            value: Vec::with_capacity(of_accesses),
            first_name,
            are_accesses,
            ..Self::default()
        }
    }

    /// Adds the row of a line.
    pub(super) fn push(&mut self, row: Row, line: usize) {
        self.lines.put(self.time.len(), line);
        self.time.push(row.time);
        self.name.push(row.name);
        self.kind.push(row.kind);
        if self.are_accesses {
            self.record.push(row.record);
            self.value.push(row.value);
        }
    }

    /// Adds the first `count` rows of a batch. They are in successive lines, the first one in the line
    /// `line`.
    pub(super) fn append(&mut self, batch: &Batch, count: usize, has_records: bool, line: usize) {
        if count == 0 {
            return;
        }
        self.lines.put(self.time.len(), line);
        self.time.extend_from_slice(batch.time.get(..count).unwrap_or(&batch.time));
        self.name.extend_from_slice(batch.name.get(..count).unwrap_or(&batch.name));
        self.kind.extend_from_slice(batch.kind.get(..count).unwrap_or(&batch.kind));
        if self.are_accesses {
            self.value.extend_from_slice(batch.value.get(..count).unwrap_or(&batch.value));
            match has_records {
                true => self.record.extend_from_slice(batch.record.get(..count).unwrap_or(&batch.record)),
                false => self.record.extend_missing(count),
            }
        }
    }
}
