//! Window functions over rows that come in the order of the window: one pass, no sort, one row of state per
//! key. Rows keep their order, unless a `lead` has to wait for the next row of its key. Not for the functions
//! themselves (see `window_function`).

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, partition, take};
use arrow::datatypes::{Fields, Int64Type, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, EquivalenceProperties, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{EmissionType, apply_expression_roots};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::{StreamExt, stream};

use super::in_order::InOrderExec;
use super::key_interner::KeyInterner;
use super::key_order::{LastOrders, OrderCheck, OutOfOrder};
use super::one_input::one_input;
use super::window_function::{NONE, WindowFunctionKind, WindowState, compact, rows_of};
use super::window_spec::WindowSpec;

#[derive(Debug)]
pub(in crate::engine) struct KeyedWindowExec {
    input: Arc<dyn ExecutionPlan>,
    windows: Arc<WindowSpec>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl KeyedWindowExec {
    /// `schema`: the columns of the input and one per function.
    pub fn try_new(
        input: Arc<dyn ExecutionPlan>,
        windows: Arc<WindowSpec>,
        schema: SchemaRef,
    ) -> Result<Self> {
        let mut known = EquivalenceProperties::new(Arc::clone(&schema));
        if windows.functions.iter().all(|f| f.kind != WindowFunctionKind::Lead) {
            known = known.extend(input.properties().eq_properties.clone())?;
        }
        let properties = PlanProperties::new(
            known,
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            input.properties().boundedness,
        );
        Ok(Self { input, windows, schema, properties: Arc::new(properties) })
    }

    pub fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }

    pub fn windows(&self) -> &WindowSpec {
        &self.windows
    }

    /// The same windows over the same rows with other column types. The columns of the order may be unread if
    /// the order of the partitions guarantees it.
    pub fn over(
        &self,
        input: Arc<dyn ExecutionPlan>,
        argument: impl Fn(&Arc<dyn PhysicalExpr>, &SchemaRef) -> Result<Arc<dyn PhysicalExpr>>,
    ) -> Result<Self> {
        let mut windows = WindowSpec::clone(&self.windows);
        for over in windows.functions.iter_mut().filter_map(|f| f.argument.as_mut()) {
            *over = argument(over, &input.schema())?;
        }
        windows.order_guaranteed = input.is::<InOrderExec>();
        let own = self.schema.fields().len() - windows.functions.len();
        let fields: Fields =
            input.schema().fields().iter().chain(self.schema.fields().iter().skip(own)).cloned().collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, self.schema.metadata().clone()));
        Self::try_new(input, Arc::new(windows), schema)
    }
}

impl DisplayAs for KeyedWindowExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WindowSpec { names, keys, order, .. } = self.windows.as_ref();
        let keys: Vec<_> = keys.iter().map(ToString::to_string).collect();
        write!(f, "KeyedWindowExec: [{}], keys=[{}], order=[{order}]", names.join(", "), keys.join(", "))
    }
}

impl ExecutionPlan for KeyedWindowExec {
    one_input!(KeyedWindowExec, |this, input| {
        Self::try_new(input, Arc::clone(&this.windows), Arc::clone(&this.schema))?
    });

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![
            (!self.windows.order_assumed && !self.windows.order_guaranteed)
                .then(|| self.windows.order.clone().into()),
        ]
    }

    /// Says no where it needs an order, although it keeps it (its properties tell which): of an operator that
    /// says yes, DataFusion 55 takes the sort away when another sort stands above it, if only a column of
    /// both is in the same place (`pushdown_would_violate_requirements`).
    fn maintains_input_order(&self) -> Vec<bool> {
        let needs_order = self.required_input_ordering().iter().any(Option::is_some);
        vec![!needs_order && self.windows.functions.iter().all(|f| f.kind != WindowFunctionKind::Lead)]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let WindowSpec { functions, keys, order, .. } = self.windows.as_ref();
        let arguments = functions.iter().filter_map(|f| f.argument.as_ref());
        apply_expression_roots(arguments.chain(keys).chain(order.iter().map(|o| &o.expr)), f)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let run = WindowRun::new(Arc::clone(&self.windows), &self.schema);
        let next = |(mut input, mut run): (SendableRecordBatchStream, Option<WindowRun>)| async move {
            loop {
                let rows = run.as_mut()?;
                let result = match input.next().await {
                    Some(batch) => batch.and_then(|b| rows.push(b)),
                    None => {
                        let result = rows.finish();
                        run = None;
                        result
                    }
                };
                if let Some(result) = result.transpose() {
                    return Some((result, (input, run)));
                }
            }
        };
        let rows = stream::unfold((input, Some(run)), next);
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows)))
    }
}

