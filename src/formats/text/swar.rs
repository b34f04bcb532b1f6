//! Eight bytes at a time: digits and hex digits without a loop over bytes. A word is always loaded little
//! endian, so its lowest byte is the first in the text. Not for anything unusual: callers fall back.

/// A byte repeated in all eight lanes.
const fn lanes(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The eight bytes at `at`; `None` within the last seven bytes of the text.
#[inline(always)]
pub(in crate::formats) fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// How many bytes of the text come before the first lane whose top bit is set in `mask`.
#[inline(always)]
pub(in crate::formats) fn lanes_before(mask: u64) -> usize {
    (mask.trailing_zeros() / 8) as usize
}

/// A bit for each lane whose top bit is set in `mask`, the lowest for the first; the other bits of `mask` are zero.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
pub(in crate::formats) fn lanes_set(mask: u64) -> u32 {
    // Each top bit is moved to its place in the highest byte of the product.
    ((mask >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

/// Top bits of the lanes that hold `byte`. Lanes behind the first hit may be set wrongly.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
pub(in crate::formats) fn equals(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ lanes(byte);
    zero_where_equal.wrapping_sub(lanes(1)) & !zero_where_equal & lanes(0x80)
}

/// Top bits of the lanes that hold a byte below `limit`, which is 128 at most. As with [`equals`], lanes behind the first
/// hit may be set wrongly.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
pub(in crate::formats) fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(lanes(limit)) & !word & lanes(0x80)
}

/// Top bits of the lanes that hold no digit.
#[inline(always)]
fn not_digits(word: u64) -> u64 {
    let value = word ^ lanes(b'0');
    // A lane of 10 to 127 reaches the top bit by adding 118; one of 128 or more has it already.
    (((value & lanes(0x7f)) + lanes(0x76)) | value) & lanes(0x80)
}

/// Top bits of the lanes that hold neither a digit nor a letter from A to F of either case.
#[inline(always)]
fn not_hex(word: u64) -> u64 {
    // Letters of both cases become 1 to 6.
    let value = (word | lanes(0x20)) ^ lanes(0x60);
    let low = value & lanes(0x7f);
    let above_six = low + lanes(0x79);
    let above_zero = low + lanes(0x7f);
    not_digits(word) & (above_six | !above_zero | value)
}

/// The digits in the `count` first bytes of a word, 1 to 8 of them, as a number.
#[inline(always)]
fn digits_to_number(word: u64, count: usize) -> u64 {
    // Move the digits to the top, so that the lanes in front of them count as leading zeros.
    let digits = (word & lanes(0x0f)) << (64 - 8 * count);
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours.wrapping_mul(10_000) + (fours >> 32)) & 0xffff_ffff
}

/// The eight hex digits of a word as a number, each by itself: what is in the place of one that is none leaves the others as
/// they are.
#[inline(always)]
fn hex_to_number(word: u64) -> u64 {
    let letters = (word & lanes(0x40)) >> 6;
    let nibbles = ((word & lanes(0x0f)) + letters * 9) & lanes(0x0f);
    let pairs = ((nibbles << 4) | (nibbles >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = ((pairs << 8) | (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    ((fours << 16) | (fours >> 32)) & 0xffff_ffff
}

/// Powers of ten that fit the digits [`decimal`] reads.
pub(in crate::formats) const POWERS: [u64; 16] = {
    let mut powers = [1u64; 16];
    let mut at = 1;
    while at < 16 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Reads 1 to 15 digits at `at`: the number and how many digits it had. `None` for none, for more, and near
/// the end of the text.
#[inline(always)]
pub(in crate::formats) fn decimal(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let first = word(text, at)?;
    let stop = not_digits(first);
    if stop != 0 {
        let count = lanes_before(stop);
        return (count > 0).then(|| (digits_to_number(first, count), count));
    }
    let second = word(text, at + 8)?;
    let count = lanes_before(not_digits(second));
    let high = digits_to_number(first, 8);
    match count {
        0 => Some((high, 8)),
        1..=7 => Some((high * POWERS.get(count)? + digits_to_number(second, count), 8 + count)),
        _ => None,
    }
}

/// Reads exactly ten digits at `at`, the width that fields of a fixed one mostly have. Where the next field begins does not
/// depend on what is read, so that the processor goes on with it at once.
#[inline(always)]
pub(in crate::formats) fn ten_digits(text: &[u8], at: usize) -> Option<u64> {
    let [first @ .., tens, ones] = text.get(at..)?.first_chunk::<10>()?;
    let first = u64::from_le_bytes(*first);
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    let all = (not_digits(first) == 0) & (tens < 10) & (ones < 10);
    all.then(|| digits_to_number(first, 8) * 100 + u64::from(tens) * 10 + u64::from(ones))
}

/// Reads 1 to 16 hex digits at `at`: the number and how many digits it had. `None` for none, for more, and
/// near the end of the text. Values of all widths come in turns, so there is no branch that depends on it.
#[inline(always)]
pub(in crate::formats) fn hex(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let [digits @ .., behind] = text.get(at..)?.first_chunk::<17>()?;
    let number = u128::from_le_bytes(*digits);
    let (first, second) = (number as u64, (number >> 64) as u64);
    let stop = u128::from(not_hex(first)) | (u128::from(not_hex(second)) << 64);
    let count = (stop.trailing_zeros() / 8) as usize;
    let ends = (count < 16) | !behind.is_ascii_hexdigit();
    let all = (hex_to_number(first) << 32) | hex_to_number(second);
    (ends & (count > 0)).then(|| (all >> (64 - 4 * count), count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_is_classified() {
        for byte in 0..=255u8 {
            for lane in 0..8 {
                let mut bytes = *b"00000000";
                bytes[lane] = byte;
                let word = u64::from_le_bytes(bytes);
                let stop = |mask: u64| if mask == 0 { 8 } else { lanes_before(mask) };
                assert_eq!(stop(not_digits(word)), if byte.is_ascii_digit() { 8 } else { lane });
                assert_eq!(
                    stop(not_hex(word) & lanes(0x80)),
                    if byte.is_ascii_hexdigit() { 8 } else { lane }
                );
                assert_eq!(stop(equals(word, byte)), if byte == b'0' { 0 } else { lane });
                assert_eq!(stop(below(word, 0x0e)), if byte < 0x0e { lane } else { 8 });
            }
        }
    }

    proptest! {
        #[test]
        fn lanes_become_bits(bytes: [bool; 8]) {
            let mask = u64::from_le_bytes(bytes.map(|set| u8::from(set) << 7));
            let bits = (0..8).map(|n| u32::from(bytes[n]) << n).sum::<u32>();
            prop_assert_eq!(lanes_set(mask), bits);
        }

        #[test]
        fn decimal_reads_what_the_library_reads(digits in "[0-9]{0,18}", rest in "[^0-9]{1,3}") {
            let text = format!("{digits}{rest}................");
            let expected = (1..=15).contains(&digits.len()).then(|| (digits.parse().unwrap(), digits.len()));
            prop_assert_eq!(decimal(text.as_bytes(), 0), expected);
        }

        #[test]
        fn ten_digits_are_ten(digits in "[0-9]{8,11}[^0-9]?[0-9]{0,2}") {
            let expected = digits.get(..10).and_then(|ten| ten.parse().ok());
            prop_assert_eq!(ten_digits(digits.as_bytes(), 0), expected);
        }

        #[test]
        fn hex_reads_what_the_library_reads(digits in "[0-9a-fA-F]{0,18}", rest in "[^0-9a-fA-F]{1,3}") {
            let text = format!("{digits}{rest}................");
            let expected = (1..=16)
                .contains(&digits.len())
                .then(|| (u64::from_str_radix(&digits, 16).unwrap(), digits.len()));
            prop_assert_eq!(hex(text.as_bytes(), 0), expected);
        }

        #[test]
        fn arbitrary_bytes_never_panic(text: Vec<u8>, at in 0usize..20) {
            let _ = (decimal(&text, at), hex(&text, at), word(&text, at));
        }
    }
}
