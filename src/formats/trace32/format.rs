//! TRACE32 exports as a [`TraceFormat`]: two files per core, one with data accesses and one with functions,
//! distinguished by their names or by a description. Not for the content of lines (see `parser`).

use super::batches::{Gaps, NameDictionary};
use super::layout::{NO_SPREADSHEET, scientific_time};
use super::report::SCIENTIFIC;
use super::{ExportParser, ExportSettings, Grammar, Kind, Radix, detect_data_layout, probe};
use crate::diagnostics::Severity;
use crate::error::{Error, Result};
use crate::formats::{
    Confidence, Disorder, Ending, FormatInfo, Input, InputEnd, Output, Part, Reader, RowOrder, Rows,
    Settings, Setup, Stream, TableUse, TraceFormat,
};
use crate::input::Chunk;
use crate::options::{OptionSpec, Word};
use crate::schema::tables;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// The keys of a core in a description, which are the roles of its files.
const DATA: &str = "data";
const FUNCTIONS: &str = "functions";

/// The facts of the format.
static INFO: FormatInfo = FormatInfo {
    name: "trace32",
    help: "TRACE32 exports",
    noun: "TRACE32 export",
    signature: "exports of TRACE32 are named CORE_data.csv and CORE_func.csv, or given with --core name=…,data=…",
    options: &[OptionSpec::choice(
        Trace32::DATA_RADIX,
        "DATA_RADIX",
        &[Word::plain("hex"), Word::plain("decimal")],
        "Radix of data values without a prefix",
    )],
    tables: &[
        TableUse { table: tables::DATA_EVENT, order: RowOrder::WithinBatches },
        TableUse { table: tables::FUNCTION_EVENT, order: RowOrder::WithinBatches },
    ],
    disorder: Disorder::Fault(Severity::Error),
    roles: &[DATA, FUNCTIONS],
    not_continued: None,
    no_events: "the export holds no event; did the trace host decode the program flow?",
    ..FormatInfo::DEFAULT
};

/// The format of TRACE32 exports.
#[derive(Debug)]
pub struct Trace32;

impl Trace32 {
    /// The option of a description with the names of the columns of data exports.
    pub const DATA_COLUMNS: &'static str = "data-columns";
    /// The option with the radix of data values.
    pub const DATA_RADIX: &'static str = "data-radix";
}

impl TraceFormat for Trace32 {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &[u8]) -> Confidence {
        if probe(head).is_some() { Confidence::Weak } else { Confidence::None }
    }

    /// `core0_data.csv` has the data accesses of `core0`, `core0_func.csv` its functions, and
    /// `core0_taskevents.csv` its task events; also with `.txt`, and compressed.
    fn part(&self, file_name: &str) -> Option<Part> {
        let name = file_name;
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
        let stem = name.strip_suffix(".csv").or_else(|| name.strip_suffix(".txt"))?;
        let part = |core: &str, role| Part { core: core.to_owned(), role };
        let data = stem.strip_suffix("_data").map(|core| part(core, DATA));
        let functions = ["_func", "_taskevents"].iter().find_map(|end| stem.strip_suffix(end));
        data.or_else(|| functions.map(|core| part(core, FUNCTIONS)))
    }

    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>> {
        inputs.into_iter().map(|input| open(input, settings)).collect()
    }
}

