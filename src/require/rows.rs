//! Rows of a result of which single values are read. Not for columns that are read as a whole.

use arrow::array::RecordBatch;

use crate::error::Result;
use crate::schema::result::{self, Fractions, Integers, Texts};

/// See the module.
pub(super) struct Rows(pub RecordBatch);

impl Rows {
    pub fn text(&self, name: &str, row: usize) -> Result<String> {
        Ok(result::column::<Texts>(&self.0, name)?.value(row).to_owned())
    }

    pub fn number(&self, name: &str, row: usize) -> Result<Option<f64>> {
        Ok(result::column::<Fractions>(&self.0, name)?.get(row))
    }

    pub fn integer(&self, name: &str, row: usize) -> Result<Option<i64>> {
        Ok(result::column::<Integers>(&self.0, name)?.get(row))
    }
}
