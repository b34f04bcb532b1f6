//! What depends on chance, the same on every machine: random bits, and how probable numbers of the normal
//! distribution are. Not for secrets, and not what is drawn or tested (see `simulate`, `regress`, `tail`).
//! Functions that the standard library leaves to the machine are those of the crate `libm`.

/// Scores beyond this are as good as infinite: the probability of ±37 is 1e-299.
pub(crate) const FARTHEST: f64 = 37.0;

/// A stream of random numbers: `SplitMix64` of G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014, <https://prng.di.unimi.it/splitmix64.c>.
#[derive(Debug, Clone)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The probability of a standard normal number beyond ±`z`. From [`FARTHEST`] on it is that of the farthest
/// score, never 0; that of no number is 1.
pub(crate) fn two_sided(z: f64) -> f64 {
    if z.is_nan() {
        return 1.0;
    }
    libm::erfc(z.abs().min(FARTHEST) * std::f64::consts::FRAC_1_SQRT_2)
}

/// The score beyond which, on both sides, the probability is `p`: the inverse of [`two_sided`], by halving.
pub(crate) fn score(p: f64) -> f64 {
    let (mut low, mut high) = (0.0, FARTHEST);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle) > p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bits_are_the_published_ones() {
        // The test vectors of the crate rand_xoshiro, made with the C code of the authors.
        let mut random = SplitMix64::new(1_477_776_061_723_855_037);
        for expected in [1_985_237_415_132_408_290, 2_979_275_885_539_914_483, 13_511_426_838_097_143_398] {
            assert_eq!(random.bits(), expected);
        }
    }

    #[test]
    fn tails_are_those_of_tables() {
        for (z, p) in [
            (0.0, 1.0),
            (0.674_489_750_196_081_7, 0.5),
            (1.959_963_984_540_054, 0.05),
            (2.575_829_303_548_901, 0.01),
            (3.290_526_731_491_894, 0.001),
            (4.417_173_413_469_014, 1e-5),
            (6.109_410_204_869, 1e-9),
        ] {
            let found = two_sided(z);
            assert!((found / p - 1.0).abs() < 1e-8, "{z}: {found} is not {p}");
            assert!((score(p) - z).abs() < 1e-8, "{p}");
            assert_eq!(found, two_sided(-z));
        }
        assert!(two_sided(f64::INFINITY) > 0.0 && two_sided(f64::NAN) == 1.0);
    }
}
