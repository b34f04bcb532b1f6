//! Parsed chunks of both exports to batches of `data_event` and `function_event`, and the gaps between their
//! rows. Neither parses nor sorts.

use super::rows::{ACCESS_KINDS, ExportRows};
use super::{FUNCTION_KINDS, Gap};
use crate::error::Result;
use crate::formats::FROM_BEGIN;
use crate::formats::{InputEnd, OpenEnd, RowLines};
use crate::names::{NameColumn, TextList};
use crate::schema::{DataEventRows, FunctionEventRows};
use arrow::array::{RecordBatch, StringArray};
use std::sync::Arc;

/// The names of the parser of one export, by their ids.
#[derive(Default)]
pub(super) struct NameDictionary {
    names: TextList,
    /// `names` as an array; `None` after a change of `names`.
    array: Option<Arc<StringArray>>,
}

impl NameDictionary {
    /// The dictionary for rows that come with the dictionary delta `delta`. `first` is the id of its first
    /// name; names of earlier deltas from that id on are dropped.
    fn update(&mut self, first: u32, delta: &TextList) -> Arc<StringArray> {
        if self.names.len() != first || !delta.is_empty() {
            self.names.truncate(first);
            self.names.extend(delta);
            self.array = None;
        }
        Arc::clone(self.array.get_or_insert_with(|| self.names.array()))
    }

    /// A batch of `data_event`, with `seq` from `first_seq` on, and the lines of its rows.
    pub fn data_batch(&mut self, parsed: ExportRows, first_seq: i64) -> Result<(RecordBatch, RowLines)> {
        let names = self.update(parsed.first_name, &parsed.names);
        let mut rows = DataEventRows::new();
        rows.seq = sequence(first_seq, parsed.time.len());
        rows.time = parsed.time;
        rows.record = parsed.record;
        rows.variable = NameColumn::from_parts(parsed.name, names);
        rows.access = kind_column(parsed.kind, &ACCESS_KINDS);
        rows.value = parsed.value.into();
        Ok((rows.take_batch()?, parsed.lines))
    }

    /// A batch of `function_event`, with `seq` from `first_seq` on, and the lines of its rows.
    pub fn function_batch(&mut self, parsed: ExportRows, first_seq: i64) -> Result<(RecordBatch, RowLines)> {
        let names = self.update(parsed.first_name, &parsed.names);
        let mut rows = FunctionEventRows::new();
        rows.seq = sequence(first_seq, parsed.time.len());
        rows.time = parsed.time;
        rows.function = NameColumn::from_parts(parsed.name, names);
        rows.kind = kind_column(parsed.kind, &FUNCTION_KINDS);
        Ok((rows.take_batch()?, parsed.lines))
    }
}

fn sequence(first: i64, count: usize) -> Vec<i64> {
    (first..first + count as i64).collect()
}

fn kind_column(kinds: Vec<u8>, words: &[&str]) -> NameColumn {
    let words = Arc::new(StringArray::from_iter_values(words));
    NameColumn::from_parts(kinds.into_iter().map(u32::from).collect(), words)
}

/// The gaps of an export: from the row before each to the row after it, which may be in other chunks.
#[derive(Default)]
pub(super) struct Gaps {
    all: Vec<Gap>,
    /// The index of the first gap that no row follows so far.
    open: usize,
    /// The time of the last row, in the order of the file.
    last_time: Option<i64>,
}

impl Gaps {
    /// Adds the gaps of a chunk. `times` are those of its rows.
    pub fn add(&mut self, gaps: Vec<Gap>, times: &[i64]) {
        if let Some(first) = times.first().copied() {
            self.all.iter_mut().skip(self.open).for_each(|gap| gap.end = Some(first));
            self.open = self.all.len();
        }
        for gap in gaps {
            let begin = gap.begin.or(self.last_time);
            if gap.end.is_some() {
                self.open += 1;
            }
            self.all.push(Gap { begin, ..gap });
        }
        self.last_time = times.last().copied().or(self.last_time);
    }

    /// Those of the next piece of a trace that ended so.
    pub fn after(end: InputEnd) -> Self {
        let again = |OpenEnd { begin, own_time, reason }| Gap { begin, own_time, end: None, reason };
        Self { all: end.open_gaps.into_iter().map(again).collect(), open: 0, last_time: end.last_time }
    }

    /// The time of the last row, and the gaps that end at the next one.
    pub fn end(&self) -> (Option<i64>, Vec<OpenEnd>) {
        let open = self.all.iter().skip(self.open).cloned();
        let open = open.map(|Gap { begin, own_time, reason, .. }| OpenEnd { begin, own_time, reason });
        (self.last_time, open.collect())
    }

    /// All gaps, in the order of the file.
    pub fn finish(self, core: &str) -> impl Iterator<Item = crate::formats::Gap> {
        self.all.into_iter().map(|gap| {
            let begin = gap.begin.unwrap_or(FROM_BEGIN);
            let end = gap.end.map(|end| end.max(begin));
            crate::formats::Gap { begin, end, core: Some(core.to_owned()), reason: gap.reason }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_added_until_the_parser_forgets_them() {
        let mut names = NameDictionary::default();
        let mut update = |first: u32, delta: &[&str]| names.update(first, &delta.iter().collect());
        let first = update(0, &["a", "b"]);
        assert!(Arc::ptr_eq(&first, &update(2, &[])), "nothing is new");
        assert_eq!(*update(2, &["c"]), StringArray::from(vec!["a", "b", "c"]));
        assert_eq!(*update(0, &["d"]), StringArray::from(vec!["d"]));
        assert_eq!(*update(0, &[]), StringArray::from(Vec::<&str>::new()));
    }

    #[test]
    fn a_gap_at_the_end_of_a_chunk_reaches_to_the_next_row() {
        let gap = |begin, own_time| Gap { begin, own_time, end: None, reason: "r".into() };
        let mut gaps = Gaps::default();
        gaps.add(vec![gap(None, None), gap(None, Some(7))], &[]);
        gaps.add(vec![gap(Some(20), Some(25))], &[20, 30]);
        gaps.add(vec![gap(None, None)], &[]);
        let all: Vec<_> = gaps.finish("c").map(|g| (g.begin, g.end)).collect();
        assert_eq!(all, [(FROM_BEGIN, Some(20)), (FROM_BEGIN, Some(20)), (20, None), (30, None)]);
    }
}
