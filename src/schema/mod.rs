//! The tables: the content of `schemas/*.toml` as table descriptions, column names, typed rows to write,
//! typed views to read, Arrow schemas and Parquet settings. No table or column is spelled anywhere else. Not
//! for where the rows are kept (see [`crate::store`]).

mod column_type;
mod parquet;
#[cfg(feature = "engine")]
pub(crate) mod result;
mod rows;
mod spec;
mod view;

pub use column_type::{ColumnType, Encoding};
pub use generated::*;
pub(crate) use parquet::{PAGE_ROWS, ROW_GROUP_ROWS, compression};
pub use rows::Optional;
pub use spec::{ColumnSpec, Occurrences, TableSpec};
pub use view::{FlagView, NameView, NumberView, TextView, Translated};
pub(crate) use view::{find_column, view};

/// Written by the build script (`build/`).
#[allow(dead_code, reason = "every table is made the same, whatever is used of it")]
mod generated {
    use arrow::array::RecordBatch;
    use arrow::datatypes::SchemaRef;

    use super::column_type::{ColumnType, Encoding};
    use super::rows::{Optional, TakeArray as _, TextColumn, batch_of};
    use super::spec::{ColumnSpec, Occurrences, TableSpec};
    use super::view::view;
    use crate::error::Result;
    use crate::names::{Name, NameColumn};

    include!(concat!(env!("OUT_DIR"), "/schema.rs"));
}

pub fn table(name: &str) -> Option<&'static TableSpec> {
    TABLES.iter().find(|t| t.name == name)
}
