//! The metadata of CTF 2: fragments of JSON, in the spelling of the standard and in that of its draft 7. Not
//! what is declared in them (see `model`).

use super::model::{
    Array, ByteOrder, Choice, Clock, Encoding, EventClass, Float, Int, Label, Length, Location, Optional,
    Role, Scope, StreamClass, Struct, Trace, Type, Variant,
};
use super::tsdl::uuid;
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Stands in front of each fragment.
const SEPARATOR: char = '\u{1e}';
/// Types may lie within each other so deep.
const MOST_DEEP: usize = 64;
/// Types that have names may be used so often: counted are all the types that they are made of.
const MOST_TYPES: u64 = 4 << 20;

type Object = Map<String, Value>;

/// True for the begin of such metadata.
pub(super) fn probe(head: &[u8]) -> bool {
    let begin = head.iter().position(|b| !b.is_ascii_whitespace() && *b != SEPARATOR as u8);
    begin.is_some_and(|at| head.get(at) == Some(&b'{'))
}

/// Reads metadata.
///
/// # Errors
/// With the line: what is no JSON, and what CTF 2 does not have.
pub(super) fn parse(text: &str) -> Result<Trace> {
    let text = text.replace(SEPARATOR, " ");
    let mut reader =
        Reader { trace: Trace::default(), streams: BTreeMap::new(), aliases: HashMap::new(), used: 0 };
    let mut fragments = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let (mut line, mut counted) = (1, 0);
    loop {
        // A fragment begins behind the blanks after the one before.
        let rest = text.get(fragments.byte_offset()..).unwrap_or_default().trim_start();
        let begin = text.len() - rest.len();
        let between = text.as_bytes().get(counted..begin).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', between).count() as u64;
        counted = begin;
        match fragments.next() {
            None => break,
            Some(Err(e)) => {
                return Err(Error::input(format!("line {} of the metadata: {e}", line.max(e.line() as u64))));
            }
            Some(Ok(fragment)) => reader
                .fragment(&fragment)
                .map_err(|why| Error::input(format!("line {line} of the metadata: {why}")))?,
        }
    }
    reader.trace.streams = reader.streams.into_values().collect();
    Ok(reader.trace)
}

struct Reader {
    trace: Trace,
    streams: BTreeMap<u64, StreamClass>,
    aliases: HashMap<String, Type>,
    /// Types that were used by name, with all that they are made of.
    used: u64,
}

/// Why a fragment cannot be used.
type Found<T> = std::result::Result<T, String>;

