//! The as-of join: each row with the latest row of another input at its instant. Not for finding it in SQL.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};

use super::key_interner::KeyInterner;
use super::key_order::CHECKABLE;
use super::row_buffer::{NO_ROW, RowBuffer, RowRef};
use super::streaming::{OperatorRun, Progress, StreamingOperator};

#[derive(Debug, Clone)]
pub(in crate::engine) struct AsOfSide {
    /// Columns that must be equal on both sides; NULL equals nothing.
    pub keys: Vec<Column>,
    pub time: Column,
    /// Which of the rows of an instant is the latest one.
    pub order: Vec<Column>,
    pub output: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(in crate::engine) struct AsOf {
    pub sides: [AsOfSide; 2],
    /// A row of the same instant is not early enough.
    pub strict: bool,
}

impl fmt::Display for AsOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right] = &self.sides;
        let keys: Vec<_> = left.keys.iter().zip(&right.keys).map(|(l, r)| format!("{l} = {r}")).collect();
        let sign = if self.strict { "<" } else { "<=" };
        write!(f, "{} {sign} {}, keys=[{}]", right.time, left.time, keys.join(", "))
    }
}

impl AsOf {
    fn side(&self, input: usize) -> &AsOfSide {
        &self.sides[usize::from(input > 0)]
    }
}

