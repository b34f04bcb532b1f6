//! Pairs events that begin something with events that end it, as intervals: an end belongs to the innermost
//! open begin of its key. Not for intervals that do not nest.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};

use super::key_interner::KeyInterner;
use super::key_order::CHECKABLE;
use super::row_buffer::{RowBuffer, RowRef};
use super::streaming::{OperatorRun, Progress, StreamingOperator};

/// Minimum number of intervals per output batch.
const MIN_BATCH: usize = 8192;

/// Pairing, as a streaming operator. Columns have a name and an index.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Pair {
    pub keys: Vec<Column>,
    /// With names, an end belongs to the innermost begin of its name; open intervals inside it are cut off.
    pub name: Option<Column>,
    pub time: Column,
    /// Orders the events, together with the time.
    pub order: Vec<Column>,
    /// Whether an event begins something, and whether it ends something. An event that does both ends first.
    pub begins: Column,
    pub ends: Column,
    /// Output columns of the events: of the begin, if there is one.
    pub output: Vec<usize>,
}

/// The columns that [`Pair`] adds: `begin_at`, `end_at`, `depth`, `complete`.
pub(in crate::engine) fn columns_of_pairs() -> [Field; 4] {
    let time = |name| Field::new(name, DataType::Int64, true);
    [time("begin_at"), time("end_at"), time("depth"), Field::new("complete", DataType::Boolean, false)]
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.keys.iter().map(ToString::to_string).collect();
        write!(f, "time={}, keys=[{}]", self.time, keys.join(", "))?;
        self.name.as_ref().map_or(Ok(()), |name| write!(f, ", name={name}"))
    }
}

impl StreamingOperator for Pair {
    fn name(&self) -> &'static str {
        "PairExec"
    }

    fn schema(&self, inputs: &[SchemaRef]) -> Result<SchemaRef> {
        let of =
            |input: &SchemaRef| self.output.iter().filter_map(|i| input.fields().get(*i).cloned()).collect();
        let mut fields: Vec<_> = inputs.first().map(of).unwrap_or_default();
        fields.extend(columns_of_pairs().map(Arc::new));
        Ok(Arc::new(Schema::new(fields)))
    }

    fn keys(&self, _: usize) -> Vec<Arc<dyn PhysicalExpr>> {
        self.keys.iter().map(|key| Arc::new(key.clone()) as _).collect()
    }

    fn order(&self, _: usize) -> Option<LexOrdering> {
        let term = |column: &Column| PhysicalSortExpr { expr: Arc::new(column.clone()), options: CHECKABLE };
        LexOrdering::new(std::iter::once(&self.time).chain(&self.order).map(term))
    }

    fn is_light(&self) -> bool {
        true
    }

    fn expressions(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        let single = [&self.time, &self.begins, &self.ends].into_iter();
        let all = single.chain(&self.keys).chain(&self.name).chain(&self.order);
        all.map(|column| Arc::new(column.clone()) as _).collect()
    }

    fn start(&self, inputs: Vec<SchemaRef>, schema: SchemaRef) -> Box<dyn OperatorRun> {
        let input = inputs.into_iter().next().unwrap_or_else(|| Arc::new(Schema::empty()));
        Box::new(PairRun {
            pair: self.clone(),
            schema,
            keys: KeyInterner::default(),
            names: KeyInterner::default(),
            open: Vec::new(),
            buffer: RowBuffer::new(input, false),
            found: Vec::new(),
            ended: false,
        })
    }
}

/// A begin without its end.
#[derive(Debug)]
struct Open {
    name: u32,
    begin: i64,
    place: RowRef,
}

/// An interval of the output.
#[derive(Debug)]
struct Found {
    place: RowRef,
    begin: Option<i64>,
    end: Option<i64>,
    depth: Option<i64>,
}

struct PairRun {
    pair: Pair,
    schema: SchemaRef,
    keys: KeyInterner,
    names: KeyInterner,
    /// By key, the open begins, the innermost one last.
    open: Vec<Vec<Open>>,
    /// The events that are open or found.
    buffer: RowBuffer,
    found: Vec<Found>,
    ended: bool,
}

impl PairRun {
    /// Ends `name` at the event of `place`.
    fn end(&mut self, key: usize, name: u32, end: i64, place: RowRef) {
        let Some(open) = self.open.get_mut(key) else { return };
        let Some(at) = open.iter().rposition(|begin| begin.name == name) else {
            self.buffer.hold(place);
            self.found.push(Found { place, begin: None, end: Some(end), depth: None });
            return;
        };
        for (depth, begin) in open.drain(at..).enumerate() {
            let end = (depth == 0).then_some(end);
            let depth = i64::try_from(at + depth).ok();
            self.found.push(Found { place: begin.place, begin: Some(begin.begin), end, depth });
        }
    }

