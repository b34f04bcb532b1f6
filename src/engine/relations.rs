//! The list of everything that can be queried, for completion, help and suggestions. Not the catalog of the
//! engine (see `catalog`).

use crate::library::{Queries, View};
use crate::schema::{TABLES, TableSpec};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    pub name: String,
    pub doc: String,
    /// Column names, in order.
    pub columns: Vec<String>,
    /// True for a view of the library, false for a table of the database.
    pub view: bool,
}

/// All tables of the schema, which exist in every database, and then all views.
pub(super) fn relations(queries: &Queries) -> Vec<Relation> {
    let table = |t: &TableSpec| Relation {
        name: t.name.to_owned(),
        doc: t.doc.to_owned(),
        columns: t.columns.iter().map(|c| c.name.to_owned()).collect(),
        view: false,
    };
    TABLES.iter().map(table).chain(queries.views().iter().map(view)).collect()
}

fn view(view: &View) -> Relation {
    Relation {
        name: view.name.clone(),
        doc: view.doc.clone(),
        columns: view.columns.iter().map(|c| c.name.to_string()).collect(),
        view: true,
    }
}
