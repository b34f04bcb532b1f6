//! The first stage of an aggregate over small integers: the id of a group is the index of its accumulators,
//! so that no row is hashed. Its output is that of the first stage of DataFusion, whose second stage consumes
//! it. Not for other groups.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array};
use arrow::datatypes::{SchemaRef, UInt32Type};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::apply_expression_roots;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::StreamExt;
use futures::stream;

use super::shared_accumulator::{self, SharedAccumulator, SharedFunction};

/// Groups per output batch.
const BATCH_GROUPS: usize = 8192;
/// No row had this id.
const NO_GROUP: u32 = u32::MAX;

/// What `partial` does, with accumulators indexed by id. `EXPLAIN` shows it as `TallyExec`.
#[derive(Debug)]
pub(in crate::engine) struct IdAggregateExec {
    /// The engine's stage that this one replaces.
    partial: Arc<AggregateExec>,
    number: Arc<dyn PhysicalExpr>,
}

impl IdAggregateExec {
    /// `None` if that stage does not group by one id, or a function has no accumulator for groups.
    pub fn instead_of(partial: &Arc<AggregateExec>) -> Option<Self> {
        let [(number, _)] = partial.group_expr().expr() else { return None };
        let simple =
            |f: &Arc<AggregateFunctionExpr>| f.groups_accumulator_supported() && f.order_bys().is_empty();
        let usable = *partial.mode() == AggregateMode::Partial && partial.aggr_expr().iter().all(simple);
        usable.then(|| Self { partial: Arc::clone(partial), number: Arc::clone(number) })
    }
}

impl DisplayAs for IdAggregateExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let functions: Vec<_> = self.partial.aggr_expr().iter().map(|a| a.name()).collect();
        write!(f, "TallyExec: gby=[{}], aggr=[{}]", self.number, functions.join(", "))
    }
}

impl ExecutionPlan for IdAggregateExec {
    fn name(&self) -> &'static str {
        "TallyExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.partial.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![self.partial.input()]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let arguments: Vec<_> = self.partial.aggr_expr().iter().flat_map(|a| a.expressions()).collect();
        let filters = self.partial.filter_expr().iter().flatten();
        apply_expression_roots(std::iter::once(&self.number).chain(&arguments).chain(filters), f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([input]) = <[_; 1]>::try_from(children) else {
            return internal_err!("TallyExec has one input");
        };
        let partial = Arc::new(AggregateExec::try_new(
            *self.partial.mode(),
            self.partial.group_expr().clone(),
            self.partial.aggr_expr().to_vec(),
            self.partial.filter_expr().to_vec(),
            input,
            self.partial.input_schema(),
        )?);
        Ok(Arc::new(Self { partial, number: Arc::clone(&self.number) }))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut input = self.partial.input().execute(partition, Arc::clone(&context))?;
        let reserved = MemoryConsumer::new(format!("TallyExec[{partition}]")).register(context.memory_pool());
        let mut accumulators = Accumulators::new(&self.partial, Arc::clone(&self.number), reserved)?;
        let states = async move {
            while let Some(batch) = input.next().await {
                accumulators.add(&batch?)?;
            }
            accumulators.finish()
        };
        let batches = stream::once(states).map(|result| match result {
            Ok(batches) => stream::iter(batches.into_iter().map(Ok)).left_stream(),
            Err(e) => stream::iter([Err(e)]).right_stream(),
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches.flatten())))
    }
}

/// The states of the groups during execution.
struct Accumulators {
    schema: SchemaRef,
    number: Arc<dyn PhysicalExpr>,
    functions: Vec<Accumulator>,
    /// Accumulators that several functions share.
    shared: Vec<SharedAccumulator>,
    /// The group of every id, or [`NO_GROUP`]. Other threads see other ids, and the accumulators of the
    /// engine take it for granted that a group has a row: without one, its minimum would be the greatest
    /// number.
    group_of: Vec<u32>,
    /// The ids of the groups, in the order of their first rows.
    ids: Vec<u32>,
    /// The groups of the rows of a batch; kept to reuse its memory.
    groups: Vec<usize>,
    reserved: MemoryReservation,
}

/// Where the states of a function are.
enum Accumulator {
    Own {
        arguments: Vec<Arc<dyn PhysicalExpr>>,
        filter: Option<Arc<dyn PhysicalExpr>>,
        states: Box<dyn GroupsAccumulator>,
    },
    /// In a shared accumulator, by its index.
    Shared(usize, SharedFunction),
}

