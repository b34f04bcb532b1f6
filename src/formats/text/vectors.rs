//! The operations of line readers on many bytes at once, with two implementations that give the same results:
//! AVX2 instructions, or a loop over bytes. Not for the use of the results.

use std::hint::cold_path;
use std::ops::Range;

/// Number of bytes that are searched at once.
pub(in crate::formats) const BLOCK: usize = 64;

/// How far ahead of a block the text is prefetched, in bytes.
const PREFETCH_DISTANCE: usize = 8 << 10;

/// The form of the last sixteen bytes of a cell: the digits of a number, the decimal point, and the suffix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) struct Pattern {
    /// The minimum of each byte.
    min: [u8; 16],
    /// By how much each byte may exceed its minimum.
    range: [u8; 16],
    /// The index of the byte of each digit, from the most significant of sixteen digits on; 0x80 for a digit
    /// that reads as zero.
    shuffle: [u8; 16],
    /// The number of bytes of the fixed part: point, decimals, suffix.
    fixed: usize,
    /// The maximum number of digits before the fixed part, minus one.
    max_extra: usize,
}

impl Pattern {
    /// Digits, then, if `decimals` is not zero, the byte `point` and that number of digits, then `suffix`.
    /// `None` if sixteen bytes have no room for a digit before these.
    pub(in crate::formats) fn new(decimals: usize, point: u8, suffix: &[u8]) -> Option<Self> {
        let has_point = usize::from(decimals > 0);
        let fixed = has_point + decimals + suffix.len();
        let digits_end = 16usize.checked_sub(suffix.len())?;
        let mut pattern = Self {
            min: [b'0'; 16],
            range: [9; 16],
            shuffle: [0x80; 16],
            fixed,
            max_extra: 15usize.checked_sub(fixed)?,
        };
        pattern.min.get_mut(digits_end..)?.copy_from_slice(suffix);
        pattern.range.get_mut(digits_end..)?.fill(0);
        if has_point > 0 {
            let at = digits_end.checked_sub(1 + decimals)?;
            *pattern.min.get_mut(at)? = point;
            *pattern.range.get_mut(at)? = 0;
        }
        for (digit, place) in pattern.shuffle.iter_mut().rev().enumerate() {
            let from_end = digit + usize::from(digit >= decimals) * has_point;
            if let Some(at) = digits_end.checked_sub(1 + from_end) {
                *place = at as u8;
            }
        }
        (fixed < 16).then_some(pattern)
    }
}

/// A word of up to fifteen bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::formats) struct Word {
    bytes: [u8; 16],
    /// Its number of bytes; zero for no word.
    length: usize,
    /// Mask of the bytes after the word.
    unused: u32,
}

impl Word {
    /// `None` if the word is empty or too long.
    pub(in crate::formats) fn new(word: &[u8]) -> Option<Self> {
        let mut bytes = [0; 16];
        bytes.get_mut(..word.len())?.copy_from_slice(word);
        let unused = 0xffff << word.len() & 0xffff;
        (1..16).contains(&word.len()).then_some(Self { bytes, length: word.len(), unused })
    }

    /// Its number of bytes.
    pub(in crate::formats) fn length(&self) -> usize {
        self.length
    }
}

/// An implementation of the operations.
pub(in crate::formats) trait Vectors: Copy {
    /// Mask of the bytes equal to `byte`, the lowest bit for the first byte.
    fn byte_mask(self, bytes: &[u8; BLOCK], byte: u8) -> u64;

    /// The number in the last `count` bytes, without its point. `None` if they do not match the pattern, or
    /// if there is no digit before its fixed part.
    fn decimal(self, bytes: &[u8; 16], count: usize, pattern: &Pattern) -> Option<u64>;

    /// The number in the last `count` bytes, which must be 1 to 16 hex digits.
    fn hex(self, bytes: &[u8; 16], count: usize) -> Option<u64>;

    /// Whether the bytes start with the word.
    fn starts_with(self, bytes: &[u8; 16], word: &Word) -> bool;

    /// Bit `n` of the result is the exclusive or of the bits 0 to `n`.
    fn prefix_xor(self, bits: u64) -> u64;

    /// Finds the ends of fields, which are the offsets of `delimiter` and of line ends, in the blocks of the
    /// text that begin in `range`. Writes them to `ends` and returns their number. `range` must start at the
    /// start of a line. With `quotes`, a delimiter between quotes does not end a field. `ends` must have room
    /// for as many ends as `range` and two blocks have bytes. The last bytes of the text are not scanned if
    /// they do not fill a block.
    fn find_ends(
        self,
        text: &[u8],
        range: Range<usize>,
        delimiter: u8,
        quotes: bool,
        ends: &mut [u32],
    ) -> usize;

