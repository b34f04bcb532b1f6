//! Rows in the order of a file to rows in the order of time. Holds one batch back, so that small disorder (cores that are
//! written one after the other) is put right; what comes later than that begins a new sorted run.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::Optional;
use arrow::array::{AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::Int64Type;

/// What puts rows into the order of their times, rows of one instant staying as they are: only those are moved that have
/// to be, which mostly are a few.
pub(super) struct Reorder(Vec<Stretch>);

/// Rows from `begin` on become those of `rows`.
struct Stretch {
    begin: usize,
    rows: Vec<usize>,
}

impl Reorder {
    /// Looks for rows that are out of order.
    pub fn of(times: &[i64]) -> Self {
        if times.is_sorted() {
            return Self(Vec::new());
        }
        // Rows can be told apart from those behind where none of these is earlier.
        let mut earliest_from = times.to_vec();
        let mut earliest = i64::MAX;
        for time in earliest_from.iter_mut().rev() {
            earliest = earliest.min(*time);
            *time = earliest;
        }
        let (mut stretches, mut begin, mut latest) = (Vec::new(), 0, i64::MIN);
        for (row, time) in times.iter().enumerate() {
            latest = latest.max(*time);
            if earliest_from.get(row + 1).is_none_or(|behind| latest <= *behind) {
                if row > begin {
                    let mut rows: Vec<usize> = (begin..=row).collect();
                    rows.sort_by_key(|row| times.get(*row).copied());
                    stretches.push(Stretch { begin, rows });
                }
                (begin, latest) = (row + 1, i64::MIN);
            }
        }
        Self(stretches)
    }

    /// Moves the rows of a column.
    pub fn apply<T: Copy>(&self, column: &mut [T]) {
        for Stretch { begin, rows } in &self.0 {
            let moved: Vec<T> = rows.iter().filter_map(|row| column.get(*row).copied()).collect();
            column.iter_mut().skip(*begin).zip(moved).for_each(|(row, moved)| *row = moved);
        }
    }

    /// Moves the rows of a column that may have none.
    pub fn apply_optional<T: Copy + Default>(&self, column: &mut Optional<T>) {
        let (numbers, valid) = column.parts_mut();
        self.apply(numbers);
        self.apply(valid);
    }
}

/// What comes out.
#[derive(Clone)]
pub(super) enum Ordered {
    /// Rows sorted by (time, seq), none earlier than those before in the same run.
    Rows(RecordBatch),
    /// The next rows begin a new sorted run.
    NewRun,
}

/// See the module. Rows of one batch and its successor must have rising `seq`.
pub(super) struct Orderer {
    time: &'static str,
    held: Option<RecordBatch>,
    /// The latest time given away in this run.
    given: Option<i64>,
}

impl Orderer {
    /// `time` is the name of the column of times.
    pub fn new(time: &'static str) -> Self {
        Self { time, held: None, given: None }
    }

    /// Takes the next rows of the file.
    ///
    /// # Errors
    /// [`ErrorKind::Bug`] when the batch has no such column of times.
    pub fn push(&mut self, batch: RecordBatch, out: &mut Vec<Ordered>) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = self.sorted(batch)?;
        let low = self.times(&batch)?.values().first().copied().unwrap_or_default();
        if self.given.is_some_and(|given| low < given) {
            self.end_run(out);
        }
        let Some(held) = self.held.take() else {
            self.held = Some(batch);
            return Ok(());
        };
        // Held rows of the same time come first: their seq is smaller.
        let early = self.times(&held)?.values().partition_point(|t| *t <= low);
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

    /// What follows belongs to another run, whatever its times.
    pub fn end_run(&mut self, out: &mut Vec<Ordered>) {
        let rest = self.held.take().map(Ordered::Rows);
        let any = rest.is_some() || self.given.is_some();
        out.extend(rest);
        if any {
            out.push(Ordered::NewRun);
        }
        self.given = None;
    }

    /// The rows that are left.
    pub fn finish(&mut self) -> Option<RecordBatch> {
        self.held.take()
    }

    fn give(&mut self, batch: RecordBatch, out: &mut Vec<Ordered>) -> Result<()> {
        if let Some(last) = self.times(&batch)?.values().last() {
            self.given = Some(*last);
            out.push(Ordered::Rows(batch));
        }
        Ok(())
    }

    fn sorted(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let times = self.times(&batch)?.values();
        if times.is_sorted() {
            return Ok(batch);
        }
        let mut order: Vec<u32> = (0..batch.num_rows() as u32).collect();
        order.sort_by_key(|row| times.get(*row as usize).copied());
        take_record_batch(&batch, &UInt32Array::from(order)).map_err(broken)
    }

    fn times<'b>(&self, batch: &'b RecordBatch) -> Result<&'b Int64Array> {
        let times = batch.column_by_name(self.time).and_then(|c| c.as_primitive_opt::<Int64Type>());
        times.ok_or_else(|| Error::new(ErrorKind::Bug, "rows to be ordered have no times"))
    }
}

