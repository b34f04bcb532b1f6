//! The loop over the lines of a chunk. A line is read by a plan (`plan`), which is fast; one without a plan by the tolerant
//! reader of its export (`data`, `functions`), and by what that makes of it more lines can be read by plans. Whether there are
//! plans changes nothing but the time it takes.

#[cfg(target_arch = "x86_64")]
use super::super::text::Wide;
use super::super::text::{ByteMap, Bytes, FieldEnds, Line, Names, Vectors, WordMap};
use super::data::DataReader;
use super::functions::{FunctionReader, function_cells};
use super::line_reader::{ChunkReading, LineReader};
use super::plan::{BATCH, Batch, Cells, Known, Lines, Plan, bounds, cell};
use super::report::Report;
use super::rows::{ExportRows, Row};
use super::{DataLayout, ExportSettings, fields};

/// An export has lines that are written in a few ways at most: times with units have as many as there are units.
const MOST_PLANS: usize = 8;

/// With more cells of names, or more bytes of long ones, they are forgotten: a name may be written in many ways.
const MAX_CELLS: usize = 1 << 16;
const MAX_BYTES: usize = 4 << 20;

/// What the lines of an export are.
#[derive(Debug, Clone)]
pub enum Grammar {
    /// Accesses to variables, in these columns.
    Data(DataLayout),
    /// Entries and exits of functions, or events of tasks.
    Functions,
}

/// Reads the chunks of one export, and gives each name once. What it remembers from chunk to chunk are the numbers of names,
/// and how lines are written.
#[derive(Debug)]
pub struct ExportParser {
    grammar: Grammar,
    settings: ExportSettings,
    names: Names,
    known: Known,
    cells: Cells,
    plans: Vec<Plan>,
    ends: FieldEnds,
    way: Way,
    /// How many lines no plan has read.
    #[cfg(test)]
    left: usize,
}

/// How lines are read; the result is the same.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// Without plans.
    #[cfg(test)]
    Tolerant,
    /// Byte by byte.
    Bytes,
    /// With the vectors of the processor.
    #[cfg(target_arch = "x86_64")]
    Wide(Wide),
}

impl Way {
    /// What this processor does best.
    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = Wide::detect() {
            return Self::Wide(wide);
        }
        Self::Bytes
    }

    fn has_plans(self) -> bool {
        match self {
            #[cfg(test)]
            Self::Tolerant => false,
            _ => true,
        }
    }
}

impl ExportParser {
    /// For a whole export.
    pub fn new(grammar: Grammar, settings: ExportSettings) -> Self {
        let cells = match &grammar {
            Grammar::Data(layout) => layout.cells(),
            Grammar::Functions => function_cells(),
        };
        Self {
            ends: FieldEnds::new(cells.delimiter, cells.quotes),
            cells,
            grammar,
            settings,
            names: Names::new(),
            known: Known { names: ByteMap::new(), kinds: WordMap::default() },
            plans: Vec::new(),
            way: Way::best(),
            #[cfg(test)]
            left: 0,
        }
    }

    /// The same, reading in a given way.
    #[cfg(test)]
    pub(super) fn by(self, way: Way) -> Self {
        Self { way, ..self }
    }

    /// How many lines no plan has read.
    #[cfg(test)]
    pub(super) fn left_to_the_tolerant_reader(&self) -> usize {
        self.left
    }

    /// Reads a chunk of whole lines. `is_first` says that it is the start of the file, where the header lines of a layout are.
    pub fn chunk(&mut self, chunk: &[u8], is_first: bool) -> ExportRows {
        let first_name = self.names.begin_chunk();
        let (cells, bytes) = self.known.names.size();
        if first_name == 0 || cells > MAX_CELLS || bytes > MAX_BYTES {
            self.known.names.clear();
        }
        self.ends.clear();
        let are_accesses = matches!(self.grammar, Grammar::Data(_));
        let mut names = std::mem::take(&mut self.names);
        let settings = self.settings.clone();
        let mut reading = ChunkReading {
            settings: &settings,
            report: Report::new(&settings),
            rows: ExportRows::new(are_accesses, first_name, chunk.len()),
            names: &mut names,
        };
        let lines = match self.grammar.clone() {
            Grammar::Data(layout) => {
                let header = if is_first { layout.header_lines } else { 0 };
                self.lines(chunk, header, &mut DataReader::new(&layout), &mut reading)
            }
            Grammar::Functions => self.lines(chunk, 0, &mut FunctionReader::default(), &mut reading),
        };
        let rows = reading.finish(lines);
        self.names = names;
        rows
    }

