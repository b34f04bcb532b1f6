//! BTF as a [`TraceFormat`]: one text file, whose chunks are parsed on several threads and assembled on one.

use super::assemble::Assembler;
use super::chunk::{EventRows, Parser};
use super::header::Keyword;
use super::probe::speaks_freertos;
use super::steps::Counter;
use crate::derive::Dialect;
use crate::diagnostics::Severity;
use crate::error::{Error, Result};
use crate::formats::{
    ChunkParser, Confidence, Disorder, Ending, FormatInfo, Header, Input, NotContinued, Output, Parsed,
    Reader, RowOrder, Settings, Stream, TableUse, TraceFormat,
};
use crate::input::Chunk;
use crate::options::{OptionSpec, Word};
use crate::schema::tables;
use crate::time::TimeScale;
use std::path::PathBuf;

static INFO: FormatInfo = FormatInfo {
    name: "btf",
    help: "A BTF trace of any version",
    noun: "BTF trace",
    signature: "BTF begins with '#version' or has lines like '100,Core_0,0,T,Task_1,0,start'",
    options: &[
        OptionSpec::text(
            "counter-bits",
            "BITS",
            "BTF: the times are values of a counter of so many bits, e.g. 32, and go on when it overflows; a time is at \
             most half of its range away from the one before",
        ),
        OptionSpec::choice(
            "dialect",
            "DIALECT",
            &[
                Word { name: "auto", help: "Told by content" },
                Word { name: "standard", help: "As the specification says" },
                Word { name: "freertos", help: "As the FreeRTOS loggers write them" },
            ],
            "How the events of tasks in a BTF trace are meant",
        )
        .with_default("auto"),
    ],
    tables: &[
        TableUse { table: tables::BTF_EVENT, order: RowOrder::AcrossBatches },
        TableUse { table: tables::BTF_LINE, order: RowOrder::AsGiven },
    ],
    disorder: Disorder::Fault(Severity::Warning),
    not_continued: Some(NotContinued {
        why: "a BTF trace is a text whose lines are kept in their order",
        instead: "put the pieces together: cat 1.btf 2.btf | btfdb ingest DB - --name NAME",
    }),
    threads_per_input: usize::MAX,
    ..FormatInfo::DEFAULT
};

/// See the module.
#[derive(Debug)]
pub struct Btf;

/// `source.format` of a file that names entities by number.
pub const NUMERIC_FORMAT: &str = "btf-numeric";

impl TraceFormat for Btf {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &[u8]) -> Confidence {
        if super::probe(head) { Confidence::Possible } else { Confidence::None }
    }

    fn unit(&self, head: &[u8]) -> Option<TimeScale> {
        let lines =
            head.split(|b| *b == b'\n').take_while(|line| !line.first().is_some_and(u8::is_ascii_digit));
        let value = lines.filter_map(|line| match Keyword::split(std::str::from_utf8(line).ok()?) {
            Some((Keyword::TimeScale, value)) => TimeScale::parse(&value.to_ascii_lowercase()),
            _ => None,
        });
        value.last()
    }

    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>> {
        let said = match settings.options.text("dialect") {
            Some("standard") => Some(Dialect::Standard),
            Some("freertos") => Some(Dialect::FreeRtos),
            _ => None,
        };
        let counter = settings.options.text("counter-bits").map(counter).transpose()?;
        let open = |mut input: Input| {
            let head = input.source.head()?;
            if head.is_empty() {
                return Err(Error::input("the file is empty").at(&input.path).hint("export the trace again"));
            }
            if !super::probe(head) {
                return Err(Error::input("this is no BTF trace").at(&input.path).hint(INFO.signature));
            }
            let spoken = if speaks_freertos(head) { Dialect::FreeRtos } else { Dialect::Standard };
            let reader = BtfReader {
                name: input.name.clone(),
                path: input.path.clone(),
                dialect: said.unwrap_or(spoken),
                begun: false,
                assembler: Assembler::new(&input.name, settings.scale, counter.clone()),
                parser: Parser::new(input.name.clone()),
                inside_line: false,
            };
            Ok(Stream { input, reader: Box::new(reader) })
        };
        inputs.into_iter().map(open).collect()
    }
}

fn counter(bits: &str) -> Result<Counter> {
    bits.trim().parse().ok().and_then(Counter::new).ok_or_else(|| {
        Error::usage(format!("--counter-bits '{bits}' is no width of a counter"))
            .hint("a whole number from 8 to 62, e.g. 32")
    })
}

/// Reads a trace.
struct BtfReader {
    name: String,
    path: PathBuf,
    dialect: Dialect,
    begun: bool,
    assembler: Assembler,
    /// For chunks without a [`ChunkParser`], and whether the next one begins inside a line.
    parser: Parser<'static>,
    inside_line: bool,
}

impl BtfReader {
    /// Reports the dialect of events, if it is not that of the specification.
    fn begin(&mut self, out: &mut Output<'_>) {
        if !std::mem::replace(&mut self.begun, true) && self.dialect == Dialect::FreeRtos {
            let message = "read as the FreeRTOS loggers mean it: 'create' activates, the first resume starts, \
                 '[core/id]name' is one task on any core (--dialect standard reads it literally)";
            out.find(None, Severity::Info, "freertos-dialect", message);
        }
    }
}

impl Reader for BtfReader {
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()> {
        let ends_inside = chunk.bytes.last() != Some(&b'\n');
        let inside_line = std::mem::replace(&mut self.inside_line, ends_inside);
        let rows = self.parser.parse(&chunk.bytes, inside_line);
        self.parsed(0, rows, out)
    }

    fn parsers(&self, most: usize) -> Vec<Box<dyn ChunkParser>> {
        (0..most).map(|_| Box::new(Parser::new(self.name.clone())) as Box<dyn ChunkParser>).collect()
    }

    fn parsed(&mut self, parser: usize, parsed: Parsed, out: &mut Output<'_>) -> Result<()> {
        self.begin(out);
        self.assembler.take(parser, parsed.take::<EventRows>()?, out)
    }

    fn finish(mut self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        self.begin(out);
        self.assembler.emit_lines(out)?;
        let counts = out.counts;
        if counts.rows == 0 && counts.rejected > 0 {
            let first = out.log.entries().iter().find(|d| d.severity == Severity::Error);
            let line = first.and_then(|d| d.line).unwrap_or(1);
            let message = first.map_or_else(String::new, |d| format!("{}; ", d.message));
            let message = format!("{message}no event of the {} lines could be read", counts.lines);
            return Err(Error::input(message).at(&self.path).line(line));
        }
        let of_file = &self.assembler.header;
        let header = Header {
            os: (self.dialect == Dialect::FreeRtos).then(|| "freertos".to_owned()),
            creator: of_file.creator.clone(),
            created: of_file.created.clone(),
            tick: None,
        };
        let source_format = if self.assembler.numeric { NUMERIC_FORMAT } else { "btf" };
        Ok(Ending { source_format, header, ..Ending::default() })
    }

    fn dialect(&self) -> Dialect {
        self.dialect
    }
}

impl ChunkParser for Parser<'static> {
    fn parse(&mut self, chunk: &[u8], inside_line: bool) -> Parsed {
        Parsed::new(self.chunk(chunk, inside_line))
    }
}
