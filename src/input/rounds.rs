//! SHA-256 in quarters of a block, with the instructions that x86 processors have for it. Not the hash of a text, which is
//! more than its whole blocks (see [`super::hash`]).
//!
//! The rounds of a block wait for each other: sixteen of them take a processor some thirty cycles, in most of which it could
//! do something else, if that came soon enough behind them. A whole block at once is too much: it fills the places in which
//! instructions wait, and the processor sees nothing of what follows.

/// Words of SHA-256 in the order in which its instructions want them, and where in a block they are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds {
    #[cfg(target_arch = "x86_64")]
    lanes: x86::Lanes,
    #[cfg(not(target_arch = "x86_64"))]
    lanes: std::convert::Infallible,
    /// How many quarters of the block are done.
    done: u8,
}

impl Rounds {
    /// From a state between two blocks on. `None` when the processor lacks the instructions.
    pub(super) fn new(state: &[u32; 8]) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return x86::Lanes::new(state).map(|lanes| Self { lanes, done: 0 });
        #[cfg(not(target_arch = "x86_64"))]
        return None;
    }

    /// True between two blocks.
    pub(super) fn is_between(&self) -> bool {
        self.done == 0
    }

    /// The next quarter of a block, the same for four of them.
    #[inline(always)]
    pub(super) fn quarter(&mut self, block: &[u8; 64]) {
        #[cfg(target_arch = "x86_64")]
        self.lanes.quarter(self.done, block);
        self.done = (self.done + 1) & 3;
    }

    /// The state after the last whole block.
    pub(super) fn state(&self) -> [u32; 8] {
        #[cfg(target_arch = "x86_64")]
        return self.lanes.state();
        #[cfg(not(target_arch = "x86_64"))]
        match self.lanes {}
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_alignr_epi8, _mm_extract_epi32, _mm_set_epi32, _mm_set_epi64x,
        _mm_sha256msg1_epu32, _mm_sha256msg2_epu32, _mm_sha256rnds2_epu32, _mm_shuffle_epi8,
        _mm_shuffle_epi32,
    };

    /// The constants of the rounds (FIPS 180-4, §4.2.2), as four quarters of four times four.
    const K: [[[u32; 4]; 4]; 4] = [
        [
            [0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5],
            [0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5],
            [0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3],
            [0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174],
        ],
        [
            [0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc],
            [0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da],
            [0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7],
            [0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967],
        ],
        [
            [0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13],
            [0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85],
            [0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3],
            [0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070],
        ],
        [
            [0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5],
            [0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3],
            [0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208],
            [0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2],
        ],
    ];

    /// Only [`Lanes::new`] makes them, where the processor has the instructions: that is what the calls below rely on.
    #[derive(Debug, Clone, Copy)]
    pub(super) struct Lanes {
        abef: __m128i,
        cdgh: __m128i,
        /// The two at the begin of the block.
        before: [__m128i; 2],
        /// The last sixteen words of the message schedule.
        words: [__m128i; 4],
    }

    impl Lanes {
        pub(super) fn new(state: &[u32; 8]) -> Option<Self> {
            let able = is_x86_feature_detected!("sha")
                && is_x86_feature_detected!("ssse3")
                && is_x86_feature_detected!("sse4.1");
            #[expect(unsafe_code, reason = "the processor was just asked for the instructions")]
            able.then(|| unsafe { load(state) })
        }

        #[inline(always)]
        pub(super) fn quarter(&mut self, number: u8, block: &[u8; 64]) {
            #[expect(unsafe_code, reason = "there are no lanes without the instructions, see `Lanes`")]
            unsafe {
                match number {
                    0 => first(self, block),
                    1 => later::<1>(self),
                    2 => later::<2>(self),
                    _ => later::<3>(self),
                }
            }
        }

        pub(super) fn state(&self) -> [u32; 8] {
            #[expect(unsafe_code, reason = "there are no lanes without the instructions, see `Lanes`")]
            unsafe {
                store(self)
            }
        }
    }

    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    fn load(state: &[u32; 8]) -> Lanes {
        let [a, b, c, d, e, f, g, h] = state.map(u32::cast_signed);
        let (abef, cdgh) = (_mm_set_epi32(a, b, e, f), _mm_set_epi32(c, d, g, h));
        Lanes { abef, cdgh, before: [abef, cdgh], words: [abef; 4] }
    }

    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    fn store(lanes: &Lanes) -> [u32; 8] {
        let (x, y) = (lanes.abef, lanes.cdgh);
        let (a, b) = (_mm_extract_epi32::<3>(x), _mm_extract_epi32::<2>(x));
        let (e, f) = (_mm_extract_epi32::<1>(x), _mm_extract_epi32::<0>(x));
        let (c, d) = (_mm_extract_epi32::<3>(y), _mm_extract_epi32::<2>(y));
        let (g, h) = (_mm_extract_epi32::<1>(y), _mm_extract_epi32::<0>(y));
        [a, b, c, d, e, f, g, h].map(i32::cast_unsigned)
    }

    /// Rounds 0 to 15: the words are those of the block, whose bytes are big endian.
    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    #[inline(never)]
    fn first(lanes: &mut Lanes, block: &[u8; 64]) {
        let big_endian = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
        let mut now = *lanes;
        now.before = [now.abef, now.cdgh];
        for ((word, bytes), k) in now.words.iter_mut().zip(block.as_chunks::<16>().0).zip(&K[0]) {
            let bytes = u128::from_le_bytes(*bytes);
            *word = _mm_shuffle_epi8(_mm_set_epi64x((bytes >> 64) as i64, bytes as i64), big_endian);
            (now.abef, now.cdgh) = four(now.abef, now.cdgh, *word, k);
        }
        *lanes = now;
    }

    /// Sixteen rounds whose words follow from the sixteen before (FIPS 180-4, §6.2.2, step 1).
    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    #[inline(never)]
    fn later<const QUARTER: usize>(lanes: &mut Lanes) {
        let mut now = *lanes;
        for (n, k) in K[QUARTER].iter().enumerate() {
            let [oldest, second, third, last] = [0, 1, 2, 3].map(|m| now.words[(n + m) & 3]);
            let sum = _mm_add_epi32(_mm_sha256msg1_epu32(oldest, second), _mm_alignr_epi8::<4>(last, third));
            let word = _mm_sha256msg2_epu32(sum, last);
            now.words[n & 3] = word;
            (now.abef, now.cdgh) = four(now.abef, now.cdgh, word, k);
        }
        if QUARTER == 3 {
            now.abef = _mm_add_epi32(now.abef, now.before[0]);
            now.cdgh = _mm_add_epi32(now.cdgh, now.before[1]);
        }
        *lanes = now;
    }

    /// Four rounds with four words.
    #[target_feature(enable = "sha,sse2,ssse3,sse4.1")]
    fn four(abef: __m128i, cdgh: __m128i, words: __m128i, k: &[u32; 4]) -> (__m128i, __m128i) {
        let [a, b, c, d] = k.map(u32::cast_signed);
        let sum = _mm_add_epi32(words, _mm_set_epi32(d, c, b, a));
        // Two rounds exchange the halves of the state, and two more exchange them back.
        let cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
        let abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32::<0x0e>(sum));
        (abef, cdgh)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As the library makes whole blocks.
        #[test]
        fn four_quarters_are_a_block(mut state: [u32; 8], blocks: Vec<[[u8; 32]; 2]>) {
            let Some(mut rounds) = Rounds::new(&state) else { return Ok(()) };
            prop_assert_eq!(rounds.state(), state);
            for [first, second] in blocks {
                let mut block = [0; 64];
                block[..32].copy_from_slice(&first);
                block[32..].copy_from_slice(&second);
                for quarter in 0..4 {
                    prop_assert_eq!(rounds.is_between(), quarter == 0);
                    rounds.quarter(&block);
                }
                sha2::compress256(&mut state, &[block.into()]);
                prop_assert_eq!(rounds.state(), state);
            }
        }
    }
}
