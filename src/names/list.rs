//! Texts by number, one after the other in memory. Not for finding a number (see [`super::Interner`]).

use std::sync::Arc;

use arrow::array::StringArray;
use arrow::buffer::OffsetBuffer;

/// Texts in the order of their arrival: the first one is number 0.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TextList {
    text: String,
    ends: Vec<usize>,
}

impl TextList {
    /// Empty, with room for `texts` texts.
    pub fn with_capacity(texts: usize) -> Self {
        Self { text: String::new(), ends: Vec::with_capacity(texts) }
    }

    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// Appends all `others`.
    pub fn extend(&mut self, others: &Self) {
        let before = self.text.len();
        self.text.push_str(&others.text);
        self.ends.extend(others.ends.iter().map(|end| before + end));
    }

    /// Removes the texts from the number `len` on, and keeps the memory.
    pub fn truncate(&mut self, len: u32) {
        self.text.truncate(self.begin(len));
        self.ends.truncate(len as usize);
    }

    /// The text of a number; empty for a number beyond the last one.
    pub fn get(&self, number: u32) -> &str {
        self.end(number).and_then(|end| self.text.get(self.begin(number)..end)).unwrap_or_default()
    }

    /// True when `text` is that of the number.
    pub fn is(&self, number: u32, text: &str) -> bool {
        let bytes = self.text.as_bytes();
        self.end(number).and_then(|end| bytes.get(self.begin(number)..end)) == Some(text.as_bytes())
    }

    /// All texts, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// How many there are: the next number.
    pub fn len(&self) -> u32 {
        // 2^32 texts do not fit in memory, so the cast cannot lose anything.
        self.ends.len() as u32
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many bytes they have together.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The same as an array. Built from its buffers: there may be tens of thousands, and new ones per batch.
    pub fn array(&self) -> Arc<StringArray> {
        // Less than 2 GiB: owners of a list drop its texts long before.
        let offsets = std::iter::once(0).chain(self.ends.iter().map(|end| *end as i32)).collect::<Vec<_>>();
        let offsets = OffsetBuffer::new(offsets.into());
        let array = StringArray::try_new(offsets, self.text.as_bytes().into(), None);
        Arc::new(array.unwrap_or_else(|_| StringArray::from_iter_values(self.iter())))
    }

    /// Where the text of a number begins.
    fn begin(&self, number: u32) -> usize {
        match number.checked_sub(1) {
            Some(before) => self.end(before).unwrap_or(self.text.len()),
            None => 0,
        }
    }

    fn end(&self, number: u32) -> Option<usize> {
        self.ends.get(number as usize).copied()
    }
}

impl<T: AsRef<str>> FromIterator<T> for TextList {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref()));
        all
    }
}

impl std::fmt::Debug for TextList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: AsRef<str>, const N: usize> PartialEq<[T; N]> for TextList {
    fn eq(&self, others: &[T; N]) -> bool {
        self.iter().eq(others.iter().map(AsRef::as_ref))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_are_those_of_a_vector(
            some in prop::collection::vec("[aß]{0,2}", 0..8),
            more in prop::collection::vec("[aß]{0,2}", 0..8),
            keep in 0usize..10,
        ) {
            let mut texts: TextList = some.iter().collect();
            texts.truncate(keep as u32);
            texts.extend(&more.iter().collect());
            let mut expected = some.clone();
            expected.truncate(keep);
            expected.extend(more);
            prop_assert_eq!(texts.iter().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(&*texts.array(), &StringArray::from(expected.clone()));
            prop_assert_eq!((texts.len() as usize, texts.bytes()), (expected.len(), expected.concat().len()));
            for (number, text) in expected.iter().enumerate() {
                prop_assert!(texts.is(number as u32, text) && !texts.is(number as u32, "b"));
                prop_assert_eq!(texts.get(number as u32), text);
            }
            prop_assert!(texts.get(texts.len()).is_empty() && !texts.is(texts.len(), ""));
        }
    }
}
