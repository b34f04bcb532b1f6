//! Single rows as lines of name and value: for tables that are wider than the terminal. Not for many rows,
//! which cannot be compared in this form.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::aligned::length;
use super::cell::Column;
use super::table::{escaped, text_of};
use crate::error::Result;

/// The rows as text, with an empty line between them.
pub fn records(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<String> {
    let names: Vec<_> = schema.fields().iter().map(|f| escaped(f.name(), false)).collect();
    let width = names.iter().map(|n| length(n)).max().unwrap_or(0);
    let mut rows = Vec::new();
    let mut other = Vec::new();
    for batch in batches {
        let columns = batch.columns().iter().map(|c| Column::new(c.as_ref())).collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let line = |(name, column): (&String, &Column<'_>)| {
                let blanks = " ".repeat(width - length(name));
                format!("{name}{blanks}  {}\n", text_of(column, row, false, &mut other))
            };
            rows.push(names.iter().zip(&columns).map(line).collect::<String>());
        }
    }
    Ok(rows.join("\n"))
}
