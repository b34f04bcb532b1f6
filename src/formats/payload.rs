//! The parameters of an event as an object of JSON, written value by value: column `payload` of
//! `trace_event`. Not the reading of parameters, which is up to each format.

use crate::encoding::escaped;

/// An object of JSON in the making. Its text is used again for the next event.
#[derive(Debug, Default)]
pub(in crate::formats) struct Payload {
    text: String,
    /// The next value is the first one of its object or list.
    is_first: bool,
}

impl Payload {
    /// Begins the next event.
    pub fn begin(&mut self) {
        self.text.clear();
        self.text.push('{');
        self.is_first = true;
    }

    /// Ends the event: all of its parameters.
    pub fn end(&mut self) -> &str {
        self.text.push('}');
        &self.text
    }

    /// The name of the value that follows.
    pub fn key(&mut self, name: &str) {
        self.separate();
        quote(&mut self.text, name);
        self.text.push(':');
        self.is_first = true;
    }

    /// A value as JSON writes it.
    pub fn literal(&mut self, json: &str) {
        self.separate();
        self.text.push_str(json);
    }

    /// What the next value follows without a comma, as JSON writes it: `{`, `[`, or a name with its colon.
    pub fn opening(&mut self, json: &str) {
        self.literal(json);
        self.is_first = true;
    }

    pub fn unsigned(&mut self, value: u64) {
        self.literal(itoa::Buffer::new().format(value));
    }

    pub fn signed(&mut self, value: i64) {
        self.literal(itoa::Buffer::new().format(value));
    }

    pub fn begin_object(&mut self) {
        self.opening("{");
    }

    pub fn end_object(&mut self) {
        self.text.push('}');
        self.is_first = false;
    }

    /// A text. Bytes that are not UTF-8 are written as `\x` and two digits.
    pub fn bytes(&mut self, text: &[u8]) {
        self.separate();
        quote(&mut self.text, &escaped(text));
    }

    /// Bytes without a meaning, two hexadecimal digits each.
    pub fn hex(&mut self, bytes: &[u8]) {
        self.separate();
        self.text.push('"');
        for byte in bytes {
            for half in [byte >> 4, byte & 0xf] {
                self.text.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
            }
        }
        self.text.push('"');
    }

    pub fn begin_list(&mut self) {
        self.opening("[");
    }

    pub fn end_list(&mut self) {
        self.text.push(']');
        self.is_first = false;
    }

    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.text.push(',');
        }
    }
}

fn quote(into: &mut String, text: &str) {
    into.push('"');
    if !text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
        into.push_str(text);
        into.push('"');
        return;
    }
    for c in text.chars() {
        match c {
            '"' => into.push_str("\\\""),
            '\\' => into.push_str("\\\\"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            c if c < ' ' => {
                into.push_str("\\u00");
                for half in [c as u32 >> 4, c as u32 & 0xf] {
                    into.push(char::from_digit(half, 16).unwrap_or('0'));
                }
            }
            c => into.push(c),
        }
    }
    into.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn it_is_json() {
        let mut payload = Payload::default();
        payload.begin();
        assert_eq!(payload.end(), "{}");
        payload.begin();
        payload.key("most");
        payload.unsigned(u64::MAX);
        payload.key("least");
        payload.signed(i64::MIN);
        payload.key("list");
        payload.begin_list();
        payload.end_list();
        payload.key("more");
        payload.begin_list();
        payload.unsigned(1);
        payload.bytes(b"a\xff");
        payload.end_list();
        payload.key("rest");
        payload.hex(&[0, 0xaf]);
        let expected = r#"{"most":18446744073709551615,"least":-9223372036854775808,"list":[],"more":[1,"a\\xff"],"rest":"00af"}"#;
        assert_eq!(payload.end(), expected);
    }

    proptest! {
        #[test]
        fn every_text_comes_back(name: String, text: String) {
            let mut payload = Payload::default();
            payload.begin();
            payload.key(&name);
            payload.bytes(text.as_bytes());
            payload.opening("\"next\":");
            payload.literal("7");
            let read: Value = serde_json::from_str(payload.end()).unwrap();
            let expected = if name == "next" { json!({"next": 7}) } else { json!({name: text, "next": 7}) };
            prop_assert_eq!(read, expected);
        }
    }
}
