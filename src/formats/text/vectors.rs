//! What readers of lines do with many bytes at once, in two ways with the same results: with the vectors of the processor, or
//! byte by byte. Not for what is done with the results.

use std::hint::cold_path;
use std::ops::Range;

/// Bytes in which places are looked for at once.
pub(in crate::formats) const BLOCK: usize = 64;

/// How far in front of a block bytes are requested from memory.
const PREFETCH: usize = 8 << 10;

/// What the last bytes of a cell are: the digits of a number, and what stands between and behind them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) struct Pattern {
    /// The least that each of the sixteen bytes may be, and how much more it may be.
    least: [u8; 16],
    range: [u8; 16],
    /// Where each of sixteen digits is, and marks of zeros in front.
    order: [u8; 16],
    /// How many bytes there are without the digits in front of the point, and how many more than these and one digit there may
    /// be.
    others: usize,
    more: usize,
}

impl Pattern {
    /// Digits, then, if there are `decimals`, the byte `point` and so many digits, and behind all of them `suffix`. `None` when
    /// there is hardly room for digits.
    pub(in crate::formats) fn new(decimals: usize, point: u8, suffix: &[u8]) -> Option<Self> {
        let has_point = usize::from(decimals > 0);
        let others = has_point + decimals + suffix.len();
        let behind = 16usize.checked_sub(suffix.len())?;
        let mut pattern = Self {
            least: [b'0'; 16],
            range: [9; 16],
            order: [0x80; 16],
            others,
            more: 15usize.checked_sub(others)?,
        };
        pattern.least.get_mut(behind..)?.copy_from_slice(suffix);
        pattern.range.get_mut(behind..)?.fill(0);
        if has_point > 0 {
            let at = behind.checked_sub(1 + decimals)?;
            *pattern.least.get_mut(at)? = point;
            *pattern.range.get_mut(at)? = 0;
        }
        for (digit, place) in pattern.order.iter_mut().rev().enumerate() {
            let from_the_end = digit + usize::from(digit >= decimals) * has_point;
            if let Some(at) = behind.checked_sub(1 + from_the_end) {
                *place = at as u8;
            }
        }
        (others < 16).then_some(pattern)
    }
}

/// A word of up to fifteen bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::formats) struct Word {
    bytes: [u8; 16],
    /// How many bytes it has; none for no word.
    length: usize,
    /// A bit for each place behind it.
    behind: u32,
}

impl Word {
    /// `None` when it is too long or empty.
    pub(in crate::formats) fn new(word: &[u8]) -> Option<Self> {
        let mut bytes = [0; 16];
        bytes.get_mut(..word.len())?.copy_from_slice(word);
        let behind = 0xffff << word.len() & 0xffff;
        (1..16).contains(&word.len()).then_some(Self { bytes, length: word.len(), behind })
    }

    /// Its length in bytes.
    pub(in crate::formats) fn length(&self) -> usize {
        self.length
    }
}

/// One of the ways.
pub(in crate::formats) trait Vectors: Copy {
    /// A bit for each byte that is `byte`, the lowest for the first.
    fn places(self, bytes: &[u8; BLOCK], byte: u8) -> u64;

    /// The number in the last `count` bytes, if they are as the pattern says. `None` also for a number without digits in front of
    /// what the pattern has.
    fn number(self, bytes: &[u8; 16], count: usize, pattern: &Pattern) -> Option<u64>;

    /// The number in the last `count` bytes, which are hex digits, one to sixteen of them.
    fn hex(self, bytes: &[u8; 16], count: usize) -> Option<u64>;

    /// Whether the bytes begin with the word.
    fn is(self, bytes: &[u8; 16], word: &Word) -> bool;

    /// Each bit is set where an odd number of bits is set up to it.
    fn prefix_xor(self, bits: u64) -> u64;

