//! The files of a table and core as one stream of batches in the order of (time, seq). Normally they follow
//! each other; if time ran backwards in the input they overlap, and are merged. Does not know what the rows
//! mean.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::{NumberView, TableSpec, find_column};
use crate::store::{FileEntry, Place, read_batches};
use arrow::array::RecordBatch;
use arrow::compute::interleave_record_batch;

const BATCH_ROWS: usize = 16 * 1024;

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The rows of `files`, each of which is sorted, in the order of `time` and `seq`. A file is opened when its
/// rows are needed. Of the other columns, only `columns` are read.
pub(super) fn in_order(
    files: Vec<(FileEntry, Place)>,
    table: &'static TableSpec,
    columns: &'static [&'static str],
) -> impl Iterator<Item = Result<RecordBatch>> + Send {
    let spans = files.into_iter().map(|(file, path)| ((file.begin_at, file.end_at), path));
    let open = move |paths: Vec<Place>| -> Batches {
        let sequence = (paths.len() > 1).then_some([table.sort, columns].concat());
        let read = |path: &Place| -> Result<Batches> {
            let columns = sequence.as_deref().unwrap_or(columns);
            Ok(Box::new(read_batches(path, table, Some(columns), BATCH_ROWS)?))
        };
        match paths.iter().map(read).collect::<Result<Vec<_>>>() {
            Err(e) => Box::new(std::iter::once(Err(e))),
            Ok(runs) => match <[Batches; 1]>::try_from(runs) {
                Ok([only]) => only,
                Err(runs) => Box::new(Merged::new(runs, table)),
            },
        }
    };
    groups(spans).into_iter().flat_map(open)
}

/// Groups files that overlap, given with their first and last times in the order of their parts; the groups
/// follow each other. At one instant, rows of an earlier part have the smaller `seq`.
fn groups<F>(files: impl Iterator<Item = ((Option<i64>, Option<i64>), F)>) -> Vec<Vec<F>> {
    let mut files: Vec<_> = files.enumerate().collect();
    files.sort_by_key(|(part, ((begin, _), _))| (*begin, *part));
    let mut groups: Vec<Vec<F>> = Vec::new();
    let mut last = None;
    for (part, ((begin, end), file)) in files {
        let overlaps = last.is_some_and(|last| (begin, part) < last);
        last = last.max(Some((end, part)));
        match groups.last_mut().filter(|_| overlaps) {
            Some(group) => group.push(file),
            None => groups.push(vec![file]),
        }
    }
    groups
}

struct Merged {
    runs: Vec<Run>,
    table: &'static TableSpec,
    failed: bool,
}

struct Run {
    batches: Batches,
    /// The present batch, and its first row that is still to come; `None` at the end.
    now: Option<(RecordBatch, usize)>,
}

/// The times and sequence numbers of a batch.
type Order<'a> = [&'a [i64]; 2];

impl Merged {
    fn new(runs: Vec<Batches>, table: &'static TableSpec) -> Self {
        let runs = runs.into_iter().map(|batches| Run { batches, now: None }).collect();
        Self { runs, table, failed: false }
    }

    /// The rows up to the end of the first batch that ends; `None` after the last one.
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        for run in &mut self.runs {
            run.load()?;
        }
        self.runs.retain(|run| run.now.is_some());
        let now: Vec<_> = self.runs.iter_mut().filter_map(|run| run.now.as_mut()).collect();
        if now.is_empty() {
            return Ok(None);
        }
        let orders = now.iter().map(|(batch, _)| order_of(batch, self.table)).collect::<Result<Vec<_>>>()?;
        let mut order = Vec::new();
        let mut at: Vec<usize> = now.iter().map(|(_, row)| *row).collect();
        while let Some(n) = first(&orders, &at) {
            if let Some(row) = at.get_mut(n) {
                order.push((n, *row));
                *row += 1;
            }
        }
        let batches: Vec<&RecordBatch> = now.iter().map(|(batch, _)| batch).collect();
        let rows = interleave_record_batch(&batches, &order)
            .map_err(|e| Error::new(ErrorKind::Bug, "cannot merge the runs of a table").because(e))?;
        now.into_iter().zip(at).for_each(|((_, row), at)| *row = at);
        Ok(Some(rows))
    }
}

