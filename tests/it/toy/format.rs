//! Spans as CSV, `task,begin,end` in nanoseconds: a trace format in the fewest lines, as CONTRIBUTING.md has
//! the recipe. Its folder in `src/formats` would hold this file.

use btfdb::internals::{BtfEventRow, BtfEventRows, Chunk, Ending, RowOrder, TableUse};
use btfdb::{
    Confidence, FormatInfo, Input, OptionSpec, Output, Reader, Result, Rows, Settings, Severity, Stream,
    TraceFormat, tables,
};

/// The first line of every file.
const TITLE: &str = "task,begin,end";
static INFO: FormatInfo = FormatInfo {
    name: "spans",
    help: "Spans as CSV",
    noun: "list of spans",
    signature: "lists of spans begin with 'task,begin,end'",
    options: &[OptionSpec::text("spans-core", "NAME", "Spans: the core they ran on")],
    tables: &[TableUse { table: tables::BTF_EVENT, order: RowOrder::AcrossBatches }],
    ..FormatInfo::DEFAULT
};

/// See the module.
#[derive(Debug)]
pub struct Spans;

impl TraceFormat for Spans {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &[u8]) -> Confidence {
        if head.starts_with(TITLE.as_bytes()) { Confidence::Certain } else { Confidence::None }
    }

    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>> {
        let core = settings.options.text("spans-core").unwrap_or("Core_0");
        let open = |input| Stream { input, reader: Box::new(SpanReader { core: core.to_owned(), seq: 0 }) };
        Ok(inputs.into_iter().map(open).collect())
    }
}

struct SpanReader {
    core: String,
    seq: i64,
}

impl Reader for SpanReader {
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()> {
        let mut rows = BtfEventRows::new();
        for line in String::from_utf8_lossy(&chunk.bytes).lines() {
            out.counts.lines += 1;
            let fields: Vec<&str> = line.split(',').collect();
            let [task, begin, end] = fields[..] else {
                reject(out, "wrong-column-count");
                continue;
            };
            match (begin.parse(), end.parse()) {
                _ if line == TITLE => out.counts.skipped += 1,
                (Ok(begin), Ok(end)) => {
                    self.push(&mut rows, begin, task, "start");
                    self.push(&mut rows, end, task, "terminate");
                    out.counts.rows += 1;
                }
                _ => reject(out, "bad-time"),
            }
        }
        out.rows(Rows::new(tables::BTF_EVENT, rows.take_batch()?))
    }

    fn finish(self: Box<Self>, _out: &mut Output<'_>) -> Result<Ending> {
        Ok(Ending { source_format: "spans", ..Ending::default() })
    }
}

impl SpanReader {
    fn push(&mut self, rows: &mut BtfEventRows, time: i64, task: &str, action: &str) {
        rows.push(BtfEventRow {
            time,
            seq: self.seq,
            source: self.core.as_str().into(),
            source_instance: Some(0),
            target_type: "T".into(),
            target: task.into(),
            target_instance: None,
            action: action.into(),
            note: None,
        });
        self.seq += 1;
    }
}

fn reject(out: &mut Output<'_>, code: &'static str) {
    out.counts.rejected += 1;
    out.find(Some(out.counts.lines), Severity::Error, code, "no span");
}
