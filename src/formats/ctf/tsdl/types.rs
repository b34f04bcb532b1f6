//! Types in TSDL: `integer { … }`, `struct … { … }`, names for them, and the fields of structures. Not the
//! blocks that use them (see `blocks`).

use super::lexer::{Token, Word, bad};
use crate::error::Result;
use crate::formats::ctf::model::{
    Array, ByteOrder, Choice, Encoding, Float, Int, Label, Length, Location, Scope, Struct, Type, Variant,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Types may lie within each other so deep.
const MOST_DEEP: usize = 64;
/// Types that have names may be used so often: counted are all the types that they are made of.
const MOST_TYPES: u64 = 4 << 20;

/// A value behind `=`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Number(i128),
    Text(String),
    /// `clock.monotonic.value`
    Path(Vec<String>),
}

impl Value {
    pub fn number(&self) -> Option<i128> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// A text or a name.
    pub fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Path(path) => path.join("."),
        }
    }

    fn is_true(&self) -> bool {
        match self {
            Self::Number(number) => *number != 0,
            other => other.text().eq_ignore_ascii_case("true"),
        }
    }
}

/// Reads words one by one.
pub(super) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// The byte order of the trace.
    pub native: ByteOrder,
    /// The names of types, of the inner blocks last.
    scopes: Vec<HashMap<String, Type>>,
    depth: usize,
    /// Types that were used by name, with all that they are made of.
    used: u64,
}

impl Parser {
    pub fn new(tokens: Vec<Token>, native: ByteOrder) -> Self {
        Self { tokens, at: 0, native, scopes: vec![HashMap::new()], depth: 0, used: 0 }
    }

    // ---- words ----

