//! Columns that grow row by row and become Arrow arrays: the parts that the generated row batches are made of. Not
//! the batches themselves.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{SchemaRef, UInt32Type};

use crate::error::{Error, ErrorKind, Result};

/// A column of names: a key per row, and every name once. Names are kept from batch to batch.
#[derive(Debug, Default)]
pub struct NameColumn {
    keys: Vec<u32>,
    /// The key of every name in `texts`.
    known: HashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    bytes: usize,
    /// `texts` as an array, while no name has been added to it.
    array: Option<Arc<StringArray>>,
    last: Option<u32>,
    /// Keys of names that came before, by where their texts lie; a guess that is checked, which spares the hash.
    recent: Vec<u32>,
}

impl NameColumn {
    /// The key of a row without a name, for columns that can be null.
    pub const NULL: u32 = u32::MAX;

    /// When there are more names, or more bytes of names, they are forgotten after the batch, so that a column of
    /// ever new names does not fill the memory.
    const MAX_NAMES: usize = 1 << 16;
    const MAX_BYTES: usize = 1 << 22;
    /// Places of `recent`.
    const RECENT: usize = 4096;

    /// A column whose rows are already known by key: `values[key]` is the name of a row, [`NameColumn::NULL`] is none.
    /// A key beyond `values` is an error when the batch is taken.
    pub fn from_parts(keys: Vec<u32>, values: Vec<String>) -> Self {
        let mut column = Self { keys, ..Self::default() };
        for value in values {
            column.add(value.into_boxed_str());
        }
        column
    }

    /// Appends a name.
    pub fn push(&mut self, name: &str) {
        let key = self.key(name);
        self.keys.push(key);
    }

    /// Appends a name, or a row without one.
    pub fn push_opt(&mut self, name: Option<&str>) {
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

    fn key(&mut self, name: &str) -> u32 {
        // The same name comes many times in a row; comparing is cheaper than hashing.
        if let Some(last) = self.last
            && self.texts.get(last as usize).is_some_and(|t| **t == *name)
        {
            return last;
        }
        if self.recent.is_empty() {
            self.recent = vec![Self::NULL; Self::RECENT];
        }
        let place = (name.as_ptr() as usize >> 4) % Self::RECENT;
        let guess = self.recent.get(place).copied().unwrap_or(Self::NULL);
        let hit = self.texts.get(guess as usize).is_some_and(|t| **t == *name);
        let key = match hit {
            true => guess,
            false => match self.known.get(name) {
                Some(key) => *key,
                None => self.add(name.into()),
            },
        };
        if let Some(slot) = self.recent.get_mut(place) {
            *slot = key;
        }
        self.last = Some(key);
        key
    }

    fn add(&mut self, name: Box<str>) -> u32 {
        // 2^32 names do not fit in memory, so the cast cannot lose anything.
        let key = self.texts.len() as u32;
        self.bytes += name.len();
        self.known.entry(name.clone()).or_insert(key);
        self.texts.push(name);
        self.array = None;
        key
    }

    fn names(&mut self) -> Arc<StringArray> {
        let array = || Arc::new(StringArray::from_iter_values(self.texts.iter()));
        let names = Arc::clone(self.array.get_or_insert_with(array));
        if self.texts.len() > Self::MAX_NAMES || self.bytes > Self::MAX_BYTES {
            *self = Self::default();
        }
        names
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
            let valid = keys.iter().map(|k| *k != Self::NULL).collect::<NullBuffer>();
            keys.iter_mut().filter(|k| **k == Self::NULL).for_each(|k| *k = 0);
            valid
        });
        let array = UInt32Array::try_new(keys.into(), valid)
            .and_then(|keys| DictionaryArray::<UInt32Type>::try_new(keys, self.names()))
            .map_err(|e| Error::new(ErrorKind::Bug, "a key without a name").because(e))?;
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
    Option<i64> => Int64Array,
    u64 => UInt64Array,
    Option<u64> => UInt64Array,
    bool => BooleanArray,
    Option<bool> => BooleanArray,
    String => StringArray,
    Option<String> => StringArray,
}

fn take<T>(column: &mut Vec<T>) -> Vec<T> {
    let empty = Vec::with_capacity(column.len());
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

    const ROW: BtfEventRow<'_> = BtfEventRow {
        time: 5,
        seq: 0,
        source: "SIM",
        source_instance: Some(-1),
        target_type: "T",
        target: "Task",
        target_instance: Some(0),
        action: "activate",
        note: None,
    };

    #[test]
    fn a_batch_has_the_schema_of_its_table_and_is_taken_once() {
        let mut rows = BtfEventRows::new();
        rows.push(ROW);
        rows.push(BtfEventRow { seq: 1, note: Some("n"), ..ROW });
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
    fn ever_new_names_are_forgotten() {
        let mut column = NameColumn::default();
        (0..=NameColumn::MAX_NAMES).for_each(|n| column.push(&n.to_string()));
        assert_eq!(column.take_array().unwrap().len(), NameColumn::MAX_NAMES + 1);
        assert!(column.texts.is_empty());
        column.push("x");
        assert_eq!(texts(&column.take_array().unwrap()), [Some("x".to_owned())]);
    }

    #[test]
    fn mistakes_of_the_caller_are_errors() {
        let mut rows = FunctionEventRows::new();
        rows.push(FunctionEventRow { time: 0, seq: 0, function: "f", kind: "entry" });
        rows.time.push(1);
        assert_eq!(rows.take_batch().unwrap_err().kind(), ErrorKind::Bug);

        let mut rows = FunctionEventRows::new();
        rows.push(FunctionEventRow { time: 0, seq: 0, function: "f", kind: "entry" });
        rows.function = NameColumn::from_parts(vec![1], vec!["only one".into()]);
        assert_eq!(rows.take_batch().unwrap_err().kind(), ErrorKind::Bug);

        let mut rows = FunctionEventRows::new();
        rows.push(FunctionEventRow { time: 0, seq: 0, function: "f", kind: "entry" });
        rows.function = NameColumn::from_parts(vec![NameColumn::NULL], vec![]);
        assert_eq!(rows.take_batch().unwrap_err().kind(), ErrorKind::Bug, "function cannot be null");
    }

    proptest! {
        #[test]
        fn names_come_back_as_they_were_pushed(names in prop::collection::vec(prop::option::of("[ab]{0,2}"), 0..50)) {
            let mut column = NameColumn::default();
            for round in 0..2 {
                let mut names = names.clone();
                names.push(Some(format!("new in round {round}")));
                names.iter().for_each(|n| column.push_opt(n.as_deref()));
                prop_assert_eq!(&texts(&column.take_array().unwrap()), &names);
            }
        }

        #[test]
        fn parts_and_pushes_agree(keys in prop::collection::vec(0u32..3, 0..50)) {
            let values = ["a", "b", "a"];
            let mut parts = NameColumn::from_parts(keys.clone(), values.map(str::to_owned).to_vec());
            parts.push("b");
            let mut expected: Vec<_> = keys.iter().map(|k| Some(values[*k as usize].to_owned())).collect();
            expected.push(Some("b".to_owned()));
            prop_assert_eq!(texts(&parts.take_array().unwrap()), expected);
        }
    }
}
