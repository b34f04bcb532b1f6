//! Feeds a stored kernel trace to the printer. Not the lines themselves.

use super::{Printer, Style};
use crate::engine::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::export::exporter::misfit;
use crate::qnx::{Class, Event, Flavour, KernelFilter, Status, Version};
use crate::render::{PORTION, Worker, in_order};
use crate::schema::columns::kernel_event as column;
use crate::schema::result::{self, Integers, Texts, Unsigned};
use crate::schema::{tables, view};
use crate::selection::Selection;
use crate::store::Resequenced;
use arrow::array::RecordBatch;
use std::io::Write;

/// How to print.
#[derive(Debug, Clone)]
pub(super) struct PrintOptions {
    /// Style of the lines; `None`: by the version of the trace.
    pub style: Option<Style>,
    pub one_line: bool,
    /// The text before the arguments, see [`Printer::new`].
    pub format: Option<String>,
    /// Events in the order of time. By default, as in the printer, in the order of completion in the file.
    pub by_time: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Printed {
    /// Events with lines.
    pub events: u64,
    /// Incomplete events, which are not printed.
    pub incomplete: u64,
}

/// Writes the selected kernel events as lines of the printer.
pub(super) fn export_traceprinter(
    session: &Session,
    selection: &Selection,
    filter: &KernelFilter,
    options: &PrintOptions,
    out: &mut dyn Write,
) -> Result<Printed> {
    let recording = selection.recording(session)?;
    let trace = Trace::read(session, &recording)?;
    let style =
        options.style.unwrap_or(if trace.flavour.version < Version::V7_0 { Style::V6 } else { Style::V7 });
    let printer = Printer::new(
        style,
        options.one_line,
        options.format.as_deref(),
        trace.flavour,
        trace.cycles_per_sec,
    )?;
    let mut write = |bytes: &[u8]| {
        out.write_all(bytes).map_err(|e| Error::new(ErrorKind::Io, "cannot write the listing").because(e))
    };
    let mut header = Vec::new();
    printer.header(&trace.attributes, &mut header);
    write(&header)?;
    let events = events(session, selection, &recording, filter, options.by_time)?;
    let lines = || Lines { printer: &printer, printed: Printed::default(), words: Vec::new() };
    let workers = in_order(
        session.threads(),
        events.map(|batch| Ok(Job { batch: batch?, next: 0 })),
        lines,
        &mut write,
    )?;
    Ok(workers.iter().fold(Printed::default(), |sum, w| Printed {
        events: sum.events + w.printed.events,
        incomplete: sum.incomplete + w.printed.incomplete,
    }))
}

/// The column that says whether to print a row.
const WANTED: &str = "wanted";

const COLUMNS: [&str; 12] = [
    column::SEQ,
    column::RECORD,
    column::CPU,
    column::FLAGS,
    column::CLASS,
    column::EVENT,
    column::IS64,
    column::STATUS,
    column::CYCLES,
    column::D0,
    column::D1,
    column::REST,
];

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

fn events(
    session: &Session,
    selection: &Selection,
    recording: &str,
    filter: &KernelFilter,
    by_time: bool,
) -> Result<Batches> {
    let condition = selection.condition(tables::KERNEL_EVENT, recording);
    let (rows, params) = (condition.sql(), condition.params());
    let (columns, filter) = (COLUMNS.join(", "), filter.sql()?);
    let select = |what: &str, filter: &str, order: &str| {
        let sql = format!("SELECT {columns}{what} FROM kernel_event {rows}{filter} ORDER BY {order}");
        session.sql(&sql, &params)
    };
    let filtered = format!(" AND ({filter})");
    if by_time {
        return Ok(Box::new(select("", &filtered, "time, seq")?));
    }
    if !selection.is_whole() {
        return Ok(Box::new(select("", &filtered, "seq")?));
    }
    // The rows of a recording are nearly in this order: its numbers have no holes before the filter.
    let all = select(&format!(", coalesce({filter}, FALSE) AS {WANTED}"), "", "time, seq")?;
    Ok(Box::new(Resequenced::new(all)))
}

view! {
    struct Attributes of kernel_attribute { key, value }
}

/// What the printer has to know of a trace.
struct Trace {
    attributes: Vec<(String, String)>,
    flavour: Flavour,
    cycles_per_sec: u64,
}

impl Trace {
    fn read(session: &Session, recording: &str) -> Result<Self> {
        let (mut attributes, mut others) = (Vec::new(), Vec::new());
        for batch in session.scanner().rows(tables::KERNEL_ATTRIBUTE, recording, Attributes::COLUMNS)? {
            let rows = Attributes::of(&batch)?;
            for row in 0..rows.len() {
                let (key, value) = (rows.key.value(row).to_owned(), rows.value.value(row).to_owned());
                let list = if key.starts_with("TRACE_") { &mut attributes } else { &mut others };
                list.push((key, value));
            }
        }
        if !session.database().has(tables::KERNEL_EVENT, recording)? {
            return Err(Error::usage(format!("'{recording}' is no kernel trace"))
                .hint("traceprinter prints kernel traces of QNX; use --format btf or csv"));
        }
        let find =
            |key: &str| attributes.iter().chain(&others).find(|(k, _)| k == key).map(|(_, v)| v.as_str());
        let version = find("btfdb.version").and_then(Version::of_release).unwrap_or_default();
        let big_endian = find("TRACE_BIG_ENDIAN").is_some_and(|v| v.trim().eq_ignore_ascii_case("true"));
        let rate = |key| find(key).and_then(|v| v.trim().parse().ok()).filter(|rate| *rate > 0);
        let cycles_per_sec =
            rate("TRACE_CYCLES_PER_SEC").or_else(|| rate("syspage.cycles_per_sec")).unwrap_or(0);
        Ok(Self { flavour: Flavour { version, big_endian }, cycles_per_sec, attributes })
    }
}

/// Rows, and the index of the next one.
struct Job {
    batch: RecordBatch,
    next: usize,
}

struct Lines<'p> {
    printer: &'p Printer,
    printed: Printed,
    words: Vec<u32>,
}

