//! Random numbers for resampling, the same on every machine and for every entity. Not for secrets, and not
//! the distributions of a simulation.

use crate::chance::SplitMix64;

/// A stream of numbers.
#[derive(Debug, Clone)]
pub(super) struct Stream(SplitMix64);

impl Stream {
    /// The stream of a seed; `part` tells streams of the same seed apart.
    pub fn of(seed: u64, part: u64) -> Self {
        let mut mixer = SplitMix64::new(seed ^ part.wrapping_mul(0xd134_2543_de82_ef95));
        Self(SplitMix64::new(mixer.bits()))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A whole number below `n`, 0 if `n` is 0. The bias is below `n` / 2^64, far below what a replicate
    /// can show.
    pub fn below(&mut self, n: usize) -> usize {
        scaled(self.bits(), n)
    }

    /// Puts the values into a random order (R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7,
    /// 1964).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for n in (1..values.len()).rev() {
            values.swap(n, self.below(n + 1));
        }
    }
}

/// The place in a series of `n` that is at the share `bits` / 2^64 of its length. The same bits give the same
/// part of series of different lengths, so resampled blocks of two entities are of about the same time.
pub(super) fn scaled(bits: u64, n: usize) -> usize {
    ((u128::from(bits) * n as u128) >> 64) as usize
}
