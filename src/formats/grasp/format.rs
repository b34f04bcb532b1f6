//! Grasp traces as a [`TraceFormat`]: how they are recognised, by content alone, and read; the unit of time
//! is an option. Not the commands.

use super::command::{Head, head};
use super::reader::CommandReader;
use super::rows::CommandRows;
use crate::diagnostics::Severity;
use crate::encoding::escaped;
use crate::error::{Error, Result};
use crate::formats::{
    Confidence, Ending, FormatInfo, Header, Input, NotContinued, Output, Reader, RowOrder, Rows, Settings,
    Setup, Stream, TableUse, TraceFormat,
};
use crate::input::Chunk;
use crate::options::OptionSpec;
use crate::schema::tables;
use crate::time::parse_time_argument;
use serde_json::json;
use std::path::PathBuf;

/// `recording.os` and `source.format` of a Grasp trace, and the name of its mapper.
const GRASP: &str = "grasp";
/// The default unit of time: "In our simulations 1 tick corresponds to 1ms" (paper §IV-B).
const TICK: &str = "1ms";
/// Number of lines that are looked at.
const PROBED_LINES: usize = 1000;

static INFO: FormatInfo = FormatInfo {
    name: GRASP,
    help: "A Grasp trace",
    noun: "Grasp trace",
    signature: "Grasp traces have lines like 'plot 5 jobResumed job1.1'",
    options: &[OptionSpec::text(
        "tick",
        "DURATION",
        "Grasp trace: how long a unit of its time is, e.g. 10us; 1ms unless given",
    )],
    not_continued: Some(NotContinued {
        why: "a Grasp trace is a script whose commands need those before them",
        instead: "put the pieces together: cat 1.grasp 2.grasp | btfdb ingest DB - --name NAME",
    }),
    tables: &[TableUse { table: tables::GRASP_EVENT, order: RowOrder::AcrossBatches }],
    ..FormatInfo::DEFAULT
};

#[derive(Debug)]
pub struct Grasp;

impl TraceFormat for Grasp {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &[u8]) -> Confidence {
        if probe(head) { Confidence::Likely } else { Confidence::None }
    }

    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>> {
        let tick = tick(settings)?;
        let open = |input: Input| {
            let commands = CommandReader::new(input.name.clone(), tick);
            let rows = CommandRows::new();
            let reader = Box::new(GraspReader { path: input.path.clone(), tick, commands, rows });
            Stream { input, reader }
        };
        Ok(inputs.into_iter().map(open).collect())
    }
}

/// True if `head_bytes`, the first bytes of a file, begin a Grasp trace: it has commands of Grasp, and those
/// are more than a tenth of the lines that are neither blank nor comments. A program may print other things
/// in between.
pub fn probe(head_bytes: &[u8]) -> bool {
    let (mut commands, mut others) = (0, 0);
    for line in head_bytes.split(|b| *b == b'\n').take(PROBED_LINES) {
        let text = escaped(line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let untagged = match text.strip_prefix('[').and_then(|t| t.split_once(']')) {
            Some((mark, behind)) if !mark.contains(' ') => behind.trim_start(),
            _ => text,
        };
        // A single word could occur in any text.
        let is_command = head(untagged) == Head::Grasp
            && untagged.contains(char::is_whitespace)
            && !untagged.starts_with("error");
        if is_command { commands += 1 } else { others += 1 }
    }
    commands > 0 && commands * 10 > others
}

/// Ticks of the database per unit of time of the trace.
fn tick(settings: &Settings<'_>) -> Result<i64> {
    let text = settings.options.text("tick").unwrap_or(TICK);
    let bad = |why: String| Error::usage(format!("--tick: {why}")).hint("e.g. --tick 1ms, --tick 10us");
    let tick = parse_time_argument(text, settings.scale).map_err(bad)?;
    if tick > 0 { Ok(tick) } else { Err(bad(format!("'{text}' is no length of time above 0"))) }
}

struct GraspReader {
    path: PathBuf,
    tick: i64,
    commands: CommandReader<'static>,
    rows: CommandRows,
}

impl Reader for GraspReader {
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()> {
        let rows = &mut self.rows;
        self.commands.chunk(&chunk.bytes, chunk.last, &mut |place, command| {
            rows.push(place, command);
            match rows.full()? {
                Some(batch) => out.rows(Rows::new(tables::GRASP_EVENT, batch)),
                None => Ok(()),
            }
        })?;
        out.log.merge(self.commands.take_log());
        out.counts = self.commands.counts();
        if chunk.last {
            out.rows(Rows::new(tables::GRASP_EVENT, self.rows.rest()?))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        if self.rows.commands == 0 && out.counts.lines > 0 {
            let message = format!("no command of Grasp is in the {} lines", out.counts.lines);
            return Err(Error::input(message)
                .at(&self.path)
                .hint("a trace has lines like 'plot 5 jobResumed job1.1'"));
        }
        if self.commands.unended {
            out.find(None, Severity::Info, "no-line-end", "the last line has no line end");
        }
        Ok(Ending {
            source_format: GRASP,
            header: Header { os: Some(GRASP.to_owned()), tick: Some(self.tick), ..Header::default() },
            setup: Some(Setup { mapper: GRASP, settings: json!({}) }),
            ..Ending::default()
        })
    }
}
