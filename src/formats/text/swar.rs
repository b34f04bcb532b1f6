//! SIMD within a register: reads digits eight bytes at a time, without a loop over bytes. A word is always
//! loaded as little endian, so its lowest byte is the first in the text. Not for rare forms of numbers, for
//! which callers have a slower reader.

/// A byte repeated eight times.
const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The eight bytes at `at`; `None` within the last seven bytes of the text.
#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// The number of bytes before the first one whose top bit is set in `mask`.
#[inline(always)]
fn bytes_before(mask: u64) -> usize {
    (mask.trailing_zeros() / 8) as usize
}

/// The top bits of the bytes that are not digits.
#[inline(always)]
fn not_digits(word: u64) -> u64 {
    let value = word ^ splat(b'0');
    // Adding 118 to a value from 10 to 127 sets the top bit; a value of 128 or more has it already.
    (((value & splat(0x7f)) + splat(0x76)) | value) & splat(0x80)
}

/// The number in the first `count` bytes of a word, which are 1 to 8 digits.
#[inline(always)]
fn digits_to_number(word: u64, count: usize) -> u64 {
    // The digits are moved to the top, so that the bytes before them count as leading zeros.
    let digits = (word & splat(0x0f)) << (64 - 8 * count);
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}

/// Powers of ten.
const POWERS: [u64; 16] = {
    let mut powers = [1u64; 16];
    let mut at = 1;
    while at < 16 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Reads a number of 1 to 15 digits at `at`. Returns the number and how many digits it has. `None` for no
/// digits, for more than 15, and close to the end of the text.
#[inline(always)]
pub(in crate::formats) fn decimal(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = word(text, at)?;
    let stop = not_digits(first);
    if stop != 0 {
        let count = bytes_before(stop);
        return (count > 0).then(|| (digits_to_number(first, count), count));
    }
    let second = word(text, at + 8)?;
    let count = bytes_before(not_digits(second));
    let high = digits_to_number(first, 8);
    match count {
        0 => Some((high, 8)),
        1..=7 => Some((high * POWERS.get(count)? + digits_to_number(second, count), 8 + count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_is_classified() {
        for byte in 0..=255u8 {
            for index in 0..8 {
                let mut bytes = *b"00000000";
                bytes[index] = byte;
                let word = u64::from_le_bytes(bytes);
                let stop = |mask: u64| if mask == 0 { 8 } else { bytes_before(mask) };
                assert_eq!(stop(not_digits(word)), if byte.is_ascii_digit() { 8 } else { index });
            }
        }
    }

    proptest! {
        #[test]
        fn decimal_reads_what_the_library_reads(digits in "[0-9]{0,18}", rest in "[^0-9]{1,3}") {
            let text = format!("{digits}{rest}................");
            let expected = (1..=15).contains(&digits.len()).then(|| (digits.parse().unwrap(), digits.len()));
            prop_assert_eq!(decimal(text.as_bytes(), 0), expected);
        }

        #[test]
        fn arbitrary_bytes_never_panic(text: Vec<u8>, at in 0usize..20) {
            let _ = (decimal(&text, at), word(&text, at));
        }
    }
}
