//! Columns that grow row by row and become Arrow arrays: the parts that the generated row batches are made of. Not
//! the batches themselves.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Int64Array, RecordBatch, StringArray, StringBuilder,
    UInt32Array, UInt64Array,
};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{SchemaRef, UInt32Type};
use hashbrown::HashTable;

use super::TextList;
use crate::error::{Error, ErrorKind, Result};

/// Names by key. Keys are given in the order of the names' arrival and stay, until [`Dictionary::trim`].
#[derive(Debug, Default)]
pub struct Dictionary {
    /// The keys of all names.
    known: HashTable<u32>,
    /// All names by key.
    names: TextList,
    /// All names as an array, while none has been added to it.
    array: Option<Arc<StringArray>>,
    state: foldhash::fast::FixedState,
}

impl Dictionary {
    /// When there are more names, or more bytes of names, they may be forgotten, so that a column of ever new names
    /// does not fill the memory.
    const MAX_NAMES: usize = 1 << 16;
    const MAX_BYTES: usize = 1 << 22;

    /// Nothing, with room for so many names before the table of their keys has to grow.
    pub fn with_room(names: usize) -> Self {
        Self { known: HashTable::with_capacity(names), names: TextList::with_room(names), ..Self::default() }
    }

    /// The key of a name, new or not.
    pub fn key(&mut self, name: &str) -> u32 {
        let hash = self.state.hash_one(name);
        match self.find(hash, name) {
            Some(key) => key,
            None => self.add(hash, name),
        }
    }

    /// The key of a name that is there.
    pub fn known(&self, name: &str) -> Option<u32> {
        self.find(self.state.hash_one(name), name)
    }

    /// The name of a key; empty for a key that was never given.
    pub fn text(&self, key: u32) -> &str {
        self.names.get(key)
    }

    /// All names, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    /// How many names there are: the next key.
    pub fn len(&self) -> u32 {
        self.names.len()
    }

    /// True when there are no names.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How many bytes the names have together.
    pub fn bytes(&self) -> usize {
        self.names.bytes()
    }

    /// All names by key. The same array as before, while none is new.
    pub fn array(&mut self) -> Arc<StringArray> {
        Arc::clone(self.array.get_or_insert_with(|| self.names.array()))
    }

    /// Forgets all names when there are too many; true when it did, and old keys mean nothing any more.
    pub fn trim(&mut self) -> bool {
        self.trim_beyond(Self::MAX_NAMES, Self::MAX_BYTES)
    }

    fn trim_beyond(&mut self, names: usize, bytes: usize) -> bool {
        let large = self.len() as usize > names || self.bytes() > bytes;
        if large {
            // The memory stays: as many names will come again.
            self.known.clear();
            self.names.truncate(0);
            self.array = None;
        }
        large
    }

    fn find(&self, hash: u64, name: &str) -> Option<u32> {
        self.known.find(hash, |key| self.names.is(*key, name)).copied()
    }

    fn add(&mut self, hash: u64, name: &str) -> u32 {
        let key = self.len();
        self.names.push(name);
        let (names, state) = (&self.names, &self.state);
        self.known.insert_unique(hash, key, |key| state.hash_one(names.get(*key)));
        self.array = None;
        key
    }
}

/// True when the first of `values` are those of `before`, so that keys of these mean the same in both.
pub(crate) fn begins_with(values: &StringArray, before: &StringArray) -> bool {
    let (offsets, old) = (values.value_offsets(), before.value_offsets());
    if std::ptr::eq(offsets, old) && std::ptr::eq(values.value_data(), before.value_data()) {
        return true;
    }
    let span = old.first().zip(old.last()).map_or(0..0, |(from, to)| *from as usize..*to as usize);
    offsets.starts_with(old) && values.value_data().get(span.clone()) == before.value_data().get(span)
}

