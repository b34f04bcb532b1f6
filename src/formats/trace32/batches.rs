//! Parsed chunks of either export to rows of `data_event` and `function_event`, and the gaps between them. Neither parses, nor
//! sorts.

use super::rows::{ACCESS_KINDS, ExportRows};
use super::{FUNCTION_KINDS, Gap};
use crate::error::Result;
use crate::formats::RowLines;
use crate::names::{NameColumn, TextList};
use crate::schema::{DataEventRows, FunctionEventRows};
use arrow::array::{RecordBatch, StringArray};
use std::sync::Arc;

/// The names that the parser of a file has given so far, by its numbers.
#[derive(Default)]
pub(super) struct NamesSoFar {
    names: TextList,
    /// The same; `None` when there are new ones.
    array: Option<Arc<StringArray>>,
}

impl NamesSoFar {
    /// What the numbers in rows stand for that come with these new names; `before` are older, and all others are void.
    fn with(&mut self, before: u32, new: &TextList) -> Arc<StringArray> {
        if self.names.len() != before || !new.is_empty() {
            self.names.truncate(before);
            self.names.extend(new);
            self.array = None;
        }
        Arc::clone(self.array.get_or_insert_with(|| self.names.array()))
    }

    /// Rows of `data_event`, numbered from `first_seq`.
    pub fn data(&mut self, r: ExportRows, first_seq: i64) -> Result<(RecordBatch, RowLines)> {
        let names = self.with(r.first_name, &r.names);
        let mut rows = DataEventRows::new();
        rows.seq = numbers(first_seq, r.time.len());
        rows.time = r.time;
        rows.record = r.record;
        rows.variable = NameColumn::from_parts(r.name, names);
        rows.access = kinds(r.kind, &ACCESS_KINDS);
        rows.value = r.value.into();
        Ok((rows.take_batch()?, r.lines))
    }

    /// Rows of `function_event`, numbered from `first_seq`.
    pub fn functions(&mut self, r: ExportRows, first_seq: i64) -> Result<(RecordBatch, RowLines)> {
        let names = self.with(r.first_name, &r.names);
        let mut rows = FunctionEventRows::new();
        rows.seq = numbers(first_seq, r.time.len());
        rows.time = r.time;
        rows.function = NameColumn::from_parts(r.name, names);
        rows.kind = kinds(r.kind, &FUNCTION_KINDS);
        Ok((rows.take_batch()?, r.lines))
    }
}

fn numbers(first: i64, count: usize) -> Vec<i64> {
    (first..first + count as i64).collect()
}

fn kinds(kinds: Vec<u8>, words: &[&str]) -> NameColumn {
    let words = Arc::new(StringArray::from_iter_values(words));
    NameColumn::from_parts(kinds.into_iter().map(u32::from).collect(), words)
}

/// The gaps of an export: they reach to the next row, which may be in the next chunk.
#[derive(Default)]
pub(super) struct Gaps {
    /// Begin, end, reason.
    all: Vec<(i64, i64, String)>,
    /// Those that reach to the next row; true when they begin there as well, for want of a time before it.
    open: Vec<(usize, bool)>,
    /// Time of the row before, in file order.
    before: Option<i64>,
}

impl Gaps {
    /// Takes the gaps of a chunk and the times of its rows.
    pub fn take(&mut self, gaps: Vec<Gap>, times: &[i64]) {
        if let Some(first) = times.first().copied() {
            for (n, begins) in self.open.drain(..) {
                if let Some(gap) = self.all.get_mut(n) {
                    gap.0 = if begins { first } else { gap.0 };
                    gap.1 = first.max(gap.0);
                }
            }
        }
        for gap in gaps {
            let begin = if gap.begin_open { self.before.unwrap_or(gap.begin) } else { gap.begin };
            if gap.end.is_none() {
                let begins = gap.begin_open && self.before.is_none();
                self.open.push((self.all.len(), begins));
            }
            self.all.push((begin, gap.end.unwrap_or(begin).max(begin), gap.reason));
        }
        self.before = times.last().copied().or(self.before);
    }

    /// All gaps.
    pub fn finish(self, core: &str) -> impl Iterator<Item = crate::formats::Gap> {
        let of_core =
            |(begin, end, reason)| crate::formats::Gap { begin, end, core: Some(core.to_owned()), reason };
        self.all.into_iter().map(of_core)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_added_until_the_parser_forgets_them() {
        let mut names = NamesSoFar::default();
        let mut with = |before: u32, new: &[&str]| names.with(before, &new.iter().collect());
        let first = with(0, &["a", "b"]);
        assert!(Arc::ptr_eq(&first, &with(2, &[])), "nothing is new");
        assert_eq!(*with(2, &["c"]), StringArray::from(vec!["a", "b", "c"]));
        assert_eq!(*with(0, &["d"]), StringArray::from(vec!["d"]));
        assert_eq!(*with(0, &[]), StringArray::from(Vec::<&str>::new()));
    }

    #[test]
    fn a_gap_at_the_end_of_a_chunk_reaches_to_the_next_row() {
        let gap = |begin_open| Gap { begin: 7, begin_open, end: None, reason: "r".into() };
        let mut gaps = Gaps::default();
        gaps.take(vec![gap(true)], &[]);
        gaps.take(vec![gap(false)], &[20, 30]);
        gaps.take(vec![gap(true)], &[]);
        let all: Vec<_> = gaps.finish("c").map(|g| (g.begin, g.end)).collect();
        assert_eq!(all, [(20, 20), (7, 7), (30, 30)]);
    }
}
