//! The columns of a row group on their way to Parquet, each with an encoder of our own. It knows more of our
//! columns than a general one can (names have keys, times rise), and where a page ends depends on the rows
//! only. Not the file around them (see `table_writer`).
//!
//! Not the `ArrowWriter` of the crate `parquet`: a data export of 314 MB takes 6.2 instead of 9.0 G
//! instructions (`benches/NOTES.md`).

mod bits;
mod blocks;
mod compressor;
mod crc;
mod delta;
mod flags;
mod names;
mod numbers;
mod pages;
mod runs;
#[cfg(test)]
mod tests;

use std::io::Write;

use arrow::array::{ArrayRef, RecordBatch};
use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnDescPtr;

use super::page_sums::PageSum;
use crate::schema::{ColumnSpec, ColumnType, Encoding, TableSpec};
pub(super) use compressor::Compressor;
use compressor::Matches;
use flags::FlagChunk;
use names::NameChunk;
use numbers::NumberChunk;
use pages::{Chunk, Pages};

/// A dictionary of at most this many bytes has all names of its row group.
pub(super) const WHOLE_DICTIONARY: usize = names::MAX_BYTES;

/// A row group in the making. It stays in memory, encoded, until it is complete.
pub(super) struct RowGroup {
    columns: Vec<Column>,
    pub rows: usize,
}

enum Column {
    Names(NameChunk),
    Numbers(NumberChunk),
    Flags(FlagChunk),
}

impl RowGroup {
    /// The next row group of `file`, a file of `table`. `capacities` are those of the row group before, if
    /// there was one (see [`RowGroup::capacities`]).
    pub fn new<W: Write + Send>(
        file: &SerializedFileWriter<W>,
        table: &TableSpec,
        capacities: &[usize],
    ) -> Self {
        let leaves = file.schema_descr().columns().iter();
        let capacities = capacities.iter().copied().chain(std::iter::repeat(0));
        let columns = table
            .file_columns()
            .zip(leaves)
            .zip(capacities)
            .map(|((column, leaf), capacity)| Column::new(column, leaf.clone(), capacity));
        Self { columns: columns.collect(), rows: 0 }
    }

    /// Appends the rows of a batch, which has the schema of the table.
    pub fn write(&mut self, batch: &RecordBatch, compressor: &mut Compressor) -> Result<()> {
        let mut columns = self.columns.iter_mut().zip(batch.columns());
        columns.try_for_each(|(column, array)| column.write(array, compressor))?;
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Number of different values of each column with a dictionary: what the next row group will need.
    pub fn capacities(&self) -> Vec<usize> {
        self.columns.iter().map(Column::capacity).collect()
    }

    /// Puts the row group into the file, and appends the sums of its pages.
    pub fn close<W: Write + Send>(
        self,
        file: &mut SerializedFileWriter<W>,
        compressor: &mut Compressor,
        sums: &mut Vec<PageSum>,
    ) -> Result<()> {
        let mut group = file.next_row_group()?;
        for column in self.columns {
            let chunk = column.close(compressor)?;
            group.append_column(&chunk.bytes, chunk.close)?;
            sums.extend(chunk.sums);
        }
        group.close()?;
        Ok(())
    }
}

impl Column {
    fn new(column: &ColumnSpec, leaf: ColumnDescPtr, capacity: usize) -> Self {
        let dictionary = column.encoding == Encoding::Dictionary;
        let matches = match column.ty {
            ColumnType::Instant | ColumnType::Unsigned => Matches::Long,
            _ => Matches::LevelDefault,
        };
        let pages = Pages::new(leaf, matches);
        match column.ty {
            ColumnType::Name | ColumnType::Text => Self::Names(NameChunk::new(pages, dictionary, capacity)),
            ColumnType::Flag => Self::Flags(FlagChunk::new(pages)),
            ty => Self::Numbers(NumberChunk::new(pages, dictionary, ty == ColumnType::Unsigned, capacity)),
        }
    }

    fn capacity(&self) -> usize {
        match self {
            Self::Names(names) => names.capacity(),
            Self::Numbers(numbers) => numbers.capacity(),
            Self::Flags(_) => 0,
        }
    }

    fn write(&mut self, array: &ArrayRef, compressor: &mut Compressor) -> Result<()> {
        match self {
            Self::Names(names) => names.write(array, compressor),
            Self::Numbers(numbers) => numbers.write(array, compressor),
            Self::Flags(flags) => flags.write(array, compressor),
        }
    }

    fn close(self, compressor: &mut Compressor) -> Result<Chunk> {
        match self {
            Self::Names(names) => names.close(compressor),
            Self::Numbers(numbers) => numbers.close(compressor),
            Self::Flags(flags) => flags.close(compressor),
        }
    }
}
