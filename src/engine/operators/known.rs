//! What was found out of a dictionary of names, for as long as batches come with the same one. Not for what that is.

use arrow::array::{Array, StringArray};

/// What is known of the dictionary that was followed last.
#[derive(Debug)]
pub(super) struct Known<T> {
    dictionary: Option<StringArray>,
    pub of: Vec<T>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { dictionary: None, of: Vec::new() }
    }
}

impl<T> Known<T> {
    /// Entries are told apart by where they lie: while this holds on to the buffers, nothing else can lie there.
    pub fn follow(&mut self, dictionary: &StringArray, all: impl FnOnce(&StringArray) -> Vec<T>) {
        let same = |known: &StringArray| {
            known.len() == dictionary.len()
                && known.values().ptr_eq(dictionary.values())
                && known.offsets().inner().inner().ptr_eq(dictionary.offsets().inner().inner())
        };
        if !self.dictionary.as_ref().is_some_and(same) {
            self.of = all(dictionary);
            self.dictionary = Some(dictionary.clone());
        }
    }
}
