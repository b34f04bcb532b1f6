//! The types of a stream as they are read: the fields that others depend on have a slot for their value. Not
//! the reading (see `decoder`).

use super::model::{ByteOrder, Encoding, Label, Length, Location, Role, Scope, StreamClass, Type};
use crate::error::{Error, Result};
use crate::names::IdMap;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A field that is read.
#[derive(Debug)]
pub(super) enum Node {
    Int(IntNode),
    Float { size: u32, align: u32, order: ByteOrder },
    Text(Encoding),
    TextOf(Encoding, Count),
    Blob(Count),
    Struct { align: u32, fields: Vec<(Key, Node)> },
    Array { align: u32, element: Box<Node>, count: Count },
    Variant { tag: usize, choices: Vec<(Ranges, Node)> },
    Optional { selector: usize, ranges: Ranges, node: Box<Node> },
}

/// The name of a field as the payload has it, quoted once and not for each event.
#[derive(Debug)]
pub(super) struct Key(Box<str>);

impl Key {
    fn new(name: &str) -> Self {
        Self(format!("{}:", serde_json::Value::from(name)).into_boxed_str())
    }

    /// The name and its colon.
    pub fn json(&self) -> &str {
        &self.0
    }
}

/// First and last value of each range.
type Ranges = Vec<(i128, i128)>;

#[derive(Debug)]
pub(super) struct IntNode {
    /// `None`: variable length.
    pub size: Option<u32>,
    pub align: u32,
    pub order: ByteOrder,
    pub is_signed: bool,
    pub is_bool: bool,
    pub labels: Option<Arc<Vec<Label>>>,
    pub role: Option<Role>,
    /// Where its value is kept for fields that depend on it.
    pub slot: Option<usize>,
    /// The name of its number, where the value has a name.
    pub value_name: Option<Key>,
    /// Its number among the integers of the stream.
    number: usize,
}

/// How many elements or bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Fixed(u64),
    /// The value in this slot.
    Slot(usize),
}

/// An event as it is read.
#[derive(Debug)]
pub(super) struct EventNode {
    pub name: String,
    /// Among the events of all streams of the trace, from 0.
    pub number: u32,
    pub context: Option<Node>,
    pub fields: Option<Node>,
}

/// A stream as it is read.
#[derive(Debug)]
pub(super) struct Program {
    pub packet_context: Option<Node>,
    pub event_header: Option<Node>,
    pub event_context: Option<Node>,
    pub events: IdMap<u64, EventNode>,
    /// How many slots there are.
    pub slots: usize,
}

/// What a name means to fields behind it.
#[derive(Debug, Clone)]
enum Seen {
    Int(usize),
    Struct(Vec<(String, Seen)>),
    Other,
}

/// An integer, and the slot that it was given.
#[derive(Debug, Default)]
struct Known {
    slot: Option<usize>,
    labels: Option<Arc<Vec<Label>>>,
}

struct Linker {
    ints: Vec<Known>,
    slots: usize,
    /// The parts that were read before.
    scopes: Vec<(Scope, Seen)>,
    /// The structures around the field, the outermost first, with the fields before it.
    open: Vec<Vec<(String, Seen)>>,
    /// What roles integers of the present part get by their names.
    by_name: fn(&str) -> Option<Role>,
}

/// Links streams whose packets begin with `header`: returns the header as it is read, and the streams, by
/// number.
///
/// # Errors
/// A field that depends on one that is not there.
pub(super) fn link(
    header: Option<&Type>,
    streams: &[StreamClass],
) -> Result<(Option<Node>, BTreeMap<u64, Program>)> {
    let mut linker =
        Linker { ints: Vec::new(), slots: 0, scopes: Vec::new(), open: Vec::new(), by_name: |_| None };
    let mut header = linker.part(Scope::PacketHeader, header, of_packet_header)?;
    // Which of its fields streams depend on is known at the end only, and differs from stream to stream.
    for number in 0..linker.ints.len() {
        linker.slot(number);
    }
    header.iter_mut().for_each(|node| linker.set_slots(node));
    let (ints, slots, scopes) = (linker.ints.len(), linker.slots, linker.scopes.len());
    let (mut programs, mut next) = (BTreeMap::new(), 0);
    for stream in streams {
        linker.ints.truncate(ints);
        linker.scopes.truncate(scopes);
        linker.slots = slots;
        programs.insert(stream.id, Program::new(&mut linker, stream, &mut next)?);
    }
    Ok((header, programs))
}

