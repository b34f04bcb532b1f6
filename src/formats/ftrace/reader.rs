//! The lines of a text to rows of `trace_event`, losses and findings. Not what is in a line (see `line`), nor
//! in an event (see `fields`).

use super::fields::Writer;
use super::line::{Event, Kind, kind};
use crate::diagnostics::Severity;
use crate::encoding::escaped;
use crate::error::{Error, Result};
use crate::formats::text::{Findings, Line};
use crate::formats::{Counts, Ending, FROM_BEGIN, Gap, Header, Output, Reader, RowLines, Rows, Setup};
use crate::input::Chunk;
use crate::schema::{TraceEventRow, TraceEventRows, tables};
use crate::time::{TimeScale, read_decimal};
use std::path::PathBuf;
use std::sync::Arc;

/// The name of the format, and `source.format` of a file.
pub(super) const FTRACE: &str = "ftrace";
/// Why events are missing, in table `gap`: the buffer was full, and later events took their place.
const OVERWRITTEN: &str = "overwritten";
/// Rows per batch.
const BATCH_ROWS: usize = 16 * 1024;

/// What a text says of a CPU.
#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    /// The time of its last event.
    latest: Option<i64>,
    /// The loss that its next event ends, in `Output::gaps`.
    open: Option<usize>,
}

/// Reads one text.
pub(super) struct TextReader {
    path: PathBuf,
    /// The name of the stream.
    stream: Arc<str>,
    scale: TimeScale,
    time_offset: i64,
    setup: Setup,
    rows: TraceEventRows,
    lines_of_rows: RowLines,
    writer: Writer,
    findings: Findings<'static>,
    counts: Counts,
    cpus: Vec<Cpu>,
    /// Lines before the chunk.
    before_chunk: u64,
    /// The chunk before ended inside a line.
    inside_line: bool,
    /// The last line has no line end.
    is_unended: bool,
    /// The tracer that the header names.
    tracer: Option<String>,
    /// The events that the buffer held at last, and all that were written to it.
    written: Option<(u64, u64)>,
    /// Times that do not fit.
    cut_times: u64,
}

impl TextReader {
    /// For a text of that name; `time_offset` is added to its times, in ticks of the database.
    pub fn new(path: PathBuf, name: &str, scale: TimeScale, time_offset: i64, setup: Setup) -> Self {
        Self {
            findings: Findings::new(path.display().to_string()),
            path,
            stream: Arc::from(name),
            scale,
            time_offset,
            setup,
            rows: TraceEventRows::new(),
            lines_of_rows: RowLines::default(),
            writer: Writer::default(),
            counts: Counts::default(),
            cpus: Vec::new(),
            before_chunk: 0,
            inside_line: false,
            is_unended: false,
            tracer: None,
            written: None,
            cut_times: 0,
        }
    }

