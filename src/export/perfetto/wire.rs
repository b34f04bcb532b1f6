//! The wire format of Protocol Buffers: fields of messages as bytes. Not for what the fields mean.
//!
//! Facts: "Encoding" in the documentation of Protocol Buffers. A field is a key (number and wire type) and a
//! value: a varint (0), eight bytes (1), or bytes after their length (2).
//!
//! Not `prost`, which makes an object on the heap for every message and needs the schema of all of Perfetto
//! for a dozen fields.

use crate::varint;

const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const LENGTH: u64 = 2;
/// Maximum length of a varint of 64 bits.
const MAX_VARINT: usize = 10;

#[derive(Debug)]
pub(super) struct Message<'a>(&'a mut Vec<u8>);

impl<'a> Message<'a> {
    /// Appends to what is in `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self(bytes)
    }

    fn key(&mut self, field: u32, kind: u64) {
        varint::push(u64::from(field) << 3 | kind, self.0);
    }

    /// `uint64`, `uint32`, `bool` and enumerations.
    pub fn uint(&mut self, field: u32, value: u64) {
        self.key(field, VARINT);
        varint::push(value, self.0);
    }

    /// `int64` and `int32`: negative values take ten bytes.
    pub fn int(&mut self, field: u32, value: i64) {
        self.uint(field, value as u64);
    }

    /// `fixed64`.
    pub fn fixed(&mut self, field: u32, value: u64) {
        self.key(field, EIGHT_BYTES);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// `double`.
    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// `string`.
    pub fn text(&mut self, field: u32, value: &str) {
        self.key(field, LENGTH);
        varint::push(value.len() as u64, self.0);
        self.0.extend_from_slice(value.as_bytes());
    }

    /// A message with the fields that `fill` appends.
    pub fn message(&mut self, field: u32, fill: impl FnOnce(&mut Message<'_>)) {
        self.key(field, LENGTH);
        // Most are shorter than 128 bytes, so that one byte is reserved for the length.
        let start = self.0.len();
        self.0.push(0);
        fill(&mut Message(self.0));
        let length = self.0.len() - start - 1;
        if length < 0x80 {
            if let Some(byte) = self.0.get_mut(start) {
                *byte = length as u8;
            }
            return;
        }
        let mut prefix = Vec::with_capacity(MAX_VARINT);
        varint::push(length as u64, &mut prefix);
        self.0.splice(start..=start, prefix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(fill: impl FnOnce(&mut Message<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        fill(&mut Message::new(&mut out));
        out
    }

    /// The examples of the documentation of Protocol Buffers.
    #[test]
    fn examples_of_the_documentation() {
        assert_eq!(bytes(|m| m.uint(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(bytes(|m| m.text(2, "testing")), b"\x12\x07testing");
        assert_eq!(bytes(|m| m.message(3, |m| m.uint(1, 150))), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus_two = [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(bytes(|m| m.int(1, -2)), minus_two);
    }

    #[test]
    fn long_messages_have_long_lengths() {
        let long = "x".repeat(300);
        let found = bytes(|m| m.message(1, |m| m.message(2, |m| m.text(3, &long))));
        // 300 + key and two bytes of length = 303; + as many = 306.
        assert_eq!(found[..10], [0x0a, 0xb2, 0x02, 0x12, 0xaf, 0x02, 0x1a, 0xac, 0x02, b'x']);
        assert_eq!(found.len(), 309);
        assert_eq!(bytes(|m| m.message(1, |_| ())), [0x0a, 0]);
        assert_eq!(
            bytes(|m| m.message(60, |m| m.fixed(47, 7))),
            [0xe2, 0x03, 10, 0xf9, 2, 7, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(bytes(|m| m.double(44, 1.5))[2..], 1.5f64.to_le_bytes());
    }
}
