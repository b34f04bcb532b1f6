//! The instrumented kernel's side of a trace: stamps, TIME records, buffers, events whose parts are
//! interleaved with others. Not the content of events (see `machine`).
//!
//! Up to 7.x all CPUs share a chain of buffers; since 8.0 a buffer has one CPU. Sources: kernel 6.4
//! (`nano_trace`) for stamps, TIME and BUFFER; published readers of 8.0 files for the order BUFFER_END, TIME,
//! BUFFER. That 8.0 numbers its buffers as they are written is an assumption.

use std::io::{self, Write};

use super::random::Random;
use super::{ByteOrder, Code, KevWriter, Parts, Record, Release, Target};

/// An event that a reader should return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedEvent {
    /// Number of its first record in the file, from 0.
    pub record: u64,
    /// All 64 bits of the clock.
    pub cycles: u64,
    /// The CPU that emitted it, even if the record names another.
    pub cpu: u8,
    /// Flags of the header.
    pub flags: u8,
    /// The traceprinter word of the class.
    pub class: &'static str,
    /// Number of the event within its class.
    pub event: u16,
    /// Layout with 64-bit addresses.
    pub is64: bool,
    /// `ok`, `orphan` (a later part without its first one in the file; each is an event) or `unterminated`
    /// (the parts up to the first missing one).
    pub status: &'static str,
    /// The words of all parts.
    pub words: Vec<u32>,
}

impl ExpectedEvent {
    /// A complete event, with the right CPU in its record.
    pub fn new(record: u64, cycles: u64, cpu: u8, code: Code, words: &[u32]) -> Self {
        let words = words.to_vec();
        let Code { class, event, is64, .. } = code;
        Self { record, cycles, cpu, flags: 0, class, event, is64, status: Self::OK, words }
    }

    /// Status of a complete event.
    pub const OK: &'static str = "ok";
    /// Status of a part without its first one.
    pub const ORPHAN: &'static str = "orphan";
    /// Status of an event without its end.
    pub const UNTERMINATED: &'static str = "unterminated";
}

/// Buffers that never reached the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostBuffer {
    /// Sequence number of the last buffer before the gap.
    pub after: u32,
    /// How many are missing.
    pub count: u32,
    /// Number of the first record after the gap.
    pub record: u64,
}

/// The content of a file.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// Its events by the numbers of their first records, if they were stored.
    pub events: Vec<ExpectedEvent>,
    /// The gaps between its buffers; a gap at the end is in no file.
    pub lost_buffers: Vec<LostBuffer>,
    /// Records with the number of another CPU.
    pub wrong_cpus: u64,
}

/// Faults of a trace, and how often they occur. None by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// No TIME records, as when the class CONTROL is filtered out.
    pub no_time: bool,
    /// One in this many buffers is lost; 0 for none.
    pub lost_buffer: u32,
    /// One in this many records has the number of another CPU (8.0); 0 for none.
    pub wrong_cpu: u32,
    /// One in this many events of several parts has other records between them; 0 for none.
    pub interlace: u32,
}

/// Events of a buffer (`num_events` in published listings): 70 % of its 1014 places, then it is written.
const HIGH_WATER: usize = 714;
/// Cycles after which the rest of an event is written in any case.
const MAX_HOLD: u64 = 20_000;
/// What 8.0 writes into the words of BUFFER_END.
const END_WORD: u32 = 0xe6e6_e6e6;

#[derive(Debug, Default)]
struct Buffer {
    lost: bool,
    /// The position of the record BUFFER, and its event.
    opening: (usize, Option<usize>),
    records: Vec<Record>,
    /// Events that begin here; their record numbers count from the start of the buffer until it is written.
    events: Vec<usize>,
}

#[derive(Debug, Default)]
struct Cpu {
    last: Option<u64>,
    /// The next event needs a TIME before it.
    force_time: bool,
    /// Remaining parts of an event, the last one first, and the event.
    held: Vec<Record>,
    held_stamp: u64,
    held_event: Option<usize>,
    held_code: Option<Code>,
}

/// Takes events and writes a trace. An error of the output is stored and returned by [`Kernel::finish`].
#[derive(Debug)]
pub struct Kernel<W> {
    writer: KevWriter<W>,
    release: Release,
    faults: Faults,
    random: Random,
    cpus: Vec<Cpu>,
    /// One, or since 8.0 one for each CPU; empty ones are not open.
    buffers: Vec<Buffer>,
    sequence: u32,
    lost: u32,
    lost_buffers: Vec<LostBuffer>,
    events: Option<Vec<ExpectedEvent>>,
    wrong_cpus: u64,
    failure: Option<io::Error>,
}

