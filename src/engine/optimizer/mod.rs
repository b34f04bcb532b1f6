//! Optimizer rules: they put our operators into plans, and cut what is read. Not the operators (`operators`).

mod balance_scans;
mod dictionary_scans;
mod find_as_of_joins;
mod use_operators;

use std::sync::Arc;

use balance_scans::BalanceScans;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use dictionary_scans::DictionaryScans;
pub(super) use find_as_of_joins::FindAsOfJoins;
pub(crate) use use_operators::AssumedOrder;
use use_operators::UseOperators;

type Rules = Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>;

/// The rules of DataFusion, with ours before the one that adds sorts and repartitions. Rules of ours in
/// `rules` are replaced.
pub(super) fn with_ours(
    rules: &[Arc<dyn PhysicalOptimizerRule + Send + Sync>],
    assumed: AssumedOrder,
) -> Rules {
    let added: [Arc<dyn PhysicalOptimizerRule + Send + Sync>; 3] =
        [Arc::new(UseOperators { assumed }), Arc::new(BalanceScans), Arc::new(DictionaryScans)];
    let is_ours = |name: &str| added.iter().any(|rule| rule.name() == name);
    let mut rules: Rules = rules.iter().filter(|r| !is_ours(r.name())).map(Arc::clone).collect();
    let before = rules.iter().position(|r| r.name() == "EnsureRequirements").unwrap_or(0);
    rules.splice(before..before, added);
    rules
}
