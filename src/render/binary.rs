//! Parquet and Arrow IPC files, with strings as plain `Utf8`: not every reader supports string views.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::ipc::writer::FileWriter;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::json::failure;
use super::{Sink, misfit, unwritable};
use crate::error::Result;

pub(super) struct Ipc<'a> {
    schema: SchemaRef,
    writer: FileWriter<&'a mut dyn Write>,
}

impl<'a> Ipc<'a> {
    pub fn new(schema: &SchemaRef, out: &'a mut dyn Write) -> Result<Self> {
        let schema = plain(schema);
        let writer = FileWriter::try_new(out, &schema).map_err(failure)?;
        Ok(Self { schema, writer })
    }
}

impl Sink for Ipc<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(&plain_batch(batch, &self.schema)?).map_err(failure)
    }

    fn finish(&mut self) -> Result<()> {
        self.writer.finish().map_err(failure)
    }
}

/// A Parquet file. Its writer needs an output that is `Send`, so it writes to memory first.
pub(super) struct Parquet<'a> {
    schema: SchemaRef,
    writer: ArrowWriter<Pipe>,
    pipe: Pipe,
    out: &'a mut dyn Write,
}

impl<'a> Parquet<'a> {
    pub fn new(schema: &SchemaRef, out: &'a mut dyn Write) -> Result<Self> {
        let schema = plain(schema);
        let properties = WriterProperties::builder()
            .set_created_by("btfdb".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let pipe = Pipe::default();
        let writer =
            ArrowWriter::try_new(pipe.clone(), Arc::clone(&schema), Some(properties)).map_err(misfit)?;
        Ok(Self { schema, writer, pipe, out })
    }
}

impl Sink for Parquet<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(&plain_batch(batch, &self.schema)?).map_err(misfit)?;
        self.out.write_all(&self.pipe.take()).map_err(unwritable)
    }

    fn finish(&mut self) -> Result<()> {
        self.writer.finish().map_err(misfit)?;
        self.out.write_all(&self.pipe.take()).map_err(unwritable)
    }
}

/// The buffer between the Parquet writer and the output.
#[derive(Clone, Default)]
struct Pipe(Arc<Mutex<Vec<u8>>>);

impl Pipe {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn plain(schema: &SchemaRef) -> SchemaRef {
    let field = |f: &Arc<Field>| match f.data_type() {
        DataType::Utf8View => f.as_ref().clone().with_data_type(DataType::Utf8),
        _ => f.as_ref().clone(),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

fn plain_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(c, f)| cast(c, f.data_type()));
    let columns = columns.collect::<Result<Vec<_>, _>>().map_err(misfit)?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(misfit)
}
