//! A column of names as a chunk of Parquet pages. Its rows come with keys already, which are numbered anew by first use;
//! no name is looked at more than once. Not for other columns: the parquet crate encodes those.

use std::collections::HashMap;
use std::io::Write as _;
use std::mem::take;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::UInt32Type;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter as _};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::page_index::offset_index::{OffsetIndexMetaData, PageLocation};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::runs;
use crate::schema::{PAGE_ROWS, begins_with};

/// A dictionary of more bytes than this grows no more, and a page of names is not larger: a reader has to hold both.
const MAX_BYTES: usize = 1 << 20;

/// The names of a row group.
pub(super) struct NameChunk {
    column: ColumnDescPtr,
    compression: Compression,
    compressor: zstd::bulk::Compressor<'static>,
    dictionary: Dictionary,
    page: PageRows,
    /// Pages that are done, one behind the other.
    pages: TrackedWrite<Vec<u8>>,
    locations: Vec<PageLocation>,
    rows: usize,
    uncompressed: usize,
    /// The dictionary is full: pages hold names, not keys.
    plain: bool,
}

/// The rows of the page in the making.
#[derive(Default)]
struct PageRows {
    count: usize,
    /// 1 for a row with a name, 0 for one without; empty where every row must have one.
    levels: Vec<u32>,
    /// A key for each row with a name.
    keys: Vec<u32>,
    /// Each name as it is, in place of its key.
    texts: Vec<u8>,
}

impl NameChunk {
    /// No rows yet.
    pub fn new(column: ColumnDescPtr, compression: Compression) -> Result<Self> {
        let level = match compression {
            Compression::ZSTD(level) => level.compression_level(),
            other => return Err(ParquetError::NYI(format!("names compressed with {other}"))),
        };
        Ok(Self {
            column,
            compression,
            compressor: zstd::bulk::Compressor::new(level)?,
            dictionary: Dictionary::default(),
            page: PageRows::default(),
            pages: TrackedWrite::new(Vec::new()),
            locations: Vec::new(),
            rows: 0,
            uncompressed: 0,
            plain: false,
        })
    }

