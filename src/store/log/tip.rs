//! What the file `log/tip` holds: the number of a commit that is not long ago, with a sum of its own, so that
//! a damaged number is none. Only a hint; not how the newest commit is found with it (see `snapshot`).

use crate::store::layout::LAST_COMMIT;

/// What is noted when a commit is made.
pub(in crate::store) fn note(number: u64) -> Vec<u8> {
    let number = number.to_string();
    format!("{number} {:08x}\n", crc32fast::hash(number.as_bytes())).into_bytes()
}

/// The number that was noted; `None` when it is not what was written.
pub(in crate::store) fn noted(text: &[u8]) -> Option<u64> {
    let number = std::str::from_utf8(text).ok()?.split(' ').next()?.parse().ok()?;
    (number <= LAST_COMMIT && note(number) == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_comes_back_or_none() {
        assert_eq!(noted(&note(u64::MAX)), None, "no commit has this number");
        for number in [0, 1, 9, 10, 123_456, LAST_COMMIT] {
            let text = note(number);
            assert_eq!(noted(&text), Some(number));
            for bit in 0..8 * text.len() {
                let mut bad = text.clone();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(noted(&bad), None, "bit {bit} of the note of {number}");
            }
            assert!((0..text.len()).all(|length| noted(&text[..length]).is_none()));
        }
    }
}
