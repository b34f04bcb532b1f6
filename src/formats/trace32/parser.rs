//! The loop over the lines of a chunk. Plans (see `plan`) read most lines, and are fast. Lines without a plan
//! are read by the tolerant reader of the export (`data`, `functions`); plans for lines of the same form are
//! made from its rows. Plans change the speed, and nothing else. Not for the content of cells (see `fields`).

#[cfg(target_arch = "x86_64")]
use super::super::text::Avx2;
use super::super::text::{ByteMap, FieldEnds, Line, Names, Scalar, Vectors, WordMap};
use super::data::DataReader;
use super::functions::{FunctionReader, function_layout};
use super::line_reader::{ChunkContext, LineReader};
use super::plan::{BATCH_SIZE, Batch, KnownCells, Lines, Plan, RowLayout, bounds, cell};
use super::report::Report;
use super::rows::{ExportRows, Row};
use super::{DataLayout, ExportSettings, fields};

/// Maximum number of plans. The lines of an export have a few forms; with units, there is one for each unit.
const MAX_PLANS: usize = 8;

/// With more cells of names, or more bytes of long ones, all are dropped: a name may be written in many
/// forms.
const MAX_CELLS: usize = 1 << 16;
const MAX_BYTES: usize = 4 << 20;

/// The grammar of an export.
#[derive(Debug, Clone)]
pub enum Grammar {
    /// Accesses to variables, with these columns.
    Data(DataLayout),
    /// Entries and exits of functions, or events of tasks.
    Functions,
}

/// Parses the chunks of one export, and returns each name once. Keeps the ids of names and the plans from
/// chunk to chunk.
#[derive(Debug)]
pub struct ExportParser {
    grammar: Grammar,
    settings: ExportSettings,
    names: Names,
    known: KnownCells,
    layout: RowLayout,
    plans: Vec<Plan>,
    ends: FieldEnds,
    pub(super) mode: ReadMode,
    /// The number of lines that no plan has read.
    #[cfg(test)]
    pub(super) tolerant_lines: usize,
}

/// How lines are read; all modes give the same result.
#[derive(Debug, Clone, Copy)]
pub(super) enum ReadMode {
    /// Without plans.
    #[cfg(test)]
    Tolerant,
    /// With plans, byte by byte.
    Scalar,
    /// With plans and AVX2 instructions.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

impl ReadMode {
    /// The fastest mode of this processor.
    pub(super) fn fastest() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = Avx2::detect() {
            return Self::Avx2(avx2);
        }
        Self::Scalar
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
        let layout = match &grammar {
            Grammar::Data(layout) => layout.row_layout(),
            Grammar::Functions => function_layout(),
        };
        Self {
            ends: FieldEnds::new(layout.delimiter, layout.quotes),
            layout,
            grammar,
            settings,
            names: Names::new(),
            known: KnownCells { names: ByteMap::new(), kinds: WordMap::default() },
            plans: Vec::new(),
            mode: ReadMode::fastest(),
            #[cfg(test)]
            tolerant_lines: 0,
        }
    }

