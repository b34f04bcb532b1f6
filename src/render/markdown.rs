//! Tables of Markdown (GitHub's), for reports. Not for people at a terminal: nothing is aligned or cut.

use arrow::datatypes::SchemaRef;

use super::Rows;
use super::cell::{Cell, Column, put};
use super::parallel::{PORTION, Worker};
use crate::error::Result;

#[derive(Debug, Clone, Copy)]
pub(super) struct Markdown;

impl Markdown {
    /// The names, and the line under them: numbers are on the right.
    pub fn header(schema: &SchemaRef) -> Vec<u8> {
        let (mut names, mut line): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
        for field in schema.fields() {
            names.extend(b"| ");
            text(field.name(), &mut names);
            names.push(b' ');
            line.extend(if field.data_type().is_numeric() { &b"|---:"[..] } else { b"|---" });
        }
        names.extend(b"|\n");
        line.extend(b"|\n");
        names.extend(line);
        names
    }
}

impl Worker<Rows> for Markdown {
    fn work(&mut self, rows: &mut Rows, out: &mut Vec<u8>) -> Result<bool> {
        let columns =
            rows.batch.columns().iter().map(|c| Column::new(c.as_ref())).collect::<Result<Vec<_>>>()?;
        for row in rows.left.by_ref() {
            for column in &columns {
                out.extend(b"| ");
                let begin = out.len();
                match column.cell(row, out) {
                    Cell::Null | Cell::Number => {}
                    Cell::Text(cell) => text(cell, out),
                    Cell::Fraction(value) => put(out, format_args!("{value}")),
                    Cell::Written => {
                        let written = out.split_off(begin);
                        text(&String::from_utf8_lossy(&written), out);
                    }
                }
                out.push(b' ');
            }
            out.extend(b"|\n");
            if out.len() >= PORTION {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A bar would end the cell, and a line break the row.
fn text(text: &str, out: &mut Vec<u8>) {
    for b in text.bytes() {
        match b {
            b'|' => out.extend(b"\\|"),
            b'\n' | b'\r' => out.push(b' '),
            b => out.push(b),
        }
    }
}
