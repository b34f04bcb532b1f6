//! Reads a Parquet file of a table as batches. The only place where a damaged file meets the Parquet reader:
//! its errors and panics become errors that say so.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow::array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::place::Place;
use super::source::{Source, damaged};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSpec;

/// The rows of a file in batches of at most `batch_rows`, names as `Dictionary(UInt32, Utf8)`. `columns` are
/// the names of the wanted ones, `None` for all; they come in the order of the table.
///
/// # Errors
/// When the file cannot be opened, is not of this table, or is damaged; damage can also show later, as an
/// error in place of a batch, which is then the last. [`ErrorKind::Bug`] when the table has no such column.
pub fn read_batches(
    place: &Place,
    table: &'static TableSpec,
    columns: Option<&[&str]>,
    batch_rows: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send + use<>> {
    read_row_groups(place, table, columns, None, batch_rows)
}

/// As [`read_batches`], of some row groups only, in the order in which they are named; `None` for all.
pub fn read_row_groups(
    place: &Place,
    table: &'static TableSpec,
    columns: Option<&[&str]>,
    groups: Option<Vec<usize>>,
    batch_rows: usize,
) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send + use<>> {
    let wanted = match columns {
        None => None,
        Some(names) => Some(names.iter().map(|n| index_of(table, n)).collect::<Result<Vec<_>>>()?),
    };
    let source = Source::open(place)?;
    let metadata = guarded(place, || {
        let options = ArrowReaderOptions::new().with_schema(table.arrow_schema());
        ArrowReaderMetadata::load(&source, options)
    })?;
    let projection =
        wanted.map_or_else(ProjectionMask::all, |w| ProjectionMask::leaves(metadata.parquet_schema(), w));
    let all = 0..metadata.metadata().num_row_groups();
    // Of an object, the columns of a row group are fetched at once, so that each has a reader of its own.
    let parts = match (source.is_remote(), groups) {
        (true, groups) => groups.unwrap_or_else(|| all.collect()).into_iter().map(|g| vec![g]).collect(),
        (false, groups) => vec![groups.unwrap_or_else(|| all.collect())],
    };
    let batch_rows = batch_rows.max(1);
    let mut file = TableFile { place: place.clone(), source, metadata, projection, batch_rows };
    // The first part is opened now, so that a damaged file is told here.
    let mut parts = parts.into_iter();
    let reader = parts.next().map(|part| file.open(part)).transpose()?;
    Ok(Batches { file, parts, reader })
}

/// The number of rows in the footer of a file.
pub(super) fn row_count(place: &Place) -> Result<u64> {
    let source = Source::open(place)?;
    let rows = guarded(place, || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(source)?;
        Ok::<_, parquet::errors::ParquetError>(builder.metadata().file_metadata().num_rows())
    })?;
    u64::try_from(rows).map_err(|e| damaged(place).because(e))
}

fn index_of(table: &TableSpec, column: &str) -> Result<usize> {
    table.file_columns().position(|c| c.name == column).ok_or_else(|| {
        Error::new(ErrorKind::Bug, format!("table '{}' has no column '{column}' in its files", table.name))
    })
}

/// A file that is being read.
struct TableFile {
    place: Place,
    source: Source,
    metadata: ArrowReaderMetadata,
    projection: ProjectionMask,
    batch_rows: usize,
}

impl TableFile {
    /// A reader of some row groups.
    fn open(&mut self, groups: Vec<usize>) -> Result<ParquetRecordBatchReader> {
        let mut ranges = Vec::new();
        for group in groups.iter().filter_map(|group| self.metadata.metadata().row_groups().get(*group)) {
            let columns = group.columns().iter().enumerate();
            let wanted = columns.filter(|(leaf, _)| self.projection.leaf_included(*leaf));
            ranges.extend(wanted.map(|(_, column)| column.byte_range()).map(|(at, size)| at..at + size));
        }
        let source = self.source.for_ranges(&ranges)?;
        guarded(&self.place, || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(source, self.metadata.clone())
                .with_projection(self.projection.clone())
                .with_batch_size(self.batch_rows)
                .with_row_groups(groups)
                .build()
        })
    }
}

/// Reads until the first error.
struct Batches {
    file: TableFile,
    parts: std::vec::IntoIter<Vec<usize>>,
    /// `None` after the end and after an error.
    reader: Option<ParquetRecordBatchReader>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let reader = self.reader.as_mut()?;
            let batch = guarded(&self.file.place, || reader.next().transpose());
            if matches!(batch, Ok(Some(_))) {
                return batch.transpose();
            }
            self.reader = None;
            if let Err(e) = batch {
                return Some(Err(e));
            }
            match self.file.open(self.parts.next()?) {
                Ok(next) => self.reader = Some(next),
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

/// Calls the Parquet reader. Nothing that it used is used again after a panic.
pub(super) fn guarded<T, E>(place: &Place, read: impl FnOnce() -> Result<T, E>) -> Result<T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(e)) if is_unreadable(&e) => {
            Err(Error::new(ErrorKind::Io, "cannot read the file").at(place.path()).because(e))
        }
        Ok(Err(e)) => Err(damaged(place).because(e)),
        Err(_) => Err(damaged(place)),
    }
}

/// Whether the bytes could not be had: that says nothing of the file.
fn is_unreadable(error: &(dyn std::error::Error + 'static)) -> bool {
    let ours = |e: &(dyn std::error::Error + 'static)| e.downcast_ref::<Error>().map(Error::kind);
    std::iter::successors(Some(error), |e| e.source())
        .filter_map(ours)
        .any(|kind| kind != ErrorKind::Database)
}