struct WindowRun {
    windows: Arc<WindowSpec>,
    schema: SchemaRef,
    numbers: KeyInterner,
    states: Vec<WindowState>,
    /// Rows that are not worth a step yet, or that may have equals in the next batch.
    waiting: Vec<RecordBatch>,
    /// The last row of every key, with its key: its successor is not known yet. Only with a `lead`.
    open: Option<(RecordBatch, Vec<u32>)>,
    /// The last position of each key in the order. Only if the order is assumed.
    last_orders: LastOrders,
}

impl WindowRun {
    fn new(windows: Arc<WindowSpec>, schema: &SchemaRef) -> Self {
        let own = schema.fields().len() - windows.functions.len();
        let states = schema.fields().iter().skip(own).map(|f| WindowState::new(f.data_type())).collect();
        let last_orders = LastOrders::new(&windows.order);
        let (numbers, schema) = (KeyInterner::default(), Arc::clone(schema));
        Self { windows, schema, numbers, states, waiting: Vec::new(), open: None, last_orders }
    }

    /// Adds rows; returns those whose values are complete.
    fn push(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        if batch.num_rows() == 0 {
            return Ok(None);
        }
        // A step costs as much as there are keys.
        let enough = self.waiting.iter().map(RecordBatch::num_rows).sum::<usize>() >= self.numbers.count();
        let ready = match self.waiting.last() {
            Some(before) if enough && !self.goes_on(before, &batch)? => std::mem::take(&mut self.waiting),
            _ => Vec::new(),
        };
        self.waiting.push(batch);
        self.step(&ready)
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let waiting = std::mem::take(&mut self.waiting);
        let settled = self.step(&waiting)?;
        let Some((open, _)) = self.open.take() else { return Ok(settled) };
        let last = self.with_successors(&open, None, vec![NONE; open.num_rows()])?;
        Ok(Some(match settled {
            Some(settled) => concat_batches(&self.schema, [&settled, &last])?,
            None => last,
        }))
    }

    /// Whether the first row of `next` may be equal in the order to the last one of `before`.
    fn goes_on(&self, before: &RecordBatch, next: &RecordBatch) -> Result<bool> {
        if !self.windows.functions.iter().any(|f| f.peers) {
            return Ok(false);
        }
        let two =
            concat_batches(&before.schema(), [&before.slice(before.num_rows() - 1, 1), &next.slice(0, 1)])?;
        Ok(runs(&self.windows.columns_of_order(&two)?, 2)?.len() == 1)
    }

