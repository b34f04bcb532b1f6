//! The tables: what `schemas/*.toml` says, as table descriptions, column names, typed rows, Arrow schemas and
//! Parquet settings. No table or column is spelled anywhere else. Not for where the rows are kept (see
//! [`crate::store`]).

mod docs;
mod parquet;
mod rows;
mod spec;
mod text_list;

pub use docs::docs;
pub use generated::*;
pub(crate) use parquet::{PAGE_ROWS, ROW_GROUP_ROWS, compression};
pub(crate) use rows::begins_with;
pub use rows::{Dictionary, Name, NameColumn, Numbering, Optional, TextColumn};
pub use spec::{ColumnSpec, ColumnType, Encoding, TableSpec};
pub use text_list::TextList;

/// Written by `build.rs`.
mod generated {
    use arrow::array::RecordBatch;
    use arrow::datatypes::SchemaRef;

    use super::rows::{Name, NameColumn, Optional, TakeArray as _, TextColumn, batch_of};
    use super::spec::{ColumnSpec, ColumnType, Encoding, TableSpec};
    use crate::error::Result;

    include!(concat!(env!("OUT_DIR"), "/schema.rs"));
}

/// The table of that name.
pub fn table(name: &str) -> Option<&'static TableSpec> {
    TABLES.iter().find(|t| t.name == name)
}