    fn emit(&mut self) -> Result<RecordBatch> {
        let found = std::mem::take(&mut self.found);
        let places: Vec<RowRef> = found.iter().map(|f| f.place).collect();
        let mut columns = self.buffer.rows(&places, self.pair.output.iter().copied())?;
        let numbers = |of: fn(&Found) -> Option<i64>| -> ArrayRef {
            Arc::new(found.iter().map(of).collect::<Int64Array>())
        };
        columns.extend([numbers(|f| f.begin), numbers(|f| f.end), numbers(|f| f.depth)]);
        let complete = found.iter().map(|f| Some(f.begin.is_some() && f.end.is_some()));
        columns.push(Arc::new(complete.collect::<BooleanArray>()));
        places.into_iter().for_each(|place| self.buffer.release(place));
        self.tidy()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// Releases batches that are no longer needed, if there is nothing to emit.
    fn tidy(&mut self) -> Result<()> {
        self.buffer.release_batches();
        if self.buffer.too_many() {
            let mut open: Vec<_> = self.open.iter_mut().flatten().map(|begin| &mut begin.place).collect();
            self.buffer.compact(&mut open, false)?;
        }
        Ok(())
    }
}

impl OperatorRun for PairRun {
    fn step(&mut self) -> Result<Progress> {
        let enough = self.found.len() >= MIN_BATCH || self.ended || self.buffer.too_many();
        if enough && !self.found.is_empty() {
            return self.emit().map(Progress::Rows);
        }
        Ok(if self.ended { Progress::Done } else { Progress::Needs(0) })
    }

