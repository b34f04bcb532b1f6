//! Names that tell `sum(x)` from `sum(CAST(x AS DOUBLE))`: for DataFusion both are called `sum(x)`, and one
//! statement could not have both. Not for the names of the columns of a result.

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawAggregateExpr, RawWindowExpr};

/// Names the arguments of aggregates and windows that have a cast in them.
#[derive(Debug)]
pub(super) struct CastNames;

impl ExprPlanner for CastNames {
    fn plan_aggregate(&self, mut call: RawAggregateExpr) -> Result<PlannerResult<RawAggregateExpr>> {
        call.args = named(call.args)?;
        Ok(PlannerResult::Original(call))
    }

    fn plan_window(&self, mut call: RawWindowExpr) -> Result<PlannerResult<RawWindowExpr>> {
        call.args = named(call.args)?;
        Ok(PlannerResult::Original(call))
    }
}

fn named(arguments: Vec<Expr>) -> Result<Vec<Expr>> {
    let name = |argument: Expr| {
        // A constant is read as such: the offset of `lag`, the share of `percentile_cont`.
        let is_cast = |e: &Expr| Ok(matches!(e, Expr::Cast(_) | Expr::TryCast(_)));
        if !argument.any_column_refs() || !argument.exists(is_cast)? {
            return Ok(argument);
        }
        let name = argument.to_string();
        Ok(argument.alias(name))
    };
    arguments.into_iter().map(name).collect()
}
