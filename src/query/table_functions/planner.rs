//! How the nodes of our table functions become operators, in the words of the engine. Not for what they are.

use std::pin::Pin;
use std::sync::Arc;

use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::node::Node;

/// Plans as the engine does, and our nodes too.
#[derive(Debug)]
pub(in crate::query) struct Planner;

struct Nodes;

type Planning<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl QueryPlanner for Planner {
    // Written out because the engine declares the method with a macro that is not ours to depend on.
    fn create_physical_plan<'life0, 'life1, 'life2, 'async_trait>(
        &'life0 self,
        plan: &'life1 LogicalPlan,
        session: &'life2 dyn Session,
    ) -> Planning<'async_trait, Arc<dyn ExecutionPlan>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(Nodes)]);
            planner.create_physical_plan(plan, session).await
        })
    }
}

impl ExtensionPlanner for Nodes {
    fn plan_extension<'life0, 'life1, 'life2, 'life3, 'life4, 'life5, 'life6, 'life7, 'async_trait>(
        &'life0 self,
        _: &'life1 dyn PhysicalPlanner,
        node: &'life2 dyn UserDefinedLogicalNode,
        _: &'life3 [&'life4 LogicalPlan],
        inputs: &'life5 [Arc<dyn ExecutionPlan>],
        _: &'life6 dyn Session,
        _: &'life7 PhysicalPlanningContext,
    ) -> Planning<'async_trait, Option<Arc<dyn ExecutionPlan>>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        'life3: 'async_trait,
        'life4: 'async_trait,
        'life5: 'async_trait,
        'life6: 'async_trait,
        'life7: 'async_trait,
        Self: 'async_trait,
    {
        let planned = node.as_any().downcast_ref::<Node>().map(|node| node.physical(inputs.to_vec()));
        Box::pin(async move { Ok(planned.transpose()?.map(|plan| Arc::new(plan) as _)) })
    }
}