    fn take(&mut self, _: usize, batch: Option<RecordBatch>) -> Result<()> {
        let Some(batch) = batch else {
            self.ended = true;
            for stack in &mut self.open {
                let left = stack.drain(..).zip(0..);
                self.found.extend(left.map(|(begin, depth)| Found {
                    place: begin.place,
                    begin: Some(begin.begin),
                    end: None,
                    depth: Some(depth),
                }));
            }
            self.buffer.end();
            return Ok(());
        };
        if self.found.is_empty() {
            self.tidy()?;
        }
        let numbered = |numbers: &KeyInterner, columns: &[Column]| -> Result<Vec<u32>> {
            let names = columns.iter().map(|c| Ok(cast(batch.column(c.index()), &DataType::Utf8View)?));
            let names = names.collect::<Result<Vec<ArrayRef>>>()?;
            if names.is_empty() { Ok(vec![0; batch.num_rows()]) } else { numbers.ids(&names) }
        };
        let keys = numbered(&self.keys, &self.pair.keys)?;
        let names = numbered(&self.names, self.pair.name.as_slice())?;
        self.open.resize_with(self.keys.count().max(1), Vec::new);
        let column = |c: &Column| Arc::clone(batch.column(c.index()));
        let (times, begins, ends) =
            (column(&self.pair.time), column(&self.pair.begins), column(&self.pair.ends));
        let (Some(times), Some(begins), Some(ends)) =
            (times.as_primitive_opt::<Int64Type>(), begins.as_boolean_opt(), ends.as_boolean_opt())
        else {
            return internal_err!("events have a time, and begin something or not");
        };
        self.buffer.read(batch);
        let holds = |conditions: &BooleanArray, row| conditions.is_valid(row) && conditions.value(row);
        for (row, (key, name)) in keys.into_iter().zip(names).enumerate() {
            if times.is_null(row) {
                continue;
            }
            let (time, place) = (times.value(row), self.buffer.place(row));
            if holds(ends, row) {
                self.end(key as usize, name, time, place);
            }
            if holds(begins, row)
                && let Some(open) = self.open.get_mut(key as usize)
            {
                self.buffer.hold(place);
                open.push(Open { name, begin: time, place });
            }
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.buffer.memory() + self.buffer.held() * size_of::<Open>() + self.found.len() * size_of::<Found>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::StringViewArray;
    use proptest::prelude::*;

    /// Key, name, whether it begins and whether it ends something.
    type Event = (&'static str, &'static str, bool, bool);

    /// Begin and end (instants are numbers of events), depth.
    type Interval = (Option<i64>, Option<i64>, Option<i64>);

    fn paired(events: &[Event], named: bool, portion: usize) -> Vec<Interval> {
        let columns = ["key", "name", "begins", "ends", "time"];
        let types =
            [DataType::Utf8View, DataType::Utf8View, DataType::Boolean, DataType::Boolean, DataType::Int64];
        let fields = columns.iter().zip(types).map(|(name, ty)| Field::new(*name, ty, true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let column = |i: usize| Column::new(columns[i], i);
        let pair = Pair {
            keys: vec![column(0)],
            name: named.then(|| column(1)),
            time: column(4),
            order: Vec::new(),
            begins: column(2),
            ends: column(3),
            output: vec![0],
        };
        let output = pair.schema(&[Arc::clone(&schema)]).unwrap();
        let mut running = pair.start(vec![Arc::clone(&schema)], output);
        let numbered: Vec<(i64, &Event)> = (0..).zip(events).collect();
        let mut batches = numbered.chunks(portion).map(|events| {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(events.iter().map(|e| Some(e.1.0)).collect::<StringViewArray>()),
                Arc::new(events.iter().map(|e| Some(e.1.1)).collect::<StringViewArray>()),
                Arc::new(events.iter().map(|e| Some(e.1.2)).collect::<BooleanArray>()),
                Arc::new(events.iter().map(|e| Some(e.1.3)).collect::<BooleanArray>()),
                Arc::new(events.iter().map(|e| Some(e.0)).collect::<Int64Array>()),
            ];
            RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
        });
        let mut found = Vec::new();
        loop {
            match running.step().unwrap() {
                Progress::Needs(_) => running.take(0, batches.next()).unwrap(),
                Progress::Rows(rows) => {
                    let numbers = [1, 2, 3].map(|i| rows.column(i).as_primitive::<Int64Type>().clone());
                    let keys = rows.column(0).as_string_view();
                    for row in 0..rows.num_rows() {
                        let [begin, end, depth] =
                            numbers.each_ref().map(|n| n.is_valid(row).then(|| n.value(row)));
                        let event = events[begin.or(end).unwrap() as usize];
                        assert_eq!(keys.value(row), event.0, "the columns are those of the event");
                        found.push((begin, end, depth));
                    }
                }
                Progress::Done => break,
            }
        }
        found.sort_unstable();
        found
    }

    /// The definition: each end searches backwards for its begin, past whatever has ended.
    fn looked_back(events: &[Event], named: bool) -> Vec<Interval> {
        let mut begins: Vec<(i64, &Event, i64, bool)> = Vec::new();
        let mut found = Vec::new();
        for (at, event) in (0..).zip(events) {
            let open = |b: &(i64, &Event, i64, bool)| b.3 && b.1.0 == event.0;
            if event.3 {
                let mine = begins.iter().rposition(|b| open(b) && (!named || b.1.1 == event.1));
                match mine {
                    None => found.push((None, Some(at), None)),
                    Some(mine) => {
                        let within = (mine..begins.len()).filter(|i| open(&begins[*i])).collect::<Vec<_>>();
                        for i in within {
                            begins[i].3 = false;
                            found.push((Some(begins[i].0), (i == mine).then_some(at), Some(begins[i].2)));
                        }
                    }
                }
            }
            if event.2 {
                let depth = begins.iter().filter(|b| open(b)).count() as i64;
                begins.push((at, event, depth, true));
            }
        }
        found.extend(begins.iter().filter(|b| b.3).map(|b| (Some(b.0), None, Some(b.2))));
        found.sort_unstable();
        found
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let name = |names: &'static [&'static str]| prop::sample::select(names);
        prop::collection::vec(
            (name(&["k", "l"]), name(&["a", "b", "c"]), any::<bool>(), any::<bool>()),
            0..80,
        )
    }

    proptest! {
        #[test]
        fn every_end_finds_its_begin(events in events(), named: bool, portion in 1usize..9) {
            prop_assert_eq!(paired(&events, named, portion), looked_back(&events, named));
        }
    }

    #[test]
    fn batches_are_not_held_for_some_open_events() {
        // Of ten events one begins something that ends last of all, the others come and go.
        let event = |name, begins: bool| ("k", name, begins, !begins);
        let mut events: Vec<Event> = (0..900)
            .map(|i| if i % 9 == 0 { event("outer", true) } else { event("inner", i % 9 % 2 == 1) })
            .collect();
        events.extend((0..100).map(|_| event("outer", false)));
        assert_eq!(paired(&events, true, 3), looked_back(&events, true));
    }

    #[test]
    fn an_exit_that_was_lost_cuts_off_what_it_belongs_to() {
        // a( b( [lost: )b] )a c( : b has no end, and c none yet.
        let event = |name, begins: bool| ("k", name, begins, !begins);
        let events = [event("a", true), event("b", true), event("a", false), event("c", true)];
        let expected = [(Some(0), Some(2), Some(0)), (Some(1), None, Some(1)), (Some(3), None, Some(0))];
        assert_eq!(paired(&events, true, 2), expected);
        // Without names, the end is that of the innermost one.
        let expected = [(Some(0), None, Some(0)), (Some(1), Some(2), Some(1)), (Some(3), None, Some(1))];
        assert_eq!(paired(&events, false, 2), expected);
    }
}
