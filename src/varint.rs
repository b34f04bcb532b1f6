//! Variable-length integers: groups of seven bits, the lowest first; the highest bit of a byte says that more
//! follow (ULEB128). Parquet, Protocol Buffers and the data of a page have them.

/// Appends a number.
pub(crate) fn push(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A signed number as an unsigned one, small for small numbers of either sign.
pub(crate) fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Takes a number off the bytes.
    pub fn take(bytes: &mut &[u8]) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    /// The inverse of [`zigzag`].
    pub fn unzigzag(number: u64) -> i64 {
        (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
    }

    proptest! {
        #[test]
        fn numbers_come_back(number: i64) {
            let mut out = Vec::new();
            push(zigzag(number), &mut out);
            push(number.cast_unsigned(), &mut out);
            let mut bytes = out.as_slice();
            prop_assert_eq!(unzigzag(take(&mut bytes)), number);
            prop_assert_eq!(take(&mut bytes), number.cast_unsigned());
            prop_assert!(bytes.is_empty());
        }
    }
}
