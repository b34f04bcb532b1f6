//! A hash map from byte strings to numbers that finds a string in place in the text, without a copy. Most
//! names and cells are short: these take no branch that depends on their length. Not a set of all names of an
//! export (see `names`).

use super::likely;

/// Strings up to this length are compared as four words; most are that short.
const MAX_SHORT: usize = 31;
/// From this many slots on, half of them may be taken instead of a quarter: probing a second slot is a
/// mispredicted branch, but a larger table does not fit the first-level cache.
const MAX_SPARSE_SLOTS: usize = 8192;

/// A string as four words. A short one: its bytes, padded with zeros, and its length in the last byte. A long
/// one: some of its bytes, a sum, and its length; these do not identify it.
type Key = [u64; 4];

/// Masks of the first `n` bytes of a key, by `n`.
const MASKS: [Key; MAX_SHORT + 1] = {
    let mut masks = [[0; 4]; MAX_SHORT + 1];
    let mut byte = 0;
    while byte < MAX_SHORT {
        let mut length = byte + 1;
        while length <= MAX_SHORT {
            masks[length][byte / 8] |= 0xff << (8 * (byte % 8));
            length += 1;
        }
        byte += 1;
    }
    masks
};

/// Open addressing with linear probing. Entries are never removed one by one.
#[derive(Debug, Clone)]
pub(in crate::formats) struct ByteMap {
    /// Indices into `entries` plus one; zero for a free slot. Their number is a power of two.
    slots: Vec<u32>,
    entries: Vec<Entry>,
    /// The bytes of all long strings.
    long: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: Key,
    number: u32,
    /// Where a long string begins in `long`.
    begin: u32,
}

impl ByteMap {
    pub(in crate::formats) fn new() -> Self {
        Self { slots: vec![0; 2048], entries: Vec::new(), long: Vec::new() }
    }

    /// Removes all entries and keeps the memory.
    pub(in crate::formats) fn clear(&mut self) {
        self.slots.fill(0);
        self.entries.clear();
        self.long.clear();
    }

    /// How many entries there are, and how many bytes the long ones have.
    pub(in crate::formats) fn size(&self) -> (usize, usize) {
        (self.entries.len(), self.long.len())
    }

