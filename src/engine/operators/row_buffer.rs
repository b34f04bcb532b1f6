//! Rows that are held until later rows come, in the batches they came in: a batch is held as long as one of
//! its rows is. Not for why they are held.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;

/// With more batches than this, the held rows are copied.
const MAX_BATCHES: usize = 32;

/// A reference to a row: the number of the batch, and the row in it.
pub(in crate::engine) type RowRef = (u32, u32);

/// No row: NULL in all columns.
pub(in crate::engine) const NO_ROW: RowRef = (u32::MAX, 0);

/// A batch of which rows are held, or are being read.
#[derive(Debug)]
pub(super) struct BufferedBatch {
    pub rows: RecordBatch,
    held: usize,
    /// For each row, whether it has been marked; empty if rows are not marked.
    pub marked: Vec<bool>,
}

#[derive(Debug)]
pub(in crate::engine) struct RowBuffer {
    schema: SchemaRef,
    batches: Vec<Option<BufferedBatch>>,
    /// The current batch: it stays, even if none of its rows is held.
    reading: u32,
    held: usize,
    marking: bool,
}

impl RowBuffer {
    /// `marking`: rows can be marked.
    pub fn new(schema: SchemaRef, marking: bool) -> Self {
        Self { schema, batches: Vec::new(), reading: u32::MAX, held: 0, marking }
    }

    pub fn read(&mut self, rows: RecordBatch) {
        let marked = vec![false; if self.marking { rows.num_rows() } else { 0 }];
        self.reading = self.put(BufferedBatch { rows, held: 0, marked });
    }

    fn put(&mut self, batch: BufferedBatch) -> u32 {
        let free = self.batches.iter().position(Option::is_none).unwrap_or(self.batches.len());
        match self.batches.get_mut(free) {
            Some(slot) => *slot = Some(batch),
            None => self.batches.push(Some(batch)),
        }
        free as u32
    }

    pub fn end(&mut self) {
        self.reading = u32::MAX;
    }

    /// A reference to a row of the current batch.
    #[inline]
    pub fn place(&self, row: usize) -> RowRef {
        (self.reading, row as u32)
    }

    #[inline]
    pub fn hold(&mut self, place: RowRef) {
        self.held += 1;
        if let Some(Some(batch)) = self.batches.get_mut(place.0 as usize) {
            batch.held += 1;
        }
    }

    #[inline]
    pub fn release(&mut self, place: RowRef) {
        self.held -= 1;
        if let Some(Some(batch)) = self.batches.get_mut(place.0 as usize) {
            batch.held -= 1;
        }
    }

    pub fn held(&self) -> usize {
        self.held
    }

    pub fn mark(&mut self, place: RowRef) {
        if let Some(Some(batch)) = self.batches.get_mut(place.0 as usize)
            && let Some(marked) = batch.marked.get_mut(place.1 as usize)
        {
            *marked = true;
        }
    }

    /// Whether there are enough batches to [`compact`](Self::compact) them.
    pub fn too_many(&self) -> bool {
        self.batches.iter().flatten().count() > MAX_BATCHES
    }

    pub fn memory(&self) -> usize {
        let of = |batch: &BufferedBatch| batch.rows.get_array_memory_size() + batch.marked.len();
        self.batches.iter().flatten().map(of).sum()
    }

    /// Some columns of some rows, in the order of `places`.
    pub fn rows(&self, places: &[RowRef], columns: impl IntoIterator<Item = usize>) -> Result<Vec<ArrayRef>> {
        let mut index_of = vec![usize::MAX; self.batches.len()];
        let mut used: Vec<&RecordBatch> = Vec::new();
        let mut rows = Vec::with_capacity(places.len());
        let mut nulls = false;
        for (number, row) in places {
            let Some(Some(batch)) = self.batches.get(*number as usize) else {
                nulls = true;
                rows.push((usize::MAX, 0));
                continue;
            };
            let index = &mut index_of[*number as usize];
            if *index == usize::MAX {
                *index = used.len();
                used.push(&batch.rows);
            }
            rows.push((*index, *row as usize));
        }
        if nulls {
            // The row of NULL comes after the others.
            rows.iter_mut()
                .filter(|(batch, _)| *batch == usize::MAX)
                .for_each(|(batch, _)| *batch = used.len());
        }
        let column = |i: usize| {
            let null = nulls.then(|| new_null_array(self.schema.field(i).data_type(), 1));
            let arrays = used.iter().map(|batch| batch.column(i)).chain(&null);
            let arrays: Vec<&dyn Array> = arrays.map(AsRef::as_ref).collect();
            match arrays.is_empty() {
                true => Ok(new_null_array(self.schema.field(i).data_type(), 0)),
                false => interleave(&arrays, &rows),
            }
        };
        Ok(columns.into_iter().map(column).collect::<Result<_, _>>()?)
    }

    /// Removes the batches without held rows, and returns them.
    pub fn release_batches(&mut self) -> Vec<BufferedBatch> {
        let reading = self.reading as usize;
        let batches = self.batches.iter_mut().enumerate();
        let idle = batches.filter(|(i, b)| *i != reading && b.as_ref().is_some_and(|b| b.held == 0));
        idle.filter_map(|(_, batch)| batch.take()).collect()
    }

    /// Copies the held rows into one batch, so that no batch is held for some of its rows only. `held`: the
    /// references to all of them; they are updated. The other batches are removed and returned, with their
    /// copied rows marked with `copied`.
    pub fn compact(&mut self, held: &mut [&mut RowRef], copied: bool) -> Result<Vec<BufferedBatch>> {
        let places: Vec<RowRef> = held.iter().map(|place| **place).collect();
        let columns = self.rows(&places, 0..self.schema.fields().len())?;
        let mut marked = Vec::new();
        for (batch, row) in &places {
            let Some(Some(batch)) = self.batches.get_mut(*batch as usize) else { continue };
            batch.held -= 1;
            marked
                .extend(batch.marked.get_mut(*row as usize).map(|marked| std::mem::replace(marked, copied)));
        }
        let left = self.release_batches();
        if !places.is_empty() {
            let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
            let compacted = self.put(BufferedBatch { rows, held: places.len(), marked });
            held.iter_mut().zip(0..).for_each(|(place, row)| **place = (compacted, row));
        }
        Ok(left)
    }
}
