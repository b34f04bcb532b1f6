//! One stream of a trace, read by its metadata: rows, gaps, and what was found. Not which files there are
//! (see `format`), nor packets (see `packets`).

use super::metadata;
use super::model::{Clock, StreamClass, Trace, Type};
use super::packets::{Layout, PacketReader};
use super::program::link;
use super::rows::{Found, StreamRows};
use crate::diagnostics::Severity;
use crate::error::{Error, Result};
use crate::formats::{Ending, Header, Output, Reader, Rows, Setup};
use crate::input::Chunk;
use crate::schema::tables;
use crate::time::TimeScale;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the format, and `source.format` of a stream.
pub(super) const CTF: &str = "ctf";

/// What the metadata of a trace declare, and how its streams are read.
#[derive(Debug, Clone)]
pub struct Metadata {
    trace: Arc<Trace>,
    layout: Arc<Layout>,
    /// The clocks of the streams, by number.
    clocks: BTreeMap<u64, Clock>,
}

impl Metadata {
    /// Reads metadata: TSDL as text or in packets, or JSON.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Input`], with the line where there is one.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let trace = metadata::parse(bytes)?;
        let none = [StreamClass::default()];
        let streams = if trace.streams.is_empty() { &none[..] } else { &trace.streams };
        let (packet_header, programs) = link(trace.packet_header.as_ref(), streams)?;
        let slots = programs.values().map(|program| program.slots).max().unwrap_or(0);
        let layout = Layout { packet_header, streams: programs, slots };
        let clocks = clocks(&trace, streams);
        Ok(Self { trace: Arc::new(trace), layout: Arc::new(layout), clocks })
    }

    /// Whether an event of that name can be in the trace.
    pub fn declares(&self, event: &str) -> bool {
        self.trace.streams.iter().flat_map(|stream| &stream.events).any(|known| known.name == event)
    }
}

/// The clock of each stream, by number. One that names none has that of the first stream that does.
fn clocks(trace: &Trace, streams: &[StreamClass]) -> BTreeMap<u64, Clock> {
    let named = |stream: &StreamClass| {
        let of_fields =
            || [&stream.event_header, &stream.packet_context].into_iter().flatten().find_map(mapped);
        let name = stream.clock.clone().or_else(of_fields)?;
        trace.clocks.iter().find(|clock| clock.name == name)
    };
    let common = streams.iter().find_map(named).or(trace.clocks.first());
    let of_stream = |stream| named(stream).or(common).cloned().unwrap_or_else(Clock::nanoseconds);
    streams.iter().map(|stream| (stream.id, of_stream(stream))).collect()
}

/// The name of the clock whose value a field of a type is.
fn mapped(ty: &Type) -> Option<String> {
    match ty {
        Type::Int(int) => int.clock.as_deref().map(str::to_owned),
        Type::Struct(of) => of.fields.iter().find_map(|(_, ty)| mapped(ty)),
        Type::Variant(of) => of.options.iter().find_map(|choice| mapped(&choice.ty)),
        _ => None,
    }
}

/// Reads one stream.
pub struct StreamReader {
    path: PathBuf,
    /// Its name.
    stream: Arc<str>,
    trace: Arc<Trace>,
    packets: PacketReader,
    rows: StreamRows,
    scale: TimeScale,
    setup: Option<Setup>,
}

impl StreamReader {
    /// For a stream of that name; `time_offset` is added to its times, in ticks of the database.
    /// `setup`: how its events are mapped.
    pub fn new(
        metadata: &Metadata,
        path: &Path,
        name: &str,
        scale: TimeScale,
        time_offset: i64,
        setup: Option<Setup>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            stream: Arc::from(name),
            trace: Arc::clone(&metadata.trace),
            packets: PacketReader::new(Arc::clone(&metadata.layout)),
            rows: StreamRows::new(metadata.clocks.clone(), scale, time_offset),
            scale,
            setup,
        }
    }

    /// Reads a piece of the stream; `is_last`: nothing follows it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn piece(&mut self, piece: &[u8], is_last: bool, out: &mut Output<'_>) -> Result<()> {
        self.packets.piece(piece, is_last, &mut self.rows)?;
        self.write(false, out)
    }

    fn write(&mut self, is_last: bool, out: &mut Output<'_>) -> Result<()> {
        let mut batches = std::mem::take(&mut self.rows.full);
        if is_last {
            batches.push(self.rows.rest()?);
        }
        for batch in batches.into_iter().filter(|batch| batch.num_rows() > 0) {
            out.rows(Rows::new(tables::TRACE_EVENT, batch).of_core(&self.stream))?;
        }
        out.counts.rows = self.rows.count();
        out.counts.rejected = self.rows.found.bad_count;
        out.counts.lines = out.counts.rows + out.counts.rejected;
        Ok(())
    }
}

impl Reader for StreamReader {
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()> {
        self.piece(&chunk.bytes, chunk.last, out)
    }

    fn finish(mut self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        self.write(true, out)?;
        let Found { gaps, discarded_events, discarded_packets, bad, bad_count, cut_times } =
            std::mem::take(&mut self.rows.found);
        if out.counts.rows == 0 && bad_count > 0 {
            let (at, why) = bad.into_iter().next().unwrap_or_default();
            return Err(
                Error::input(format!("no event of the stream can be read: {why} (byte {at})")).at(&self.path)
            );
        }
        for (at, why) in bad {
            out.find(
                Some(at),
                Severity::Error,
                "bad-packet",
                format!("{why}; the rest of the packet, or of the stream, is lost"),
            );
        }
        if discarded_events > 0 {
            let message = format!("the tracer discarded {discarded_events} events");
            out.find(None, Severity::Warning, "discarded-events", message);
        }
        if discarded_packets > 0 {
            let message = format!("the tracer discarded {discarded_packets} packets");
            out.find(None, Severity::Warning, "discarded-packets", message);
        }
        if self.trace.clocks.is_empty() {
            out.find(
                None,
                Severity::Info,
                "no-clock",
                "the metadata declare no clock: times are taken as nanoseconds",
            );
        }
        out.cut_times(cut_times, self.scale, &self.path)?;
        out.gaps.extend(gaps);
        let fact = |name: &str| {
            self.trace.environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        };
        let tracer = fact("tracer_name").map(|name| match fact("tracer_major").zip(fact("tracer_minor")) {
            Some((major, minor)) => format!("{name} {major}.{minor}"),
            None => name,
        });
        let os = fact("sysname").or_else(|| fact("domain")).unwrap_or_else(|| CTF.to_owned());
        let header =
            Header { os: Some(os), creator: tracer, created: fact("trace_creation_datetime"), tick: None };
        let setup = self.setup;
        Ok(Ending { source_format: CTF, counts_records: true, header, setup, ..Ending::default() })
    }
}
