//! Pseudo-random numbers, the same on every machine: no floating point. Not for anything that must be secret.

/// SplitMix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Another sequence for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 when that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// True once in `n` times; never if that is 0.
    pub fn one_in(&mut self, n: u32) -> bool {
        n > 0 && self.below(n.into()) == 0
    }

    /// A duration: mostly between 1/4 and 4 times `mean`, sometimes much longer, as execution times are.
    pub fn duration(&mut self, mean: u64) -> u64 {
        let bits = self.bits();
        let factor = (128 + (bits & 0x1ff)) * (128 + ((bits >> 9) & 0x1ff));
        let tail = if (bits >> 18) & 0x3f == 0 { 2 + ((bits >> 24) & 0x1f) } else { 1 };
        // The product of both factors is 2^17 on average.
        1 + ((u128::from(mean) * u128::from(factor) * u128::from(tail)) >> 17) as u64
    }
}
