//! Any table in any format, with the same selection as BTF. Not for queries: the columns are those of the table.

use std::io::Write;

use super::Selection;
use crate::engine::Session;
use crate::error::{Error, Result, did_you_mean};
use crate::render::{Format, render};
use crate::schema::{ColumnType, TABLES, TableSpec, columns, table};

/// What was exported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExportedTable {
    /// Number of rows.
    pub rows: u64,
    /// Parts of the selection that were left out of account because the table has no column for them, in words:
    /// "the window", "the entities", "the types".
    pub unused: Vec<&'static str>,
}

/// Writes the selected rows of a table, partition columns included, in an order that does not depend on threads.
///
/// A row belongs to the window that its first moment lies in. Tables that describe a whole recording (`recording`,
/// `source`, `diagnostic`) have no moment and are written whole.
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when there is no such table or the recording is not clear, otherwise those of a
/// query and of [`render`].
pub fn export_table(
    session: &Session,
    name: &str,
    format: Format,
    selection: &Selection,
    out: &mut dyn Write,
) -> Result<ExportedTable> {
    let table = table(name).ok_or_else(|| {
        let names = || TABLES.iter().map(|t| t.name);
        let near = did_you_mean(name, names()).map(|near| format!("did you mean '{near}'?"));
        let hint =
            near.unwrap_or_else(|| format!("the tables are: {}", names().collect::<Vec<_>>().join(", ")));
        Error::usage(format!("there is no table '{name}'")).hint(hint)
    })?;
    let recording = selection.recording(session)?;
    let condition = selection.condition(table, &recording);
    let sql = format!("SELECT * FROM {} {} ORDER BY {}", table.name, condition.sql(), order(table));
    let mut rows = match is_sequenced(table) {
        true => session.sql(&sql, &condition.params())?,
        false => session.sql_sparing(&sql, &condition.params())?,
    };
    let schema = rows.schema().clone();
    let rendered = render(&schema, &mut rows, format, out, None, session.threads())?;
    Ok(ExportedTable { rows: rendered.rows, unused: condition.unused })
}

/// True when what the rows of a file are sorted by tells any two of them apart, so that nothing needs to be sorted.
fn is_sequenced(table: &TableSpec) -> bool {
    table.sort.len() > 1
}

/// The sort order of the table, or its instants where it has none; then all that can tell two rows apart.
fn order(table: &TableSpec) -> String {
    let instants = table.file_columns().filter(|c| c.ty == ColumnType::Instant && table.sort.is_empty());
    let mut terms: Vec<_> = table.sort.iter().copied().chain(instants.map(|c| c.name)).collect();
    // Sequence numbers count within a core: the core decides next, and nothing more is needed.
    let sequenced = is_sequenced(table);
    let others =
        table.columns.iter().filter(|c| if sequenced { c.partition } else { c.ty != ColumnType::Text });
    // There is one recording: to name it would have the engine sort what lies sorted.
    let known = |name: &&str| terms.contains(name) || *name == columns::recording::RECORDING;
    let others: Vec<_> = others.map(|c| c.name).filter(|name| !known(name)).collect();
    terms.extend(others);
    terms.join(", ")
}
