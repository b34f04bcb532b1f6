//! What was computed once per entry of a dictionary. Batches of one column mostly come with the dictionary of
//! the batch before, or with one that goes on where that one ended.

use arrow::array::{Array as _, StringArray};

/// A value per entry of the dictionary that was followed last.
#[derive(Debug)]
pub(crate) struct Memo<T> {
    /// Held on to, so that nothing else can come to lie where its entries are.
    dictionary: Option<StringArray>,
    values: Vec<T>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { dictionary: None, values: Vec::new() }
    }
}

impl<T> Memo<T> {
    /// Turns to a dictionary: computes the values of its entries. Those of the last one are kept when it goes
    /// on from that; false when it does not.
    #[inline]
    pub fn follow(&mut self, dictionary: &StringArray, mut compute: impl FnMut(&str) -> T) -> bool {
        let goes_on = self.dictionary.as_ref().is_some_and(|before| begins_with(dictionary, before));
        if !goes_on {
            self.values.clear();
        }
        for entry in self.values.len()..dictionary.len() {
            self.values.push(compute(dictionary.value(entry)));
        }
        self.dictionary = Some(dictionary.clone());
        goes_on
    }

    /// The values of all entries, by key.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The value of an entry.
    #[inline(always)]
    pub fn get(&self, key: usize) -> Option<&T> {
        self.values.get(key)
    }

    /// The value of an entry, to be set.
    pub fn get_mut(&mut self, key: usize) -> Option<&mut T> {
        self.values.get_mut(key)
    }
}

impl<T: Copy> Memo<Option<T>> {
    /// As [`Memo::follow`], with values that are computed when they are first asked for.
    pub fn turn_to(&mut self, dictionary: &StringArray) -> bool {
        self.follow(dictionary, |_| None)
    }

    /// The value of an entry, computed when it is asked for first; `None` for a key that the dictionary does
    /// not have.
    #[inline]
    pub fn get_or_compute(&mut self, key: usize, compute: impl FnOnce(&str) -> T) -> Option<T> {
        let dictionary = self.dictionary.as_ref()?;
        let value = self.values.get_mut(key)?;
        Some(*value.get_or_insert_with(|| compute(dictionary.value(key))))
    }
}

/// True when the first of `values` are those of `before`, so that keys of these mean the same in both.
fn begins_with(values: &StringArray, before: &StringArray) -> bool {
    let (offsets, old) = (values.value_offsets(), before.value_offsets());
    if std::ptr::eq(offsets, old) && std::ptr::eq(values.value_data(), before.value_data()) {
        return true;
    }
    let span = old.first().zip(old.last()).map_or(0..0, |(from, to)| *from as usize..*to as usize);
    offsets.starts_with(old) && values.value_data().get(span.clone()) == before.value_data().get(span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(names: &[&str]) -> StringArray {
        StringArray::from(names.to_vec())
    }

    #[test]
    fn more_names_begin_with_the_same_ones() {
        let before = array(&["a", "bc"]);
        assert!(begins_with(&array(&["a", "bc", "d"]), &before) && begins_with(&before, &array(&[])));
        for other in [&["a"][..], &["ab", "c"], &["a", "bd"], &["b", "bc", "d"]] {
            assert!(!begins_with(&array(other), &before), "{other:?}");
        }
    }

    #[test]
    fn each_entry_is_computed_once_while_dictionaries_go_on() {
        let mut memo = Memo::default();
        let mut computed = Vec::new();
        for names in [&["a", "b"][..], &["a", "b"], &["a", "b", "c"], &["c"]] {
            memo.follow(&array(names), |name| {
                computed.push(name.to_owned());
                name.len()
            });
            assert_eq!(memo.values().len(), names.len());
        }
        assert_eq!(computed, ["a", "b", "c", "c"]);
    }

    #[test]
    fn entries_are_computed_when_they_are_asked_for() {
        let mut memo = Memo::default();
        memo.turn_to(&array(&["a", "bc"]));
        assert_eq!((memo.get_or_compute(1, str::len), memo.get_or_compute(2, str::len)), (Some(2), None));
        assert_eq!(memo.get_or_compute(1, |_| 0), Some(2), "it is known");
        memo.turn_to(&array(&["bc"]));
        assert_eq!(memo.get(0), Some(&None));
    }
}
