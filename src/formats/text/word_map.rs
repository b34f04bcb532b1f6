//! Kinds of the few words that a column of an export has, such as `wr-data`. Not for names, of which there
//! are many (see `byte_map`).

use super::vectors::{Scalar, Vectors, Word};

/// A lookup compares with one word after the other, so there must be few.
const MAX_WORDS: usize = 32;

/// A kind for each of a few words of up to fifteen bytes.
#[derive(Debug, Clone, Default)]
pub(in crate::formats) struct WordMap {
    words: Vec<(Word, u8)>,
}

impl WordMap {
    /// The first two words. Nearly all cells have one of them (reads and writes, entries and exits), in an
    /// order that no branch predictor learns.
    pub(in crate::formats) fn first_two(&self) -> [(Word, u8); 2] {
        let at = |n: usize| self.words.get(n).copied().unwrap_or_default();
        [at(0), at(1)]
    }

    /// The kind of the word in the first `length` of these bytes. `first_two` are those of this map.
    #[inline(always)]
    pub(in crate::formats) fn get(
        &self,
        vectors: impl Vectors,
        [first, second]: &[(Word, u8); 2],
        bytes: &[u8; 16],
        length: usize,
    ) -> Option<u8> {
        let is_first = vectors.starts_with(bytes, &first.0) & (length == first.0.length());
        let is_second = vectors.starts_with(bytes, &second.0) & (length == second.0.length());
        // An empty cell would match the default word of a map with fewer than two.
        if (is_first | is_second) & (length > 0) {
            return Some(if is_first { first.1 } else { second.1 });
        }
        self.find(bytes, length)
    }

    #[inline(never)]
    fn find(&self, bytes: &[u8; 16], length: usize) -> Option<u8> {
        let is_same = |(word, _): &&(Word, u8)| word.length() == length && Scalar.starts_with(bytes, word);
        self.words.iter().find(is_same).map(|(_, kind)| *kind)
    }

    /// Puts in the kind of a word, unless it is there, is too long, or the map is full.
    pub(in crate::formats) fn insert(&mut self, cell: &[u8], kind: u8) {
        if let Some(word) = Word::new(cell)
            && self.words.len() < MAX_WORDS
            && !self.words.iter().any(|(known, _)| *known == word)
        {
            self.words.push((word, kind));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_again() {
        let mut map = WordMap::default();
        let words: Vec<String> = (0..40).map(|n| format!("{}{n}", "w".repeat(n % 15))).collect();
        words.iter().zip(0..).for_each(|(word, kind)| map.insert(word.as_bytes(), kind));
        map.insert(words[0].as_bytes(), 77);
        let get = |word: &str| {
            let text = format!("{word}{}", "~".repeat(32));
            map.get(Scalar, &map.first_two(), text.as_bytes().first_chunk().unwrap(), word.len())
        };
        for n in (0..40).filter(|n| words[*n].len() < 16).take(MAX_WORDS) {
            assert_eq!(get(&words[n]), Some(n as u8), "{}", words[n]);
        }
        assert_eq!([get(""), get("w"), get(&words[39])], [None; 3]);
        let empty = WordMap::default();
        assert_eq!(empty.get(Scalar, &empty.first_two(), &[0; 16], 0), None);
    }
}
