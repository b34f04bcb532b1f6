//! Sorts the rows of an input by time, with one policy for times that run backwards. Small disorder is sorted
//! within a batch, or within two if a batch is held back (see [`RowOrder`]). Rows that are earlier than rows
//! that were already returned begin another file of the table (see `parts`).

use crate::diagnostics::{Diagnostic, Log, Severity};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::{Disorder, Lines, Reorder, RowOrder};
use crate::schema::{NumberView, find_column};
use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};

/// Sorts the rows of one table and core. Rows of one batch and its successor must have rising `seq`.
pub(super) struct Sorter {
    /// Name of the column that rows are sorted by.
    time: &'static str,
    order: RowOrder,
    held: Option<RecordBatch>,
    /// The latest time that was returned of the current trace.
    given: Option<i64>,
    /// Time of the previous row of the input.
    before: Option<i64>,
    /// Why the next row may be earlier: it belongs to another trace.
    why: Option<String>,
    /// How many rows were earlier than the row before them.
    pub steps_back: u64,
}

impl Sorter {
    pub fn new(time: &'static str, order: RowOrder) -> Self {
        Self { time, order, held: None, given: None, before: None, why: None, steps_back: 0 }
    }

    /// Adds the next rows of the input; appends sorted ones to `out`.
    pub fn push(&mut self, batch: RecordBatch, out: &mut Vec<RecordBatch>) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = if self.order == RowOrder::AsGiven { batch } else { self.sorted(batch)? };
        if self.order != RowOrder::AcrossBatches {
            out.push(batch);
            return Ok(());
        }
        let low = self.times(&batch)?.first().copied().unwrap_or_default();
        if self.given.is_some_and(|given| low < given) {
            self.end_trace(out);
        }
        let Some(held) = self.held.take() else {
            self.held = Some(batch);
            return Ok(());
        };
        // Held rows of the same time come first: their seq is smaller.
        let early = self.times(&held)?.partition_point(|t| *t <= low);
        let late = held.num_rows() - early;
        self.give(held.slice(0, early), out)?;
        self.held = Some(match late {
            0 => batch,
            _ => {
                let joined = concat_batches(batch.schema_ref(), [&held.slice(early, late), &batch]);
                self.sorted(joined.map_err(broken)?)?
            }
        });
        Ok(())
    }

    /// Notes where the times of the next rows run backwards, before they are sorted.
    pub fn note_steps_back(
        &mut self,
        batch: &RecordBatch,
        lines: Option<&Lines>,
        (source, disorder): (&str, Disorder),
        log: &mut Log,
    ) -> Result<()> {
        let times = self.times(batch)?;
        let mut why = self.why.take();
        let follows = self.before.zip(times.first()).is_none_or(|(before, first)| before <= *first);
        if follows && times.is_sorted() {
            self.before = times.last().copied().or(self.before);
            return Ok(());
        }
        for (row, time) in times.iter().enumerate() {
            let Some(before) = self.before.replace(*time).filter(|before| time < before) else { continue };
            self.steps_back += 1;
            let why = why.take().map_or(String::new(), |why| format!(": {why}"));
            if let Disorder::Fault(severity) = disorder {
                log.push(Diagnostic {
                    source: source.to_owned(),
                    line: lines.map(|lines| lines.line(row)),
                    severity,
                    code: STEPS_BACK,
                    message: format!(
                        "time runs backwards by {} ticks, to {time}{why}",
                        before.abs_diff(*time)
                    ),
                    text: String::new(),
                });
            }
        }
        Ok(())
    }

    /// What follows is another trace, for this reason.
    pub fn begin_another(&mut self, why: String, out: &mut Vec<RecordBatch>) {
        self.end_trace(out);
        self.why = Some(why);
    }

    /// What follows is another trace, whatever its times.
    pub fn end_trace(&mut self, out: &mut Vec<RecordBatch>) {
        out.extend(self.held.take());
        self.given = None;
    }

    fn give(&mut self, batch: RecordBatch, out: &mut Vec<RecordBatch>) -> Result<()> {
        if let Some(last) = self.times(&batch)?.last() {
            self.given = Some(*last);
            out.push(batch);
        }
        Ok(())
    }

    fn sorted(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let times = self.times(&batch)?;
        if times.is_sorted() {
            return Ok(batch);
        }
        let mut order: Vec<u32> = (0..batch.num_rows() as u32).collect();
        Reorder::of(times).apply(&mut order);
        take_record_batch(&batch, &UInt32Array::from(order)).map_err(broken)
    }

    fn times<'b>(&self, batch: &'b RecordBatch) -> Result<&'b [i64]> {
        Ok(find_column::<NumberView<'_, i64>>(batch, "rows to be ordered", self.time)?.values())
    }
}

