//! Sorts rows that are in the order of time by `seq`, in a window of rows instead of all of them. Times that
//! run backwards do so by little; otherwise the window grows with the distance.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::columns::btf_event::SEQ;
use crate::schema::{NumberView, find_column};
use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use std::collections::VecDeque;

/// A run of at least this many ordered rows is returned as it is; shorter runs are sorted together.
const RUN: usize = if cfg!(test) { 8 } else { 1024 };

/// Batches in the order of their column `seq`, which numbers the rows from 0 without holes.
pub struct Resequenced<I> {
    batches: I,
    /// Rows in their final order, to be returned next.
    ready: VecDeque<RecordBatch>,
    /// Rows that wait for lower numbers, and all that came after them.
    held: Vec<RecordBatch>,
    /// The number of held rows, and the highest `seq` among them.
    waiting: i64,
    highest: i64,
    /// The lowest number that was not returned.
    next: i64,
}

impl<I: Iterator<Item = Result<RecordBatch>>> Resequenced<I> {
    /// Returns them in the order of `seq`.
    pub fn new(batches: I) -> Self {
        let (ready, held) = (VecDeque::new(), Vec::new());
        Self { batches, ready, held, waiting: 0, highest: 0, next: 0 }
    }

    /// Rows wait for all lower numbers. Then they are settled: once sorted, they can be returned.
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        // Rows before `passed` are ready. Rows from `settled` on are in order up to `opened`, which is not.
        let (mut passed, mut settled, mut opened) = (0, 0, None);
        for (row, number) in numbers(batch)?.iter().enumerate() {
            if self.waiting == 0 {
                if *number == self.next {
                    self.next = self.next.saturating_add(1);
                    continue;
                }
                if row - settled >= RUN {
                    self.sort(batch.slice(passed, settled - passed))?;
                    self.ready.push_back(batch.slice(settled, row - settled));
                    passed = row;
                }
                (opened, self.highest) = (Some(row), *number);
            }
            self.waiting += 1;
            self.highest = self.highest.max(*number);
            if self.highest.saturating_sub(self.next) < self.waiting {
                (self.next, self.waiting) = (self.highest.saturating_add(1), 0);
                settled = row + 1;
            }
        }
        let rows = batch.num_rows();
        if self.waiting == 0 {
            self.sort(batch.slice(passed, settled - passed))?;
            self.ready.push_back(batch.slice(settled, rows - settled));
            return Ok(());
        }
        if let Some(opened) = opened {
            self.sort(batch.slice(passed, opened - passed))?;
            passed = opened;
        }
        self.held.push(batch.slice(passed, rows - passed));
        Ok(())
    }

    /// Sorts the held rows and `rows`, and makes them ready.
    fn sort(&mut self, rows: RecordBatch) -> Result<()> {
        if self.held.is_empty() && rows.num_rows() == 0 {
            return Ok(());
        }
        let schema = rows.schema();
        self.held.push(rows);
        let all = concat_batches(&schema, &self.held).map_err(broken)?;
        self.held.clear();
        let values = numbers(&all)?;
        let mut order: Vec<u32> = (0..all.num_rows() as u32).collect();
        // Nearly sorted, which this sort is quick at.
        order.sort_by_key(|row| values.get(*row as usize).copied());
        self.ready.push_back(take_record_batch(&all, &UInt32Array::from(order)).map_err(broken)?);
        Ok(())
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Resequenced<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.ready.pop_front() {
                Some(batch) if batch.num_rows() == 0 => continue,
                Some(batch) => return Some(Ok(batch)),
                None => {}
            }
            let taken = match self.batches.next() {
                Some(batch) => batch.and_then(|batch| self.take(&batch)),
                // Numbers are missing: the rows that wait for them are sorted.
                None => match self.held.pop() {
                    Some(last) => self.sort(last),
                    None => return None,
                },
            };
            if let Err(e) = taken {
                return Some(Err(e));
            }
        }
    }
}

fn numbers(batch: &RecordBatch) -> Result<&[i64]> {
    Ok(find_column::<NumberView<'_, i64>>(batch, "numbered rows", SEQ)?.values())
}

fn broken(error: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Bug, "rows cannot be put in order").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, AsArray as _, Int64Array, StringViewArray};
    use proptest::prelude::*;
    use std::sync::Arc;

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
