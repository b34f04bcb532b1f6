//! Parquet and Arrow IPC files, with strings declared as plain `Utf8`: not every reader supports string
//! views.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::ipc::writer::FileWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, encode_arrow_schema};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use super::json::failure;
use super::{Sink, misfit, unwritable, unwritable_value};
use crate::error::Result;

pub(super) struct Ipc<'a> {
    schema: SchemaRef,
    writer: FileWriter<&'a mut dyn Write>,
}

impl<'a> Ipc<'a> {
    pub fn new(schema: &SchemaRef, out: &'a mut dyn Write) -> Result<Self> {
        let schema = with_types(schema, without_dictionaries);
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
        // The same in the file: what readers make of the column is what is declared.
        let declared = encode_arrow_schema(&with_types(schema, without_views));
        let schema = with_types(schema, with_views_on_top);
        let mut properties = WriterProperties::builder()
            .set_created_by("btfdb".to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(vec![KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), declared)]));
        // Times and instances: a dictionary of them is built for nothing, as it soon is too large.
        for field in schema.fields().iter().filter(|field| *field.data_type() == DataType::Int64) {
            let column = ColumnPath::from(field.name().clone());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
        let options =
            ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let pipe = Pipe::default();
        let writer = ArrowWriter::try_new_with_options(pipe.clone(), Arc::clone(&schema), options)
            .map_err(unwritable_value)?;
        Ok(Self { schema, writer, pipe, out })
    }
}

impl Sink for Parquet<'_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(&plain_batch(batch, &self.schema)?).map_err(unwritable_value)?;
        self.out.write_all(&self.pipe.take()).map_err(unwritable)
    }

    fn finish(&mut self) -> Result<()> {
        self.writer.finish().map_err(unwritable_value)?;
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

fn with_types(schema: &SchemaRef, plain: fn(&DataType) -> DataType) -> SchemaRef {
    let field = |f: &Arc<Field>| f.as_ref().clone().with_data_type(plain(f.data_type()));
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// The type without views, on all levels: the Parquet writer panics on a dictionary of them.
fn without_views(ty: &DataType) -> DataType {
    nested(ty, without_views, |keys, values| DataType::Dictionary(Box::new(keys), Box::new(values)))
}

/// The type without views, but for a column of them: the Parquet writer takes it as it is.
fn with_views_on_top(ty: &DataType) -> DataType {
    match ty {
        DataType::Utf8View => DataType::Utf8View,
        other => without_views(other),
    }
}

/// The type without views and dictionaries: an IPC file has one dictionary for all batches of a column.
fn without_dictionaries(ty: &DataType) -> DataType {
    nested(ty, without_dictionaries, |_, values| values)
}

/// The type with other types within, made by `inner`, and `dictionary` of its keys and values.
fn nested(
    ty: &DataType,
    inner: fn(&DataType) -> DataType,
    dictionary: fn(DataType, DataType) -> DataType,
) -> DataType {
    let of = |field: &Arc<Field>| {
        let ty = inner(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(ty))
    };
    match ty {
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(keys, values) => dictionary(keys.as_ref().clone(), inner(values)),
        DataType::List(field) | DataType::ListView(field) => DataType::List(of(field)),
        DataType::LargeList(field) | DataType::LargeListView(field) => DataType::LargeList(of(field)),
        DataType::FixedSizeList(field, length) => DataType::FixedSizeList(of(field), *length),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        DataType::Map(field, is_sorted) => DataType::Map(of(field), *is_sorted),
        other => other.clone(),
    }
}

fn plain_batch(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields()).map(|(c, f)| cast(c, f.data_type()));
    let columns = columns.collect::<Result<Vec<_>, _>>().map_err(misfit)?;
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(misfit)
}