    /// The number of the string in the first `length` bytes of `window`. `whole` gives a string that is
    /// longer than the window.
    #[inline(always)]
    pub(in crate::formats) fn get_in_place<'t>(
        &self,
        window: &[u8; 32],
        length: usize,
        whole: impl FnOnce() -> Option<&'t [u8]>,
    ) -> Option<u32> {
        if length <= MAX_SHORT {
            return self.find(short_key(window, length), |_| true);
        }
        let whole = whole()?;
        self.find(long_key(whole)?, |entry| self.is_long(entry, whole))
    }

    /// The number of a string.
    pub(in crate::formats) fn get(&self, string: &[u8]) -> Option<u32> {
        self.get_in_place(&padded(string), string.len(), || Some(string))
    }

    /// Puts in a string that has no number yet.
    pub(in crate::formats) fn insert(&mut self, string: &[u8], number: u32) {
        let is_short = string.len() <= MAX_SHORT;
        let key = if is_short { Some(short_key(&padded(string), string.len())) } else { long_key(string) };
        let Some(key) = key else { return };
        let begin = self.long.len() as u32;
        if !is_short {
            self.long.extend_from_slice(string);
        }
        self.entries.push(Entry { key, number, begin });
        let max = self.slots.len() / if self.slots.len() < MAX_SPARSE_SLOTS { 4 } else { 2 };
        if self.entries.len() > max {
            self.slots = vec![0; self.slots.len() * 2];
            (0..self.entries.len()).for_each(|entry| self.take_slot(entry));
        } else {
            self.take_slot(self.entries.len() - 1);
        }
    }

    #[inline(always)]
    fn find(&self, key: Key, is_same: impl Fn(&Entry) -> bool) -> Option<u32> {
        let mut slot = self.first_slot(key);
        loop {
            let entry = likely(likely(self.slots.get(slot))?.checked_sub(1))?;
            let entry = likely(self.entries.get(entry as usize))?;
            // One branch for all words; `==` of arrays would go through memory.
            let ([a, b, c, d], [e, f, g, h]) = (entry.key, key);
            if (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) == 0 && is_same(entry) {
                return Some(entry.number);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn is_long(&self, entry: &Entry, string: &[u8]) -> bool {
        self.long.get(entry.begin as usize..).is_some_and(|bytes| bytes.starts_with(string))
    }

    fn take_slot(&mut self, entry: usize) {
        let Some(Entry { key, .. }) = self.entries.get(entry) else { return };
        let mut slot = self.first_slot(*key);
        // At least half of the slots are free, so this ends.
        while self.slots.get(slot).is_some_and(|taken| *taken != 0) {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        if let Some(free) = self.slots.get_mut(slot) {
            *free = entry as u32 + 1;
        }
    }

    #[inline(always)]
    fn first_slot(&self, key: Key) -> usize {
        hash(key) as usize & (self.slots.len() - 1)
    }
}

fn padded(string: &[u8]) -> [u8; 32] {
    let mut padded = [0; 32];
    padded.iter_mut().zip(string).for_each(|(to, byte)| *to = *byte);
    padded
}

/// The key of the first `length` bytes, 31 at most.
#[inline(always)]
fn short_key(window: &[u8; 32], length: usize) -> Key {
    let mut key = [0; 4];
    let words = window.as_chunks::<8>().0.iter().zip(&MASKS[length % 32]);
    key.iter_mut().zip(words).for_each(|(word, (bytes, mask))| *word = u64::from_le_bytes(*bytes) & mask);
    key[3] |= (length as u64) << 56;
    key
}

/// The first sixteen bytes, a sum of the others, and the length with a mark that no short string has. `None`
/// for a string that is shorter than that.
fn long_key(string: &[u8]) -> Option<Key> {
    let [first, others @ ..] = string.as_chunks::<16>().0 else { return None };
    let words = |block: &[u8; 16]| {
        let both = u128::from_le_bytes(*block);
        [both as u64, (both >> 64) as u64]
    };
    // Names that differ in their middle only are common: the same class or file, the same arguments. The
    // products do not wait for each other.
    let sum = others.iter().chain([string.last_chunk()?]).fold(0u64, |sum, block| {
        let [first, second] = words(block);
        sum.rotate_left(23) ^ mixed(first, second)
    });
    let [first, second] = words(first);
    Some([first, second, sum, u64::MAX << 56 | string.len() as u64])
}

/// For speed, not against attackers. The constants have no pattern: the fractions of the golden ratio and of
/// the square root of two.
#[inline(always)]
fn hash([a, b, c, d]: Key) -> u64 {
    // A rotation by whole bytes would cancel a number that a name has twice.
    mixed(a ^ c.rotate_left(27), b ^ d.rotate_left(27))
}

#[inline(always)]
fn mixed(first: u64, second: u64) -> u64 {
    let product = u128::from(first ^ 0x9e37_79b9_7f4a_7c15) * u128::from(second ^ 0x6a09_e667_f3bc_c909);
    // The lower bits of the upper half depend on all bits of both factors.
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Looked up in place, with other bytes after it.
    fn get(map: &ByteMap, string: &str) -> Option<u32> {
        let text = format!("{string}{}", "~".repeat(32));
        let window = text.as_bytes().first_chunk().unwrap();
        map.get_in_place(window, string.len(), || Some(string.as_bytes()))
    }

    proptest! {
        #[test]
        fn behaves_like_the_map_of_the_library(strings: Vec<String>, numbered in 0u32..3000, length in 0usize..80) {
            let mut map = ByteMap::new();
            let numbered = (0..numbered).map(|n| format!("\"{}{n}\"", "x".repeat(length)));
            let all: Vec<String> = numbered.chain(strings).collect();
            let mut expected = std::collections::HashMap::new();
            for (string, number) in all.iter().zip(0..) {
                prop_assert_eq!(get(&map, string), expected.get(string).copied());
                if map.get(string.as_bytes()).is_none() {
                    map.insert(string.as_bytes(), number);
                    expected.insert(string.clone(), number);
                }
            }
            prop_assert!(all.iter().all(|string| get(&map, string) == expected.get(string).copied()));
            prop_assert_eq!(map.size().0, expected.len());
            prop_assert_eq!(get(&map, "not there"), None);
            map.clear();
            prop_assert!(all.iter().all(|string| get(&map, string).is_none()));
        }
    }

    #[test]
    fn strings_with_equal_words_are_distinguished() {
        let mut map = ByteMap::new();
        map.insert(b"a", 1);
        map.insert(b"a\0", 2);
        assert_eq!([get(&map, "a"), get(&map, "a\0"), get(&map, "a\0\0")], [Some(1), Some(2), None]);
        let [one, other] = ["1", "2"].map(|middle| format!("{}{middle}{}", "x".repeat(20), "x".repeat(20)));
        map.insert(one.as_bytes(), 3);
        assert_eq!([get(&map, &one), get(&map, &other)], [Some(3), None]);
    }

    #[test]
    fn numbered_names_are_spread() {
        let patterns: [fn(u32) -> String; 9] = [
            |n| n.to_string(),
            |n| format!("variable_{n}"),
            |n| format!("app::step_{n}(int, int)"),
            // The same number twice, at several distances.
            |n| format!("t{n:03}1234{n:03}"),
            |n| format!("t{n:03}_6789012{n:03}"),
            |n| format!("t{n:03}_678901234567{n:03}"),
            |n| format!("t{n:03}_67890123456789{n:03}"),
            // Long names that differ in their middle.
            |n| format!("control::pressure::valve_{n}::on_timeout(Event const&)"),
            |n| format!("control::pressure::{n:05}(const&)_to_the_end"),
        ];
        for pattern in patterns {
            let mut map = ByteMap::new();
            (0..1000).for_each(|n| map.insert(pattern(n).as_bytes(), n));
            let mut slots: Vec<usize> = map.entries.iter().map(|entry| map.first_slot(entry.key)).collect();
            assert_eq!(map.slots.len(), 4096);
            slots.sort_unstable();
            slots.dedup();
            // Random slots would be 887 (4096 · (1 − e^(−1000/4096))).
            assert!(slots.len() > 800, "{} slots of names like {}", slots.len(), pattern(7));
        }
    }
}
