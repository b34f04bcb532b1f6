//! What the loop over lines (`parser`) and the tolerant readers of one line (`data`, `functions`) share. Not for plans.

use super::super::text::{Line, Names};
use super::ExportSettings;
use super::report::Report;
use super::rows::{ExportRows, Row};

/// A reader of one line that is never surprised.
pub(super) trait LineReader<'c> {
    /// The row in a line; `None` for a line of which `chunk` has another account.
    fn line(&mut self, line: Line<'c>, chunk: &mut ChunkReading<'_>) -> Option<Row>;

    /// True when a row has its kind from this cell, as it is written.
    fn is_kind(&self, cell: &[u8], kind: u8) -> bool;
}

/// What a reader of lines needs to know of the chunk, and what it fills.
pub(super) struct ChunkReading<'a> {
    pub(super) settings: &'a ExportSettings,
    pub(super) report: Report<'a>,
    pub(super) rows: ExportRows,
    pub(super) names: &'a mut Names,
}

impl ChunkReading<'_> {
    pub(super) fn finish(mut self, lines: usize) -> ExportRows {
        let mut rows = self.rows;
        self.report.note_lossy_names(self.names, rows.first_name, &rows.name, &rows.lines);
        rows.names = self.names.texts_from(rows.first_name);
        (rows.counts, rows.gaps, rows.log) = self.report.finish(lines, &rows.time);
        rows
    }
}
