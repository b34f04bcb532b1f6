//! JSON, as one array or one object per line. NULL is `null`; integers are exact.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use arrow::json::WriterBuilder;
use arrow::json::writer::{JsonArray, LineDelimited, Writer};

use super::{Sink, misfit, unwritable};
use crate::error::{Error, Result};

pub(super) enum Json<'a> {
    Array(Writer<&'a mut dyn Write, JsonArray>),
    Lines(Writer<&'a mut dyn Write, LineDelimited>),
}

impl<'a> Json<'a> {
    pub fn array(out: &'a mut dyn Write) -> Self {
        Self::Array(WriterBuilder::new().with_explicit_nulls(true).build(out))
    }

    pub fn lines(out: &'a mut dyn Write) -> Self {
        Self::Lines(WriterBuilder::new().with_explicit_nulls(true).build(out))
    }
}

impl Sink for Json<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Array(writer) => writer.write(batch),
            Self::Lines(writer) => writer.write(batch),
        }
        .map_err(failure)
    }

    fn finish(&mut self) -> Result<()> {
        match self {
            Self::Array(writer) => {
                writer.finish().map_err(failure)?;
                writer.get_mut().write_all(b"\n").map_err(unwritable)
            }
            Self::Lines(writer) => writer.finish().map_err(failure),
        }
    }
}

/// Keeps the error of the output as the cause.
pub(super) fn failure(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, e) => unwritable(e),
        other => misfit(other),
    }
}
