//! Rows that are held back, in the batches they came in: a batch is held as long as a row of it is. Not for why they are.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;

/// With more batches than this held for a few of their rows, these are copied.
const MANY: usize = 32;

/// Where a row is: the number of the batch, and the row in it.
pub(in crate::engine) type Place = (u32, u32);

/// No row at all: NULL in all columns.
pub(in crate::engine) const NOWHERE: Place = (u32::MAX, 0);

/// A batch of which rows are held, or are being read.
#[derive(Debug)]
pub(super) struct Batch {
    pub rows: RecordBatch,
    held: usize,
    /// Of each row, whether it has been marked; of none where nobody marks.
    pub marked: Vec<bool>,
}

/// See the module.
#[derive(Debug)]
pub(in crate::engine) struct Kept {
    schema: SchemaRef,
    batches: Vec<Option<Batch>>,
    /// The batch that is being read: it is kept, whether rows of it are held or not.
    reading: u32,
    held: usize,
    marking: bool,
}

impl Kept {
    /// `marking`: rows can be marked.
    pub fn new(schema: SchemaRef, marking: bool) -> Self {
        Self { schema, batches: Vec::new(), reading: u32::MAX, held: 0, marking }
    }

    /// The next batch to be read, instead of the one before.
    pub fn read(&mut self, rows: RecordBatch) {
        let marked = vec![false; if self.marking { rows.num_rows() } else { 0 }];
        self.reading = self.put(Batch { rows, held: 0, marked });
    }

    fn put(&mut self, batch: Batch) -> u32 {
        let free = self.batches.iter().position(Option::is_none).unwrap_or(self.batches.len());
        match self.batches.get_mut(free) {
            Some(slot) => *slot = Some(batch),
            None => self.batches.push(Some(batch)),
        }
        free as u32
    }

    /// There is nothing more to be read.
    pub fn end(&mut self) {
        self.reading = u32::MAX;
    }

    /// Where a row of the batch is that is being read.
    #[inline]
    pub fn place(&self, row: usize) -> Place {
        (self.reading, row as u32)
    }

    #[inline]
    pub fn hold(&mut self, place: Place) {
        self.held += 1;
        if let Some(Some(batch)) = self.batches.get_mut(place.0 as usize) {
            batch.held += 1;
        }
    }

    #[inline]
    pub fn release(&mut self, place: Place) {
        self.held -= 1;
        if let Some(Some(batch)) = self.batches.get_mut(place.0 as usize) {
            batch.held -= 1;
        }
    }

    /// Rows that are held.
    pub fn held(&self) -> usize {
        self.held
    }

    pub fn mark(&mut self, place: Place) {
        if let Some(Some(batch)) = self.batches.get_mut(place.0 as usize)
            && let Some(marked) = batch.marked.get_mut(place.1 as usize)
        {
            *marked = true;
        }
    }

    /// Whether so many batches are kept that it is time to [`gather`](Self::gather).
    pub fn too_many(&self) -> bool {
        self.batches.iter().flatten().count() > MANY
    }

    /// Bytes of the batches that are kept.
    pub fn memory(&self) -> usize {
        let of = |batch: &Batch| batch.rows.get_array_memory_size() + batch.marked.len();
        self.batches.iter().flatten().map(of).sum()
    }

    /// Some columns of some rows, in the order of `places`.
    pub fn rows(&self, places: &[Place], columns: impl IntoIterator<Item = usize>) -> Result<Vec<ArrayRef>> {
        let mut known = vec![usize::MAX; self.batches.len()];
        let mut used: Vec<&RecordBatch> = Vec::new();
        let mut rows = Vec::with_capacity(places.len());
        let mut nulls = false;
        for (batch, row) in places {
            let Some(Some(kept)) = self.batches.get(*batch as usize) else {
                nulls = true;
                rows.push((usize::MAX, 0));
                continue;
            };
            let known = &mut known[*batch as usize];
            if *known == usize::MAX {
                *known = used.len();
                used.push(&kept.rows);
            }
            rows.push((*known, *row as usize));
        }
        if nulls {
            // The row of NULL lies behind the others.
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

    /// Keeps no batch of which nothing is held; these are given away.
    pub fn forget(&mut self) -> Vec<Batch> {
        let reading = self.reading as usize;
        let batches = self.batches.iter_mut().enumerate();
        let idle = batches.filter(|(i, b)| *i != reading && b.as_ref().is_some_and(|b| b.held == 0));
        idle.filter_map(|(_, batch)| batch.take()).collect()
    }

    /// Copies the rows that are held into one batch, so that none is kept for a few rows of it. `held`: the places of all
    /// of them; they are changed. What is left of the other batches is given away, the rows that were copied being
    /// marked with `copied`.
    pub fn gather(&mut self, held: &mut [&mut Place], copied: bool) -> Result<Vec<Batch>> {
        let places: Vec<Place> = held.iter().map(|place| **place).collect();
        let columns = self.rows(&places, 0..self.schema.fields().len())?;
        let mut marked = Vec::new();
        for (batch, row) in &places {
            let Some(Some(batch)) = self.batches.get_mut(*batch as usize) else { continue };
            batch.held -= 1;
            marked
                .extend(batch.marked.get_mut(*row as usize).map(|marked| std::mem::replace(marked, copied)));
        }
        let left = self.forget();
        if !places.is_empty() {
            let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
            let gathered = self.put(Batch { rows, held: places.len(), marked });
            held.iter_mut().zip(0..).for_each(|(place, row)| **place = (gathered, row));
        }
        Ok(left)
    }
}
