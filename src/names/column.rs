//! A column of names that grows row by row: a key per row, and a dictionary that its batches share.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, StringArray, UInt32Array};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::UInt32Type;

use super::Interner;
use crate::error::{Error, ErrorKind, Result};

/// A name to append to a column.
#[derive(Clone, Copy)]
pub enum Name<'a> {
    Text(&'a str),
    /// The number that its source gives it. Its text is asked for once, and not searched for again. Within a
    /// column, a number always stands for the same name. Numbers index a table and should be small.
    Numbered(u32, &'a dyn Numbering),
    /// The text itself, with the slot where its source keeps it. The text is not searched for again until the
    /// slot changes. Not in a column with numbered names. Slots index a table and should be small.
    Cached {
        slot: u32,
        text: &'a str,
        /// The slot was empty when it was last used, or held another name.
        changed: bool,
    },
}

pub trait Numbering {
    fn name_of(&self, number: u32) -> &str;
}

impl<'a> Name<'a> {
    pub fn text(self) -> &'a str {
        match self {
            Self::Text(text) | Self::Cached { text, .. } => text,
            Self::Numbered(number, names) => names.name_of(number),
        }
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl std::fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.text())
    }
}

/// A column of names: a key per row, and every name once. The names stay from batch to batch.
#[derive(Debug, Default)]
pub struct NameColumn {
    keys: Vec<u32>,
    names: Interner,
    /// The dictionary of this batch, if it is not `names`.
    given: Option<Arc<StringArray>>,
    /// The key of the last name that was pushed.
    last: u32,
    /// Keys of names, by their numbers or slots.
    numbered: Vec<u32>,
    /// How many names there were when the last batch was taken.
    known: u32,
}

impl NameColumn {
    /// The key of a row without a name, for columns that can be null.
    pub const NULL: u32 = u32::MAX;

    /// A column whose keys are already known: `values[key]` is the name of a row, [`NameColumn::NULL`] stands
    /// for none. It is complete: nothing can be pushed to it. A key beyond `values` is an error when the
    /// batch is taken.
    pub fn from_parts(keys: Vec<u32>, values: Arc<StringArray>) -> Self {
        Self { keys, given: Some(values), ..Self::default() }
    }

    pub fn push<'a>(&mut self, name: impl Into<Name<'a>>) {
        let key = self.key(name.into());
        self.keys.push(key);
    }

    /// Appends a name, or a row without one.
    pub fn push_opt<'a>(&mut self, name: Option<impl Into<Name<'a>>>) {
        match name {
            Some(name) => self.push(name),
            None => self.keys.push(Self::NULL),
        }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The rows so far as a dictionary array; the column is empty afterwards and keeps its names.
    pub fn take_array(&mut self) -> Result<ArrayRef> {
        let mut keys = take_rows(&mut self.keys);
        let valid = keys.contains(&Self::NULL).then(|| {
            let there = |row| keys.get(row) != Some(&Self::NULL);
            NullBuffer::new(BooleanBuffer::collect_bool(keys.len(), there))
        });
        if valid.is_some() {
            keys.iter_mut().for_each(|key| *key = if *key == Self::NULL { 0 } else { *key });
        }
        let (rows, names) = (keys.len(), self.given.take().unwrap_or_else(|| self.names.array()));
        let array = UInt32Array::try_new(keys.into(), valid)
            .and_then(|keys| DictionaryArray::<UInt32Type>::try_new(keys, names))
            .map_err(|e| Error::new(ErrorKind::Bug, "a key without a name").because(e))?;
        // Where most names are new, the limit is lower, because every batch copies all of them.
        let share = if (self.names.len() - self.known) as usize * 32 > rows { 8 } else { 1 };
        if self.names.trim_beyond(Interner::MAX_TEXTS / share, Interner::MAX_BYTES / share) {
            (self.last, self.numbered) = (0, Vec::new());
        }
        self.known = self.names.len();
        Ok(Arc::new(array))
    }

    fn key(&mut self, name: Name<'_>) -> u32 {
        debug_assert!(self.given.is_none(), "the names of a complete column are given");
        let slot = match name {
            Name::Text(text) => {
                // The same name comes many times in a row; comparing is cheaper than hashing.
                if !self.names.is(self.last, text) {
                    self.last = self.names.intern(text);
                }
                return self.last;
            }
            Name::Cached { slot, changed: true, .. } => return self.learn(slot, name),
            Name::Numbered(slot, _) | Name::Cached { slot, .. } => slot,
        };
        match self.numbered.get(slot as usize) {
            Some(key) if *key != Self::NULL => *key,
            _ => self.learn(slot, name),
        }
    }

    #[inline(never)]
    fn learn(&mut self, slot: u32, name: Name<'_>) -> u32 {
        let (slot, key) = (slot as usize, self.names.intern(name.text()));
        if self.numbered.len() <= slot {
            self.numbered.resize(slot + 1, Self::NULL);
        }
        if let Some(entry) = self.numbered.get_mut(slot) {
            *entry = key;
        }
        key
    }
}