fn broken(error: arrow::error::ArrowError) -> Error {
    Error::new(ErrorKind::Bug, "rows cannot be put in order").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FunctionEventRow, FunctionEventRows};
    use proptest::prelude::*;

    /// Runs of (time, seq) that come out when `chunks` of times go in.
    fn runs(chunks: &[Vec<i64>]) -> Vec<Vec<(i64, i64)>> {
        let (mut orderer, mut out, mut seq) = (Orderer::new("time"), Vec::new(), 0);
        for chunk in chunks {
            let mut rows = FunctionEventRows::new();
            for time in chunk {
                rows.push(FunctionEventRow { time: *time, seq, function: "f".into(), kind: "entry".into() });
                seq += 1;
            }
            orderer.push(rows.take_batch().unwrap(), &mut out).unwrap();
        }
        out.extend(orderer.finish().map(Ordered::Rows));
        let mut runs = vec![Vec::new()];
        for ordered in out {
            match ordered {
                Ordered::NewRun => runs.push(Vec::new()),
                Ordered::Rows(batch) => {
                    let column = |n: &str| {
                        batch.column_by_name(n).unwrap().as_primitive::<Int64Type>().values().to_vec()
                    };
                    runs.last_mut().unwrap().extend(column("time").into_iter().zip(column("seq")));
                }
            }
        }
        runs
    }

    #[test]
    fn small_disorder_is_put_right_and_great_disorder_begins_a_run() {
        assert_eq!(runs(&[vec![1, 5, 4], vec![3, 6]]), [[(1, 0), (3, 3), (4, 2), (5, 1), (6, 4)]]);
        assert_eq!(runs(&[vec![7], vec![8], vec![9], vec![1]]).len(), 2);
    }

    proptest! {
        #[test]
        fn rows_are_moved_into_order(times in prop::collection::vec(0i64..30, 0..40)) {
            let mut rows: Vec<(i64, usize)> = times.iter().copied().zip(0..).collect();
            let reorder = Reorder::of(&times);
            prop_assert!(reorder.0.iter().all(|s| s.rows.first() != Some(&s.begin) || s.rows.len() > 1));
            reorder.apply(&mut rows);
            let mut expected = rows.clone();
            expected.sort();
            prop_assert_eq!(rows, expected);
        }

        #[test]
        fn every_row_comes_out_once_in_sorted_runs(chunks in prop::collection::vec(prop::collection::vec(0i64..40, 0..12), 0..12)) {
            let runs = runs(&chunks);
            for run in &runs {
                prop_assert!(run.is_sorted());
            }
            let mut seqs: Vec<i64> = runs.iter().flatten().map(|(_, seq)| *seq).collect();
            seqs.sort_unstable();
            prop_assert_eq!(seqs, (0..chunks.iter().map(Vec::len).sum::<usize>() as i64).collect::<Vec<_>>());
        }
    }
}
