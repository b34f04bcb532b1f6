//! Operators of our own for what traces ask again and again: windows over rows in the order of time, groups by name, intervals
//! that overlap, and what runs in one pass over intervals or events. A rule puts them into plans of plain SQL; those that SQL
//! has to name are called by `table_functions`. Not for names in SQL.

mod as_of;
mod balance;
mod figures;
mod function;
mod grouped;
mod in_order;
mod kept;
mod keyed;
mod name_is;
mod names;
mod numbers;
mod order;
mod overlap;
mod pair;
mod pass;
mod reorder;
mod rule;
mod steps;
mod tally;
mod windows;

pub(super) use as_of::{AsOf, AsOfSide};
pub(crate) use numbers::Numbers;
pub(super) use order::OutOfOrder;
pub(super) use overlap::can_be_key;
pub(super) use pair::{Pair, columns_of_pairs};
pub(super) use pass::{Pass, PassExec};
pub(crate) use rule::Trust;
pub(super) use rule::UseOperators;
pub(super) use steps::{Question, Steps};

use std::sync::Arc;

use balance::BalanceScans;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use names::ScanNames;

type Rules = Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>;

/// `rules` of the engine with ours before the one that adds sorts and repartitions.
pub(super) fn with(rules: &[Arc<dyn PhysicalOptimizerRule + Send + Sync>], ours: UseOperators) -> Rules {
    let added: [Arc<dyn PhysicalOptimizerRule + Send + Sync>; 3] =
        [Arc::new(ours), Arc::new(BalanceScans), Arc::new(ScanNames)];
    let is_ours = |name: &str| added.iter().any(|rule| rule.name() == name);
    let mut rules: Rules = rules.iter().filter(|r| !is_ours(r.name())).map(Arc::clone).collect();
    let before = rules.iter().position(|r| r.name() == "EnsureRequirements").unwrap_or(0);
    rules.splice(before..before, added);
    rules
}