    /// Reads a chunk of whole lines. `is_first`: the chunk is the start of the file, with the header lines of
    /// a layout.
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
        let mut context = ChunkContext {
            settings: &settings,
            report: Report::new(&settings),
            rows: ExportRows::new(are_accesses, first_name, chunk.len()),
            names: &mut names,
        };
        let lines = match self.grammar.clone() {
            Grammar::Data(layout) => {
                let header = if is_first { layout.header_lines } else { 0 };
                self.read_lines(chunk, header, &mut DataReader::new(&layout), &mut context)
            }
            Grammar::Functions => self.read_lines(chunk, 0, &mut FunctionReader::default(), &mut context),
        };
        let rows = context.finish(lines);
        self.names = names;
        rows
    }

    /// Reads all lines, and returns their number.
    fn read_lines<'c>(
        &mut self,
        chunk: &'c [u8],
        header_lines: u64,
        reader: &mut impl LineReader<'c>,
        context: &mut ChunkContext<'_>,
    ) -> usize {
        let (mut at, mut number) = (0, 0);
        let mut core = None;
        while at < chunk.len() {
            let is_header = (number as u64) < header_lines;
            if self.mode.has_plans() && !is_header {
                (at, number) = self.read_planned(chunk, (at, number), core, context);
            }
            if at < chunk.len() {
                let (line, next) = Line::take(chunk, at, number);
                #[cfg(test)]
                (self.tolerant_lines += 1);
                if is_header {
                    context.report.counts.skipped += 1;
                } else if line.too_long {
                    context.report.reject_too_long(line);
                } else if fields::is_blank_or_comment(line.text) {
                    context.report.counts.skipped += 1;
                } else if let Some(row) = reader.line(line, context) {
                    context.rows.push(row, number);
                    if self.mode.has_plans() {
                        self.learn(chunk, at, row, &mut core, reader);
                    }
                }
                self.ends.skip_to(next);
                (at, number) = (next, number + 1);
            }
        }
        number
    }

    /// Reads lines from `(offset, line number)` on while there is a plan for them. Returns where it stopped.
    fn read_planned(
        &mut self,
        chunk: &[u8],
        from: (usize, usize),
        core: Option<&[u8]>,
        context: &mut ChunkContext<'_>,
    ) -> (usize, usize) {
        match self.mode {
            #[cfg(target_arch = "x86_64")]
            ReadMode::Avx2(avx2) => {
                #[expect(unsafe_code, reason = "so that the vectors stay in registers from call to call")]
                // SAFETY: the function is sound on a processor that has the features in its attribute. There
                // is an `Avx2`, so this processor has them (see there).
                unsafe {
                    self.read_planned_avx2(avx2, chunk, from, core, context)
                }
            }
            _ => self.read_planned_with(Scalar, chunk, from, core, context),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq")]
    fn read_planned_avx2(
        &mut self,
        avx2: Avx2,
        chunk: &[u8],
        from: (usize, usize),
        core: Option<&[u8]>,
        context: &mut ChunkContext<'_>,
    ) -> (usize, usize) {
        self.read_planned_with(avx2, chunk, from, core, context)
    }

    #[inline(always)]
    fn read_planned_with(
        &mut self,
        vectors: impl Vectors,
        chunk: &[u8],
        (mut at, mut number): (usize, usize),
        core: Option<&[u8]>,
        context: &mut ChunkContext<'_>,
    ) -> (usize, usize) {
        let Self { plans, ends, known, layout, .. } = self;
        let mut batch = Batch::new();
        let max_fields = plans.iter().map(|plan| usize::from(plan.fields)).max().unwrap_or_default();
        // Batches start small: large ones are wasted if lines of several plans alternate, or if lines have no
        // plan.
        let (mut current, mut batch_size, mut tried) = (0, 1, 0);
        while let Some(plan) = plans.get(current) {
            ends.ensure(vectors, chunk, at, max_fields);
            let fields = usize::from(plan.fields);
            let (available, tail) = ends.remaining();
            let count = batch_size.min(available / fields);
            let lines = Lines { text: chunk, ends: tail, fields, count };
            let matched = plan.read(vectors, lines, known, core, &mut batch);
            if matched == 0 {
                // Another plan may match.
                (tried, current) = (tried + 1, (current + 1) % plans.len());
                if tried == plans.len() {
                    break;
                }
                continue;
            }
            let inexact = batch.is_inexact.iter().take(matched).filter(|is_inexact| **is_inexact).count();
            context.report.counts.inexact_times += inexact as u64;
            context.rows.append(&batch, matched, layout.record.is_some(), number);
            (at, number) = (tail.get(matched * fields).map_or(at, |end| *end as usize + 1), number + matched);
            ends.consume(matched * fields);
            batch_size = if matched == count { (2 * batch_size).min(BATCH_SIZE) } else { 1 };
            tried = 0;
        }
        if current > 0 {
            plans.swap(0, current);
        }
        (at, number)
    }

    /// Learns from the line at `at`, which was read as `row`: the meaning of its cells, and the form of the
    /// line. `None` if the line does not allow that.
    fn learn<'c>(
        &mut self,
        chunk: &'c [u8],
        at: usize,
        row: Row,
        core: &mut Option<&'c [u8]>,
        reader: &impl LineReader<'c>,
    ) -> Option<()> {
        let Self { plans, ends, known, layout, settings, .. } = self;
        let (ends, fields) = ends.whole_line(chunk, at)?;
        let fields = u8::try_from(fields).ok()?;
        // An access without a name has its address for one.
        let name = u8::try_from(reader.name_field()).ok()?;
        let without_name = (name != layout.name).then_some(layout.name);
        let layout = &RowLayout { name, without_name, ..layout.clone() };
        let plan = Plan::infer(chunk, ends, fields, layout, settings)?;
        let cell = |field: u8| cell(chunk, ends, field);
        if let Some(field) = layout.core
            && core.is_none()
            && !matches!(fields::trim(cell(field)?), b"" | b"-")
        {
            *core = Some(cell(field)?);
        }
        // If the tolerant reader has split the line in another way, or if a cell has another role than its
        // position says, nothing is learned.
        if layout.quotes {
            let text = chunk.get(..bounds(ends, fields - 1).1 as usize)?;
            let end = text.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
            for field in 0..fields {
                let begin = bounds(ends, field).0 as usize;
                let length = cell(field)?.len().min(end.saturating_sub(begin));
                fields::first_cell_has_length(chunk.get(begin..end)?, length, layout.delimiter)
                    .then_some(())?;
            }
        }
        let kind = cell(layout.kind)?;
        (plan.passes_checks(chunk, ends, *core) && reader.determines_kind(kind, row.kind)).then_some(())?;
        if known.names.get(cell(layout.name)?).is_none() {
            known.names.insert(cell(layout.name)?, row.name);
        }
        known.kinds.insert(kind, row.kind);
        if !plans.contains(&plan) && plans.len() < MAX_PLANS {
            plans.insert(0, plan);
        }
        Some(())
    }
}

/// Reads a single chunk of a data export, see [`ExportParser::chunk`].
pub fn parse_data(
    chunk: &[u8],
    is_first: bool,
    layout: &DataLayout,
    settings: &ExportSettings,
) -> ExportRows {
    ExportParser::new(Grammar::Data(layout.clone()), settings.clone()).chunk(chunk, is_first)
}

/// Reads a single chunk of a function or task-event export.
pub fn parse_functions(chunk: &[u8], settings: &ExportSettings) -> ExportRows {
    ExportParser::new(Grammar::Functions, settings.clone()).chunk(chunk, false)
}
