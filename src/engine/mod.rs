//! SQL over a database: the only room that names DataFusion. Tables are the files of the log, views are
//! those of the library, table functions and chains compute rows of their own, operators and optimizer rules
//! speed up the common questions about traces. Statements only read databases. Not for showing results, and
//! not for metrics (see [`crate::metrics`]).

mod bounds;
mod cast_names;
mod catalog;
mod chains;
#[cfg(feature = "cluster")]
pub(crate) mod cluster;
mod context;
mod definitions;
mod discover;
mod discovery;
mod events;
mod failure;
mod failure_text;
mod failure_words;
mod files;
mod from_first;
mod functions;
mod operators;
mod optimizer;
mod own_tables;
mod param;
mod plan;
mod records;
mod register;
mod relations;
mod result_stream;
mod row_filter;
mod run;
mod runtime;
mod session;
mod sql;
mod statement;
mod table;
mod table_functions;
mod time_columns;
mod validate;

pub(crate) use discover::discover;
pub(crate) use discovery::chain_rows;
pub(crate) use events::{EventOrder, events, imported_as};
pub(crate) use failure::{failed, is_out_of_order};
pub(crate) use operators::KeyInterner;
pub(crate) use optimizer::AssumedOrder;

pub use param::Param;
pub use records::StoredRecords;
pub use relations::Relation;
pub use result_stream::ResultStream;
pub use row_filter::RowFilter;
pub use session::{Operation, RowsAsked, Session, SessionOptions};
pub use statement::{Statement, check_syntax, is_unfinished, split};
pub use validate::queries_with_folders;

#[cfg(test)]
pub(crate) mod tests;