impl<W: Write> Kernel<W> {
    /// Begins the trace of a target with this buffer. `keep`: stores the expected events, which needs memory.
    pub fn new(
        out: W,
        target: &Target,
        sequence: u32,
        faults: Faults,
        seed: u64,
        keep: bool,
    ) -> io::Result<Self> {
        let cpus = usize::from(target.cpus.clamp(1, 64));
        let buffers = if target.release == Release::R8 { cpus } else { 1 };
        Ok(Self {
            writer: KevWriter::of_target(out, target)?,
            release: target.release,
            faults,
            random: Random::new(seed),
            cpus: (0..cpus).map(|_| Cpu::default()).collect(),
            buffers: (0..buffers).map(|_| Buffer::default()).collect(),
            sequence,
            lost: 0,
            lost_buffers: Vec::new(),
            events: keep.then(Vec::new),
            wrong_cpus: 0,
            failure: None,
        })
    }

    /// How numbers are stored.
    pub fn order(&self) -> ByteOrder {
        self.writer.order()
    }

    /// Bytes written so far, without open buffers.
    pub fn bytes(&self) -> u64 {
        self.writer.bytes()
    }

    /// Whether an event of this CPU has remaining parts.
    pub fn holds(&self, cpu: u8) -> bool {
        self.cpus.get(usize::from(cpu)).is_some_and(|c| !c.held.is_empty())
    }

    /// Whether the output failed: the rest is not written.
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Writes an event that happened at `now`, not before the last one of the CPU. Returns its stamp: one
    /// later if the last event has the same (stamps are unique on a CPU). `nested` events, those of
    /// interrupts, may come between the parts of another one.
    pub fn emit(&mut self, cpu: u8, now: u64, flags: u8, code: Code, words: &[u32], nested: bool) -> u64 {
        let of = usize::from(cpu) % self.cpus.len().max(1);
        for other in 0..self.cpus.len() {
            let Some(state) = self.cpus.get(other).filter(|c| !c.held.is_empty()) else { continue };
            if now > state.held_stamp + MAX_HOLD || (other == of && !nested) {
                while self.release_part(other) {}
            } else if other != of && self.random.one_in(2) {
                self.release_part(other);
            }
        }
        let last = self.cpus.get(of).and_then(|c| c.last);
        let stamp = last.map_or(now, |last| now.max(last + 1));
        self.make_room(of, stamp);
        let Some(state) = self.cpus.get_mut(of) else { return stamp };
        let wrapped = last.is_some_and(|last| (stamp as u32) < last as u32);
        state.last = Some(stamp);
        if std::mem::take(&mut state.force_time) || wrapped {
            self.time(of, stamp);
        }
        let mut parts = Parts::new(of as u8, flags, code, stamp as u32, words);
        let Some(first) = parts.next() else { return stamp };
        let event = self.begin(of, stamp, flags, code, first);
        let free = self.cpus.get(of).is_some_and(|c| c.held.is_empty());
        if free && words.len() > 2 && self.random.one_in(self.faults.interlace) {
            if let Some(state) = self.cpus.get_mut(of) {
                state.held.extend(parts);
                state.held.reverse();
                (state.held_stamp, state.held_event, state.held_code) = (stamp, event, Some(code));
            }
        } else {
            for part in parts {
                self.make_room(of, stamp);
                self.continue_event(of, stamp, code, event, part);
            }
        }
        stamp
    }

    /// Writes what is open; returns the output and its content.
    pub fn finish(mut self) -> io::Result<(W, Written)> {
        for cpu in 0..self.cpus.len() {
            while self.release_part(cpu) {}
        }
        for buffer in 0..self.buffers.len() {
            self.close(buffer);
        }
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let mut events = self.events.unwrap_or_default();
        events.sort_by_key(|e| e.record);
        let written = Written { events, lost_buffers: self.lost_buffers, wrong_cpus: self.wrong_cpus };
        Ok((self.writer.finish()?, written))
    }

    /// Writes the next held part of a CPU's event, if there is one.
    fn release_part(&mut self, cpu: usize) -> bool {
        let Some(state) = self.cpus.get_mut(cpu) else { return false };
        let (Some(part), Some(code)) = (state.held.pop(), state.held_code) else { return false };
        let (stamp, event) = (state.held_stamp, state.held_event);
        self.make_room(cpu, stamp);
        self.continue_event(cpu, stamp, code, event, part);
        true
    }

    fn buffer_of(&self, cpu: usize) -> usize {
        if self.release == Release::R8 { cpu } else { 0 }
    }

    /// Opens a buffer if none has room. `stamp` is the time of the first event in it.
    fn make_room(&mut self, cpu: usize, stamp: u64) {
        let at = self.buffer_of(cpu);
        if self.buffers.get(at).is_some_and(|b| b.records.len() >= HIGH_WATER) {
            self.close(at);
        }
        if self.buffers.get(at).is_none_or(|b| !b.records.is_empty()) {
            return;
        }
        // The first buffer is never lost: a reader could not notice it.
        let lost = self.writer.records() > 0 && self.random.one_in(self.faults.lost_buffer);
        if let Some(buffer) = self.buffers.get_mut(at) {
            buffer.lost = lost;
        }
        if self.release == Release::R8 {
            self.time(cpu, stamp);
        } else {
            self.cpus.iter_mut().for_each(|c| c.force_time = true);
        }
        let place = self.buffers.get(at).map_or(0, |b| b.records.len());
        let event = self.control(cpu, stamp, Code::BUFFER, [0, 0]);
        if let Some(buffer) = self.buffers.get_mut(at) {
            buffer.opening = (place, event);
        }
        if self.release == Release::R8 && self.lost > 0 {
            self.control(cpu, stamp, Code::DROPPED, [self.lost, 0]);
        }
    }

