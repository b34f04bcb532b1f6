//! The SQL library: metrics and views as files with a header, those that ship in the binary (`queries/`) and those of the user,
//! and the list of table functions. Text only: not for planning or running SQL (see [`crate::engine`]).

mod folders;
mod header;
mod queries;
mod shipped;
mod table_functions;

pub use folders::ParsedFile;
pub(crate) use header::Header;
pub use queries::{Alias, Documented, Fold, METRIC_COLUMNS, Metric, Queries, Unit, View};
pub use table_functions::{TABLE_FUNCTIONS, TableFunction};
