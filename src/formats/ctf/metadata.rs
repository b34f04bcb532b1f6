//! The file `metadata` of a trace: TSDL as text or in packets, or JSON. Not what is declared there (see
//! `model`).

use super::model::{ByteOrder, Trace};
use super::{json, tsdl};
use crate::encoding::decoded;
use crate::error::{Error, Result};

/// The begin of each packet of metadata (CTF 1.8 §7.1).
const MAGIC: u32 = 0x75D1_1D57;
/// The length of the header of such a packet, in bytes.
const HEADER: usize = 37;

/// What is at the begin of a file of metadata.
pub(super) fn probe(head: &[u8]) -> bool {
    let is_text = |begin: &[u8]| head.trim_ascii_start().starts_with(begin);
    packet_order(head).is_some()
        || is_text(b"/* CTF 1.")
        || json::probe(head) && head.windows(10).take(4096).any(|part| part == b"\"preamble\"")
}

/// Reads metadata.
///
/// # Errors
/// With the line: what is not of CTF, and what is declared by nothing; packets that are not whole.
pub(super) fn parse(bytes: &[u8]) -> Result<Trace> {
    match packet_order(bytes) {
        Some(order) => tsdl::parse(&decoded(&unpacked(bytes, order)?), order),
        None if json::probe(bytes) => json::parse(&decoded(bytes)),
        None => tsdl::parse(&decoded(bytes), ByteOrder::Little),
    }
}

fn packet_order(bytes: &[u8]) -> Option<ByteOrder> {
    match bytes.first_chunk::<4>()? {
        magic if *magic == MAGIC.to_le_bytes() => Some(ByteOrder::Little),
        magic if *magic == MAGIC.to_be_bytes() => Some(ByteOrder::Big),
        _ => None,
    }
}

/// The text in packets.
fn unpacked(bytes: &[u8], order: ByteOrder) -> Result<Vec<u8>> {
    let (mut rest, mut text) = (bytes, Vec::new());
    while !rest.is_empty() {
        let number = |at: usize| {
            let bytes = rest.get(at..)?.first_chunk::<4>()?;
            let bits = match order {
                ByteOrder::Little => u32::from_le_bytes(*bytes),
                ByteOrder::Big => u32::from_be_bytes(*bytes),
            };
            Some(bits as usize / 8)
        };
        let (content, size) = (number(24).unwrap_or(0), number(28).unwrap_or(0));
        let part = rest.get(HEADER..content).filter(|_| content <= size && packet_order(rest) == Some(order));
        let (Some(part), Some(behind)) = (part, rest.get(size..)) else {
            let at = bytes.len() - rest.len();
            return Err(Error::input(format!("the packet of the metadata at byte {at} is not whole")));
        };
        text.extend_from_slice(part);
        rest = behind;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(text: &str, padding: u32) -> Vec<u8> {
        let content = HEADER as u32 + text.len() as u32;
        let mut bytes = MAGIC.to_be_bytes().to_vec();
        bytes.extend([0; 20]);
        bytes.extend((content * 8).to_be_bytes());
        bytes.extend(((content + padding) * 8).to_be_bytes());
        bytes.extend([0; 5]);
        bytes.extend(text.as_bytes());
        bytes.extend(vec![0; padding as usize]);
        bytes
    }

    #[test]
    fn text_in_packets_is_put_together() {
        let both = [packet("trace { byte", 3), packet("_order = le; };", 0)].concat();
        assert_eq!(unpacked(&both, ByteOrder::Big).unwrap(), b"trace { byte_order = le; };");
        assert!(probe(&both) && parse(&both).is_ok());
        let cut = unpacked(&both[..both.len() - 1], ByteOrder::Big).unwrap_err().to_string();
        assert_eq!(cut, "the packet of the metadata at byte 52 is not whole");
    }

    #[test]
    fn metadata_are_recognised() {
        assert!(probe(b"/* CTF 1.8 */\ntrace {}") && probe(b"\x1e{\"type\": \"preamble\", \"version\": 2}"));
        assert!(!probe(b"{\"type\": \"other\"}") && !probe(b"#version 2.1.5\n") && !probe(b""));
    }
}
