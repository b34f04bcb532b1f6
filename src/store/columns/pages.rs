//! The pages of one column of a row group, compressed, with their entries of the footer and the page index.
//! Not what is in a page: that is for the encoders in this folder.

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::NullBuffer;
use parquet::basic::{BoundaryOrder, Encoding, Type};
use parquet::column::page::Page;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ColumnIndexBuilder};
use parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use parquet::file::reader::Length as _;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::TrackedWrite;
use parquet::schema::types::ColumnDescPtr;

use super::blocks::{Blocks, Sealed};
use super::compressor::{Compressor, Matches};
use super::{bits, runs};
use crate::store::page_sums::PageSum;

/// Pages of a column chunk, one after the other.
pub(super) struct Pages {
    column: ColumnDescPtr,
    matches: Matches,
    bytes: TrackedWrite<Blocks>,
    sums: Vec<PageSum>,
    locations: Vec<PageLocation>,
    encodings: Vec<Encoding>,
    /// Smallest and largest value of each page, for columns of numbers.
    ranges: Vec<Option<Range>>,
    nulls: Vec<i64>,
    rows: usize,
    uncompressed: usize,
}

/// A complete column chunk: its pages, the dictionary first, with their sums and their entries of the footer.
pub(super) struct Chunk {
    pub bytes: Sealed,
    pub sums: Vec<PageSum>,
    pub close: ColumnCloseResult,
}

/// Smallest and largest of some numbers; unsigned numbers by their bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Range {
    pub min: i64,
    pub max: i64,
    pub unsigned: bool,
}

pub(super) struct Levels {
    /// A bit for each row, set where it has a value; empty while every row has one.
    present: BooleanBufferBuilder,
    pub rows: usize,
    nulls: usize,
}

/// A dictionary page: its values in PLAIN encoding, and how many there are.
pub(super) struct DictionaryPage {
    pub values: Vec<u8>,
    pub len: u32,
}

impl Default for Levels {
    fn default() -> Self {
        Self { present: BooleanBufferBuilder::new(0), rows: 0, nulls: 0 }
    }
}

impl Levels {
    /// Appends a row that has a value.
    #[inline]
    pub fn push(&mut self) {
        if self.nulls > 0 {
            self.present.append(true);
        }
        self.rows += 1;
    }

    pub fn extend(&mut self, rows: usize, nulls: Option<&NullBuffer>) {
        let missing = nulls.map_or(0, NullBuffer::null_count);
        if missing > 0 || self.nulls > 0 {
            self.present.append_n(self.rows - self.present.len(), true);
            match nulls {
                Some(nulls) => self.present.append_buffer(nulls.inner()),
                None => self.present.append_n(rows, true),
            }
        }
        self.nulls += missing;
        self.rows += rows;
    }

    fn encode(&self, out: &mut Vec<u8>) {
        // The length comes first, and is known when the runs are written.
        let begin = out.len();
        out.extend(0u32.to_le_bytes());
        match self.nulls {
            0 => runs::repeat(1, self.rows, 1, out),
            _ => runs::encode_bits(self.present.as_slice(), self.rows, out),
        }
        let length = (out.len() - begin - 4) as u32;
        out.iter_mut().skip(begin).zip(length.to_le_bytes()).for_each(|(byte, of_length)| *byte = of_length);
    }
}

impl Pages {
    pub fn new(column: ColumnDescPtr, matches: Matches) -> Self {
        Self {
            column,
            matches,
            bytes: TrackedWrite::new(Blocks::default()),
            sums: Vec::new(),
            locations: Vec::new(),
            encodings: vec![Encoding::RLE],
            ranges: Vec::new(),
            nulls: Vec::new(),
            rows: 0,
            uncompressed: 0,
        }
    }

