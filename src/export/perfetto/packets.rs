//! Packets of a Perfetto trace, one after the other: tracks, slices, instants, counters, with interned names.
//! Not for what is on the tracks.
//!
//! Field numbers: `protos/perfetto/trace/` of Perfetto (`trace_packet.proto`, `track_event/*.proto`,
//! `interned_data.proto`). The trace processor sorts by time and keeps the order of the file for equal times,
//! so packets may come in any order, except those of one track with equal times.

use super::wire::Message;
use crate::error::{Error, ErrorKind, Result};
use crate::names::Interner;
use crate::time::{TimeScale, divide_half_even};
use std::io::Write;

/// All packets have the same writer.
const SEQUENCE: u64 = 1;
/// Packets are written in pieces of at least this many bytes.
const PORTION: usize = 1 << 16;

mod field {
    /// `Trace.packet`.
    pub const PACKET: u32 = 1;

    pub mod packet {
        pub const TIMESTAMP: u32 = 8;
        pub const SEQUENCE_ID: u32 = 10;
        pub const TRACK_EVENT: u32 = 11;
        pub const INTERNED_DATA: u32 = 12;
        pub const SEQUENCE_FLAGS: u32 = 13;
        pub const TRACK_DESCRIPTOR: u32 = 60;
        pub const FIRST_ON_SEQUENCE: u32 = 87;
    }
    pub mod track {
        pub const UUID: u32 = 1;
        pub const NAME: u32 = 2;
        pub const PROCESS: u32 = 3;
        pub const THREAD: u32 = 4;
        pub const PARENT: u32 = 5;
        pub const COUNTER: u32 = 8;
        pub const CHILD_ORDERING: u32 = 11;
        pub const RANK: u32 = 12;
        pub const DESCRIPTION: u32 = 14;
        /// `ProcessDescriptor` and `ThreadDescriptor`.
        pub const PID: u32 = 1;
        pub const PROCESS_NAME: u32 = 6;
        pub const TID: u32 = 2;
        pub const THREAD_NAME: u32 = 5;
    }
    pub mod event {
        pub const ANNOTATION: u32 = 4;
        pub const TYPE: u32 = 9;
        pub const NAME_IID: u32 = 10;
        pub const TRACK: u32 = 11;
        pub const COUNTER: u32 = 30;
        pub const DOUBLE_COUNTER: u32 = 44;
        pub const FLOW: u32 = 47;
        pub const LAST_OF_FLOW: u32 = 48;
    }
    pub mod annotation {
        pub const NAME_IID: u32 = 1;
        pub const INT: u32 = 4;
        pub const STRING: u32 = 6;
        pub const STRING_IID: u32 = 17;
    }
    pub mod interned {
        pub const EVENT_NAMES: u32 = 2;
        pub const ANNOTATION_NAMES: u32 = 3;
        pub const STRINGS: u32 = 29;
        /// In all kinds of interned data.
        pub const IID: u32 = 1;
        pub const TEXT: u32 = 2;
    }
}

/// `TrackEvent.Type`.
#[derive(Debug, Clone, Copy)]
enum Type {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// The order of the tracks below a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    ByName = 1,
    ByRank = 3,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum TrackKind {
    /// The process of all threads.
    Process,
    Thread(i64),
    Counter,
    Other,
}

#[derive(Debug)]
pub(super) struct Track<'a> {
    pub name: &'a str,
    pub parent: Option<u64>,
    pub track_kind: TrackKind,
    pub children: Order,
    /// Place among the tracks of the same parent, if that orders by rank.
    pub rank: i64,
    pub description: &'a str,
}

impl<'a> Track<'a> {
    /// A track below another one, without order, rank or description.
    pub fn below(parent: u64, name: &'a str) -> Self {
        let (track_kind, children) = (TrackKind::Other, Order::ByName);
        Self { name, parent: Some(parent), track_kind, children, rank: 0, description: "" }
    }
}

/// A property of a slice or an instant, in addition to its name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Argument<'a> {
    Int(&'static str, i64),
    /// A text that occurs often: the name of an entity.
    Name(&'static str, &'a str),
    Text(&'static str, &'a str),
}

/// A flow, by number: an arrow from each of its slices and instants to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// It begins or continues here.
    Through(u64),
    /// It ends here; a later flow may have the same number.
    To(u64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    Int(i64),
    Real(f64),
}

