//! Any table in any format, with the selection of BTF. Not for queries: the columns are those of the table.

use std::io::Write;

use super::{Content, ExportRequest, Exported, Exporter, ExporterInfo};
use crate::engine::Session;
use crate::error::{Error, Result};
use crate::render::{Format, render};
use crate::schema::{ColumnType, TABLES, TableSpec, columns, table};
use crate::selection::Selection;

/// Any table as text with commas.
pub(super) static CSV: TableFile =
    TableFile { format: Format::Csv, info: info("csv", &["csv"], "A table as text with commas") };

/// Any table as Parquet.
pub(super) static PARQUET: TableFile =
    TableFile { format: Format::Parquet, info: info("parquet", &["parquet"], "A table as Parquet") };

/// Any table in a format of [`crate::render`].
pub(super) struct TableFile {
    format: Format,
    info: ExporterInfo,
}

const fn info(name: &'static str, extensions: &'static [&'static str], help: &'static str) -> ExporterInfo {
    ExporterInfo { name, title: name, help, extensions, content: Content::Table, options: &[] }
}

impl Exporter for TableFile {
    fn info(&self) -> &ExporterInfo {
        &self.info
    }

    fn write(&self, session: &Session, request: &ExportRequest, out: &mut dyn Write) -> Result<Exported> {
        // The request has a filter only for the table of kernel events. The session stays as it is.
        let filter = match request.kernel_filter.is_all() {
            true => String::new(),
            false => format!("AND ({})", request.kernel_filter.sql()?),
        };
        let (table, rows) = (request.table.as_str(), (&request.selection, filter.as_str()));
        let (rows, unused) = export_table(session, table, self.format, rows, out)?;
        let warning = |part| format!("table {table} has no column for {part}; it was not applied");
        let warnings = unused.into_iter().map(warning).collect();
        Ok(Exported { warnings, ..Exported::new(format!("{rows} rows"), rows == 0) })
    }
}

/// Writes the selected rows of a table, with partition columns, in an order independent of threads.
///
/// A row belongs to the window of its first instant. Tables that describe a whole recording (`recording`,
/// `source`, `diagnostic`) have no instant and are written whole. `filter` is empty, or `AND` and a condition
/// over the columns. Returns the number of rows, and the parts of the selection that the table has no column
/// for: "the window", "the entities", "the types".
pub(super) fn export_table(
    session: &Session,
    name: &str,
    format: Format,
    (selection, filter): (&Selection, &str),
    out: &mut dyn Write,
) -> Result<(u64, Vec<&'static str>)> {
    let table = table(name).ok_or_else(|| {
        let error = Error::usage(format!("there is no table '{name}'"));
        error.hint_near(name, TABLES.iter().map(|t| t.name), |all| format!("the tables are: {all}"))
    })?;
    let recording = selection.recording(session)?;
    let condition = selection.condition(table, &recording);
    let sql = format!("SELECT * FROM {} {} {filter} ORDER BY {}", table.name, condition.sql(), order(table));
    let mut rows = match is_sequenced(table) {
        true => session.sql(&sql, &condition.params())?,
        false => session.sql_low_memory(&sql, &condition.params())?,
    };
    let schema = rows.schema().clone();
    let rendered = render(&schema, &mut rows, format, out, None, session.threads())?;
    Ok((rendered.rows, condition.unused))
}

/// True if the sort columns of a table identify a row, so that no sort is needed.
fn is_sequenced(table: &TableSpec) -> bool {
    table.sort.len() > 1
}

/// The sort order of the table, or its instants if it has none; then everything that distinguishes rows.
fn order(table: &TableSpec) -> String {
    let instants = table.file_columns().filter(|c| c.ty == ColumnType::Instant && table.sort.is_empty());
    let mut terms: Vec<_> = table.sort.iter().copied().chain(instants.map(|c| c.name)).collect();
    // Sequence numbers count per core, so the core is the last term.
    let sequenced = is_sequenced(table);
    let others =
        table.columns.iter().filter(|c| if sequenced { c.partition } else { c.ty != ColumnType::Text });
    // There is only one recording; naming it would make the engine sort what is sorted already.
    let known = |name: &&str| terms.contains(name) || *name == columns::recording::RECORDING;
    let others: Vec<_> = others.map(|c| c.name).filter(|name| !known(name)).collect();
    terms.extend(others);
    terms.join(", ")
}
