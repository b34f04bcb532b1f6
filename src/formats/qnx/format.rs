//! Kernel traces of QNX as a [`TraceFormat`]: a file of records, or the text that traceprinter makes of it.

use super::decoder::{Decoder, Preamble};
use super::listed::Listed;
use super::{Batch, listing, probe, rows, spread::Spread};
use crate::diagnostics::Severity;
use crate::error::{Error, ErrorKind, Result, did_you_mean};
use crate::formats::{
    Confidence, Counts, Disorder, Ending, FormatInfo, Header, Input, NotContinued, Output, Reader, RowOrder,
    Rows, Settings, Setup, Stream, TableUse, TraceFormat,
};
use crate::input::Chunk;
use crate::options::{OptionSpec, OptionValues};
use crate::qnx::{Class, Version, event_names};
use crate::schema::tables;
use serde_json::{Value, json};
use std::path::PathBuf;

/// `recording.os` of a kernel trace, and the name of its mapper.
const OS: &str = "qnx";

static INFO: FormatInfo = FormatInfo {
    name: "qnx",
    help: "A kernel trace of QNX: a .kev file",
    noun: "kernel trace of QNX",
    signature: "kernel traces of QNX begin with 'TRACE_HEADER_BEGIN::'",
    options: &[
        OptionSpec::text(
            "qnx-version",
            "VERSION",
            "Which Neutrino wrote a kernel trace (6.5, 6.6, 7.0, 7.1, 8.0), whatever its header says",
        ),
        OptionSpec::list(
            "jobs",
            "STATES",
            "Kernel trace: blocking in one of these states ends an instance of a task, and waking begins another, e.g. \
             RECEIVE,NANOSLEEP; without, an instance is a thread from its creation to its end",
        ),
        OptionSpec::flag(
            "overlay-irqs",
            "Kernel trace: interrupts leave the states of threads alone, instead of preempting them",
        ),
        OptionSpec::flag("idle", "Kernel trace: idle threads become tasks"),
    ],
    tables: &[
        TableUse { table: tables::KERNEL_EVENT, order: RowOrder::WithinBatches },
        TableUse { table: tables::KERNEL_BUFFER, order: RowOrder::AsGiven },
        TableUse { table: tables::KERNEL_ATTRIBUTE, order: RowOrder::AsGiven },
    ],
    not_continued: Some(NotContinued {
        why: "a kernel trace is decoded from its header on, which each of its files has: clocks, processors, names",
        instead: "ingest each file as a recording of its own, with --name; listings of one trace can be put together with cat",
    }),
    // Rows are sorted already; the reader reports the disorder of the clocks of the CPUs.
    disorder: Disorder::Expected,
    // Reading, decoding, and each of the CPUs.
    threads_per_input: 2 + (u8::MAX >> 2) as usize,
    ..FormatInfo::DEFAULT
};

/// See the module.
#[derive(Debug)]
pub struct Qnx;

impl TraceFormat for Qnx {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn probe(&self, head: &[u8]) -> Confidence {
        if listing::probe(head) || probe(head) { Confidence::Certain } else { Confidence::None }
    }

    fn open(&self, inputs: Vec<Input>, settings: &Settings<'_>) -> Result<Vec<Stream>> {
        let version = settings.options.text("qnx-version").map(qnx_version).transpose()?;
        let jobs = jobs(settings.options.list("jobs"))?;
        let open = |mut input: Input| {
            let head = input.source.head()?;
            let is_listing = listing::probe(head);
            if !is_listing && !probe(head) {
                return Err(Error::input("this is no kernel trace of QNX")
                    .at(&input.path)
                    .hint("a .kev file begins with 'TRACE_HEADER_BEGIN::'; --format auto tells by content"));
            }
            if !is_listing && input.source.transcoded().is_some() {
                return Err(Error::usage("a .kev file is no text, which --encoding is for").at(&input.path));
            }
            let events = match is_listing {
                true => Events::Listing(Listed::new(&input.name, version)),
                false => Events::Records(Decoder::new(&input.name, version)),
            };
            let reader = KernelTraceReader {
                name: input.name.clone(),
                path: input.path.clone(),
                events,
                spread: Spread::new(settings.scale, !is_listing),
                options: settings.options.clone(),
                jobs: jobs.clone(),
            };
            Ok(Stream { input, reader: Box::new(reader) })
        };
        inputs.into_iter().map(open).collect()
    }
}

fn qnx_version(text: &str) -> Result<Version> {
    Version::of_release(text).ok_or_else(|| {
        let known = Version::ALL.map(Version::as_str).join(", ");
        Error::usage(format!("--qnx-version '{text}' is no release of Neutrino that btfdb knows"))
            .hint(format!("it knows {known}"))
    })
}

