//! Statements on a cluster: who asks plans the statement, and leaves its fragments to executors, which plan
//! the same text, and so find the same fragments. Only texts and numbers are passed on, and what is done with
//! the rows of a fragment. Not what a fragment is (see `fragment`).

use std::sync::Arc;

use datafusion::common::{Result, exec_err};
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;

use super::asked::{Asked, Fragment, RunFragment};
use super::fragment::{cut, fragments, is_of_database};
use super::scan::{FragmentNode, above, reduced};
use crate::engine::optimizer::without_ours;

/// The plan of who asks: what is not left to executors. `None` if there is no fragment, or if executors
/// cannot plan the same, because something else than the database is read.
pub(in crate::engine) async fn distributed(
    state: &SessionState,
    optimized: LogicalPlan,
    (cluster, asked): (&Arc<dyn RunFragment>, &Arc<Asked>),
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if !is_of_database(&optimized)? {
        return Ok(None);
    }
    let mut count = 0;
    let rest = cut(optimized, &mut |fragment| {
        count += 1;
        Ok(FragmentNode::plan(count - 1, &fragment, (Arc::clone(cluster), Arc::clone(asked))))
    })?;
    if count == 0 {
        return Ok(None);
    }
    // Our operators share numbers of names in memory; the ones of DataFusion can be passed on.
    let rules = without_ours(state.physical_optimizers());
    let state =
        SessionStateBuilder::new_from_existing(state.clone()).with_physical_optimizer_rules(rules).build();
    let plan = state.query_planner().create_physical_plan(&rest, &state).await?;
    reduced(plan).map(Some)
}

/// The plan of a fragment of a statement, as an executor runs it on the recordings of its session.
pub(in crate::engine) async fn fragment_plan(
    context: &SessionContext,
    asked: &Asked,
    fragment: &Fragment,
) -> Result<Arc<dyn ExecutionPlan>> {
    let state = context.state();
    let plan = asked.plan(state.clone()).await?;
    let found = fragments(&plan)?.into_iter().nth(fragment.number);
    let Some(found) = found.filter(|f| f.display_indent_schema().to_string() == fragment.plan) else {
        return exec_err!("the statement has another plan at an executor");
    };
    let found = state.query_planner().create_physical_plan(&found, &state).await?;
    above(&fragment.above, found, &context.task_ctx())
}
