//! One packet: its number, its parameters and the time since the one before. Not what the parameters mean
//! (see `rows`).

use super::header::SYNC;
use super::known::{self, Kind, WITH_LENGTH};

/// A number takes this many bytes at most.
const MOST_DIGITS: usize = 5;
/// The length of parameters takes two bytes at most.
const MOST_PARAMETERS: usize = 0x3fff;
/// The number of bytes of a longer text stands behind this byte, in two bytes.
const LONG_TEXT: u8 = 0xff;

/// A packet as it is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet<'a> {
    pub id: u32,
    /// The bytes of its parameters.
    pub parameters: &'a [u8],
    /// Ticks of the clock since the packet before.
    pub delta: u32,
}

/// Why there is no packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPacket {
    /// The bytes end before it does.
    Incomplete,
    /// It cannot be one.
    Bad(&'static str),
}

/// Takes parts from the front of bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a>(pub &'a [u8]);

impl<'a> Cursor<'a> {
    /// A number: seven bits per byte, the least first; all but the last have the highest bit.
    pub fn number(&mut self) -> Result<u32, NoPacket> {
        let mut value = 0u64;
        for (n, byte) in self.0.iter().take(MOST_DIGITS).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * n);
            if byte & 0x80 == 0 {
                self.0 = self.0.get(n + 1..).unwrap_or_default();
                return u32::try_from(value).map_err(|_| NoPacket::Bad("a number has more than 32 bits"));
            }
        }
        match self.0.len() < MOST_DIGITS {
            true => Err(NoPacket::Incomplete),
            false => Err(NoPacket::Bad("a number has more than 32 bits")),
        }
    }

    /// The bytes of a text.
    pub fn text(&mut self) -> Result<&'a [u8], NoPacket> {
        let (length, at) = match *self.0 {
            [LONG_TEXT, low, high, ..] => (usize::from(u16::from_le_bytes([low, high])), 3),
            [LONG_TEXT, ..] | [] => return Err(NoPacket::Incomplete),
            [length, ..] => (usize::from(length), 1),
        };
        self.0 = self.0.get(at..).unwrap_or_default();
        self.bytes(length)
    }

    /// So many bytes.
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8], NoPacket> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(NoPacket::Incomplete)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Passes over a parameter.
    pub fn skip(&mut self, kind: Kind) -> Result<(), NoPacket> {
        match kind {
            Kind::Unsigned | Kind::Signed => self.number().map(drop),
            Kind::Text => self.text().map(drop),
            Kind::List => {
                let count = self.number()?;
                (0..count).try_for_each(|_| self.number().map(drop))
            }
        }
    }
}

impl<'a> Packet<'a> {
    /// The packet at the begin of `bytes`, and its length.
    pub fn first(bytes: &'a [u8]) -> Result<(Self, usize), NoPacket> {
        let mut cursor = Cursor(bytes);
        let id = cursor.number()?;
        let parameters = match known::event(id).filter(|_| id < WITH_LENGTH) {
            Some((_, parameters)) => {
                let begin = cursor.0;
                parameters.iter().try_for_each(|(_, kind)| cursor.skip(*kind))?;
                begin.get(..begin.len() - cursor.0.len()).unwrap_or_default()
            }
            None => {
                let length = cursor.number()? as usize;
                if length > MOST_PARAMETERS {
                    return Err(NoPacket::Bad("a packet is longer than packets can be"));
                }
                cursor.bytes(length)?
            }
        };
        let delta = cursor.number()?;
        Ok((Self { id, parameters, delta }, bytes.len() - cursor.0.len()))
    }
}

/// The packets at the begin of bytes, up to the first one that is not whole.
pub(super) fn packets(bytes: &[u8]) -> impl Iterator<Item = Packet<'_>> {
    let mut rest = bytes.strip_prefix(&SYNC).unwrap_or(bytes);
    std::iter::from_fn(move || {
        let (packet, length) = Packet::first(rest).ok()?;
        rest = rest.get(length..)?;
        Some(packet)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_with_and_without_a_length() {
        let task_info = [9, 0x9c, 0xdf, 0xee, 5, 24, 4, b'i', b'p', b'c', b'0', 0x81, 1, 99];
        let (packet, length) = Packet::first(&task_info).unwrap();
        assert_eq!((packet.id, packet.parameters.len(), packet.delta, length), (9, 10, 129, 13));
        let module = [0x80, 4, 2, 7, 8, 3];
        let (packet, length) = Packet::first(&module).unwrap();
        assert_eq!((packet, length), (Packet { id: 512, parameters: &[7, 8], delta: 3 }, 6));
        for end in 0..module.len() {
            assert_eq!(Packet::first(&module[..end]), Err(NoPacket::Incomplete), "{end}");
        }
    }

    #[test]
    fn numbers_have_32_bits() {
        assert_eq!(Cursor(&[0xff, 0xff, 0xff, 0xff, 0x0f]).number(), Ok(u32::MAX));
        let too_large = NoPacket::Bad("a number has more than 32 bits");
        assert_eq!(Cursor(&[0xff, 0xff, 0xff, 0xff, 0x1f]).number(), Err(too_large));
        assert_eq!(Cursor(&[0x80; 6]).number(), Err(too_large));
        assert_eq!(Cursor(&[0x80; 4]).number(), Err(NoPacket::Incomplete));
    }

    #[test]
    fn long_texts_have_a_length_of_two_bytes() {
        let text = [&[0xff, 0x2c, 1][..], &[b'x'; 301]].concat();
        let mut cursor = Cursor(&text);
        assert_eq!((cursor.text().map(<[u8]>::len), cursor.0), (Ok(300), &b"x"[..]));
    }
}
