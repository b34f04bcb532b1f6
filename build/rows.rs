//! Emits what writes a table: a typed row, and a growing batch of rows.

use crate::column_type::ColumnType;
use crate::tables::{Column, Table};

/// How a row holds a string, and how a name.
const TEXT: &str = "&'a str";
const NAME: &str = "Name<'a>";

impl Column {
    /// The type of one value, without the option.
    fn rust(&self) -> &'static str {
        match self.r#type {
            ColumnType::Name => NAME,
            ColumnType::Text => TEXT,
            ColumnType::Flag => "bool",
            ColumnType::Unsigned => "u64",
            _ => "i64",
        }
    }

    /// The type of one value of a row.
    fn value(&self) -> String {
        if self.null.is_some() { format!("Option<{}>", self.rust()) } else { self.rust().into() }
    }

    /// The type of the column of a batch.
    fn vector(&self) -> String {
        match self.r#type {
            ColumnType::Name => "NameColumn".into(),
            ColumnType::Text => "TextColumn".into(),
            ColumnType::Flag => format!("Vec<{}>", self.value()),
            _ if self.null.is_some() => format!("Optional<{}>", self.rust()),
            _ => format!("Vec<{}>", self.value()),
        }
    }

    /// The statement that appends `row.FIELD`.
    fn push(&self) -> String {
        let f = self.field();
        match (self.r#type, self.null.is_some()) {
            (ColumnType::Name | ColumnType::Text, true) => format!("self.{f}.push_opt(row.{f})"),
            _ => format!("self.{f}.push(row.{f})"),
        }
    }
}

impl Table {
    /// True when a row borrows: it has a name or a text.
    pub fn has_texts(&self) -> bool {
        self.file_columns().any(|c| matches!(c.r#type, ColumnType::Name | ColumnType::Text))
    }

    /// `BtfEventRow` and `BtfEventRows` of the table.
    pub fn rows(&self) -> String {
        let (name, upper, camel) = (&self.name, self.upper(), self.camel());
        let first = self.file_columns().next().map(Column::field).unwrap_or_default();
        let (life, anonymous) = if self.has_texts() { ("<'a>", "<'_>") } else { ("", "") };
        let values = self.each(|c| format!("    /// {}\n    pub {}: {},\n", c.doc, c.field(), c.value()));
        let vectors = self.each(|c| format!("    /// {}\n    pub {}: {},\n", c.doc, c.field(), c.vector()));
        let empty = self.each(|c| format!("            {}: Default::default(),\n", c.field()));
        let pushes = self.each(|c| format!("        {};\n", c.push()));
        let arrays = self.each(|c| format!("            self.{}.take_array()?,\n", c.field()));
        format!(
            "
/// One row of `{name}`, without its partition columns.
#[derive(Debug, Clone, Copy)]
pub struct {camel}Row{life} {{
{values}}}

/// A growing batch of rows of `{name}`; the columns are public, so that one can be filled at once.
#[derive(Debug)]
pub struct {camel}Rows {{
    schema: SchemaRef,
{vectors}}}

impl Default for {camel}Rows {{
    fn default() -> Self {{
        Self {{
            schema: tables::{upper}.arrow_schema(),
{empty}        }}
    }}
}}

impl {camel}Rows {{
    /// An empty batch.
    pub fn new() -> Self {{
        Self::default()
    }}

    /// Appends a row.
    #[inline(always)]
    pub fn push(&mut self, row: {camel}Row{anonymous}) {{
{pushes}    }}

    /// The number of rows.
    pub fn len(&self) -> usize {{
        self.{first}.len()
    }}

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {{
        self.len() == 0
    }}

    /// The rows so far as Arrow arrays; the batch is empty afterwards and keeps its capacity.
    ///
    /// # Errors
    /// When columns that were filled by hand do not fit together.
    pub fn take_batch(&mut self) -> Result<RecordBatch> {{
        let columns = vec![
{arrays}        ];
        batch_of(&self.schema, columns)
    }}
}}
"
        )
    }
}