impl Accumulators {
    fn new(
        partial: &AggregateExec,
        number: Arc<dyn PhysicalExpr>,
        reserved: MemoryReservation,
    ) -> Result<Self> {
        let functions: Vec<_> = partial.aggr_expr().iter().zip(partial.filter_expr()).collect();
        let schema = partial.input().schema();
        let can_share = |(function, filter): &(&Arc<AggregateFunctionExpr>, &Option<_>)| match filter {
            None => SharedFunction::of(function, &schema),
            Some(_) => None,
        };
        let shared_functions: Vec<_> = functions.iter().map(can_share).collect();
        let mut shared: Vec<SharedAccumulator> = Vec::new();
        let mut share = |(function, numbers): &(SharedFunction, Arc<dyn PhysicalExpr>)| {
            let same = shared_functions.iter().flatten().filter(|(_, others)| others == numbers).count();
            let place = shared.iter().position(|s| s.is_of(numbers)).unwrap_or(shared.len());
            if same >= shared_accumulator::MIN_FUNCTIONS && place == shared.len() {
                shared.push(SharedAccumulator::new(Arc::clone(numbers)));
            }
            (same >= shared_accumulator::MIN_FUNCTIONS).then_some(Accumulator::Shared(place, *function))
        };
        let own = |(function, filter): &(&Arc<AggregateFunctionExpr>, &Option<_>)| -> Result<_> {
            let (arguments, states) = (function.expressions(), function.create_groups_accumulator()?);
            Ok(Accumulator::Own { arguments, filter: (*filter).clone(), states })
        };
        let functions = functions.iter().zip(&shared_functions);
        let functions = functions
            .map(|(function, shared_function)| {
                shared_function.as_ref().and_then(&mut share).map_or_else(|| own(function), Ok)
            })
            .collect::<Result<_>>()?;
        let (group_of, ids, groups) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { schema: partial.schema(), number, functions, shared, group_of, ids, groups, reserved })
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = batch.num_rows();
        let numbers = self.number.evaluate(batch)?.into_array(rows)?;
        let Some(numbers) = numbers.as_primitive_opt::<UInt32Type>() else {
            return internal_err!("groups are ids");
        };
        if let Some(last) = numbers.values().iter().max() {
            self.group_of.resize(self.group_of.len().max(*last as usize + 1), NO_GROUP);
        }
        self.groups.clear();
        for id in numbers.values() {
            let group = &mut self.group_of[*id as usize];
            if *group == NO_GROUP {
                *group = self.ids.len() as u32;
                self.ids.push(*id);
            }
            self.groups.push(*group as usize);
        }
        let total = self.ids.len();
        for shared in &mut self.shared {
            shared.add(batch, &self.groups, total)?;
        }
        let mut size = 2 * size_of::<u32>() * self.group_of.len();
        size += self.shared.iter().map(SharedAccumulator::size).sum::<usize>();
        for function in &mut self.functions {
            let Accumulator::Own { arguments, filter, states } = function else { continue };
            let values = arguments.iter().map(|a| a.evaluate(batch)?.into_array(rows));
            let values = values.collect::<Result<Vec<_>>>()?;
            let filter = filter.as_ref().map(|f| f.evaluate(batch)?.into_array(rows)).transpose()?;
            let filter: Option<&BooleanArray> = filter.as_ref().and_then(|f| f.as_boolean_opt());
            states.update_batch(&values, &self.groups, filter, total)?;
            size += states.size();
        }
        self.reserved.try_resize(size + self.groups.capacity() * size_of::<usize>())
    }

    /// The states of the groups.
    fn finish(mut self) -> Result<Vec<RecordBatch>> {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt32Array::from(self.ids))];
        for function in &mut self.functions {
            columns.extend(match function {
                Accumulator::Own { states, .. } => states.state(EmitTo::All)?,
                Accumulator::Shared(place, shared_function) => match self.shared.get(*place) {
                    Some(shared) => shared.states(*shared_function)?,
                    None => return internal_err!("there is no such shared accumulator"),
                },
            });
        }
        let all = RecordBatch::try_new(self.schema, columns)?;
        let portions = (0..all.num_rows()).step_by(BATCH_GROUPS);
        Ok(portions.map(|from| all.slice(from, BATCH_GROUPS.min(all.num_rows() - from))).collect())
    }
}
