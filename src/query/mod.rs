//! SQL over a database: the only module that names the query engine. Tables are the files of the manifest, views and
//! metrics are SQL files (`queries/`, and those of the user), table functions and chains make rows of their own, statements are
//! read-only. Not for showing results.

mod bins;
mod catalog;
mod chain;
mod docs;
mod engine;
mod failure;
mod file;
mod functions;
mod gather;
mod groups;
mod header;
mod kernel_filter;
mod latest;
mod library;
mod measurement;
mod metrics;
mod operators;
mod plan;
mod presence;
mod queries;
mod records;
mod regression;
mod resequence;
mod row_filter;
mod run;
mod scan;
mod session;
mod sql_path;
mod statement;
mod stats;
mod stdlib;
mod summary;
mod sums;
mod table;
mod table_functions;
mod times;
mod vet;
mod windows;

pub use bins::Bin;
pub use catalog::Relation;
pub use chain::{Chain, ChainStep, Instance};
pub use docs::docs;
pub use kernel_filter::{KernelFilter, Who};
pub use measurement::{MEASUREMENT, MEASUREMENT_SQL};
pub use metrics::MetricFilter;
pub use queries::{Alias, Documented, Fold, METRIC_COLUMNS, Metric, Queries, Unit, View};
pub(crate) use records::Order;
pub use records::StoredRecords;
pub use regression::{COMPARED, MetricDelta, compare_metrics};
pub(crate) use resequence::Resequenced;
pub use row_filter::RowFilter;
pub use run::{Param, ResultStream};
pub(crate) use scan::{Scan, Within};
pub use session::{Session, SessionOptions};
pub use statement::{Statement, check_syntax, is_unfinished, split};
pub use summary::{Histogram, SUMMARY_COLUMNS, bins_of};
pub use table_functions::{TABLE_FUNCTIONS, TableFunction};
pub use windows::TimeWindows;

#[cfg(test)]
pub(crate) mod tests;
