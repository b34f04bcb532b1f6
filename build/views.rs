//! Emits what reads a table: the type of each column, and a view of all columns with its rows.

use crate::column_type::ColumnType;
use crate::tables::{Column, Table};

impl Column {
    /// The type that holds the column of a borrowed batch.
    fn view(&self) -> &'static str {
        match self.r#type {
            ColumnType::Name => "crate::schema::NameView<'a>",
            ColumnType::Text => "crate::schema::TextView<'a>",
            ColumnType::Flag => "crate::schema::FlagView<'a>",
            ColumnType::Unsigned => "crate::schema::NumberView<'a, u64>",
            _ => "crate::schema::NumberView<'a, i64>",
        }
    }

    /// The value of row `n` as a field of the row type.
    fn read(&self) -> String {
        let field = self.field();
        let get = if self.null.is_some() { "get" } else { "value" };
        let into = match (self.r#type, self.null.is_some()) {
            (ColumnType::Name, true) => ".map(Into::into)",
            (ColumnType::Name, false) => ".into()",
            _ => "",
        };
        format!("            {field}: self.{field}.{get}(n){into},\n")
    }
}

impl Table {
    /// The module of the columns of the table within `column_types`.
    pub fn column_types(&self) -> String {
        let (name, upper) = (&self.name, self.upper());
        let each = self.each(|c| {
            let (field, view, column) = (c.field(), c.view(), &c.name);
            format!(
                "        pub(crate) type {field}<'a> = {view};
        pub(crate) const {field}: &str = {column:?};
"
            )
        });
        format!(
            "    pub(crate) mod {name} {{
        pub(crate) const TABLE: &crate::schema::TableSpec = super::super::tables::{upper};
{each}    }}
"
        )
    }

    /// `BtfEventView`.
    pub fn view(&self) -> String {
        let (name, camel) = (&self.name, self.camel());
        let life = if self.has_texts() { "<'a>" } else { "" };
        let fields = self.each(|c| format!("        /// {}\n        {},\n", c.doc, c.field()));
        let values = self.each(Column::read);
        format!(
            "
view! {{
    /// All columns of a batch of `{name}`.
    pub struct {camel}View of {name} {{
{fields}    }}
}}

impl<'a> {camel}View<'a> {{
    /// A row; `None` behind the last one.
    pub fn row(&self, n: usize) -> Option<{camel}Row{life}> {{
        (n < self.len()).then(|| {camel}Row {{
{values}        }})
    }}

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = {camel}Row{life}> + use<'_, 'a> {{
        (0..self.len()).filter_map(|n| self.row(n))
    }}
}}
"
        )
    }
}
