//! Parsed chunks of either export to Arrow batches, sorted by (time, seq). Knows both row shapes so that the
//! file pipeline needs to know neither.

use super::order::Reorder;
use crate::diagnostics::Log;
use crate::error::Result;
use crate::formats::RowLines;
use crate::formats::trace32::{Counts, DataRows, FUNCTION_KINDS, FunctionRows, Gap};
use crate::schema::{DataEventRows, FunctionEventRows, NameColumn};
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

    pub fn take(self) -> Result<RecordBatch> {
        match self.rows {
            Parsed::Data(r) => {
                let mut rows = DataEventRows::new();
                rows.time = r.time;
                rows.seq = self.seq;
                rows.record = r.record;
                rows.variable = NameColumn::from_parts(r.variable, array(&r.variables));
                let access = r.is_write.into_iter().map(u32::from).collect();
                rows.access = NameColumn::from_parts(access, array(&["read", "write"]));
                rows.value = r.value.into();
                rows.take_batch()
            }
            Parsed::Functions(r) => {
                let mut rows = FunctionEventRows::new();
                rows.time = r.time;
                rows.seq = self.seq;
                rows.function = NameColumn::from_parts(r.function, array(&r.functions));
                let kind = r.kind.into_iter().map(u32::from).collect();
                rows.kind = NameColumn::from_parts(kind, array(&FUNCTION_KINDS));
                rows.take_batch()
            }
        }
    }
}

fn array(names: &[impl AsRef<str>]) -> Arc<StringArray> {
    Arc::new(StringArray::from_iter_values(names))
}