impl Program {
    /// Links a stream behind the header that `linker` has. Its events are numbered from `next` on.
    ///
    /// # Errors
    /// A field that depends on one that is not there.
    fn new(linker: &mut Linker, stream: &StreamClass, next: &mut u32) -> Result<Self> {
        let mut packet_context =
            linker.part(Scope::PacketContext, stream.packet_context.as_ref(), of_packet_context)?;
        let mut event_header =
            linker.part(Scope::EventHeader, stream.event_header.as_ref(), of_event_header)?;
        let mut event_context =
            linker.part(Scope::StreamEventContext, stream.event_context.as_ref(), of_event)?;
        let common = linker.scopes.len();
        let mut events = IdMap::default();
        for event in &stream.events {
            let context = linker.part(Scope::EventContext, event.context.as_ref(), of_event);
            let named = |e: Error| Error::input(format!("event '{}': {e}", event.name));
            let context = context.map_err(named)?;
            let fields = linker.part(Scope::EventFields, event.fields.as_ref(), of_event).map_err(named)?;
            linker.scopes.truncate(common);
            events.insert(event.id, EventNode { name: event.name.clone(), number: *next, context, fields });
            *next += 1;
        }
        let parts = [&mut packet_context, &mut event_header, &mut event_context];
        let of_events = events.values_mut().flat_map(|event| [&mut event.context, &mut event.fields]);
        parts.into_iter().chain(of_events).flatten().for_each(|node| linker.set_slots(node));
        Ok(Self { packet_context, event_header, event_context, events, slots: linker.slots })
    }
}

fn of_packet_header(name: &str) -> Option<Role> {
    match name {
        "magic" => Some(Role::Magic),
        "stream_id" => Some(Role::StreamId),
        _ => None,
    }
}

fn of_packet_context(name: &str) -> Option<Role> {
    match name {
        "packet_size" => Some(Role::PacketSize),
        "content_size" => Some(Role::ContentSize),
        "timestamp_begin" => Some(Role::TimestampBegin),
        "timestamp_end" => Some(Role::TimestampEnd),
        "events_discarded" => Some(Role::EventsDiscarded),
        "packet_seq_num" => Some(Role::PacketNumber),
        "cpu_id" | "core_id" => Some(Role::CpuId),
        _ => None,
    }
}

fn of_event_header(name: &str) -> Option<Role> {
    match name {
        "id" => Some(Role::EventId),
        // Zephyr declares no clock that it could be mapped to.
        "timestamp" => Some(Role::Clock),
        _ => None,
    }
}

/// Tracers with one stream for all CPUs say in each event which one it is of: `perf data convert`, Zephyr.
fn of_event(name: &str) -> Option<Role> {
    matches!(name, "perf_cpu" | "core_id").then_some(Role::CpuId)
}

impl Linker {
    fn part(
        &mut self,
        scope: Scope,
        ty: Option<&Type>,
        by_name: fn(&str) -> Option<Role>,
    ) -> Result<Option<Node>> {
        let Some(ty) = ty else { return Ok(None) };
        self.by_name = by_name;
        let (node, seen) = self.link(ty, "", scope)?;
        self.scopes.push((scope, seen));
        Ok(Some(node))
    }

    /// A field of that name as it is read, and what its name means.
    fn link(&mut self, ty: &Type, name: &str, scope: Scope) -> Result<(Node, Seen)> {
        Ok(match ty {
            Type::Int(int) => {
                let number = self.ints.len();
                self.ints.push(Known { slot: None, labels: int.labels.clone() });
                let of_clock = int.clock.is_some().then_some(Role::Clock);
                let role = match int.role.or_else(|| (self.by_name)(name)).or(of_clock) {
                    Some(Role::Clock) if scope == Scope::PacketContext => Some(Role::TimestampBegin),
                    Some(Role::Clock) if scope != Scope::EventHeader => None,
                    role => role,
                };
                let node = IntNode {
                    size: int.size,
                    align: int.align.max(1),
                    order: int.order,
                    is_signed: int.is_signed,
                    is_bool: int.is_bool,
                    labels: int.labels.clone(),
                    role,
                    slot: None,
                    value_name: int.labels.as_ref().map(|_| Key::new(&format!("{name}.value"))),
                    number,
                };
                (Node::Int(node), Seen::Int(number))
            }
            Type::Float(float) => {
                (Node::Float { size: float.size, align: float.align.max(1), order: float.order }, Seen::Other)
            }
            Type::Text(encoding) => (Node::Text(*encoding), Seen::Other),
            Type::TextOf(encoding, length) => (Node::TextOf(*encoding, self.count(length)?), Seen::Other),
            Type::Blob(length, _) => (Node::Blob(self.count(length)?), Seen::Other),
            Type::Struct(of) => {
                self.open.push(Vec::new());
                let mut fields = Vec::with_capacity(of.fields.len());
                for (name, ty) in &of.fields {
                    let (node, seen) = self.link(ty, name, scope)?;
                    fields.push((Key::new(name), node));
                    if let Some(open) = self.open.last_mut() {
                        open.push((name.clone(), seen));
                    }
                }
                let seen = self.open.pop().unwrap_or_default();
                (Node::Struct { align: ty.align(), fields }, Seen::Struct(seen))
            }
            Type::Array(array) => {
                let count = self.count(&array.length)?;
                let (element, _) = self.link(&array.element, "", scope)?;
                (Node::Array { align: ty.align(), element: Box::new(element), count }, Seen::Other)
            }
            Type::Variant(of) => {
                let tag = self.int_at(&of.tag)?;
                let labels = self.ints.get(tag).and_then(|int| int.labels.clone());
                let mut of_labels = HashMap::new();
                for label in labels.iter().flat_map(|all| all.iter()) {
                    of_labels.entry(label.name.trim_start_matches('_')).or_insert(&label.ranges);
                }
                let mut choices = Vec::with_capacity(of.options.len());
                for choice in &of.options {
                    let of_label = || of_labels.get(choice.name.trim_start_matches('_')).copied();
                    // A choice that no value names is never taken.
                    let ranges = choice.ranges.as_ref().or_else(of_label).cloned().unwrap_or_default();
                    choices.push((ranges, self.link(&choice.ty, &choice.name, scope)?.0));
                }
                (Node::Variant { tag: self.slot(tag), choices }, Seen::Other)
            }
            Type::Optional(of) => {
                let selector = self.int_at(&of.selector)?;
                let (node, seen) = self.link(&of.ty, name, scope)?;
                let selector = self.slot(selector);
                (Node::Optional { selector, ranges: of.ranges.clone(), node: Box::new(node) }, seen)
            }
        })
    }