    fn step(&mut self, batches: &[RecordBatch]) -> Result<Option<RecordBatch>> {
        let batch = match batches {
            [] => return Ok(None),
            [one] => one.clone(),
            more => concat_batches(more[0].schema_ref(), more)?,
        };
        let rows = batch.num_rows();
        let windows = Arc::clone(&self.windows);
        let (keys, count) = windows.keys_of(&batch, &self.numbers)?;
        let peers = match windows.functions.iter().any(|f| f.peers) {
            true => runs(&windows.columns_of_order(&batch)?, rows)?,
            false => Vec::new(),
        };
        let seen = match windows.order_assumed {
            true => self.last_orders.check(&windows.order_of(&batch)?, &keys, count)?,
            false => OrderCheck::default(),
        };
        if !seen.late.is_empty() {
            return Err(DataFusionError::External(Box::new(OutOfOrder)));
        }
        // Where the window of a key starts again.
        let fresh = if windows.split_by_first { &seen.fresh[..] } else { &[] };
        let mut columns = batch.columns().to_vec();
        for (function, state) in windows.functions.iter().zip(&mut self.states) {
            columns.push(match &function.argument {
                None => state.number(&keys, count, fresh),
                Some(argument) => {
                    let values = argument.evaluate(&batch)?.into_array(rows)?;
                    match function.kind {
                        // Its own value, until the next row is known.
                        WindowFunctionKind::Lead => values,
                        _ => state.follow(function, &keys, count, &values, &peers, fresh)?,
                    }
                }
            });
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        match windows.functions.iter().any(|f| f.kind == WindowFunctionKind::Lead) {
            true => self.settle(batch, keys, count),
            false => Ok(Some(batch)),
        }
    }

    /// The rows whose successor is in `batch`; the last one of every key keeps waiting.
    fn settle(&mut self, batch: RecordBatch, keys: Vec<u32>, count: usize) -> Result<Option<RecordBatch>> {
        let (batch, keys, begin) = match self.open.take() {
            None => (batch, keys, 0),
            Some((open, mut open_keys)) => {
                open_keys.extend(keys);
                (concat_batches(&self.schema, [&open, &batch])?, open_keys, open.num_rows())
            }
        };
        let (mut next, mut last) = (vec![NONE; batch.num_rows()], vec![NONE; count]);
        for (row, key) in keys.iter().enumerate() {
            let Some(last) = last.get_mut(*key as usize) else { continue };
            let before = std::mem::replace(last, row as u32);
            if let Some(next) = next.get_mut(before as usize) {
                *next = row as u32;
            }
        }
        debug_assert!(begin <= keys.len());
        let open: Vec<u32> = last.into_iter().filter(|row| *row != NONE).collect();
        let open_keys = open.iter().filter_map(|row| keys.get(*row as usize).copied()).collect();
        let open = UInt32Array::from(open);
        let column = |c: &ArrayRef| Ok(compact(take(c, &open, None)?));
        let columns = batch.columns().iter().map(column).collect::<Result<_>>()?;
        self.open = Some((RecordBatch::try_new(Arc::clone(&self.schema), columns)?, open_keys));
        let settled: Vec<u32> = (0..).zip(&next).filter(|(_, n)| **n != NONE).map(|(row, _)| row).collect();
        next.retain(|n| *n != NONE);
        if next.is_empty() {
            return Ok(None);
        }
        self.with_successors(&batch, Some(&settled.into()), next).map(Some)
    }

    /// `rows` of `batch` (`None`: all), with the `lead` values from the row `next` of each.
    fn with_successors(
        &self,
        batch: &RecordBatch,
        rows: Option<&UInt32Array>,
        next: Vec<u32>,
    ) -> Result<RecordBatch> {
        let next = rows_of(next);
        let own = batch.num_columns() - self.windows.functions.len();
        let column = |(i, column): (usize, &ArrayRef)| {
            let function = i.checked_sub(own).and_then(|f| self.windows.functions.get(f));
            match (function.is_some_and(|f| f.kind == WindowFunctionKind::Lead), rows) {
                (true, _) => take(column, &next, None),
                (false, Some(rows)) => take(column, rows, None),
                (false, None) => Ok(Arc::clone(column)),
            }
        };
        let columns = batch.columns().iter().enumerate().map(column).collect::<Result<_, _>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

/// Runs of equal rows of sorted columns; none if all rows differ.
fn runs(order: &[ArrayRef], rows: usize) -> Result<Vec<Range<usize>>> {
    // One column of distinct values is enough.
    let distinct = |column: &ArrayRef| {
        let values = column.as_primitive_opt::<Int64Type>().filter(|c| c.null_count() == 0);
        values.is_some_and(|c| c.values().windows(2).all(|pair| pair[0] != pair[1]))
    };
    match order.is_empty() {
        true => Ok(std::iter::once(0..rows).collect()),
        false if order.iter().any(distinct) => Ok(Vec::new()),
        false => Ok(partition(order)?.ranges()),
    }
}
