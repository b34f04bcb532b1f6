//! The columns of a row group on their way to Parquet: names by our own encoder, which uses the keys that they have
//! already; all others by that of the parquet crate. Not the file around them (see `table_writer`).

mod names;
mod runs;

use std::io::Write;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat;
use arrow::datatypes::{DataType, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;

use names::NameChunk;

/// A row group in the making. It stays in memory until it is complete.
pub(super) struct RowGroup {
    schema: SchemaRef,
    columns: Vec<Column>,
    pub rows: usize,
}

enum Column {
    Names(Box<NameChunk>),
    Other(Box<ArrowColumnWriter>),
}

impl RowGroup {
    /// The next row group of `file`, whose batches have this schema.
    pub fn new<W: Write + Send>(file: &SerializedFileWriter<W>, schema: &SchemaRef) -> Result<Self> {
        let factory = ArrowRowGroupWriterFactory::new(file, schema.clone());
        let writers = factory.create_column_writers(file.flushed_row_groups().len())?;
        let leaves = file.schema_descr().columns().iter();
        let columns = writers.into_iter().zip(schema.fields()).zip(leaves).map(|((writer, field), leaf)| {
            Ok(match field.data_type() {
                DataType::Dictionary(..) => {
                    let compression = file.properties().compression(leaf.path());
                    Column::Names(Box::new(NameChunk::new(leaf.clone(), compression)?))
                }
                _ => Column::Other(Box::new(writer)),
            })
        });
        Ok(Self { schema: schema.clone(), columns: columns.collect::<Result<_>>()?, rows: 0 })
    }

    /// Appends the rows of batches as if they were one.
    pub fn write(&mut self, parts: &[RecordBatch]) -> Result<()> {
        for (n, (column, field)) in self.columns.iter_mut().zip(self.schema.fields()).enumerate() {
            let arrays: Vec<&ArrayRef> = parts.iter().map(|part| part.column(n)).collect();
            match column {
                Column::Names(names) => arrays.iter().try_for_each(|array| names.write(array))?,
                Column::Other(writer) => {
                    let arrays: Vec<_> = arrays.into_iter().map(|array| array.as_ref()).collect();
                    for leaf in compute_leaves(field, &concat(&arrays)?)? {
                        writer.write(&leaf)?;
                    }
                }
            }
        }
        self.rows += parts.iter().map(RecordBatch::num_rows).sum::<usize>();
        Ok(())
    }

    /// Puts the row group into the file.
    pub fn close<W: Write + Send>(self, file: &mut SerializedFileWriter<W>) -> Result<()> {
        let mut group = file.next_row_group()?;
        for column in self.columns {
            match column {
                Column::Names(names) => {
                    let (bytes, close) = names.close()?;
                    group.append_column(&bytes, close)?;
                }
                Column::Other(writer) => writer.close()?.append_to_row_group(&mut group)?,
            }
        }
        group.close()?;
        Ok(())
    }
}
