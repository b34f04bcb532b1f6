//! One side of the sweep: the rows of its current batch, those that are held, and the columns that decide on
//! a match. Not for matching.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_expr::PhysicalExpr;

use super::super::key_interner::KeyInterner;
use super::super::row_buffer::{RowBuffer, RowRef};

/// The columns of one side that decide on a match.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// Begin; the input is sorted by it.
    pub lo: Arc<dyn PhysicalExpr>,
    pub hi: Arc<dyn PhysicalExpr>,
    /// What has to be equal on both sides.
    pub keys: Vec<Arc<dyn PhysicalExpr>>,
    /// The begin has to be before the end of the other side; being equal is not enough.
    pub strict: bool,
}

/// The rows of one side that are still to come.
#[derive(Debug)]
pub(super) struct Side {
    pub bounds: Bounds,
    pub schema: SchemaRef,
    pub lo: Int64Array,
    pub hi: Int64Array,
    valid: Option<NullBuffer>,
    pub keys: Vec<u32>,
    pub next: usize,
    pub ended: bool,
    pub buffer: RowBuffer,
    pub pairs: Vec<RowRef>,
}

impl Bounds {
    #[inline]
    pub fn before(&self, lo: i64, hi_of_other: i64) -> bool {
        if self.strict { lo < hi_of_other } else { lo <= hi_of_other }
    }

    /// The columns that are keys, as text.
    fn names(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let rows = batch.num_rows();
        let name =
            |e: &Arc<dyn PhysicalExpr>| Ok(cast(&e.evaluate(batch)?.into_array(rows)?, &DataType::Utf8View)?);
        self.keys.iter().map(name).collect()
    }
}

impl Side {
    pub fn new(bounds: Bounds, schema: SchemaRef, marking: bool) -> Self {
        let none = || Int64Array::from(Vec::<i64>::new());
        Self {
            bounds,
            lo: none(),
            hi: none(),
            valid: None,
            keys: Vec::new(),
            next: 0,
            ended: false,
            buffer: RowBuffer::new(Arc::clone(&schema), marking),
            schema,
            pairs: Vec::new(),
        }
    }

    pub fn take(&mut self, batch: RecordBatch, numbers: &KeyInterner) -> Result<()> {
        let rows = batch.num_rows();
        let column = |e: &Arc<dyn PhysicalExpr>| e.evaluate(&batch)?.into_array(rows);
        let wrong = || DataFusionError::Internal("the bounds of an overlap are no integers".to_owned());
        let times = |e| column(e)?.as_primitive_opt::<Int64Type>().cloned().ok_or_else(wrong);
        (self.lo, self.hi) = (times(&self.bounds.lo)?, times(&self.bounds.hi)?);
        let names = self.bounds.names(&batch)?;
        // NULL equals nothing and overlaps nothing.
        let nulls = names.iter().map(|n| n.nulls()).chain([self.lo.nulls(), self.hi.nulls()]);
        self.valid = nulls.fold(None, |valid, nulls| NullBuffer::union(valid.as_ref(), nulls));
        self.keys = if names.is_empty() { vec![0; rows] } else { numbers.ids(&names)? };
        self.buffer.read(batch);
        self.next = 0;
        Ok(())
    }

    /// The ids of the keys of some rows.
    pub fn keys_of(&self, places: &[RowRef], numbers: &KeyInterner) -> Result<Vec<u32>> {
        let columns = self.buffer.rows(places, 0..self.schema.fields().len())?;
        let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
        let rows = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        let names = self.bounds.names(&rows)?;
        if names.is_empty() { Ok(vec![0; places.len()]) } else { numbers.ids(&names) }
    }

    pub fn end(&mut self) {
        self.ended = true;
        self.next = self.lo.len();
        self.buffer.end();
    }

    /// The begin of the next row; rows with NULL are skipped.
    #[inline]
    pub fn head(&mut self) -> Option<i64> {
        while let Some(lo) = self.lo.values().get(self.next) {
            if self.valid.as_ref().is_none_or(|valid| valid.is_valid(self.next)) {
                return Some(*lo);
            }
            self.next += 1;
        }
        None
    }
}
