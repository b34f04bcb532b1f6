//! Which of sixteen bytes end a field: one bit per byte, the lowest for the first. With the vector instructions that every
//! x86-64 has; elsewhere by words. Not for what is in the field (see `swar`).

#[cfg(not(target_arch = "x86_64"))]
use super::swar;

/// Bits of the bytes that are `byte`. Where there are no vectors, bits behind the first one may be set wrongly.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code, reason = "one instruction in place of thirty, per sixteen bytes of every field")]
pub(in crate::formats) fn equal(bytes: [u8; 16], byte: u8) -> u32 {
    // SAFETY: every x86-64 processor has SSE2, and that is all that is asked for.
    unsafe { vectors::equal(bytes, byte) }
}

/// Bits of the bytes that are not above `most`, which is below 128; as [`equal`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code, reason = "as above")]
pub(in crate::formats) fn up_to(bytes: [u8; 16], most: u8) -> u32 {
    // SAFETY: every x86-64 processor has SSE2, and that is all that is asked for.
    unsafe { vectors::up_to(bytes, most) }
}

#[cfg(target_arch = "x86_64")]
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
    pub fn up_to(bytes: [u8; 16], most: u8) -> u32 {
        let bytes = vector(bytes);
        let least = _mm_min_epu8(bytes, _mm_set1_epi8(most.cast_signed()));
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, least)).cast_unsigned()
    }

    /// One load: the compiler sees that the halves lie side by side.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn vector(bytes: [u8; 16]) -> __m128i {
        let [low, high] = super::halves(bytes);
        _mm_set_epi64x(high.cast_signed(), low.cast_signed())
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(in crate::formats) fn equal(bytes: [u8; 16], byte: u8) -> u32 {
    let [low, high] = halves(bytes).map(|word| swar::byte_bits(swar::equals(word, byte)));
    low | high << 8
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(in crate::formats) fn up_to(bytes: [u8; 16], most: u8) -> u32 {
    let [low, high] = halves(bytes).map(|word| swar::byte_bits(swar::below(word, most + 1)));
    low | high << 8
}

#[inline(always)]
fn halves(bytes: [u8; 16]) -> [u64; 2] {
    let whole = u128::from_le_bytes(bytes);
    [whole as u64, (whole >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_bit_is_that_of_the_first_stop(bytes: [u8; 16], byte: u8, most in 0u8..128) {
            let first = |bits: u32| (bits != 0).then(|| bits.trailing_zeros() as usize);
            prop_assert_eq!(first(equal(bytes, byte)), bytes.iter().position(|b| *b == byte));
            prop_assert_eq!(first(up_to(bytes, most)), bytes.iter().position(|b| *b <= most));
        }
    }
}
