//! Optimizer rules: they put our operators into plans, and cut what is read. Not the operators (`operators`).

mod balance_scans;
mod check_arithmetic;
mod dictionary_scans;
mod fences;
mod find_as_of_joins;
mod lists;
mod types;
mod use_operators;

use std::fmt;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

use balance_scans::balance_scans;
pub(super) use check_arithmetic::CheckArithmetic;
use dictionary_scans::dictionary_scans;
use fences::Fenced;
pub(super) use find_as_of_joins::FindAsOfJoins;
pub(crate) use use_operators::AssumedOrder;
use use_operators::use_operators;

type Plan = Arc<dyn ExecutionPlan>;
/// The names of our rules.
const OURS: [&str; 3] = ["UseOperators", "BalanceScans", "DictionaryScans"];

type Rules = Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>;

/// A rule of ours: its name, and what it makes of a plan for so many threads.
struct Rule<F>(&'static str, F);

impl<F> fmt::Debug for Rule<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl<F: Fn(Plan, usize) -> Result<Plan> + Send + Sync + 'static> PhysicalOptimizerRule for Rule<F> {
    fn optimize(&self, plan: Plan, config: &ConfigOptions) -> Result<Plan> {
        (self.1)(plan, config.execution.target_partitions)
    }

    fn name(&self) -> &str {
        self.0
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The rules without ours that put operators of ours into plans.
#[cfg(feature = "cluster")]
pub(super) fn without_ours(rules: &[Arc<dyn PhysicalOptimizerRule + Send + Sync>]) -> Rules {
    rules.iter().filter(|rule| !OURS.contains(&rule.name())).cloned().collect()
}

/// The rules of DataFusion, with ours before the one that adds sorts; those of ours in `rules` are replaced.
pub(super) fn with_ours(
    rules: &[Arc<dyn PhysicalOptimizerRule + Send + Sync>],
    assumed: AssumedOrder,
) -> Rules {
    let added: [Arc<dyn PhysicalOptimizerRule + Send + Sync>; 3] = [
        Arc::new(Rule(OURS[0], move |plan, threads| use_operators(plan, assumed, threads))),
        Arc::new(Rule(OURS[1], balance_scans)),
        Arc::new(Rule(OURS[2], |plan, _| dictionary_scans(plan))),
    ];
    let is_ours = |name: &str| OURS.contains(&name);
    let mut rules: Rules = rules.iter().filter(|r| !is_ours(r.name())).map(Fenced::if_needed).collect();
    let before = rules.iter().position(|r| r.name() == "EnsureRequirements").unwrap_or(0);
    rules.splice(before..before, added);
    rules
}
