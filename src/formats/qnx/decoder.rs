//! The stream of a `.kev` file: bytes in pieces of any length in, batches of events out, in one pass. Not
//! what the events mean, nor where the bytes come from.
//!
//! Records stay in the order of the file; a combine event is placed at its last part, as in traceprinter.

use super::batch::Batch;
use super::buffers::BUFFER;
use super::combine::{Combiner, Key, Open, PATIENCE};
use super::header::{Header, Syspage, header_length};
use super::timeline::Timeline;
use crate::diagnostics::Severity;
use crate::error::{Error, Result};
use crate::qnx::{Class, Event, Flavour, Status, Version};

/// Length of a record.
const RECORD: usize = 16;
/// Code of CONTROL/BUFFER_END (8.0).
const BUFFER_END: u16 = 4;

/// The metadata after the header.
#[derive(Debug, Clone)]
pub struct Preamble {
    pub header: Header,
    pub syspage: Syspage,
    /// How to interpret the words.
    pub flavour: Flavour,
    /// Ticks of the clocks per second.
    pub cycles_per_sec: u64,
}

/// The part of the file that the stream is in.
#[derive(Debug)]
enum Stage {
    Header,
    Syspage(Header),
    Records,
}

/// See the module.
#[derive(Debug)]
pub struct Decoder {
    forced: Option<Version>,
    stage: Stage,
    /// Bytes of an incomplete header, syspage or record.
    rest: Vec<u8>,
    preamble: Option<Preamble>,
    combiner: Combiner,
    times: Timeline,
    /// Number of the next record.
    record: u64,
    /// Number of buffers so far.
    buffer: u64,
    /// 8.0: the CPU of the current buffer; `None` before its first one.
    owner: Option<u8>,
}

impl Decoder {
    /// `source` is the path given by the user; `version` overrides the header.
    pub fn new(source: &str, version: Option<Version>) -> Self {
        Self {
            forced: version,
            stage: Stage::Header,
            rest: Vec::new(),
            preamble: None,
            combiner: Combiner::default(),
            times: Timeline::new(source, 0, RECORD as u64),
            record: 0,
            buffer: 0,
            owner: None,
        }
    }

    /// The metadata, once the header is complete.
    pub fn preamble(&self) -> Option<&Preamble> {
        self.preamble.as_ref()
    }

    /// Reads the next bytes of the file. Fails when its header says that it cannot be read.
    pub fn chunk(&mut self, bytes: &[u8]) -> Result<Batch> {
        let mut bytes = bytes;
        let whole;
        if !self.rest.is_empty() || !matches!(self.stage, Stage::Records) {
            // Headers and syspages are small, and records even smaller: at most a chunk is copied here.
            if matches!(self.stage, Stage::Records) {
                let missing = (RECORD - self.rest.len()).min(bytes.len());
                let (head, tail) = bytes.split_at(missing);
                self.rest.extend_from_slice(head);
                bytes = tail;
                if self.rest.len() == RECORD {
                    let first = std::mem::take(&mut self.rest);
                    self.records(&first);
                }
            } else {
                self.rest.extend_from_slice(bytes);
                whole = std::mem::take(&mut self.rest);
                bytes = self.begin(&whole)?;
            }
        }
        if matches!(self.stage, Stage::Records) {
            let used = bytes.len() - bytes.len() % RECORD;
            let (all, rest) = bytes.split_at(used);
            self.times.out.reserve(used / RECORD);
            self.records(all);
            self.rest.extend_from_slice(rest);
        } else {
            self.rest = bytes.to_vec();
        }
        Ok(std::mem::take(&mut self.times.out))
    }

    /// Ends the file: returns open events, and reports a partial record. Fails when there is no header.
    pub fn finish(&mut self) -> Result<Batch> {
        match &self.stage {
            Stage::Records => {}
            Stage::Header => {
                let message = format!("the file ends after {} bytes, inside its header", self.rest.len());
                return Err(Error::input(message).hint("was the trace copied to its end?"));
            }
            Stage::Syspage(header) => {
                self.know(header.clone(), Syspage::default());
                let message = format!(
                    "the file ends inside the syspage, after {} bytes of it: there is no event",
                    self.rest.len()
                );
                self.times.find(None, Severity::Error, "truncated", message);
            }
        }
        if matches!(self.stage, Stage::Records) && !self.rest.is_empty() {
            let message =
                format!("the file ends inside a record: its last {} bytes are left out", self.rest.len());
            self.times.find(Some(self.record), Severity::Warning, "truncated", message);
        }
        let open: Vec<Open> = self.combiner.rest().collect();
        for event in open {
            self.lost_part(&event);
            self.times.deliver(event.entry, &event.words);
        }
        self.times.finish();
        Ok(std::mem::take(&mut self.times.out))
    }

    /// The offset of a record in the file, in bytes.
    pub fn offset_of(&self, record: u64) -> u64 {
        self.times.begin + self.times.step * record
    }

    /// True if there is a partial record at the end.
    pub fn has_tail(&self) -> bool {
        matches!(self.stage, Stage::Records) && !self.rest.is_empty()
    }