    /// Finds the ends of fields in blocks of the text that begin in `range`, which begins a line: the places of `delimiter` and of
    /// line ends, and gives how many there are. With `quotes`, a delimiter between quotes is none. Has to have room for as many
    /// ends as the range and two blocks have bytes. The last bytes of the text, which are no whole block, are not looked at.
    fn find_ends(
        self,
        text: &[u8],
        range: Range<usize>,
        delimiter: u8,
        quotes: bool,
        ends: &mut [u32],
    ) -> usize;

    /// Asks for a byte that is looked at soon.
    fn prefetch(self, _byte: Option<&u8>) {}
}

/// Byte by byte, on any processor.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats) struct Bytes;

impl Vectors for Bytes {
    #[inline(always)]
    fn places(self, bytes: &[u8; BLOCK], byte: u8) -> u64 {
        bytes.iter().rev().fold(0, |places, found| places << 1 | u64::from(*found == byte))
    }

    #[inline(always)]
    fn number(self, bytes: &[u8; 16], count: usize, pattern: &Pattern) -> Option<u64> {
        let begin = 16usize.checked_sub(count)?;
        let fits = |at: usize| bytes[at].wrapping_sub(pattern.least[at]) <= pattern.range[at];
        let all = (begin..16).all(fits) && count > pattern.others;
        let digits = pattern.order.iter().map(|at| usize::from(*at));
        let digit =
            |at: usize| bytes.get(at).filter(|_| at >= begin).map_or(0, |byte| u64::from(byte & 0x0f));
        all.then(|| digits.fold(0, |number, at| number * 10 + digit(at)))
    }

    #[inline(always)]
    fn hex(self, bytes: &[u8; 16], count: usize) -> Option<u64> {
        let digits = bytes.get(16usize.checked_sub(count)?..)?;
        let value = |byte: &u8| char::from(*byte).to_digit(16).map(u64::from);
        let number = digits.iter().try_fold(0, |number, byte| Some(number << 4 | value(byte)?));
        number.filter(|_| count > 0)
    }

    #[inline(always)]
    fn is(self, bytes: &[u8; 16], word: &Word) -> bool {
        bytes.get(..word.length) == word.bytes.get(..word.length)
    }

    #[inline(always)]
    fn prefix_xor(self, mut bits: u64) -> u64 {
        let mut by = 1;
        while by < 64 {
            bits ^= bits << by;
            by *= 2;
        }
        bits
    }

    #[inline(never)]
    fn find_ends(
        self,
        text: &[u8],
        range: Range<usize>,
        delimiter: u8,
        quotes: bool,
        ends: &mut [u32],
    ) -> usize {
        find_ends(self, text, range, delimiter, quotes, ends)
    }
}

/// See [`Vectors::find_ends`].
#[inline(always)]
fn find_ends(
    vectors: impl Vectors,
    text: &[u8],
    range: Range<usize>,
    delimiter: u8,
    quotes: bool,
    ends: &mut [u32],
) -> usize {
    let mut at = range.start;
    let mut count = 0;
    // All bits set while a quote is open.
    let mut open = 0u64;
    while at < range.end
        && let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk())
    {
        vectors.prefetch(text.get(at + PREFETCH));
        let lines = vectors.places(bytes, b'\n');
        let mut delimiters = vectors.places(bytes, delimiter);
        let (mut seen, mut step) = (u64::MAX, BLOCK);
        if quotes {
            let inside = vectors.prefix_xor(vectors.places(bytes, b'"')) ^ open;
            delimiters &= !inside;
            open = (inside.cast_signed() >> 63).cast_unsigned();
            let torn = lines & inside;
            if torn != 0 {
                cold_path();
                // An open quote ends with its line. The bytes behind the line end are scanned again.
                step = torn.trailing_zeros() as usize + 1;
                seen >>= BLOCK - step;
                open = 0;
            }
        }
        let mut bits = (delimiters | lines) & seen;
        let found = bits.count_ones() as usize;
        // Most blocks have a few. Eight are written in any case: a loop would end where no branch can be predicted.
        let mut written = 0;
        while written < found.max(1) {
            if let Some(room) = ends.get_mut(count + written..).and_then(|room| room.first_chunk_mut::<8>()) {
                for place in room {
                    *place = (at as u32).wrapping_add(bits.trailing_zeros());
                    bits &= bits.wrapping_sub(1);
                }
            }
            written += 8;
        }
        count += found;
        at += step;
    }
    count
}

