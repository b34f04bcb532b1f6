//! The files of a table and core as one stream of batches in the order of (time, seq). Normally they follow
//! each other; if time ran backwards in the input they overlap, and are merged. Does not know what the rows
//! mean.

use crate::error::{Error, ErrorKind, Result};
use crate::schema::{NumberView, TableSpec, find_column};
use crate::store::{FileEntry, Place, read_batches};
use arrow::array::RecordBatch;
use arrow::compute::interleave_record_batch;
use arrow::datatypes::Schema;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

const BATCH_ROWS: usize = 16 * 1024;
/// Files that are merged share these rows, so that many of them take no more memory than a few.
const ROWS_OF_ALL: usize = 256 * 1024;
/// Smaller batches cost more than they save.
const FEWEST_ROWS: usize = 1024;

type Batches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The rows of `files`, each of which is sorted, in the order of `time` and `seq`. A file is opened when its
/// rows are needed. Of the other columns, only `columns` are read.
pub(super) fn in_order(
    files: Vec<(FileEntry, Place)>,
    table: &'static TableSpec,
    columns: &'static [&'static str],
) -> impl Iterator<Item = Result<RecordBatch>> + Send {
    let spans = files.into_iter().map(|(file, path)| ((file.begin_at, file.end_at), path));
    let read = move |place: &Place, columns: &[&str], rows| -> Result<Batches> {
        Ok(Box::new(read_batches(place, table, Some(columns), rows)?))
    };
    let open = move |files: Vec<File<Place>>| -> Batches {
        match <[File<Place>; 1]>::try_from(files) {
            Ok([only]) => {
                read(&only.place, columns, BATCH_ROWS).unwrap_or_else(|e| Box::new(std::iter::once(Err(e))))
            }
            Err(files) => {
                let sequence = [table.sort, columns].concat();
                Box::new(Merged::new(files, table, move |place: &Place, rows| read(place, &sequence, rows)))
            }
        }
    };
    groups(spans).into_iter().flat_map(open)
}

/// A file whose rows are to come.
#[derive(Debug, Clone, PartialEq, Eq)]
struct File<P> {
    /// The time of its first row.
    begin: Option<i64>,
    place: P,
}

/// Groups files that overlap, given with their first and last times in the order of their parts; the groups
/// follow each other. At one instant, rows of an earlier part have the smaller `seq`.
fn groups<P>(files: impl Iterator<Item = ((Option<i64>, Option<i64>), P)>) -> Vec<Vec<File<P>>> {
    let mut files: Vec<_> = files.enumerate().collect();
    files.sort_by_key(|(part, ((begin, _), _))| (*begin, *part));
    let mut groups: Vec<Vec<File<P>>> = Vec::new();
    let mut last = None;
    for (part, ((begin, end), place)) in files {
        let file = File { begin, place };
        let overlaps = last.is_some_and(|last| (begin, part) < last);
        last = last.max(Some((end, part)));
        match groups.last_mut().filter(|_| overlaps) {
            Some(group) => group.push(file),
            None => groups.push(vec![file]),
        }
    }
    groups
}

/// Files that overlap. One is open from the time on at which it begins, so that there are never more batches
/// in memory than files overlap at an instant.
struct Merged<P, R> {
    /// The one that begins first is the last.
    to_come: Vec<File<P>>,
    /// Opens a file, to be read in batches of so many rows.
    read: R,
    batch_rows: usize,
    table: &'static TableSpec,
    runs: Vec<Run>,
    /// The next row of each run that has one.
    heads: BinaryHeap<Reverse<(Key, usize)>>,
    failed: bool,
}

/// Time and sequence number.
type Key = (i64, i64);

/// A file that is being read.
struct Run {
    batches: Batches,
    rows: RecordBatch,
    /// Of the rows.
    keys: Vec<Key>,
    /// The next row.
    at: usize,
    /// Where the batch is among those that the next rows are taken of.
    source: Option<usize>,
}

impl<P, R: Fn(&P, usize) -> Result<Batches>> Merged<P, R> {
    /// `files` in the order of their begins.
    fn new(mut files: Vec<File<P>>, table: &'static TableSpec, read: R) -> Self {
        let batch_rows = (ROWS_OF_ALL / files.len().max(1)).clamp(FEWEST_ROWS, BATCH_ROWS);
        files.reverse();
        let (runs, heads) = (Vec::new(), BinaryHeap::new());
        Self { to_come: files, read, batch_rows, table, runs, heads, failed: false }
    }

