//! Numbers for names: each distinct name gets an id by first use in the chunks that one reader has seen. Not for the
//! dictionary of a whole recording, which the collector of the chunks builds from what the readers tell it.

use foldhash::{HashMap, HashMapExt as _};

use super::{stops, usual};
use crate::schema::TextList;

/// With more names, or more bytes of names, it is time to begin anew, so that ever new names do not fill the memory.
const MANY_NAMES: usize = 1 << 16;
const MANY_BYTES: usize = 4 << 20;
/// Names longer than this are never looked up by [`Names::find_until`], which bounds its scan.
const LONGEST_SCANNED: usize = 512;

/// Names up to this length are compared word by word, in place; most are.
const SHORT: usize = 31;

/// A short name: its bytes, padded with zeros, and its length in the last one.
type Short = [u64; 4];

/// With fewer slots, most of them stay free: to look at a second one is a branch that is guessed wrong. More would not fit the
/// first cache of the processor.
const MANY_SLOTS: usize = 8192;

/// Words of which the first `n` bytes count, by `n`.
const MASKS: [[u64; 4]; SHORT + 1] = {
    let mut masks = [[0; 4]; SHORT + 1];
    let mut byte = 0;
    while byte < SHORT {
        let mut longer = byte + 1;
        while longer <= SHORT {
            masks[longer][byte / 8] |= 0xff << (8 * (byte % 8));
            longer += 1;
        }
        byte += 1;
    }
    masks
};

/// Names in the order of their first use; short ones are found by an open-addressing table.
#[derive(Debug, Clone)]
pub(in crate::formats) struct Names {
    /// Where a short name may be: its id plus one; zero for a free slot. A power of two of them.
    slots: Vec<u32>,
    /// Names by id; zeros for one that is not short.
    shorts: Vec<Short>,
    /// Names that are not short.
    long: HashMap<Box<[u8]>, u32>,
    /// All names, one after the other.
    bytes: Vec<u8>,
    /// Where in `bytes` each name lies.
    spans: Vec<(usize, usize)>,
}

impl Names {
    pub(in crate::formats) fn new() -> Self {
        Self {
            slots: vec![0; 2048],
            shorts: Vec::new(),
            long: HashMap::new(),
            bytes: Vec::new(),
            spans: Vec::new(),
        }
    }

    /// Forgets all names, and keeps the memory, unless there were far too many: as many will come again.
    fn clear(&mut self) {
        if self.slots.len() > 4 * MANY_NAMES || self.bytes.capacity() > 4 * MANY_BYTES {
            *self = Self::new();
            return;
        }
        self.slots.fill(0);
        self.shorts.clear();
        self.long.clear();
        self.bytes.clear();
        self.spans.clear();
    }

    /// The id of a name, new or not.
    pub(in crate::formats) fn id(&mut self, name: &[u8]) -> u32 {
        if let Some(id) = self.known(name) {
            return id;
        }
        let id = self.len();
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.spans.push((begin, self.bytes.len()));
        let short = short(name);
        self.shorts.push(short.unwrap_or_default());
        match short {
            None => drop(self.long.insert(name.into(), id)),
            Some(_) => {
                // With names that are not short counted in, the table is larger than need be.
                let most = self.slots.len() / if self.slots.len() < MANY_SLOTS { 4 } else { 2 };
                if self.shorts.len() > most {
                    let old = std::mem::take(&mut self.slots);
                    self.slots = vec![0; old.len() * 2];
                    old.into_iter().filter_map(|tag| tag.checked_sub(1)).for_each(|id| self.place(id));
                }
                self.place(id);
            }
        }
        id
    }

    /// The id of a name that was seen before.
    pub(in crate::formats) fn known(&self, name: &[u8]) -> Option<u32> {
        match short(name) {
            Some(short) => self.find(short),
            None => self.long.get(name).copied(),
        }
    }

    /// Finds a known name that starts at `at` and ends before the byte `end`: its id, and where `end` is.
    /// `None` for a name not seen before, and whenever the scan would need care; ask [`Names::id`] then.
    #[inline(always)]
    pub(in crate::formats) fn find_until(&self, text: &[u8], at: usize, end: u8) -> Option<(u32, usize)> {
        self.find_before::<2>(text, at, |bytes| stops::equal(bytes, end))
    }

