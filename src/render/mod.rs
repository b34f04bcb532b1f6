//! Results → tables for people, CSV, TSV, JSON, Parquet and Arrow for programs; pictures → pages. Knows Arrow
//! batches and pictures only: not where they come from, and not where the bytes go.

mod aligned;
mod bars;
mod binary;
mod cell;
mod delimited;
pub mod html;
mod json;
mod markdown;
mod markup;
mod parallel;
#[cfg(feature = "png")]
pub mod pdf;
#[cfg(feature = "png")]
pub mod png;
mod printable;
pub mod svg;
mod table;
mod temporal;
#[cfg(feature = "png")]
mod tree;
mod unit;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};

use crate::error::{Error, ErrorKind, Result};
use crate::names::distinct;
use crate::words::words;

#[cfg(feature = "engine")]
pub(crate) use aligned::{line, widths};
pub use bars::bars;
#[cfg(feature = "engine")]
pub(crate) use cell::{append, write_integer};
#[cfg(feature = "engine")]
pub(crate) use markup::escaped;
#[cfg(feature = "engine")]
pub(crate) use parallel::PORTION;
pub(crate) use parallel::{Worker, in_order};
pub use printable::{PrintableWriter, printable};
pub use table::{SHOWN_NULL, records};
pub use unit::{InUnit, shifted};

words! {
    /// How rows are written.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Format {
        /// Aligned columns for people; control characters are escaped, long fractions are rounded.
        Table = "table",
        /// RFC 4180 with a header and `\n`: exact and complete. NULL is an empty field, an empty string is
        /// `""`.
        Csv = "csv",
        /// Columns separated by tabs, with a header; tab, line break and `\` in a cell are `\t`, `\n`, `\r`,
        /// `\\`. NULL is an empty field, and so is an empty string.
        Tsv = "tsv",
        /// One array of objects.
        Json = "json",
        /// One object per line.
        Jsonl = "jsonl",
        /// A table of Markdown; a bar in a cell is `\\|`. NULL is an empty cell.
        Markdown = "md",
        /// A Parquet file (zstd).
        Parquet = "parquet",
        /// An Arrow IPC file.
        Arrow = "arrow",
    }
}

impl Format {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        self.as_str()
    }

    /// The format of a file, by its extension in small letters.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "ndjson" => Some(Self::Jsonl),
            "markdown" => Some(Self::Markdown),
            "table" => None,
            word => Self::parse(word),
        }
    }

    /// True if a reader finds columns by their names: two columns of one name would lose one of them.
    fn needs_distinct_names(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl | Self::Parquet | Self::Arrow)
    }

    /// True if the output is not text, and not for a terminal.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rendered {
    /// Number of rows written.
    pub rows: u64,
    /// True when there were more rows than the limit.
    pub more: bool,
}

impl Rendered {
    /// The line under a table: the number of rows, or that there are more. Without a line break.
    pub fn footer(&self) -> String {
        match (self.rows, self.more) {
            (1, false) => "1 row".into(),
            (n, false) => format!("{n} rows"),
            (n, true) => format!("first {n} rows; there are more"),
        }
    }
}

trait Sink {
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Writes the rest; nothing can be written afterwards.
    fn finish(&mut self) -> Result<()>;
}

