//! Numbers for names: each distinct name gets an id by first use in the chunks that one reader has seen. Not for the
//! dictionary of a whole recording, which the collector of the chunks builds from what the readers tell it.

use super::swar;

/// With more names, or more bytes of names, it is time to begin anew, so that ever new names do not fill the memory.
const MANY_NAMES: usize = 1 << 16;
const MANY_BYTES: usize = 4 << 20;
/// Names longer than this are never looked up by [`Names::find_until`], which bounds its scan.
const LONGEST_SCANNED: usize = 512;

/// All that a lookup needs but the bytes of the name, so that it touches two places of the memory and not three.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    hash: u32,
    /// Id plus one; zero marks a free slot.
    tag: u32,
    /// Where the name lies in `bytes`, and how long it is. A table begins anew long before it has 4 GiB of names.
    begin: u32,
    length: u32,
}

/// An open-addressing table over the bytes of names.
#[derive(Debug, Clone)]
pub(in crate::formats) struct Names {
    slots: Vec<Slot>,
    /// All names, one after the other.
    bytes: Vec<u8>,
    /// Where in `bytes` each name lies.
    spans: Vec<(usize, usize)>,
}

impl Names {
    pub(in crate::formats) fn new() -> Self {
        Self { slots: vec![Slot::default(); 256], bytes: Vec::new(), spans: Vec::new() }
    }

    /// The id of a name, new or not.
    pub(in crate::formats) fn id(&mut self, name: &[u8]) -> u32 {
        let hash = hash(name);
        if let Some(id) = self.find(hash, name) {
            return id;
        }
        let id = self.len();
        let (begin, length) = (self.bytes.len(), name.len());
        self.spans.push((begin, begin + length));
        self.bytes.extend_from_slice(name);
        if self.spans.len() * 4 > self.slots.len() * 3 {
            let old = std::mem::take(&mut self.slots);
            self.slots = vec![Slot::default(); old.len() * 2];
            old.into_iter().filter(|slot| slot.tag != 0).for_each(|slot| self.place(slot));
        }
        self.place(Slot { hash, tag: id + 1, begin: begin as u32, length: length as u32 });
        id
    }

    /// The id of a name that was seen before.
    pub(in crate::formats) fn known(&self, name: &[u8]) -> Option<u32> {
        self.find(hash(name), name)
    }

    /// Finds a known name that starts at `at` and ends before the byte `end`: its id, and where `end` is.
    /// `None` for a name not seen before, and whenever the scan would need care; ask [`Names::id`] then.
    #[inline(always)]
    pub(in crate::formats) fn find_until(&self, text: &[u8], at: usize, end: u8) -> Option<(u32, usize)> {
        self.find_before(text, at, |word| swar::equals(word, end))
    }

    /// [`Names::find_until`] with any of several ends; `stops` marks them in a word as [`swar::equals`] does.
    #[inline(always)]
    pub(in crate::formats) fn find_before(
        &self,
        text: &[u8],
        at: usize,
        stops: impl Fn(u64) -> u64,
    ) -> Option<(u32, usize)> {
        let mut hasher = Hasher::new();
        let mut length = 0;
        while length < LONGEST_SCANNED {
            let word = swar::word(text, at + length)?;
            let stop = stops(word);
            if stop != 0 {
                let count = swar::lanes_before(stop);
                length += count;
                let hash = hasher.finish(word & low_bytes(count), length);
                return Some((self.find(hash, text.get(at..at + length)?)?, at + length));
            }
            hasher.add(word);
            length += 8;
        }
        None
    }

    /// The names by id, as text; bytes that are no UTF-8 are replaced.
    pub(in crate::formats) fn into_strings(self) -> Vec<String> {
        self.strings_from(0)
    }

    /// The names from an id on, as [`Names::into_strings`] gives them.
    pub(in crate::formats) fn strings_from(&self, first: u32) -> Vec<String> {
        let ids = first..self.len();
        ids.map(|id| String::from_utf8_lossy(self.name(id)).into_owned()).collect()
    }

    /// How many names there are: the next id.
    pub(in crate::formats) fn len(&self) -> u32 {
        self.spans.len() as u32
    }

    /// True when there are so many names that a new table should take the place of this one.
    pub(in crate::formats) fn is_large(&self) -> bool {
        self.spans.len() > MANY_NAMES || self.bytes.len() > MANY_BYTES
    }

