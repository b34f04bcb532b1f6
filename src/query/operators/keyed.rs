//! Window functions over rows that come in the order of the window: one pass, no sort, one row of state per key. Rows keep
//! their order, unless a `lead` has to wait for the next row of their key. Not for the functions themselves.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::{SortOptions, concat_batches, partition, take};
use arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr,
};
use datafusion::physical_plan::execution_plan::{EmissionType, apply_expression_roots};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::{StreamExt, stream};

use super::function::{Function, Kind, NONE, State, compact, rows_of};
use super::numbers::Numbers;

/// What the windows of one operator are: all have the same keys and the same order.
#[derive(Debug, Clone)]
pub(super) struct Windows {
    /// Names of the functions, for the plan.
    pub names: Vec<String>,
    pub functions: Vec<Function>,
    /// What rows are kept apart by: names.
    pub keys: Vec<Arc<dyn PhysicalExpr>>,
    pub order: LexOrdering,
    /// The rows of each key are taken to come in order, all in all they do not; [`OutOfOrder`] where that is wrong.
    pub trusting: bool,
}

/// The rows of a key do not come in the order that was taken for granted.
#[derive(Debug)]
pub(in crate::query) struct OutOfOrder;

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rows are not in the order that was taken for granted")
    }
}

impl std::error::Error for OutOfOrder {}

/// Window functions in one pass.
#[derive(Debug)]
pub(super) struct KeyedWindowExec {
    input: Arc<dyn ExecutionPlan>,
    windows: Arc<Windows>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl KeyedWindowExec {
    /// `schema`: the columns of the input and one per function.
    pub fn try_new(input: Arc<dyn ExecutionPlan>, windows: Arc<Windows>, schema: SchemaRef) -> Result<Self> {
        let mut known = EquivalenceProperties::new(Arc::clone(&schema));
        if windows.functions.iter().all(|f| f.kind != Kind::Lead) {
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
}

impl DisplayAs for KeyedWindowExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Windows { names, keys, order, .. } = self.windows.as_ref();
        let keys: Vec<_> = keys.iter().map(ToString::to_string).collect();
        write!(f, "KeyedWindowExec: [{}], keys=[{}], order=[{order}]", names.join(", "), keys.join(", "))
    }
}

impl ExecutionPlan for KeyedWindowExec {
    fn name(&self) -> &'static str {
        "KeyedWindowExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![(!self.windows.trusting).then(|| self.windows.order.clone().into())]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.windows.functions.iter().all(|f| f.kind != Kind::Lead)]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let Windows { functions, keys, order, .. } = self.windows.as_ref();
        let arguments = functions.iter().filter_map(|f| f.argument.as_ref());
        apply_expression_roots(arguments.chain(keys).chain(order.iter().map(|o| &o.expr)), f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => {
                let (windows, schema) = (Arc::clone(&self.windows), Arc::clone(&self.schema));
                Ok(Arc::new(Self::try_new(input, windows, schema)?))
            }
            Err(_) => internal_err!("KeyedWindowExec has one input"),
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let follower = Follower::new(Arc::clone(&self.windows), &self.schema);
        let next = |(mut input, mut follower): (SendableRecordBatchStream, Option<Follower>)| async move {
            loop {
                let rows = follower.as_mut()?;
                let result = match input.next().await {
                    Some(batch) => batch.and_then(|b| rows.push(b)),
                    None => {
                        let result = rows.finish();
                        follower = None;
                        result
                    }
                };
                if let Some(result) = result.transpose() {
                    return Some((result, (input, follower)));
                }
            }
        };
        let rows = stream::unfold((input, Some(follower)), next);
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows)))
    }
}

/// The windows while rows go by.
struct Follower {
    windows: Arc<Windows>,
    schema: SchemaRef,
    numbers: Numbers,
    states: Vec<State>,
    /// Rows that are not enough to be worth a step, or whose equals may come next.
    waiting: Vec<RecordBatch>,
    /// The last row of every key, with its key: its successor is not known. Only where there is a `lead`.
    open: Option<(RecordBatch, Vec<u32>)>,
    /// What the order of the last row of each key was, column by column. Only when trusting.
    last: Vec<Vec<i64>>,
}

