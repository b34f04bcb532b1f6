//! Numbers sixteen bytes at a time, on processors with SSE4.1, as all of the last ten years have. Reads what [`super::swar`] reads, which is for all
//! others. Bytes are loaded from arrays, not from pointers.

use std::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_cvtsi128_si64,
    _mm_extract_epi64, _mm_madd_epi16, _mm_maddubs_epi16, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
    _mm_packus_epi16, _mm_packus_epi32, _mm_set_epi64x, _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32,
    _mm_shuffle_epi8, _mm_sub_epi8,
};

/// Shows that the processor has SSE4.1: with it at hand, functions that are compiled for that may be called.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats) struct Wide(());

impl Wide {
    /// `None` when the processor lacks it.
    pub(in crate::formats) fn detect() -> Option<Self> {
        is_x86_feature_detected!("sse4.1").then_some(Self(()))
    }
}

/// Ten and one for each pair of digits, a hundred and one for each pair of pairs, and so on: lower half first.
const TENS: i16 = 0x010a;
const HUNDREDS: i32 = 0x0001_0064;
const TEN_THOUSANDS: i32 = 0x0001_2710;

/// Sixteen bytes; the compiler makes one load of it.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::formats) fn load(bytes: &[u8; 16]) -> __m128i {
    let whole = u128::from_le_bytes(*bytes);
    _mm_set_epi64x((whole >> 64) as i64, whole as i64)
}

/// Two numbers of sixteen digits each; a digit is a byte of 0 to 9, the first one stands for most.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::formats) fn numbers(digits: [__m128i; 2]) -> [u64; 2] {
    let [first, second] = digits.map(|digits| fours(digits));
    let eights = _mm_madd_epi16(_mm_packus_epi32(first, second), _mm_set1_epi32(TEN_THOUSANDS));
    [_mm_cvtsi128_si64(eights), _mm_extract_epi64::<1>(eights)].map(sixteen)
}

/// Whether each byte is at least what `least` has in its place, and no more above it than `range` has.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::formats) fn within(bytes: &[u8; 16], least: &[u8; 16], range: &[u8; 16]) -> bool {
    let over = _mm_sub_epi8(load(bytes), load(least));
    _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(over, load(range)), over)) == 0xffff
}

/// The digits in the places that `order` has, 0x80 for a zero, for [`number`] and [`numbers`].
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::formats) fn digits(text: &[u8; 16], order: &[u8; 16]) -> __m128i {
    _mm_and_si128(_mm_shuffle_epi8(load(text), load(order)), _mm_set1_epi8(0x0f))
}

/// A number of sixteen digits, as [`numbers`] makes two of them.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::formats) fn number(digits: __m128i) -> u64 {
    let fours = fours(digits);
    let eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(TEN_THOUSANDS));
    sixteen(_mm_cvtsi128_si64(eights))
}

/// Reads 1 to 15 digits: the number and how many digits it had. `None` for none and for more.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::formats) fn decimal(text: &[u8; 16]) -> Option<(u64, usize)> {
    let digits = _mm_sub_epi8(load(text), _mm_set1_epi8(0x30));
    let count = trues(up_to(digits, 9));
    let number = number(to_the_end(digits, count)?);
    matches!(count, 1..=15).then_some((number, count))
}

/// Reads 1 to 16 hex digits: the number and how many digits it had. `None` for none; what follows sixteen is not looked at.
#[inline]
#[target_feature(enable = "sse4.1")]
pub(in crate::formats) fn hex(text: &[u8; 16]) -> Option<(u64, usize)> {
    let text = load(text);
    let small = _mm_or_si128(text, _mm_set1_epi8(0x20));
    let is_digit = up_to(_mm_sub_epi8(text, _mm_set1_epi8(0x30)), 9);
    let is_letter = up_to(_mm_sub_epi8(small, _mm_set1_epi8(0x61)), 5);
    let count = trues(_mm_or_si128(is_digit, is_letter));
    let nine_more = _mm_and_si128(_mm_cmpgt_epi8(text, _mm_set1_epi8(0x40)), _mm_set1_epi8(9));
    let values = _mm_add_epi8(_mm_and_si128(text, _mm_set1_epi8(0x0f)), nine_more);
    let pairs = _mm_maddubs_epi16(to_the_end(values, count)?, _mm_set1_epi16(0x0110));
    let number = _mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)).cast_unsigned().swap_bytes();
    (count > 0).then_some((number, count))
}

