//! The list of tables and views, for people. Not for planning (see `catalog`).

use crate::library::{Queries, View};
use crate::schema::{TABLES, TableSpec};
use crate::store::Database;

/// A table or view that can be queried, for completion, help and suggestions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    pub name: String,
    pub doc: String,
    /// Column names, in order.
    pub columns: Vec<String>,
    /// True for a view of the library, false for a table of the database.
    pub view: bool,
}

/// The tables that this database has rows for, then all views, and then the other tables, which are empty. In
/// an empty database, the tables come first.
pub(super) fn relations(database: &Database, queries: &Queries) -> Vec<Relation> {
    let table = |t: &&TableSpec| Relation {
        name: t.name.to_owned(),
        doc: t.doc.to_owned(),
        columns: t.columns.iter().map(|c| c.name.to_owned()).collect(),
        view: false,
    };
    let has_rows = |t: &&TableSpec| database.rows(t) > 0;
    let (filled, empty): (Vec<&TableSpec>, Vec<&TableSpec>) = TABLES.iter().partition(has_rows);
    let views = queries.views().iter().map(view);
    match filled.is_empty() {
        true => empty.iter().map(table).chain(views).collect(),
        false => filled.iter().map(table).chain(views).chain(empty.iter().map(table)).collect(),
    }
}

fn view(view: &View) -> Relation {
    Relation {
        name: view.name.clone(),
        doc: view.doc.clone(),
        columns: view.columns.iter().map(|c| c.name.to_string()).collect(),
        view: true,
    }
}