impl Reader {
    fn fragment(&mut self, fragment: &Value) -> Found<()> {
        let of = fragment.as_object().ok_or("a fragment is an object")?;
        match text(of, "type").unwrap_or_default() {
            "preamble" => {
                if number(of, "version") != Some(2) {
                    return Err("the metadata are of another version than 2".to_owned());
                }
                self.trace.uuid = of.get("uuid").and_then(uuid_of);
            }
            "field-class-alias" => {
                let name = text(of, "name").ok_or("an alias has no name")?.to_owned();
                let ty = self.ty(of.get("field-class").ok_or("an alias has no type")?, 0)?;
                self.aliases.insert(name, ty);
            }
            "trace-class" => {
                self.trace.uuid = of.get("uid").or(of.get("uuid")).and_then(uuid_of).or(self.trace.uuid);
                self.trace.packet_header = self.part(of, "packet-header-field-class")?;
                for (name, value) in of.get("environment").and_then(Value::as_object).into_iter().flatten() {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    self.trace.environment.push((name.clone(), value));
                }
            }
            "clock-class" => {
                let offset = of.get("offset-from-origin").or(of.get("offset")).and_then(Value::as_object);
                let part = |name: &str| offset.and_then(|offset| offset.get(name));
                let frequency = number(of, "frequency").filter(|hertz| *hertz > 0);
                self.trace.clocks.push(Clock {
                    name: text(of, "id").or(text(of, "name")).unwrap_or_default().to_owned(),
                    frequency: frequency.ok_or("a clock has no frequency above 0")?,
                    offset: (
                        part("seconds").and_then(Value::as_i64).unwrap_or(0),
                        part("cycles").and_then(Value::as_u64).unwrap_or(0),
                    ),
                });
            }
            "data-stream-class" => {
                let clock = text(of, "default-clock-class-id").or(text(of, "default-clock-class-name"));
                let stream = StreamClass {
                    id: number(of, "id").unwrap_or(0),
                    packet_context: self.part(of, "packet-context-field-class")?,
                    event_header: self.part(of, "event-record-header-field-class")?,
                    event_context: self.part(of, "event-record-common-context-field-class")?,
                    clock: clock.map(str::to_owned),
                    events: Vec::new(),
                };
                let id = stream.id;
                if self.streams.insert(id, stream).is_some() {
                    return Err(format!("stream {id} is declared twice"));
                }
            }
            "event-record-class" => {
                let stream = number(of, "data-stream-class-id").unwrap_or(0);
                let event = EventClass {
                    id: number(of, "id").unwrap_or(0),
                    name: text(of, "name").unwrap_or_default().to_owned(),
                    context: self.part(of, "specific-context-field-class")?,
                    fields: self.part(of, "payload-field-class")?,
                };
                let known = self.streams.get_mut(&stream);
                let known =
                    known.ok_or_else(|| format!("an event is of stream {stream}, which is not declared"))?;
                known.events.push(event);
            }
            // Fragments of extensions may be passed over.
            _ => {}
        }
        Ok(())
    }

    fn part(&mut self, of: &Object, name: &str) -> Found<Option<Type>> {
        of.get(name).map(|class| self.ty(class, 0)).transpose()
    }

