//! The packets of a stream and the events in them, piece by piece, and what becomes of what cannot be read.
//! Not the fields of an event (see `decoder`), nor its row (see `rows`).

use super::bits::{Cursor, Lack};
use super::decoder::{Values, read, read_fields};
use super::program::{EventNode, Node, Program};
use crate::formats::payload::Payload;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The first number of a packet.
const MAGIC: u64 = 0xC1FC_1FC1;
/// An event is not longer, in bytes.
const MOST_EVENT: u64 = 256 << 20;

/// What a stream consists of.
#[derive(Debug)]
pub(super) struct Layout {
    pub packet_header: Option<Node>,
    /// The kinds of streams, by number.
    pub streams: BTreeMap<u64, Program>,
    /// The most slots that a packet needs.
    pub slots: usize,
}

/// What takes the events of a stream.
pub(super) trait Sink {
    type Error;

    /// A packet begins.
    fn packet(&mut self, packet: &PacketFacts) -> Result<(), Self::Error>;

    /// An event with the value of its clock; `payload` has its parameters.
    fn event(&mut self, event: &EventFacts<'_>) -> Result<(), Self::Error>;

    /// Something cannot be read, at this byte; what follows in its packet is lost, or all.
    fn bad(&mut self, at: u64, why: &str) -> Result<(), Self::Error>;
}

/// What the begin of a packet says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PacketFacts {
    /// The kind of its stream.
    pub stream: u64,
    pub cpu: Option<u64>,
    /// Its first and last time, as far as they are recorded.
    pub begin: Option<Lowest>,
    pub end: Option<Lowest>,
    /// Events that were discarded, counted from the begin of the stream, and the bits of the count.
    pub discarded: Option<(u64, u32)>,
    /// Its number, and the bits of it.
    pub number: Option<(u64, u32)>,
}

/// The lowest bits of a number, and how many there are.
pub(super) type Lowest = (u64, u32);

#[derive(Debug)]
pub(super) struct EventFacts<'a> {
    pub kind: &'a EventNode,
    /// What is recorded of its clock.
    pub clock: Option<Lowest>,
    /// That of its packet, else its own.
    pub cpu: Option<u64>,
    pub payload: &'a str,
}

#[derive(Debug)]
struct Packet {
    facts: PacketFacts,
    /// The next bit, from the begin of the packet.
    at: u64,
    /// Behind the last bit with a meaning.
    content: u64,
    /// Behind the last bit; `None`: it ends with the stream.
    size: Option<u64>,
    values: Values,
}

/// Reads the packets of one stream.
#[derive(Debug)]
pub(super) struct PacketReader {
    layout: Arc<Layout>,
    packet: Option<Packet>,
    /// Bytes that the next piece continues.
    carried: Vec<u8>,
    /// The byte of the stream that comes first: of those carried, or of the next piece.
    at: u64,
    /// Bytes to pass over.
    skip: u64,
    /// Nothing more can be read.
    is_lost: bool,
    payload: Payload,
}

/// How a step went on.
enum Step {
    /// So many bytes are done with.
    Done(usize),
    More,
}

impl PacketReader {
    pub fn new(layout: Arc<Layout>) -> Self {
        Self {
            layout,
            packet: None,
            carried: Vec::new(),
            at: 0,
            skip: 0,
            is_lost: false,
            payload: Payload::default(),
        }
    }

    /// Reads a piece of the stream; `is_last`: nothing follows it.
    pub fn piece<S: Sink>(&mut self, piece: &[u8], is_last: bool, sink: &mut S) -> Result<(), S::Error> {
        let carried = std::mem::take(&mut self.carried);
        let joined;
        let mut bytes = match carried.is_empty() {
            true => piece,
            false => {
                joined = [carried.as_slice(), piece].concat();
                &joined
            }
        };
        loop {
            if self.is_lost {
                return Ok(());
            }
            let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
            self.pass(&mut bytes, skipped);
            self.skip -= skipped as u64;
            if self.skip > 0 {
                return match is_last {
                    true => self.lose(sink, "the stream ends within a packet"),
                    false => Ok(()),
                };
            }
            if bytes.is_empty() {
                let is_cut = self.packet.as_ref().is_some_and(|packet| packet.size.is_some());
                return if is_last && is_cut {
                    self.lose(sink, "the stream ends within a packet")
                } else {
                    Ok(())
                };
            }
            let step = match self.packet.take() {
                None => self.begin(bytes, sink)?,
                Some(packet) => self.events(packet, bytes, sink)?,
            };
            match step {
                Step::Done(length) => self.pass(&mut bytes, length),
                Step::More if is_last => return self.lose(sink, "the stream ends within a packet"),
                Step::More if bytes.len() as u64 > MOST_EVENT => {
                    return self.lose(sink, "an event is very long");
                }
                Step::More => {
                    self.carried = bytes.to_vec();
                    return Ok(());
                }
            }
        }
    }