    pub fn line(&self) -> u64 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    pub fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn peek(&self) -> Option<&Word> {
        self.tokens.get(self.at).map(|token| &token.word)
    }

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Word::Sign(found)) if *found == sign)
    }

    /// The next word, if it is a name.
    pub fn peek_name(&self) -> Option<&str> {
        if let Some(Word::Name(name)) = self.peek() { Some(name) } else { None }
    }

    /// Takes the sign, if it is next.
    pub fn take(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, sign: &str) -> Result<()> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(self.error(&format!("'{sign}' was expected, not {}", self.shown()))),
        }
    }

    pub fn name(&mut self) -> Result<String> {
        let name = self.peek_name().map(str::to_owned);
        let name = name.ok_or_else(|| self.error(&format!("a name was expected, not {}", self.shown())))?;
        self.at += 1;
        Ok(name)
    }

    fn shown(&self) -> String {
        match self.peek() {
            None => "the end".to_owned(),
            Some(Word::Name(name)) => format!("'{name}'"),
            Some(Word::Number(number)) => number.to_string(),
            Some(Word::Text(text)) => format!("\"{text}\""),
            Some(Word::Sign(sign)) => format!("'{sign}'"),
        }
    }

    pub fn error(&self, why: &str) -> crate::error::Error {
        bad(self.line(), why)
    }

    /// `a.b.c`
    pub fn path(&mut self) -> Result<Vec<String>> {
        let mut path = vec![self.name()?];
        while self.take(".") {
            path.push(self.name()?);
        }
        Ok(path)
    }

    pub fn value(&mut self) -> Result<Value> {
        let is_negative = self.take("-");
        match self.peek().cloned() {
            Some(Word::Number(number)) => {
                self.at += 1;
                Ok(Value::Number(if is_negative { -number } else { number }))
            }
            Some(Word::Text(text)) => {
                self.at += 1;
                Ok(Value::Text(text))
            }
            _ => self.path().map(Value::Path),
        }
    }

    /// Opens a block, within which types may get names of their own.
    pub fn open(&mut self) -> Result<()> {
        self.expect("{")?;
        self.depth += 1;
        if self.depth > MOST_DEEP {
            return Err(self.error(&format!("blocks lie more than {MOST_DEEP} deep in each other")));
        }
        self.scopes.push(HashMap::new());
        Ok(())
    }

    pub fn close(&mut self) {
        self.depth -= 1;
        self.scopes.pop();
    }

    fn define(&mut self, name: String, ty: Type) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, ty);
        }
    }

    /// The type of that name.
    fn find(&mut self, name: &str) -> Result<Option<Type>> {
        let Some(ty) = self.scopes.iter().rev().find_map(|scope| scope.get(name)) else { return Ok(None) };
        self.used += ty.count();
        if self.used > MOST_TYPES {
            return Err(self.error("types are made of each other too often"));
        }
        Ok(Some(ty.clone()))
    }

    fn known(&mut self, name: &str) -> Result<Type> {
        self.find(name)?.ok_or_else(|| self.error(&format!("nothing declares '{name}'")))
    }

    // ---- types ----

    /// A definition that names types: `typealias … := name;`, `typedef … name;`, `struct name { … };`. False
    /// if there is none.
    pub fn definition(&mut self) -> Result<bool> {
        match self.peek_name() {
            Some("typealias") => {
                self.at += 1;
                let ty = self.ty()?;
                self.expect(":=")?;
                let mut name = vec![self.name()?];
                while self.peek_name().is_some() {
                    name.push(self.name()?);
                }
                self.define(name.join(" "), ty);
            }
            Some("typedef") => {
                self.at += 1;
                let ty = self.ty()?;
                let (name, ty) = self.declarator(&ty)?;
                self.define(name, ty);
            }
            _ => return Ok(false),
        }
        self.expect(";")?;
        Ok(true)
    }

    /// A type. Those that are named in it are defined by that.
    pub fn ty(&mut self) -> Result<Type> {
        while matches!(self.peek_name(), Some("const")) {
            self.at += 1;
        }
        match self.peek_name() {
            Some("integer") => self.integer(),
            Some("floating_point") => self.floating_point(),
            Some("string") => {
                self.at += 1;
                if self.is_sign("{") {
                    self.attributes()?;
                }
                Ok(Type::Text(Encoding::Utf8))
            }
            Some("struct") => self.structure(),
            Some("variant") => self.variant(),
            Some("enum") => self.enumeration(),
            Some(_) => self.alias(),
            None => Err(self.error(&format!("a type was expected, not {}", self.shown()))),
        }
    }

    /// The longest run of names that is the name of a type: `unsigned long`.
    fn alias(&mut self) -> Result<Type> {
        let names =
            self.tokens.get(self.at..).unwrap_or_default().iter().map_while(|token| match &token.word {
                Word::Name(name) => Some(name.clone()),
                _ => None,
            });
        let run: Vec<String> = names.take(8).collect();
        for length in (1..=run.len()).rev() {
            if let Some(ty) = self.find(&run.get(..length).unwrap_or_default().join(" "))? {
                self.at += length;
                return Ok(ty);
            }
        }
        Err(self.error(&format!("nothing declares the type {}", self.shown())))
    }

    /// `{ name = value; … }`
    fn attributes(&mut self) -> Result<Vec<(String, Value)>> {
        self.open()?;
        let mut all = Vec::new();
        while !self.take("}") {
            let name = self.path()?.join(".");
            self.expect("=")?;
            all.push((name, self.value()?));
            self.expect(";")?;
        }
        self.close();
        Ok(all)
    }

    fn byte_order(&self, value: &Value) -> Result<ByteOrder> {
        match value.text().as_str() {
            "native" => Ok(self.native),
            "le" => Ok(ByteOrder::Little),
            "be" | "network" => Ok(ByteOrder::Big),
            other => Err(self.error(&format!("'{other}' is no byte order: native, le, be or network"))),
        }
    }

    fn number_of(&self, name: &str, value: &Value, range: std::ops::RangeInclusive<i128>) -> Result<u32> {
        let number = value.number().filter(|number| range.contains(number));
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            self.error(&format!("'{name}' is a number from {least} to {most}, not {}", value.text()))
        })
    }

    fn align_of(&self, value: &Value) -> Result<u32> {
        let align = self.number_of("align", value, 1..=1 << 20)?;
        match align.is_power_of_two() {
            true => Ok(align),
            false => Err(self.error(&format!("an alignment is a power of two, not {align}"))),
        }
    }

    fn integer(&mut self) -> Result<Type> {
        self.at += 1;
        let mut int = Int {
            size: None,
            align: 0,
            order: self.native,
            is_signed: false,
            is_bool: false,
            is_char: false,
            labels: None,
            role: None,
            clock: None,
        };
        for (name, value) in self.attributes()? {
            match name.as_str() {
                "size" => int.size = Some(self.number_of("size", &value, 1..=64)?),
                "align" => int.align = self.align_of(&value)?,
                "signed" => int.is_signed = value.is_true(),
                "byte_order" => int.order = self.byte_order(&value)?,
                "encoding" => int.is_char = !value.text().eq_ignore_ascii_case("none"),
                "map" => {
                    if let Value::Path(path) = &value
                        && let [_, clock, ..] = path.as_slice()
                    {
                        int.clock = Some(Arc::from(clock.as_str()));
                    }
                }
                _ => {}
            }
        }
        let Some(size) = int.size else { return Err(self.error("an integer has no size")) };
        if int.align == 0 {
            int.align = if size.is_multiple_of(8) { 8 } else { 1 };
        }
        Ok(Type::Int(int))
    }

    fn floating_point(&mut self) -> Result<Type> {
        self.at += 1;
        let (mut exponent, mut mantissa, mut align, mut order) = (0, 0, 0, self.native);
        for (name, value) in self.attributes()? {
            match name.as_str() {
                "exp_dig" => exponent = self.number_of("exp_dig", &value, 1..=64)?,
                "mant_dig" => mantissa = self.number_of("mant_dig", &value, 1..=64)?,
                "align" => align = self.align_of(&value)?,
                "byte_order" => order = self.byte_order(&value)?,
                _ => {}
            }
        }
        let size = match (exponent, mantissa) {
            (5, 11) => 16,
            (8, 24) => 32,
            (11, 53) => 64,
            _ => {
                return Err(self.error(&format!(
                    "floating-point numbers of {exponent} and {mantissa} bits are not read"
                )));
            }
        };
        Ok(Type::Float(Float { size, align: if align == 0 { 8 } else { align }, order }))
    }

    fn structure(&mut self) -> Result<Type> {
        self.at += 1;
        let name = if self.is_sign("{") { None } else { Some(self.name()?) };
        if let Some(name) = name.as_ref().filter(|_| !self.is_sign("{")) {
            let name = format!("struct {name}");
            return self.known(&name);
        }
        self.open()?;
        let mut of = Struct { align: 1, fields: Vec::new() };
        while !self.take("}") {
            self.field(&mut of.fields)?;
        }
        self.close();
        if self.peek_name() == Some("align") {
            self.at += 1;
            self.expect("(")?;
            let value = self.value()?;
            of.align = self.align_of(&value)?;
            self.expect(")")?;
        }
        let ty = Type::Struct(of);
        if let Some(name) = name {
            self.define(format!("struct {name}"), ty.clone());
        }
        Ok(ty)
    }

    /// `type name, name[3];`, or a definition.
    fn field(&mut self, fields: &mut Vec<(String, Type)>) -> Result<()> {
        if self.definition()? {
            return Ok(());
        }
        let ty = self.ty()?;
        // A type that is only named.
        if self.take(";") {
            return Ok(());
        }
        loop {
            let (name, ty) = self.declarator(&ty)?;
            fields.push((own(name), ty));
            if !self.take(",") {
                return self.expect(";");
            }
        }
    }

    /// `name`, `name[16]`, `name[length][2]`: the name and the type of a field.
    fn declarator(&mut self, ty: &Type) -> Result<(String, Type)> {
        let name = self.name()?;
        let mut lengths = Vec::new();
        while self.take("[") {
            let length = match self.value()? {
                Value::Number(number) => u64::try_from(number).map(Length::Fixed).ok(),
                Value::Path(path) => Some(Length::Field(location(path))),
                Value::Text(_) => None,
            };
            lengths.push(length.ok_or_else(|| self.error("a length is a number or the name of a field"))?);
            self.expect("]")?;
        }
        let mut ty = ty.clone();
        for length in lengths.into_iter().rev() {
            let is_text =
                matches!(&ty, Type::Int(int) if int.is_char && int.size == Some(8) && int.align == 8);
            ty = match is_text {
                true => Type::TextOf(Encoding::Utf8, length),
                false => Type::Array(Box::new(Array { element: ty, length, align: 1 })),
            };
        }
        Ok((name, ty))
    }

    /// `variant <tag> { … }`, `variant name <tag> { … }`, `variant name <tag>`.
    fn variant(&mut self) -> Result<Type> {
        self.at += 1;
        let name = if self.is_sign("{") || self.is_sign("<") { None } else { Some(self.name()?) };
        let mut tag = None;
        if self.take("<") {
            tag = Some(location(self.path()?));
            self.expect(">")?;
        }
        let mut of = match self.is_sign("{") {
            true => {
                self.open()?;
                let mut fields = Vec::new();
                while !self.take("}") {
                    self.field(&mut fields)?;
                }
                self.close();
                let choice = |(name, ty)| Choice { name, ty, ranges: None };
                let options = fields.into_iter().map(choice).collect();
                Variant { tag: tag.clone().unwrap_or_else(|| location(Vec::new())), options }
            }
            false => {
                let name = name.as_deref().unwrap_or_default();
                match self.known(&format!("variant {name}"))? {
                    Type::Variant(known) => *known,
                    _ => return Err(self.error(&format!("'{name}' is no variant"))),
                }
            }
        };
        if let Some(tag) = tag {
            of.tag = tag;
        }
        let ty = Type::Variant(Box::new(of));
        if let Some(name) = name {
            self.define(format!("variant {name}"), ty.clone());
        }
        Ok(ty)
    }

    /// `enum name : type { A, B = 1, C = 3 ... 5 }`
    fn enumeration(&mut self) -> Result<Type> {
        self.at += 1;
        let is_named = self.peek_name().is_some();
        let name = if is_named { Some(self.name()?) } else { None };
        let container = if self.take(":") { Some(self.ty()?) } else { None };
        if !self.is_sign("{") {
            return self.known(&format!("enum {}", name.unwrap_or_default()));
        }
        let container = match container {
            Some(container) => container,
            None => self.known("int")?,
        };
        let Type::Int(mut int) = container else { return Err(self.error("an enumeration is of integers")) };
        self.open()?;
        let (mut labels, mut places, mut next) = (Vec::<Label>::new(), HashMap::new(), 0);
        while !self.take("}") {
            let name = match self.value()? {
                Value::Text(text) => text,
                Value::Path(path) => path.join("."),
                Value::Number(number) => return Err(self.error(&format!("{number} is no name of a value"))),
            };
            let (mut first, mut last) = (next, next);
            if self.take("=") {
                let number = |value: Value| value.number();
                first = number(self.value()?).ok_or_else(|| self.error("a value is a number"))?;
                last = first;
                if self.take("...") {
                    last = number(self.value()?).ok_or_else(|| self.error("a value is a number"))?;
                }
            }
            next = last + 1;
            let place = *places.entry(name.clone()).or_insert(labels.len());
            match labels.get_mut(place) {
                Some(label) => label.ranges.push((first, last)),
                None => labels.push(Label { name, ranges: vec![(first, last)] }),
            }
            if !self.take(",") && !self.is_sign("}") {
                return Err(self.error(&format!("',' or '}}' was expected, not {}", self.shown())));
            }
        }
        self.close();
        int.labels = Some(Arc::new(labels));
        let ty = Type::Int(int);
        if let Some(name) = name {
            self.define(format!("enum {name}"), ty.clone());
        }
        Ok(ty)
    }
}

/// A field by its path, which may begin with the part that it is in: `stream.event.header.v`.
fn location(path: Vec<String>) -> Location {
    const SCOPES: [(&[&str], Scope); 6] = [
        (&["trace", "packet", "header"], Scope::PacketHeader),
        (&["stream", "packet", "context"], Scope::PacketContext),
        (&["stream", "event", "header"], Scope::EventHeader),
        (&["stream", "event", "context"], Scope::StreamEventContext),
        (&["event", "context"], Scope::EventContext),
        (&["event", "fields"], Scope::EventFields),
    ];
    for (names, scope) in SCOPES {
        if path.len() > names.len() && path.iter().zip(names).all(|(name, of)| name == of) {
            return Location {
                scope: Some(scope),
                path: path.get(names.len()..).unwrap_or_default().iter().cloned().map(own).collect(),
            };
        }
    }
    Location { scope: None, path: path.into_iter().map(own).collect() }
}

/// The name of a field without the `_` that tracers put in front of it, because some names are keywords.
fn own(name: String) -> String {
    match name.strip_prefix('_') {
        Some(rest) if !rest.is_empty() => rest.to_owned(),
        _ => name,
    }
}
