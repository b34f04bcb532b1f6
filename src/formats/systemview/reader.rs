//! The packets of a file, chunk by chunk, each core behind the other, and what becomes of bytes that are
//! none. Not what a packet means (see `rows`).

use super::description::Descriptions;
use super::header::{Header, SYNC};
use super::known::INIT;
use super::packet::{Cursor, NoPacket, Packet, packets};
use super::rows::{CoreRows, Found, is_filling};
use crate::diagnostics::Severity;
use crate::error::{Error, Result};
use crate::formats::{Ending, Header as About, Output, Reader, Rows, Setup};
use crate::input::Chunk;
use crate::schema::tables;
use crate::time::TimeScale;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// `source.format`.
const FORMAT: &str = "systemview";
/// The option for recordings that do not tell how fast their clock is.
pub(super) const CLOCK: &str = "systemview-clock";

/// A file, and what is known of it before it is read.
#[derive(Debug, Clone)]
pub struct File {
    /// Its path, for messages.
    pub path: PathBuf,
    /// Its name, without folders.
    pub name: String,
    /// The recording has no other one.
    pub is_alone: bool,
    /// The number of its first CPU.
    pub first_cpu: usize,
    /// Ticks per second of its clock, if the user says so.
    pub frequency: Option<u32>,
    /// Ticks to add to all times.
    pub time_offset: i64,
    /// The tick of the database.
    pub scale: TimeScale,
    /// What its events are called.
    pub descriptions: Descriptions,
    /// How the recording is mapped.
    pub setup: Setup,
}

/// Reads the packets of one file.
pub struct PacketReader {
    file: File,
    header: Header,
    /// The streams by name: one per core.
    streams: Vec<Arc<str>>,
    /// Ticks per second of the clock, until it is told.
    frequency: u32,
    /// The core whose packets come next: an index into the streams.
    core: usize,
    rows: CoreRows,
    /// Bytes of the header that are still to come.
    header_left: usize,
    /// Bytes that the next ones continue.
    carried: Vec<u8>,
    /// Where these are in the file, or the next ones.
    at: u64,
    /// Bytes without packets are being passed over.
    is_lost: bool,
    /// The packets of this core have begun.
    has_begun: bool,
    /// Of the cores that have ended.
    found: Vec<Found>,
}

