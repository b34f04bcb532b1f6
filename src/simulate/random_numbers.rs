//! Random numbers that are the same on every machine, in streams that do not depend on each other. Not for
//! secrets, and not the distributions (see `model::distribution`).
//!
//! Every task, ISR and so on draws from a stream of its own, whose begin is made of the seed of the model
//! and of the name. So another task in a model, or another step in it, does not change the times of the
//! rest, and two runs can be compared entity by entity.

use crate::chance::SplitMix64;

/// A stream of random numbers: xoshiro256++ 1.0 of D. Blackman and S. Vigna, "Scrambled linear
/// pseudorandom number generators", ACM TOMS 47 (2021), <https://prng.di.unimi.it/xoshiro256plusplus.c>.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RandomNumbers {
    state: [u64; 4],
}

impl RandomNumbers {
    /// The stream of a seed. Its state comes from `SplitMix64`, as the authors recommend: seeds that are
    /// alike give states that are not, and none is all 0, where the generator would stay.
    pub fn from_seed(seed: u64) -> Self {
        let mut mixer = SplitMix64::new(seed);
        Self { state: std::array::from_fn(|_| mixer.bits()) }
    }

    /// The stream of an entity of a model with this seed. The same seed and name give the same stream; any
    /// other name gives another one.
    pub fn stream(seed: u64, name: &str) -> Self {
        Self::from_seed(SplitMix64::new(seed).bits() ^ hash(name))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let [s0, s1, s2, s3] = &mut self.state;
        let result = s0.wrapping_add(*s3).rotate_left(23).wrapping_add(*s0);
        let shifted = *s1 << 17;
        *s2 ^= *s0;
        *s3 ^= *s1;
        *s1 ^= *s2;
        *s0 ^= *s3;
        *s2 ^= shifted;
        *s3 = s3.rotate_left(45);
        result
    }

    /// A number of at least 0 and less than 1, a multiple of 2⁻⁵³: each has the same probability.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * UNIT
    }

    /// A whole number from `min` to `max`, both inclusive, each with the same probability; `min` if there
    /// is none. D. Lemire, "Fast random integer generation in an interval", ACM TOMACS 29 (2019).
    pub fn between(&mut self, min: i64, max: i64) -> i64 {
        if max <= min {
            return min;
        }
        // How many there are; 0 stands for 2⁶⁴, all of them.
        let count = max.abs_diff(min).wrapping_add(1);
        if count == 0 {
            return self.bits().cast_signed();
        }
        loop {
            let product = u128::from(self.bits()) * u128::from(count);
            // The lowest products are redrawn, so that each number has as many.
            if product as u64 >= count.wrapping_neg() % count {
                return min.wrapping_add_unsigned((product >> 64) as u64);
            }
        }
    }

    /// True with this probability; never with 0, always with 1.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}

/// 2⁻⁵³
const UNIT: f64 = 1.0 / (1u64 << 53) as f64;

/// FNV-1a of 64 bits, of G. Fowler, L. Noll and K. Vo, <http://www.isthe.com/chongo/tech/comp/fnv/>. Not
/// the hash of the standard library, which may change with its version.
fn hash(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_numbers_come_out() {
        // The test vectors of the crate rand_xoshiro, made with the C code of the authors.
        let mut numbers = RandomNumbers { state: [1, 2, 3, 4] };
        for expected in [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
            15_849_039_046_786_891_736,
            10_450_023_813_501_588_000,
        ] {
            assert_eq!(numbers.bits(), expected);
        }
        // The test vectors of the authors.
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn streams_stay_what_they_are() {
        let first = |seed, name| RandomNumbers::stream(seed, name).bits();
        let expected = [16_139_778_161_097_512_531, 13_236_400_830_021_674_380, 10_336_839_757_765_891_269];
        assert_eq!([first(0, "T_1"), first(1, "T_1"), first(1, "T_2")], expected);
    }

    #[test]
    fn whole_numbers_are_even_and_reach_both_ends() {
        let mut numbers = RandomNumbers::from_seed(1);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[usize::try_from(numbers.between(-3, 3) + 3).unwrap()] += 1;
        }
        // 4 standard deviations of a binomial distribution around 10,000.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 371), "{counts:?}");
        assert_eq!((numbers.between(5, 5), numbers.between(5, 4)), (5, 5));
        let wide = (0..100).map(|_| numbers.between(i64::MIN, i64::MAX)).collect::<Vec<_>>();
        assert!(wide.iter().any(|n| *n < 0) && wide.iter().any(|n| *n > 0));
    }

    #[test]
    fn chances_are_as_probable_as_they_say() {
        let mut numbers = RandomNumbers::from_seed(2);
        let hits = (0..100_000).filter(|_| numbers.chance(0.3)).count();
        assert!(hits.abs_diff(30_000) < 580, "{hits}");
        assert!((0..1000).all(|_| !numbers.chance(0.0) && numbers.chance(1.0)));
    }
}