    /// Reads header and syspage once they are complete; returns the remaining bytes.
    fn begin<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8]> {
        let mut bytes = bytes;
        if matches!(self.stage, Stage::Header) {
            let Some(length) = header_length(bytes)? else { return Ok(bytes) };
            let (header, rest) = bytes.split_at(length);
            self.stage = Stage::Syspage(Header::parse(header)?);
            self.times.begin = length as u64;
            bytes = rest;
        }
        if let Stage::Syspage(header) = &self.stage
            && bytes.len() >= header.syspage_len
        {
            let (page, rest) = bytes.split_at(header.syspage_len);
            let syspage = Syspage::parse(page, header.big_endian);
            let header = header.clone();
            self.times.begin += header.syspage_len as u64;
            self.know(header, syspage);
            self.stage = Stage::Records;
            bytes = rest;
        }
        Ok(bytes)
    }

    fn know(&mut self, header: Header, syspage: Syspage) {
        let version = self.forced.or(header.version).unwrap_or_else(|| {
            let message = match header.attribute("TRACE_SYS_RELEASE") {
                Some(said) => {
                    format!("the release '{said}' is not known; the trace is read as {}", Version::default())
                }
                None => format!(
                    "the header has no TRACE_SYS_RELEASE; the trace is read as {}",
                    Version::default()
                ),
            };
            self.times.find(None, Severity::Warning, "unknown-release", message);
            Version::default()
        });
        let cycles_per_sec = match (header.cycles_per_sec, syspage.cycles_per_sec) {
            (0, Some(rate)) => rate,
            (0, None) => {
                let message =
                    "neither header nor syspage says how fast the clock is; a tick is taken for a nanosecond";
                self.times.find(None, Severity::Error, "no-clock-rate", message.to_owned());
                1_000_000_000
            }
            (rate, _) => rate,
        };
        if syspage.clock_global == Some(false) && header.cpus.is_some_and(|n| n > 1) {
            let message = "the clocks of the CPUs are not synchronised: the order of events on different CPUs is uncertain";
            self.times.find(None, Severity::Warning, "clocks-apart", message.to_owned());
        }
        let flavour = Flavour { version, big_endian: header.big_endian };
        self.preamble = Some(Preamble { header, syspage, flavour, cycles_per_sec });
    }

    fn records(&mut self, bytes: &[u8]) {
        let Some(Preamble { flavour, .. }) = self.preamble else { return };
        for record in bytes.as_chunks::<RECORD>().0 {
            let [header, low, w0, w1] = words(record, flavour.big_endian);
            self.record(header, low, [w0, w1], flavour.version);
            self.record += 1;
        }
        self.times.out.records += (bytes.len() / RECORD) as u64;
    }

    #[inline]
    fn record(&mut self, header: u32, low: u32, words: [u32; 2], version: Version) {
        let code = header as u16 & 0x7fff;
        let mut cpu = (header >> 24) as u8 & 0x3f;
        let (class, event, is64) = Class::of_header(code, version);
        if version >= Version::V8_0 {
            cpu = self.owned(cpu, class, event);
        }
        let (flags, record, part) = ((header >> 16) as u8, self.record, header >> 30);
        let event =
            Event { record, cpu, flags, class, event, is64, status: Status::Ok, cycles: 0, words: &[] };
        // Stamped when it is written, unless the first part of the event was before.
        let may_be_late = part > 1;
        let entry = self.times.place(&event, low, may_be_late, (part == 0).then_some(words));
        if part == 0 {
            if class == Class::Control && event.event == BUFFER {
                self.buffer += 1;
                // Since 8.0, the buffers of all CPUs may be between two of one.
                let patience = if version >= Version::V8_0 { PATIENCE * 64 } else { PATIENCE };
                while let Some(open) = self.combiner.overdue(self.buffer, patience) {
                    self.lost_part(&open);
                    self.times.deliver(open.entry, &open.words);
                }
            }
            self.times.deliver(entry, &words);
            return;
        }
        let key = Key(u64::from(cpu) << 48 | u64::from(code) << 32 | u64::from(low));
        let done = match part {
            1 => self.combiner.begin(key, entry, words, self.buffer),
            2 => self.combiner.more(key, entry, words),
            _ => Some(self.combiner.end(key, entry, words)),
        };
        if let Some(open) = done {
            self.lost_part(&open);
            self.times.deliver(open.entry, &open.words);
            self.combiner.recycle(open.words);
        }
    }

    /// In 8.0 a buffer has one CPU's records, and some are tagged with a wrong CPU.
    fn owned(&mut self, cpu: u8, class: Class, event: u16) -> u8 {
        let owner = *self.owner.get_or_insert(cpu);
        if class == Class::Control && event == BUFFER_END {
            self.owner = None;
        }
        if owner != cpu {
            let message = format!(
                "a record in a buffer of CPU {owner} says CPU {cpu}; it is taken for one of CPU {owner}"
            );
            self.times.find(Some(self.record), Severity::Info, "wrong-cpu", message);
        }
        owner
    }

    fn lost_part(&mut self, open: &Open) {
        let (code, what) = match open.entry.status {
            Status::Ok | Status::Unread => return,
            Status::Orphan => ("orphan", "the first part of an event is missing"),
            Status::Unterminated => ("unterminated", "the last part of an event is missing"),
        };
        let message = format!(
            "{what} ({} event {} on CPU {})",
            open.entry.class.as_str(),
            open.entry.event,
            open.entry.cpu
        );
        self.times.find(Some(open.entry.record), Severity::Warning, code, message);
    }
}

#[inline]
fn words(record: &[u8; RECORD], big_endian: bool) -> [u32; 4] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *record;
    let turn = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
    [turn([a, b, c, d]), turn([e, f, g, h]), turn([i, j, k, l]), turn([m, n, o, p])]
}
