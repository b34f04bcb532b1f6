//! SHA-256 in quarters of a block, with the instructions that x86 processors have for it. Not the hash of a text, which is
//! more than its whole blocks (see [`super::hash`]).
//!
//! The rounds of a block wait for each other: sixteen of them take a processor some thirty cycles, in most of which it could
//! do something else, if that came soon enough behind them. A whole block at once is too much: it fills the places in which
//! instructions wait, and the processor sees nothing of what follows.
//!
//! What waits must not wait for memory, too. The state is therefore kept in registers from quarter to quarter, whatever the code
//! between them is compiled for, which is what assembler is for here: functions with these instructions would not be inlined
//! there, and what they leave in memory for each other takes five cycles to come back, in front of every sixteen rounds.

/// The state of SHA-256 in the order in which its instructions want them, and where in a block they are.
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

    /// How many quarters of a block are done: the number of the next one, 0 between two blocks.
    #[inline(always)]
    pub(super) fn done(&self) -> u8 {
        self.done
    }

    /// A quarter of a block: 0 to 3, one after the other, of the same block.
    #[inline(always)]
    pub(super) fn quarter(&mut self, number: u8, block: &[u8; 64]) {
        debug_assert_eq!(number, self.done, "a quarter was left out");
        #[cfg(target_arch = "x86_64")]
        self.lanes.quarter(number, block);
        self.done = (number + 1) & 3;
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
    use std::arch::x86_64::{__m128i, _mm_add_epi32, _mm_extract_epi32, _mm_set_epi32};
    use std::arch::{asm, is_x86_feature_detected};

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

    /// Constants where the instructions want them.
    #[repr(align(16))]
    struct Aligned<T>(T);

    static ROUND_CONSTANTS: Aligned<[[[u32; 4]; 4]; 4]> = Aligned(K);

    /// Which byte of four words stands where: they are big endian.
    static BIG_ENDIAN: Aligned<[u8; 16]> = Aligned([3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]);

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

    /// Four rounds with the words `$word`: two exchange the halves of the state, and two more exchange them back.
    macro_rules! four_rounds {
        ($at:literal, $word:literal) => {
            concat!(
                "movdqa xmm0, {",
                $word,
                "}\n",
                "paddd xmm0, [{k} + ",
                $at,
                "]\n",
                "sha256rnds2 {cdgh}, {abef}, xmm0\n",
                "pshufd xmm0, xmm0, 0x0e\n",
                "sha256rnds2 {abef}, {cdgh}, xmm0\n",
            )
        };
    }

    /// Four words of the block, and their rounds.
    macro_rules! four_of_block {
        ($at:literal, $word:literal) => {
            concat!(
                "movdqu {",
                $word,
                "}, [{block} + ",
                $at,
                "]\n",
                "pshufb {",
                $word,
                "}, [{big_endian}]\n",
                four_rounds!($at, $word),
            )
        };
    }

    /// The next four words, in the place of the oldest, and their rounds (FIPS 180-4, §6.2.2, step 1).
    macro_rules! four_later {
        ($at:literal, $oldest:literal, $second:literal, $third:literal, $last:literal) => {
            concat!(
                "movdqa {sum}, {",
                $last,
                "}\n",
                "palignr {sum}, {",
                $third,
                "}, 4\n",
                "sha256msg1 {",
                $oldest,
                "}, {",
                $second,
                "}\n",
                "paddd {",
                $oldest,
                "}, {sum}\n",
                "sha256msg2 {",
                $oldest,
                "}, {",
                $last,
                "}\n",
                four_rounds!($at, $oldest),
            )
        };
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
            match number {
                0 => self.first(block),
                1 => self.later(&ROUND_CONSTANTS.0[1]),
                2 => self.later(&ROUND_CONSTANTS.0[2]),
                _ => {
                    self.later(&ROUND_CONSTANTS.0[3]);
                    self.end();
                }
            }
        }

        /// Rounds 0 to 15, whose words are those of the block.
        #[inline(always)]
        fn first(&mut self, block: &[u8; 64]) {
            self.before = [self.abef, self.cdgh];
            let [w0, w1, w2, w3] = &mut self.words;
            #[expect(unsafe_code, reason = "a state that stays in registers: a fifth of the time of a hash")]
            // SAFETY: there are no lanes without the instructions, see `Lanes`. What is read is the 64 bytes of the block, at any
            // address, and two statics that lie at multiples of sixteen. A prefetch reads nothing that could be missed, whatever
            // its address: it fetches what is hashed sixteen blocks later, which no processor sees coming in time by itself.
            unsafe {
                asm!(
                    "prefetcht0 [{block} + 1024]",
                    four_of_block!(0, "w0"),
                    four_of_block!(16, "w1"),
                    four_of_block!(32, "w2"),
                    four_of_block!(48, "w3"),
                    block = in(reg) block.as_ptr(),
                    big_endian = in(reg) BIG_ENDIAN.0.as_ptr(),
                    k = in(reg) ROUND_CONSTANTS.0[0].as_ptr(),
                    w0 = out(xmm_reg) *w0,
                    w1 = out(xmm_reg) *w1,
                    w2 = out(xmm_reg) *w2,
                    w3 = out(xmm_reg) *w3,
                    abef = inout(xmm_reg) self.abef,
                    cdgh = inout(xmm_reg) self.cdgh,
                    out("xmm0") _,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
        }

        /// Sixteen rounds whose words follow from the sixteen before.
        #[inline(always)]
        fn later(&mut self, k: &'static [[u32; 4]; 4]) {
            let [w0, w1, w2, w3] = &mut self.words;
            #[expect(unsafe_code, reason = "as above")]
            // SAFETY: as above; what is read is a part of a static that lies at a multiple of sixteen.
            unsafe {
                asm!(
                    four_later!(0, "w0", "w1", "w2", "w3"),
                    four_later!(16, "w1", "w2", "w3", "w0"),
                    four_later!(32, "w2", "w3", "w0", "w1"),
                    four_later!(48, "w3", "w0", "w1", "w2"),
                    k = in(reg) k.as_ptr(),
                    w0 = inout(xmm_reg) *w0,
                    w1 = inout(xmm_reg) *w1,
                    w2 = inout(xmm_reg) *w2,
                    w3 = inout(xmm_reg) *w3,
                    sum = out(xmm_reg) _,
                    abef = inout(xmm_reg) self.abef,
                    cdgh = inout(xmm_reg) self.cdgh,
                    out("xmm0") _,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
        }

        /// The state behind the block.
        #[inline(always)]
        fn end(&mut self) {
            let [abef, cdgh] = self.before;
            #[expect(unsafe_code, reason = "every x86-64 processor can add")]
            // SAFETY: it is a part of SSE2.
            unsafe {
                self.abef = _mm_add_epi32(self.abef, abef);
                self.cdgh = _mm_add_epi32(self.cdgh, cdgh);
            }
        }

        pub(super) fn state(&self) -> [u32; 8] {
            #[expect(unsafe_code, reason = "there are no lanes without the instructions, see `Lanes`")]
            unsafe {
                store(self)
            }
        }
    }

    #[target_feature(enable = "sse4.1")]
    fn load(state: &[u32; 8]) -> Lanes {
        let [a, b, c, d, e, f, g, h] = state.map(u32::cast_signed);
        let (abef, cdgh) = (_mm_set_epi32(a, b, e, f), _mm_set_epi32(c, d, g, h));
        Lanes { abef, cdgh, before: [abef, cdgh], words: [abef; 4] }
    }

    #[target_feature(enable = "sse4.1")]
    fn store(lanes: &Lanes) -> [u32; 8] {
        let (x, y) = (lanes.abef, lanes.cdgh);
        let (a, b) = (_mm_extract_epi32::<3>(x), _mm_extract_epi32::<2>(x));
        let (e, f) = (_mm_extract_epi32::<1>(x), _mm_extract_epi32::<0>(x));
        let (c, d) = (_mm_extract_epi32::<3>(y), _mm_extract_epi32::<2>(y));
        let (g, h) = (_mm_extract_epi32::<1>(y), _mm_extract_epi32::<0>(y));
        [a, b, c, d, e, f, g, h].map(i32::cast_unsigned)
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
                    prop_assert_eq!(rounds.done(), quarter);
                    rounds.quarter(quarter, &block);
                }
                sha2::compress256(&mut state, &[block.into()]);
                prop_assert_eq!(rounds.state(), state);
            }
        }
    }
}