/// Converts instants of the database to nanoseconds of the trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// The instant that becomes 0.
    zero: i64,
    /// Ticks per nanosecond.
    divisor: u64,
}

impl Clock {
    /// `zero` is the instant that is written as 0.
    pub fn new(scale: TimeScale, zero: i64) -> Self {
        Self { zero, divisor: if scale == TimeScale::Ps { 1000 } else { 1 } }
    }

    /// The nanosecond of an instant, and whether it was rounded; instants before zero become zero.
    fn nanoseconds(self, at: i64) -> (u64, bool) {
        let since = u64::try_from(i128::from(at) - i128::from(self.zero)).unwrap_or(0);
        divide_half_even(since, self.divisor)
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Tracks, including groups of them.
    pub tracks: u64,
    pub slices: u64,
    /// Events without duration.
    pub instants: u64,
    pub counters: u64,
    /// Times that are not a whole number of nanoseconds; they were rounded half to even.
    pub rounded: u64,
}

pub(super) struct Packets<'o> {
    out: &'o mut dyn Write,
    bytes: Vec<u8>,
    clock: Clock,
    names: Interner,
    annotations: Interner,
    strings: Interner,
    tracks: u64,
    pub counts: Counts,
}

impl<'o> Packets<'o> {
    /// Begins a trace.
    pub fn new(out: &'o mut dyn Write, clock: Clock) -> Self {
        let mut packets = Self {
            out,
            bytes: Vec::with_capacity(2 * PORTION),
            clock,
            names: Interner::default(),
            annotations: Interner::default(),
            strings: Interner::default(),
            tracks: 0,
            counts: Counts::default(),
        };
        packets.packet(|packet| {
            // SEQ_INCREMENTAL_STATE_CLEARED: the ids of names are valid from here on.
            packet.uint(field::packet::SEQUENCE_FLAGS, 1);
            packet.uint(field::packet::FIRST_ON_SEQUENCE, 1);
        });
        packets
    }