/// All bits of the bytes that are not above `most`.
#[inline]
#[target_feature(enable = "sse4.1")]
fn up_to(bytes: __m128i, most: i8) -> __m128i {
    _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most)), bytes)
}

/// How many bytes from the first one on have their bits set.
#[inline]
#[target_feature(enable = "sse4.1")]
fn trues(bytes: __m128i) -> usize {
    (!_mm_movemask_epi8(bytes).cast_unsigned()).trailing_zeros() as usize
}

/// The `count` first bytes as the last ones, with zeros before them.
#[inline]
#[target_feature(enable = "sse4.1")]
fn to_the_end(bytes: __m128i, count: usize) -> Option<__m128i> {
    /// Sixteen marks of a zero, and the numbers of the bytes.
    const PLACES: [u8; 32] = {
        let mut places = [0x80; 32];
        let mut at = 0;
        while at < 16 {
            places[16 + at] = at as u8;
            at += 1;
        }
        places
    };
    Some(_mm_shuffle_epi8(bytes, load(PLACES.get(count..)?.first_chunk()?)))
}

/// Each four digits as a number.
#[inline]
#[target_feature(enable = "sse4.1")]
fn fours(digits: __m128i) -> __m128i {
    _mm_madd_epi16(_mm_maddubs_epi16(digits, _mm_set1_epi16(TENS)), _mm_set1_epi32(HUNDREDS))
}

/// The number of two times eight digits, of which the lower half stands for more.
fn sixteen(eights: i64) -> u64 {
    let both = eights.cast_unsigned();
    (both & 0xffff_ffff) * 100_000_000 + (both >> 32)
}

#[cfg(test)]
mod tests {
    use super::super::swar;
    use super::*;
    use proptest::prelude::*;

    /// What `read` gives when the processor has the instructions.
    #[expect(unsafe_code, reason = "functions for SSE4.1 are called where `Wide` shows it")]
    fn with<T>(read: unsafe fn(&[u8; 16]) -> Option<T>, text: &str) -> Option<Option<T>> {
        let text = format!("{text}................");
        Wide::detect()?;
        // SAFETY: `Wide` was just made.
        Some(unsafe { read(text.as_bytes().first_chunk()?) })
    }

    proptest! {
        #[test]
        fn decimal_reads_what_words_read(text in "[0-9]{0,16}[^0-9]?[0-9]{0,3}") {
            let expected = swar::decimal(format!("{text}................").as_bytes(), 0);
            prop_assert_eq!(with(decimal, &text).unwrap_or(expected), expected);
        }

        #[test]
        fn hex_reads_what_words_read(text in "[0-9a-fA-F]{0,16}[^0-9a-fA-F][0-9a-fA-F]{0,3}") {
            let expected = swar::hex(format!("{text}................").as_bytes(), 0);
            prop_assert_eq!(with(hex, &text).unwrap_or(expected), expected);
        }
    }

    #[test]
    fn every_byte_is_classified() {
        if Wide::detect().is_none() {
            return;
        }
        for (byte, place) in (0..=255u8).flat_map(|byte| (0..16).map(move |place| (byte, place))) {
            let mut text = [b'7'; 16];
            text[place] = byte;
            let padded = [&text[..], b"................"].concat();
            #[expect(unsafe_code, reason = "as above")]
            // SAFETY: as above.
            let (decimal, hex) = unsafe { (decimal(&text), hex(&text)) };
            assert_eq!(decimal, swar::decimal(&padded, 0), "{byte} at {place}");
            assert_eq!(hex, swar::hex(&padded, 0), "{byte} at {place}");
        }
    }
}
