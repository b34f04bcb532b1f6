//! Numbers of any size and order out of bytes, bit by bit where they do not begin or end with a byte. Not
//! what they are (see `decoder`).

use super::model::ByteOrder;

/// Why a field cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// The bytes that are there end before it does.
    Bytes,
    /// The content of the packet does.
    Content,
    /// What is written cannot be.
    Bad(&'static str),
}

/// A position in the bytes of a stream, in bits from the begin of a packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    /// The bytes that are there.
    bytes: &'a [u8],
    /// The position of the first of them.
    first: u64,
    /// The position.
    pub at: u64,
    /// The position behind the last bit of the packet that has a meaning.
    pub end: u64,
}

impl<'a> Cursor<'a> {
    /// At the bit `first` of a packet, of which `bytes` begin there; it has a meaning up to `end`.
    pub fn new(bytes: &'a [u8], first: u64, end: u64) -> Self {
        Self { bytes, first, at: first, end }
    }

    /// Moves on to the next multiple of `bits`, a power of two.
    pub fn align(&mut self, bits: u32) {
        let mask = u64::from(bits.max(1)) - 1;
        self.at = (self.at + mask) & !mask;
    }

    /// Takes so many bits: their place is then in front of the position.
    fn take(&mut self, bits: u64) -> Result<u64, Lack> {
        let (from, to) = (self.at, self.at.checked_add(bits).ok_or(Lack::Bad("a field is too long"))?);
        if to > self.end {
            return Err(Lack::Content);
        }
        if to > self.first + self.bytes.len() as u64 * 8 {
            return Err(Lack::Bytes);
        }
        self.at = to;
        Ok(from - self.first)
    }

    /// So many bytes; the position is that of a byte.
    pub fn bytes(&mut self, count: u64) -> Result<&'a [u8], Lack> {
        let bits = count.checked_mul(8).ok_or(Lack::Bad("a field is too long"))?;
        let from = (self.take(bits)? / 8) as usize;
        Ok(self.bytes.get(from..from + count as usize).unwrap_or_default())
    }

    /// The bytes up to a zero, which is passed over.
    pub fn text(&mut self) -> Result<&'a [u8], Lack> {
        let from = ((self.at - self.first) / 8) as usize;
        let content = (self.end.saturating_sub(self.at) / 8) as usize;
        let rest = self.bytes.get(from..).unwrap_or_default();
        let there = rest.get(..content.min(rest.len())).unwrap_or_default();
        match memchr::memchr(0, there) {
            Some(length) => {
                self.at += (length as u64 + 1) * 8;
                Ok(there.get(..length).unwrap_or_default())
            }
            None if there.len() < content => Err(Lack::Bytes),
            None => Err(Lack::Content),
        }
    }

    /// A number of up to 64 bits.
    #[inline]
    pub fn number(&mut self, bits: u32, order: ByteOrder) -> Result<u64, Lack> {
        let from = self.take(u64::from(bits))?;
        let (first, offset) = ((from / 8) as usize, (from % 8) as u32);
        let word = self.bytes.get(first..).and_then(|rest| rest.first_chunk::<8>());
        // The bits of a little-endian number count from the lowest, those of a big-endian one from the
        // highest (CTF 1.8 §4.1.5): as those of a word of that order.
        if let (Some(word), 1..) = (word, bits)
            && bits + offset <= 64
        {
            return Ok(match order {
                ByteOrder::Little => u64::from_le_bytes(*word) >> offset & (u64::MAX >> (64 - bits)),
                ByteOrder::Big => u64::from_be_bytes(*word) << offset >> (64 - bits),
            });
        }
        Ok(self.bits(from, bits, order))
    }

    /// The same, byte by byte: near the end of what is there, and where a number lies in nine bytes.
    fn bits(&self, from: u64, bits: u32, order: ByteOrder) -> u64 {
        let (mut value, mut done) = (0u64, 0);
        while done < bits {
            let at = from + u64::from(done);
            let byte = u64::from(self.bytes.get((at / 8) as usize).copied().unwrap_or_default());
            let offset = (at % 8) as u32;
            let count = (8 - offset).min(bits - done);
            match order {
                ByteOrder::Little => value |= (byte >> offset & ((1 << count) - 1)) << done,
                ByteOrder::Big => {
                    let part = byte >> (8 - offset - count) & ((1 << count) - 1);
                    value = value << count | part;
                }
            }
            done += count;
        }
        value
    }

    /// A number of variable length: seven bits of each byte, the lowest first, the last byte without its
    /// highest bit; and how many bits it has.
    pub fn variable(&mut self) -> Result<(u64, u32), Lack> {
        let (mut value, mut bits) = (0u64, 0);
        loop {
            let byte = self.number(8, ByteOrder::Little)?;
            if bits < 64 {
                value |= (byte & 0x7f) << bits;
            }
            if bits >= 63 && byte & 0x7f > 1 && byte & 0x7f != 0x7f {
                return Err(Lack::Bad("a number has more than 64 bits"));
            }
            bits += 7;
            if byte & 0x80 == 0 {
                return Ok((value, bits.min(64)));
            }
            if bits > 70 {
                return Err(Lack::Bad("a number has more than 64 bits"));
            }
        }
    }
}

