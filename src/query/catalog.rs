//! The manifest → tables of the engine, and the list of everything that can be queried. Not for reading files.

use std::sync::Arc;

use datafusion::prelude::SessionContext;

use super::failure;
use super::stdlib::View;
use super::table::Table;
use crate::error::Result;
use crate::schema::{TABLES, TableSpec};
use crate::store::Database;

/// A table or view that can be queried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Name in SQL.
    pub name: String,
    /// What a row is.
    pub doc: String,
    /// Column names, in order.
    pub columns: Vec<String>,
    /// True for a view of the library, false for a table of the database.
    pub view: bool,
}

/// All tables of the schema; they exist in every database.
pub(super) fn tables() -> Vec<Relation> {
    let table = |t: &TableSpec| Relation {
        name: t.name.to_owned(),
        doc: t.doc.to_owned(),
        columns: t.columns.iter().map(|c| c.name.to_owned()).collect(),
        view: false,
    };
    TABLES.iter().map(table).collect()
}

pub(super) fn view(view: &View) -> Relation {
    Relation {
        name: view.name.to_owned(),
        doc: view.doc.clone(),
        columns: view.columns.iter().map(|c| c.name.to_owned()).collect(),
        view: true,
    }
}

/// Makes every table of the schema known to the engine, with the files that the manifest lists for it.
pub(super) fn register_tables(context: &SessionContext, database: &Arc<Database>) -> Result<()> {
    for spec in TABLES {
        let table = Table::new(Arc::clone(database), spec);
        context.register_table(spec.name, Arc::new(table)).map_err(|e| failure::from_engine(&e, "", &[]))?;
    }
    Ok(())
}