fn open(mut input: Input, settings: &Settings<'_>) -> Result<Stream> {
    let path = input.path.clone();
    let Some(core) = input.core.clone() else {
        return Err(Error::usage(format!("'{}' says neither its core nor what it holds", path.display()))
            .hint("name exports CORE_data.csv and CORE_func.csv, or use --core name=…,data=…,functions=…"));
    };
    let head = input.source.head()?;
    if head.is_empty() {
        return Err(Error::input("the file is empty")
            .at(&path)
            .hint("export the trace again, or leave the file out"));
    }
    if let Some(time) = scientific_time(head) {
        return Err(Error::input(format!("{SCIENTIFIC}: '{time}'")).at(&path).hint(NO_SPREADSHEET));
    }
    let kind = probe(head).ok_or_else(|| {
        Error::input("this is no TRACE32 data or function export")
            .at(&path)
            .hint("expected lines like '-0000004788,0.0000000300,\"NAME\",\"wr-data\",33' or '+437050; NAME; fentry'")
    })?;
    let is_functions = kind != Kind::Data;
    if input.role.is_some_and(|role| (role == FUNCTIONS) != is_functions) {
        let (found, described) =
            if is_functions { ("functions", "data") } else { ("data accesses", "functions") };
        let message = format!("the file holds {found}, but is described as {described} of core '{core}'");
        return Err(Error::input(message).at(&path));
    }
    let export_settings = ExportSettings {
        radix: settings.options.text(Trace32::DATA_RADIX).and_then(Radix::parse).unwrap_or_default(),
        scale: settings.scale,
        offset: input.time_offset,
        source: input.name.clone(),
    };
    let mut unknown = Vec::new();
    let grammar = match kind {
        Kind::Data => {
            let columns = settings.options.list(Trace32::DATA_COLUMNS);
            let columns = (!columns.is_empty()).then_some(columns);
            let mut layout = detect_data_layout(head, columns).map_err(|e| e.at(&path))?;
            unknown = std::mem::take(&mut layout.unknown);
            Grammar::Data(layout)
        }
        Kind::Functions | Kind::TaskEvents => Grammar::Functions,
    };
    let parser = ExportParser::new(grammar, export_settings);
    let (core, names, offset) = (core.into(), NameDictionary::default(), input.time_offset);
    let first_seq = input.after.as_ref().map_or(0, |end| end.next_seq);
    let gaps = input.after.clone().map_or_else(Gaps::default, Gaps::after);
    let inside_line = false;
    let reader =
        ExportReader { path, core, kind, offset, parser, names, gaps, unknown, first_seq, inside_line };
    Ok(Stream { input, reader: Box::new(reader) })
}

/// Reads the chunks of one export.
struct ExportReader {
    path: PathBuf,
    core: Arc<str>,
    kind: Kind,
    offset: i64,
    parser: ExportParser,
    names: NameDictionary,
    gaps: Gaps,
    /// Findings about the header.
    unknown: Vec<String>,
    /// `seq` of its first row.
    first_seq: i64,
    /// The chunk before ended inside a line, whose rest is not counted.
    inside_line: bool,
}

impl Reader for ExportReader {
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()> {
        for message in std::mem::take(&mut self.unknown) {
            out.find(None, Severity::Warning, "unknown-column", message);
        }
        let (lines_before, first_seq) = (out.counts.lines, self.first_seq + out.counts.rows as i64);
        let mut bytes = &chunk.bytes[..];
        if self.inside_line {
            let rest = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
            bytes = bytes.get(rest..).unwrap_or_default();
        }
        self.inside_line = chunk.bytes.last() != Some(&b'\n');
        let mut rows = self.parser.chunk(bytes, chunk.index == 0);
        self.gaps.add(std::mem::take(&mut rows.gaps), &rows.time);
        let (counts, mut log) = (rows.counts, std::mem::take(&mut rows.log));
        let (table, (batch, lines)) = match self.kind {
            Kind::Data => (tables::DATA_EVENT, self.names.data_batch(rows, first_seq)?),
            Kind::Functions | Kind::TaskEvents => {
                (tables::FUNCTION_EVENT, self.names.function_batch(rows, first_seq)?)
            }
        };
        log.shift_lines(lines_before);
        out.log.merge(log);
        out.counts.add(&counts);
        out.rows(Rows::new(table, batch).of_core(&self.core).in_lines(lines_before, lines))
    }

    fn finish(self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        let counts = out.counts;
        if counts.rows + counts.gaps == 0 && counts.rejected > 0 {
            let first = out.log.entries().iter().find(|d| d.severity == Severity::Error);
            let summary = format!("none of the {} lines could be read", counts.lines);
            let error = match first {
                Some(d) => {
                    let message = format!("{} ('{}'); {summary}", d.message, d.text);
                    Error::input(message).at(&self.path).line(d.line.unwrap_or(1))
                }
                None => Error::input(summary).at(&self.path),
            };
            return Err(error.hint("check data_radix and data_columns in recording.toml"));
        }
        let (last_time, open_gaps) = self.gaps.end();
        let end = InputEnd {
            core: self.core.to_string(),
            role: if self.kind == Kind::Data { DATA } else { FUNCTIONS }.to_owned(),
            time_offset: self.offset,
            next_seq: self.first_seq + counts.rows as i64,
            last_time,
            open_gaps,
        };
        out.gaps.extend(self.gaps.finish(&self.core));
        let source_format = match self.kind {
            Kind::Data => "trace32-data",
            Kind::Functions => "trace32-functions",
            Kind::TaskEvents => "trace32-task-events",
        };
        // What its rows mean needs no description.
        let is_of_tasks = self.kind == Kind::TaskEvents;
        let setup = is_of_tasks.then_some(Setup { mapper: "task-events", settings: Value::Null });
        Ok(Ending { source_format, setup, end: Some(end), ..Ending::default() })
    }
}
