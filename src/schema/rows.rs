//! Columns that grow row by row and become Arrow arrays: the parts that the generated row batches are made
//! of. Not the batches themselves.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringBuilder, UInt64Array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::SchemaRef;

use crate::error::{Error, ErrorKind, Result};
use crate::names::{NameColumn, take_rows};

/// A column of texts that may be missing: runs of missing texts are counted, and appended with the next text.
#[derive(Debug, Default)]
pub struct TextColumn {
    builder: StringBuilder,
    /// Rows without a text after those in `builder`.
    missing: usize,
}

impl TextColumn {
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
    /// A column with room for `rows` rows.
    pub fn with_capacity(rows: usize) -> Self {
        Self { values: Vec::with_capacity(rows), valid: Vec::new() }
    }

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

    /// Appends rows without a number.
    pub fn extend_missing(&mut self, rows: usize) {
        self.valid.resize(self.values.len(), true);
        self.values.resize(self.values.len() + rows, T::default());
        self.valid.resize(self.values.len(), false);
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

    /// The number of a row; `None` if it is missing, or after the last row.
    pub fn get(&self, row: usize) -> Option<T> {
        self.values.get(row).copied().filter(|_| self.valid.get(row) != Some(&false))
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Moves the rows from `at` on to a new column.
    pub fn split_off(&mut self, at: usize) -> Self {
        let valid = if at < self.valid.len() { self.valid.split_off(at) } else { Vec::new() };
        Self { values: self.values.split_off(at), valid }
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

/// A column that returns its rows as an array and is empty afterwards.
pub(super) trait TakeArray {
    fn take_array(&mut self) -> Result<ArrayRef>;
}

impl TakeArray for NameColumn {
    fn take_array(&mut self) -> Result<ArrayRef> {
        Self::take_array(self)
    }
}

/// Vectors become the array of their type. The buffer goes with the array; a new one of the same size stays.
macro_rules! take_array {
    ($($value:ty => $array:ty),* $(,)?) => {
        $(impl TakeArray for Vec<$value> {
            fn take_array(&mut self) -> Result<ArrayRef> {
                Ok(Arc::new(<$array>::from(take_rows(self))))
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
                let (values, valid) = (take_rows(&mut self.values), take_rows(&mut self.valid));
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

pub(super) fn batch_of(schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(Arc::clone(schema), columns)
        .map_err(|e| Error::new(ErrorKind::Bug, "the columns of a batch do not fit together").because(e))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, DictionaryArray, StringArray};
    use arrow::datatypes::UInt32Type;
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

    proptest! {

        #[test]
        fn missing_numbers_are_missing(rows: Vec<Option<i64>>, at in 0usize..20, more: Vec<Option<i64>>) {
            let mut column: Optional<i64> = rows.iter().copied().collect();
            let behind = column.split_off(at.min(rows.len()));
            more.iter().for_each(|row| column.push(*row));
            let expected: Vec<_> = rows.iter().take(at).chain(&more).copied().collect();
            prop_assert_eq!(column.iter().collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(behind.iter().collect::<Vec<_>>(), rows.get(at..).unwrap_or_default());
            let array = column.take_array().unwrap();
            prop_assert_eq!(array.as_any().downcast_ref::<Int64Array>().unwrap(), &Int64Array::from(expected));
            prop_assert!(column.is_empty());
        }

    }
}
