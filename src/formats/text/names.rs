//! Interned names: each distinct name gets an id, in the order of first use in the chunks of one reader. Not
//! the dictionary of a recording, which the collector of the chunks builds from the names of all readers.

use super::{ByteMap, likely, stops};
use crate::encoding::escaped;
use crate::names::TextList;

/// More names than an application has entities.
pub(in crate::formats) const MAX_NAMES: usize = 1 << 16;
/// With more bytes of names, all are dropped, too.
const MAX_BYTES: usize = 4 << 20;
/// Maximum length of a name that [`Names::find_until`] finds. It bounds the scan.
const MAX_SCANNED: usize = 512;

/// Names in the order of their first use.
#[derive(Debug, Clone)]
pub(in crate::formats) struct Names {
    /// With more names, all are dropped and ids start at 0 again, so that an export with ever new names does
    /// not fill the memory.
    max: usize,
    ids: ByteMap,
    /// The bytes of all names, concatenated.
    bytes: Vec<u8>,
    /// Begin and end of each name in `bytes`, by id.
    spans: Vec<(usize, usize)>,
}

impl Default for Names {
    fn default() -> Self {
        Self::new()
    }
}

impl Names {
    /// For the names of entities.
    pub(in crate::formats) fn new() -> Self {
        Self::with_max(MAX_NAMES)
    }

    /// For names of which many are new all the time, such as numbers: a small map stays in the caches of the
    /// processor.
    pub(in crate::formats) fn with_max(max: usize) -> Self {
        Self { max, ids: ByteMap::new(), bytes: Vec::new(), spans: Vec::new() }
    }

    /// Drops all names. Keeps the memory, unless there were far too many: the next chunks will need as much.
    fn clear(&mut self) {
        if self.spans.len() > 4 * self.max || self.bytes.capacity() > 4 * MAX_BYTES {
            *self = Self::with_max(self.max);
            return;
        }
        self.ids.clear();
        self.bytes.clear();
        self.spans.clear();
    }

    /// The id of a name, known or new.
    pub(in crate::formats) fn id(&mut self, name: &[u8]) -> u32 {
        match self.known(name) {
            Some(id) => id,
            None => self.add(name),
        }
    }

    /// The id of a name that is not known.
    pub(in crate::formats) fn add(&mut self, name: &[u8]) -> u32 {
        debug_assert!(self.known(name).is_none(), "a name has two ids");
        let id = self.len();
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.spans.push((begin, self.bytes.len()));
        self.ids.insert(name, id);
        id
    }

    /// The id of a known name.
    pub(in crate::formats) fn known(&self, name: &[u8]) -> Option<u32> {
        self.ids.get(name)
    }

    /// Finds a known name that starts at `at` and ends before the byte `end`. Returns its id, and the offset
    /// of `end`. `None` for a new name, and for one that is too long or too close to the end of the text;
    /// [`Names::id`] takes these.
    #[inline(always)]
    pub(in crate::formats) fn find_until(&self, text: &[u8], at: usize, end: u8) -> Option<(u32, usize)> {
        self.find_before::<2>(text, at, |bytes| stops::equal(bytes, end))
    }

    /// [`Names::find_until`] with several end bytes: `ends` marks them in sixteen bytes, like
    /// [`stops::equal`]. Fast for names that end within the first `VECTORS` groups of sixteen bytes;
    /// `VECTORS` is 1 or 2.
    #[inline(always)]
    pub(in crate::formats) fn find_before<const VECTORS: usize>(
        &self,
        text: &[u8],
        at: usize,
        ends: impl Fn([u8; 16]) -> u32,
    ) -> Option<(u32, usize)> {
        // All bytes are loaded at once: a branch on the length would be mispredicted.
        let window = likely(text.get(at..)?.first_chunk::<32>())?;
        let mut stop = 0;
        for (n, bytes) in window.as_chunks::<16>().0.iter().take(VECTORS).enumerate() {
            stop |= ends(*bytes) << (16 * n);
        }
        if stop == 0 {
            return self.find_long(text, at, ends);
        }
        let length = stop.trailing_zeros() as usize;
        let id = self.ids.get_in_place(window, length, || None);
        Some((likely(id)?, at + length))
    }

    #[cold]
    fn find_long(&self, text: &[u8], at: usize, ends: impl Fn([u8; 16]) -> u32) -> Option<(u32, usize)> {
        let mut length = 0;
        while length < MAX_SCANNED {
            let stop = ends(*text.get(at + length..)?.first_chunk()?);
            if stop != 0 {
                length += stop.trailing_zeros() as usize;
                return Some((self.known(text.get(at..at + length)?)?, at + length));
            }
            length += 16;
        }
        None
    }

    /// The names with ids from `first` on, as text; bytes that are not UTF-8 are escaped.
    pub(in crate::formats) fn texts_from(&self, first: u32) -> TextList {
        (first..self.len()).map(|id| escaped(self.name(id))).collect()
    }

    /// The number of names, which is the next id.
    pub(in crate::formats) fn len(&self) -> u32 {
        self.spans.len() as u32
    }

    /// To be called before each chunk. Drops all names if there are too many. Returns the id of the first
    /// name that is new in the chunk.
    pub(in crate::formats) fn begin_chunk(&mut self) -> u32 {
        if self.spans.len() > self.max || self.bytes.len() > MAX_BYTES {
            self.clear();
        }
        self.len()
    }

    /// The ids from `first` on of names that are not UTF-8.
    pub(in crate::formats) fn lossy_from(&self, first: u32) -> impl Iterator<Item = u32> {
        (first..self.len()).filter(|&id| std::str::from_utf8(self.name(id)).is_err())
    }

    /// The bytes of a name; empty for an unknown id.
    pub(in crate::formats) fn name(&self, id: u32) -> &[u8] {
        let span = self.spans.get(id as usize);
        span.and_then(|&(begin, end)| self.bytes.get(begin..end)).unwrap_or_default()
    }
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
        assert_eq!(names.texts_from(0).get(4999), "variable_4999");
        assert_eq!(names.name(99_999), b"");
        names.id(&[b'x'; 600]);
        names.clear();
        assert_eq!((names.known(b"variable_7"), names.known(&[b'x'; 600]), names.len()), (None, None, 0));
        assert_eq!((names.id(b"variable_9"), names.id(b"variable_7"), names.id(b"variable_9")), (0, 1, 0));
        assert_eq!(names.texts_from(0), TextList::from_iter(["variable_9", "variable_7"]));
    }

    #[test]
    fn names_that_are_not_utf8_are_distinct_and_reported() {
        let mut names = Names::new();
        names.id(b"ok");
        let (a, b) = (names.id(b"\xff"), names.id(b"\xfe"));
        assert_ne!(a, b);
        assert_eq!(names.lossy_from(0).collect::<Vec<_>>(), [a, b]);
        assert_eq!(names.lossy_from(a + 1).collect::<Vec<_>>(), [b]);
        assert_eq!(names.texts_from(0), TextList::from_iter(["ok", "\\xff", "\\xfe"]));
    }

    proptest! {
        #[test]
        fn a_scan_finds_known_names(known: Vec<[u8; 3]>, name in "[a-z_\\[\\]]{0,40}") {
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
