//! Turns the nodes of table functions into physical operators. Not for what the nodes are.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::SessionState;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::node::Node;
use crate::engine::bounds;
#[cfg(feature = "cluster")]
use crate::engine::cluster::FragmentNode;

/// The planner of DataFusion with our nodes.
#[derive(Debug)]
pub(in crate::engine) struct Planner;

struct Nodes;

#[async_trait]
impl QueryPlanner for Planner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(Nodes)]);
        match session.as_any().downcast_ref::<SessionState>() {
            Some(state) if bounds::are_changed(plan)? => {
                planner.create_physical_plan(plan, &bounds::without(state)).await
            }
            _ => planner.create_physical_plan(plan, session).await,
        }
    }
}

#[async_trait]
impl ExtensionPlanner for Nodes {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        #[cfg(feature = "cluster")]
        if let Some(fragment) = node.as_any().downcast_ref::<FragmentNode>() {
            return Ok(Some(fragment.physical()));
        }
        let planned = node.as_any().downcast_ref::<Node>().map(|node| node.physical(inputs.to_vec()));
        Ok(planned.transpose()?.map(|plan| Arc::new(plan) as _))
    }
}