    fn pass(&mut self, bytes: &mut &[u8], length: usize) {
        *bytes = bytes.get(length..).unwrap_or_default();
        self.at += length as u64;
    }

    /// Nothing more of the stream can be read.
    fn lose<S: Sink>(&mut self, sink: &mut S, why: &str) -> Result<(), S::Error> {
        self.is_lost = true;
        sink.bad(self.at, why)
    }

    /// Reads the begin of a packet.
    fn begin<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<Step, S::Error> {
        let layout = Arc::clone(&self.layout);
        let mut cursor = Cursor::new(bytes, 0, u64::MAX);
        let mut values = Values::new(layout.slots);
        if let Some(header) = &layout.packet_header
            && let Err(lack) = read(header, &mut cursor, &mut values, &mut None)
        {
            return self.no_packet(lack, sink);
        }
        match values.magic {
            Some(MAGIC) | None => {}
            Some(other) if other == u64::from((MAGIC as u32).swap_bytes()) => {
                self.lose(sink, "the bytes of a packet are in another order than its metadata say")?;
                return Ok(Step::Done(0));
            }
            Some(_) => {
                self.lose(sink, "a packet does not begin with C1FC1FC1")?;
                return Ok(Step::Done(0));
            }
        }
        let only = || layout.streams.keys().next().copied().filter(|_| layout.streams.len() == 1);
        let stream = values.stream_id.or_else(only).unwrap_or(0);
        let Some(program) = layout.streams.get(&stream) else {
            self.lose(sink, &format!("a packet is of stream {stream}, which the metadata do not declare"))?;
            return Ok(Step::Done(0));
        };
        if let Some(context) = &program.packet_context
            && let Err(lack) = read(context, &mut cursor, &mut values, &mut None)
        {
            return self.no_packet(lack, sink);
        }
        let size = values.packet_size.filter(|size| *size > 0);
        let content = values.content_size.filter(|size| *size > 0).or(size).unwrap_or(u64::MAX);
        if size.is_some_and(|size| content > size || !size.is_multiple_of(8)) || content < cursor.at {
            self.lose(sink, "the sizes of a packet contradict each other")?;
            return Ok(Step::Done(0));
        }
        let facts = PacketFacts {
            stream,
            cpu: values.cpu,
            begin: values.timestamp_begin,
            end: values.timestamp_end,
            discarded: values.events_discarded,
            number: values.packet_number,
        };
        sink.packet(&facts)?;
        let at = cursor.at;
        self.packet = Some(Packet { facts, at, content, size, values });
        // Bytes are done with when the first event that needs them is.
        Ok(Step::Done((at / 8) as usize))
    }

    fn no_packet<S: Sink>(&mut self, lack: Lack, sink: &mut S) -> Result<Step, S::Error> {
        match lack {
            Lack::Bytes => Ok(Step::More),
            Lack::Content => {
                self.lose(sink, "a packet ends within its header")?;
                Ok(Step::Done(0))
            }
            Lack::Bad(why) => {
                self.lose(sink, why)?;
                Ok(Step::Done(0))
            }
        }
    }

