//! Fields as their types declare them: out of the bytes of a packet, into the parameters of an event and what
//! fields are for. Not where packets and events begin (see `packets`).

use super::bits::{Cursor, Lack, signed};
use super::model::{ByteOrder, Encoding, Role};
use super::program::{Count, IntNode, Key, Node};
use crate::formats::payload::Payload;
use std::borrow::Cow;

/// A field of more bytes is none.
const MOST_BYTES: u64 = 64 << 20;
/// Elements that take no bits may be so many.
const MOST_EMPTY: u64 = 1 << 16;

/// The values of fields that others depend on, and of those that are for something.
#[derive(Debug, Default, Clone)]
pub(super) struct Values {
    slots: Vec<i128>,
    /// The integer that was read last.
    last: i128,
    pub magic: Option<u64>,
    pub stream_id: Option<u64>,
    /// In bits.
    pub packet_size: Option<u64>,
    /// In bits.
    pub content_size: Option<u64>,
    /// The lowest bits of the clock, and how many there are.
    pub timestamp_begin: Option<(u64, u32)>,
    /// The same.
    pub timestamp_end: Option<(u64, u32)>,
    /// With its bits: the count wraps.
    pub events_discarded: Option<(u64, u32)>,
    /// With its bits: the count wraps.
    pub packet_number: Option<(u64, u32)>,
    pub cpu: Option<u64>,
    pub event_id: Option<u64>,
    /// The lowest bits of the clock, and how many there are.
    pub clock: Option<(u64, u32)>,
}

impl Values {
    pub fn new(slots: usize) -> Self {
        Self { slots: vec![0; slots], ..Self::default() }
    }

    fn keep(&mut self, role: Role, value: u64, bits: u32) {
        match role {
            Role::Magic => self.magic = Some(value),
            Role::StreamId => self.stream_id = Some(value),
            Role::PacketSize => self.packet_size = Some(value),
            Role::ContentSize => self.content_size = Some(value),
            Role::TimestampBegin => self.timestamp_begin = Some((value, bits)),
            Role::TimestampEnd => self.timestamp_end = Some((value, bits)),
            Role::EventsDiscarded => self.events_discarded = Some((value, bits)),
            Role::PacketNumber => self.packet_number = Some((value, bits)),
            Role::CpuId => self.cpu = Some(value),
            Role::EventId => self.event_id = Some(value),
            Role::Clock => self.clock = Some((value, bits)),
            Role::Uuid => {}
        }
    }

    fn slot(&self, slot: usize) -> i128 {
        self.slots.get(slot).copied().unwrap_or_default()
    }

    fn count(&self, count: Count) -> Result<u64, Lack> {
        match count {
            Count::Fixed(count) => Ok(count),
            Count::Slot(slot) => u64::try_from(self.slot(slot)).map_err(|_| Lack::Bad("a length is below 0")),
        }
    }
}

/// Reads a field; `payload` takes its value. The field has its name there already.
pub(super) fn read(
    node: &Node,
    cursor: &mut Cursor<'_>,
    values: &mut Values,
    payload: &mut Option<&mut Payload>,
) -> Result<(), Lack> {
    match node {
        Node::Int(int) => {
            let (value, bits) = number(int, cursor)?;
            let exact = if int.is_signed { i128::from(signed(value, bits)) } else { i128::from(value) };
            values.last = exact;
            if let Some(role) = int.role {
                values.keep(role, value, bits);
            }
            if let Some(place) = int.slot.and_then(|slot| values.slots.get_mut(slot)) {
                *place = exact;
            }
            if let Some(payload) = payload {
                write(int, value, bits, exact, payload);
            }
        }
        Node::Float { size, align, order } => {
            cursor.align(*align);
            let bits = cursor.number(*size, *order)?;
            if let Some(payload) = payload {
                let value = match size {
                    16 => half(bits as u16),
                    32 => f64::from(f32::from_bits(bits as u32)),
                    _ => f64::from_bits(bits),
                };
                payload.literal(&real(value));
            }
        }
        Node::Text(encoding) => {
            cursor.align(8);
            let text = match encoding {
                Encoding::Utf8 => Cow::Borrowed(cursor.text()?),
                wide => Cow::Owned(wide_text(*wide, cursor)?),
            };
            if let Some(payload) = payload {
                payload.bytes(&text);
            }
        }
        Node::TextOf(encoding, count) => {
            cursor.align(8);
            let bytes = bounded(cursor, values.count(*count)?)?;
            if let Some(payload) = payload {
                match encoding {
                    Encoding::Utf8 => payload.bytes(bytes.split(|b| *b == 0).next().unwrap_or_default()),
                    wide => {
                        let mut all = Cursor::new(bytes, 0, bytes.len() as u64 * 8);
                        payload.bytes(&wide_text(*wide, &mut all).unwrap_or_else(|_| decoded(*wide, bytes)));
                    }
                }
            }
        }
        Node::Blob(count) => {
            cursor.align(8);
            let bytes = bounded(cursor, values.count(*count)?)?;
            if let Some(payload) = payload {
                payload.hex(bytes);
            }
        }
        Node::Struct { align, fields } => {
            cursor.align(*align);
            if let Some(payload) = payload {
                payload.begin_object();
            }
            read_fields(fields, cursor, values, payload)?;
            if let Some(payload) = payload {
                payload.end_object();
            }
        }
        Node::Array { align, element, count } => {
            cursor.align(*align);
            let (count, begin) = (values.count(*count)?, cursor.at);
            if let Some(payload) = payload {
                payload.begin_list();
            }
            for n in 0..count {
                if n == MOST_EMPTY && cursor.at == begin {
                    return Err(Lack::Bad("very many elements have no bits"));
                }
                read(element, cursor, values, payload)?;
            }
            if let Some(payload) = payload {
                payload.end_list();
            }
        }
        Node::Variant { tag, choices } => {
            let value = values.slot(*tag);
            let chosen = choices.iter().find(|(ranges, _)| contains(ranges, value));
            let (_, chosen) = chosen.ok_or(Lack::Bad("the value of a tag chooses no type"))?;
            read(chosen, cursor, values, payload)?;
        }
        Node::Optional { selector, ranges, node } => match contains(ranges, values.slot(*selector)) {
            true => read(node, cursor, values, payload)?,
            false => {
                if let Some(payload) = payload {
                    payload.literal("null");
                }
            }
        },
    }
    Ok(())
}

