//! Operators of our own for what traces ask again and again: windows over rows in the order of time, groups by name. They
//! stand behind plain SQL: a rule puts them into plans. Not for anything that SQL has to name.

mod function;
mod grouped;
mod in_order;
mod keyed;
mod numbers;
mod rule;

pub(super) use keyed::OutOfOrder;
pub(super) use rule::UseOperators;

use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::physical_optimizer::PhysicalOptimizerRule;

/// The rules of the engine, and ours before the one that adds sorts and repartitions.
pub(super) fn rules(
    state: &SessionState,
    ours: UseOperators,
) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules = state.physical_optimizers().to_vec();
    let before = rules.iter().position(|r| r.name() == "EnsureRequirements").unwrap_or(0);
    rules.insert(before, Arc::new(ours));
    rules
}