impl Follower {
    fn new(windows: Arc<Windows>, schema: &SchemaRef) -> Self {
        let own = schema.fields().len() - windows.functions.len();
        let states = schema.fields().iter().skip(own).map(|f| State::new(f.data_type())).collect();
        let last = vec![Vec::new(); windows.order.len()];
        let (numbers, schema) = (Numbers::default(), Arc::clone(schema));
        Self { windows, schema, numbers, states, waiting: Vec::new(), open: None, last }
    }

    /// Takes the next rows; gives those that are settled.
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
        Ok(runs(&self.order(&two)?, 2)?.len() == 1)
    }

    fn order(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        self.windows.order.iter().map(|o| o.expr.evaluate(batch)?.into_array(batch.num_rows())).collect()
    }

    fn step(&mut self, batches: &[RecordBatch]) -> Result<Option<RecordBatch>> {
        let batch = match batches {
            [] => return Ok(None),
            [one] => one.clone(),
            more => concat_batches(more[0].schema_ref(), more)?,
        };
        let rows = batch.num_rows();
        let windows = Arc::clone(&self.windows);
        let names = windows.keys.iter().map(|k| k.evaluate(&batch)?.into_array(rows));
        let names = names.collect::<Result<Vec<_>>>()?;
        let (keys, count) = match names.is_empty() {
            true => (vec![0; rows], 1),
            false => (self.numbers.of(&names)?, self.numbers.count()),
        };
        let peers = windows.functions.iter().any(|f| f.peers);
        let order = if peers || windows.trusting { self.order(&batch)? } else { Vec::new() };
        if windows.trusting {
            self.check(&order, &keys, count)?;
        }
        let peers = if peers { runs(&order, rows)? } else { Vec::new() };
        let mut columns = batch.columns().to_vec();
        for (function, state) in windows.functions.iter().zip(&mut self.states) {
            columns.push(match &function.argument {
                None => state.number(&keys, count),
                Some(argument) => {
                    let values = argument.evaluate(&batch)?.into_array(rows)?;
                    match function.kind {
                        // The value of the row itself, until the next one is known.
                        Kind::Lead => values,
                        _ => state.follow(function, &keys, count, &values, &peers)?,
                    }
                }
            });
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        match windows.functions.iter().any(|f| f.kind == Kind::Lead) {
            true => self.settle(batch, keys, count),
            false => Ok(Some(batch)),
        }
    }

    /// Fails when the rows of a key are not in the order of the window.
    fn check(&mut self, order: &[ArrayRef], keys: &[u32], count: usize) -> Result<()> {
        let mut columns = Vec::with_capacity(order.len());
        for (column, last) in order.iter().zip(&mut self.last) {
            let Some(values) = column.as_primitive_opt::<Int64Type>() else {
                return internal_err!("an order that is taken for granted is one of integers");
            };
            last.resize(count, i64::MIN);
            columns.push((values, last));
        }
        for (row, key) in keys.iter().enumerate() {
            let mut order = Ordering::Equal;
            for (values, last) in &mut columns {
                // NULL comes last.
                let value = if values.is_valid(row) { values.value(row) } else { i64::MAX };
                let Some(last) = last.get_mut(*key as usize) else { continue };
                order = order.then(std::mem::replace(last, value).cmp(&value));
            }
            if order == Ordering::Greater {
                return Err(DataFusionError::External(Box::new(OutOfOrder)));
            }
        }
        Ok(())
    }

    /// The rows whose successor is among `batch`; the last one of every key goes on waiting.
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

    /// `rows` of `batch` (`None`: all), with what a `lead` shows of the row `next` of each.
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
            match (function.is_some_and(|f| f.kind == Kind::Lead), rows) {
                (true, _) => take(column, &next, None),
                (false, Some(rows)) => take(column, rows, None),
                (false, None) => Ok(Arc::clone(column)),
            }
        };
        let columns = batch.columns().iter().enumerate().map(column).collect::<Result<_, _>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

/// Runs of equal rows of sorted columns.
fn runs(order: &[ArrayRef], rows: usize) -> Result<Vec<Range<usize>>> {
    match order.is_empty() {
        true => Ok(std::iter::once(0..rows).collect()),
        false => Ok(partition(order)?.ranges()),
    }
}

/// The order that can be taken for granted, and checked: integers, ascending, NULL last.
pub(super) const CHECKABLE: SortOptions = SortOptions { descending: false, nulls_first: false };
