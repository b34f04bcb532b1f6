//! The columns of a batch as what they hold. Not for which columns those are.

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, StringViewArray, UInt32Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, UInt32Type};

use crate::error::{Error, ErrorKind, Result};

/// The columns of a batch, of which there are so many.
pub(super) fn columns<const N: usize>(batch: &RecordBatch) -> Result<[&ArrayRef; N]> {
    let all: Vec<&ArrayRef> = batch.columns().iter().collect();
    all.try_into().map_err(|_| misfit())
}

/// A column of whole numbers, of whatever width.
pub(super) fn integer(column: &ArrayRef) -> Result<Int64Array> {
    if let Some(numbers) = column.as_primitive_opt::<Int64Type>() {
        return Ok(numbers.clone());
    }
    let cast = cast(column, &DataType::Int64).map_err(|e| misfit().because(e))?;
    cast.as_primitive_opt::<Int64Type>().cloned().ok_or_else(misfit)
}

/// All columns, which hold numbers.
pub(super) fn integers<const N: usize>(batch: &RecordBatch) -> Result<[Int64Array; N]> {
    let all = batch.columns().iter().map(integer).collect::<Result<Vec<_>>>()?;
    all.try_into().map_err(|_| misfit())
}

/// A column of texts, however the engine holds them.
pub(super) fn text(column: &ArrayRef) -> Result<StringViewArray> {
    let cast = cast(column, &DataType::Utf8View).map_err(|e| misfit().because(e))?;
    cast.as_string_view_opt().cloned().ok_or_else(misfit)
}

/// The value of a row, if it has one.
pub(super) fn at(column: &Int64Array, row: usize) -> Option<i64> {
    column.is_valid(row).then(|| column.value(row))
}

/// The value of the first row.
pub(super) fn first(column: &Int64Array) -> Option<i64> {
    column.iter().next().flatten()
}

/// The text of a row, if it has one.
pub(super) fn text_at(column: &StringViewArray, row: usize) -> Option<&str> {
    column.is_valid(row).then(|| column.value(row))
}

/// A column of names as a table lies on the disk: keys, and for each key what `meaning` makes of its name.
pub(super) struct Keys<T> {
    keys: UInt32Array,
    meanings: Vec<Option<T>>,
}

impl<T: Copy> Keys<T> {
    pub fn new(column: &ArrayRef, meaning: impl Fn(&str) -> Option<T>) -> Result<Self> {
        let keys = column.as_dictionary_opt::<UInt32Type>().ok_or_else(misfit)?;
        let names: &StringArray = keys.values().as_string_opt::<i32>().ok_or_else(misfit)?;
        let meanings = names.iter().map(|name| name.and_then(&meaning)).collect();
        Ok(Self { keys: keys.keys().clone(), meanings })
    }

    /// True when no name of the batch means anything.
    pub fn mean_nothing(&self) -> bool {
        self.meanings.iter().all(Option::is_none)
    }

    /// What the name of a row means; `None` where there is none, or it means nothing.
    pub fn get(&self, row: usize) -> Option<T> {
        if self.keys.is_null(row) {
            return None;
        }
        self.meanings.get(self.keys.value(row) as usize).copied().flatten()
    }
}

pub(super) fn misfit() -> Error {
    Error::new(ErrorKind::Bug, "rows for a picture do not have the columns that were asked for")
}