/// The lowest `bits` bits of a value with their sign.
pub(super) fn signed(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    (value << shift).cast_signed() >> shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bits_count_from_the_lowest_or_the_highest() {
        let bytes = [0b1010_0110, 0b0000_0011];
        let read = |order| {
            let mut cursor = Cursor::new(&bytes, 0, 16);
            [3, 7, 6].map(|bits| cursor.number(bits, order).unwrap())
        };
        assert_eq!(read(ByteOrder::Little), [0b110, 0b1110100, 0]);
        assert_eq!(read(ByteOrder::Big), [0b101, 0b0011000, 0b000011]);
    }

    #[test]
    fn whole_bytes_in_both_orders_and_across() {
        let bytes: Vec<u8> = (1..=9).collect();
        let mut cursor = Cursor::new(&bytes, 0, 72);
        assert_eq!(cursor.number(16, ByteOrder::Big), Ok(0x0102));
        assert_eq!(cursor.number(24, ByteOrder::Little), Ok(0x05_0403));
        cursor.at = 4;
        assert_eq!(cursor.number(64, ByteOrder::Big), Ok(0x1020_3040_5060_7080));
        assert_eq!(cursor.number(8, ByteOrder::Big), Err(Lack::Content));
        let mut cursor = Cursor::new(&bytes, 0, 1000);
        assert_eq!(cursor.bytes(9).map(<[u8]>::len), Ok(9));
        assert_eq!(cursor.number(1, ByteOrder::Big), Err(Lack::Bytes));
    }

    proptest! {
        #[test]
        fn words_are_read_as_bytes_are(
            bytes in prop::collection::vec(any::<u8>(), 9..24), from in 0u64..16, bits in 0u32..=56
        ) {
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let mut cursor = Cursor::new(&bytes, 0, bytes.len() as u64 * 8);
                cursor.at = from;
                let expected = cursor.bits(from, bits, order);
                prop_assert_eq!(cursor.number(bits, order), Ok(expected));
                prop_assert_eq!(cursor.at, from + u64::from(bits));
            }
        }
    }

    #[test]
    fn signs_and_variable_lengths() {
        assert_eq!((signed(0b101, 3), signed(0b011, 3), signed(u64::MAX, 64)), (-3, 3, -1));
        let variable = |bytes: &[u8]| Cursor::new(bytes, 0, 1000).variable();
        assert_eq!(variable(&[0xe5, 0x8e, 0x26]), Ok((624_485, 21)));
        assert_eq!(variable(&[0x7f]), Ok((127, 7)));
        assert_eq!(
            variable(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
            Ok((u64::MAX, 64))
        );
        assert_eq!(variable(&[0x80]), Err(Lack::Bytes));
        assert!(matches!(variable(&[0xff; 12]), Err(Lack::Bad(_))));
    }

    #[test]
    fn alignment_counts_from_the_packet() {
        let mut cursor = Cursor::new(&[0; 8], 24, 88);
        cursor.align(32);
        assert_eq!(cursor.at, 32);
        cursor.align(1);
        assert_eq!(cursor.at, 32);
        assert_eq!(cursor.text(), Ok(&b""[..]));
        assert_eq!(cursor.at, 40);
    }
}
