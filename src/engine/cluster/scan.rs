//! A fragment in the plans of who asks: a leaf whose rows come from the executors. What only makes fewer rows
//! of them (groups, conditions, the first ones in an order) is done by the executors as well. Not what a
//! fragment is (see `fragment`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, ScalarUDF, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    ReplaceChildrenOptions,
};
use datafusion_proto::physical_plan::{
    AsExecutionPlan, PhysicalExtensionCodec, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::PhysicalPlanNode;

use super::asked::{Asked, Fragment, RunFragment};
use super::failure::to_engine;
use crate::engine::functions::Checked;

type Plan = Arc<dyn ExecutionPlan>;

/// Batches that wait for whoever reads them.
const WAITING: usize = 2;

/// A fragment in a logical plan.
#[derive(Debug, Clone)]
pub(in crate::engine) struct FragmentNode {
    fragment: Fragment,
    schema: DFSchemaRef,
    runs: Runs,
}

/// Who runs a fragment, and of which statement it is.
pub(super) type Runs = (Arc<dyn RunFragment>, Arc<Asked>);

impl FragmentNode {
    pub fn plan(number: usize, of: &LogicalPlan, runs: Runs) -> LogicalPlan {
        let plan = of.display_indent_schema().to_string();
        let fragment = Fragment { number, plan, above: Vec::new() };
        let node = Self { fragment, schema: Arc::clone(of.schema()), runs };
        LogicalPlan::Extension(Extension { node: Arc::new(node) })
    }

    pub fn physical(&self) -> Plan {
        let schema = Arc::clone(self.schema.inner());
        Arc::new(FragmentExec::new(self.fragment.clone(), schema, self.runs.clone()))
    }

    fn key(&self) -> (usize, &str) {
        (self.fragment.number, &self.fragment.plan)
    }
}

impl PartialEq for FragmentNode {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for FragmentNode {}

impl Hash for FragmentNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for FragmentNode {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.key().partial_cmp(&other.key())
    }
}

impl UserDefinedLogicalNodeCore for FragmentNode {
    fn name(&self) -> &str {
        "Fragment"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        Vec::new()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.fragment.plan.lines().next().unwrap_or_default();
        write!(f, "Fragment {}: {first}", self.fragment.number)
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, _: Vec<LogicalPlan>) -> Result<Self> {
        Ok(self.clone())
    }
}

/// A fragment in a plan. It has two partitions, of which the second is empty, so that groups are made in two
/// steps, the first of which executors can do.
#[derive(Debug)]
pub(super) struct FragmentExec {
    fragment: Fragment,
    runs: Runs,
    properties: Arc<PlanProperties>,
}

impl FragmentExec {
    fn new(fragment: Fragment, schema: SchemaRef, runs: Runs) -> Self {
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(2),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Self { fragment, runs, properties }
    }
}

impl DisplayAs for FragmentExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let above = if self.fragment.above.is_empty() { "" } else { ", reduced" };
        write!(f, "FragmentExec: fragment={}{above}", self.fragment.number)
    }
}

impl ExecutionPlan for FragmentExec {
    fn name(&self) -> &'static str {
        "FragmentExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Plan> {
        Vec::new()
    }

    fn replace_children(self: Arc<Self>, children: Vec<Plan>, _: ReplaceChildrenOptions) -> Result<Plan> {
        match children.is_empty() {
            true => Ok(self),
            false => internal_err!("a fragment has no input"),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Plan>) -> Result<Plan> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let mut reader = RecordBatchReceiverStream::builder(Arc::clone(&schema), WAITING);
        if partition == 0 {
            let (to, fragment, (cluster, asked)) = (reader.tx(), self.fragment.clone(), self.runs.clone());
            reader.spawn_blocking(move || {
                let mut rows = |batch| to.blocking_send(Ok(batch)).is_ok();
                cluster.run(&asked, &fragment, &schema, &mut rows).map_err(|e| to_engine(&e))
            });
        }
        Ok(reader.build())
    }
}