    fn lines(&mut self, chunk: &[u8], out: &mut Output<'_>) -> Result<()> {
        let (mut at, mut number) = (0, 0);
        self.before_chunk = self.counts.lines;
        while at < chunk.len() {
            let (line, next) = Line::take(chunk, at, self.counts.lines as usize);
            at = next;
            self.is_unended = !line.terminated;
            if std::mem::replace(&mut self.inside_line, !line.terminated && line.too_long) {
                continue;
            }
            self.counts.lines += 1;
            self.line(line, number, out);
            number += 1;
            if self.rows.len() >= BATCH_ROWS {
                self.write(out)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: Line<'_>, number: usize, out: &mut Output<'_>) {
        if line.too_long {
            self.counts.rejected += 1;
            let message = || "the line is longer than a line can be".to_owned();
            return self.findings.note(line, Severity::Error, "line-too-long", message);
        }
        match kind(line.text) {
            Kind::Event(event) => self.event(&event, number, out),
            Kind::Lost(cpu) => {
                self.counts.gaps += 1;
                self.lose(cpu, "lost", out);
            }
            Kind::Started(cpu) => {
                self.counts.gaps += 1;
                self.lose(cpu, OVERWRITTEN, out);
            }
            Kind::NoEvent => {
                self.counts.skipped += 1;
                self.learn(line.text);
            }
            Kind::Unknown => {
                self.counts.rejected += 1;
                let message = || "no event: the line has no task, CPU, time or name of one".to_owned();
                self.findings.note(line, Severity::Error, "no-event", message);
            }
        }
    }

    fn event(&mut self, event: &Event<'_>, number: usize, out: &mut Output<'_>) {
        let time = self.time(event.time);
        let is_first = self.counts.rows == 0;
        let is_new = self.cpu(event.cpu).latest.is_none();
        if is_new && !is_first && self.written.is_some_and(|(held, written)| held < written) {
            // A buffer was full: which events of this CPU are missing before this one is not known.
            self.lose(event.cpu, OVERWRITTEN, out);
        }
        let cpu = self.cpu(event.cpu);
        cpu.latest = Some(time);
        if let Some(gap) = cpu.open.take().and_then(|open| out.gaps.get_mut(open)) {
            gap.end = Some(time);
        }
        self.lines_of_rows.put(self.rows.len(), number);
        self.rows.push(TraceEventRow {
            cpu: Some(i64::from(event.cpu)),
            time,
            seq: self.counts.rows as i64,
            name: (&*escaped(event.name)).into(),
            payload: self.writer.payload(event),
        });
        self.counts.rows += 1;
    }

    fn time(&mut self, seconds: &[u8]) -> i64 {
        let time = read_decimal(seconds, b'.', TimeScale::S, self.scale).ok();
        self.counts.inexact_times += u64::from(time.is_some_and(|time| time.inexact));
        time.and_then(|time| time.ticks.checked_add(self.time_offset)).unwrap_or_else(|| {
            self.cut_times += 1;
            i64::MAX
        })
    }

    fn cpu(&mut self, number: u32) -> &mut Cpu {
        let number = number as usize;
        if self.cpus.len() <= number {
            self.cpus.resize(number + 1, Cpu::default());
        }
        &mut self.cpus[number]
    }

    /// Events of a CPU are missing between its last one and its next one.
    fn lose(&mut self, number: u32, reason: &str, out: &mut Output<'_>) {
        let cpu = self.cpu(number);
        if cpu.open.is_none() {
            cpu.open = Some(out.gaps.len());
            let begin = cpu.latest.unwrap_or(FROM_BEGIN);
            let core = Some(format!("Core_{number}"));
            out.gaps.push(Gap { begin, end: None, core, reason: reason.to_owned() });
        }
    }

    /// What a line of the header says: `# tracer: nop`, `# entries-in-buffer/entries-written: 140/250 #P:4`.
    fn learn(&mut self, line: &[u8]) {
        let Some(said) = line.strip_prefix(b"#").and_then(|line| std::str::from_utf8(line).ok()) else {
            return;
        };
        if let Some(tracer) = said.trim().strip_prefix("tracer: ") {
            self.tracer = Some(tracer.to_owned());
        }
        let counts = said.trim().strip_prefix("entries-in-buffer/entries-written: ");
        let counts = counts.and_then(|counts| counts.split_whitespace().next()?.split_once('/'));
        if let Some((held, written)) = counts {
            self.written = held.parse().ok().zip(written.parse().ok());
        }
    }

    /// Passes on the rows so far.
    fn write(&mut self, out: &mut Output<'_>) -> Result<()> {
        out.log.merge(self.findings.take_log());
        out.counts = self.counts;
        let lines = std::mem::take(&mut self.lines_of_rows);
        if self.rows.is_empty() {
            return Ok(());
        }
        let batch = self.rows.take_batch()?;
        out.rows(
            Rows::new(tables::TRACE_EVENT, batch).of_core(&self.stream).in_lines(self.before_chunk, lines),
        )
    }
}

impl Reader for TextReader {
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()> {
        self.lines(&chunk.bytes, out)?;
        self.write(out)
    }

    fn finish(mut self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        self.write(out)?;
        if self.counts.rows == 0 && self.counts.rejected > 0 {
            let error =
                Error::input(format!("no event is in the {} lines", self.counts.lines)).at(&self.path);
            return Err(match self.tracer.as_deref() {
                Some(tracer) if tracer.starts_with("function_graph") => error.hint(
                    "function_graph draws a picture, without tasks and times; record events, or use the tracer 'function'",
                ),
                _ => error.hint("events have lines like 'bash-1977 [000] d..2. 12.345678: sched_switch: prev_comm=…'"),
            });
        }
        if self.is_unended {
            out.find(None, Severity::Info, "no-line-end", "the last line has no line end");
        }
        if let Some((held, written)) = self.written
            && held < written
        {
            let message =
                format!("{} events before were overwritten, as the buffer was full", written - held);
            out.find(None, Severity::Warning, "overwritten-events", message);
        }
        out.cut_times(self.cut_times, self.scale, &self.path)?;
        let header =
            Header { os: Some("Linux".to_owned()), creator: Some(FTRACE.to_owned()), ..Header::default() };
        Ok(Ending { source_format: FTRACE, header, setup: Some(self.setup), ..Ending::default() })
    }
}
