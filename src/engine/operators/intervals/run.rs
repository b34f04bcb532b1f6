//! The states of all keys, from batches of intervals to batches of output. Not the functions themselves.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::common::{Result, internal_err};

use super::super::key_interner::KeyInterner;
use super::super::streaming::{OperatorRun, Progress};
use super::{IntervalFunction, Intervals, State};

/// Minimum number of intervals per output batch.
const MIN_BATCH: usize = 8192;

pub(super) struct IntervalRun {
    function: IntervalFunction,
    keys: usize,
    schema: SchemaRef,
    numbers: KeyInterner,
    states: Vec<Option<State>>,
    found: Intervals,
    ended: bool,
}

impl IntervalRun {
    pub fn new(function: IntervalFunction, keys: usize, schema: SchemaRef) -> Self {
        let (numbers, states, found) = (KeyInterner::default(), Vec::new(), Intervals::default());
        Self { function, keys, schema, numbers, states, found, ended: false }
    }

    fn emit(&mut self) -> Result<RecordBatch> {
        let Intervals { keys, begins, ends, counts } = std::mem::take(&mut self.found);
        let keys = UInt32Array::from(keys);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (i, field) in self.schema.fields().iter().take(self.keys).enumerate() {
            columns.push(cast(&self.numbers.texts(&keys, i, self.keys)?, field.data_type())?);
        }
        columns.push(Arc::new(Int64Array::from(begins)));
        columns.push(Arc::new(Int64Array::from(ends)));
        if self.function.count().is_some() {
            columns.push(Arc::new(Int64Array::from(counts)));
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

impl OperatorRun for IntervalRun {
    fn step(&mut self) -> Result<Progress> {
        if self.found.keys.len() >= MIN_BATCH || (self.ended && !self.found.keys.is_empty()) {
            return self.emit().map(Progress::Rows);
        }
        Ok(if self.ended { Progress::Done } else { Progress::Needs(0) })
    }

    fn take(&mut self, _: usize, batch: Option<RecordBatch>) -> Result<()> {
        let Some(batch) = batch else {
            self.ended = true;
            for (key, state) in (0..).zip(&mut self.states) {
                if let Some(state) = state {
                    state.end(key, &mut self.found);
                }
            }
            return Ok(());
        };
        let names = batch.columns().iter().take(self.keys).map(|c| cast(c, &DataType::Utf8View));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        let rows = batch.num_rows();
        let (keys, count) = match names.is_empty() {
            true => (vec![0; rows], 1),
            false => (self.numbers.ids(&names)?, self.numbers.count()),
        };
        self.states.resize_with(count, || None);
        let times = batch.columns().iter().skip(self.keys).map(|c| c.as_primitive_opt::<Int64Type>());
        let times: Option<Vec<&Int64Array>> = times.collect();
        let Some([begins, ends, bounds @ ..]) = times.as_deref() else {
            return internal_err!("intervals begin and end in integers");
        };
        let bound = |i: usize, row| bounds.get(i).filter(|b| b.is_valid(row)).map(|b| b.value(row));
        for (row, key) in keys.iter().enumerate() {
            let Some(state) = self.states.get_mut(*key as usize) else { continue };
            let (begin, end) = (begins.value(row), ends.value(row));
            let new = || State::begin(self.function, begin, [bound(0, row), bound(1, row)]);
            state.get_or_insert_with(new).follow(*key, begin, end, &mut self.found);
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        let open: usize = self.states.iter().flatten().map(State::open).sum();
        (self.states.len() + self.found.keys.len()) * size_of::<State>() + open * size_of::<i64>()
    }
}
