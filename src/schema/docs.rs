//! The tables as a page of Markdown, for the documentation and the terminal. Not the docs of the code.

use std::fmt::Write as _;

use super::{ColumnSpec, ColumnType, TABLES, TableSpec};

/// All tables as Markdown: what a row is, its order, and every column with its type and meaning.
pub fn docs() -> String {
    let mut out = String::from(
        "# Tables\n\nTimes are whole ticks of the database's time scale: nanoseconds, or picoseconds where the database \
         was created so.\n`time` and `…_at` are instants, all other times are durations. Columns marked † are in the path \
         of a file, not in the file.\n",
    );
    for table in TABLES {
        // Writing to a string cannot fail.
        let _ = write_table(&mut out, table);
    }
    out
}

fn write_table(out: &mut String, table: &TableSpec) -> std::fmt::Result {
    write!(out, "\n## `{}`\n\n{}\n\n", table.name, table.doc)?;
    match table.order {
        Some(order) => writeln!(out, "Order of the rows: {order}.\n")?,
        None => writeln!(out, "Order of the rows: `{}`.\n", table.sort.join("`, `"))?,
    }
    writeln!(out, "| column | type | meaning |\n|---|---|---|")?;
    table.columns.iter().try_for_each(|c| write_column(out, c))
}

fn write_column(out: &mut String, column: &ColumnSpec) -> std::fmt::Result {
    let mark = if column.partition { " †" } else { "" };
    let (name, ty, sql) = (column.name, column.ty.as_str(), type_in_sql(column.ty));
    write!(out, "| `{name}`{mark} | {ty}, `{sql}` | {}", column.doc)?;
    if let Some(reason) = column.null {
        write!(out, " Null when {reason}.")?;
    }
    writeln!(out, " |")
}

fn type_in_sql(ty: ColumnType) -> &'static str {
    match ty {
        ColumnType::Name | ColumnType::Text => "VARCHAR",
        ColumnType::Unsigned => "BIGINT UNSIGNED",
        ColumnType::Flag => "BOOLEAN",
        ColumnType::Instant
        | ColumnType::Duration
        | ColumnType::Integer
        | ColumnType::Count
        | ColumnType::Bytes => "BIGINT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_one_row_of_the_page() {
        let page = docs();
        for table in TABLES {
            assert!(page.contains(&format!("\n## `{}`\n", table.name)));
        }
        let columns: usize = TABLES.iter().map(|t| t.columns.len()).sum();
        let rows = page.lines().filter(|l| l.starts_with("| `")).count();
        assert_eq!(rows, columns);
        assert!(
            page.lines().filter(|l| l.starts_with("| `")).all(|l| l.matches('|').count() == 4),
            "a cell holds a bar"
        );
    }

    #[test]
    fn a_nullable_column_says_when() {
        assert!(docs().contains("| `note` | name, `VARCHAR` | Value of a signal, owner of an event, …: what BTF defines for the action. Null when the event has no note. |"));
    }
}