/// The code of findings about times that run backwards.
pub(super) const STEPS_BACK: &str = "time-backwards";

/// Reports how often time ran backwards, for formats where that is expected.
pub(super) fn note_expected(count: u64, source: &str, log: &mut Log) {
    log.push(Diagnostic {
        source: source.to_owned(),
        line: None,
        severity: Severity::Info,
        code: STEPS_BACK,
        message: format!(
            "time runs backwards {count} times, as where processors are listed one after the other; rows are in the order of time"
        ),
        text: String::new(),
    });
}

fn broken(error: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Bug, "rows cannot be put in order").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FunctionEventRow, FunctionEventRows};
    use arrow::array::AsArray as _;
    use arrow::datatypes::Int64Type;
    use proptest::prelude::*;

    /// The batches of (time, seq) for `chunks` of times.
    fn batches(order: RowOrder, chunks: &[Vec<i64>]) -> Vec<Vec<(i64, i64)>> {
        let (mut sorter, mut out, mut seq) = (Sorter::new("time", order), Vec::new(), 0);
        for chunk in chunks {
            let mut rows = FunctionEventRows::new();
            for time in chunk {
                rows.push(FunctionEventRow { time: *time, seq, function: "f".into(), kind: "entry".into() });
                seq += 1;
            }
            sorter.push(rows.take_batch().unwrap(), &mut out).unwrap();
        }
        sorter.end_trace(&mut out);
        let rows = |batch: &RecordBatch| {
            let column =
                |n: &str| batch.column_by_name(n).unwrap().as_primitive::<Int64Type>().values().to_vec();
            column("time").into_iter().zip(column("seq")).collect()
        };
        out.iter().map(rows).collect()
    }

    #[test]
    fn disorder_is_put_right_within_a_batch_or_two() {
        let chunks = [vec![1, 5, 4], vec![3, 6]];
        let across = batches(RowOrder::AcrossBatches, &chunks).concat();
        assert_eq!(across, [(1, 0), (3, 3), (4, 2), (5, 1), (6, 4)]);
        let within = batches(RowOrder::WithinBatches, &chunks);
        assert_eq!(within, [vec![(1, 0), (4, 2), (5, 1)], vec![(3, 3), (6, 4)]]);
        assert_eq!(batches(RowOrder::AsGiven, &chunks)[0], [(1, 0), (5, 1), (4, 2)]);
    }

    #[test]
    fn a_step_back_is_noted_where_it_is_a_fault() {
        let mut rows = FunctionEventRows::new();
        for (seq, time) in [3, 5, 4, 4, 2].into_iter().enumerate() {
            rows.push(FunctionEventRow { time, seq: seq as i64, function: "f".into(), kind: "entry".into() });
        }
        let batch = rows.take_batch().unwrap();
        for (disorder, found) in [(Disorder::Fault(Severity::Error), 4), (Disorder::Expected, 0)] {
            let (mut sorter, mut log) = (Sorter::new("time", RowOrder::WithinBatches), Log::default());
            for _ in 0..2 {
                sorter.note_steps_back(&batch, None, ("f", disorder), &mut log).unwrap();
            }
            // From 5 to 4 and from 4 to 2, twice; 3 after 2 is no step back.
            assert_eq!((sorter.steps_back, log.count_of(STEPS_BACK)), (4, found));
        }
    }

    proptest! {
        #[test]
        fn every_row_comes_out_once_in_sorted_batches(
            chunks in prop::collection::vec(prop::collection::vec(0i64..40, 0..12), 0..12),
        ) {
            for order in [RowOrder::WithinBatches, RowOrder::AcrossBatches] {
                let batches = batches(order, &chunks);
                for batch in &batches {
                    prop_assert!(batch.is_sorted());
                }
                let mut seqs: Vec<i64> = batches.iter().flatten().map(|(_, seq)| *seq).collect();
                seqs.sort_unstable();
                prop_assert_eq!(seqs, (0..chunks.iter().map(Vec::len).sum::<usize>() as i64).collect::<Vec<_>>());
            }
        }
    }
}
