//! The plan node of the overlap join: what it asks of its inputs, and the loop that feeds the sweep. Not for finding places
//! in plans where it fits.

use std::fmt;
use std::sync::Arc;

use arrow::compute::SortOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{JoinType, Result, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::execution_plan::{EmissionType, apply_expression_roots};
use datafusion::physical_plan::joins::utils::build_join_schema;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use futures::{StreamExt, stream};

use super::sweep::{Bounds, Step, Sweep};

/// Pairs of rows that overlap.
#[derive(Debug)]
pub(super) struct OverlapJoinExec {
    inputs: [Arc<dyn ExecutionPlan>; 2],
    bounds: [Bounds; 2],
    properties: Arc<PlanProperties>,
}

impl OverlapJoinExec {
    /// The columns are those of both inputs, one side after the other.
    pub fn new(inputs: [Arc<dyn ExecutionPlan>; 2], bounds: [Bounds; 2]) -> Self {
        let [left, right] = &inputs;
        let (schema, _) = build_join_schema(&left.schema(), &right.schema(), &JoinType::Inner);
        let partitions = match bounds[0].keys.is_empty() {
            true => 1,
            false => left.output_partitioning().partition_count(),
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::new(schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            left.properties().boundedness,
        );
        Self { inputs, bounds, properties: Arc::new(properties) }
    }
}

impl DisplayAs for OverlapJoinExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right] = &self.bounds;
        let sign = |strict| if strict { "<" } else { "<=" };
        let keys: Vec<_> = left.keys.iter().zip(&right.keys).map(|(l, r)| format!("{l} = {r}")).collect();
        write!(
            f,
            "OverlapJoinExec: {} {} {}, {} {} {}, keys=[{}]",
            left.lo,
            sign(left.strict),
            right.hi,
            right.lo,
            sign(right.strict),
            left.hi,
            keys.join(", ")
        )
    }
}

impl ExecutionPlan for OverlapJoinExec {
    fn name(&self) -> &'static str {
        "OverlapJoinExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        let distribution = |bounds: &Bounds| match bounds.keys.is_empty() {
            true => Distribution::SinglePartition,
            false => Distribution::KeyPartitioned(bounds.keys.clone()),
        };
        self.bounds.iter().map(distribution).collect()
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        let options = SortOptions { descending: false, nulls_first: false };
        let order = |bounds: &Bounds| {
            let order = LexOrdering::new([PhysicalSortExpr { expr: Arc::clone(&bounds.lo), options }]);
            order.map(OrderingRequirements::from)
        };
        self.bounds.iter().map(order).collect()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false, false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(self.bounds.iter().flat_map(|b| [&b.lo, &b.hi].into_iter().chain(&b.keys)), f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 2]>::try_from(children) {
            Ok(inputs) => Ok(Arc::new(Self::new(inputs, self.bounds.clone()))),
            Err(_) => internal_err!("OverlapJoinExec has two inputs"),
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let [left, right] = &self.inputs;
        let inputs =
            [left.execute(partition, Arc::clone(&context))?, right.execute(partition, Arc::clone(&context))?];
        let held = MemoryConsumer::new("OverlapJoinExec").register(context.memory_pool());
        let running = Running { inputs, sweep: Sweep::new(self.bounds.clone(), self.schema()), held };
        let next = |running: Option<Running>| async move {
            let mut running = running?;
            match running.next().await {
                Ok(Some(rows)) => Some((Ok(rows), Some(running))),
                Ok(None) => None,
                Err(e) => Some((Err(e), None)),
            }
        };
        let rows = stream::unfold(Some(running), next);
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

struct Running {
    inputs: [SendableRecordBatchStream; 2],
    sweep: Sweep,
    held: MemoryReservation,
}

impl Running {
    async fn next(&mut self) -> Result<Option<arrow::array::RecordBatch>> {
        loop {
            match self.sweep.step()? {
                Step::Needs(side) => {
                    let batch = self.inputs[side].next().await.transpose()?;
                    self.sweep.take(side, batch)?;
                    self.held.try_resize(self.sweep.memory())?;
                }
                Step::Rows(rows) => return Ok(Some(rows)),
                Step::Done => return Ok(None),
            }
        }
    }
}