    /// Reads all lines, and gives how many there are.
    fn lines<'c>(
        &mut self,
        chunk: &'c [u8],
        header_lines: u64,
        reader: &mut impl LineReader<'c>,
        reading: &mut ChunkReading<'_>,
    ) -> usize {
        let (mut at, mut number) = (0, 0);
        let mut core = None;
        while at < chunk.len() {
            let is_header = (number as u64) < header_lines;
            if self.way.has_plans() && !is_header {
                (at, number) = self.planned(chunk, (at, number), core, reading);
            }
            if at < chunk.len() {
                let (line, next) = Line::take(chunk, at, number);
                #[cfg(test)]
                (self.left += 1);
                if is_header {
                    reading.report.counts.skipped += 1;
                } else if let Some(row) = reader.line(line, reading) {
                    reading.rows.push(row, number);
                    if self.way.has_plans() {
                        self.learn(chunk, at, row, &mut core, reader);
                    }
                }
                self.ends.skip_to(next);
                (at, number) = (next, number + 1);
            }
        }
        number
    }

    /// Reads lines from `(offset, line number)` on for as long as there is a plan for them, and gives where it stopped.
    fn planned(
        &mut self,
        chunk: &[u8],
        from: (usize, usize),
        core: Option<&[u8]>,
        reading: &mut ChunkReading<'_>,
    ) -> (usize, usize) {
        match self.way {
            #[cfg(target_arch = "x86_64")]
            Way::Wide(wide) => {
                #[expect(unsafe_code, reason = "so that the vectors stay in registers from call to call")]
                // SAFETY: `Wide` shows that the processor has what `planned_wide` is compiled for.
                unsafe {
                    self.planned_wide(wide, chunk, from, core, reading)
                }
            }
            _ => self.planned_by(Bytes, chunk, from, core, reading),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq")]
    fn planned_wide(
        &mut self,
        wide: Wide,
        chunk: &[u8],
        from: (usize, usize),
        core: Option<&[u8]>,
        reading: &mut ChunkReading<'_>,
    ) -> (usize, usize) {
        self.planned_by(wide, chunk, from, core, reading)
    }

    #[inline(always)]
    fn planned_by(
        &mut self,
        vectors: impl Vectors,
        chunk: &[u8],
        (mut at, mut number): (usize, usize),
        core: Option<&[u8]>,
        reading: &mut ChunkReading<'_>,
    ) -> (usize, usize) {
        let Self { plans, ends, known, cells, .. } = self;
        let mut batch = Batch::new();
        let most = plans.iter().map(|plan| usize::from(plan.fields)).max().unwrap_or_default();
        // Where lines of several plans come in turns, or lines without one, large batches would be for nothing.
        let (mut first, mut size, mut tried) = (0, 1, 0);
        while let Some(plan) = plans.get(first) {
            ends.provide(vectors, chunk, at, most);
            let fields = usize::from(plan.fields);
            let (places, all) = ends.rest();
            let count = size.min(places / fields);
            let lines = Lines { text: chunk, ends: all, fields, count };
            let read = plan.rows(vectors, lines, known, core, &mut batch);
            if read == 0 {
                // Another plan may fit.
                (tried, first) = (tried + 1, (first + 1) % plans.len());
                if tried == plans.len() {
                    break;
                }
                continue;
            }
            let inexact = batch.is_inexact.iter().take(read).filter(|is_inexact| **is_inexact).count();
            reading.report.counts.inexact_times += inexact as u64;
            reading.rows.append(&batch, read, cells.record.is_some(), number);
            (at, number) = (all.get(read * fields).map_or(at, |end| *end as usize + 1), number + read);
            ends.go_on(read * fields);
            size = if read == count { (2 * size).min(BATCH) } else { 1 };
            tried = 0;
        }
        if first > 0 {
            plans.swap(0, first);
        }
        (at, number)
    }

    /// Learns from a line that was read as `row` what its cells mean and how it is written.
    fn learn<'c>(
        &mut self,
        chunk: &'c [u8],
        at: usize,
        row: Row,
        core: &mut Option<&'c [u8]>,
        reader: &impl LineReader<'c>,
    ) -> Option<()> {
        let Self { plans, ends, known, cells, settings, .. } = self;
        let (ends, fields) = ends.whole_line(chunk, at)?;
        let fields = u8::try_from(fields).ok()?;
        let plan = Plan::of(chunk, ends, fields, cells, settings)?;
        let cell = |field: u8| cell(chunk, ends, field);
        if let Some(field) = cells.core
            && core.is_none()
            && !matches!(fields::trim(cell(field)?), b"" | b"-")
        {
            *core = Some(cell(field)?);
        }
        // Where cells were cut in another way, or are of another meaning than their places tell, nothing is to be learned.
        if cells.quotes {
            let text = chunk.get(..bounds(ends, fields - 1).1 as usize)?;
            let end = text.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
            for field in 0..fields {
                let begin = bounds(ends, field).0 as usize;
                let length = cell(field)?.len().min(end.saturating_sub(begin));
                fields::is_cell(chunk.get(begin..end)?, length, cells.delimiter).then_some(())?;
            }
        }
        let kind = cell(cells.kind)?;
        (plan.fits_others(chunk, ends, *core) && reader.is_kind(kind, row.kind)).then_some(())?;
        if known.names.get(cell(cells.name)?).is_none() {
            known.names.insert(cell(cells.name)?, row.name);
        }
        known.kinds.insert(kind, row.kind);
        if !plans.contains(&plan) && plans.len() < MOST_PLANS {
            plans.insert(0, plan);
        }
        Some(())
    }
}

/// Reads a chunk of a data export that stands alone, see [`ExportParser::chunk`].
pub fn parse_data(
    chunk: &[u8],
    is_first: bool,
    layout: &DataLayout,
    settings: &ExportSettings,
) -> ExportRows {
    ExportParser::new(Grammar::Data(layout.clone()), settings.clone()).chunk(chunk, is_first)
}

/// Reads a chunk of a function or task-event export that stands alone.
pub fn parse_functions(chunk: &[u8], settings: &ExportSettings) -> ExportRows {
    ExportParser::new(Grammar::Functions, settings.clone()).chunk(chunk, false)
}