/// Reads the fields of a structure, each with its name.
pub(super) fn read_fields(
    fields: &[(Key, Node)],
    cursor: &mut Cursor<'_>,
    values: &mut Values,
    payload: &mut Option<&mut Payload>,
) -> Result<(), Lack> {
    for (name, node) in fields {
        if let Some(payload) = payload {
            payload.opening(name.json());
        }
        read(node, cursor, values, payload)?;
        if let Node::Int(int) = node
            && let (Some(name), Some(payload)) = (&int.value_name, payload.as_mut())
            && int.labels.iter().flat_map(|all| all.iter()).any(|label| contains(&label.ranges, values.last))
        {
            payload.opening(name.json());
            match u64::try_from(values.last) {
                Ok(value) => payload.unsigned(value),
                Err(_) => payload.signed(values.last as i64),
            }
        }
    }
    Ok(())
}

fn contains(ranges: &[(i128, i128)], value: i128) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&value))
}

/// The value of an integer without its sign, and its bits.
fn number(int: &IntNode, cursor: &mut Cursor<'_>) -> Result<(u64, u32), Lack> {
    cursor.align(int.align);
    match int.size {
        Some(bits) => Ok((cursor.number(bits, int.order)?, bits)),
        None => cursor.variable(),
    }
}

/// A floating-point number; one that JSON cannot say is a text.
fn real(value: f64) -> String {
    match serde_json::Number::from_f64(value) {
        Some(number) => number.to_string(),
        None if value.is_nan() => "\"NaN\"".to_owned(),
        None => (if value > 0.0 { "\"inf\"" } else { "\"-inf\"" }).to_owned(),
    }
}

/// A number; where its values have names, the name, or all of them.
fn write(int: &IntNode, value: u64, bits: u32, exact: i128, payload: &mut Payload) {
    let labels = int.labels.as_deref().map(Vec::as_slice).unwrap_or_default();
    let mut named = labels.iter().filter(|label| contains(&label.ranges, exact));
    match (named.next(), named.next()) {
        (Some(only), None) => payload.bytes(only.name.as_bytes()),
        (Some(_), Some(_)) => {
            let all = labels.iter().filter(|label| contains(&label.ranges, exact));
            let names: Vec<&str> = all.map(|label| label.name.as_str()).collect();
            payload.bytes(names.join("|").as_bytes());
        }
        _ if int.is_bool => payload.literal(if value != 0 { "true" } else { "false" }),
        _ if int.is_signed => payload.signed(signed(value, bits)),
        _ => payload.unsigned(value),
    }
}

fn bounded<'a>(cursor: &mut Cursor<'a>, count: u64) -> Result<&'a [u8], Lack> {
    match count > MOST_BYTES {
        true => Err(Lack::Bad("a field is too long")),
        false => cursor.bytes(count),
    }
}

/// A text of characters of two or four bytes up to a zero, as UTF-8.
fn wide_text(encoding: Encoding, cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Lack> {
    let (size, order) = match encoding {
        Encoding::Utf32(order) => (4, order),
        Encoding::Utf16(order) => (2, order),
        Encoding::Utf8 => (1, ByteOrder::Little),
    };
    let mut units = Vec::new();
    loop {
        let unit = cursor.number(8 * size, order)?;
        if unit == 0 {
            break;
        }
        units.push(unit as u32);
        if units.len() as u64 * u64::from(size) > MOST_BYTES {
            return Err(Lack::Bad("a field is too long"));
        }
    }
    Ok(characters(size, &units).into_bytes())
}

/// The same without a zero at its end.
fn decoded(encoding: Encoding, bytes: &[u8]) -> Vec<u8> {
    let (size, order) = match encoding {
        Encoding::Utf32(order) => (4, order),
        Encoding::Utf16(order) => (2, order),
        Encoding::Utf8 => return bytes.to_vec(),
    };
    let mut cursor = Cursor::new(bytes, 0, bytes.len() as u64 * 8);
    let units: Vec<u32> =
        std::iter::from_fn(|| cursor.number(8 * size, order).ok()).map(|unit| unit as u32).collect();
    characters(size, &units).into_bytes()
}

fn characters(size: u32, units: &[u32]) -> String {
    match size {
        2 => char::decode_utf16(units.iter().map(|unit| *unit as u16))
            .map(|c| c.unwrap_or('\u{fffd}'))
            .collect(),
        _ => units.iter().map(|unit| char::from_u32(*unit).unwrap_or('\u{fffd}')).collect(),
    }
}

/// A floating-point number of 16 bits (IEEE 754).
fn half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 if mantissa == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + mantissa / 1024.0) * 2f64.powi(exponent - 15),
    }
}