/// The run whose row `at` comes first; `None` at the end of a batch, whose run may go on before others.
fn first(orders: &[Order<'_>], at: &[usize]) -> Option<usize> {
    let mut first = None;
    for (n, ([time, seq], row)) in orders.iter().zip(at).enumerate() {
        let key = time.get(*row).zip(seq.get(*row))?;
        if first.is_none_or(|(before, _)| key < before) {
            first = Some((key, n));
        }
    }
    first.map(|(_, n)| n)
}

/// The columns that the rows of a batch are sorted by.
fn order_of<'a>(batch: &'a RecordBatch, table: &TableSpec) -> Result<Order<'a>> {
    let column = |n: usize| {
        let name = table.sort.get(n).copied().unwrap_or_default();
        Ok(find_column::<NumberView<'_, i64>>(batch, table.name, name)?.values())
    };
    Ok([column(0)?, column(1)?])
}

impl Run {
    /// Makes sure that there is a row, unless the run has ended.
    fn load(&mut self) -> Result<()> {
        while self.now.as_ref().is_none_or(|(batch, row)| *row >= batch.num_rows()) {
            self.now = self.batches.next().transpose()?.map(|batch| (batch, 0));
            if self.now.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Iterator for Merged {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let rows = self.next_rows();
        self.failed = rows.is_err();
        rows.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{FunctionEventRow, FunctionEventRows, FunctionEventView, tables};
    use proptest::prelude::*;

    /// Which of the files with these times are merged.
    fn grouped(files: &[(i64, i64)]) -> Vec<Vec<usize>> {
        groups(files.iter().enumerate().map(|(n, (begin, end))| ((Some(*begin), Some(*end)), n)))
    }

    #[test]
    fn files_that_follow_each_other_are_not_merged() {
        assert_eq!(grouped(&[(0, 5), (5, 9), (10, 10)]), [[0], [1], [2]]);
        // The later part has earlier times, and the smaller seq at 5 is in the first part.
        assert_eq!(grouped(&[(5, 9), (0, 5)]), [[1, 0]]);
        assert_eq!(grouped(&[(6, 9), (0, 5)]), [[1], [0]]);
        assert_eq!(grouped(&[(0, 9), (1, 2), (8, 12), (12, 13)]), [vec![0, 1, 2], vec![3]]);
    }

    fn batches(rows: &[(i64, i64)], size: usize) -> Batches {
        let batches = rows.chunks(size).map(|chunk| {
            let mut rows = FunctionEventRows::new();
            for (time, seq) in chunk {
                let function = if seq % 2 == 0 { "even" } else { "odd" };
                let row = FunctionEventRow {
                    time: *time,
                    seq: *seq,
                    function: function.into(),
                    kind: "entry".into(),
                };
                rows.push(row);
            }
            rows.take_batch()
        });
        Box::new(batches.collect::<Vec<_>>().into_iter())
    }

    proptest! {
        #[test]
        fn merged_runs_are_sorted_and_complete(
            runs in prop::collection::vec(prop::collection::vec(0i64..20, 0..30), 0..4),
            size in 1usize..8,
        ) {
            let mut seq = 0;
            let runs: Vec<Vec<(i64, i64)>> = runs.into_iter().map(|mut times| {
                times.sort_unstable();
                times.into_iter().map(|time| { seq += 1; (time, seq) }).collect()
            }).collect();
            let merged = Merged::new(runs.iter().map(|r| batches(r, size)).collect(), tables::FUNCTION_EVENT);
            let mut found = Vec::new();
            for batch in merged {
                let batch = batch.unwrap();
                for row in FunctionEventView::of(&batch).unwrap().rows() {
                    prop_assert_eq!(row.function.text(), if row.seq % 2 == 0 { "even" } else { "odd" });
                    found.push((row.time, row.seq));
                }
            }
            let mut expected = runs.concat();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
