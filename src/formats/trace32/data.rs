//! Data exports: one row per access to a variable. This is the tolerant reader of one line and the loop over
//! a chunk; the common shape of line is read by [`super::data_fast`] with the same result.

use super::super::RowLines;
use super::super::text::{Line, Names};
use super::data_fast::{self, Shape};
use super::fields::{self, Cell};
use super::layout::DataLayout;
use super::report::{Report, bad_time};
use super::{Counts, Gap, Settings, Way, columns};
use crate::diagnostics::{Log, Severity};
use crate::schema::{Optional, TextList};
use std::borrow::Cow;

/// The accesses of a chunk, column by column, in the order of the text.
#[derive(Debug, Clone, Default)]
pub struct DataRows {
    /// Instants in ticks of [`Settings::scale`], with [`Settings::offset`] added.
    pub time: Vec<i64>,
    /// Numbers of the trace records, where they are readable.
    pub record: Optional<i64>,
    /// Indices into `variables`.
    pub variable: Vec<u32>,
    /// Names of the variables by first use, without those that the parser has told before. Bytes that are no UTF-8 are
    /// replaced, so two entries may have the same text.
    pub variables: TextList,
    /// The index of the first of `variables`: how many the parser has told before. A smaller number than that means that it
    /// has forgotten the others.
    pub told: u32,
    /// True for a write, false for a read.
    pub is_write: Vec<bool>,
    /// The value that was written or read.
    pub value: Vec<u64>,
    /// Where each row stood.
    pub lines: RowLines,
    /// Stretches of lost trace data.
    pub gaps: Vec<Gap>,
    /// Where the lines went.
    pub counts: Counts,
    /// What was wrong; lines are 1-based within the chunk.
    pub log: Log,
}

impl DataRows {
    fn with_room_for(bytes: usize) -> Self {
        // Lines of real recordings have 45 to 70 bytes; a little too much room is cheaper than moving.
        let rows = bytes / 44 + 8;
        Self {
            time: Vec::with_capacity(rows),
            record: Optional::with_capacity(rows),
            variable: Vec::with_capacity(rows),
            is_write: Vec::with_capacity(rows),
            value: Vec::with_capacity(rows),
            ..Self::default()
        }
    }

    fn push(&mut self, row: Row<Option<i64>>, line: usize) {
        self.lines.put(self.time.len(), line);
        self.time.push(row.time);
        self.record.push(row.record);
        self.variable.push(row.variable);
        self.is_write.push(row.is_write);
        self.value.push(row.value);
    }

    /// Takes rows, the last of which is in the line before `line`, and each in the one behind the one before.
    pub(super) fn append(&mut self, few: &mut Few, line: usize) {
        let rows = std::mem::take(&mut few.count);
        if rows == 0 {
            return;
        }
        self.lines.put(self.time.len(), line - rows);
        self.time.extend_from_slice(few.time.get(..rows).unwrap_or(&few.time));
        self.record.extend_from_slice(few.record.get(..rows).unwrap_or(&few.record));
        self.variable.extend_from_slice(few.variable.get(..rows).unwrap_or(&few.variable));
        self.is_write.extend_from_slice(few.is_write.get(..rows).unwrap_or(&few.is_write));
        self.value.extend_from_slice(few.value.get(..rows).unwrap_or(&few.value));
    }
}

/// One access.
#[derive(Clone, Copy)]
pub(super) struct Row<R = i64> {
    pub(super) time: i64,
    pub(super) record: R,
    pub(super) variable: u32,
    pub(super) is_write: bool,
    pub(super) value: u64,
}

/// Rows of lines in a row, before they are appended to those of the chunk together: five vectors that grow with each of them are
/// more work than all of their numbers.
pub(super) struct Few {
    time: [i64; FEW],
    record: [i64; FEW],
    variable: [u32; FEW],
    is_write: [bool; FEW],
    value: [u64; FEW],
    count: usize,
}

/// So many that they stay in the processor's first cache.
const FEW: usize = 64;

impl Few {
    pub(super) fn new() -> Self {
        Self {
            time: [0; FEW],
            record: [0; FEW],
            variable: [0; FEW],
            is_write: [false; FEW],
            value: [0; FEW],
            count: 0,
        }
    }

    /// Takes the row of the line before `line`. When there are enough, all go to those of the chunk.
    #[inline(always)]
    pub(super) fn push(&mut self, row: Row, line: usize, rows: &mut DataRows) {
        let at = self.count % FEW;
        self.time[at] = row.time;
        self.record[at] = row.record;
        self.variable[at] = row.variable;
        self.is_write[at] = row.is_write;
        self.value[at] = row.value;
        self.count = at + 1;
        if self.count == FEW {
            rows.append(self, line);
        }
    }
}