    fn ty(&mut self, class: &Value, depth: usize) -> Found<Type> {
        if depth > MOST_DEEP {
            return Err(format!("types lie more than {MOST_DEEP} deep in each other"));
        }
        if let Some(name) = class.as_str() {
            let ty = self.aliases.get(name).ok_or_else(|| format!("nothing declares the type '{name}'"))?;
            self.used += ty.count();
            if self.used > MOST_TYPES {
                return Err("types are made of each other too often".to_owned());
            }
            return Ok(ty.clone());
        }
        let of = class.as_object().ok_or("a type is an object, or the name of one")?;
        let kind = text(of, "type").ok_or("a type does not say what it is")?;
        let inner = |name: &str| of.get(name).ok_or_else(|| format!("a type of '{kind}' has no '{name}'"));
        Ok(match kind {
            "fixed-length-unsigned-integer"
            | "fixed-length-unsigned-enumeration"
            | "fixed-length-bit-array"
            | "fixed-length-bit-map" => int(of, true, false)?,
            "fixed-length-signed-integer" | "fixed-length-signed-enumeration" => int(of, true, true)?,
            "fixed-length-boolean" => match int(of, true, false)? {
                Type::Int(int) => Type::Int(Int { is_bool: true, ..int }),
                other => other,
            },
            "variable-length-unsigned-integer" | "variable-length-unsigned-enumeration" => {
                int(of, false, false)?
            }
            "variable-length-signed-integer" | "variable-length-signed-enumeration" => int(of, false, true)?,
            "fixed-length-floating-point-number" => {
                let size = number(of, "length").filter(|size| [16, 32, 64].contains(size));
                let size = size.ok_or("floating-point numbers have 16, 32 or 64 bits here")? as u32;
                Type::Float(Float { size, align: align(of, "alignment")?, order: order(of) })
            }
            "null-terminated-string" | "string" => Type::Text(encoding(of)?),
            "static-length-string" => Type::TextOf(encoding(of)?, fixed(of)?),
            "dynamic-length-string" => Type::TextOf(encoding(of)?, field(of, "length-field-location")?),
            "static-length-blob" => Type::Blob(fixed(of)?, role(of)),
            "dynamic-length-blob" => Type::Blob(field(of, "length-field-location")?, role(of)),
            "structure" => {
                let mut fields = Vec::new();
                for member in of.get("member-classes").and_then(Value::as_array).into_iter().flatten() {
                    let member = member.as_object().ok_or("a member is an object")?;
                    let name = text(member, "name").ok_or("a member has no name")?.to_owned();
                    let ty = self.ty(member.get("field-class").ok_or("a member has no type")?, depth + 1)?;
                    fields.push((name, ty));
                }
                Type::Struct(Struct { align: align(of, "minimum-alignment")?, fields })
            }
            "static-length-array" | "dynamic-length-array" => {
                let length = match kind {
                    "static-length-array" => fixed(of)?,
                    _ => field(of, "length-field-location")?,
                };
                let element = self.ty(inner("element-field-class")?, depth + 1)?;
                Type::Array(Box::new(Array { element, length, align: align(of, "minimum-alignment")? }))
            }
            "optional" => Type::Optional(Box::new(Optional {
                ty: self.ty(inner("field-class")?, depth + 1)?,
                selector: location(inner("selector-field-location")?)?,
                // Without ranges, the selector is a boolean.
                ranges: match of.get("selector-field-ranges") {
                    Some(all) => ranges(all)?,
                    None => vec![(1, i128::MAX)],
                },
            })),
            "variant" => {
                let mut options = Vec::new();
                for (n, option) in
                    of.get("options").and_then(Value::as_array).into_iter().flatten().enumerate()
                {
                    let option = option.as_object().ok_or("an option is an object")?;
                    let ty = self.ty(option.get("field-class").ok_or("an option has no type")?, depth + 1)?;
                    let name = text(option, "name").map_or_else(|| n.to_string(), str::to_owned);
                    let ranges = option.get("selector-field-ranges").map(ranges).transpose()?;
                    options.push(Choice { name, ty, ranges });
                }
                Type::Variant(Box::new(Variant {
                    tag: location(inner("selector-field-location")?)?,
                    options,
                }))
            }
            other => return Err(format!("'{other}' is no type of CTF 2")),
        })
    }
}

fn text<'a>(of: &'a Object, name: &str) -> Option<&'a str> {
    of.get(name)?.as_str()
}

fn number(of: &Object, name: &str) -> Option<u64> {
    of.get(name)?.as_u64()
}

/// A text, or sixteen numbers.
fn uuid_of(value: &Value) -> Option<[u8; 16]> {
    match value {
        Value::String(text) => uuid(text),
        Value::Array(bytes) => {
            let bytes: Option<Vec<u8>> = bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
            bytes?.try_into().ok()
        }
        _ => None,
    }
}

fn order(of: &Object) -> ByteOrder {
    if text(of, "byte-order") == Some("big-endian") { ByteOrder::Big } else { ByteOrder::Little }
}

fn align(of: &Object, name: &str) -> Found<u32> {
    let align = number(of, name).unwrap_or(1);
    let align = u32::try_from(align).ok().filter(|align| align.is_power_of_two());
    align.ok_or_else(|| "an alignment is a power of two".to_owned())
}

fn encoding(of: &Object) -> Found<Encoding> {
    Ok(match text(of, "encoding").unwrap_or("utf-8") {
        "utf-8" => Encoding::Utf8,
        "utf-16be" => Encoding::Utf16(ByteOrder::Big),
        "utf-16le" => Encoding::Utf16(ByteOrder::Little),
        "utf-32be" => Encoding::Utf32(ByteOrder::Big),
        "utf-32le" => Encoding::Utf32(ByteOrder::Little),
        other => return Err(format!("'{other}' is no encoding of CTF 2")),
    })
}