    /// Requests a byte from memory that is needed soon.
    fn prefetch(self, _byte: Option<&u8>) {}
}

/// A loop over bytes, for any processor.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats) struct Scalar;

impl Vectors for Scalar {
    #[inline(always)]
    fn byte_mask(self, bytes: &[u8; BLOCK], byte: u8) -> u64 {
        bytes.iter().rev().fold(0, |mask, found| mask << 1 | u64::from(*found == byte))
    }

    #[inline(always)]
    fn decimal(self, bytes: &[u8; 16], count: usize, pattern: &Pattern) -> Option<u64> {
        let begin = 16usize.checked_sub(count)?;
        let fits = |at: usize| bytes[at].wrapping_sub(pattern.min[at]) <= pattern.range[at];
        let all = (begin..16).all(fits) && count > pattern.fixed;
        let digits = pattern.shuffle.iter().map(|at| usize::from(*at));
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
    fn starts_with(self, bytes: &[u8; 16], word: &Word) -> bool {
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
    // All bits are set while a quote is open.
    let mut in_quotes = 0u64;
    while at < range.end
        && let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk())
    {
        vectors.prefetch(text.get(at + PREFETCH_DISTANCE));
        let lines = vectors.byte_mask(bytes, b'\n');
        let mut delimiters = vectors.byte_mask(bytes, delimiter);
        let (mut scanned, mut step) = (u64::MAX, BLOCK);
        if quotes {
            let inside = vectors.prefix_xor(vectors.byte_mask(bytes, b'"')) ^ in_quotes;
            delimiters &= !inside;
            in_quotes = (inside.cast_signed() >> 63).cast_unsigned();
            let unclosed = lines & inside;
            if unclosed != 0 {
                cold_path();
                // A line end closes an open quote. The bytes after the line end are scanned again.
                step = unclosed.trailing_zeros() as usize + 1;
                scanned >>= BLOCK - step;
                in_quotes = 0;
            }
        }
        let mut bits = (delimiters | lines) & scanned;
        let found = bits.count_ones() as usize;
        // Most blocks have only a few ends. Eight are written without a check: the exit of a loop over single
        // ends would be a mispredicted branch.
        let mut written = 0;
        while written < found.max(1) {
            if let Some(slots) =
                ends.get_mut(count + written..).and_then(|slots| slots.first_chunk_mut::<8>())
            {
                for place in slots {
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
pub(in crate::formats) use avx2::Avx2;

/// AVX2 instructions, for sixteen or thirty-two bytes at a time. Bytes are loaded from arrays, not from
/// pointers.
#[cfg(target_arch = "x86_64")]
mod avx2 {
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

    /// Proof that the processor has AVX2 and the bit instructions that came with it, as most processors since
    /// 2013 have. Only [`Avx2::detect`] makes one, because the field is private. A function may have the
    /// features that are asked for there, and no others: `tests/it/unsafe_code.rs` compares the lists.
    #[derive(Debug, Clone, Copy)]
    pub(in crate::formats) struct Avx2(());

    impl Avx2 {
        /// `None` if the processor lacks one of them.
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
    impl Vectors for Avx2 {
        #[inline(always)]
        fn byte_mask(self, bytes: &[u8; BLOCK], byte: u8) -> u64 {
            // SAFETY: the function is sound on a processor that has the features in its attribute. There is
            // an `Avx2`, so this processor has them.
            unsafe { byte_mask(bytes, byte) }
        }

        #[inline(always)]
        fn decimal(self, bytes: &[u8; 16], count: usize, pattern: &Pattern) -> Option<u64> {
            // SAFETY: as in `byte_mask`.
            unsafe { decimal(bytes, count, pattern) }
        }

        #[inline(always)]
        fn hex(self, bytes: &[u8; 16], count: usize) -> Option<u64> {
            // SAFETY: as in `byte_mask`.
            unsafe { hex(bytes, count) }
        }

        #[inline(always)]
        fn starts_with(self, bytes: &[u8; 16], word: &Word) -> bool {
            // SAFETY: as in `byte_mask`.
            unsafe { starts_with(bytes, word) }
        }

        #[inline(always)]
        fn prefix_xor(self, bits: u64) -> u64 {
            // SAFETY: as in `byte_mask`.
            unsafe { prefix_xor(bits) }
        }

        #[inline(always)]
        fn prefetch(self, byte: Option<&u8>) {
            if let Some(byte) = byte {
                // SAFETY: as in `byte_mask`. The address is that of a reference, and nothing is read.
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
            // SAFETY: as in `byte_mask`.
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
        avx2: Avx2,
        text: &[u8],
        range: Range<usize>,
        delimiter: u8,
        quotes: bool,
        ends: &mut [u32],
    ) -> usize {
        super::find_ends(avx2, text, range, delimiter, quotes, ends)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn starts_with(bytes: &[u8; 16], word: &Word) -> bool {
        let equal = _mm_movemask_epi8(_mm_cmpeq_epi8(load(bytes), load(&word.bytes)));
        equal.cast_unsigned() | word.unused == 0xffff
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn prefix_xor(bits: u64) -> u64 {
        let bits = _mm_set_epi64x(0, bits.cast_signed());
        _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(bits, _mm_set1_epi8(-1))).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn byte_mask(bytes: &[u8; BLOCK], byte: u8) -> u64 {
        let [low, high] = bytes.as_chunks::<32>().0 else { return 0 };
        half_mask(low, byte) | half_mask(high, byte) << 32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn half_mask(bytes: &[u8; 32], byte: u8) -> u64 {
        let equal = _mm256_cmpeq_epi8(load_32(bytes), _mm256_set1_epi8(byte.cast_signed()));
        u64::from(_mm256_movemask_epi8(equal).cast_unsigned())
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn decimal(bytes: &[u8; 16], count: usize, pattern: &Pattern) -> Option<u64> {
        let excess = _mm_sub_epi8(load(bytes), load(&pattern.min));
        let excess = _mm_and_si128(excess, load(tail_mask(count)));
        let fits = _mm_cmpeq_epi8(_mm_min_epu8(excess, load(&pattern.range)), excess);
        let has_digits = count.wrapping_sub(pattern.fixed + 1) <= pattern.max_extra;
        likely((has_digits & (_mm_movemask_epi8(fits) == 0xffff)).then_some(()))?;
        // Weights: 10 and 1 for each pair of digits, 100 and 1 for each pair of pairs, and so on. The lower
        // half of the result has the leading digits.
        let pairs =
            _mm_maddubs_epi16(_mm_shuffle_epi8(excess, load(&pattern.shuffle)), _mm_set1_epi16(0x010a));
        let fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001_0064));
        let eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x0001_2710));
        let halves = _mm_cvtsi128_si64(eights).cast_unsigned();
        Some((halves & 0xffff_ffff) * 100_000_000 + (halves >> 32))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn hex(bytes: &[u8; 16], count: usize) -> Option<u64> {
        let (bytes, mask) = (load(bytes), load(tail_mask(count)));
        let lower = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
        let is_digit = at_most(_mm_sub_epi8(bytes, _mm_set1_epi8(0x30)), 9);
        let is_letter = at_most(_mm_sub_epi8(lower, _mm_set1_epi8(0x61)), 5);
        let is_invalid = _mm_andnot_si128(_mm_or_si128(is_digit, is_letter), mask);
        likely(((_mm_movemask_epi8(is_invalid) == 0) & (count.wrapping_sub(1) < 16)).then_some(()))?;
        let letter_offset = _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(0x40)), _mm_set1_epi8(9));
        let values = _mm_add_epi8(_mm_and_si128(bytes, _mm_set1_epi8(0x0f)), letter_offset);
        let pairs = _mm_maddubs_epi16(_mm_and_si128(values, mask), _mm_set1_epi16(0x0110));
        Some(_mm_cvtsi128_si64(_mm_packus_epi16(pairs, pairs)).cast_unsigned().swap_bytes())
    }

    /// Mask of the last `count` of sixteen bytes; unspecified for more than sixteen.
    #[inline(always)]
    fn tail_mask(count: usize) -> &'static [u8; 16] {
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

    /// Mask of the bytes up to `max`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn at_most(bytes: __m128i, max: i8) -> __m128i {
        _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(max)), bytes)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8 * ProptestConfig::default().cases))]

        #[test]
        fn both_implementations_agree(
            text in "[0-9]{0,18}|[0-9]{0,9}\\.[0-9]{3,3},|[0-9a-fA-F]{0,18}|[/-:@-G`-g]{0,18}|[\0-\u{ff}]{20}",
            count in 0usize..40, decimals in 0usize..5, suffix in "(us)?,?", block: [u8; 32], byte: u8,
        ) {
            let Some(avx2) = Avx2::detect() else { return Ok(()) };
            let text = format!("................{text}").into_bytes();
            let bytes = text.last_chunk().unwrap();
            let pattern = Pattern::new(decimals, b'.', suffix.as_bytes()).unwrap();
            prop_assert_eq!(avx2.decimal(bytes, count, &pattern), Scalar.decimal(bytes, count, &pattern));
            prop_assert_eq!(avx2.hex(bytes, count), Scalar.hex(bytes, count));
            for word in [&bytes[..count % 16], &block[..count % 16]].into_iter().filter_map(Word::new) {
                prop_assert_eq!(avx2.starts_with(bytes, &word), Scalar.starts_with(bytes, &word));
            }
            let mut bytes = [byte; BLOCK];
            bytes[..32].copy_from_slice(&block);
            for byte in [byte, block[3]] {
                let expected = (0..BLOCK).filter(|at| bytes[*at] == byte).fold(0, |mask, at| mask | 1 << at);
                prop_assert_eq!([avx2.byte_mask(&bytes, byte), Scalar.byte_mask(&bytes, byte)], [expected; 2]);
                prop_assert_eq!(avx2.prefix_xor(expected), Scalar.prefix_xor(expected));
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
            let number = pattern.map(|p| Scalar.decimal(padded.as_bytes().last_chunk().unwrap(), cell.len(), &p));
            let expected = format!("{whole}{fraction}").parse().ok().filter(|_| !whole.is_empty() && cell.len() <= 16);
            // Any result is accepted if there are decimals, but no digits before the point.
            let expected = if whole.is_empty() && !fraction.is_empty() { number.flatten() } else { expected };
            prop_assert_eq!(number.flatten(), expected);
            let padded = format!("################{other}");
            let hex = Scalar.hex(padded.as_bytes().last_chunk().unwrap(), other.len());
            prop_assert_eq!(hex, u64::from_str_radix(&other, 16).ok());
        }
    }

    fn ends(vectors: impl Vectors, text: &[u8], quotes: bool) -> Vec<u32> {
        let mut ends = vec![0; text.len() + 2 * BLOCK];
        let count = vectors.find_ends(text, 0..text.len(), b',', quotes, &mut ends);
        ends.truncate(count);
        ends
    }

    /// Short, for Miri, which takes minutes for random texts.
    #[test]
    fn implementations_agree_under_miri() {
        let avx2 = Avx2::detect();
        assert!(avx2.is_some() || !cfg!(miri), "Miri would test nothing");
        let Some(avx2) = avx2 else { return };
        let text = b"1,\"a,b\",0x2f\n\"open\n3,4\n".repeat(8);
        let (bytes, block) = (text.first_chunk().unwrap(), text.first_chunk().unwrap());
        let word = Word::new(b"1,\"").unwrap();
        assert!(avx2.starts_with(bytes, &word) && Scalar.starts_with(bytes, &word));
        assert_eq!(avx2.byte_mask(block, b','), Scalar.byte_mask(block, b','));
        assert_eq!(avx2.prefix_xor(0x8421), Scalar.prefix_xor(0x8421));
        avx2.prefetch(text.first());
        for quotes in [false, true] {
            assert_eq!(ends(avx2, &text, quotes), ends(Scalar, &text, quotes));
        }
    }

    #[test]
    fn every_byte_is_classified_under_miri() {
        let Some(avx2) = Avx2::detect() else { return };
        let pattern = Pattern::new(4, b'.', b",").unwrap();
        // Miri is slow. Some of these bytes are digits of a number, and some are not.
        let bytes = (0..=255u8).step_by(if cfg!(miri) { 17 } else { 1 });
        for (byte, place) in bytes.flat_map(|byte| (0..16).map(move |place| (byte, place))) {
            let mut text = *b"7777777777.1234,";
            text[place] = byte;
            let numbers = [avx2.decimal(&text, 16, &pattern), Scalar.decimal(&text, 16, &pattern)];
            let fits = match place {
                10 => byte == b'.',
                15 => byte == b',',
                _ => byte.is_ascii_digit(),
            };
            assert_eq!(numbers.map(|number| number.is_some()), [fits; 2], "{byte} at {place}");
            assert_eq!(numbers[0], numbers[1]);
            text = [b'7'; 16];
            text[place] = byte;
            let numbers = [avx2.hex(&text, 16), Scalar.hex(&text, 16)];
            assert_eq!(
                numbers.map(|number| number.is_some()),
                [byte.is_ascii_hexdigit(); 2],
                "{byte} at {place}"
            );
            assert_eq!(numbers[0], numbers[1]);
        }
    }
}