    /// Reads the events of a packet that are there. `bytes` begin with the byte of its next bit.
    fn events<S: Sink>(&mut self, mut packet: Packet, bytes: &[u8], sink: &mut S) -> Result<Step, S::Error> {
        let layout = Arc::clone(&self.layout);
        let Some(program) = layout.streams.get(&packet.facts.stream) else {
            return Ok(Step::Done(bytes.len()));
        };
        let first = packet.at & !7;
        let done = |at: u64| ((at - first) / 8) as usize;
        while packet.at < packet.content {
            let mut cursor = Cursor::new(bytes, first, packet.content);
            cursor.at = packet.at;
            match self.event(program, &mut packet.values, &mut cursor) {
                // How many of them there are is not known.
                Ok(_) if cursor.at == packet.at => {
                    let at = done(packet.at);
                    self.unreadable(&mut packet, at, "an event has no bits", sink)?;
                    if self.is_lost {
                        return Ok(Step::Done(0));
                    }
                }
                Ok((kind, clock)) => {
                    let (payload, cpu) = (self.payload.end(), packet.facts.cpu.or(packet.values.cpu));
                    sink.event(&EventFacts { kind, clock, cpu, payload })?;
                    packet.at = cursor.at;
                }
                // The end of a stream without packets.
                Err(Unread::Lack(Lack::Bytes)) => {
                    let length = done(packet.at);
                    let is_at_end = length >= bytes.len();
                    self.packet = Some(packet);
                    return Ok(if length > 0 || is_at_end { Step::Done(length) } else { Step::More });
                }
                Err(unread) => {
                    let why = match unread {
                        Unread::Unknown(id) => format!("the metadata declare no event {id} of its stream"),
                        Unread::Lack(Lack::Bad(why)) => why.to_owned(),
                        Unread::Lack(_) => {
                            "an event does not end within the content of its packet".to_owned()
                        }
                    };
                    let at = done(packet.at);
                    self.unreadable(&mut packet, at, &why, sink)?;
                    if self.is_lost {
                        return Ok(Step::Done(0));
                    }
                }
            }
        }
        let end = packet.size.unwrap_or(packet.content).div_ceil(8) - first / 8;
        let there = (bytes.len() as u64).min(end);
        self.skip = end - there;
        Ok(Step::Done(there as usize))
    }

    /// Passes over the rest of a packet, whose next event at `done` bytes cannot be read: where the one
    /// behind it begins is not known. Without a size of the packet, all is lost.
    fn unreadable<S: Sink>(
        &mut self,
        packet: &mut Packet,
        done: usize,
        why: &str,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        sink.bad(self.at + done as u64, why)?;
        self.is_lost = packet.size.is_none();
        packet.at = packet.content;
        Ok(())
    }

    /// Reads an event: its kind, and its clock. The payload has its parameters.
    fn event<'p>(
        &mut self,
        program: &'p Program,
        values: &mut Values,
        cursor: &mut Cursor<'_>,
    ) -> Result<(&'p EventNode, Option<Lowest>), Unread> {
        (values.event_id, values.clock, values.cpu) = (None, None, None);
        if let Some(header) = &program.event_header {
            read(header, cursor, values, &mut None)?;
        }
        let only = || program.events.iter().next().map(|(id, _)| *id).filter(|_| program.events.len() == 1);
        let id = values.event_id.or_else(only).unwrap_or(0);
        let event = program.events.get(&id).ok_or(Unread::Unknown(id))?;
        self.payload.begin();
        let mut payload = Some(&mut self.payload);
        for (name, context) in [("stream_context", &program.event_context), ("context", &event.context)] {
            if let Some(context) = context {
                if let Some(payload) = &mut payload {
                    payload.key(name);
                }
                read(context, cursor, values, &mut payload)?;
            }
        }
        match &event.fields {
            Some(Node::Struct { align, fields }) => {
                cursor.align(*align);
                read_fields(fields, cursor, values, &mut payload)?;
            }
            Some(other) => {
                if let Some(payload) = &mut payload {
                    payload.key("value");
                }
                read(other, cursor, values, &mut payload)?;
            }
            None => {}
        }
        Ok((event, values.clock))
    }
}

/// Why an event cannot be read.
enum Unread {
    Lack(Lack),
    Unknown(u64),
}

impl From<Lack> for Unread {
    fn from(lack: Lack) -> Self {
        Self::Lack(lack)
    }
}
