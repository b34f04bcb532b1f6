//! Merges several streams of stored rows, each in the order of (time, seq). Not what the rows mean.

use crate::error::Result;
use arrow::array::RecordBatch;
use std::ops::ControlFlow;

/// Time and number of a row: the order of rows.
pub(super) type Place = (i64, i64);

/// What a merge must know of its streams.
pub(super) trait Stream {
    type Columns<'b>;

    fn columns<'b>(&self, batch: &'b RecordBatch) -> Result<Self::Columns<'b>>;

    /// The place of a row; `None` to skip it.
    fn place(&self, columns: &Self::Columns<'_>, row: usize) -> Option<Place>;
}

/// Passes every row of `streams` to `take`, in order, until it breaks: the number of its stream, the columns
/// of its batch, and the row. At equal places, the stream with the lower number comes first.
pub(super) fn in_order<S: Stream>(
    streams: Vec<(S, impl Iterator<Item = Result<RecordBatch>>)>,
    mut take: impl FnMut(usize, &S::Columns<'_>, usize, Place) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let (streams, batches): (Vec<S>, Vec<_>) = streams.into_iter().unzip();
    let mut batches: Vec<_> = batches.into_iter().map(Iterator::fuse).collect();
    // The current batch of each stream, and its next row.
    let mut present: Vec<Option<(RecordBatch, usize)>> = batches.iter().map(|_| None).collect();
    loop {
        for (present, batches) in present.iter_mut().zip(&mut batches) {
            if present.is_none() {
                *present = batches.next().transpose()?.map(|batch| (batch, 0));
            }
        }
        let mut cursors = Vec::new();
        for (number, (stream, present)) in streams.iter().zip(&present).enumerate() {
            if let Some((batch, row)) = present {
                cursors.push(Cursor::new(number, stream, batch, *row)?);
            }
        }
        if cursors.is_empty() {
            return Ok(());
        }
        // Until a batch ends, nothing has to be read.
        let mut ended = cursors.iter().any(|cursor| cursor.place.is_none());
        while !ended {
            let Some(first) = cursors.iter_mut().min_by_key(|cursor| cursor.place) else { break };
            let Some(place) = first.place else { break };
            if take(first.number, &first.columns, first.row, place)?.is_break() {
                return Ok(());
            }
            first.row += 1;
            first.find();
            ended = first.place.is_none();
        }
        let rows: Vec<_> = cursors.iter().map(|c| (c.number, c.place.map(|_| c.row))).collect();
        drop(cursors);
        for (number, row) in rows {
            if let Some(present) = present.get_mut(number) {
                *present = present.take().and_then(|(batch, _)| Some((batch, row?)));
            }
        }
    }
}

/// The position of a stream in its current batch.
struct Cursor<'b, S: Stream> {
    number: usize,
    stream: &'b S,
    columns: S::Columns<'b>,
    rows: usize,
    row: usize,
    /// The place of the row; `None` at the end of the batch.
    place: Option<Place>,
}

impl<'b, S: Stream> Cursor<'b, S> {
    fn new(number: usize, stream: &'b S, batch: &'b RecordBatch, row: usize) -> Result<Self> {
        let columns = stream.columns(batch)?;
        let mut cursor = Self { number, stream, columns, rows: batch.num_rows(), row, place: None };
        cursor.find();
        Ok(cursor)
    }

    /// Moves on to the next row that is not skipped.
    fn find(&mut self) {
        self.place = None;
        while self.row < self.rows {
            self.place = self.stream.place(&self.columns, self.row);
            if self.place.is_some() {
                return;
            }
            self.row += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FunctionEventRow, FunctionEventRows, FunctionEventView};
    use proptest::prelude::*;

    /// Skips rows whose time is a multiple of 3.
    struct Some2of3;

    impl Stream for Some2of3 {
        type Columns<'b> = FunctionEventView<'b>;

        fn columns<'b>(&self, batch: &'b RecordBatch) -> Result<FunctionEventView<'b>> {
            FunctionEventView::of(batch)
        }

        fn place(&self, columns: &FunctionEventView<'_>, row: usize) -> Option<Place> {
            let row = columns.row(row)?;
            (row.time % 3 != 0).then_some((row.time, row.seq))
        }
    }

    fn batches(rows: &[Place], size: usize) -> Vec<Result<RecordBatch>> {
        let batch = |rows: &[Place]| {
            let mut table = FunctionEventRows::new();
            for (time, seq) in rows {
                let (function, kind) = ("f".into(), "entry".into());
                table.push(FunctionEventRow { time: *time, seq: *seq, function, kind });
            }
            table.take_batch()
        };
        rows.chunks(size).map(batch).collect()
    }

    proptest! {
        #[test]
        fn rows_come_in_order_and_break_stops(
            streams in prop::collection::vec(prop::collection::vec(0i64..20, 0..30), 0..4),
            size in 1usize..8,
            most in 0usize..60,
        ) {
            let mut seq = 0;
            let streams: Vec<Vec<Place>> = streams.into_iter().map(|mut times| {
                times.sort_unstable();
                times.into_iter().map(|time| { seq += 1; (time, seq) }).collect()
            }).collect();
            let mut expected: Vec<Place> = streams.concat().into_iter().filter(|(time, _)| time % 3 != 0).collect();
            expected.sort_unstable();
            expected.truncate(most);
            let input = streams.iter().map(|rows| (Some2of3, batches(rows, size).into_iter())).collect();
            let mut found = Vec::new();
            in_order(input, |stream, columns, row, place| {
                if found.len() == most {
                    return Ok(ControlFlow::Break(()));
                }
                let row = columns.row(row).unwrap();
                assert_eq!((row.time, row.seq), place);
                assert!(streams[stream].contains(&place));
                found.push(place);
                Ok(ControlFlow::Continue(()))
            }).unwrap();
            prop_assert_eq!(found, expected);
        }
    }
}
