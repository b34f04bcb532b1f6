//! Keeps rules of DataFusion from moving filters and orders to where they change an answer. Not the moving.
//!
//! * Columns of one name. The rule that moves filters down finds the columns of a filter by name in the input
//!   of an operator (`FilterRemapper`, `ProjectionExec::collect_reverse_alias` of DataFusion 55). A join has
//!   two columns of one name when both sides have one, and then the rule moves the filter to the wrong side:
//!   `a RIGHT JOIN b ON a.core = b.core WHERE NOT (upper(a.core) LIKE 'X' AND …)` became a filter of `b`. So
//!   nothing moves into an operator with such names; the optimizer of logical plans, which knows the tables
//!   of columns, has moved most before.
//! * Limits. A scan with a limit takes the conditions that a sort or a join makes while it runs, and reads
//!   its row groups in the order that a sort above it would like: `SELECT … FROM (SELECT … ORDER BY time
//!   LIMIT 9) ORDER BY time DESC LIMIT 2` then took its nine rows from the end of the file. So nothing moves
//!   into an operator with a limit.

use std::any::Any;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};

use crate::engine::operators::one_input;

type Plan = Arc<dyn ExecutionPlan>;

/// A rule of DataFusion, between fences.
#[derive(Debug)]
pub(super) struct Fenced {
    rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>,
    /// Which operators have a fence around them.
    needed: fn(&Plan) -> bool,
}

impl Fenced {
    /// The rule, fenced if it is one that needs it.
    pub fn if_needed(
        rule: &Arc<dyn PhysicalOptimizerRule + Send + Sync>,
    ) -> Arc<dyn PhysicalOptimizerRule + Send + Sync> {
        let is_fenced = (rule.as_ref() as &dyn Any).is::<Self>();
        let needed: fn(&Plan) -> bool = match rule.name() {
            _ if is_fenced => return Arc::clone(rule),
            name if name.starts_with("FilterPushdown") => {
                |node| has_equal_names(node) || node.fetch().is_some()
            }
            // It looks for sorts, also for those with a limit, and moves nothing past them.
            "PushdownSort" => |node| node.fetch().is_some() && !node.is::<SortExec>(),
            _ => return Arc::clone(rule),
        };
        Arc::new(Self { rule: Arc::clone(rule), needed })
    }
}

impl PhysicalOptimizerRule for Fenced {
    fn optimize(&self, plan: Plan, config: &ConfigOptions) -> Result<Plan> {
        let fenced = plan.transform_up(|node| {
            let needed = (self.needed)(&node);
            Ok(if needed { Transformed::yes(Fence::around(node)) } else { Transformed::no(node) })
        });
        let moved = self.rule.optimize(fenced.data()?, config)?;
        let free = moved.transform_up(|node| match node.downcast_ref::<Fence>() {
            Some(fence) => Ok(Transformed::yes(Arc::clone(&fence.input))),
            None => Ok(Transformed::no(node)),
        });
        free.data()
    }

    fn name(&self) -> &str {
        self.rule.name()
    }

    fn schema_check(&self) -> bool {
        self.rule.schema_check()
    }
}

fn has_equal_names(plan: &Plan) -> bool {
    let schema = plan.schema();
    let mut names = HashSet::with_capacity(schema.fields().len());
    !schema.fields().iter().all(|field| names.insert(field.name().as_str()))
}

/// What no filter and no order passes: by default, an operator takes none. It never runs.
#[derive(Debug)]
struct Fence {
    input: Plan,
    properties: Arc<PlanProperties>,
}

impl Fence {
    fn around(input: Plan) -> Plan {
        let properties = Arc::clone(input.properties());
        Arc::new(Self { input, properties })
    }
}

impl DisplayAs for Fence {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fence")
    }
}

impl ExecutionPlan for Fence {
    one_input!(Fence, |_this, input| Self { properties: Arc::clone(input.properties()), input });

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        internal_err!("a fence of the optimizer is left in a plan")
    }
}