    /// A TIME record: the clock was read shortly before the record was stamped.
    fn time(&mut self, cpu: usize, stamp: u64) {
        if self.faults.no_time {
            return;
        }
        let read = stamp.saturating_sub(self.random.below(400));
        self.control(cpu, stamp, Code::TIME, [(read >> 32) as u32, read as u32]);
    }

    fn control(&mut self, cpu: usize, stamp: u64, code: Code, data: [u32; 2]) -> Option<usize> {
        let record = Record::new(super::Part::Simple, cpu as u8, 0, code, stamp as u32, data);
        self.begin(cpu, stamp, 0, code, record)
    }

    /// Adds the first record of an event; returns the expected event, unless it is lost.
    fn begin(&mut self, cpu: usize, stamp: u64, flags: u8, code: Code, record: Record) -> Option<usize> {
        let at = self.buffer_of(cpu);
        let buffer = self.buffers.get_mut(at)?;
        let mut event = None;
        if let (false, Some(events)) = (buffer.lost, &mut self.events) {
            event = Some(events.len());
            buffer.events.push(events.len());
            let number = buffer.records.len() as u64;
            events.push(ExpectedEvent {
                flags,
                ..ExpectedEvent::new(number, stamp, cpu as u8, code, &record.data)
            });
        }
        self.add(at, cpu, record);
        event
    }

    /// Adds a later part.
    fn continue_event(&mut self, cpu: usize, stamp: u64, code: Code, event: Option<usize>, record: Record) {
        let at = self.buffer_of(cpu);
        let Some(buffer) = self.buffers.get(at) else { return };
        let is_last = record.header >> 30 == super::Part::End as u32;
        match (buffer.lost, event.and_then(|e| self.events.as_mut()?.get_mut(e))) {
            (false, Some(event)) if event.status == ExpectedEvent::OK => event.words.extend(record.data),
            (true, Some(event)) if is_last => event.status = ExpectedEvent::UNTERMINATED,
            (false, None) => {
                let flags = (record.header >> 16) as u8;
                let orphan = self.begin(cpu, stamp, flags, code, record);
                if let Some(event) = orphan.and_then(|e| self.events.as_mut()?.get_mut(e)) {
                    event.status = ExpectedEvent::ORPHAN;
                }
                return;
            }
            _ => {}
        }
        self.add(at, cpu, record);
    }

    fn add(&mut self, at: usize, cpu: usize, mut record: Record) {
        let Some(buffer) = self.buffers.get_mut(at) else { return };
        // The first records of a buffer are always right.
        if self.release == Release::R8
            && buffer.records.len() > 2
            && self.random.one_in(self.faults.wrong_cpu)
        {
            let other = (cpu as u64 + 1 + self.random.below(3)) % self.cpus.len() as u64;
            record = record.of_cpu(other as u8);
        }
        buffer.records.push(record);
    }

    /// Ends a buffer, numbers it and writes it, or loses it.
    fn close(&mut self, at: usize) {
        if self.buffers.get(at).is_none_or(|b| b.records.is_empty()) {
            return;
        }
        if self.release == Release::R8 {
            let stamp = self.cpus.get(at).and_then(|c| c.last).unwrap_or(0);
            self.control(at, stamp, Code::BUFFER_END, [END_WORD, END_WORD]);
        }
        let Some(buffer) = self.buffers.get_mut(at) else { return };
        let (sequence, count) = (self.sequence, buffer.records.len() as u32);
        self.sequence = self.sequence.wrapping_add(1);
        if std::mem::take(&mut buffer.lost) {
            self.lost += 1;
            buffer.records.clear();
            return;
        }
        let base = self.writer.records();
        if self.lost > 0 {
            let after = sequence.wrapping_sub(self.lost + 1);
            self.lost_buffers.push(LostBuffer { after, count: self.lost, record: base });
            self.lost = 0;
        }
        if let Some(record) = buffer.records.get_mut(buffer.opening.0) {
            record.data = [sequence, count];
        }
        if let Some(events) = &mut self.events {
            if let Some(event) = buffer.opening.1.and_then(|e| events.get_mut(e)) {
                event.words = vec![sequence, count];
            }
            for event in buffer.events.drain(..) {
                if let Some(event) = events.get_mut(event) {
                    event.record += base;
                }
            }
        }
        for record in buffer.records.drain(..) {
            let is_wrong = self.release == Release::R8 && record != record.of_cpu(at as u8);
            self.wrong_cpus += u64::from(is_wrong);
            if self.failure.is_none() {
                self.failure = self.writer.record(&record).err();
            }
        }
    }
}
