//! Texts of ftrace as a [`TraceFormat`]: how they are recognised, by content alone, and opened. Not their
//! lines.

use super::line::{Kind, kind};
use super::reader::{FTRACE, TextReader};
use crate::error::Result;
use crate::formats::scheduler::{ENDLESS_OPTION, LINUX, setup};
use crate::formats::text::Line;
use crate::formats::{
    Confidence, FormatInfo, Input, NotContinued, RowOrder, Settings, Stream, TableUse, TraceFormat,
};
use crate::schema::tables;

/// Number of lines that are looked at.
const PROBED_LINES: usize = 1000;

static INFO: FormatInfo = FormatInfo {
    name: FTRACE,
    help: "Text of ftrace (a file trace), trace-cmd report, or perf script",
    noun: "text of ftrace",
    signature: "texts of ftrace begin with '# tracer: ' or have lines like 'bash-1977 [000] d..2. 12.345678: sched_switch: …'",
    options: &[ENDLESS_OPTION],
    tables: &[TableUse { table: tables::TRACE_EVENT, order: RowOrder::AcrossBatches }],
    profiles: &[&LINUX],
    no_events: "the text holds no event",
    not_continued: Some(NotContinued {
        why: "which tasks were on the CPUs at its end is not kept",
        instead: "ingest each text by itself, with --name",
    }),
    ..FormatInfo::DEFAULT
};

/// See the module.
#[derive(Debug)]
pub struct Ftrace;

impl TraceFormat for Ftrace {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &[u8]) -> Confidence {
        let (mut events, mut others) = (0, 0);
        for line in Line::all(head).take(PROBED_LINES) {
            if line.text.starts_with(b"# tracer: ") && events + others == 0 {
                return Confidence::Certain;
            }
            match kind(line.text) {
                Kind::Event(_) => events += 1,
                Kind::Unknown if line.terminated => others += 1,
                _ => {}
            }
        }
        if events > others { Confidence::Likely } else { Confidence::None }
    }

    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>> {
        let setup = setup(&[LINUX.name], settings);
        let open = |input: Input| {
            let name = input.name.rsplit(['/', '\\']).next().unwrap_or(&input.name);
            let (scale, offset) = (settings.scale, input.time_offset);
            let reader = TextReader::new(input.path.clone(), name, scale, offset, setup.clone());
            Stream { input, reader: Box::new(reader) }
        };
        Ok(inputs.into_iter().map(open).collect())
    }
}