    fn count(&mut self, length: &Length) -> Result<Count> {
        match length {
            Length::Fixed(count) => Ok(Count::Fixed(*count)),
            Length::Field(location) => {
                let number = self.int_at(location)?;
                Ok(Count::Slot(self.slot(number)))
            }
        }
    }

    /// The slot of an integer.
    fn slot(&mut self, number: usize) -> usize {
        let next = self.slots;
        let Some(known) = self.ints.get_mut(number) else { return next };
        let slot = *known.slot.get_or_insert(next);
        self.slots = self.slots.max(slot + 1);
        slot
    }

    /// The integer at a place: in the part that is named, else in the structures around, from the innermost
    /// one outwards, else in the parts before.
    fn int_at(&self, location: &Location) -> Result<usize> {
        let in_open = || self.open.iter().rev().find_map(|fields| found(fields, &location.path));
        let in_scopes = || {
            self.scopes.iter().rev().find_map(|(_, seen)| match seen {
                Seen::Struct(fields) => found(fields, &location.path),
                _ => None,
            })
        };
        let of_scope = |scope: Scope| {
            let known = self.scopes.iter().rev().find(|(known, _)| *known == scope);
            match known {
                Some((_, Seen::Struct(fields))) => found(fields, &location.path),
                // The part that is being linked.
                _ => self.open.first().and_then(|fields| found(fields, &location.path)),
            }
        };
        let number = match location.scope {
            Some(scope) => of_scope(scope),
            None => in_open().or_else(in_scopes),
        };
        number.ok_or_else(|| {
            let path = location.path.join(".");
            Error::input(format!("a field depends on '{path}', which is no integer in front of it"))
        })
    }

    fn set_slots(&self, node: &mut Node) {
        match node {
            Node::Int(int) => int.slot = self.ints.get(int.number).and_then(|known| known.slot),
            Node::Struct { fields, .. } => fields.iter_mut().for_each(|(_, node)| self.set_slots(node)),
            Node::Array { element, .. } => self.set_slots(element),
            Node::Variant { choices, .. } => choices.iter_mut().for_each(|(_, node)| self.set_slots(node)),
            Node::Optional { node, .. } => self.set_slots(node),
            Node::Float { .. } | Node::Text(_) | Node::TextOf(..) | Node::Blob(_) => {}
        }
    }
}

/// The integer at a path of names within fields.
fn found(fields: &[(String, Seen)], path: &[String]) -> Option<usize> {
    let (name, rest) = path.split_first()?;
    let (_, seen) = fields.iter().rev().find(|(known, _)| known == name)?;
    match (seen, rest) {
        (Seen::Int(number), []) => Some(*number),
        (Seen::Struct(fields), [_, ..]) => found(fields, rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tsdl;
    use super::*;

    /// One that looks at all names for each name would take minutes.
    #[test]
    fn many_names_of_values_are_linked_in_time() {
        let names = |of: fn(u32) -> String| (0..60_000).map(of).collect::<String>();
        let text = format!(
            "event {{ name = e; fields := struct {{ enum : integer {{ size = 32; }} {{ {} }} tag; variant <tag> {{ {} }} v; }}; }};",
            names(|n| format!("_N{n},")),
            names(|n| format!("string N{n};"))
        );
        let trace = tsdl::parse(&text, ByteOrder::Little).unwrap();
        let (_, programs) = link(None, &trace.streams).unwrap();
        let Some(Node::Struct { fields, .. }) = &programs[&0].events[&0].fields else { panic!("no fields") };
        let Node::Variant { choices, .. } = &fields[1].1 else { panic!("no variant") };
        assert_eq!((choices.len(), &choices[59_999].0), (60_000, &vec![(59_999, 59_999)]));
    }
}
