//! Small numbers as Parquet's hybrid of repeated and bit-packed runs (Parquet format, "Encodings", RLE = 3):
//! the keys of names and the levels that say which rows are null. Not the pages around them.

use super::bits;
use crate::varint;

/// Shorter repetitions are cheaper among packed values.
const SHORTEST_REPEAT: usize = 8;
/// Values are packed in groups of eight, so that each group fills whole bytes.
const GROUP: usize = 8;

/// Appends `values`, each of which fits `width` bits (32 at most).
pub(super) fn encode(values: &[u32], width: u32, out: &mut Vec<u8>) {
    let (mut packed_from, mut at) = (0, 0);
    while let Some(rest) = values.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.first().copied().unwrap_or_default();
        // Eight at once, without a branch for each: repetitions are hard to predict.
        let repeats = |group: &[u32; SHORTEST_REPEAT]| group.iter().fold(true, |all, v| all & (*v == first));
        if !rest.first_chunk().is_some_and(repeats) {
            at += GROUP.min(rest.len());
            continue;
        }
        let repeats = rest.iter().take_while(|v| **v == first).count();
        pack(values.get(packed_from..at).unwrap_or_default(), width, out);
        repeat(first, repeats, width, out);
        at += repeats;
        packed_from = at;
    }
    pack(values.get(packed_from..).unwrap_or_default(), width, out);
}

/// Appends `count` values of one bit each, the first in the lowest bit of the first byte.
pub(super) fn encode_bits(bytes: &[u8], count: usize, out: &mut Vec<u8>) {
    let whole = count / GROUP;
    let (mut packed_from, mut at) = (0, 0);
    while let Some(&first) = bytes.get(at).filter(|_| at < whole) {
        let alike = bytes.iter().take(whole).skip(at).take_while(|b| **b == first).count();
        if alike >= SHORTEST_REPEAT / 2 && matches!(first, 0 | 0xff) {
            packed(bytes.get(packed_from..at).unwrap_or_default(), out);
            repeat(u32::from(first & 1), alike * GROUP, 1, out);
            packed_from = at + alike;
        }
        at += alike;
    }
    let end = count.div_ceil(GROUP);
    let begin = out.len();
    packed(bytes.get(packed_from..end).unwrap_or_default(), out);
    // What follows the last value in its byte is 0.
    let beyond = end * GROUP - count;
    if let Some(last) = out.last_mut().filter(|_| beyond > 0 && end > packed_from) {
        *last &= 0xff >> beyond;
    }
    debug_assert!(beyond == 0 || out.len() > begin);
}

/// Appends values of one bit, which are packed already.
fn packed(bytes: &[u8], out: &mut Vec<u8>) {
    if !bytes.is_empty() {
        varint::push(((bytes.len() as u64) << 1) | 1, out);
        out.extend_from_slice(bytes);
    }
}

/// Appends `count` times the same value.
pub(super) fn repeat(value: u32, count: usize, width: u32, out: &mut Vec<u8>) {
    if count > 0 {
        varint::push((count as u64) << 1, out);
        out.extend(value.to_le_bytes().iter().take(width.div_ceil(8) as usize));
    }
}

/// Appends values one by one, the last group padded with zeros.
fn pack(values: &[u32], width: u32, out: &mut Vec<u8>) {
    if values.is_empty() {
        return;
    }
    let groups = values.len().div_ceil(GROUP);
    varint::push(((groups as u64) << 1) | 1, out);
    let end = out.len() + groups * width as usize;
    bits::pack(values, width, out);
    out.resize(end, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::columns::bits::tests::number;
    use crate::varint::tests::take;
    use proptest::prelude::*;

    /// Reads runs as the format describes them, bit by bit.
    fn decode(mut bytes: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut values = Vec::new();
        while values.len() < count {
            let header = take(&mut bytes);
            let n = (header >> 1) as usize;
            if header & 1 == 1 {
                let (packed, rest) = bytes.split_at(n * width as usize);
                values.extend((0..n * 8).map(|place| number(packed, place, width) as u32));
                bytes = rest;
            } else {
                let value = number(bytes, 0, width) as u32;
                values.extend(std::iter::repeat_n(value, n));
                bytes = &bytes[width.div_ceil(8) as usize..];
            }
        }
        assert!(bytes.is_empty(), "{} bytes are left", bytes.len());
        assert!(values[count..].iter().all(|v| *v == 0) && values.len() < count + 8);
        values.truncate(count);
        values
    }

    #[test]
    fn the_examples_of_the_format_come_out() {
        // "Encodings", bit-packed hybrid: the numbers 0 to 7 in three bits.
        let mut out = Vec::new();
        encode(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &mut out);
        assert_eq!(out, [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        out.clear();
        encode(&[4; 50], 3, &mut out);
        assert_eq!(out, [100, 4]);
    }

    proptest! {
        #[test]
        fn every_bit_comes_back(runs in prop::collection::vec((any::<bool>(), 1usize..100, 0usize..3), 0..20)) {
            let mut values = Vec::new();
            for (value, count, kind) in runs {
                values.extend(std::iter::repeat_n(u32::from(value), if kind == 0 { count } else { 1 }));
            }
            let mut bytes = vec![0xff; values.len() / 8 + 2];
            for (place, value) in values.iter().enumerate().filter(|(_, value)| **value == 0) {
                bytes[place / 8] &= !((1 - *value as u8) << (place % 8));
            }
            let mut out = Vec::new();
            encode_bits(&bytes, values.len(), &mut out);
            prop_assert_eq!(decode(&out, 1, values.len()), values);
        }

        #[test]
        fn every_value_comes_back(
            runs in prop::collection::vec((0u32..=u32::MAX, 1usize..40, 0usize..3), 0..20),
            width in 0u32..=32,
        ) {
            let mask = u32::MAX.checked_shr(32 - width).unwrap_or(0);
            let mut values = Vec::new();
            for (value, count, kind) in runs {
                let count = if kind == 0 { count } else { 1 };
                values.extend(std::iter::repeat_n(value & mask, count));
            }
            let mut out = Vec::new();
            encode(&values, width, &mut out);
            prop_assert_eq!(decode(&out, width, values.len()), values);
        }
    }
}
