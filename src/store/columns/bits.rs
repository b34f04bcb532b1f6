//! Numbers packed into bits, least significant first, as Parquet packs them. Not the headers before them.

/// How many bits a number takes; 0 for 0.
pub(super) fn of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// The width for numbers of `width` bits, if compression follows. A compressor finds repeated bytes,
/// but not repeated bits: jittered times and keys of names take a sixth less in whole bytes. Narrow numbers
/// stay as they are.
pub(super) fn padded(width: u32) -> u32 {
    match width {
        0..=2 => width,
        3 | 4 => 4,
        _ => width.next_multiple_of(8),
    }
}

/// The least and the greatest of some numbers, with the bits of `flip` inverted; `None` for no numbers.
#[inline]
pub(super) fn extremes(numbers: &[i64], flip: i64) -> Option<(i64, i64)> {
    // Four at once: otherwise each comparison waits for the one before.
    const WIDTH: usize = 4;
    let first = *numbers.first()? ^ flip;
    let (mut least, mut greatest) = ([first; WIDTH], [first; WIDTH]);
    let (fours, rest) = numbers.as_chunks::<WIDTH>();
    for four in fours {
        for n in 0..WIDTH {
            least[n] = least[n].min(four[n] ^ flip);
            greatest[n] = greatest[n].max(four[n] ^ flip);
        }
    }
    let all = |four: [i64; WIDTH]| four.into_iter().chain(rest.iter().map(|number| number ^ flip));
    all(least).min().zip(all(greatest).max())
}

/// Appends `values`, each of which fits `width` bits, 64 at most; the last byte is filled up with zeros.
pub(super) fn pack<T: Copy + Into<u64>>(values: &[T], width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    match width {
        8 => return whole(values, out, |value| [value as u8]),
        16 => return whole(values, out, |value| (value as u16).to_le_bytes()),
        24 => {
            return whole(values, out, |value| {
                let [a, b, c, _] = (value as u32).to_le_bytes();
                [a, b, c]
            });
        }
        32 => return whole(values, out, |value| (value as u32).to_le_bytes()),
        _ => {}
    }
    out.reserve(values.len() * width as usize / 8 + 9);
    let (mut word, mut filled) = (0u64, 0);
    for value in values {
        let value: u64 = (*value).into();
        word |= value << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend_from_slice(&word.to_le_bytes());
            filled -= u64::BITS;
            // A shift by all 64 bits should give 0, but processors do not shift by that much.
            word = value.checked_shr(width - filled).unwrap_or(0);
        }
    }
    out.extend(word.to_le_bytes().iter().take(filled.div_ceil(8) as usize));
}

/// Appends numbers that take whole bytes.
#[inline(always)]
fn whole<T: Copy + Into<u64>, const N: usize>(
    values: &[T],
    out: &mut Vec<u8>,
    bytes: impl Fn(u64) -> [u8; N],
) {
    let begin = out.len();
    // All of the room at once: growing per number would prevent vectorized writes.
    out.resize(begin + values.len() * N, 0);
    let places = out.get_mut(begin..).unwrap_or_default().as_chunks_mut::<N>().0;
    places.iter_mut().zip(values).for_each(|(place, value)| *place = bytes((*value).into()));
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The `n`th number of `width` bits.
    pub fn number(bytes: &[u8], n: usize, width: u32) -> u64 {
        let bits = n * width as usize..(n + 1) * width as usize;
        bits.enumerate().map(|(place, bit)| u64::from(bytes[bit / 8] >> (bit % 8) & 1) << place).sum()
    }

    proptest! {
        #[test]
        fn packed_numbers_are_found_by_their_bits(values: Vec<u64>, width in 0u32..=64) {
            let values: Vec<u64> = values.iter().map(|v| v & u64::MAX.checked_shr(64 - width).unwrap_or(0)).collect();
            let mut out = Vec::new();
            pack(&values, width, &mut out);
            prop_assert_eq!(out.len(), (values.len() * width as usize).div_ceil(8));
            let read: Vec<u64> = (0..values.len()).map(|n| number(&out, n, width)).collect();
            prop_assert_eq!(read, values);
        }

        #[test]
        fn extremes_are_those_of_all(numbers: Vec<i64>, flip: i64) {
            let flipped = || numbers.iter().map(|number| number ^ flip);
            prop_assert_eq!(extremes(&numbers, flip), flipped().min().zip(flipped().max()));
        }
    }
}
