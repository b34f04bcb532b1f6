//! The plan node of all operators that stream over sorted inputs in one pass: it requires the order, feeds
//! the operator and returns its rows. Not for what an operator does.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr,
};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, apply_expression_roots};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use futures::{StreamExt, stream};

type Exprs = Vec<Arc<dyn PhysicalExpr>>;

/// An operator that reads each input once; `Display` shows its arguments in a plan.
pub(in crate::engine) trait StreamingOperator:
    fmt::Debug + fmt::Display + Send + Sync
{
    fn name(&self) -> &'static str;

    fn schema(&self, inputs: &[SchemaRef]) -> Result<SchemaRef>;

    /// The keys of the rows of an input: rows with different keys are independent of each other.
    fn keys(&self, input: usize) -> Exprs;

    /// The order of the rows of an input; `None`: any.
    fn order(&self, input: usize) -> Option<LexOrdering>;

    /// The output is in the order of the first input.
    fn keeps_order(&self) -> bool {
        false
    }

    /// The work per row is too little for partitioning by key: sorted inputs stay in one partition.
    fn is_light(&self) -> bool {
        false
    }

    fn expressions(&self) -> Exprs;

    fn start(&self, inputs: Vec<SchemaRef>, schema: SchemaRef) -> Box<dyn OperatorRun>;
}

/// The result of [`OperatorRun::step`].
pub(in crate::engine) enum Progress {
    /// The next batch of this input, or its end.
    Needs(usize),
    Rows(RecordBatch),
    Done,
}

/// An execution of a [`StreamingOperator`].
pub(in crate::engine) trait OperatorRun: Send {
    /// Continues as far as possible.
    fn step(&mut self) -> Result<Progress>;

    /// Adds the input that [`Progress::Needs`] asked for.
    fn take(&mut self, input: usize, batch: Option<RecordBatch>) -> Result<()>;

    fn memory(&self) -> usize;
}

#[derive(Debug)]
pub(in crate::engine) struct StreamingExec {
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    operator: Arc<dyn StreamingOperator>,
    one_partition: bool,
    properties: Arc<PlanProperties>,
}

impl StreamingExec {
    pub fn try_new(
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        operator: Arc<dyn StreamingOperator>,
    ) -> Result<Self> {
        let one_partition = operator.keys(0).is_empty();
        Self::with(inputs, operator, one_partition)
    }

    fn with(
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        operator: Arc<dyn StreamingOperator>,
        one_partition: bool,
    ) -> Result<Self> {
        let schemas: Vec<_> = inputs.iter().map(|input| input.schema()).collect();
        // Equal keys of different types have different hashes, so they would meet in one partition by chance
        // only.
        let types = |(input, schema): (usize, &SchemaRef)| {
            operator.keys(input).iter().map(|key| key.data_type(schema)).collect::<Result<Vec<_>>>()
        };
        let types = schemas.iter().enumerate().map(types).collect::<Result<Vec<_>>>()?;
        if types.windows(2).any(|pair| pair[0] != pair[1]) {
            return internal_err!("the keys of {} have different types: {types:?}", operator.name());
        }
        let partitions = match inputs.first() {
            Some(first) if !one_partition => first.output_partitioning().partition_count(),
            _ => 1,
        };
        let bounded = inputs.iter().map(|input| input.properties().boundedness);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(operator.schema(&schemas)?),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            bounded.fold(Boundedness::Bounded, |all, one| if one.is_unbounded() { one } else { all }),
        );
        Ok(Self { inputs, operator, one_partition, properties: Arc::new(properties) })
    }

    /// The same operator over all keys in one partition, if the inputs are in order without a sort; `as_is`
    /// merges the partitions of such an input into one.
    pub fn in_order(
        &self,
        as_is: impl Fn(&Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>>,
    ) -> Result<Option<Self>> {
        if !self.one_partition && !self.operator.is_light() {
            return Ok(None);
        }
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for (i, input) in self.inputs.iter().enumerate() {
            let known = &input.properties().eq_properties;
            if let Some(order) = self.operator.order(i)
                && !known.ordering_satisfy(order)?
            {
                return Ok(None);
            }
            inputs.push(as_is(input)?.unwrap_or_else(|| Arc::clone(input)));
        }
        Self::with(inputs, Arc::clone(&self.operator), true).map(Some)
    }
}

impl DisplayAs for StreamingExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operator.name(), self.operator)
    }
}

impl ExecutionPlan for StreamingExec {
    fn name(&self) -> &str {
        self.operator.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        let distribution = |input| match self.one_partition {
            true => Distribution::SinglePartition,
            false => Distribution::KeyPartitioned(self.operator.keys(input)),
        };
        (0..self.inputs.len()).map(distribution).collect()
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        (0..self.inputs.len())
            .map(|input| self.operator.order(input).map(OrderingRequirements::from))
            .collect()
    }

    /// See `KeyedWindowExec`, for why it says no where an order is needed.
    fn maintains_input_order(&self) -> Vec<bool> {
        let keeps = |input| input == 0 && self.operator.keeps_order() && self.operator.order(input).is_none();
        (0..self.inputs.len()).map(keeps).collect()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(&self.operator.expressions(), f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::with(children, Arc::clone(&self.operator), self.one_partition)?))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let inputs = self.inputs.iter().map(|input| input.execute(partition, Arc::clone(&context)));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let schemas = self.inputs.iter().map(|input| input.schema()).collect();
        let held = MemoryConsumer::new(self.operator.name()).register(context.memory_pool());
        let feeder = Feeder { inputs, running: self.operator.start(schemas, self.schema()), held };
        let next = |feeder: Option<Feeder>| async move {
            let mut feeder = feeder?;
            match feeder.next().await {
                Ok(Some(rows)) => Some((Ok(rows), Some(feeder))),
                Ok(None) => None,
                Err(e) => Some((Err(e), None)),
            }
        };
        let rows = stream::unfold(Some(feeder), next);
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

/// Feeds an operator with the batches of its inputs.
struct Feeder {
    inputs: Vec<SendableRecordBatchStream>,
    running: Box<dyn OperatorRun>,
    held: MemoryReservation,
}

impl Feeder {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.running.step()? {
                Progress::Needs(input) => {
                    let batch = match self.inputs.get_mut(input) {
                        Some(input) => input.next().await.transpose()?,
                        None => None,
                    };
                    self.running.take(input, batch)?;
                    self.held.try_resize(self.running.memory())?;
                }
                Progress::Rows(rows) => return Ok(Some(rows)),
                Progress::Done => return Ok(None),
            }
        }
    }
}
