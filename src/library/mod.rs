//! The SQL library: the metrics and views that ship in the binary (`queries/`), those of the user, and the
//! lists of table functions. Each metric or view is an SQL file with a header. Not for running SQL.

mod definition;
mod file;
mod folders;
mod header;
mod made_functions;
mod queries;
mod shipped;
mod table_functions;

pub use definition::{Alias, Documented, Fold, METRIC_COLUMNS, Metric, Unit, View};
pub use file::Query;
pub use folders::ParsedFile;
pub(crate) use header::Header;
pub use header::Mistake;
pub use made_functions::{MADE_FUNCTIONS, MadeFunction};
pub use queries::Queries;
pub use table_functions::{TABLE_FUNCTIONS, TableFunction};