    /// Appends the rows of a `Dictionary(UInt32, Utf8)`.
    pub fn write(&mut self, array: &ArrayRef) -> Result<()> {
        let rows = array.as_dictionary_opt::<UInt32Type>();
        let Some((rows, values)) = rows.and_then(|rows| Some((rows, rows.values().as_string_opt::<i32>()?)))
        else {
            return Err(ParquetError::General(format!("names come as {}", array.data_type())));
        };
        self.dictionary.follow(values);
        let keys = rows.keys();
        for row in 0..keys.len() {
            if self.page.count == PAGE_ROWS || self.page.texts.len() > MAX_BYTES {
                self.end_page()?;
            }
            let key = keys.is_valid(row).then(|| keys.value(row) as usize);
            if let Some(key) = key {
                self.name(key, values)?;
            }
            self.page.count += 1;
            if self.nullable() {
                self.page.levels.push(u32::from(key.is_some()));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn name(&mut self, key: usize, values: &StringArray) -> Result<()> {
        if !self.plain {
            if let Some(key) = self.dictionary.key(key, values) {
                self.page.keys.push(key);
                return Ok(());
            }
            self.end_page()?;
            self.plain = true;
        }
        plain(values.value(key), &mut self.page.texts);
        Ok(())
    }

    fn nullable(&self) -> bool {
        self.column.max_def_level() > 0
    }

    /// The bytes of all pages, the dictionary first, and what the footer says of them.
    pub fn close(mut self) -> Result<(Bytes, ColumnCloseResult)> {
        self.end_page()?;
        let names = take(&mut self.dictionary.page);
        let page = |buf| Page::DictionaryPage {
            buf,
            num_values: self.dictionary.len,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let page = compressed(&mut self.compressor, &names, page)?;
        let mut bytes = TrackedWrite::new(Vec::new());
        let written = SerializedPageWriter::new(&mut bytes).write_page(page)?;
        self.uncompressed += written.uncompressed_size;
        let begin = written.bytes_written as i64;
        self.locations.iter_mut().for_each(|page| page.offset += begin);
        bytes.write_all(&self.pages.into_inner()?)?;
        let bytes = Bytes::from(bytes.into_inner()?);

        let mut encodings = vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY];
        encodings.truncate(if self.rows == 0 { 1 } else { 3 });
        let metadata = ColumnChunkMetaData::builder(self.column)
            .set_encodings(encodings)
            .set_compression(self.compression)
            .set_num_values(self.rows as i64)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(self.uncompressed as i64)
            .set_dictionary_page_offset(Some(0))
            .set_data_page_offset(begin)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(OffsetIndexMetaData {
                page_locations: self.locations,
                unencoded_byte_array_data_bytes: None,
            }),
        };
        Ok((bytes, close))
    }

    fn end_page(&mut self) -> Result<()> {
        let PageRows { count, levels, keys, texts } = take(&mut self.page);
        if count == 0 {
            return Ok(());
        }
        let mut content = Vec::new();
        if self.nullable() {
            let mut runs = Vec::new();
            runs::encode(&levels, 1, &mut runs);
            content.extend((runs.len() as u32).to_le_bytes());
            content.append(&mut runs);
        }
        let encoding = match self.plain {
            true => {
                content.extend(&texts);
                Encoding::PLAIN
            }
            false => {
                let width = runs::bits_of(self.dictionary.len.saturating_sub(1));
                content.push(width as u8);
                runs::encode(&keys, width, &mut content);
                Encoding::RLE_DICTIONARY
            }
        };
        let page = |buf| Page::DataPage {
            buf,
            num_values: count as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let page = compressed(&mut self.compressor, &content, page)?;
        let written = SerializedPageWriter::new(&mut self.pages).write_page(page)?;
        self.locations.push(PageLocation {
            offset: written.offset as i64,
            compressed_page_size: written.compressed_size as i32,
            first_row_index: self.rows as i64,
        });
        self.uncompressed += written.uncompressed_size;
        self.rows += count;
        Ok(())
    }
}

/// Names of a row group by number, in the order of their first use.
#[derive(Default)]
struct Dictionary {
    /// The number of each of `values`, where it is known already.
    numbers: Vec<u32>,
    /// What the keys of the last rows stand for.
    values: Option<StringArray>,
    known: HashMap<Box<str>, u32>,
    len: u32,
    /// The names as the page of the dictionary has them.
    page: Vec<u8>,
}

impl Dictionary {
    const UNKNOWN: u32 = u32::MAX;

    /// Keys stand for `values` from now on. Those that stood for the same before stay known.
    fn follow(&mut self, values: &StringArray) {
        if !self.values.as_ref().is_some_and(|before| begins_with(values, before)) {
            self.numbers.clear();
        }
        self.numbers.resize(values.len(), Self::UNKNOWN);
        self.values = Some(values.clone());
    }

    /// The number of `values[key]`; `None` when it is new and there is no room for it.
    #[inline(always)]
    fn key(&mut self, key: usize, values: &StringArray) -> Option<u32> {
        match self.numbers.get(key) {
            Some(number) if *number != Self::UNKNOWN => Some(*number),
            _ => self.learn(key, values),
        }
    }

    #[cold]
    fn learn(&mut self, key: usize, values: &StringArray) -> Option<u32> {
        let name = values.value(key);
        let number = match self.known.get(name) {
            Some(number) => *number,
            None if self.page.len() > MAX_BYTES => return None,
            None => {
                plain(name, &mut self.page);
                self.known.insert(name.into(), self.len);
                self.len += 1;
                self.len - 1
            }
        };
        if let Some(slot) = self.numbers.get_mut(key) {
            *slot = number;
        }
        Some(number)
    }
}

/// Appends a name as the format's PLAIN encoding has it.
fn plain(name: &str, out: &mut Vec<u8>) {
    // Arrow's string arrays hold 2 GiB at most, so the length of a name fits.
    out.extend((name.len() as u32).to_le_bytes());
    out.extend(name.as_bytes());
}

fn compressed(
    compressor: &mut zstd::bulk::Compressor<'_>,
    content: &[u8],
    page: impl FnOnce(Bytes) -> Page,
) -> Result<CompressedPage> {
    Ok(CompressedPage::new(page(compressor.compress(content)?.into()), content.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{columns, tables};
    use arrow::array::{DictionaryArray, RecordBatch, StringArray, UInt32Array};
    use parquet::arrow::ArrowSchemaConverter;
    use parquet::arrow::arrow_reader::{
        ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
    };
    use parquet::file::metadata::PageIndexPolicy;
    use parquet::file::writer::SerializedFileWriter;
    use proptest::prelude::*;
    use std::sync::Arc;

    type Row = Option<String>;

    /// A file of one column whose rows come in these batches: keys and what they stand for.
    fn file(batches: &[(Vec<Option<u32>>, Vec<String>)], nullable: bool) -> Bytes {
        let column = if nullable { columns::btf_event::NOTE } else { columns::btf_event::TARGET };
        let schema = tables::BTF_EVENT.arrow_schema();
        let schema = Arc::new(schema.project(&[schema.index_of(column).unwrap()]).unwrap());
        let parquet = ArrowSchemaConverter::new().convert(&schema).unwrap();
        let properties = tables::BTF_EVENT.writer_properties().into();
        let mut file = SerializedFileWriter::new(Vec::new(), parquet.root_schema_ptr(), properties).unwrap();
        let mut group = super::super::RowGroup::new(&file, &schema).unwrap();
        for (keys, values) in batches {
            let values = Arc::new(StringArray::from_iter_values(values));
            let array = DictionaryArray::new(UInt32Array::from(keys.clone()), values);
            group.write(&[RecordBatch::try_new(schema.clone(), vec![Arc::new(array)]).unwrap()]).unwrap();
        }
        group.close(&mut file).unwrap();
        file.into_inner().unwrap().into()
    }

    /// The names that these batches mean.
    fn meant(batches: &[(Vec<Option<u32>>, Vec<String>)]) -> Vec<Row> {
        let rows = batches
            .iter()
            .flat_map(|(keys, values)| keys.iter().map(|k| k.map(|k| values[k as usize].clone())));
        rows.collect()
    }

    /// What another reader finds in the rows `[from, to)`, where the pages' index leads it.
    fn read(file: &Bytes, from: usize, to: usize) -> Vec<Row> {
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
        let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap();
        let selection = RowSelection::from(vec![RowSelector::skip(from), RowSelector::select(to - from)]);
        let batches = reader.with_row_selection(selection).build().unwrap();
        let mut rows = Vec::new();
        for batch in batches {
            let column = batch.unwrap().column(0).clone();
            rows.extend(column.as_string::<i32>().iter().map(|n| n.map(str::to_owned)));
        }
        rows
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|t| (*t).to_owned()).collect()
    }

    #[test]
    fn a_slice_reads_its_pages_only_and_finds_its_rows() {
        let keys = (0..3 * PAGE_ROWS as u32 + 5).map(|n| (n % 7 != 0).then_some(n * n % 1000));
        let batch = (keys.collect::<Vec<_>>(), (0..1000).map(|n| format!("name {n}")).collect());
        let rows = meant(std::slice::from_ref(&batch));
        let file = file(&[batch], true);
        for (from, to) in
            [(0, 1), (PAGE_ROWS - 1, PAGE_ROWS + 1), (2 * PAGE_ROWS + 9, rows.len()), (0, rows.len())]
        {
            assert_eq!(read(&file, from, to), rows[from..to]);
        }
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let chunk = reader.metadata().row_group(0).column(0).clone();
        assert_eq!((chunk.num_values(), chunk.statistics()), (rows.len() as i64, None));
    }

    #[test]
    fn a_full_dictionary_gives_way_to_names() {
        let long = |n: u32| format!("{n}{}", "x".repeat(100));
        let count = 30_000;
        let batch =
            ((0..count).map(|n| (n % 9 != 0).then_some(n / 2)).collect(), (0..count).map(long).collect());
        let rows = meant(std::slice::from_ref(&batch));
        let file = file(&[batch], true);
        assert_eq!(read(&file, 0, rows.len()), rows);
        assert_eq!(read(&file, 25_000, 25_010), rows[25_000..25_010]);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        assert!(reader.metadata().row_group(0).column(0).compressed_size() < 200_000);
    }

    #[test]
    fn keys_that_change_their_meaning_are_looked_at_again() {
        let all = |values: &[&str]| ((0..values.len() as u32).map(Some).collect(), texts(values));
        let batches = [
            all(&["a", "b"]),
            all(&["a", "b", "c"]),
            all(&["a", "x", "c"]),
            all(&["ab", ""]),
            all(&["b", "b"]),
        ];
        assert_eq!(read(&file(&batches, false), 0, 12), meant(&batches));
    }

    #[test]
    fn a_column_without_names_and_one_without_rows_can_be_read() {
        let none = (vec![None; 3], vec![]);
        assert_eq!(read(&file(&[none], true), 0, 3), vec![None; 3]);
        assert_eq!(read(&file(&[], true), 0, 0), Vec::<Row>::new());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            batches in prop::collection::vec(
                prop::collection::vec("[ab\\PC]{0,3}", 1..20).prop_flat_map(|values| {
                    let keys = prop::option::weighted(0.8, 0..values.len() as u32);
                    (prop::collection::vec(keys, 0..60), Just(values))
                }),
                0..5,
            ),
        ) {
            let rows = meant(&batches);
            prop_assert_eq!(read(&file(&batches, true), 0, rows.len()), rows);
        }
    }
}
