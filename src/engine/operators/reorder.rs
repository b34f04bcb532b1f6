//! Moves rows that come late for their key to where they belong: an instance that never ended is written
//! last. The input is read twice, and only late rows are held. Not for inputs that are mostly out of order,
//! which should be sorted.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, interleave_record_batch, take, take_record_batch};
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::apply_expression_roots;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::{StreamExt, stream};

use super::key_interner::KeyInterner;
use super::key_order::{LastOrders, OutOfOrder, tick};
use super::one_input::one_input;
use super::window_function::compact;
use super::window_spec::WindowSpec;

/// Maximum bytes of late rows.
const MAX_LATE_BYTES: usize = 64 << 20;

/// The same rows, those of each key in the order of its windows.
#[derive(Debug)]
pub(in crate::engine) struct ReorderExec {
    /// One partition that can be read twice and gives the same rows each time.
    input: Arc<dyn ExecutionPlan>,
    windows: Arc<WindowSpec>,
    properties: Arc<PlanProperties>,
}

impl ReorderExec {
    pub fn new(input: Arc<dyn ExecutionPlan>, windows: Arc<WindowSpec>) -> Self {
        let mut properties = PlanProperties::clone(input.properties());
        properties.eq_properties.clear_orderings();
        Self { input, windows, properties: Arc::new(properties) }
    }
}

impl DisplayAs for ReorderExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReorderExec: [{}]", self.windows.order)
    }
}

impl ExecutionPlan for ReorderExec {
    one_input!(ReorderExec, |this, input| Self::new(input, Arc::clone(&this.windows)));

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(self.windows.keys.iter().chain(self.windows.order.iter().map(|o| &o.expr)), f)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (input, schema) = (Arc::clone(&self.input), self.schema());
        let reserved = MemoryConsumer::new("ReorderExec").register(context.memory_pool());
        let mut search = Search::new(Arc::clone(&self.windows), reserved);
        let begin = async move {
            let mut rows = input.execute(partition, Arc::clone(&context))?;
            while let Some(batch) = rows.next().await {
                search.check(&batch?)?;
            }
            Ok((input.execute(partition, context)?, search.finish(&input.schema())?))
        };
        let rows = stream::once(begin).map(|begun| match begun {
            Ok((rows, mut late)) => rows.map(move |batch| late.put_back(batch?)).left_stream(),
            Err(e) => stream::iter([Err(e)]).right_stream(),
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows.flatten())))
    }
}

/// The first pass: finds late rows.
struct Search {
    windows: Arc<WindowSpec>,
    numbers: KeyInterner,
    last_orders: LastOrders,
    late: Vec<RecordBatch>,
    bytes: usize,
    reserved: MemoryReservation,
}

impl Search {
    fn new(windows: Arc<WindowSpec>, reserved: MemoryReservation) -> Self {
        let (numbers, last_orders) = (KeyInterner::default(), LastOrders::new(&windows.order));
        Self { windows, numbers, last_orders, late: Vec::new(), bytes: 0, reserved }
    }

    fn check(&mut self, batch: &RecordBatch) -> Result<()> {
        let (keys, count) = self.windows.keys_of(batch, &self.numbers)?;
        let late = self.last_orders.check(&self.windows.order_of(batch)?, &keys, count)?.late;
        if late.is_empty() {
            return Ok(());
        }
        let late = UInt32Array::from(late);
        let columns = batch.columns().iter().map(|c| Ok(compact(take(c, &late, None)?)));
        let late = RecordBatch::try_new(batch.schema(), columns.collect::<Result<_>>()?)?;
        self.bytes += late.get_array_memory_size();
        if self.bytes > MAX_LATE_BYTES {
            return Err(DataFusionError::External(Box::new(OutOfOrder)));
        }
        self.reserved.try_resize(self.bytes)?;
        self.late.push(late);
        Ok(())
    }

    fn finish(self, schema: &SchemaRef) -> Result<Late> {
        let Self { windows, numbers, late, reserved, .. } = self;
        let rows = concat_batches(schema, &late)?;
        let (keys, _) = windows.keys_of(&rows, &numbers)?;
        let order = windows.order_of(&rows)?;
        let mut places: Vec<usize> = (0..rows.num_rows()).collect();
        places.sort_by_cached_key(|row| {
            let ticks: Vec<i64> = order.iter().map(|column| tick(column, *row)).collect();
            (keys.get(*row).copied(), ticks)
        });
        let rows = take_record_batch(&rows, &places.iter().map(|row| *row as u32).collect::<UInt32Array>())?;
        let mut waiting: Vec<Range<usize>> = Vec::new();
        for (place, key) in places.iter().filter_map(|row| keys.get(*row)).enumerate() {
            waiting.resize(waiting.len().max(*key as usize + 1), 0..0);
            if let Some(range) = waiting.get_mut(*key as usize) {
                *range = if range.start >= range.end { place..place + 1 } else { range.start..place + 1 };
            }
        }
        let order = windows.order_of(&rows)?;
        let last_orders = LastOrders::new(&windows.order);
        Ok(Late { windows, numbers, last_orders, rows, order, waiting, _reserved: reserved })
    }
}

/// The second pass: the late rows to put back.
struct Late {
    windows: Arc<WindowSpec>,
    numbers: KeyInterner,
    last_orders: LastOrders,
    /// By key, and in their order.
    rows: RecordBatch,
    order: Vec<Int64Array>,
    /// By key, the rows that were not put back yet.
    waiting: Vec<Range<usize>>,
    _reserved: MemoryReservation,
}

impl Late {
    /// `batch` without the rows that are late in it, and with the late rows that belong into it.
    fn put_back(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.rows.num_rows() == 0 {
            return Ok(batch);
        }
        let (keys, count) = self.windows.keys_of(&batch, &self.numbers)?;
        let order = self.windows.order_of(&batch)?;
        let mut late = self.last_orders.check(&order, &keys, count)?.late.into_iter().peekable();
        let mut sources = Vec::with_capacity(keys.len());
        for (row, key) in keys.iter().enumerate() {
            if late.next_if_eq(&(row as u32)).is_some() {
                continue;
            }
            if let Some(waiting) = self.waiting.get_mut(*key as usize) {
                let ticks = || order.iter().map(|column| tick(column, row));
                let before = |place: usize| self.order.iter().map(|column| tick(column, place)).lt(ticks());
                while waiting.start < waiting.end && before(waiting.start) {
                    sources.push((1, waiting.start));
                    waiting.start += 1;
                }
            }
            sources.push((0, row));
        }
        Ok(interleave_record_batch(&[&batch, &self.rows], &sources)?)
    }
}
