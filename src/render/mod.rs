//! Results → something to look at or to process further: tables for people, CSV, TSV, JSON, Parquet and Arrow for
//! programs. Knows Arrow batches only: not where they come from, and not where the bytes go.

mod binary;
mod cell;
mod delimited;
mod json;
mod table;

use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::error::{Error, ErrorKind, Result};

#[cfg(feature = "engine")]
pub(crate) use cell::{write_integer, write_unsigned};

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Aligned columns for people; control characters are escaped, long fractions are rounded.
    Table,
    /// RFC 4180 with a header and `\n`: exact and complete. NULL is an empty field, an empty string is `""`.
    Csv,
    /// Columns separated by tabs, with a header; tab, line break and `\` in a cell are `\t`, `\n`, `\r`, `\\`.
    /// NULL is an empty field, and so is an empty string.
    Tsv,
    /// One array of objects.
    Json,
    /// One object per line.
    Jsonl,
    /// A Parquet file (zstd).
    Parquet,
    /// An Arrow IPC file.
    Arrow,
}

impl Format {
    /// All formats, in the order of the help.
    pub const ALL: [Self; 7] =
        [Self::Table, Self::Csv, Self::Tsv, Self::Json, Self::Jsonl, Self::Parquet, Self::Arrow];

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// The format of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// True when the output is not text: nothing for a terminal.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rendered {
    /// Number of rows written.
    pub rows: u64,
    /// True when there were more rows than the limit.
    pub more: bool,
}

impl Rendered {
    /// The line under a table: how many rows there are, or that there are more. Without a line break.
    pub fn footer(&self) -> String {
        match (self.rows, self.more) {
            (1, false) => "1 row".into(),
            (n, false) => format!("{n} rows"),
            (n, true) => format!("first {n} rows; there are more"),
        }
    }
}

/// Something that batches can be written to.
trait Sink {
    fn write(&mut self, batch: &RecordBatch) -> Result<()>;
    /// Writes what is left; nothing can be written afterwards.
    fn finish(&mut self) -> Result<()>;
}

/// Writes batches as they come, at most `limit` rows of them; `None`: all. Does not flush `out`.
///
/// # Errors
/// Those of `batches`, and [`ErrorKind::Io`] when `out` fails; its cause is then the [`io::Error`], so that a closed
/// pipe can be told from a full disk. What was written until then stays written.
pub fn render(
    schema: &SchemaRef,
    batches: &mut dyn Iterator<Item = Result<RecordBatch>>,
    format: Format,
    out: &mut dyn Write,
    limit: Option<usize>,
) -> Result<Rendered> {
    let mut sink: Box<dyn Sink + '_> = match format {
        Format::Table => Box::new(table::Table::new(schema, out)),
        Format::Csv => Box::new(delimited::Delimited::csv(schema, out)),
        Format::Tsv => Box::new(delimited::Delimited::tsv(schema, out)),
        Format::Json => Box::new(json::Json::array(out)),
        Format::Jsonl => Box::new(json::Json::lines(out)),
        Format::Parquet => Box::new(binary::Parquet::new(schema, out)?),
        Format::Arrow => Box::new(binary::Ipc::new(schema, out)?),
    };
    let mut rendered = Rendered::default();
    let mut left = limit.unwrap_or(usize::MAX);
    for batch in batches {
        let batch = batch?;
        rendered.more = batch.num_rows() > left;
        let shown = batch.slice(0, batch.num_rows().min(left));
        if shown.num_rows() > 0 {
            sink.write(&shown)?;
            rendered.rows += shown.num_rows() as u64;
            left -= shown.num_rows();
        }
        if rendered.more {
            break;
        }
    }
    sink.finish()?;
    Ok(rendered)
}

/// The output failed.
fn unwritable(error: io::Error) -> Error {
    Error::new(ErrorKind::Io, "cannot write the result").because(error)
}

/// A batch does not have the columns it should have.
fn misfit(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Bug, "a result cannot be written").because(error)
}

#[cfg(test)]
mod tests;