/// What is at the begin of some bytes.
enum Next<'a> {
    Packet(Packet<'a>, usize),
    /// Bytes that are no event, and their number.
    Filling(usize),
    /// Bytes that nothing is known of.
    Lost(usize),
    /// More bytes are needed.
    More,
    Bad(&'static str),
}

impl PacketReader {
    /// Opens a file that begins with `head`.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Input`] for a file of another format, cores in another order, and a clock
    /// that nothing is known of.
    pub fn open(file: File, head: &[u8]) -> Result<Self> {
        let header = Header::read(head).ok_or_else(|| {
            Error::input("this is no recording of SystemView")
                .at(&file.path)
                .hint("it begins with lines that begin with ';', one of which has the version of SystemView")
        })?;
        if !header.cores.is_sorted_by_key(|(_, offset)| *offset) {
            return Err(Error::input("the packets of a core do not lie behind those of the one before")
                .at(&file.path)
                .hint(
                    "the header has a line '; Offset CORE BYTES' for each core, in the order of the file",
                ));
        }
        let stated = packets(head.get(header.length..).unwrap_or_default())
            .find(|packet| packet.id == INIT)
            .and_then(|packet| Cursor(packet.parameters).number().ok());
        let frequency = file.frequency.or(stated.filter(|hertz| *hertz > 0)).ok_or_else(|| {
            Error::input("nothing tells how fast the clock of the recording is")
                .at(&file.path)
                .hint(format!("it does not begin with INIT: say it, e.g. --{CLOCK} 40000000"))
        })?;
        let of_core = |core: &str| match file.is_alone {
            true => core.to_owned(),
            false => format!("{} {core}", file.name),
        };
        let names = match header.cores.as_slice() {
            [] => vec![file.name.clone()],
            cores => cores.iter().map(|(core, _)| of_core(core)).collect(),
        };
        Ok(Self {
            rows: CoreRows::new(file.first_cpu, frequency, file.time_offset, file.scale),
            header_left: header.length,
            at: header.length as u64,
            streams: names.into_iter().map(Arc::from).collect(),
            file,
            header,
            frequency,
            core: 0,
            carried: Vec::new(),
            is_lost: false,
            has_begun: false,
            found: Vec::new(),
        })
    }

    /// How many CPUs the file has.
    pub fn cpus(&self) -> usize {
        self.streams.len()
    }

    /// Reads a piece of the file; `is_last`: nothing follows it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn piece(&mut self, piece: &[u8], is_last: bool, out: &mut Output<'_>) -> Result<()> {
        let of_header = self.header_left.min(piece.len());
        self.header_left -= of_header;
        let bytes = piece.get(of_header..).unwrap_or_default();
        if self.carried.is_empty() {
            return self.bytes(bytes, is_last, out);
        }
        let mut all = std::mem::take(&mut self.carried);
        all.extend_from_slice(bytes);
        self.bytes(&all, is_last, out)
    }

    /// Reads bytes that follow the ones before. `is_last`: nothing follows them.
    fn bytes(&mut self, mut bytes: &[u8], is_last: bool, out: &mut Output<'_>) -> Result<()> {
        loop {
            let to_end = self.header.end_of(self.core).map(|end| end.saturating_sub(self.at));
            let of_core = to_end.map_or(bytes.len() as u64, |to_end| to_end.min(bytes.len() as u64)) as usize;
            let is_whole = is_last || to_end.is_some_and(|to_end| to_end <= bytes.len() as u64);
            let own = bytes.get(..of_core).unwrap_or_default();
            if own.is_empty() {
                if !is_whole {
                    return Ok(());
                }
                self.end_core(out)?;
                if self.core + 1 >= self.streams.len() {
                    return Ok(());
                }
                self.begin_core();
                continue;
            }
            let length = match self.next(own, is_whole) {
                Next::Packet(packet, length) => {
                    out.counts.lines += 1;
                    out.counts.rows += 1;
                    self.rows.push(&packet, &mut self.file.descriptions);
                    if let Some(batch) = self.rows.full()? {
                        self.write(batch, out)?;
                    }
                    length
                }
                Next::Filling(length) => {
                    out.counts.lines += 1;
                    out.counts.skipped += 1;
                    length
                }
                Next::Lost(length) => length,
                Next::More => {
                    self.carried = bytes.to_vec();
                    return Ok(());
                }
                Next::Bad(why) => {
                    out.counts.lines += 1;
                    out.counts.rejected += 1;
                    let message = format!(
                        "no packet: {why}; what follows is passed over until the next 10 bytes of 0, where packets begin again"
                    );
                    out.find(Some(self.at), Severity::Error, "bad-packet", message);
                    self.rows.passed_over();
                    self.is_lost = true;
                    0
                }
            };
            bytes = bytes.get(length..).unwrap_or_default();
            self.at += length as u64;
        }
    }

    /// `own`: the bytes of this core that are there; `is_whole`: up to its last one.
    fn next<'b>(&mut self, own: &'b [u8], is_whole: bool) -> Next<'b> {
        let may_be_sync = own.len() >= SYNC.len() || is_whole;
        if self.is_lost {
            let sync = memchr::memmem::find(own, &SYNC);
            self.is_lost = sync.is_none();
            self.has_begun &= self.is_lost;
            return match sync {
                Some(0) => self.next(own, is_whole),
                Some(at) => Next::Lost(at),
                None if is_whole => Next::Lost(own.len()),
                // They may be a part of it.
                None => match own.len().saturating_sub(SYNC.len() - 1) {
                    0 => Next::More,
                    length => Next::Lost(length),
                },
            };
        }
        if !self.has_begun {
            if !may_be_sync {
                return Next::More;
            }
            self.has_begun = true;
            if own.starts_with(&SYNC) {
                return Next::Filling(SYNC.len());
            }
        }
        match Packet::first(own) {
            Ok((packet, length)) if is_filling(&packet) => Next::Filling(length),
            Ok((packet, length)) => Next::Packet(packet, length),
            Err(NoPacket::Bad(why)) => Next::Bad(why),
            Err(NoPacket::Incomplete) if is_whole => {
                Next::Bad("the file, or the part of a core, ends inside of it")
            }
            Err(NoPacket::Incomplete) => Next::More,
        }
    }

    fn write(&self, batch: arrow::array::RecordBatch, out: &mut Output<'_>) -> Result<()> {
        match self.streams.get(self.core) {
            Some(stream) if batch.num_rows() > 0 => {
                out.rows(Rows::new(tables::TRACE_EVENT, batch).of_core(stream))
            }
            _ => Ok(()),
        }
    }

    fn end_core(&mut self, out: &mut Output<'_>) -> Result<()> {
        let rest = self.rows.rest()?;
        self.write(rest, out)?;
        self.found.push(self.rows.take_found());
        Ok(())
    }

    fn begin_core(&mut self) {
        self.core += 1;
        (self.is_lost, self.has_begun) = (false, false);
        let file = &self.file;
        self.rows = CoreRows::new(file.first_cpu + self.core, self.frequency, file.time_offset, file.scale);
    }

    /// What the packets say in sum.
    fn note_found(&self, out: &mut Output<'_>) {
        let sums = |of: fn(&Found) -> u64| self.found.iter().map(of).sum::<u64>();
        let restarts = sums(|found| found.restarts);
        if restarts > 0 {
            let message = format!(
                "the recording was begun again {restarts} times: how long it was stopped is not known, and taken as no time"
            );
            out.find(None, Severity::Warning, "restarted", message);
        }
        for name in &self.header.repeated {
            let message = format!(
                "the header names more than one core '{name}': all but the first have a number behind it"
            );
            out.find(None, Severity::Warning, "repeated-core", message);
        }
        let (mut undescribed, mut short) = (BTreeMap::new(), BTreeMap::new());
        for found in &self.found {
            found.undescribed.iter().for_each(|(id, count)| *undescribed.entry(id).or_insert(0) += count);
            found.short.iter().for_each(|(name, count)| *short.entry(name).or_insert(0) += count);
        }
        let os = self.found.iter().find_map(|found| found.os.as_deref()).unwrap_or("OS");
        for (id, count) in undescribed {
            let message = format!(
                "{count} events have number {id}, which nothing describes; their parameters are kept as bytes: is a \
                 SYSVIEW_{os}.txt next to the file?"
            );
            out.find(None, Severity::Warning, "undescribed-event", message);
        }
        let others = sums(|found| found.others);
        if others > 0 {
            let message = format!("{others} events have yet other numbers that nothing describes");
            // A code of its own: of the one above, so many are not kept.
            out.find(None, Severity::Warning, "undescribed-events", message);
        }
        for (name, count) in short {
            let message = format!("{count} events '{name}' have fewer parameters than their description");
            out.find(None, Severity::Warning, "missing-parameter", message);
        }
    }
}