fn fixed(of: &Object) -> Found<Length> {
    number(of, "length").map(Length::Fixed).ok_or_else(|| "a type has no length".to_owned())
}

fn field(of: &Object, name: &str) -> Found<Length> {
    location(of.get(name).ok_or_else(|| format!("a type has no '{name}'"))?).map(Length::Field)
}

fn role(of: &Object) -> Option<Role> {
    let roles = of.get("roles")?.as_array()?;
    roles.iter().filter_map(Value::as_str).find_map(|role| match role {
        "packet-magic-number" => Some(Role::Magic),
        "metadata-stream-uuid" | "trace-class-uuid" => Some(Role::Uuid),
        "data-stream-class-id" => Some(Role::StreamId),
        "packet-total-length" => Some(Role::PacketSize),
        "packet-content-length" => Some(Role::ContentSize),
        "default-clock-timestamp" => Some(Role::Clock),
        "packet-end-default-clock-timestamp" => Some(Role::TimestampEnd),
        "discarded-event-record-counter-snapshot" => Some(Role::EventsDiscarded),
        "packet-sequence-number" => Some(Role::PacketNumber),
        "event-record-class-id" => Some(Role::EventId),
        _ => None,
    })
}

fn int(of: &Object, is_fixed: bool, is_signed: bool) -> Found<Type> {
    let size = number(of, "length").filter(|size| (1..=64).contains(size));
    if is_fixed && size.is_none() {
        return Err("an integer has 1 to 64 bits here".to_owned());
    }
    let mut labels = Vec::new();
    for (name, all) in of.get("mappings").and_then(Value::as_object).into_iter().flatten() {
        labels.push(Label { name: name.clone(), ranges: ranges(all)? });
    }
    Ok(Type::Int(Int {
        size: size.filter(|_| is_fixed).map(|size| size as u32),
        align: if is_fixed { align(of, "alignment")? } else { 8 },
        order: order(of),
        is_signed,
        is_bool: false,
        is_char: false,
        labels: (!labels.is_empty()).then(|| Arc::new(labels)),
        role: role(of),
        clock: None,
    }))
}

/// `[1, [3, 5]]`
fn ranges(all: &Value) -> Found<Vec<(i128, i128)>> {
    let whole = |value: &Value| value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
    let one = |range: &Value| match range.as_array().map(Vec::as_slice) {
        Some([first, last]) => Some((whole(first)?, whole(last)?)),
        Some(_) => None,
        None => whole(range).map(|value| (value, value)),
    };
    let all = all.as_array().ok_or("ranges are a list")?;
    all.iter().map(one).collect::<Option<_>>().ok_or_else(|| "a range is two numbers".to_owned())
}

/// `{"origin": "event-record-payload", "path": ["a", "b"]}`; the draft has one list of all of these.
fn location(value: &Value) -> Found<Location> {
    let scope = |name: &str| match name {
        "packet-header" => Some(Scope::PacketHeader),
        "packet-context" => Some(Scope::PacketContext),
        "event-record-header" => Some(Scope::EventHeader),
        "event-record-common-context" => Some(Scope::StreamEventContext),
        "event-record-specific-context" => Some(Scope::EventContext),
        "event-record-payload" => Some(Scope::EventFields),
        _ => None,
    };
    let names =
        |path: &[Value]| path.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<String>>();
    let place = match value {
        Value::Object(of) => {
            let path = of.get("path").and_then(Value::as_array).map(|path| names(path)).unwrap_or_default();
            Location { scope: text(of, "origin").and_then(scope), path }
        }
        Value::Array(path) => {
            let mut path = names(path);
            let scope = path.first().and_then(|name| scope(name));
            if scope.is_some() {
                path.remove(0);
            }
            Location { scope, path }
        }
        _ => return Err("the location of a field is an object or a list".to_owned()),
    };
    if place.path.is_empty() { Err("the location of a field has no path".to_owned()) } else { Ok(place) }
}
