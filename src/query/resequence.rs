//! Rows that lie in the order of time, in the order of `seq`: a window of rows instead of a sort of all of them. Times
//! that run backwards do so by little; where they do not, the window grows with the distance.

use crate::error::{Error, ErrorKind, Result};
use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::Int64Type;
use std::sync::Arc;

/// Batches in the order of their first column, which numbers the rows from 0 without holes.
pub struct Resequenced<I> {
    batches: I,
    /// Rows whose turn has not come.
    early: Option<RecordBatch>,
    next: i64,
}

impl<I: Iterator<Item = Result<RecordBatch>>> Resequenced<I> {
    /// `batches` has the number of the row in its first column.
    pub fn new(batches: I) -> Self {
        Self { batches, early: None, next: 0 }
    }

    /// The rows whose turn it is, after `batch` came; the others wait.
    fn take(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let in_turn = |batch: &RecordBatch| {
            Some(numbers(batch)?.iter().zip(self.next..).all(|(number, next)| *number == next))
        };
        if self.early.is_none() && in_turn(&batch).ok_or_else(misfit)? {
            self.next += batch.num_rows() as i64;
            return Ok(Some(batch));
        }
        let batch = match self.early.take() {
            Some(early) => concat_batches(batch.schema_ref(), [&early, &batch]).map_err(broken)?,
            None => batch,
        };
        let values = numbers(&batch).ok_or_else(misfit)?;
        let mut order: Vec<u32> = (0..batch.num_rows() as u32).collect();
        // Nearly sorted, which this sort is quick at.
        order.sort_by_key(|row| values.get(*row as usize).copied());
        let ready =
            order.iter().zip(self.next..).take_while(|(row, next)| values.get(**row as usize) == Some(next));
        let ready = ready.count();
        self.next += ready as i64;
        let (now, later) = order.split_at(ready);
        if !later.is_empty() {
            self.early = Some(compact(&pick(&batch, later)?)?);
        }
        if now.is_empty() { Ok(None) } else { pick(&batch, now).map(Some) }
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Resequenced<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(batch) = self.batches.next() else {
                // Numbers were missing: what waits for them is sorted.
                return self.early.take().map(Ok);
            };
            match batch.and_then(|batch| self.take(batch)) {
                Ok(Some(batch)) => return Some(Ok(batch)),
                Ok(None) => {}
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

fn numbers(batch: &RecordBatch) -> Option<&[i64]> {
    batch.columns().first()?.as_primitive_opt::<Int64Type>().map(|n| &n.values()[..])
}

fn pick(batch: &RecordBatch, rows: &[u32]) -> Result<RecordBatch> {
    take_record_batch(batch, &UInt32Array::from(rows.to_vec())).map_err(broken)
}

/// The same rows without the texts of those that were taken out, which would pile up from batch to batch.
fn compact(batch: &RecordBatch) -> Result<RecordBatch> {
    let column = |c: &ArrayRef| match c.as_string_view_opt() {
        Some(views) => Arc::new(views.gc()) as ArrayRef,
        None => Arc::clone(c),
    };
    RecordBatch::try_new(batch.schema(), batch.columns().iter().map(column).collect()).map_err(broken)
}

fn misfit() -> Error {
    Error::new(ErrorKind::Bug, "rows to be numbered have no numbers")
}

fn broken(error: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Bug, "rows cannot be put in order").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StringViewArray};
    use proptest::prelude::*;

    fn batch(rows: &[i64]) -> RecordBatch {
        let texts = rows.iter().map(|n| Some(format!("the text of row number {n}")));
        let columns: [(&str, ArrayRef); 2] = [
            ("seq", Arc::new(Int64Array::from(rows.to_vec()))),
            ("text", Arc::new(texts.collect::<StringViewArray>())),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    proptest! {
        #[test]
        fn rows_come_in_turn_whatever_their_order(
            keys in prop::collection::vec(0u32..1000, 0..200), size in 1usize..50
        ) {
            let mut order: Vec<i64> = (0..keys.len() as i64).collect();
            order.sort_by_key(|n| keys[*n as usize] / 40 + *n as u32);
            let batches: Vec<_> = order.chunks(size).map(|c| Ok(batch(c))).collect();
            let mut seen = Vec::new();
            for batch in Resequenced::new(batches.into_iter()) {
                let batch = batch.unwrap();
                let texts = batch.column(1).as_string_view();
                for (n, number) in numbers(&batch).unwrap().iter().enumerate() {
                    prop_assert_eq!(texts.value(n), format!("the text of row number {number}"));
                    seen.push(*number);
                }
            }
            prop_assert_eq!(seen, (0..keys.len() as i64).collect::<Vec<_>>());
        }
    }
}
