//! The plan node of everything that runs in one pass over sorted inputs: how it asks for them, feeds the pass and hands its
//! rows on. Not for what a pass does.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
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

/// What runs in one pass; shown as its arguments in a plan.
pub(in crate::engine) trait Pass: fmt::Debug + fmt::Display + Send + Sync {
    /// Its name in a plan.
    fn name(&self) -> &'static str;

    /// The columns it gives.
    fn schema(&self, inputs: &[SchemaRef]) -> Result<SchemaRef>;

    /// What the rows of an input are kept apart by: rows with other keys have nothing to do with each other.
    fn keys(&self, input: usize) -> Exprs;

    /// The order of the rows of an input; `None`: any.
    fn order(&self, input: usize) -> Option<LexOrdering>;

    /// Its rows come in the order of the first input.
    fn keeps_order(&self) -> bool {
        false
    }

    /// A row is so little work that inputs that are in order are better left as they are than dealt out by key.
    fn is_light(&self) -> bool {
        false
    }

    /// All expressions over the inputs.
    fn expressions(&self) -> Exprs;

    fn start(&self, inputs: Vec<SchemaRef>, schema: SchemaRef) -> Box<dyn Running>;
}

/// What [`Running::step`] wants or gives.
pub(in crate::engine) enum Step {
    /// The next batch of this input, or its end.
    Needs(usize),
    Rows(RecordBatch),
    Done,
}

/// A pass that is under way.
pub(in crate::engine) trait Running: Send {
    /// Goes on as far as possible.
    fn step(&mut self) -> Result<Step>;

    /// Takes what [`Step::Needs`] asked for.
    fn take(&mut self, input: usize, batch: Option<RecordBatch>) -> Result<()>;

    /// Bytes that are held.
    fn memory(&self) -> usize;
}

/// See the module.
#[derive(Debug)]
pub(in crate::engine) struct PassExec {
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    pass: Arc<dyn Pass>,
    /// All keys in one partition.
    together: bool,
    properties: Arc<PlanProperties>,
}

impl PassExec {
    pub fn try_new(inputs: Vec<Arc<dyn ExecutionPlan>>, pass: Arc<dyn Pass>) -> Result<Self> {
        let together = pass.keys(0).is_empty();
        Self::with(inputs, pass, together)
    }

    fn with(inputs: Vec<Arc<dyn ExecutionPlan>>, pass: Arc<dyn Pass>, together: bool) -> Result<Self> {
        let schemas: Vec<_> = inputs.iter().map(|input| input.schema()).collect();
        let partitions = match inputs.first() {
            Some(first) if !together => first.output_partitioning().partition_count(),
            _ => 1,
        };
        let bounded = inputs.iter().map(|input| input.properties().boundedness);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(pass.schema(&schemas)?),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            bounded.fold(Boundedness::Bounded, |all, one| if one.is_unbounded() { one } else { all }),
        );
        Ok(Self { inputs, pass, together, properties: Arc::new(properties) })
    }

    /// The same pass over all keys together, where the inputs are in order as they are; `as_is` puts an input that is in
    /// order into one partition.
    pub fn in_order(
        &self,
        as_is: impl Fn(&Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>>,
    ) -> Result<Option<Self>> {
        if !self.together && !self.pass.is_light() {
            return Ok(None);
        }
        let mut inputs = Vec::with_capacity(self.inputs.len());
        for (i, input) in self.inputs.iter().enumerate() {
            let known = &input.properties().eq_properties;
            if let Some(order) = self.pass.order(i)
                && !known.ordering_satisfy(order)?
            {
                return Ok(None);
            }
            inputs.push(as_is(input)?.unwrap_or_else(|| Arc::clone(input)));
        }
        Self::with(inputs, Arc::clone(&self.pass), true).map(Some)
    }
}

impl DisplayAs for PassExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pass.name(), self.pass)
    }
}

impl ExecutionPlan for PassExec {
    fn name(&self) -> &str {
        self.pass.name()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        let distribution = |input| match self.together {
            true => Distribution::SinglePartition,
            false => Distribution::KeyPartitioned(self.pass.keys(input)),
        };
        (0..self.inputs.len()).map(distribution).collect()
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        (0..self.inputs.len()).map(|input| self.pass.order(input).map(OrderingRequirements::from)).collect()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        (0..self.inputs.len()).map(|input| input == 0 && self.pass.keeps_order()).collect()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        apply_expression_roots(&self.pass.expressions(), f)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::with(children, Arc::clone(&self.pass), self.together)?))
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
        let held = MemoryConsumer::new(self.pass.name()).register(context.memory_pool());
        let feeder = Feeder { inputs, running: self.pass.start(schemas, self.schema()), held };
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

/// Brings the inputs to a pass.
struct Feeder {
    inputs: Vec<SendableRecordBatchStream>,
    running: Box<dyn Running>,
    held: MemoryReservation,
}

impl Feeder {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.running.step()? {
                Step::Needs(input) => {
                    let batch = match self.inputs.get_mut(input) {
                        Some(input) => input.next().await.transpose()?,
                        None => None,
                    };
                    self.running.take(input, batch)?;
                    self.held.try_resize(self.running.memory())?;
                }
                Step::Rows(rows) => return Ok(Some(rows)),
                Step::Done => return Ok(None),
            }
        }
    }
}
