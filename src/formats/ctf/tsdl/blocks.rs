//! The blocks of TSDL: `trace`, `env`, `clock`, `stream` and `event`. Not the types in them (see `types`).

use super::lexer::{Token, Word};
use super::types::{Parser, Value};
use crate::error::Result;
use crate::formats::ctf::model::{ByteOrder, Clock, EventClass, StreamClass, Trace, Type};
use std::collections::BTreeMap;

/// One statement of a block.
enum Statement {
    /// `a.b = value;`
    Value(String, Value),
    /// `a.b := type;`
    Type(String, Type),
}

/// The byte order that the block `trace` declares. It may come behind the types that depend on it.
pub(super) fn native_order(tokens: &[Token]) -> Option<ByteOrder> {
    let is_name = |token: &Token, name: &str| matches!(&token.word, Word::Name(found) if found == name);
    let (mut depth, mut in_trace) = (0, false);
    for (n, token) in tokens.iter().enumerate() {
        match &token.word {
            Word::Sign("{") => {
                let before = n.checked_sub(1).and_then(|before| tokens.get(before));
                in_trace |= depth == 0 && before.is_some_and(|token| is_name(token, "trace"));
                depth += 1;
            }
            Word::Sign("}") => {
                depth -= 1;
                in_trace &= depth > 0;
            }
            Word::Name(name) if name == "byte_order" && in_trace && depth == 1 => {
                return match tokens.get(n + 2).map(|token| &token.word) {
                    Some(Word::Name(order)) if order == "le" => Some(ByteOrder::Little),
                    Some(Word::Name(order)) if order == "be" || order == "network" => Some(ByteOrder::Big),
                    _ => None,
                };
            }
            _ => {}
        }
    }
    None
}

impl Parser {
    /// All blocks of the metadata.
    pub fn trace(&mut self) -> Result<Trace> {
        let mut trace = Trace::default();
        let mut streams: BTreeMap<u64, StreamClass> = BTreeMap::new();
        let mut events: Vec<(u64, EventClass)> = Vec::new();
        while !self.is_at_end() {
            if self.take(";") || self.definition()? {
                continue;
            }
            match self.peek_name() {
                Some("trace") => self.trace_block(&mut trace)?,
                Some("env") => {
                    for (name, value) in self.values()? {
                        trace.environment.push((name, value.text()));
                    }
                }
                Some("clock") => {
                    let clock = self.clock()?;
                    trace.clocks.push(clock);
                }
                Some("callsite") => drop(self.values()?),
                Some("stream") => {
                    let line = self.line();
                    let stream = self.stream()?;
                    let id = stream.id;
                    if streams.insert(id, stream).is_some() {
                        return Err(super::lexer::bad(line, &format!("stream {id} is declared twice")));
                    }
                }
                Some("event") => {
                    let event = self.event()?;
                    events.push(event);
                }
                // `struct name { … };`, and the like.
                _ => {
                    self.ty()?;
                    self.expect(";")?;
                }
            }
        }
        if events.iter().any(|(stream, _)| *stream == 0) {
            // A trace of one stream need not declare it.
            streams.entry(0).or_default();
        }
        for (stream, event) in events {
            let id = event.id;
            match streams.get_mut(&stream) {
                Some(stream) => stream.events.push(event),
                None => {
                    let name = event.name;
                    return Err(self.error(&format!(
                        "event '{name}' ({id}) is of stream {stream}, which is not declared"
                    )));
                }
            }
        }
        trace.streams = streams.into_values().collect();
        Ok(trace)
    }

    /// `keyword { … };` with its statements.
    fn block(&mut self) -> Result<Vec<Statement>> {
        self.name()?;
        self.open()?;
        let mut all = Vec::new();
        while !self.take("}") {
            if self.definition()? {
                continue;
            }
            let name = self.path()?.join(".");
            if self.take(":=") {
                all.push(Statement::Type(name, self.ty()?));
            } else {
                self.expect("=")?;
                let mut value = self.value()?;
                // `name = module:event;` without quotation marks.
                while self.take(":") {
                    value = Value::Text(format!("{}:{}", value.text(), self.value()?.text()));
                }
                all.push(Statement::Value(name, value));
            }
            self.expect(";")?;
        }
        self.close();
        Ok(all)
    }

    /// The same for a block of values.
    fn values(&mut self) -> Result<Vec<(String, Value)>> {
        let statements = self.block()?;
        let value = |statement| match statement {
            Statement::Value(name, value) => Some((name, value)),
            Statement::Type(..) => None,
        };
        Ok(statements.into_iter().filter_map(value).collect())
    }

    fn trace_block(&mut self, trace: &mut Trace) -> Result<()> {
        for statement in self.block()? {
            match statement {
                Statement::Type(name, ty) if name == "packet.header" => trace.packet_header = Some(ty),
                Statement::Value(name, value) if name == "uuid" => trace.uuid = uuid(&value.text()),
                _ => {}
            }
        }
        Ok(())
    }

    fn clock(&mut self) -> Result<Clock> {
        let mut clock = Clock::nanoseconds();
        for (name, value) in self.values()? {
            let number = value.number();
            match (name.as_str(), number) {
                ("name", _) => clock.name = value.text(),
                ("freq", Some(number)) => clock.frequency = u64::try_from(number).unwrap_or(0),
                ("offset_s", Some(number)) => clock.offset.0 = i64::try_from(number).unwrap_or(0),
                ("offset", Some(number)) => clock.offset.1 = u64::try_from(number).unwrap_or(0),
                _ => {}
            }
        }
        match clock.frequency {
            0 => Err(self.error(&format!("clock '{}' has no frequency above 0", clock.name))),
            _ => Ok(clock),
        }
    }

    fn id(&self, value: &Value) -> Result<u64> {
        let id = value.number().and_then(|number| u64::try_from(number).ok());
        id.ok_or_else(|| self.error(&format!("'{}' is no number of a stream or event", value.text())))
    }

    fn stream(&mut self) -> Result<StreamClass> {
        let mut stream = StreamClass::default();
        for statement in self.block()? {
            match statement {
                Statement::Value(name, value) if name == "id" => stream.id = self.id(&value)?,
                Statement::Type(name, ty) => match name.as_str() {
                    "packet.context" => stream.packet_context = Some(ty),
                    "event.header" => stream.event_header = Some(ty),
                    "event.context" => stream.event_context = Some(ty),
                    _ => {}
                },
                Statement::Value(..) => {}
            }
        }
        Ok(stream)
    }

    /// The number of its stream, and the event.
    fn event(&mut self) -> Result<(u64, EventClass)> {
        let (mut stream, mut event) = (0, EventClass::default());
        for statement in self.block()? {
            match statement {
                Statement::Value(name, value) => match name.as_str() {
                    "id" => event.id = self.id(&value)?,
                    "stream_id" => stream = self.id(&value)?,
                    "name" => event.name = value.text(),
                    _ => {}
                },
                Statement::Type(name, ty) => match name.as_str() {
                    "context" => event.context = Some(ty),
                    "fields" => event.fields = Some(ty),
                    _ => {}
                },
            }
        }
        Ok((stream, event))
    }
}

/// Sixteen bytes of hexadecimal digits, with dashes or without.
pub(in crate::formats::ctf) fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> =
        text.chars().filter(|c| *c != '-').map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    let bytes: Vec<u8> =
        digits.chunks(2).filter_map(|pair| Some(pair.first()? << 4 | pair.get(1)?)).collect();
    bytes.try_into().ok()
}