/// A name on its way into a column.
#[derive(Clone, Copy)]
pub enum Name<'a> {
    /// As it is.
    Text(&'a str),
    /// By the number that it has where it comes from, which spares the search for it: its text is asked for once.
    /// Within a column, a number always stands for the same name. Small numbers, please: there is a table.
    Numbered(u32, &'a dyn Numbering),
    /// As it is, and kept at a place by whom it comes from: while it has not changed there, the search for it is spared.
    /// Not in a column with numbered names. Small places, please: there is a table.
    Kept {
        /// Where it is kept.
        place: u32,
        /// The name.
        text: &'a str,
        /// Another name was there when the place was last used, or none.
        changed: bool,
    },
}

/// Names that have numbers.
pub trait Numbering {
    /// The name of a number.
    fn name_of(&self, number: u32) -> &str;
}

impl<'a> Name<'a> {
    /// The name itself.
    pub fn text(self) -> &'a str {
        match self {
            Self::Text(text) | Self::Kept { text, .. } => text,
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

/// A column of names: a key per row, and every name once. Names are kept from batch to batch.
#[derive(Debug, Default)]
pub struct NameColumn {
    keys: Vec<u32>,
    names: Dictionary,
    /// What the keys of this batch stand for, when it is not `names`.
    given: Option<Arc<StringArray>>,
    /// The key of the last name that was pushed.
    last: u32,
    /// Keys of names that have numbers or places, by these.
    numbered: Vec<u32>,
    /// How many names there were when the last batch was taken.
    known: u32,
}

impl NameColumn {
    /// The key of a row without a name, for columns that can be null.
    pub const NULL: u32 = u32::MAX;

    /// A column whose rows are already known by key: `values[key]` is the name of a row, [`NameColumn::NULL`] is none.
    /// It is complete: nothing can be pushed to it. A key beyond `values` is an error when the batch is taken.
    pub fn from_parts(keys: Vec<u32>, values: Arc<StringArray>) -> Self {
        Self { keys, given: Some(values), ..Self::default() }
    }

    /// Appends a name.
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

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    fn key(&mut self, name: Name<'_>) -> u32 {
        debug_assert!(self.given.is_none(), "the names of a complete column are given");
        let place = match name {
            Name::Text(text) => {
                // The same name comes many times in a row; comparing is cheaper than hashing.
                if !self.names.names.is(self.last, text) {
                    self.last = self.names.key(text);
                }
                return self.last;
            }
            Name::Kept { place, changed: true, .. } => return self.learn(place, name),
            Name::Numbered(place, _) | Name::Kept { place, .. } => place,
        };
        match self.numbered.get(place as usize) {
            Some(key) if *key != Self::NULL => *key,
            _ => self.learn(place, name),
        }
    }

    #[inline(never)]
    fn learn(&mut self, place: u32, name: Name<'_>) -> u32 {
        let (place, key) = (place as usize, self.names.key(name.text()));
        if self.numbered.len() <= place {
            self.numbered.resize(place + 1, Self::NULL);
        }
        if let Some(slot) = self.numbered.get_mut(place) {
            *slot = key;
        }
        key
    }
}

/// A column of texts, of which many may be missing: those in a row are counted until one is there.
#[derive(Debug, Default)]
pub struct TextColumn {
    builder: StringBuilder,
    /// Rows without a text behind those in `builder`.
    missing: usize,
}

impl TextColumn {
    /// Appends a text.
    #[inline]
    pub fn push(&mut self, text: &str) {
        if self.missing > 0 {
            self.builder.append_nulls(std::mem::take(&mut self.missing));
        }
        self.builder.append_value(text);
    }

    /// Appends a text, or a row without one.
    #[inline]
    pub fn push_opt(&mut self, text: Option<impl AsRef<str>>) {
        match text {
            Some(text) => self.push(text.as_ref()),
            None => self.missing += 1,
        }
    }
}

/// A column of numbers of which some may be missing.
#[derive(Debug, Clone, Default)]
pub struct Optional<T> {
    /// A missing number is 0.
    values: Vec<T>,
    /// Whether each row has a number; empty while all have.
    valid: Vec<bool>,
}

impl<T: Copy + Default> Optional<T> {
    /// A column with room for so many rows.
    pub fn with_capacity(rows: usize) -> Self {
        Self { values: Vec::with_capacity(rows), valid: Vec::new() }
    }

    /// Appends a row.
    #[inline(always)]
    pub fn push(&mut self, value: Option<T>) {
        match value {
            Some(_) if self.valid.is_empty() => {}
            None if self.valid.is_empty() => self.first_missing(),
            _ => self.valid.push(value.is_some()),
        }
        self.values.push(value.unwrap_or_default());
    }

    /// Appends rows that all have a number.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.values.extend_from_slice(values);
        if !self.valid.is_empty() {
            self.valid.resize(self.values.len(), true);
        }
    }

    #[cold]
    fn first_missing(&mut self) {
        self.valid.reserve(self.values.capacity());
        self.valid.resize(self.values.len(), true);
        self.valid.push(false);
    }

    /// The rows so far; `None` for one that is missing.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// The number of a row; `None` where it is missing, and behind the last row.
    pub fn get(&self, row: usize) -> Option<T> {
        self.values.get(row).copied().filter(|_| self.valid.get(row) != Some(&false))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Takes the rows from `at` on away.
    pub fn split_off(&mut self, at: usize) -> Self {
        let valid = if at < self.valid.len() { self.valid.split_off(at) } else { Vec::new() };
        Self { values: self.values.split_off(at), valid }
    }

    /// The numbers, 0 for a missing one, and whether each is there (empty when all are), for who changes the order of the
    /// rows.
    pub fn parts_mut(&mut self) -> (&mut [T], &mut [bool]) {
        (&mut self.values, &mut self.valid)
    }
}

impl<T: Copy + Default> FromIterator<Option<T>> for Optional<T> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(rows: I) -> Self {
        let mut column = Self::default();
        rows.into_iter().for_each(|row| column.push(row));
        column
    }
}

impl<T> From<Vec<T>> for Optional<T> {
    fn from(values: Vec<T>) -> Self {
        Self { values, valid: Vec::new() }
    }
}

/// A column that gives away its rows as an array and is empty afterwards.
pub(super) trait TakeArray {
    fn take_array(&mut self) -> Result<ArrayRef>;
}

impl TakeArray for NameColumn {
    fn take_array(&mut self) -> Result<ArrayRef> {
        let mut keys = take(&mut self.keys);
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
        // Where names are ever new, few are too many: all of them are copied for every batch.
        let share = if (self.names.len() - self.known) as usize * 32 > rows { 8 } else { 1 };
        if self.names.trim_beyond(Dictionary::MAX_NAMES / share, Dictionary::MAX_BYTES / share) {
            (self.last, self.numbered) = (0, Vec::new());
        }
        self.known = self.names.len();
        Ok(Arc::new(array))
    }
}

/// Vectors become the array of their type. The buffer goes with the array; a new one of the same size stays.
macro_rules! take_array {
    ($($value:ty => $array:ty),* $(,)?) => {
        $(impl TakeArray for Vec<$value> {
            fn take_array(&mut self) -> Result<ArrayRef> {
                Ok(Arc::new(<$array>::from(take(self))))
            }
        })*
    };
}

take_array! {
    i64 => Int64Array,
    u64 => UInt64Array,
    bool => BooleanArray,
    Option<bool> => BooleanArray,
}

impl TakeArray for TextColumn {
    fn take_array(&mut self) -> Result<ArrayRef> {
        self.builder.append_nulls(std::mem::take(&mut self.missing));
        Ok(Arc::new(self.builder.finish()))
    }
}

macro_rules! take_optional {
    ($($value:ty => $array:ty),* $(,)?) => {
        $(impl TakeArray for Optional<$value> {
            fn take_array(&mut self) -> Result<ArrayRef> {
                let (values, valid) = (take(&mut self.values), take(&mut self.valid));
                let nulls = (!valid.is_empty()).then(|| NullBuffer::from(valid));
                Ok(Arc::new(<$array>::new(values.into(), nulls)))
            }
        })*
    };
}

take_optional! {
    i64 => Int64Array,
    u64 => UInt64Array,
}

fn take<T>(column: &mut Vec<T>) -> Vec<T> {
    // Batches are not all of one length: with room for as many rows as before, every second one would have to be moved.
    let is_usual = column.len() >= column.capacity() / 2;
    let empty = Vec::with_capacity(if is_usual { column.capacity() } else { column.len() });
    std::mem::replace(column, empty)
}

/// The batch of these columns.
pub(super) fn batch_of(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::clone(schema), columns)
        .map_err(|e| Error::new(ErrorKind::Bug, "the columns of a batch do not fit together").because(e))
}

#[cfg(test)]
mod tests {
    use arrow::array::Array;
    use proptest::prelude::*;

    use super::*;
    use crate::schema::{BtfEventRow, BtfEventRows, FunctionEventRow, FunctionEventRows};

    fn texts(array: &dyn Array) -> Vec<Option<String>> {
        let array = array.as_any().downcast_ref::<DictionaryArray<UInt32Type>>().unwrap();
        let typed = array.downcast_dict::<StringArray>().unwrap();
        typed.into_iter().map(|t| t.map(str::to_owned)).collect()
    }

    fn row() -> BtfEventRow<'static> {
        BtfEventRow {
            time: 5,
            seq: 0,
            source: "SIM".into(),
            source_instance: Some(-1),
            target_type: "T".into(),
            target: "Task".into(),
            target_instance: Some(0),
            action: "activate".into(),
            note: None,
        }
    }

    #[test]
    fn a_batch_has_the_schema_of_its_table_and_is_taken_once() {
        let mut rows = BtfEventRows::new();
        rows.push(row());
        rows.push(BtfEventRow { seq: 1, note: Some("n".into()), ..row() });
        assert_eq!(rows.len(), 2);
        let batch = rows.take_batch().unwrap();
        assert_eq!(batch.schema(), crate::schema::tables::BTF_EVENT.arrow_schema());
        assert_eq!(texts(batch.column_by_name("note").unwrap()), [None, Some("n".into())]);
        assert!(rows.is_empty());
        assert_eq!(rows.take_batch().unwrap().num_rows(), 0);
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
    fn more_names_begin_with_the_same_ones() {
        let array = |names: &[&str]| StringArray::from(names.to_vec());
        let before = array(&["a", "bc"]);
        assert!(begins_with(&array(&["a", "bc", "d"]), &before) && begins_with(&before, &array(&[])));
        for other in [&["a"][..], &["ab", "c"], &["a", "bd"], &["b", "bc", "d"]] {
            assert!(!begins_with(&array(other), &before), "{other:?}");
        }
    }

    #[test]
    fn ever_new_names_are_forgotten() {
        let mut column = NameColumn::default();
        (0..=Dictionary::MAX_NAMES).for_each(|n| column.push(n.to_string().as_str()));
        assert_eq!(column.take_array().unwrap().len(), Dictionary::MAX_NAMES + 1);
        assert!(column.names.is_empty());
        column.push("x");
        assert_eq!(texts(&column.take_array().unwrap()), [Some("x".to_owned())]);
    }

    #[test]
    fn where_most_rows_bring_a_new_name_few_are_remembered() {
        let mut column = NameColumn::default();
        for n in 0..Dictionary::MAX_NAMES / 8 {
            column.push(n.to_string().as_str());
        }
        column.take_array().unwrap();
        assert!(!column.names.is_empty());
        column.push("one more");
        column.take_array().unwrap();
        assert!(column.names.is_empty());
    }

    #[test]
    fn mistakes_of_the_caller_are_errors() {
        let mut rows = FunctionEventRows::new();
        rows.push(FunctionEventRow { time: 0, seq: 0, function: "f".into(), kind: "entry".into() });
        rows.time.push(1);
        assert_eq!(rows.take_batch().unwrap_err().kind(), ErrorKind::Bug);

        let mut rows = FunctionEventRows::new();
        rows.push(FunctionEventRow { time: 0, seq: 0, function: "f".into(), kind: "entry".into() });
        rows.function = NameColumn::from_parts(vec![1], Arc::new(StringArray::from(vec!["only one"])));
        assert_eq!(rows.take_batch().unwrap_err().kind(), ErrorKind::Bug);

        let mut rows = FunctionEventRows::new();
        rows.push(FunctionEventRow { time: 0, seq: 0, function: "f".into(), kind: "entry".into() });
        rows.function = NameColumn::from_parts(vec![NameColumn::NULL], Arc::new(StringArray::new_null(0)));
        assert_eq!(rows.take_batch().unwrap_err().kind(), ErrorKind::Bug, "function cannot be null");
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
        fn names_kept_at_places_come_back(names in prop::collection::vec("[ab]{0,2}", 0..50), forget: Vec<bool>) {
            let (mut column, mut places) = (NameColumn::default(), vec![None; 2]);
            for (n, text) in names.iter().enumerate() {
                let place = text.len() % 2;
                let changed = places[place].replace(text) != Some(text);
                column.push(Name::Kept { place: place as u32, text, changed });
                if forget.get(n) == Some(&true) {
                    // What the column forgets when there are too many names.
                    let taken = texts(&column.take_array().unwrap());
                    prop_assert_eq!(taken.last().unwrap().as_ref(), Some(text));
                    (column.names, column.numbered, column.last) = (Dictionary::default(), Vec::new(), 0);
                    column.known = 0;
                }
            }
            let rest: Vec<_> = texts(&column.take_array().unwrap()).into_iter().map(Option::unwrap).collect();
            prop_assert!(names.ends_with(&rest));
        }

        #[test]
        fn missing_numbers_are_missing(rows: Vec<Option<i64>>, at in 0usize..20, more: Vec<Option<i64>>) {
            let mut column: Optional<i64> = rows.iter().copied().collect();
            let behind = column.split_off(at.min(rows.len()));
            more.iter().for_each(|row| column.push(*row));
            let mut expected: Vec<_> = rows.iter().take(at).chain(&more).copied().collect();
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), expected.clone());
            for _ in 0..2 {
                let (numbers, valid) = column.parts_mut();
                numbers.reverse();
                valid.reverse();
                expected.reverse();
                prop_assert_eq!(column.iter().collect::<Vec<_>>(), expected.clone());
            }
            prop_assert_eq!(behind.iter().collect::<Vec<_>>(), rows.get(at..).unwrap_or_default());
            let array = column.take_array().unwrap();
            prop_assert_eq!(array.as_any().downcast_ref::<Int64Array>().unwrap(), &Int64Array::from(expected));
            prop_assert!(column.is_empty());
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
