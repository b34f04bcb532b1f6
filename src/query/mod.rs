//! SQL over a database: the only module that names the query engine. Tables are the files of the manifest, views and
//! metrics are SQL files (`queries/`), statements are read-only. Not for showing results.

mod catalog;
mod docs;
mod engine;
mod failure;
mod file;
mod functions;
mod groups;
mod latest;
mod library;
mod metrics;
mod operators;
mod records;
mod regression;
mod resequence;
mod run;
mod session;
mod statement;
mod stats;
mod stdlib;
mod table;
mod table_functions;
mod times;

pub use catalog::Relation;
pub use docs::docs;
pub use metrics::{MetricFilter, SUMMARY_COLUMNS};
pub(crate) use records::Order;
pub use records::StoredRecords;
pub use regression::{COMPARED, MetricDelta, compare_metrics};
pub use run::{Param, ResultStream};
pub use session::{Session, SessionOptions};
pub use statement::{Statement, check_syntax, is_unfinished, split};
pub use stdlib::{Documented, METRIC_COLUMNS, Metric, Unit, View, metric, metric_sql, metrics, views};
pub use table_functions::{TABLE_FUNCTIONS, TableFunction};

#[cfg(test)]
pub(crate) mod tests;