    /// Appends a page of the rows of `levels`; `encode` appends their values to its argument. `range` is that
    /// of the values; `None` if it has none, or if it is not needed.
    pub fn push(
        &mut self,
        compressor: &mut Compressor,
        levels: &Levels,
        encoding: Encoding,
        range: Option<Range>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        let has_levels = self.column.max_def_level() > 0;
        if levels.nulls > 0 && !has_levels {
            return Err(ParquetError::General(format!("{} has no value in a row", self.column.name())));
        }
        let content = |out: &mut Vec<u8>| {
            if has_levels {
                levels.encode(out);
            }
            encode(out);
        };
        let page = |buf| Page::DataPage {
            buf,
            num_values: levels.rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let written = compressor.page(self.matches, &mut self.bytes, content, page)?;
        self.locations.push(PageLocation {
            offset: written.offset as i64,
            compressed_page_size: written.sum.bytes as i32,
            first_row_index: self.rows as i64,
        });
        self.sums.push(written.sum);
        if !self.encodings.contains(&encoding) {
            self.encodings.push(encoding);
        }
        self.ranges.push(range);
        self.nulls.push(levels.nulls as i64);
        self.uncompressed += written.uncompressed;
        self.rows += levels.rows;
        Ok(())
    }

    /// All pages, with `dictionary` before them.
    pub fn close(mut self, compressor: &mut Compressor, dictionary: Option<DictionaryPage>) -> Result<Chunk> {
        let mut front = TrackedWrite::new(Blocks::default());
        let dictionary_at = dictionary.is_some().then_some(0);
        if let Some(DictionaryPage { values, len }) = dictionary {
            let page = |buf| Page::DictionaryPage {
                buf,
                num_values: len,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let written =
                compressor.page(self.matches, &mut front, |out| out.extend_from_slice(&values), page)?;
            self.sums.insert(0, written.sum);
            self.uncompressed += written.uncompressed;
            if !self.encodings.contains(&Encoding::PLAIN) {
                self.encodings.push(Encoding::PLAIN);
            }
        }
        let begin = front.bytes_written() as i64;
        let bytes = front.into_inner()?.seal(self.bytes.into_inner()?);
        self.locations.iter_mut().for_each(|page| page.offset += begin);

        let is_number = self.column.physical_type() == Type::INT64;
        let mut metadata = ColumnChunkMetaData::builder(self.column)
            .set_encodings(self.encodings)
            .set_compression(compressor.compression)
            .set_num_values(self.rows as i64)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_dictionary_page_offset(dictionary_at)
            .set_data_page_offset(begin);
        let mut column_index = None;
        if is_number {
            let all = self.ranges.iter().flatten().copied().reduce(Range::with);
            let (min, max) = all.map(|r| (r.min, r.max)).unzip();
            let nulls = self.nulls.iter().sum::<i64>() as u64;
            metadata = metadata.set_statistics(Statistics::Int64(ValueStatistics::new(
                min,
                max,
                None,
                Some(nulls),
                false,
            )));
            let mut index = ColumnIndexBuilder::new(Type::INT64);
            for (range, nulls) in self.ranges.iter().zip(&self.nulls) {
                let bytes = |number: i64| number.to_le_bytes().to_vec();
                let (min, max) = range.map(|r| (bytes(r.min), bytes(r.max))).unwrap_or_default();
                index.append(range.is_none(), min, max, *nulls);
            }
            index.set_boundary_order(order(&self.ranges));
            column_index = Some(index.build()?);
        }
        let close = ColumnCloseResult {
            bytes_written: bytes.len(),
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index,
            offset_index: Some(OffsetIndexMetaData {
                page_locations: self.locations,
                unencoded_byte_array_data_bytes: None,
            }),
        };
        Ok(Chunk { bytes, sums: self.sums, close })
    }
}

impl Range {
    /// The range of `numbers`; `None` when there are none.
    pub fn of(numbers: &[i64], unsigned: bool) -> Option<Self> {
        let (min, max) = bits::extremes(numbers, Self::key(0, unsigned))?;
        Some(Self { min: Self::key(min, unsigned), max: Self::key(max, unsigned), unsigned })
    }

    /// Maps numbers to bits that sort as signed numbers, and back.
    fn key(number: i64, unsigned: bool) -> i64 {
        if unsigned { number ^ i64::MIN } else { number }
    }

    fn keys(self) -> (i64, i64) {
        (Self::key(self.min, self.unsigned), Self::key(self.max, self.unsigned))
    }

    fn with(self, other: Self) -> Self {
        let ((min, max), (other_min, other_max)) = (self.keys(), other.keys());
        Self {
            min: if other_min < min { other.min } else { self.min },
            max: if other_max > max { other.max } else { self.max },
            unsigned: self.unsigned,
        }
    }
}

/// In which order the ranges of the pages are. Pages without values do not count.
fn order(ranges: &[Option<Range>]) -> BoundaryOrder {
    let keys: Vec<_> = ranges.iter().flatten().map(|r| r.keys()).collect();
    let both = |ordered: fn(&i64, &i64) -> bool| {
        keys.is_sorted_by(|a, b| ordered(&a.0, &b.0) && ordered(&a.1, &b.1))
    };
    if both(|a, b| a <= b) {
        BoundaryOrder::ASCENDING
    } else if both(|a, b| a >= b) {
        BoundaryOrder::DESCENDING
    } else {
        BoundaryOrder::UNORDERED
    }
}

/// Appends the keys of a page in RLE_DICTIONARY encoding: their width, then runs. `len`: of the dictionary.
pub(super) fn keys(keys: &[u32], len: u32, out: &mut Vec<u8>) {
    let width = bits::padded(bits::of(u64::from(len.saturating_sub(1))));
    out.push(width as u8);
    runs::encode(keys, width, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_know_the_order_of_unsigned_numbers() {
        let range = |numbers: &[i64], unsigned| Range::of(numbers, unsigned).map(|r| (r.min, r.max));
        assert_eq!(range(&[3, -1, 2], false), Some((-1, 3)));
        assert_eq!(range(&[3, -1, 2], true), Some((2, -1)));
        assert_eq!(range(&[], true), None);
        let joined = Range::of(&[-5], true).map(|a| a.with(Range::of(&[7, 8], true).unwrap()));
        assert_eq!(joined.map(|r| (r.min, r.max)), Some((7, -5)));
        let pages =
            |numbers: &[i64]| order(&numbers.iter().map(|n| Range::of(&[*n], true)).collect::<Vec<_>>());
        assert_eq!(pages(&[1, 2, -1]), BoundaryOrder::ASCENDING);
        assert_eq!(pages(&[-1, 2, 1]), BoundaryOrder::DESCENDING);
        assert_eq!(pages(&[1, -1, 2]), BoundaryOrder::UNORDERED);
    }
}