/// States by their names, with or without STATE_.
fn jobs(names: &[String]) -> Result<Vec<String>> {
    let known = || Version::ALL.into_iter().flat_map(|v| event_names(v, Class::Thread)).map(|(_, name)| name);
    let one = |name: &String| {
        let upper = name.trim().to_ascii_uppercase();
        let state = upper.strip_prefix("STATE_").unwrap_or(&upper).to_owned();
        let running = ["RUNNING", "READY", "CREATE", "DESTROY", "DEAD"];
        if known().any(|k| k == state) && !running.contains(&state.as_str()) {
            return Ok(state);
        }
        let error = Error::usage(format!("--jobs '{name}' is no state in which a thread blocks"));
        let near = did_you_mean(&state, known()).map(|k| format!("did you mean '{k}'?"));
        Err(error
            .hint(near.unwrap_or_else(|| "e.g. RECEIVE, NANOSLEEP, SEM, MUTEX, CONDVAR, INTR".to_owned())))
    };
    names.iter().map(one).collect()
}

enum Events {
    Records(Decoder),
    Listing(Listed),
}

struct KernelTraceReader {
    name: String,
    path: PathBuf,
    events: Events,
    spread: Spread,
    options: OptionValues,
    jobs: Vec<String>,
}

impl Reader for KernelTraceReader {
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()> {
        let batch = self.events.chunk(&chunk.bytes).map_err(|e| e.at(&self.path))?;
        self.spread.take(batch, self.events.preamble(), out)
    }

    fn finish(mut self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        let batch = self.events.finish().map_err(|e| e.at(&self.path))?;
        self.spread.take(batch, self.events.preamble(), out)?;
        self.spread.finish(out)?;
        let Some(preamble) = self.events.preamble().cloned() else {
            return Err(Error::new(ErrorKind::Bug, "a trace without a header was read"));
        };
        for buffer in &self.spread.lost {
            let message = format!("{} buffers are missing before number {}", buffer.lost, buffer.number);
            let place = self.events.place_of(buffer.record);
            out.find(Some(place), Severity::Warning, "lost-buffers", message);
        }
        out.cut_times(self.spread.cut_times, self.spread.scale, &self.path)?;
        out.rows(Rows::new(tables::KERNEL_ATTRIBUTE, rows::attributes(&self.name, &preamble)?))?;
        let setup = Setup { mapper: OS, settings: self.settings(&preamble) };
        let attribute = |key: &str| preamble.header.attribute(key);
        let header = Header {
            os: Some(OS.to_owned()),
            creator: attribute("TRACE_SYS_RELEASE").map(|release| format!("QNX {release}")),
            created: attribute("TRACE_DATE").map(str::to_owned),
            tick: None,
        };
        let counts_records = matches!(self.events, Events::Records(_));
        let source_format = self.events.account(out);
        let backwards = out.log.count_of("time-jump");
        Ok(Ending {
            source_format,
            counts_records,
            header,
            setup: Some(setup),
            end: None,
            backwards,
            describes: false,
        })
    }
}

impl KernelTraceReader {
    /// The settings of the mapper, see `map::qnx::Settings`.
    fn settings(&self, preamble: &Preamble) -> Value {
        json!({
            "flavour": preamble.flavour,
            "cpus": preamble.header.cpus.unwrap_or(1),
            "jobs": self.jobs,
            "irq": if self.options.has("overlay-irqs") { "overlay" } else { "preempt" },
            "idle": self.options.has("idle"),
        })
    }
}

impl Events {
    fn chunk(&mut self, bytes: &[u8]) -> Result<Batch> {
        match self {
            Self::Records(decoder) => decoder.chunk(bytes),
            Self::Listing(listed) => listed.chunk(bytes),
        }
    }

    fn finish(&mut self) -> Result<Batch> {
        match self {
            Self::Records(decoder) => decoder.finish(),
            Self::Listing(listed) => listed.finish(),
        }
    }

    fn preamble(&self) -> Option<&Preamble> {
        match self {
            Self::Records(decoder) => decoder.preamble(),
            Self::Listing(listed) => listed.preamble(),
        }
    }

    fn place_of(&self, record: u64) -> u64 {
        match self {
            Self::Records(decoder) => decoder.offset_of(record),
            Self::Listing(_) => record,
        }
    }

    /// Adds the counts of all records or lines; returns `source.format`.
    fn account(self, out: &mut Output<'_>) -> &'static str {
        match self {
            Self::Records(decoder) => {
                let counts = out.counts;
                let tail = u64::from(decoder.has_tail());
                let (lines, rejected) = (counts.lines + tail, tail);
                let skipped = lines - counts.rows - rejected;
                out.counts = Counts { lines, rejected, skipped, ..counts };
                "qnx-kev"
            }
            Self::Listing(listed) => {
                let (counts, found) = listed.into_parts();
                out.log.merge(found);
                out.counts = counts;
                "qnx-traceprinter"
            }
        }
    }
}
