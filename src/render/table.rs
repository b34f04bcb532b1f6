//! Aligned columns for people. The first rows determine the widths: output begins at once, memory is bounded.

use std::io::Write;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};

use super::aligned::{length, line};
use super::cell::{Cell, Column};
use super::printable::escaped;
use super::{Sink, unwritable};
use crate::error::Result;

/// Rows that determine the widths.
const MEASURED: usize = 1000;
/// Wider cells are shown whole and push the rest to the right.
const MAX_CELL_WIDTH: usize = 60;
/// Digits after the decimal point.
const DECIMALS: usize = 6;
/// Key in the metadata of a column: the text for a missing value, instead of NULL.
pub const SHOWN_NULL: &str = "btfdb.shown_null";

pub(super) struct Table<'a> {
    out: &'a mut dyn Write,
    names: Vec<String>,
    right: Vec<bool>,
    /// The texts for missing values.
    nulls: Vec<String>,
    /// Plans of EXPLAIN are texts of several lines.
    multiline: bool,
    widths: Option<Vec<usize>>,
    rows: Vec<Vec<String>>,
}

impl<'a> Table<'a> {
    pub fn new(schema: &SchemaRef, out: &'a mut dyn Write) -> Self {
        let names: Vec<_> = schema.fields().iter().map(|f| escaped(f.name(), |_| false)).collect();
        let right = schema.fields().iter().map(|f| Column::is_number(f.data_type())).collect();
        let multiline = names == ["plan_type", "plan"];
        let null = |f: &Arc<Field>| f.metadata().get(SHOWN_NULL).map_or("NULL", String::as_str).to_owned();
        let nulls = schema.fields().iter().map(null).collect();
        Self { out, names, right, nulls, multiline, widths: None, rows: Vec::new() }
    }

    /// Writes the buffered rows, with the header before the first of them.
    fn flush(&mut self) -> Result<()> {
        let mut text = String::new();
        if self.widths.is_none() {
            let longest = |(i, name): (usize, &String)| {
                let cells = self.rows.iter().filter_map(|r| r.get(i)).flat_map(|c| c.lines());
                cells
                    .map(length)
                    .chain([length(name)])
                    .max()
                    .unwrap_or(0)
                    .min(MAX_CELL_WIDTH.max(length(name)))
            };
            let widths: Vec<_> = self.names.iter().enumerate().map(longest).collect();
            line(&mut text, &self.names, &widths, &self.right);
            let rule: Vec<_> = widths.iter().map(|w| "-".repeat(*w)).collect();
            line(&mut text, &rule, &widths, &self.right);
            self.widths = Some(widths);
        }
        let widths = self.widths.as_deref().unwrap_or(&[]);
        for row in self.rows.drain(..) {
            let height = row.iter().map(|c| c.lines().count()).max().unwrap_or(1).max(1);
            for n in 0..height {
                let part: Vec<_> = row.iter().map(|c| c.lines().nth(n).unwrap_or("").to_owned()).collect();
                line(&mut text, &part, widths, &self.right);
            }
        }
        self.out.write_all(text.as_bytes()).map_err(unwritable)
    }
}

impl Sink for Table<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter().map(|c| Column::new(c.as_ref())).collect::<Result<Vec<_>>>()?;
        let mut other = Vec::new();
        for row in 0..batch.num_rows() {
            let multiline = self.multiline;
            let mut text = |(column, null): (&Column<'_>, &String)| match column.is_null(row) {
                true => null.clone(),
                false => text_of(column, row, multiline, &mut other),
            };
            self.rows.push(columns.iter().zip(&self.nulls).map(&mut text).collect());
            if self.rows.len() >= MEASURED {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.flush()
    }
}

/// A cell for people; `other` is a scratch buffer, empty before and after.
fn text_of(column: &Column<'_>, row: usize, multiline: bool, other: &mut Vec<u8>) -> String {
    match column.cell(row, other) {
        Cell::Null => "NULL".to_owned(),
        Cell::Text(text) => escaped(text, |c| multiline && c == '\n'),
        Cell::Fraction(value) => rounded(value),
        Cell::Number | Cell::Written => {
            let text = escaped(&String::from_utf8_lossy(other), |_| false);
            other.clear();
            text
        }
    }
}

fn rounded(value: f64) -> String {
    if value.abs() < 0.5 / 10f64.powi(DECIMALS as i32) {
        return format!("{value:e}");
    }
    let text = format!("{value:.DECIMALS$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The rows as lines of name and value, with an empty line between rows: for tables that are wider than the
/// terminal.
pub fn records(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<String> {
    let names: Vec<_> = schema.fields().iter().map(|f| escaped(f.name(), |_| false)).collect();
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