/// The rows so far; the vector is empty afterwards and has room for as many.
pub(crate) fn take_rows<T>(column: &mut Vec<T>) -> Vec<T> {
    // Batches differ in length: with room for exactly as many rows, every second one would be moved.
    let is_full = column.len() >= column.capacity() / 2;
    let empty = Vec::with_capacity(if is_full { column.capacity() } else { column.len() });
    std::mem::replace(column, empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Array;
    use proptest::prelude::*;

    fn texts(array: &dyn Array) -> Vec<Option<String>> {
        let array = array.as_any().downcast_ref::<DictionaryArray<UInt32Type>>().unwrap();
        let typed = array.downcast_dict::<StringArray>().unwrap();
        typed.into_iter().map(|t| t.map(str::to_owned)).collect()
    }

    #[test]
    fn names_are_shared_between_batches() {
        let mut column = NameColumn::default();
        column.push("a");
        let first = column.take_array().unwrap();
        column.push("a");
        let second = column.take_array().unwrap();
        let values = |a: &ArrayRef| {
            let a = a.as_any().downcast_ref::<DictionaryArray<UInt32Type>>().unwrap();
            Arc::as_ptr(a.values()).cast::<u8>()
        };
        assert_eq!(values(&first), values(&second));
    }

    #[test]
    fn ever_new_names_are_forgotten() {
        let mut column = NameColumn::default();
        (0..=Interner::MAX_TEXTS).for_each(|n| column.push(n.to_string().as_str()));
        assert_eq!(column.take_array().unwrap().len(), Interner::MAX_TEXTS + 1);
        assert_eq!(column.names.len(), 0);
        column.push("x");
        assert_eq!(texts(&column.take_array().unwrap()), [Some("x".to_owned())]);
    }

    #[test]
    fn few_names_are_remembered_if_most_rows_have_a_new_one() {
        let mut column = NameColumn::default();
        for n in 0..Interner::MAX_TEXTS / 8 {
            column.push(n.to_string().as_str());
        }
        column.take_array().unwrap();
        assert_ne!(column.names.len(), 0);
        column.push("one more");
        column.take_array().unwrap();
        assert_eq!(column.names.len(), 0);
    }

    struct Two;

    impl Numbering for Two {
        fn name_of(&self, number: u32) -> &str {
            if number == 7 { "" } else { "aa" }
        }
    }

    fn some_numbered(name: &str) -> Name<'_> {
        match name {
            "" => Name::Numbered(7, &Two),
            "aa" => Name::Numbered(0, &Two),
            _ => name.into(),
        }
    }

    proptest! {
        #[test]
        fn names_come_back_as_they_were_pushed(names in prop::collection::vec(prop::option::of("[ab]{0,2}"), 0..50)) {
            let mut column = NameColumn::default();
            for round in 0..2 {
                let mut names = names.clone();
                names.push(Some(format!("new in round {round}")));
                names.iter().for_each(|n| column.push_opt(n.as_deref().map(some_numbered)));
                prop_assert_eq!(&texts(&column.take_array().unwrap()), &names);
            }
        }

        #[test]
        fn names_cached_in_slots_come_back(names in prop::collection::vec("[ab]{0,2}", 0..50), forget: Vec<bool>) {
            let (mut column, mut slots) = (NameColumn::default(), vec![None; 2]);
            for (n, text) in names.iter().enumerate() {
                let slot = text.len() % 2;
                let changed = slots[slot].replace(text) != Some(text);
                column.push(Name::Cached { slot: slot as u32, text, changed });
                if forget.get(n) == Some(&true) {
                    // What the column forgets when there are too many names.
                    let taken = texts(&column.take_array().unwrap());
                    prop_assert_eq!(taken.last().unwrap().as_ref(), Some(text));
                    (column.names, column.numbered, column.last) = (Interner::default(), Vec::new(), 0);
                    column.known = 0;
                }
            }
            let rest: Vec<_> = texts(&column.take_array().unwrap()).into_iter().map(Option::unwrap).collect();
            prop_assert!(names.ends_with(&rest));
        }

        #[test]
        fn parts_and_pushes_agree(keys in prop::collection::vec(0u32..3, 0..50)) {
            let values = ["a", "b", "a"];
            let mut parts = NameColumn::from_parts(keys.clone(), Arc::new(StringArray::from(values.to_vec())));
            let mut pushed = NameColumn::default();
            keys.iter().for_each(|k| pushed.push(values[*k as usize]));
            prop_assert_eq!(texts(&parts.take_array().unwrap()), texts(&pushed.take_array().unwrap()));
        }
    }
}
