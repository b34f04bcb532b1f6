//! What the metadata of a trace declares: types, streams, events and clocks. Not the text that declares them
//! (see `tsdl` and `json`), nor how fields are read (see `program`).

use std::sync::Arc;

/// The order of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

/// A type of a field.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    Int(Int),
    Float(Float),
    /// Characters up to a zero.
    Text(Encoding),
    /// Characters of so many bytes, up to a zero if there is one.
    TextOf(Encoding, Length),
    /// Bytes.
    Blob(Length, Option<Role>),
    Struct(Struct),
    Array(Box<Array>),
    Variant(Box<Variant>),
    /// A field that is there if another one has one of these values.
    Optional(Box<Optional>),
}

/// An integer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Int {
    /// Its bits; `None`: seven of each byte, the last of which has no highest bit.
    pub size: Option<u32>,
    /// In bits.
    pub align: u32,
    pub order: ByteOrder,
    pub is_signed: bool,
    pub is_bool: bool,
    /// It is a character: an array of it is a text.
    pub is_char: bool,
    /// The names of its values.
    pub labels: Option<Arc<Vec<Label>>>,
    pub role: Option<Role>,
    /// The clock whose value it is.
    pub clock: Option<Arc<str>>,
}

/// A name of values of an integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub name: String,
    /// The values: first and last one of each range.
    pub ranges: Vec<(i128, i128)>,
}

/// A floating-point number of 16, 32 or 64 bits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Float {
    pub size: u32,
    pub align: u32,
    pub order: ByteOrder,
}

/// How characters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16(ByteOrder),
    Utf32(ByteOrder),
}

/// Fields behind each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Struct {
    /// The least alignment, in bits.
    pub align: u32,
    pub fields: Vec<(String, Type)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    pub element: Type,
    pub length: Length,
    /// The least alignment, in bits.
    pub align: u32,
}

/// How many elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Length {
    Fixed(u64),
    /// The value of this field.
    Field(Location),
}

/// One of several types, by the value of another field.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variant {
    pub tag: Location,
    pub options: Vec<Choice>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub name: String,
    pub ty: Type,
    /// The values of the tag; `None`: those that its type calls by the name of the choice.
    pub ranges: Option<Vec<(i128, i128)>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Optional {
    pub ty: Type,
    pub selector: Location,
    /// The values of the selector for which it is there.
    pub ranges: Vec<(i128, i128)>,
}

/// Where a field is that another one depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    /// The part that it is in; `None`: from the field that names it outwards.
    pub scope: Option<Scope>,
    /// The names of structures and of the field.
    pub path: Vec<String>,
}

/// The parts of packets and events, in the order in which they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    PacketHeader,
    PacketContext,
    EventHeader,
    /// The context that all events of a stream have.
    StreamEventContext,
    EventContext,
    EventFields,
}

/// What a field is for, apart from its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Magic,
    Uuid,
    StreamId,
    /// In bits.
    PacketSize,
    /// In bits.
    ContentSize,
    TimestampBegin,
    TimestampEnd,
    EventsDiscarded,
    PacketNumber,
    CpuId,
    EventId,
    /// The clock of the stream has its value.
    Clock,
}

/// A clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clock {
    pub name: String,
    /// Cycles per second.
    pub frequency: u64,
    /// Its origin since that of all clocks: seconds, and cycles.
    pub offset: (i64, u64),
}

impl Clock {
    /// A trace without a clock counts nanoseconds (Zephyr).
    pub fn nanoseconds() -> Self {
        Self { name: String::new(), frequency: 1_000_000_000, offset: (0, 0) }
    }
}

/// What all events of a stream have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct StreamClass {
    pub id: u64,
    pub packet_context: Option<Type>,
    pub event_header: Option<Type>,
    pub event_context: Option<Type>,
    /// The name of its clock.
    pub clock: Option<String>,
    pub events: Vec<EventClass>,
}

/// A kind of event.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct EventClass {
    pub id: u64,
    pub name: String,
    pub context: Option<Type>,
    pub fields: Option<Type>,
}

/// All that metadata declare.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Trace {
    pub uuid: Option<[u8; 16]>,
    /// Facts about the system, by name.
    pub environment: Vec<(String, String)>,
    pub packet_header: Option<Type>,
    pub clocks: Vec<Clock>,
    pub streams: Vec<StreamClass>,
}

impl Type {
    /// How many types it is made of.
    pub fn count(&self) -> u64 {
        1 + match self {
            Self::Struct(of) => of.fields.iter().map(|(_, ty)| ty.count()).sum(),
            Self::Array(array) => array.element.count(),
            Self::Variant(of) => of.options.iter().map(|choice| choice.ty.count()).sum(),
            Self::Optional(of) => of.ty.count(),
            Self::Int(_) | Self::Float(_) | Self::Text(_) | Self::TextOf(..) | Self::Blob(..) => 0,
        }
    }

    /// Its alignment, in bits: at least 1.
    pub fn align(&self) -> u32 {
        match self {
            Self::Int(int) => int.align.max(1),
            Self::Float(float) => float.align.max(1),
            Self::Text(_) | Self::TextOf(..) | Self::Blob(..) => 8,
            Self::Struct(of) => of.fields.iter().map(|(_, ty)| ty.align()).max().unwrap_or(1).max(of.align),
            Self::Array(array) => array.element.align().max(array.align),
            // What is chosen has its own.
            Self::Variant(_) | Self::Optional(_) => 1,
        }
    }
}