    /// The next rows; `None` after the last one.
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let (mut sources, mut order) = (Vec::new(), Vec::with_capacity(BATCH_ROWS));
        self.runs.iter_mut().for_each(|run| run.source = None);
        while order.len() < BATCH_ROWS {
            self.open_what_begins()?;
            let Some(Reverse((_, n))) = self.heads.pop() else { break };
            let Some(run) = self.runs.get_mut(n) else { break };
            let next = self.heads.peek().map(|Reverse((key, _))| *key);
            let limit = self.to_come.last().and_then(|file| file.begin);
            let is_first =
                |key: &Key| next.is_none_or(|next| *key < next) && limit.is_none_or(|begin| key.0 < begin);
            let source = *run.source.get_or_insert_with(|| {
                sources.push(run.rows.clone());
                sources.len() - 1
            });
            let to_come = run.keys.get(run.at..).unwrap_or_default();
            let most = to_come.get(..BATCH_ROWS - order.len()).unwrap_or(to_come);
            // The first one is the least of all; among equal ones, any.
            let taken = most.iter().skip(1).take_while(|key| is_first(key)).count() + most.len().min(1);
            order.extend((run.at..run.at + taken).map(|row| (source, row)));
            run.at += taken;
            if let Some(key) = run.head(self.table)? {
                self.heads.push(Reverse((key, n)));
            }
        }
        if order.is_empty() {
            return Ok(None);
        }
        let sources: Vec<&RecordBatch> = sources.iter().collect();
        let rows = interleave_record_batch(&sources, &order)
            .map_err(|e| Error::new(ErrorKind::Bug, "cannot merge the runs of a table").because(e))?;
        Ok(Some(rows))
    }

    /// Opens the files that begin no later than the first row of those that are open.
    fn open_what_begins(&mut self) -> Result<()> {
        while let Some(file) = self.to_come.last() {
            let first = self.heads.peek().map(|Reverse((key, _))| key.0);
            if first.is_some_and(|first| file.begin > Some(first)) {
                break;
            }
            let batches = (self.read)(&file.place, self.batch_rows)?;
            self.to_come.pop();
            let rows = RecordBatch::new_empty(Arc::new(Schema::empty()));
            let mut run = Run { batches, rows, keys: Vec::new(), at: 0, source: None };
            if let Some(key) = run.head(self.table)? {
                // A run that has ended gives its place away.
                let free = self.runs.iter().position(|run| run.keys.is_empty());
                match free.and_then(|n| Some((n, self.runs.get_mut(n)?))) {
                    Some((n, place)) => {
                        *place = run;
                        self.heads.push(Reverse((key, n)));
                    }
                    None => {
                        self.heads.push(Reverse((key, self.runs.len())));
                        self.runs.push(run);
                    }
                }
            }
        }
        Ok(())
    }
}

impl Run {
    /// What the next row is sorted by; `None` at the end.
    fn head(&mut self, table: &TableSpec) -> Result<Option<Key>> {
        while self.at >= self.keys.len() {
            let Some(rows) = self.batches.next().transpose()? else {
                self.keys.clear();
                self.rows = RecordBatch::new_empty(Arc::new(Schema::empty()));
                self.batches = Box::new(std::iter::empty());
                return Ok(None);
            };
            (self.keys, self.at, self.source) = (keys_of(&rows, table)?, 0, None);
            self.rows = rows;
        }
        Ok(self.keys.get(self.at).copied())
    }
}

/// What the rows of a batch are sorted by.
fn keys_of(batch: &RecordBatch, table: &TableSpec) -> Result<Vec<Key>> {
    let column = |n: usize| {
        let name = table.sort.get(n).copied().unwrap_or_default();
        Ok(find_column::<NumberView<'_, i64>>(batch, table.name, name)?.values())
    };
    let (times, seqs) = (column(0)?, column(1)?);
    Ok(times.iter().copied().zip(seqs.iter().copied()).collect())
}

impl<P, R: Fn(&P, usize) -> Result<Batches>> Iterator for Merged<P, R> {
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
    use std::cell::Cell;

    /// Which of the files with these times are merged.
    fn grouped(files: &[(i64, i64)]) -> Vec<Vec<usize>> {
        let groups =
            groups(files.iter().enumerate().map(|(n, (begin, end))| ((Some(*begin), Some(*end)), n)));
        groups.into_iter().map(|group| group.into_iter().map(|file| file.place).collect()).collect()
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

    /// The most runs that overlap at an instant.
    fn overlapping(runs: &[Vec<(i64, i64)>]) -> usize {
        let spans = runs.iter().filter_map(|run| Some(run.first()?.0..=run.last()?.0));
        let at = |time: i64| spans.clone().filter(|span| span.contains(&time)).count();
        (0..20).map(at).max().unwrap_or_default()
    }

    proptest! {
        #[test]
        fn merged_runs_are_sorted_and_complete(
            runs in prop::collection::vec(prop::collection::vec(0i64..20, 0..12), 0..12),
            size in 1usize..8,
        ) {
            let mut seq = 0;
            let runs: Vec<Vec<(i64, i64)>> = runs.into_iter().map(|mut times| {
                times.sort_unstable();
                times.into_iter().map(|time| { seq += 1; (time, seq) }).collect()
            }).collect();
            let mut files: Vec<_> = runs
                .iter()
                .enumerate()
                .map(|(place, run)| File { begin: run.first().map(|(time, _)| *time), place })
                .collect();
            files.sort_by_key(|file| file.begin);
            let open = Arc::new(());
            let most = Cell::new(0);
            let read = |place: &usize, _: usize| -> Result<Batches> {
                let is_open = Arc::clone(&open);
                most.set(most.get().max(Arc::strong_count(&open) - 1));
                Ok(Box::new(batches(&runs[*place], size).inspect(move |_| drop(Arc::clone(&is_open)))))
            };
            let merged = Merged::new(files, tables::FUNCTION_EVENT, read);
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
            // One more while a file is opened that has no row.
            prop_assert!(most.get() <= overlapping(&runs) + 1, "{} files were open at once", most.get());
        }
    }
}