#[cfg(target_arch = "x86_64")]
pub(in crate::formats) use wide::Wide;

/// Sixteen and thirty-two bytes at a time. Bytes are loaded from arrays, not from pointers.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::super::likely;
    use super::{BLOCK, Pattern, Vectors, Word};
    use std::arch::x86_64::{
        __m128i, __m256i, _MM_HINT_T0, _mm_add_epi8, _mm_and_si128, _mm_andnot_si128, _mm_clmulepi64_si128,
        _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_cvtsi128_si64, _mm_madd_epi16, _mm_maddubs_epi16, _mm_min_epu8,
        _mm_movemask_epi8, _mm_or_si128, _mm_packus_epi16, _mm_packus_epi32, _mm_prefetch, _mm_set_epi64x,
        _mm_set1_epi8, _mm_set1_epi16, _mm_set1_epi32, _mm_shuffle_epi8, _mm_sub_epi8, _mm256_cmpeq_epi8,
        _mm256_movemask_epi8, _mm256_set_epi64x, _mm256_set1_epi8,
    };
    use std::ops::Range;

    /// Shows that the processor has AVX2 and the instructions for bits that came with it, as most since 2013 have.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::formats) struct Wide(());

    impl Wide {
        /// `None` when the processor lacks them.
        pub(in crate::formats) fn detect() -> Option<Self> {
            let has_all = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("pclmulqdq");
            has_all.then_some(Self(()))
        }
    }

    #[expect(unsafe_code, reason = "half the instructions for a line")]
    impl Vectors for Wide {
        #[inline(always)]
        fn places(self, bytes: &[u8; BLOCK], byte: u8) -> u64 {
            // SAFETY: `Wide` shows that the processor has AVX2.
            unsafe { places(bytes, byte) }
        }

        #[inline(always)]
        fn number(self, bytes: &[u8; 16], count: usize, pattern: &Pattern) -> Option<u64> {
            // SAFETY: as above.
            unsafe { number(bytes, count, pattern) }
        }

        #[inline(always)]
        fn hex(self, bytes: &[u8; 16], count: usize) -> Option<u64> {
            // SAFETY: as above.
            unsafe { hex(bytes, count) }
        }

        #[inline(always)]
        fn is(self, bytes: &[u8; 16], word: &Word) -> bool {
            // SAFETY: as above.
            unsafe { is(bytes, word) }
        }

        #[inline(always)]
        fn prefix_xor(self, bits: u64) -> u64 {
            // SAFETY: as above.
            unsafe { prefix_xor(bits) }
        }

        #[inline(always)]
        fn prefetch(self, byte: Option<&u8>) {
            if let Some(byte) = byte {
                // SAFETY: as above.
                unsafe { prefetch(byte) }
            }
        }

        #[inline(always)]
        fn find_ends(
            self,
            text: &[u8],
            range: Range<usize>,
            delimiter: u8,
            quotes: bool,
            ends: &mut [u32],
        ) -> usize {
            // SAFETY: as above.
            unsafe { find_ends(self, text, range, delimiter, quotes, ends) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn prefetch(byte: &u8) {
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast());
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,pclmulqdq")]
    fn find_ends(
        wide: Wide,
        text: &[u8],
        range: Range<usize>,
        delimiter: u8,
        quotes: bool,
        ends: &mut [u32],
    ) -> usize {
        super::find_ends(wide, text, range, delimiter, quotes, ends)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn is(bytes: &[u8; 16], word: &Word) -> bool {
        let equal = _mm_movemask_epi8(_mm_cmpeq_epi8(load(bytes), load(&word.bytes)));
        equal.cast_unsigned() | word.behind == 0xffff
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn prefix_xor(bits: u64) -> u64 {
        let bits = _mm_set_epi64x(0, bits.cast_signed());
        _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(bits, _mm_set1_epi8(-1))).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn places(bytes: &[u8; BLOCK], byte: u8) -> u64 {
        let [low, high] = bytes.as_chunks::<32>().0 else { return 0 };
        places_in_half(low, byte) | places_in_half(high, byte) << 32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn places_in_half(bytes: &[u8; 32], byte: u8) -> u64 {
        let equal = _mm256_cmpeq_epi8(load_32(bytes), _mm256_set1_epi8(byte.cast_signed()));
        u64::from(_mm256_movemask_epi8(equal).cast_unsigned())
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn number(bytes: &[u8; 16], count: usize, pattern: &Pattern) -> Option<u64> {
        let over = _mm_sub_epi8(load(bytes), load(&pattern.least));
        let over = _mm_and_si128(over, load(last(count)));
        let fits = _mm_cmpeq_epi8(_mm_min_epu8(over, load(&pattern.range)), over);
        let has_digits = count.wrapping_sub(pattern.others + 1) <= pattern.more;
        likely((has_digits & (_mm_movemask_epi8(fits) == 0xffff)).then_some(()))?;
        // Ten and one for each pair of digits, a hundred and one for each pair of pairs, and so on; lower half first.
        let pairs = _mm_maddubs_epi16(_mm_shuffle_epi8(over, load(&pattern.order)), _mm_set1_epi16(0x010a));
        let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
        let eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x0001_2710));
        let both = _mm_cvtsi128_si64(eights).cast_unsigned();
        Some((both & 0xffff_ffff) * 100_000_000 + (both >> 32))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn hex(bytes: &[u8; 16], count: usize) -> Option<u64> {
        let (bytes, mask) = (load(bytes), load(last(count)));
        let small = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        let is_digit = up_to(_mm_sub_epi8(bytes, _mm_set1_epi8(0x30)), 9);
        let is_letter = up_to(_mm_sub_epi8(small, _mm_set1_epi8(0x61)), 5);
        let is_none = _mm_andnot_si128(_mm_or_si128(is_digit, is_letter), mask);
        likely(((_mm_movemask_epi8(is_none) == 0) & (count.wrapping_sub(1) < 16)).then_some(()))?;
        let nine_more = _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x40)), _mm_set1_epi8(9));
        let values = _mm_add_epi8(_mm_and_si128(bytes, _mm_set1_epi8(0x0f)), nine_more);
        let pairs = _mm_maddubs_epi16(_mm_and_si128(values, mask), _mm_set1_epi16(0x0110));
        Some(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)).cast_unsigned().swap_bytes())
    }

    /// All bits of the last `count` of sixteen bytes; what it is for more than sixteen has no meaning.
    #[inline(always)]
    fn last(count: usize) -> &'static [u8; 16] {
        const MASKS: &[u8; 48] = &{
            let mut masks = [0; 48];
            let mut at = 16;
            while at < 48 {
                masks[at] = 0xff;
                at += 1;
            }
            masks
        };
        MASKS[count % 32..].first_chunk().unwrap_or(&[0; 16])
    }

    /// The compiler makes one load of it.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; 16]) -> __m128i {
        let whole = u128::from_le_bytes(*bytes);
        _mm_set_epi64x((whole >> 64) as i64, whole as i64)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_32(bytes: &[u8; 32]) -> __m256i {
        let [a, b, c, d] = bytes.as_chunks().0 else { return _mm256_set1_epi8(0) };
        let [a, b, c, d] = [a, b, c, d].map(|word| i64::from_le_bytes(*word));
        _mm256_set_epi64x(d, c, b, a)
    }

    /// All bits of the bytes that are not above `most`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn up_to(bytes: __m128i, most: i8) -> __m128i {
        _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most)), bytes)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn both_ways_give_the_same(
            text in "[0-9]{0,18}|[0-9]{0,9}\\.[0-9]{3,3},|[0-9a-fA-F]{0,18}|[/-:@-G`-g]{0,18}|[\0-\u{ff}]{20}",
            count in 0usize..40, decimals in 0usize..5, suffix in "(us)?,?", block: [u8; 32], byte: u8,
        ) {
            let Some(wide) = Wide::detect() else { return Ok(()) };
            let text = format!("................{text}").into_bytes();
            let bytes = text.last_chunk().unwrap();
            let pattern = Pattern::new(decimals, b'.', suffix.as_bytes()).unwrap();
            prop_assert_eq!(wide.number(bytes, count, &pattern), Bytes.number(bytes, count, &pattern));
            prop_assert_eq!(wide.hex(bytes, count), Bytes.hex(bytes, count));
            for word in [&bytes[..count % 16], &block[..count % 16]].into_iter().filter_map(Word::new) {
                prop_assert_eq!(wide.is(bytes, &word), Bytes.is(bytes, &word));
            }
            let mut bytes = [byte; BLOCK];
            bytes[..32].copy_from_slice(&block);
            for byte in [byte, block[3]] {
                let expected = (0..BLOCK).filter(|at| bytes[*at] == byte).fold(0, |places, at| places | 1 << at);
                prop_assert_eq!([wide.places(&bytes, byte), Bytes.places(&bytes, byte)], [expected; 2]);
                prop_assert_eq!(wide.prefix_xor(expected), Bytes.prefix_xor(expected));
            }
        }

        #[test]
        fn numbers_are_those_of_the_library(
            whole in "[0-9]{0,9}", fraction in "[0-9]{0,6}", suffix in "(us)?[,\"]", other in "[0-9a-fA-F]{1,16}",
        ) {
            let pattern = Pattern::new(fraction.len(), b'.', suffix.as_bytes());
            let point = if fraction.is_empty() { "" } else { "." };
            let cell = format!("{whole}{point}{fraction}{suffix}");
            let padded = format!("################{cell}");
            let number = pattern.map(|p| Bytes.number(padded.as_bytes().last_chunk().unwrap(), cell.len(), &p));
            let expected = format!("{whole}{fraction}").parse().ok().filter(|_| !whole.is_empty() && cell.len() <= 16);
            // A pattern tells how many decimals there are, so digits before the point may be missing only where it has none.
            let expected = if whole.is_empty() && !fraction.is_empty() { number.flatten() } else { expected };
            prop_assert_eq!(number.flatten(), expected);
            let padded = format!("################{other}");
            let hex = Bytes.hex(padded.as_bytes().last_chunk().unwrap(), other.len());
            prop_assert_eq!(hex, u64::from_str_radix(&other, 16).ok());
        }
    }

    #[test]
    fn every_byte_is_classified() {
        let Some(wide) = Wide::detect() else { return };
        let pattern = Pattern::new(4, b'.', b",").unwrap();
        for (byte, place) in (0..=255u8).flat_map(|byte| (0..16).map(move |place| (byte, place))) {
            let mut text = *b"7777777777.1234,";
            text[place] = byte;
            let numbers = [wide.number(&text, 16, &pattern), Bytes.number(&text, 16, &pattern)];
            let fits = match place {
                10 => byte == b'.',
                15 => byte == b',',
                _ => byte.is_ascii_digit(),
            };
            assert_eq!(numbers.map(|number| number.is_some()), [fits; 2], "{byte} at {place}");
            assert_eq!(numbers[0], numbers[1]);
            text = [b'7'; 16];
            text[place] = byte;
            let numbers = [wide.hex(&text, 16), Bytes.hex(&text, 16)];
            assert_eq!(
                numbers.map(|number| number.is_some()),
                [byte.is_ascii_hexdigit(); 2],
                "{byte} at {place}"
            );
            assert_eq!(numbers[0], numbers[1]);
        }
    }
}