/// Writes batches as they come, at most `limit` rows of them; `None`: all. Lines of text are made on
/// `threads` threads; the output does not depend on it. JSON, Parquet and Arrow have a column of each name:
/// the later ones of columns with one name get numbers. Does not flush `out`.
///
/// # Errors
/// Those of `batches`, and [`ErrorKind::Io`] when `out` fails; its cause is then the [`io::Error`], so that
/// callers can recognise a closed pipe. Earlier output stays written.
pub fn render(
    schema: &SchemaRef,
    batches: &mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
    format: Format,
    out: &mut dyn Write,
    limit: Option<usize>,
    threads: usize,
) -> Result<Rendered> {
    let renamed = if format.needs_distinct_names() { renamed(schema) } else { None };
    let schema = renamed.as_ref().unwrap_or(schema);
    let mut shown = Shown {
        batches,
        renamed: renamed.clone(),
        left: limit.unwrap_or(usize::MAX),
        rendered: Rendered::default(),
        as_text: !format.is_binary(),
    };
    let delimited = |separator| delimited::Delimited { separator };
    let mut sink: Box<dyn Sink + '_> = match format {
        Format::Csv => return shown.lines(threads, delimited(b','), &delimited(b',').header(schema), out),
        Format::Tsv => return shown.lines(threads, delimited(b'\t'), &delimited(b'\t').header(schema), out),
        Format::Jsonl => return shown.lines(threads, json::Jsonl, &[], out),
        Format::Markdown => {
            return shown.lines(threads, markdown::Markdown, &markdown::Markdown::header(schema), out);
        }
        Format::Table => Box::new(table::Table::new(schema, out)),
        Format::Json => Box::new(json::Json::new(out)),
        Format::Parquet => Box::new(binary::Parquet::new(schema, out)?),
        Format::Arrow => Box::new(binary::Ipc::new(schema, out)?),
    };
    for rows in &mut shown {
        sink.write(&rows?.batch)?;
    }
    sink.finish()?;
    Ok(shown.rendered)
}

/// The schema with a name of its own for every column, if it is another one.
fn renamed(schema: &SchemaRef) -> Option<SchemaRef> {
    let fields = schema.fields();
    let names = distinct(fields.iter().map(|field| field.name().as_str()));
    if fields.iter().zip(&names).all(|(field, name)| field.name() == name) {
        return None;
    }
    let named = fields.iter().zip(names).map(|(field, name)| Field::clone(field).with_name(name));
    Some(Arc::new(Schema::new_with_metadata(named.collect::<Vec<_>>(), schema.metadata().clone())))
}

struct Rows {
    batch: RecordBatch,
    left: Range<usize>,
}

/// The batches up to the limit.
struct Shown<'a> {
    batches: &'a mut (dyn Iterator<Item = Result<RecordBatch>> + Send),
    /// Other names of the columns.
    renamed: Option<SchemaRef>,
    left: usize,
    rendered: Rendered,
    /// Every value has to have a text.
    as_text: bool,
}

impl Shown<'_> {
    fn named(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let Some(schema) = &self.renamed else { return Ok(batch) };
        let (_, columns, rows) = batch.into_parts();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(misfit)
    }

    /// Writes them as independent lines of text.
    fn lines(
        mut self,
        threads: usize,
        worker: impl Worker<Rows> + Copy,
        header: &[u8],
        out: &mut dyn Write,
    ) -> Result<Rendered> {
        out.write_all(header).map_err(unwritable)?;
        let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(unwritable);
        in_order(threads, &mut self, || worker, &mut write)?;
        Ok(self.rendered)
    }
}

impl Iterator for Shown<'_> {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rendered.more {
            let batch = match self.batches.next()? {
                Ok(batch) => batch,
                Err(e) => return Some(Err(e)),
            };
            self.rendered.more = batch.num_rows() > self.left;
            let rows = batch.num_rows().min(self.left);
            if rows > 0 {
                let shown = match self.named(batch.slice(0, rows)) {
                    Ok(shown) => shown,
                    Err(e) => return Some(Err(e)),
                };
                if let Err(e) = if self.as_text { temporal::check(&shown) } else { Ok(()) } {
                    return Some(Err(e));
                }
                self.left -= rows;
                self.rendered.rows += rows as u64;
                return Some(Ok(Rows { batch: shown, left: 0..rows }));
            }
        }
        None
    }
}

fn unwritable(error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot write the result").because(error)
}

/// A format has no way to write a value, or the value itself is bad.
fn unwritable_value(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Query, "a column cannot be written in this format")
        .because(error)
        .hint("CAST(x AS VARCHAR) is its text, if it has one")
}

/// A batch does not have the expected columns.
fn misfit(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Bug, "a result cannot be written").because(error)
}

#[cfg(test)]
mod tests;
