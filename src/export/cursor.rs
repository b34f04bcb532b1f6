//! Rows of a result, one after the other, with typed columns. Not for what they mean.

use crate::error::Result;
use crate::schema::result::{IntegerLists, Integers, ResultColumn as _, Texts};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::DataType;

enum Column {
    Int(Integers),
    Text(Texts),
    List(IntegerLists),
}

/// Iterates over the rows of batches. Columns are accessed by index: integers, texts, or lists of integers.
pub(super) struct Cursor<I> {
    batches: I,
    columns: Vec<Column>,
    row: usize,
    rows: usize,
}

impl<I: Iterator<Item = Result<RecordBatch>>> Cursor<I> {
    /// Before the first row.
    pub fn new(batches: I) -> Self {
        Self { batches, columns: Vec::new(), row: 0, rows: 0 }
    }

    /// Goes to the next row; false after the last one.
    pub fn next(&mut self) -> Result<bool> {
        self.row += 1;
        while self.row >= self.rows {
            let Some(batch) = self.batches.next().transpose()? else {
                (self.row, self.rows) = (0, 0);
                self.columns.clear();
                return Ok(false);
            };
            self.columns = batch.columns().iter().map(Column::of).collect::<Result<_>>()?;
            (self.row, self.rows) = (0, batch.num_rows());
        }
        Ok(true)
    }

    /// The integer of a column; `None` for NULL.
    pub fn int(&self, column: usize) -> Option<i64> {
        match self.columns.get(column)? {
            Column::Int(numbers) => numbers.get(self.row),
            _ => None,
        }
    }

    /// The text of a column; `None` for NULL.
    pub fn text(&self, column: usize) -> Option<&str> {
        match self.columns.get(column)? {
            Column::Text(texts) => texts.get(self.row),
            _ => None,
        }
    }

    /// The name of a column; empty for NULL.
    pub fn name(&self, column: usize) -> &str {
        self.text(column).unwrap_or_default()
    }

    /// The instants of a list; those that are NULL are left out.
    pub fn list(&self, column: usize) -> Vec<i64> {
        match self.columns.get(column) {
            Some(Column::List(lists)) => lists.get(self.row),
            _ => Vec::new(),
        }
    }
}

impl Column {
    fn of(array: &ArrayRef) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::List(_) => Self::List(IntegerLists::read(array)?),
            ty if ty.is_integer() || *ty == DataType::Boolean => Self::Int(Integers::read(array)?),
            _ => Self::Text(Texts::read(array)?),
        })
    }
}