impl Reader for PacketReader {
    fn chunk(&mut self, chunk: &Chunk, out: &mut Output<'_>) -> Result<()> {
        self.piece(&chunk.bytes, chunk.last, out)
    }

    fn finish(self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        if out.counts.rows == 0 {
            return Err(Error::input("no packet of SystemView is in the file")
                .at(&self.file.path)
                .hint("packets follow a header of lines that begin with ';', and 10 bytes of 0"));
        }
        let has_events = |n: usize| self.found.get(n).is_some_and(|found| found.events > 0);
        for (_, stream) in self.streams.iter().enumerate().filter(|(n, _)| !has_events(*n)) {
            let message = format!("the header names '{stream}', whose packets are not in the file");
            out.find(None, Severity::Warning, "missing-core", message);
        }
        let cut = self.found.iter().map(|found| found.cut_times).sum();
        out.cut_times(cut, self.file.scale, &self.file.path)?;
        self.note_found(out);
        out.gaps.extend(self.found.iter().flat_map(|found| found.gaps.iter().cloned()));
        let os = self.found.iter().find_map(|found| found.os.clone());
        let header = About {
            os: Some(os.unwrap_or_else(|| FORMAT.to_owned())),
            creator: self.header.creator.clone(),
            ..About::default()
        };
        let setup = Some(self.file.setup.clone());
        Ok(Ending { source_format: FORMAT, counts_records: true, header, setup, ..Ending::default() })
    }
}

/// The lines of a description next to the recording, which were read before.
pub(super) struct DescriptionReader {
    pub lines: u64,
    /// The lines that were not understood, from 1.
    pub misread: Vec<u64>,
}

impl Reader for DescriptionReader {
    fn chunk(&mut self, _chunk: &Chunk, _out: &mut Output<'_>) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, out: &mut Output<'_>) -> Result<Ending> {
        let rejected = self.misread.len() as u64;
        (out.counts.lines, out.counts.rejected) = (self.lines, rejected);
        out.counts.skipped = self.lines - rejected;
        for line in self.misread {
            let message = "no event: a number, a name, and parameters as in 'size=%u' were expected";
            out.find(Some(line), Severity::Warning, "bad-description", message);
        }
        Ok(Ending { source_format: "systemview-description", describes: true, ..Ending::default() })
    }
}