/// Reads chunks of one data export, and tells each name once.
#[derive(Debug)]
pub struct DataParser<'s> {
    layout: Cow<'s, DataLayout>,
    settings: Cow<'s, Settings>,
    names: Names,
}

impl<'s> DataParser<'s> {
    /// For a whole export.
    pub fn new(layout: &'s DataLayout, settings: &'s Settings) -> Self {
        Self { layout: Cow::Borrowed(layout), settings: Cow::Borrowed(settings), names: Names::new() }
    }

    /// The same with a layout and settings of its own.
    pub fn owned(layout: DataLayout, settings: Settings) -> DataParser<'static> {
        DataParser { layout: Cow::Owned(layout), settings: Cow::Owned(settings), names: Names::new() }
    }

    /// Reads a chunk of whole lines. `first` says that it is the start of the file, where the header lines of the layout are.
    pub fn chunk(&mut self, chunk: &[u8], first: bool) -> DataRows {
        self.parse(chunk, first, self.layout.is_usual().then(Way::best))
    }

    /// [`DataParser::chunk`] with a fast path or without, which changes nothing but the time it takes.
    pub(super) fn parse(&mut self, chunk: &[u8], first: bool, fast: Option<Way>) -> DataRows {
        let Self { layout, settings, names } = self;
        let (layout, settings): (&DataLayout, &Settings) = (layout, settings);
        let told = names.begin_chunk();
        let header_lines = if first { usize::try_from(layout.header_lines).unwrap_or(usize::MAX) } else { 0 };
        let mut reader = Reader {
            layout,
            settings,
            report: Report::new(settings),
            rows: DataRows { told, ..DataRows::with_room_for(chunk.len()) },
            names,
            cells: Vec::new(),
            core: None,
        };
        let shape = Shape::new(settings);
        let (mut at, mut number) = (0, 0);
        while at < chunk.len() {
            if let Some(way) = fast.filter(|_| number >= header_lines) {
                (at, number) = data_fast::read(way, chunk, (at, number), &shape, &mut reader);
            }
            if at < chunk.len() {
                let (line, next) = Line::take(chunk, at, number);
                if number < header_lines {
                    reader.report.counts.skipped += 1;
                } else {
                    reader.line(line);
                }
                (at, number) = (next, number + 1);
            }
        }
        reader.finish(number)
    }
}

/// Reads a chunk that stands alone, see [`DataParser::chunk`].
pub fn parse_data(chunk: &[u8], first: bool, layout: &DataLayout, settings: &Settings) -> DataRows {
    DataParser::new(layout, settings).chunk(chunk, first)
}