    /// [`Names::find_until`] with any of several ends; `ends` marks them in sixteen bytes as [`stops::equal`] does. Names
    /// that end within so many times `SIXTEEN` bytes, two at most, are found quickly.
    #[inline(always)]
    pub(in crate::formats) fn find_before<const SIXTEEN: usize>(
        &self,
        text: &[u8],
        at: usize,
        ends: impl Fn([u8; 16]) -> u32,
    ) -> Option<(u32, usize)> {
        // All words at once, whatever the length: a branch that depends on it would be guessed wrong.
        let window = usual(text.get(at..)?.first_chunk::<32>())?;
        let mut stop = 0;
        for (n, bytes) in window.as_chunks::<16>().0.iter().take(SIXTEEN).enumerate() {
            stop |= ends(*bytes) << (16 * n);
        }
        if stop == 0 {
            return self.find_long(text, at, ends);
        }
        let length = stop.trailing_zeros() as usize;
        let mut short: Short = [0; 4];
        let words = window.as_chunks::<8>().0.iter().zip(usual(MASKS.get(length))?);
        short
            .iter_mut()
            .zip(words)
            .for_each(|(word, (bytes, mask))| *word = u64::from_le_bytes(*bytes) & mask);
        short[3] |= length_mark(length);
        Some((usual(self.find(short))?, at + length))
    }

    #[cold]
    fn find_long(&self, text: &[u8], at: usize, ends: impl Fn([u8; 16]) -> u32) -> Option<(u32, usize)> {
        let mut length = 0;
        while length < LONGEST_SCANNED {
            let stop = ends(*text.get(at + length..)?.first_chunk()?);
            if stop != 0 {
                length += stop.trailing_zeros() as usize;
                return Some((self.known(text.get(at..at + length)?)?, at + length));
            }
            length += 16;
        }
        None
    }

    /// The names by id, from one on, as text; bytes that are no UTF-8 are replaced.
    pub(in crate::formats) fn texts_from(&self, first: u32) -> TextList {
        (first..self.len()).map(|id| String::from_utf8_lossy(self.name(id))).collect()
    }

    /// How many names there are: the next id.
    pub(in crate::formats) fn len(&self) -> u32 {
        self.spans.len() as u32
    }

    /// To be called before a chunk is read: how many names there are, none of them when there were too many. All names from
    /// that id on are new then, and those before are as they were.
    pub(in crate::formats) fn begin_chunk(&mut self) -> u32 {
        if self.spans.len() > MANY_NAMES || self.bytes.len() > MANY_BYTES {
            self.clear();
        }
        self.len()
    }

    /// Ids, from one on, of the names that are no UTF-8.
    pub(in crate::formats) fn lossy_from(&self, first: u32) -> impl Iterator<Item = u32> {
        (first..self.len()).filter(|&id| std::str::from_utf8(self.name(id)).is_err())
    }

    /// The bytes of a name; empty for an id that was never given.
    pub(in crate::formats) fn name(&self, id: u32) -> &[u8] {
        let span = self.spans.get(id as usize);
        span.and_then(|&(begin, end)| self.bytes.get(begin..end)).unwrap_or_default()
    }

