//! ORTI tokens to [`Orti`]: recursive descent over the KOIL grammar that continues after mistakes at the next
//! `;` or `}`. Not for whether names fit together (`check`).

use super::check;
use super::cursor::{Cursor, Mistake, Parsed};
use super::findings::Findings;
use super::formula::Formula;
use super::lexer::{Kind, c_character, c_integer};
use super::model::{
    Attribute, AttributeKind, AttributeType, EnumElement, EnumValue, Object, ObjectType, Orti,
};
use crate::diagnostics::{Severity, excerpt};
use crate::encoding::{Encoding, decoded};

impl Orti {
    /// Parses an ORTI file. Any input gives a result; unusable parts are in [`Orti::findings`].
    pub fn parse(bytes: &[u8]) -> Orti {
        let mut findings = Findings::default();
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let is_utf16 = Encoding::detect(bytes).is_some();
        if let Some(error) = std::str::from_utf8(bytes).err().filter(|_| !is_utf16) {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = valid.iter().filter(|b| **b == b'\n').count() + 1;
            let message = "not UTF-8; other bytes are written as \\x and two digits".to_owned();
            let place = (u32::try_from(line).unwrap_or(u32::MAX), 1);
            findings.push(place, Severity::Info, "not-utf8", message);
        }
        let source = decoded(bytes);
        let mut parser = Parser { cursor: Cursor::new(&source, findings), out: Orti::default() };
        parser.file();
        let Parser { mut out, cursor: Cursor { mut findings, .. } } = parser;
        check::check(&out, &mut findings);
        out.findings = findings.finish();
        out
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    out: Orti,
}

impl<'a> Parser<'a> {
    /// The statements of a block up to its `}`; returns false if `foreign` shows that the `}` is missing.
    fn block(&mut self, foreign: fn(&Cursor<'a>) -> bool, statement: fn(&mut Self) -> Parsed<()>) -> bool {
        loop {
            if self.cursor.eat(b'}') {
                return true;
            }
            if self.cursor.kind(0) == Kind::End || foreign(&self.cursor) {
                self.cursor.find(Severity::Error, "missing-brace", "'}' is missing before this");
                return false;
            }
            if self.cursor.is(0, b';') {
                self.cursor.stray_semicolon();
            } else if statement(self).is_err() {
                self.cursor.skip();
            }
        }
    }

    fn file(&mut self) {
        loop {
            match self.cursor.kind(0) {
                Kind::End => return,
                Kind::Sign(b';') => self.cursor.stray_semicolon(),
                Kind::Sign(b'}') => {
                    let _ = self.cursor.mistake::<()>("a section");
                    self.cursor.take();
                }
                _ => {
                    if self.section().is_err() {
                        self.cursor.skip();
                    }
                }
            }
        }
    }

    fn section(&mut self) -> Parsed<()> {
        if self.cursor.eat_word("IMPLEMENTATION") {
            let name = if self.cursor.is(0, b'{') {
                self.cursor.mistake("a name")
            } else {
                self.cursor.word("a name")
            };
            self.out.implementation = Some(name.map(|name| name.text).unwrap_or_default());
            self.cursor.expect(b'{')?;
            if self.block(Cursor::at_object, Self::object_type) {
                self.cursor.semicolon();
            }
        } else if self.cursor.at_object() {
            self.object()?;
        } else if self.cursor.eat_word("VERSION") {
            self.cursor.expect(b'{')?;
            if self.block(Cursor::at_type_or_object, Self::version_entry) {
                self.cursor.semicolon();
            }
        } else if self.cursor.at_type_or_object() {
            let message = "a declaration outside of IMPLEMENTATION";
            self.cursor.find(Severity::Warning, "misplaced-declaration", message);
            self.object_type()?;
        } else {
            return self.cursor.mistake("a section");
        }
        Ok(())
    }

    fn version_entry(&mut self) -> Parsed<()> {
        let key = self.cursor.word("KOIL or OSSEMANTICS")?;
        self.cursor.expect(b'=')?;
        let value = self.cursor.text()?;
        match key.text.as_str() {
            "KOIL" => self.out.koil_version = Some(value),
            "OSSEMANTICS" => {
                let version = if self.cursor.eat(b',') { self.cursor.text()? } else { String::new() };
                self.out.semantics = Some((value, version));
            }
            _ => {
                let message = format!("'{}' is unknown in VERSION", excerpt(key.text.as_bytes()));
                let place = (key.line, key.column);
                self.cursor.findings.push(place, Severity::Info, "unknown-version-entry", message);
            }
        }
        self.cursor.semicolon();
        Ok(())
    }

    fn description(&mut self) -> Parsed<Option<String>> {
        if self.cursor.eat(b',') { self.cursor.text().map(Some) } else { Ok(None) }
    }

    fn object_type(&mut self) -> Parsed<()> {
        let name = self.cursor.word("a kind of object")?;
        self.cursor.expect(b'{')?;
        let line = name.line;
        self.out.types.push(ObjectType { name: name.text, description: None, attributes: Vec::new(), line });
        if !self.block(Cursor::at_type_or_object, Self::attribute_type) {
            return Ok(());
        }
        let description = self.description();
        if let (Some(last), Ok(description)) = (self.out.types.last_mut(), &description) {
            last.description.clone_from(description);
        }
        description?;
        self.cursor.semicolon();
        Ok(())
    }

    fn attribute_type(&mut self) -> Parsed<()> {
        let to_trace = self.cursor.eat_word("TOTRACE");
        let kind = if self.cursor.eat_word("CTYPE") {
            AttributeKind::CType(self.cursor.text_if_any())
        } else if self.cursor.eat_word("STRING") {
            AttributeKind::String
        } else if self.cursor.eat_word("ENUM") {
            let c_type = self.cursor.text_if_any();
            AttributeKind::Enum { c_type, elements: self.elements()? }
        } else {
            return self.cursor.mistake("CTYPE, ENUM or STRING");
        };
        let name = self.cursor.word("the name of an attribute")?;
        let array = self.cursor.eat(b'[');
        if array {
            if self.cursor.kind(0) == Kind::Number {
                self.cursor.take();
            }
            self.cursor.expect(b']')?;
        }
        let description = self.description();
        if let Some(last) = self.out.types.last_mut() {
            let described = description.as_ref().map_or(None, Clone::clone);
            let (name, line) = (name.text, name.line);
            last.attributes.push(AttributeType { name, array, to_trace, kind, description: described, line });
        }
        description?;
        self.cursor.semicolon();
        Ok(())
    }

    fn elements(&mut self) -> Parsed<Vec<EnumElement>> {
        self.cursor.expect(b'[')?;
        let mut elements = Vec::new();
        if self.cursor.is(0, b']') {
            self.cursor.find(Severity::Info, "empty-enum", "an enumeration without elements");
        }
        while !self.cursor.eat(b']') {
            match self.element() {
                Ok(element) => elements.push(element),
                Err(Mistake) => self.cursor.skip_element()?,
            }
            let comma = self.cursor.eat(b',');
            if comma && self.cursor.is(0, b']') {
                self.cursor.find(Severity::Info, "trailing-comma", "',' after the last element");
            } else if !comma && self.cursor.kind(0) == Kind::Text {
                self.cursor.find(Severity::Info, "missing-comma", "',' is missing before this");
            } else if !comma && !self.cursor.is(0, b']') {
                let _ = self.cursor.mistake::<()>("',' or ']'");
                self.cursor.skip_element()?;
                self.cursor.eat(b',');
            }
        }
        Ok(elements)
    }

    fn element(&mut self) -> Parsed<EnumElement> {
        let label = match self.cursor.kind(0) {
            Kind::Text => self.cursor.take().text,
            Kind::Word => {
                self.cursor.find(
                    Severity::Info,
                    "unquoted-value",
                    "the label of an element should be quoted",
                );
                self.cursor.take().text
            }
            _ => return self.cursor.mistake("a quoted label"),
        };
        let link =
            if self.cursor.eat(b':') { Some(self.cursor.word("the name of an object")?.text) } else { None };
        self.cursor.expect(b'=')?;
        Ok(EnumElement { label, link, value: self.element_value()? })
    }

    fn element_value(&mut self) -> Parsed<EnumValue> {
        let minus = self.cursor.eat(b'-');
        match self.cursor.kind(0) {
            Kind::Number => match c_integer(self.cursor.peek()).or_else(|| c_character(self.cursor.peek())) {
                Some(number) => {
                    self.cursor.take();
                    Ok(EnumValue::Integer(if minus { number.wrapping_neg() } else { number }))
                }
                None => self.cursor.mistake("an integer of at most 64 bits"),
            },
            Kind::Word if !minus => {
                let message = "a symbol as value should be quoted";
                self.cursor.find(Severity::Info, "bare-identifier-value", message);
                Ok(EnumValue::Formula(self.cursor.take().text))
            }
            Kind::Text if !minus => {
                let mut text = self.cursor.take().text;
                // Adjacent strings are joined, except for the label of an element after a missing comma.
                while self.cursor.kind(0) == Kind::Text
                    && !self.cursor.is(1, b'=')
                    && !self.cursor.is(1, b':')
                {
                    text.push_str(&self.cursor.take().text);
                }
                Ok(enum_value(text))
            }
            _ => self.cursor.mistake("a value"),
        }
    }

    fn object(&mut self) -> Parsed<()> {
        let kind = self.cursor.word("a kind of object")?;
        let name = self.cursor.word("the name of an object")?;
        self.cursor.expect(b'{')?;
        let (kind, line) = (kind.text, kind.line);
        self.out.objects.push(Object { kind, name: name.text, attributes: Vec::new(), line });
        if self.block(Cursor::at_object, Self::attribute) {
            self.cursor.semicolon();
        }
        Ok(())
    }

    fn attribute(&mut self) -> Parsed<()> {
        let name = self.cursor.word("the name of an attribute")?.text;
        let mut index = None;
        if self.cursor.eat(b'[') {
            let number =
                if self.cursor.kind(0) == Kind::Number { c_integer(&self.cursor.take().text) } else { None };
            index = number.and_then(|n| u32::try_from(n).ok());
            if index.is_none() {
                return self.cursor.mistake("an index");
            }
            self.cursor.expect(b']')?;
        }
        self.cursor.expect(b'=')?;
        let (line, column) = self.cursor.place();
        let text =
            if self.cursor.kind(0) == Kind::Text { self.cursor.text()? } else { self.cursor.unquoted()? };
        if let Some(object) = self.out.objects.last_mut() {
            object.attributes.push(Attribute { name, index, text, line, column });
        }
        self.cursor.semicolon();
        Ok(())
    }
}

/// A quoted enumeration value: a number if it is constant (`"-1"`), else a formula.
fn enum_value(text: String) -> EnumValue {
    let constant = Formula::parse(&text).ok().filter(|f| f.variables().is_empty() && !f.has_dynamic_paths());
    match constant.and_then(|f| f.eval(&|_| None, &|_| None)) {
        Some(number) => EnumValue::Integer(number),
        None => EnumValue::Formula(text),
    }
}
