//! Emits `schema.rs`: the descriptions of all tables, the names of their columns, and what [`crate::rows`] and
//! [`crate::views`] emit per table.

use crate::tables::{Column, Occurrences, Table};

/// The text of `schema.rs`.
pub fn generate(tables: &[Table]) -> String {
    let each = |part: fn((usize, &Table)) -> String| tables.iter().enumerate().map(part).collect::<String>();
    let count = tables.len();
    let specs = each(|(_, t)| t.spec());
    let statics = each(|(n, t)| {
        format!("    /// `{}`.\n    pub static {}: &TableSpec = &ALL[{n}];\n", t.name, t.upper())
    });
    let columns = each(|(_, t)| t.column_names());
    let column_types = each(|(_, t)| t.column_types());
    let rows = each(|(_, t)| t.rows() + &t.view());
    format!(
        "\
static ALL: [TableSpec; {count}] = [
{specs}];

/// Every table, by name.
pub static TABLES: &[TableSpec] = &ALL;

/// The tables, to name one in code.
pub mod tables {{
    use super::{{ALL, TableSpec}};

{statics}}}

/// The names of all columns, one module per table.
pub mod columns {{
{columns}}}

/// The name of each column and the type that a view reads it as, for the macro `view`.
#[allow(non_camel_case_types, non_upper_case_globals, dead_code, reason = \"named as in the table\")]
pub(crate) mod column_types {{
{column_types}}}
{rows}"
    )
}

impl Table {
    /// One string per column of the file, one after the other.
    pub fn each(&self, part: impl Fn(&Column) -> String) -> String {
        self.file_columns().map(part).collect()
    }

    fn spec(&self) -> String {
        let Self { name, doc, sort, order, .. } = self;
        let columns: String = self.column.iter().map(Column::spec).collect();
        let occurrences = match &self.occurrences {
            None => "None".to_owned(),
            Some(Occurrences { columns, time, kind, kinds_without }) => format!(
                "Some(Occurrences {{ columns: {columns:?}, time: {time:?}, kind: {kind:?}, \
                 kinds_without: &{kinds_without:?} }})"
            ),
        };
        format!(
            "\
    TableSpec {{
        name: {name:?},
        doc: {doc:?},
        sort: &{sort:?},
        order: {order:?},
        occurrences: {occurrences},
        columns: &[
{columns}        ],
    }},
"
        )
    }

    fn column_names(&self) -> String {
        let name = &self.name;
        let line = |c: &Column| {
            let upper = c.name.to_uppercase();
            format!("        /// {}\n        pub const {upper}: &str = {:?};\n", c.doc, c.name)
        };
        let columns: String = self.column.iter().map(line).collect();
        format!("    /// Columns of `{name}`.\n    pub mod {name} {{\n{columns}    }}\n")
    }
}

impl Column {
    fn spec(&self) -> String {
        let Self { name, r#type, doc, null, partition, .. } = self;
        let encoding = self.encoding();
        format!(
            "\
            ColumnSpec {{
                name: {name:?},
                ty: ColumnType::{type:?},
                doc: {doc:?},
                null: {null:?},
                partition: {partition},
                encoding: Encoding::{encoding:?},
            }},
"
        )
    }
}
