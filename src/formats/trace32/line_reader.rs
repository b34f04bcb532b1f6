//! The interface between the loop over lines (`parser`) and the tolerant readers of a line (`data`,
//! `functions`). Not for plans.

use super::super::text::{Line, Names};
use super::ExportSettings;
use super::report::Report;
use super::rows::{ExportRows, Row};

/// A tolerant reader of lines: it accepts any text.
pub(super) trait LineReader<'c> {
    /// The row in a line, which is no comment. `None` for a line without a row, which is then counted in
    /// `chunk`.
    fn line(&mut self, line: Line<'c>, chunk: &mut ChunkContext<'_>) -> Option<Row>;

    /// The field that has the name of the row that was read last.
    fn name_field(&self) -> usize;

    /// Whether a row gets its kind from this cell alone, as it is written.
    fn determines_kind(&self, cell: &[u8], kind: u8) -> bool;
}

/// The settings of a chunk, and the results that its reader fills.
pub(super) struct ChunkContext<'a> {
    pub(super) settings: &'a ExportSettings,
    pub(super) report: Report<'a>,
    pub(super) rows: ExportRows,
    pub(super) names: &'a mut Names,
}

impl ChunkContext<'_> {
    pub(super) fn finish(mut self, lines: usize) -> ExportRows {
        let mut rows = self.rows;
        self.report.findings.note_lossy_names(self.names, rows.first_name, &rows.name, &rows.lines);
        rows.names = self.names.texts_from(rows.first_name);
        (rows.counts, rows.gaps, rows.log) = self.report.finish(lines, &rows.time);
        rows
    }
}