impl StreamingOperator for AsOf {
    fn name(&self) -> &'static str {
        "AsOfJoinExec"
    }

    fn schema(&self, inputs: &[SchemaRef]) -> Result<SchemaRef> {
        let mut fields = Vec::new();
        for (i, (input, side)) in inputs.iter().zip(&self.sides).enumerate() {
            let output = side.output.iter().filter_map(|column| input.fields().get(*column));
            // There may be no matching row of the second input.
            let field = |f: &Arc<Field>| f.as_ref().clone().with_nullable(i > 0 || f.is_nullable());
            fields.extend(output.map(field));
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    fn keys(&self, input: usize) -> Vec<Arc<dyn PhysicalExpr>> {
        self.side(input).keys.iter().map(|key| Arc::new(key.clone()) as _).collect()
    }

    fn order(&self, input: usize) -> Option<LexOrdering> {
        let side = self.side(input);
        let term = |column: &Column| PhysicalSortExpr { expr: Arc::new(column.clone()), options: CHECKABLE };
        LexOrdering::new(std::iter::once(&side.time).chain(&side.order).map(term))
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn is_light(&self) -> bool {
        true
    }

    fn expressions(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        let of = |side: &AsOfSide| [vec![side.time.clone()], side.keys.clone(), side.order.clone()].concat();
        self.sides.iter().flat_map(of).map(|column| Arc::new(column) as _).collect()
    }

    fn start(&self, inputs: Vec<SchemaRef>, schema: SchemaRef) -> Box<dyn OperatorRun> {
        let second = inputs.into_iter().nth(1).unwrap_or_else(|| Arc::new(Schema::empty()));
        let none = Rows { keys: Vec::new(), times: Int64Array::from(Vec::<i64>::new()), next: 0 };
        Box::new(AsOfRun {
            as_of: self.clone(),
            schema,
            numbers: KeyInterner::default(),
            first: None,
            second: none,
            ended: [false; 2],
            latest: Vec::new(),
            buffer: RowBuffer::new(second, false),
            found: Vec::new(),
        })
    }
}

/// Rows of one side that are being read.
#[derive(Debug)]
struct Rows {
    /// `None` where a key is NULL.
    keys: Vec<Option<u32>>,
    times: Int64Array,
    next: usize,
}

struct AsOfRun {
    as_of: AsOf,
    schema: SchemaRef,
    numbers: KeyInterner,
    first: Option<(RecordBatch, Rows)>,
    second: Rows,
    ended: [bool; 2],
    /// The latest row of the second input, by key.
    latest: Vec<RowRef>,
    buffer: RowBuffer,
    /// The matches of the rows of the first input that were processed and not emitted yet.
    found: Vec<RowRef>,
}

impl AsOfRun {
    fn rows(&mut self, side: usize, batch: &RecordBatch) -> Result<Rows> {
        let side = self.as_of.side(side);
        let names = side.keys.iter().map(|key| Ok(cast(batch.column(key.index()), &DataType::Utf8View)?));
        let names = names.collect::<Result<Vec<ArrayRef>>>()?;
        let keys = match names.is_empty() {
            true => vec![Some(0); batch.num_rows()],
            false => {
                let null = |row| names.iter().any(|n| n.is_null(row));
                let numbers = self.numbers.ids(&names)?.into_iter().enumerate();
                numbers.map(|(row, key)| (!null(row)).then_some(key)).collect()
            }
        };
        self.latest.resize(self.numbers.count().max(1), NO_ROW);
        let Some(times) = batch.column(side.time.index()).as_primitive_opt::<Int64Type>() else {
            return internal_err!("the times of an as-of join are integers");
        };
        Ok(Rows { keys, times: times.clone(), next: 0 })
    }

    /// Reads the second input up to `at`; false if there is not enough of it yet.
    fn advance(&mut self, at: i64) -> bool {
        loop {
            let Some(time) = self.second.times.values().get(self.second.next) else { return self.ended[1] };
            // NULL comes last.
            let passed = if self.as_of.strict { *time < at } else { *time <= at };
            if !passed || self.second.times.is_null(self.second.next) {
                return true;
            }
            let key = self.second.keys.get(self.second.next).copied().flatten();
            if let Some(latest) = key.and_then(|key| self.latest.get_mut(key as usize)) {
                if *latest != NO_ROW {
                    self.buffer.release(*latest);
                }
                *latest = self.buffer.place(self.second.next);
                self.buffer.hold(*latest);
            }
            self.second.next += 1;
        }
    }

    /// Emits the rows of the first input that were processed since the last time.
    fn emit(&mut self) -> Result<Option<RecordBatch>> {
        let count = self.found.len();
        let Some((batch, rows)) = self.first.as_ref().filter(|_| count > 0) else { return Ok(None) };
        let slice = batch.slice(rows.next - count, count);
        let [of_first, of_second] = &self.as_of.sides;
        let mut columns: Vec<ArrayRef> =
            of_first.output.iter().map(|i| Arc::clone(slice.column(*i))).collect();
        columns.extend(self.buffer.rows(&self.found, of_second.output.iter().copied())?);
        self.found.clear();
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        Ok(Some(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?))
    }

    /// Releases batches that are no longer needed, if there is nothing to emit.
    fn tidy(&mut self) -> Result<()> {
        self.buffer.release_batches();
        if self.buffer.too_many() {
            let mut latest: Vec<_> = self.latest.iter_mut().filter(|place| **place != NO_ROW).collect();
            self.buffer.compact(&mut latest, false)?;
        }
        Ok(())
    }
}

impl OperatorRun for AsOfRun {
    fn step(&mut self) -> Result<Progress> {
        loop {
            let Some((_, rows)) = &self.first else {
                return Ok(if self.ended[0] { Progress::Done } else { Progress::Needs(0) });
            };
            let row = rows.next;
            let Some(key) = rows.keys.get(row).copied() else {
                let found = self.emit()?;
                self.first = None;
                match found {
                    Some(found) => return Ok(Progress::Rows(found)),
                    None => continue,
                }
            };
            let time = rows.times.is_valid(row).then(|| rows.times.value(row));
            if time.is_some_and(|time| !self.advance(time)) {
                // Once these rows are emitted, the batches that were held for them can go.
                let found = if self.buffer.too_many() { self.emit()? } else { None };
                return Ok(found.map_or(Progress::Needs(1), Progress::Rows));
            }
            let latest = key.filter(|_| time.is_some()).and_then(|key| self.latest.get(key as usize));
            self.found.push(latest.copied().unwrap_or(NO_ROW));
            if let Some((_, rows)) = &mut self.first {
                rows.next += 1;
            }
        }
    }

    fn take(&mut self, input: usize, batch: Option<RecordBatch>) -> Result<()> {
        if self.found.is_empty() {
            self.tidy()?;
        }
        match batch {
            None => {
                self.ended[usize::from(input > 0)] = true;
                if input > 0 {
                    self.buffer.end();
                }
            }
            Some(batch) if input == 0 => {
                let rows = self.rows(0, &batch)?;
                self.first = Some((batch, rows));
            }
            Some(batch) => {
                self.second = self.rows(1, &batch)?;
                self.buffer.read(batch);
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        let first = self.first.as_ref().map_or(0, |(batch, _)| batch.get_array_memory_size());
        self.buffer.memory() + first + self.latest.len() * size_of::<RowRef>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::StringViewArray;
    use proptest::prelude::*;

    /// Key and time.
    type Event = (Option<&'static str>, Option<i64>);

    /// For every row of `first`, the position in `second`.
    fn found(first: &[Event], second: &[Event], strict: bool, portions: [usize; 2]) -> Vec<Option<i64>> {
        let types = [DataType::Utf8View, DataType::Int64, DataType::Int64];
        let fields =
            ["key", "time", "id"].into_iter().zip(types).map(|(name, ty)| Field::new(name, ty, true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let side = AsOfSide {
            keys: vec![Column::new("key", 0)],
            time: Column::new("time", 1),
            order: Vec::new(),
            output: vec![2],
        };
        let as_of = AsOf { sides: [side.clone(), side], strict };
        let inputs = vec![Arc::clone(&schema); 2];
        let mut running = as_of.start(inputs.clone(), as_of.schema(&inputs).unwrap());
        let [first, second] = [first, second].map(|events| {
            let mut events: Vec<(i64, Event)> = (0..).zip(events.iter().copied()).collect();
            events.sort_by_key(|(_, event)| (event.1.is_none(), event.1));
            events
        });
        let batch = |events: &[(i64, Event)]| {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(events.iter().map(|e| e.1.0).collect::<StringViewArray>()),
                Arc::new(events.iter().map(|e| e.1.1).collect::<Int64Array>()),
                Arc::new(events.iter().map(|e| Some(e.0)).collect::<Int64Array>()),
            ];
            RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
        };
        let mut batches = [first.chunks(portions[0]).map(batch), second.chunks(portions[1]).map(batch)];
        let mut found = Vec::new();
        loop {
            match running.step().unwrap() {
                Progress::Needs(input) => running.take(input, batches[input].next()).unwrap(),
                Progress::Rows(rows) => {
                    let [ids, latest] = [0, 1].map(|i| rows.column(i).as_primitive::<Int64Type>().clone());
                    found.extend(ids.iter().zip(&latest));
                }
                Progress::Done => break,
            }
        }
        let order: Vec<_> = first.iter().map(|(id, _)| Some(*id)).collect();
        assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), order, "rows keep their order");
        found.sort_unstable();
        found.into_iter().map(|(_, latest)| latest).collect()
    }

    /// The definition: compares every row with all others.
    fn looked_for(first: &[Event], second: &[Event], strict: bool) -> Vec<Option<i64>> {
        let latest = |(key, time): &Event| {
            let (key, time) = (key.as_ref()?, time.as_ref()?);
            let there = (0..).zip(second).filter(|(_, (k, t))| {
                k.as_ref() == Some(key) && t.is_some_and(|t| t < *time || (t == *time && !strict))
            });
            there.max_by_key(|(id, (_, t))| (*t, *id)).map(|(id, _)| id)
        };
        first.iter().map(latest).collect()
    }

    fn events(most: usize) -> impl Strategy<Value = Vec<Event>> {
        let key = prop::option::weighted(0.9, prop::sample::select(vec!["a", "b", "a key of many bytes"]));
        prop::collection::vec((key, prop::option::weighted(0.9, 0i64..40)), 0..most)
    }

    proptest! {
        #[test]
        fn the_latest_row_is_found(
            first in events(40),
            second in events(120),
            strict: bool,
            portions in [1usize..9, 1usize..9],
        ) {
            prop_assert_eq!(found(&first, &second, strict, portions), looked_for(&first, &second, strict));
        }
    }
}
