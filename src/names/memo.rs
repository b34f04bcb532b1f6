//! Values that are computed once per entry of a dictionary. Most batches of a column come with the dictionary
//! of the batch before, or with one that extends it.

use arrow::array::{Array as _, StringArray};

/// A value per entry of the current dictionary.
#[derive(Debug)]
pub(crate) struct Memo<T> {
    /// Held, so that no other array can get the same address.
    dictionary: Option<StringArray>,
    values: Vec<T>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self { dictionary: None, values: Vec::new() }
    }
}

impl<T> Memo<T> {
    /// Makes a dictionary the current one, and computes the values of its entries. Returns true when it
    /// extends the previous one, whose values are then reused.
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

    #[inline(always)]
    pub fn get(&self, key: usize) -> Option<&T> {
        self.values.get(key)
    }

    pub fn get_mut(&mut self, key: usize) -> Option<&mut T> {
        self.values.get_mut(key)
    }
}

impl<T: Copy> Memo<Option<T>> {
    /// As [`Memo::follow`], but computes values on demand.
    pub fn turn_to(&mut self, dictionary: &StringArray) -> bool {
        self.follow(dictionary, |_| None)
    }

    /// The value of an entry, computed on first use; `None` for a key that the dictionary does not have.
    #[inline]
    pub fn get_or_compute(&mut self, key: usize, compute: impl FnOnce(&str) -> T) -> Option<T> {
        let dictionary = self.dictionary.as_ref()?;
        let value = self.values.get_mut(key)?;
        Some(*value.get_or_insert_with(|| compute(dictionary.value(key))))
    }
}

/// True when `values` starts with the entries of `before`: keys of `before` then mean the same in both.
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
    fn entries_are_computed_on_demand() {
        let mut memo = Memo::default();
        memo.turn_to(&array(&["a", "bc"]));
        assert_eq!((memo.get_or_compute(1, str::len), memo.get_or_compute(2, str::len)), (Some(2), None));
        assert_eq!(memo.get_or_compute(1, |_| 0), Some(2), "it is known");
        memo.turn_to(&array(&["bc"]));
        assert_eq!(memo.get(0), Some(&None));
    }
}