    fn packet(&mut self, fill: impl FnOnce(&mut Message<'_>)) {
        Message::new(&mut self.bytes).message(field::PACKET, |packet| {
            packet.uint(field::packet::SEQUENCE_ID, SEQUENCE);
            fill(packet);
        });
    }

    fn flush(&mut self, least: usize) -> Result<()> {
        if self.bytes.len() < least {
            return Ok(());
        }
        let written = self.out.write_all(&self.bytes);
        self.bytes.clear();
        written.map_err(|e| Error::new(ErrorKind::Io, "cannot write the trace").because(e))
    }

    /// Writes the rest.
    pub fn finish(mut self) -> Result<Counts> {
        self.flush(0)?;
        Ok(self.counts)
    }

    /// Adds a track; it must exist before anything is on it.
    pub fn track(&mut self, track: &Track<'_>) -> Result<u64> {
        use field::track as f;
        self.tracks += 1;
        self.counts.tracks += 1;
        let uuid = self.tracks;
        self.packet(|packet| {
            packet.message(field::packet::TRACK_DESCRIPTOR, |descriptor| {
                descriptor.uint(f::UUID, uuid);
                if let Some(parent) = track.parent {
                    descriptor.uint(f::PARENT, parent);
                }
                descriptor.text(f::NAME, track.name);
                match track.track_kind {
                    TrackKind::Process => descriptor.message(f::PROCESS, |process| {
                        process.int(f::PID, PID);
                        process.text(f::PROCESS_NAME, track.name);
                    }),
                    TrackKind::Thread(tid) => descriptor.message(f::THREAD, |thread| {
                        thread.int(f::PID, PID);
                        thread.int(f::TID, tid);
                        thread.text(f::THREAD_NAME, track.name);
                    }),
                    TrackKind::Counter => descriptor.message(f::COUNTER, |_| ()),
                    TrackKind::Other => {}
                }
                descriptor.uint(f::CHILD_ORDERING, track.children as u64);
                descriptor.int(f::RANK, track.rank);
                if !track.description.is_empty() {
                    descriptor.text(f::DESCRIPTION, track.description);
                }
            });
        });
        self.flush(PORTION)?;
        Ok(uuid)
    }

    /// Begins a slice; slices of a track are nested or one after the other.
    pub fn begin(
        &mut self,
        track: u64,
        at: i64,
        name: &str,
        args: &[Argument<'_>],
        flow: Option<Flow>,
    ) -> Result<()> {
        self.counts.slices += 1;
        self.named(Type::Begin, track, at, name, args, flow)
    }

    /// Ends the innermost slice of a track.
    pub fn end(&mut self, track: u64, at: i64) -> Result<()> {
        self.event(Type::End, track, at, |_| (), &[])
    }

    /// Adds something without duration.
    pub fn instant(
        &mut self,
        track: u64,
        at: i64,
        name: &str,
        args: &[Argument<'_>],
        flow: Option<Flow>,
    ) -> Result<()> {
        self.counts.instants += 1;
        self.named(Type::Instant, track, at, name, args, flow)
    }

    /// Sets the value of a counter from now on.
    pub fn counter(&mut self, track: u64, at: i64, value: Value) -> Result<()> {
        self.counts.counters += 1;
        let fill = |event: &mut Message<'_>| match value {
            Value::Int(value) => event.int(field::event::COUNTER, value),
            Value::Real(value) => event.double(field::event::DOUBLE_COUNTER, value),
        };
        self.event(Type::Counter, track, at, fill, &[])
    }

    fn named(
        &mut self,
        ty: Type,
        track: u64,
        at: i64,
        name: &str,
        args: &[Argument<'_>],
        flow: Option<Flow>,
    ) -> Result<()> {
        use field::{annotation as a, event as e, interned as i};
        let mut new: Vec<(u32, u64, &str)> = Vec::new();
        let mut number = |table: &mut Interner, tables: u32, text| {
            let known = table.len();
            // 0 is not a valid id (Perfetto, `InternedString.iid`).
            let number = u64::from(table.intern(text)) + 1;
            if table.len() > known {
                new.push((tables, number, text));
            }
            number
        };
        let name = number(&mut self.names, i::EVENT_NAMES, name);
        let mut numbered = [(0, 0); MAX_ARGUMENTS];
        for (slot, argument) in numbered.iter_mut().zip(args) {
            let (Argument::Int(key, _) | Argument::Name(key, _) | Argument::Text(key, _)) = *argument;
            slot.0 = number(&mut self.annotations, i::ANNOTATION_NAMES, key);
            if let Argument::Name(_, text) = *argument {
                slot.1 = number(&mut self.strings, i::STRINGS, text);
            }
        }
        let fill = |event: &mut Message<'_>| {
            event.uint(e::NAME_IID, name);
            for ((key, text), argument) in numbered.iter().zip(args) {
                event.message(e::ANNOTATION, |annotation| {
                    annotation.uint(a::NAME_IID, *key);
                    match *argument {
                        Argument::Int(_, value) => annotation.int(a::INT, value),
                        Argument::Name(..) => annotation.uint(a::STRING_IID, *text),
                        Argument::Text(_, value) => annotation.text(a::STRING, value),
                    }
                });
            }
            match flow {
                Some(Flow::Through(flow)) => event.fixed(e::FLOW, flow),
                Some(Flow::To(flow)) => event.fixed(e::LAST_OF_FLOW, flow),
                None => {}
            }
        };
        self.event(ty, track, at, fill, &new)
    }

    fn event(
        &mut self,
        ty: Type,
        track: u64,
        at: i64,
        fill: impl FnOnce(&mut Message<'_>),
        new: &[(u32, u64, &str)],
    ) -> Result<()> {
        let (time, rounded) = self.clock.nanoseconds(at);
        self.counts.rounded += u64::from(rounded);
        self.packet(|packet| {
            packet.uint(field::packet::TIMESTAMP, time);
            // SEQ_NEEDS_INCREMENTAL_STATE: names are ids.
            packet.uint(field::packet::SEQUENCE_FLAGS, 2);
            if !new.is_empty() {
                packet.message(field::packet::INTERNED_DATA, |data| {
                    for (table, number, text) in new {
                        data.message(*table, |entry| {
                            entry.uint(field::interned::IID, *number);
                            entry.text(field::interned::TEXT, text);
                        });
                    }
                });
            }
            packet.message(field::packet::TRACK_EVENT, |event| {
                event.uint(field::event::TYPE, ty as u64);
                event.uint(field::event::TRACK, track);
                fill(event);
            });
        });
        self.flush(PORTION)
    }
}

/// The id of the process that stands for the recording. 0 would be the idle process.
const PID: i64 = 1;
/// No slice has more.
const MAX_ARGUMENTS: usize = 6;