impl Worker<Job> for Lines<'_> {
    fn work(&mut self, job: &mut Job, out: &mut Vec<u8>) -> Result<bool> {
        let rows = Rows::of(&job.batch)?;
        while job.next < job.batch.num_rows() {
            let row = job.next;
            job.next += 1;
            if rows.wanted.as_ref().is_some_and(|wanted| wanted.value(row) == 0) {
                continue;
            }
            let event = rows.event(row, &mut self.words).ok_or_else(misfit)?;
            let whole = u64::from(event.status == Status::Ok);
            self.printed.events += whole;
            self.printed.incomplete += 1 - whole;
            self.printer.event(&event, out);
            if out.len() >= PORTION {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The columns of a batch.
struct Rows {
    /// Number, record, CPU, flags, class, event, whether values have 64 bits.
    numbers: [Integers; 7],
    status: Texts,
    /// Cycles and the first two words.
    counts: [Unsigned; 3],
    rest: Texts,
    /// Missing if the statement returns wanted rows only.
    wanted: Option<Integers>,
}

impl Rows {
    fn of(batch: &RecordBatch) -> Result<Self> {
        let (numbers, status, counts, rest) = result::columns(batch)?;
        Ok(Self { numbers, status, counts, rest, wanted: result::column(batch, WANTED).ok() })
    }

    fn event<'w>(&self, row: usize, words: &'w mut Vec<u32>) -> Option<Event<'w>> {
        let [_, record, cpu, flags, class, event, is64] = self.numbers.each_ref().map(|c| c.value(row));
        let [cycles, d0, d1] = self.counts.each_ref().map(|column| column.value(row));
        words.clear();
        let status = Status::parse(self.status.value(row))?;
        if status != Status::Unread {
            words.extend([d0 as u32, d1 as u32]);
        }
        if let Some(rest) = self.rest.get(row) {
            words.extend(rest.split(' ').map(|w| u32::from_str_radix(w, 16).unwrap_or(0)));
        }
        Some(Event {
            record: record as u64,
            cpu: cpu as u8,
            flags: flags as u8,
            class: u8::try_from(class).ok().and_then(Class::of_number)?,
            event: event as u16,
            is64: is64 != 0,
            status,
            cycles,
            words,
        })
    }
}
