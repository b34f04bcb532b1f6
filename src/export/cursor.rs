//! Rows of a result, one after the other, with typed columns. Not for what they mean.

use crate::error::{Error, ErrorKind, Result};
use arrow::array::{Array, AsArray, Int64Array, ListArray, RecordBatch, StringViewArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};

/// A column of a batch.
enum Column {
    Int(Int64Array),
    Text(StringViewArray),
    List(ListArray),
}

/// Goes through the rows of batches. Columns are known by their place: integers, texts, or lists of integers.
pub(super) struct Cursor<I> {
    batches: I,
    columns: Vec<Column>,
    row: usize,
    rows: usize,
}

impl<I: Iterator<Item = Result<RecordBatch>>> Cursor<I> {
    /// Stands before the first row.
    pub fn new(batches: I) -> Self {
        Self { batches, columns: Vec::new(), row: 0, rows: 0 }
    }

    /// Goes to the next row; false behind the last one.
    ///
    /// # Errors
    /// Those of the batches.
    pub fn next(&mut self) -> Result<bool> {
        self.row += 1;
        while self.row >= self.rows {
            let Some(batch) = self.batches.next().transpose()? else {
                (self.row, self.rows) = (0, 0);
                self.columns.clear();
                return Ok(false);
            };
            self.columns = batch.columns().iter().map(|c| Column::of(c)).collect::<Result<_>>()?;
            (self.row, self.rows) = (0, batch.num_rows());
        }
        Ok(true)
    }

    /// The integer of a column; `None` for NULL.
    pub fn int(&self, column: usize) -> Option<i64> {
        match self.columns.get(column)? {
            Column::Int(numbers) => {
                (self.rows > 0 && numbers.is_valid(self.row)).then(|| numbers.value(self.row))
            }
            _ => None,
        }
    }

    /// The text of a column; `None` for NULL.
    pub fn text(&self, column: usize) -> Option<&str> {
        match self.columns.get(column)? {
            Column::Text(texts) => (self.rows > 0 && texts.is_valid(self.row)).then(|| texts.value(self.row)),
            _ => None,
        }
    }

    /// The name of a column; empty for NULL.
    pub fn name(&self, column: usize) -> &str {
        self.text(column).unwrap_or_default()
    }

    /// The instants of a list; those that are NULL are left out.
    pub fn list(&self, column: usize) -> Vec<i64> {
        let Some(Column::List(lists)) = self.columns.get(column) else { return Vec::new() };
        if self.rows == 0 || lists.is_null(self.row) {
            return Vec::new();
        }
        let list = lists.value(self.row);
        list.as_primitive_opt::<Int64Type>().map(|l| l.iter().flatten().collect()).unwrap_or_default()
    }
}

impl Column {
    fn of(array: &dyn Array) -> Result<Self> {
        let misfit = |e| Error::new(ErrorKind::Bug, "a column of a result has an unexpected type").because(e);
        Ok(match array.data_type() {
            DataType::List(_) => Self::List(array.as_list::<i32>().clone()),
            DataType::Int64 => Self::Int(array.as_primitive::<Int64Type>().clone()),
            DataType::Boolean | DataType::UInt64 | DataType::Int32 | DataType::UInt32 => {
                Self::Int(cast(array, &DataType::Int64).map_err(misfit)?.as_primitive::<Int64Type>().clone())
            }
            _ => Self::Text(cast(array, &DataType::Utf8View).map_err(misfit)?.as_string_view().clone()),
        })
    }
}
