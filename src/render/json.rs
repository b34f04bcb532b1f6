//! JSON, as one array or one object per line. NULL is `null`; integers are exact.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use arrow::json::WriterBuilder;
use arrow::json::writer::{JsonArray, LineDelimited, Writer};

use super::parallel::{PORTION, Worker};
use super::{Rows, Sink, unwritable, unwritable_value};
use crate::error::{Error, Result};

/// Rows per write.
const ROWS: usize = 1024;

pub(super) struct Json<'a>(Writer<&'a mut dyn Write, JsonArray>);

/// One object per line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jsonl;

impl<'a> Json<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self(WriterBuilder::new().with_explicit_nulls(true).build(out))
    }
}

impl Sink for Json<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.0.write(batch).map_err(failure)
    }

    fn finish(&mut self) -> Result<()> {
        self.0.finish().map_err(failure)?;
        self.0.get_mut().write_all(b"\n").map_err(unwritable)
    }
}

impl Worker<Rows> for Jsonl {
    fn work(&mut self, rows: &mut Rows, out: &mut Vec<u8>) -> Result<bool> {
        while !rows.left.is_empty() && out.len() < PORTION {
            let some = rows.batch.slice(rows.left.start, rows.left.len().min(ROWS));
            rows.left.start += some.num_rows();
            let builder = WriterBuilder::new().with_explicit_nulls(true);
            builder.build::<_, LineDelimited>(&mut *out).write(&some).map_err(failure)?;
        }
        Ok(!rows.left.is_empty())
    }
}

/// Keeps the error of the output as the cause.
pub(super) fn failure(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, e) => unwritable(e),
        other => unwritable_value(other),
    }
}
