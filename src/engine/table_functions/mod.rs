//! Table functions, for questions over intervals that are awkward in SQL: their calls as plans. Not for the
//! list of them (see `library`), for running them (see `operators`), or for functions of a row (see
//! `functions`).

mod call;
mod chains;
mod discovered;
mod made;
mod node;
mod parts;
mod plan;
mod planner;

pub(super) use chains::ChainsFunction;
#[cfg(feature = "cluster")]
pub(super) use chains::ChainsTable;
pub(super) use discovered::DiscoveredFunction;
#[cfg(feature = "cluster")]
pub(super) use discovered::DiscoveredTable;
pub(super) use made::{MadeCall, MadeTables, MakeRows};
pub(super) use node::{Node, Operation, Side};
pub(super) use parts::PartsFunction;
#[cfg(feature = "cluster")]
pub(super) use parts::PartsTable;
pub(super) use plan::TableFunctions;
pub(super) use planner::Planner;

use crate::library::{TABLE_FUNCTIONS, TableFunction};

/// The function of that name, in upper or lower case.
fn find(name: &str) -> Option<&'static TableFunction> {
    TABLE_FUNCTIONS.iter().find(|f| f.name.eq_ignore_ascii_case(name))
}
