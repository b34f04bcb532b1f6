//! Reads a Parquet file of a table as batches. The only place where a damaged file meets the Parquet reader:
//! its errors and panics become errors that say so.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::open;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;

/// The rows of a file in batches of at most `batch_rows`, names as `Dictionary(UInt32, Utf8)`. `columns` are
/// the names of the wanted ones, `None` for all; they come in the order of the table.
///
/// # Errors
/// When the file cannot be opened, is not of this table, or is damaged; damage can also show later, as an
/// error in place of a batch, which is then the last. [`ErrorKind::Bug`] when the table has no such column.
pub fn read_batches(
    path: &Path,
    table: &'static TableSpec,
    columns: Option<&[&str]>,
    batch_rows: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send + use<>> {
    read_row_groups(path, table, columns, None, batch_rows)
}

/// As [`read_batches`], of some row groups only, in the order in which they are named; `None` for all.
pub fn read_row_groups(
    path: &Path,
    table: &'static TableSpec,
    columns: Option<&[&str]>,
    groups: Option<Vec<usize>>,
    batch_rows: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send + use<>> {
    let wanted = match columns {
        None => None,
        Some(names) => Some(names.iter().map(|n| index_of(table, n)).collect::<Result<Vec<_>>>()?),
    };
    let file = open::for_reading(path)?;
    let reader = guarded(path, || {
        let options = ArrowReaderOptions::new().with_schema(table.arrow_schema());
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?;
        let schema = builder.parquet_schema();
        let projection = wanted.map_or_else(ProjectionMask::all, |w| ProjectionMask::leaves(schema, w));
        let builder = builder.with_projection(projection).with_batch_size(batch_rows.max(1));
        match groups {
            Some(groups) => builder.with_row_groups(groups).build(),
            None => builder.build(),
        }
    })?;
    Ok(Batches { reader: Some(reader), path: path.to_path_buf() })
}

/// The number of rows in the footer of a file.
pub(super) fn row_count(path: &Path) -> Result<u64> {
    let file = open::for_reading(path)?;
    let rows = guarded(path, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
        Ok::<_, parquet::errors::ParquetError>(builder.metadata().file_metadata().num_rows())
    })?;
    u64::try_from(rows).map_err(|e| damaged(path).because(e))
}

fn index_of(table: &TableSpec, name: &str) -> Result<usize> {
    table.file_columns().position(|c| c.name == name).ok_or_else(|| {
        Error::new(ErrorKind::Bug, format!("files of '{}' have no column '{name}'", table.name))
    })
}

struct Batches {
    /// `None` after an error.
    reader: Option<ParquetRecordBatchReader>,
    path: PathBuf,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        let batch = guarded(&self.path, || reader.next().transpose()).transpose();
        if !matches!(batch, Some(Ok(_))) {
            self.reader = None;
        }
        batch
    }
}

/// Calls the Parquet reader. Nothing that it used is used again after a panic.
pub(super) fn guarded<T, E>(path: &Path, read: impl FnOnce() -> Result<T, E>) -> Result<T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(e)) => Err(damaged(path).because(e)),
        Err(_) => Err(damaged(path)),
    }
}

fn damaged(path: &Path) -> Error {
    Error::database("the file is damaged, or not of this table")
        .at(path)
        .hint("run `btfdb verify DB` to see what else is; then ingest the recording again")
}
