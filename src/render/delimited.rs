//! CSV and TSV. Not for people: nothing is aligned, rounded or cut.

use arrow::datatypes::SchemaRef;

use super::Rows;
use super::cell::{Cell, Column, put};
use super::parallel::{PORTION, Worker};
use crate::error::Result;

/// Writes rows, separated by a comma (CSV) or a tab (TSV).
#[derive(Debug, Clone, Copy)]
pub(super) struct Delimited {
    pub separator: u8,
}

impl Delimited {
    pub fn header(self, schema: &SchemaRef) -> Vec<u8> {
        let mut out = Vec::new();
        for (i, field) in schema.fields().iter().enumerate() {
            self.separate(i, &mut out);
            self.text(field.name(), &mut out);
        }
        out.push(b'\n');
        out
    }

    fn separate(self, column: usize, out: &mut Vec<u8>) {
        if column > 0 {
            out.push(self.separator);
        }
    }

    fn text(self, text: &str, out: &mut Vec<u8>) {
        if self.separator == b'\t' { escape(text, out) } else { quote(text, out) }
    }
}

impl Worker<Rows> for Delimited {
    fn work(&mut self, rows: &mut Rows, out: &mut Vec<u8>) -> Result<bool> {
        let columns =
            rows.batch.columns().iter().map(|c| Column::new(c.as_ref())).collect::<Result<Vec<_>>>()?;
        for row in rows.left.by_ref() {
            for (i, column) in columns.iter().enumerate() {
                self.separate(i, out);
                let begin = out.len();
                match column.cell(row, out) {
                    Cell::Null | Cell::Number => {}
                    Cell::Text(text) => self.text(text, out),
                    Cell::Fraction(value) => put(out, format_args!("{value}")),
                    Cell::Written => {
                        let written = out.split_off(begin);
                        match std::str::from_utf8(&written) {
                            Ok(text) => self.text(text, out),
                            Err(_) => out.extend(written),
                        }
                    }
                }
            }
            out.push(b'\n');
            if out.len() >= PORTION {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// RFC 4180; an empty string is quoted to distinguish it from NULL.
fn quote(text: &str, out: &mut Vec<u8>) {
    // Without an early exit: names are short, and nearly none has such a byte.
    let special = text.bytes().fold(text.is_empty(), |any, b| any | matches!(b, b',' | b'"' | b'\n' | b'\r'));
    if !special {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    out.push(b'"');
    for b in text.bytes() {
        if b == b'"' {
            out.push(b'"');
        }
        out.push(b);
    }
    out.push(b'"');
}

fn escape(text: &str, out: &mut Vec<u8>) {
    for b in text.bytes() {
        match b {
            b'\t' => out.extend(b"\\t"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\\' => out.extend(b"\\\\"),
            b => out.push(b),
        }
    }
}