    #[inline(always)]
    fn find(&self, short: Short) -> Option<u32> {
        let mut at = self.home(short);
        loop {
            let id = usual(usual(self.slots.get(at))?.checked_sub(1))?;
            // Without a branch per word, and without a detour through memory that comparing arrays takes.
            let ([a, b, c, d], [e, f, g, h]) = (*usual(self.shorts.get(id as usize))?, short);
            if (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h) == 0 {
                return Some(id);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn place(&mut self, id: u32) {
        let Some(short) = self.shorts.get(id as usize) else { return };
        let mut at = self.home(*short);
        // Half of the slots is free at least, so this ends.
        while self.slots.get(at).is_some_and(|taken| *taken != 0) {
            at = (at + 1) & (self.slots.len() - 1);
        }
        if let Some(free) = self.slots.get_mut(at) {
            *free = id + 1;
        }
    }

    #[inline(always)]
    fn home(&self, short: Short) -> usize {
        hash(short) as usize & (self.slots.len() - 1)
    }
}

/// The length of a short name where it stands: in the last byte, which no short name reaches.
#[inline(always)]
fn length_mark(length: usize) -> u64 {
    (length as u64) << 56
}

/// A name as [`Names::find`] wants it; `None` when it is too long.
fn short(name: &[u8]) -> Option<Short> {
    if name.len() > SHORT {
        return None;
    }
    let mut short = [0; 4];
    for (word, bytes) in short.iter_mut().zip(name.chunks(8)) {
        *word = bytes.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte));
    }
    short[3] |= length_mark(name.len());
    Some(short)
}

/// For speed, not against attackers: constants without a pattern (the fractions of the golden ratio and of the square root of
/// two).
#[inline(always)]
fn hash([a, b, c, d]: Short) -> u64 {
    // A number that a name has twice must not vanish here, so words are not turned by whole bytes.
    let (first, second) = (a ^ c.rotate_left(27), b ^ d.rotate_left(27));
    // The lower bits of the upper half depend on all bits of both.
    let product = u128::from(first ^ 0x9e37_79b9_7f4a_7c15) * u128::from(second ^ 0x6a09_e667_f3bc_c909);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbered_names_are_spread() {
        let patterns: [fn(u32) -> String; 7] = [
            |n| n.to_string(),
            |n| format!("variable_{n}"),
            |n| format!("app::step_{n}(int, int)"),
            // The same number twice, so many bytes apart.
            |n| format!("t{n:03}1234{n:03}"),
            |n| format!("t{n:03}_6789012{n:03}"),
            |n| format!("t{n:03}_678901234567{n:03}"),
            |n| format!("t{n:03}_67890123456789{n:03}"),
        ];
        for pattern in patterns {
            let mut names = Names::new();
            (0..1000).for_each(|n| assert_eq!(names.id(pattern(n).as_bytes()), n));
            let mut homes: Vec<usize> = names.shorts.iter().map(|short| names.home(*short)).collect();
            assert_eq!(names.slots.len(), 4096);
            homes.sort_unstable();
            homes.dedup();
            // By chance it would be 887 (4096 · (1 − e^(−1000/4096))).
            assert!(homes.len() > 800, "{} homes of names like {}", homes.len(), pattern(7));
        }
    }

    #[test]
    fn ids_follow_first_use_through_growth() {
        let mut names = Names::new();
        for round in 0..2 {
            for n in 0..5000u32 {
                assert_eq!(names.id(format!("variable_{n}").as_bytes()), n, "round {round}");
            }
        }
        assert_eq!(names.id(b""), 5000);
        assert_eq!(names.texts_from(0).get(4999), "variable_4999");
        assert_eq!(names.name(99_999), b"");
        names.id(&[b'x'; 600]);
        names.clear();
        assert_eq!((names.known(b"variable_7"), names.known(&[b'x'; 600]), names.len()), (None, None, 0));
        assert_eq!((names.id(b"variable_9"), names.id(b"variable_7"), names.id(b"variable_9")), (0, 1, 0));
        assert_eq!(names.texts_from(0), TextList::from_iter(["variable_9", "variable_7"]));
    }

    #[test]
    fn names_with_the_same_words_are_kept_apart() {
        let mut names = Names::new();
        // Padding makes the words of these the same.
        assert_eq!((names.id(b"a"), names.id(b"a\0"), names.id(b"")), (0, 1, 2));
        assert_eq!((names.known(b"a\0"), names.known(b"a\0\0"), names.known(b"\0")), (Some(1), None, None));
    }

    #[test]
    fn bytes_without_meaning_are_kept_apart_and_reported() {
        let mut names = Names::new();
        names.id(b"ok");
        let (a, b) = (names.id(b"\xff"), names.id(b"\xfe"));
        assert_ne!(a, b);
        assert_eq!(names.lossy_from(0).collect::<Vec<_>>(), [a, b]);
        assert_eq!(names.lossy_from(a + 1).collect::<Vec<_>>(), [b]);
        assert_eq!(names.texts_from(0).get(1), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn scanning_finds_what_was_named(known: Vec<[u8; 3]>, name in "[a-z_\\[\\]]{0,40}") {
            let mut names = Names::new();
            known.iter().for_each(|n| { names.id(n); });
            let text = format!("{name}\"{}", " ".repeat(32));
            let by_scan = |names: &Names| names.find_until(text.as_bytes(), 0, b'"');
            let before = by_scan(&names);
            let id = names.id(name.as_bytes());
            prop_assert!(before.is_none_or(|found| found == (id, name.len())));
            prop_assert_eq!(by_scan(&names), Some((id, name.len())));
            let narrow = names.find_before::<1>(text.as_bytes(), 0, |bytes| stops::equal(bytes, b'"'));
            prop_assert_eq!(narrow, Some((id, name.len())));
        }

        #[test]
        fn arbitrary_bytes_never_panic(text: Vec<u8>, at in 0usize..50, end: u8) {
            prop_assert_eq!(Names::new().find_until(&text, at, end), None);
        }
    }
}
