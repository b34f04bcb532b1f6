//! The states of all keys while intervals go by, from batches and into batches. Not for what is done with an interval.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::common::{Result, internal_err};

use super::super::numbers::Numbers;
use super::super::pass::{Running, Step};
use super::{Question, State, Stretches};

/// Stretches that are given away at once, at least.
const PORTION: usize = 8192;

/// See the module.
pub(super) struct RunningSteps {
    question: Question,
    keys: usize,
    schema: SchemaRef,
    numbers: Numbers,
    states: Vec<Option<State>>,
    found: Stretches,
    ended: bool,
}

impl RunningSteps {
    pub fn new(question: Question, keys: usize, schema: SchemaRef) -> Self {
        let (numbers, states, found) = (Numbers::default(), Vec::new(), Stretches::default());
        Self { question, keys, schema, numbers, states, found, ended: false }
    }

    fn give(&mut self) -> Result<RecordBatch> {
        let Stretches { keys, begins, ends, counts } = std::mem::take(&mut self.found);
        let keys = UInt32Array::from(keys);
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        for (i, field) in self.schema.fields().iter().take(self.keys).enumerate() {
            columns.push(cast(&self.numbers.names_of(&keys, i, self.keys)?, field.data_type())?);
        }
        columns.push(Arc::new(Int64Array::from(begins)));
        columns.push(Arc::new(Int64Array::from(ends)));
        if self.question.count().is_some() {
            columns.push(Arc::new(Int64Array::from(counts)));
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

impl Running for RunningSteps {
    fn step(&mut self) -> Result<Step> {
        if self.found.keys.len() >= PORTION || (self.ended && !self.found.keys.is_empty()) {
            return self.give().map(Step::Rows);
        }
        Ok(if self.ended { Step::Done } else { Step::Needs(0) })
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
            false => (self.numbers.of(&names)?, self.numbers.count()),
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
            let new = || State::begin(self.question, begin, [bound(0, row), bound(1, row)]);
            state.get_or_insert_with(new).follow(*key, begin, end, &mut self.found);
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        let open: usize = self.states.iter().flatten().map(State::open).sum();
        (self.states.len() + self.found.keys.len()) * size_of::<State>() + open * size_of::<i64>()
    }
}
