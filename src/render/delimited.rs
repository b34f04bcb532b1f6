//! CSV and TSV. Not for people: nothing is aligned, rounded or cut.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::cell::{Cell, Column, put};
use super::{Sink, unwritable};
use crate::error::Result;

/// Bytes that are collected before they are written.
const PORTION: usize = 1 << 16;

pub(super) struct Delimited<'a> {
    out: &'a mut dyn Write,
    buffer: Vec<u8>,
    separator: u8,
}

impl<'a> Delimited<'a> {
    pub fn csv(schema: &SchemaRef, out: &'a mut dyn Write) -> Self {
        Self::new(schema, out, b',')
    }

    pub fn tsv(schema: &SchemaRef, out: &'a mut dyn Write) -> Self {
        Self::new(schema, out, b'\t')
    }

    fn new(schema: &SchemaRef, out: &'a mut dyn Write, separator: u8) -> Self {
        let mut sink = Self { out, buffer: Vec::with_capacity(2 * PORTION), separator };
        for (i, field) in schema.fields().iter().enumerate() {
            sink.separate(i);
            sink.text(field.name());
        }
        sink.buffer.push(b'\n');
        sink
    }

    fn separate(&mut self, column: usize) {
        if column > 0 {
            self.buffer.push(self.separator);
        }
    }

    fn text(&mut self, text: &str) {
        if self.separator == b'\t' { escape(text, &mut self.buffer) } else { quote(text, &mut self.buffer) }
    }
}

impl Sink for Delimited<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter().map(|c| Column::new(c.as_ref())).collect::<Result<Vec<_>>>()?;
        let mut other = Vec::new();
        for row in 0..batch.num_rows() {
            for (i, column) in columns.iter().enumerate() {
                self.separate(i);
                match column.cell(row, &mut other) {
                    Cell::Null => {}
                    Cell::Text(text) => self.text(text),
                    Cell::Fraction(value) => put(&mut self.buffer, format_args!("{value}")),
                    Cell::Written => {
                        match std::str::from_utf8(&other) {
                            Ok(text) => self.text(text),
                            Err(_) => self.buffer.extend(&other),
                        }
                        other.clear();
                    }
                }
            }
            self.buffer.push(b'\n');
            if self.buffer.len() >= PORTION {
                self.out.write_all(&self.buffer).map_err(unwritable)?;
                self.buffer.clear();
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer).map_err(unwritable)
    }
}

/// RFC 4180; an empty string is quoted to tell it from NULL.
fn quote(text: &str, out: &mut Vec<u8>) {
    if !text.is_empty() && !text.bytes().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r')) {
        out.extend(text.as_bytes());
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
