//! Masks of the bytes that end a field, in a group of sixteen bytes: one bit per byte, the lowest for the
//! first. Uses SSE2, for which programs on x86-64 are compiled; others read byte by byte. Not for the content
//! of fields.

/// Mask of the bytes equal to `byte`.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
#[expect(unsafe_code, reason = "one instruction in place of thirty, per sixteen bytes of every field")]
pub(in crate::formats) fn equal(bytes: [u8; 16], byte: u8) -> u32 {
    // SAFETY: the function needs a processor that has SSE2. By the `cfg`, the whole program is compiled for
    // such processors only.
    unsafe { vectors::equal(bytes, byte) }
}

/// Mask of the bytes up to `max`, which is below 128. Otherwise like [`equal`].
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
#[expect(unsafe_code, reason = "as for `equal`")]
pub(in crate::formats) fn up_to(bytes: [u8; 16], max: u8) -> u32 {
    // SAFETY: as in `equal`.
    unsafe { vectors::up_to(bytes, max) }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod vectors {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8,
    };

    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn equal(bytes: [u8; 16], byte: u8) -> u32 {
        _mm_movemask_epi8(_mm_cmpeq_epi8(vector(bytes), _mm_set1_epi8(byte.cast_signed()))).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn up_to(bytes: [u8; 16], max: u8) -> u32 {
        let bytes = vector(bytes);
        let smaller = _mm_min_epu8(bytes, _mm_set1_epi8(max.cast_signed()));
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, smaller)).cast_unsigned()
    }

    /// The compiler makes one load of it, because the halves are adjacent.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn vector(bytes: [u8; 16]) -> __m128i {
        let whole = u128::from_le_bytes(bytes);
        _mm_set_epi64x((whole >> 64) as i64, whole as i64)
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
pub(in crate::formats) fn equal(bytes: [u8; 16], byte: u8) -> u32 {
    bytes.iter().rev().fold(0, |mask, found| mask << 1 | u32::from(*found == byte))
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
#[inline(always)]
pub(in crate::formats) fn up_to(bytes: [u8; 16], max: u8) -> u32 {
    bytes.iter().rev().fold(0, |mask, found| mask << 1 | u32::from(*found <= max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn masks_of_a_text_under_miri() {
        let text = *b"0123456789,\n 7,\t";
        assert_eq!(equal(text, b','), 1 << 10 | 1 << 14);
        assert_eq!(up_to(text, b' '), 1 << 11 | 1 << 12 | 1 << 15);
    }

    proptest! {
        #[test]
        fn the_lowest_bit_is_the_first_match(bytes: [u8; 16], byte: u8, max in 0u8..128) {
            let first = |bits: u32| (bits != 0).then(|| bits.trailing_zeros() as usize);
            prop_assert_eq!(first(equal(bytes, byte)), bytes.iter().position(|b| *b == byte));
            prop_assert_eq!(first(up_to(bytes, max)), bytes.iter().position(|b| *b <= max));
        }
    }
}
