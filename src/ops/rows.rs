//! Parsed chunks of either export to Arrow batches, sorted by (time, seq). Knows both row shapes so that the
//! file pipeline needs to know neither.

use super::order::Reorder;
use crate::diagnostics::Log;
use crate::error::Result;
use crate::formats::RowLines;
use crate::formats::trace32::{Counts, DataRows, FUNCTION_KINDS, FunctionRows, Gap};
use crate::schema::{DataEventRows, FunctionEventRows, NameColumn, TextList};
use arrow::array::{RecordBatch, StringArray};
use std::sync::Arc;

/// A parsed chunk.
pub(super) enum Parsed {
    Data(DataRows),
    Functions(FunctionRows),
}

impl Parsed {
    pub fn counts(&self) -> Counts {
        match self {
            Self::Data(r) => r.counts,
            Self::Functions(r) => r.counts,
        }
    }

    pub fn log(&mut self) -> &mut Log {
        match self {
            Self::Data(r) => &mut r.log,
            Self::Functions(r) => &mut r.log,
        }
    }

    pub fn gaps(&mut self) -> &mut Vec<Gap> {
        match self {
            Self::Data(r) => &mut r.gaps,
            Self::Functions(r) => &mut r.gaps,
        }
    }

    pub fn times(&self) -> &[i64] {
        match self {
            Self::Data(r) => &r.time,
            Self::Functions(r) => &r.time,
        }
    }

    pub fn lines(&self) -> &RowLines {
        match self {
            Self::Data(r) => &r.lines,
            Self::Functions(r) => &r.lines,
        }
    }
}

/// The names that the parser of a file has told so far, by its numbers.
#[derive(Default)]
pub(super) struct Told {
    names: TextList,
    /// The same; `None` when there are new ones.
    array: Option<Arc<StringArray>>,
}

impl Told {
    /// What the numbers in these rows stand for.
    pub fn with(&mut self, rows: &Parsed) -> Arc<StringArray> {
        let (told, new) = match rows {
            Parsed::Data(r) => (r.told, &r.variables),
            Parsed::Functions(r) => (r.told, &r.functions),
        };
        if self.names.len() != told || !new.is_empty() {
            self.names.truncate(told);
            self.names.extend(new);
            self.array = None;
        }
        Arc::clone(self.array.get_or_insert_with(|| self.names.array()))
    }
}

/// Rows about to become a batch.
pub(super) struct Batch {
    rows: Parsed,
    seq: Vec<i64>,
}

impl Batch {
    /// Numbers the rows from `first_seq`; unless they are `sorted` already, sorts them by time, rows of one
    /// instant staying in file order.
    pub fn new(rows: Parsed, first_seq: i64, sorted: bool) -> Self {
        let n = rows.times().len() as i64;
        let mut batch = Self { seq: (first_seq..first_seq + n).collect(), rows };
        if !sorted {
            let order = Reorder::of(batch.rows.times());
            order.apply(&mut batch.seq);
            match &mut batch.rows {
                Parsed::Data(r) => {
                    order.apply(&mut r.time);
                    order.apply_optional(&mut r.record);
                    order.apply(&mut r.variable);
                    order.apply(&mut r.is_write);
                    order.apply(&mut r.value);
                }
                Parsed::Functions(r) => {
                    order.apply(&mut r.time);
                    order.apply(&mut r.function);
                    order.apply(&mut r.kind);
                }
            }
        }
        batch
    }

    /// The batch; the numbers of variables and functions stand for `names`.
    pub fn take(self, names: Arc<StringArray>) -> Result<RecordBatch> {
        match self.rows {
            Parsed::Data(r) => {
                let mut rows = DataEventRows::new();
                rows.time = r.time;
                rows.seq = self.seq;
                rows.record = r.record;
                rows.variable = NameColumn::from_parts(r.variable, names);
                let access = r.is_write.into_iter().map(u32::from).collect();
                rows.access = NameColumn::from_parts(access, array(&["read", "write"]));
                rows.value = r.value.into();
                rows.take_batch()
            }
            Parsed::Functions(r) => {
                let mut rows = FunctionEventRows::new();
                rows.time = r.time;
                rows.seq = self.seq;
                rows.function = NameColumn::from_parts(r.function, names);
                let kind = r.kind.into_iter().map(u32::from).collect();
                rows.kind = NameColumn::from_parts(kind, array(&FUNCTION_KINDS));
                rows.take_batch()
            }
        }
    }
}

fn array(names: &[&str]) -> Arc<StringArray> {
    Arc::new(StringArray::from_iter_values(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_added_until_the_parser_forgets_them() {
        let mut told = Told::default();
        let mut with = |before: u32, names: &[&str]| {
            let functions = names.iter().collect();
            let rows = FunctionRows { told: before, functions, ..FunctionRows::default() };
            told.with(&Parsed::Functions(rows))
        };
        let first = with(0, &["a", "b"]);
        assert!(Arc::ptr_eq(&first, &with(2, &[])), "nothing is new");
        assert_eq!(*with(2, &["c"]), StringArray::from(vec!["a", "b", "c"]));
        assert_eq!(*with(0, &["d"]), StringArray::from(vec!["d"]));
        assert_eq!(*with(0, &[]), StringArray::from(Vec::<&str>::new()));
    }
}
