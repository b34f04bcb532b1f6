//! The tolerant reader of a line of a data export: one row per access to a variable. Plans read common lines
//! faster, with the same result (see `plan`). Not for the columns of an export (see `layout`).

use super::super::text::Line;
use super::columns;
use super::fields::{self, Cell};
use super::layout::{DataLayout, texts};
use super::line_reader::{ChunkContext, LineReader};
use super::lost_data;
use super::report::{SCIENTIFIC, bad_time};
use super::rows::Row;
use crate::diagnostics::Severity;
use crate::encoding::escaped;
use crate::time::{NotTicks, Rounded};

/// Why a line is rejected: code and message of the diagnostic.
type Rejection = (&'static str, String);

/// Reads lines with the columns of a layout.
pub(super) struct DataReader<'c, 's> {
    layout: &'s DataLayout,
    /// The cells of the current line.
    cells: Vec<Cell<'c>>,
    /// The core of the first row that states one.
    core: Option<&'c [u8]>,
    /// The cell with the name of the last row.
    name_field: usize,
}

impl<'c> LineReader<'c> for DataReader<'c, '_> {
    fn line(&mut self, line: Line<'c>, chunk: &mut ChunkContext<'_>) -> Option<Row> {
        fields::split(line.text, self.layout.delimiter, &mut self.cells);
        let width = self.layout.columns.len();
        // A delimiter after the last cell makes an empty cell.
        if self.cells.len() == width + 1 && self.cells.last().is_some_and(|c| c.text.is_empty() && !c.quoted)
        {
            self.cells.pop();
        }
        if self.cells.len() != width {
            self.wrong_width(line, width, chunk);
            return None;
        }
        let cycle = self.cell(self.layout.roles.cycle);
        let Some(is_write) = fields::access(cycle.text) else {
            self.not_an_access(line, cycle, chunk);
            return None;
        };
        match self.row(line, is_write, chunk) {
            Ok(row) => Some(row),
            Err((code, message)) => {
                chunk.report.reject(line, code, || message);
                None
            }
        }
    }

    fn name_field(&self) -> usize {
        self.name_field
    }

    fn determines_kind(&self, _: &[u8], _: u8) -> bool {
        // The position of a cell determines its role.
        true
    }
}

impl<'c, 's> DataReader<'c, 's> {
    pub(super) fn new(layout: &'s DataLayout) -> Self {
        Self { layout, cells: Vec::new(), core: None, name_field: layout.roles.variable }
    }

    fn cell(&self, at: usize) -> Cell<'c> {
        self.cells.get(at).copied().unwrap_or_default()
    }

    fn row(
        &mut self,
        line: Line<'c>,
        is_write: bool,
        chunk: &mut ChunkContext<'_>,
    ) -> Result<Row, Rejection> {
        let roles = self.layout.roles;
        let time_cell = self.cell(roles.time);
        let with_cell = |(code, message): (&'static str, &str), cell: Cell<'_>| {
            (code, format!("{message}: '{}'", escaped(cell.text)))
        };
        let time =
            self.time(time_cell, chunk).map_err(|reason| match fields::is_scientific(time_cell.text) {
                true => with_cell(("bad-time", SCIENTIFIC), time_cell),
                false => with_cell(bad_time(reason), time_cell),
            })?;
        let data = self.cell(roles.data);
        let value = fields::value(data.text, chunk.settings.radix)
            .map_err(|text| with_cell(("bad-value", text), data))?;
        let mut names = [Some(roles.variable), roles.address].into_iter().flatten();
        let Some(name_field) = names.find(|at| !self.cell(*at).is_null()) else {
            return Err(("missing-variable", "the access names no variable and no address".to_owned()));
        };
        self.name_field = name_field;
        let time = chunk.report.instant(time).map_err(|bad| with_cell(bad, time_cell))?;
        let record_cell = roles.record.map(|at| self.cell(at)).filter(|cell| !cell.is_null());
        let record = record_cell.and_then(|cell| fields::record(cell.text));
        if record.is_none() && record_cell.is_some() {
            chunk.report.findings.note(line, Severity::Warning, "bad-record", || {
                "the record number is not readable; the row is kept without it".to_owned()
            });
        }
        self.check_core(line, chunk);
        let name = chunk.names.id(&self.cell(name_field).value());
        Ok(Row { time, record, name, kind: u8::from(is_write), value })
    }

    fn time(&self, cell: Cell<'_>, chunk: &ChunkContext<'_>) -> Result<Rounded, NotTicks> {
        fields::time(cell.text, self.layout.time_unit, chunk.settings.scale, self.layout.delimiter)
    }

    /// There is one export per core. The accesses of several cores in one export would be mapped as those of
    /// one core.
    fn check_core(&mut self, line: Line<'c>, chunk: &mut ChunkContext<'_>) {
        let Some(core) = self.layout.roles.core.map(|at| self.cell(at)).filter(|cell| !cell.is_null()) else {
            return;
        };
        let known = *self.core.get_or_insert(core.text);
        if known != core.text {
            chunk.report.findings.note(line, Severity::Warning, "several-cores", || {
                let [known, other] = [known, core.text].map(escaped);
                format!("accesses of cores '{known}' and '{other}' are read as those of one core")
            });
        }
    }

    /// A row with all its cells, but with a cycle that is neither a read nor a write.
    fn not_an_access(&self, line: Line<'c>, cycle: Cell<'c>, chunk: &mut ChunkContext<'_>) {
        let is_gap = |cell: &Cell<'_>| {
            if cycle.is_null() {
                lost_data::is_gap_text(cell.text)
            } else {
                lost_data::is_gap_phrase(cell.text)
            }
        };
        if lost_data::is_gap_kind(cycle.text) {
            self.gap(cycle, chunk);
        } else if let Some(cell) = self.cells.iter().copied().find(is_gap) {
            self.gap(cell, chunk);
        } else if self.is_header() {
            chunk.report.counts.skipped += 1;
        } else {
            chunk.report.counts.rejected += 1;
            chunk.report.findings.note(line, Severity::Info, "not-an-access", || {
                format!("cycle '{}' is neither a read nor a write", escaped(cycle.text))
            });
        }
    }

    fn wrong_width(&self, line: Line<'c>, width: usize, chunk: &mut ChunkContext<'_>) {
        let found = self.cells.len();
        if let Some(cell) = self.cells.iter().copied().find(|cell| lost_data::is_gap_text(cell.text)) {
            self.gap(cell, chunk);
        } else if self.is_header() {
            chunk.report.counts.skipped += 1;
        } else if !line.terminated && found < width {
            let message = || format!("the input ends within the line, after {found} of {width} columns");
            chunk.report.reject(line, "truncated-line", message);
        } else {
            let message = || format!("{width} columns expected, {found} found");
            chunk.report.reject(line, "wrong-column-count", message);
        }
    }

    fn gap(&self, cell: Cell<'c>, chunk: &mut ChunkContext<'_>) {
        let time = self.time(self.cell(self.layout.roles.time), chunk).ok();
        chunk.report.gap(time, chunk.rows.time.len(), cell.text);
    }

    /// Whether the line is a repeated header. There is one where an export was appended to another.
    fn is_header(&self) -> bool {
        columns::known_names(&texts(&self.cells)) >= 3
    }
}
