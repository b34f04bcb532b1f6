//! Numbers as differences from the previous one (Parquet format, "Encodings", DELTA_BINARY_PACKED = 5): times
//! and sequence numbers take a byte or none. Not the pages around them.

use super::bits;
use crate::varint;

/// Numbers of a block, which has one smallest difference.
const BLOCK: usize = 128;
/// Numbers of a miniblock, which has one width.
const MINI: usize = 32;

pub(super) fn encode(numbers: &[i64], out: &mut Vec<u8>) {
    varint::push(BLOCK as u64, out);
    varint::push((BLOCK / MINI) as u64, out);
    varint::push(numbers.len() as u64, out);
    varint::push(varint::zigzag(numbers.first().copied().unwrap_or(0)), out);
    let mut before = numbers.first().copied().unwrap_or(0);
    for block in numbers.get(1..).unwrap_or_default().chunks(BLOCK) {
        // Differences wrap around, and so do the reader's sums.
        let mut deltas = [0i64; BLOCK];
        for (delta, number) in deltas.iter_mut().zip(block) {
            *delta = number.wrapping_sub(before);
            before = *number;
        }
        let used = deltas.get(..block.len()).unwrap_or_default();
        let least = bits::extremes(used, 0).map_or(0, |(least, _)| least);
        varint::push(varint::zigzag(least), out);
        // The last block is padded with its smallest difference.
        let mut above = [0u64; BLOCK];
        for (above, delta) in above.iter_mut().zip(used) {
            *above = delta.wrapping_sub(least) as u64;
        }
        let (minis, _) = above.as_chunks::<MINI>();
        let mut widths = [0; BLOCK / MINI];
        for (width, mini) in widths.iter_mut().zip(minis) {
            *width = bits::padded(bits::of(mini.iter().fold(0, |all, number| all | number))) as u8;
        }
        out.extend(widths);
        // Miniblocks without numbers have width 0, and so no bytes.
        minis.iter().zip(widths).for_each(|(mini, width)| bits::pack(mini, width.into(), out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::columns::bits::tests::number;
    use crate::varint::tests::{take, unzigzag};
    use proptest::prelude::*;

    /// Reads what the format describes, number by number.
    fn decode(mut bytes: &[u8]) -> Vec<i64> {
        let block = take(&mut bytes) as usize;
        let minis = take(&mut bytes) as usize;
        let count = take(&mut bytes) as usize;
        let mut numbers = vec![unzigzag(take(&mut bytes))];
        while numbers.len() < count {
            let least = unzigzag(take(&mut bytes));
            let (widths, rest) = bytes.split_at(minis);
            bytes = rest;
            for width in widths {
                let (packed, rest) = bytes.split_at(block / minis * *width as usize / 8);
                bytes = rest;
                for n in 0..block / minis {
                    let delta = least.wrapping_add(number(packed, n, u32::from(*width)) as i64);
                    numbers.push(numbers[numbers.len() - 1].wrapping_add(delta));
                }
            }
        }
        assert!(bytes.is_empty(), "{} bytes are left", bytes.len());
        numbers.truncate(count);
        numbers
    }

    #[test]
    fn the_examples_of_the_format_come_out() {
        // "Encodings", delta: 1, 2, 3, 4, 5 have the differences 1, 1, 1, 1, which take no bits.
        let mut out = Vec::new();
        encode(&[1, 2, 3, 4, 5], &mut out);
        assert_eq!(out, [128, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        // 7, 5, 3, 1, 2, 3, 4, 5: the smallest difference is -2; above it 0, 0, 0, 3, 3, 3, 3 of two bits.
        out.clear();
        encode(&[7, 5, 3, 1, 2, 3, 4, 5], &mut out);
        let packed = [0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];
        assert_eq!(out, [&[128, 1, 4, 8, 14, 3, 2, 0, 0, 0][..], &packed].concat());
    }

    proptest! {
        #[test]
        fn every_number_comes_back(
            pieces in prop::collection::vec((any::<i64>(), 0i64..100_000, 1usize..150), 1..5),
        ) {
            let mut numbers = Vec::new();
            for (first, step, count) in pieces {
                numbers.extend((0..count as i64).map(|n| first.wrapping_add(n * step * (n % 3))));
            }
            let mut out = Vec::new();
            encode(&numbers, &mut out);
            prop_assert_eq!(decode(&out), numbers);
        }
    }
}