/// The plan in which executors do what makes fewer rows of a fragment.
pub(in crate::engine) fn reduced(plan: Plan) -> Result<Plan> {
    let moved = plan.transform_down(|node| {
        if !reduces(&node) {
            return Ok(Transformed::no(node));
        }
        let Some(leaf) = leaf_of(&node) else { return Ok(Transformed::no(node)) };
        let Some(FragmentExec { fragment, runs, .. }) = leaf.downcast_ref::<FragmentExec>() else {
            return Ok(Transformed::no(node));
        };
        let message = PhysicalPlanNode::try_from_physical_plan(Arc::clone(&node), &Leaf(None))?;
        let mut above = Vec::new();
        message.try_encode(&mut above)?;
        let fragment = Fragment { above, ..fragment.clone() };
        let schema = node.schema();
        let mut reduced: Plan = Arc::new(FragmentExec::new(fragment, schema, runs.clone()));
        // The first rows of each task are not the first ones of all.
        if let Some(sort) = node.downcast_ref::<SortExec>() {
            let again = SortExec::new(sort.expr().clone(), reduced).with_fetch(sort.fetch());
            reduced = Arc::new(again.with_preserve_partitioning(true));
        }
        Ok(Transformed::new(reduced, true, TreeNodeRecursion::Jump))
    });
    moved.data()
}

/// An operator whose rows are made of those of a partition alone, and are fewer.
fn reduces(node: &Plan) -> bool {
    if let Some(groups) = node.downcast_ref::<AggregateExec>() {
        return *groups.mode() == AggregateMode::Partial;
    }
    match node.downcast_ref::<SortExec>() {
        Some(sort) => sort.fetch().is_some() && sort.preserve_partitioning(),
        None => false,
    }
}

/// The fragment below an operator, with nothing but filters and projections between them.
fn leaf_of(node: &Plan) -> Option<Plan> {
    let [input] = node.children()[..] else { return None };
    if input.is::<FragmentExec>() {
        return Some(Arc::clone(input));
    }
    // The first rows of each task are not the first ones of all.
    let passes = (input.is::<FilterExec>() || input.is::<ProjectionExec>()) && input.fetch().is_none();
    if passes { leaf_of(input) } else { None }
}

/// What is done with the rows of a fragment, over the plan of the fragment.
pub(in crate::engine) fn above(bytes: &[u8], fragment: Plan, context: &TaskContext) -> Result<Plan> {
    if bytes.is_empty() {
        return Ok(fragment);
    }
    PhysicalPlanNode::try_decode(bytes)?.try_into_physical_plan(context, &Leaf(Some(fragment)))
}

/// Stands for the fragment in plans that are passed on.
#[derive(Debug)]
struct Leaf(Option<Plan>);

impl PhysicalExtensionCodec for Leaf {
    fn try_decode(
        &self,
        _: &[u8],
        _: &[Plan],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Plan> {
        match &self.0 {
            Some(fragment) => Ok(Arc::clone(fragment)),
            None => internal_err!("the fragment of a plan is missing"),
        }
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        match Checked::of_bytes(bytes) {
            Some(checked) => Ok(Arc::new(ScalarUDF::from(checked))),
            None => internal_err!("there is no function {name}"),
        }
    }

    fn try_encode_udf(&self, function: &ScalarUDF, bytes: &mut Vec<u8>) -> Result<()> {
        if let Some(checked) = function.inner().downcast_ref::<Checked>() {
            bytes.extend(checked.to_bytes());
        }
        Ok(())
    }

    fn try_encode(&self, node: Plan, _: &mut Vec<u8>, _: &dyn PhysicalProtoConverterExtension) -> Result<()> {
        match node.is::<FragmentExec>() {
            true => Ok(()),
            false => internal_err!("{} is no operator for executors", node.name()),
        }
    }
}
