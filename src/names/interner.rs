//! Text → id. Not the interner of the readers of text lines (see `formats::text::names`).

use std::hash::BuildHasher as _;
use std::sync::Arc;

use arrow::array::StringArray;
use hashbrown::HashTable;

use super::TextList;

/// Gives every distinct text an id, from 0 in the order of first use. Ids stay until `trim_beyond`.
#[derive(Debug, Clone, Default)]
pub struct Interner {
    ids: HashTable<u32>,
    texts: TextList,
    /// All texts as an array, until another one is added.
    array: Option<Arc<StringArray>>,
    state: foldhash::fast::FixedState,
}

impl Interner {
    /// Beyond so many texts, or bytes, all are forgotten: names that do not repeat must not fill the memory.
    pub(super) const MAX_TEXTS: usize = 1 << 16;
    pub(super) const MAX_BYTES: usize = 1 << 22;

    /// Empty, with room for `texts` texts before the table of their ids has to grow.
    pub fn with_capacity(texts: usize) -> Self {
        Self {
            ids: HashTable::with_capacity(texts),
            texts: TextList::with_capacity(texts),
            ..Self::default()
        }
    }

    /// The id of a text, new or not.
    pub fn intern(&mut self, text: &str) -> u32 {
        let hash = self.state.hash_one(text);
        match self.find_hashed(hash, text) {
            Some(id) => id,
            None => self.add(hash, text),
        }
    }

    /// The id of a text, if it has one.
    pub fn find(&self, text: &str) -> Option<u32> {
        self.find_hashed(self.state.hash_one(text), text)
    }

    /// The text of an id; empty for an id that was never given.
    pub fn text(&self, id: u32) -> &str {
        self.texts.get(id)
    }

    pub(super) fn is(&self, id: u32, text: &str) -> bool {
        self.texts.is(id, text)
    }

    /// The texts from an id on, in the order of their ids: those that were added since there were `id` texts.
    pub fn since(&self, id: u32) -> impl Iterator<Item = &str> {
        (id..self.len()).map(|id| self.texts.get(id))
    }

    /// All texts, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.since(0)
    }

    /// How many texts there are: the next id.
    pub fn len(&self) -> u32 {
        self.texts.len()
    }

    /// How many bytes the texts have together.
    pub fn bytes(&self) -> usize {
        self.texts.bytes()
    }

    /// All texts by id, as a dictionary. The same array until a text is added.
    pub fn array(&mut self) -> Arc<StringArray> {
        Arc::clone(self.array.get_or_insert_with(|| self.texts.array()))
    }

    /// Forgets all texts when there are more than that, or more bytes of them; then it returns true, and old
    /// ids are void.
    pub(super) fn trim_beyond(&mut self, texts: usize, bytes: usize) -> bool {
        let large = self.len() as usize > texts || self.bytes() > bytes;
        if large {
            // The memory is reused: as many texts will come again.
            self.ids.clear();
            self.texts.truncate(0);
            self.array = None;
        }
        large
    }

    fn find_hashed(&self, hash: u64, text: &str) -> Option<u32> {
        self.ids.find(hash, |id| self.texts.is(*id, text)).copied()
    }

    fn add(&mut self, hash: u64, text: &str) -> u32 {
        let id = self.len();
        self.texts.push(text);
        let (texts, state) = (&self.texts, &self.state);
        self.ids.insert_unique(hash, id, |id| state.hash_one(texts.get(*id)));
        self.array = None;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Array as _;

    #[test]
    fn ids_follow_first_use() {
        let mut names = Interner::default();
        assert_eq!(["a", "", "a", "b"].map(|name| names.intern(name)), [0, 1, 0, 2]);
        assert_eq!(
            (names.find("b"), names.find("c"), names.text(2), names.text(3)),
            (Some(2), None, "b", "")
        );
        assert_eq!(names.since(1).collect::<Vec<_>>(), ["", "b"]);
        let before = names.array();
        names.intern("a");
        assert!(Arc::ptr_eq(&before, &names.array()), "nothing is new");
        names.intern("c");
        assert_eq!(names.array().len(), 4);
        assert!(!names.trim_beyond(4, 100) && names.trim_beyond(3, 100) && names.len() == 0);
        assert_eq!(names.intern("c"), 0);
    }
}