    /// Ids of the names that are no UTF-8.
    pub(in crate::formats) fn lossy(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).filter(|&id| std::str::from_utf8(self.name(id)).is_err())
    }

    /// The bytes of a name; empty for an id that was never given.
    pub(in crate::formats) fn name(&self, id: u32) -> &[u8] {
        let span = self.spans.get(id as usize);
        span.and_then(|&(begin, end)| self.bytes.get(begin..end)).unwrap_or_default()
    }

    #[inline(always)]
    fn find(&self, hash: u32, name: &[u8]) -> Option<u32> {
        let mut at = self.home(hash);
        loop {
            let slot = self.slots.get(at)?;
            let id = slot.tag.checked_sub(1)?;
            if slot.hash == hash && slot.length as usize == name.len() {
                let begin = slot.begin as usize;
                if self.bytes.get(begin..begin + name.len()) == Some(name) {
                    return Some(id);
                }
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn place(&mut self, slot: Slot) {
        let mut at = self.home(slot.hash);
        // A quarter of the slots is free at least, so this ends.
        while self.slots.get(at).is_some_and(|taken| taken.tag != 0) {
            at = (at + 1) & (self.slots.len() - 1);
        }
        if let Some(free) = self.slots.get_mut(at) {
            *free = slot;
        }
    }

    #[inline(always)]
    fn home(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }
}

/// Mixes eight bytes at a time by folding a wide multiplication. For speed, not against attackers.
struct Hasher(u64);

impl Hasher {
    /// Two odd constants without a pattern: the fractions of the golden ratio and of the square root of two.
    const START: u64 = 0x9e37_79b9_7f4a_7c15;
    const FACTOR: u64 = 0x6a09_e667_f3bc_c909;

    #[inline(always)]
    fn new() -> Self {
        Self(Self::START)
    }

    #[inline(always)]
    fn add(&mut self, word: u64) {
        let wide = u128::from(self.0 ^ word) * u128::from(Self::FACTOR);
        self.0 = (wide as u64) ^ ((wide >> 64) as u64);
    }

    /// Adds the last zero to seven bytes, padded with zeros, and the length of all.
    #[inline(always)]
    fn finish(mut self, last: u64, length: usize) -> u32 {
        self.add(last ^ ((length as u64) << 56));
        self.0 as u32
    }
}

/// A mask of the first `count` bytes of a word, for `count` below 8.
#[inline(always)]
fn low_bytes(count: usize) -> u64 {
    (1u64 << (8 * count)) - 1
}

fn hash(name: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    let (words, rest) = name.as_chunks::<8>();
    words.iter().for_each(|word| hasher.add(u64::from_le_bytes(*word)));
    let last = rest.iter().rev().fold(0u64, |word, &byte| (word << 8) | u64::from(byte));
    hasher.finish(last, name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_follow_first_use_through_growth() {
        let mut names = Names::new();
        for round in 0..2 {
            for n in 0..5000u32 {
                assert_eq!(names.id(format!("variable_{n}").as_bytes()), n, "round {round}");
            }
        }
        assert_eq!(names.id(b""), 5000);
        assert_eq!(names.clone().into_strings()[4999], "variable_4999");
        assert_eq!(names.name(99_999), b"");
    }

    #[test]
    fn names_with_the_same_hash_are_kept_apart() {
        let mut names = Names::new();
        names.id(b"a");
        assert_eq!(names.find(hash(b"a"), b"a"), Some(0));
        assert_eq!(names.find(hash(b"a"), b"b"), None);
    }

    #[test]
    fn bytes_without_meaning_are_kept_apart_and_reported() {
        let mut names = Names::new();
        names.id(b"ok");
        let (a, b) = (names.id(b"\xff"), names.id(b"\xfe"));
        assert_ne!(a, b);
        assert_eq!(names.lossy().collect::<Vec<_>>(), [a, b]);
        assert_eq!(names.into_strings()[1], "\u{fffd}");
    }

    proptest! {
        #[test]
        fn scanning_finds_what_was_named(known: Vec<[u8; 3]>, name in "[a-z_\\[\\]]{0,40}") {
            let mut names = Names::new();
            known.iter().for_each(|n| { names.id(n); });
            let text = format!("{name}\"               ");
            let by_scan = |names: &Names| names.find_until(text.as_bytes(), 0, b'"');
            let before = by_scan(&names);
            let id = names.id(name.as_bytes());
            prop_assert!(before.is_none_or(|found| found == (id, name.len())));
            prop_assert_eq!(by_scan(&names), Some((id, name.len())));
        }

        #[test]
        fn arbitrary_bytes_never_panic(text: Vec<u8>, at in 0usize..50, end: u8) {
            prop_assert_eq!(Names::new().find_until(&text, at, end), None);
        }
    }
}