/// A line that is no row: code and message of the diagnostic.
type Refusal = (&'static str, String);

/// The state of reading a chunk.
pub(super) struct Reader<'c, 's> {
    layout: &'s DataLayout,
    settings: &'s Settings,
    pub(super) report: Report<'s>,
    pub(super) rows: DataRows,
    pub(super) names: &'s mut Names,
    /// The cells of the line at hand.
    cells: Vec<Cell<'c>>,
    /// The core of the rows so far, until a second one was seen and reported.
    core: Option<&'c [u8]>,
}

impl<'c> Reader<'c, '_> {
    fn line(&mut self, line: Line<'c>) {
        if line.too_long {
            return self.report.reject_too_long(line);
        }
        if fields::is_blank_or_comment(line.text) {
            self.report.counts.skipped += 1;
            return;
        }
        fields::split(line.text, self.layout.delimiter, &mut self.cells);
        let width = self.layout.columns.len();
        // A delimiter behind the last cell makes an empty one.
        if self.cells.len() == width + 1 && self.cells.last().is_some_and(|c| c.text.is_empty() && !c.quoted)
        {
            self.cells.pop();
        }
        if self.cells.len() != width {
            return self.odd_width(line, width);
        }
        let cycle = self.cell(self.layout.roles.cycle);
        let Some(is_write) = fields::access(cycle.text) else { return self.no_access(line, cycle) };
        match self.row(line, is_write) {
            Ok(row) => self.rows.push(row, line.number),
            Err((code, message)) => self.report.reject(line, code, || message),
        }
    }

    fn cell(&self, at: usize) -> Cell<'c> {
        self.cells.get(at).copied().unwrap_or_default()
    }

    fn row(&mut self, line: Line<'c>, is_write: bool) -> Result<Row<Option<i64>>, Refusal> {
        let roles = self.layout.roles;
        let time_cell = self.cell(roles.time);
        let say = |(code, message): (&'static str, &str), cell: Cell<'_>| {
            (code, format!("{message}: '{}'", String::from_utf8_lossy(cell.text)))
        };
        let time = self.time(time_cell).map_err(|reason| say(bad_time(reason), time_cell))?;
        let data = self.cell(roles.data);
        let value =
            fields::value(data.text, self.settings.radix).map_err(|text| say(("bad-value", text), data))?;
        let address = roles.address.map(|at| self.cell(at));
        let variable = Some(self.cell(roles.variable)).filter(|c| !c.is_null()).or(address);
        let Some(variable) = variable.filter(|cell| !cell.is_null()) else {
            return Err(("missing-variable", "the access names no variable and no address".to_owned()));
        };
        let instant = self.report.instant(time).map_err(|bad| say(bad, time_cell))?;
        let record_cell = roles.record.map(|at| self.cell(at)).filter(|cell| !cell.is_null());
        let record = record_cell.and_then(|cell| fields::record(cell.text));
        if record.is_none() && record_cell.is_some() {
            self.report.note(line, Severity::Warning, "bad-record", || {
                "the record number is not readable; the row is kept without it".to_owned()
            });
        }
        self.check_core(line);
        let variable = self.names.id(&variable.value());
        Ok(Row { time: instant, record, variable, is_write, value })
    }

    fn time(&self, cell: Cell<'_>) -> Result<crate::time::Rounded, crate::time::NotTicks> {
        fields::time(cell.text, self.layout.time_unit, self.settings.scale, self.layout.delimiter)
    }

    /// One core has one export; an export of cores that share a trace would be mapped as if it were one core.
    fn check_core(&mut self, line: Line<'c>) {
        let Some(core) = self.layout.roles.core.map(|at| self.cell(at)).filter(|cell| !cell.is_null()) else {
            return;
        };
        let known = *self.core.get_or_insert(core.text);
        if known != core.text {
            self.report.note(line, Severity::Warning, "several-cores", || {
                let [known, other] = [known, core.text].map(String::from_utf8_lossy);
                format!("accesses of cores '{known}' and '{other}' are read as those of one core")
            });
        }
    }

    /// A row with all its cells whose cycle is neither a read nor a write.
    fn no_access(&mut self, line: Line<'c>, cycle: Cell<'c>) {
        let is_gap = |cell: &Cell<'_>| {
            if cycle.is_null() { fields::is_gap_text(cell.text) } else { fields::is_gap_phrase(cell.text) }
        };
        if fields::is_gap_kind(cycle.text) {
            self.gap(cycle);
        } else if let Some(cell) = self.cells.iter().copied().find(is_gap) {
            self.gap(cell);
        } else if self.is_header() {
            self.report.counts.skipped += 1;
        } else {
            self.report.counts.rejected += 1;
            self.report.note(line, Severity::Info, "not-an-access", || {
                format!("cycle '{}' is neither a read nor a write", String::from_utf8_lossy(cycle.text))
            });
        }
    }

    fn odd_width(&mut self, line: Line<'c>, width: usize) {
        let found = self.cells.len();
        if let Some(cell) = self.cells.iter().copied().find(|cell| fields::is_gap_text(cell.text)) {
            self.gap(cell);
        } else if self.is_header() {
            self.report.counts.skipped += 1;
        } else if !line.terminated && found < width {
            let message = || format!("the input ends within the line, after {found} of {width} columns");
            self.report.reject(line, "truncated-line", message);
        } else {
            let message = || format!("{width} columns expected, {found} found");
            self.report.reject(line, "wrong-column-count", message);
        }
    }

    fn gap(&mut self, cell: Cell<'_>) {
        let time = self.time(self.cell(self.layout.roles.time)).ok();
        self.report.gap(time, self.rows.time.len(), cell.text);
    }

    /// A header line again, where one export was appended to another.
    fn is_header(&self) -> bool {
        let names: Vec<String> =
            self.cells.iter().map(|cell| String::from_utf8_lossy(cell.text).into_owned()).collect();
        columns::known_names(&names) >= 3
    }

    fn finish(mut self, lines: usize) -> DataRows {
        let told = self.rows.told;
        self.report.note_lossy_names(self.names, told, &self.rows.variable, &self.rows.lines);
        let (counts, gaps, log) = self.report.finish(lines, &self.rows.time);
        DataRows { variables: self.names.texts_from(told), gaps, counts, log, ..self.rows }
    }
}
