//! Columns are written by our encoders and read by the parquet crate.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, DictionaryArray, Int64Array, StringArray, UInt32Array,
    UInt64Array,
};
use arrow::compute::concat;
use arrow::datatypes::Int64Type;
use bytes::Bytes;
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::basic::{BoundaryOrder, Encoding};
use parquet::file::metadata::{ColumnChunkMetaData, PageIndexPolicy};
use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::writer::SerializedFileWriter;
use proptest::prelude::*;

use super::{Column, Compressor, RowGroup};
use crate::schema::{PAGE_ROWS, TableSpec, columns, compression, tables};

const NOTE: (&TableSpec, &str) = (tables::BTF_EVENT, columns::btf_event::NOTE);
const TARGET: (&TableSpec, &str) = (tables::BTF_EVENT, columns::btf_event::TARGET);
const TIME: (&TableSpec, &str) = (tables::BTF_EVENT, columns::btf_event::TIME);
const INSTANCE: (&TableSpec, &str) = (tables::BTF_EVENT, columns::btf_event::TARGET_INSTANCE);
const VALUE: (&TableSpec, &str) = (tables::DATA_EVENT, columns::data_event::VALUE);
const COMPLETE: (&TableSpec, &str) = (tables::PROCESS_INSTANCE, columns::process_instance::COMPLETE);
const LINE: (&TableSpec, &str) = (tables::BTF_LINE, columns::btf_line::TEXT);

/// A file of one column, in one row group, whose rows come in these arrays.
fn file((table, column): (&TableSpec, &str), arrays: &[ArrayRef]) -> Bytes {
    let schema = table.arrow_schema();
    let schema = Arc::new(schema.project(&[schema.index_of(column).unwrap()]).unwrap());
    let parquet = ArrowSchemaConverter::new().convert(&schema).unwrap();
    let properties = Arc::new(table.writer_properties());
    let mut file =
        SerializedFileWriter::new(Vec::new(), parquet.root_schema_ptr(), properties.clone()).unwrap();
    let leaf = parquet.column(0);
    let mut group =
        RowGroup { columns: vec![Column::new(table.column(column).unwrap(), leaf.clone(), 0)], rows: 0 };
    let mut compressor = Compressor::new(compression()).unwrap();
    for array in arrays {
        group.columns[0].write(array, &mut compressor).unwrap();
    }
    group.close(&mut file, &mut compressor, &mut Vec::new()).unwrap();
    file.into_inner().unwrap().into()
}

fn reader(file: &Bytes) -> ParquetRecordBatchReaderBuilder<Bytes> {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    ParquetRecordBatchReaderBuilder::try_new_with_options(file.clone(), options).unwrap()
}

/// What another reader finds in the rows `[from, to)` with the help of the page index.
fn read(file: &Bytes, from: usize, to: usize) -> Option<ArrayRef> {
    let selection = RowSelection::from(vec![RowSelector::skip(from), RowSelector::select(to - from)]);
    let batches = reader(file).with_row_selection(selection).build().unwrap();
    let arrays: Vec<ArrayRef> = batches.map(|batch| batch.unwrap().column(0).clone()).collect();
    let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
    (!arrays.is_empty()).then(|| concat(&arrays).unwrap())
}

fn chunk(file: &Bytes) -> ColumnChunkMetaData {
    reader(file).metadata().row_group(0).column(0).clone()
}

fn index(file: &Bytes) -> ColumnIndexMetaData {
    reader(file).metadata().column_index().unwrap()[0][0].clone()
}

fn numbers(numbers: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(numbers.into_iter().collect::<Int64Array>())
}

/// Rows by key, and the names of the keys.
type Names = (Vec<Option<u32>>, Vec<String>);

fn dictionary((keys, values): &Names) -> ArrayRef {
    let values = Arc::new(StringArray::from_iter_values(values));
    Arc::new(DictionaryArray::new(UInt32Array::from(keys.clone()), values))
}

fn name_file(column: (&TableSpec, &str), batches: &[Names]) -> Bytes {
    file(column, &batches.iter().map(dictionary).collect::<Vec<_>>())
}

/// The names that these batches mean.
fn meant(batches: &[Names]) -> Vec<Option<String>> {
    let rows =
        batches.iter().flat_map(|(keys, values)| keys.iter().map(|k| k.map(|k| values[k as usize].clone())));
    rows.collect()
}

fn texts(array: Option<ArrayRef>) -> Vec<Option<String>> {
    let owned = |array: ArrayRef| array.as_string::<i32>().iter().map(|n| n.map(str::to_owned)).collect();
    array.map(owned).unwrap_or_default()
}

fn read_names(file: &Bytes, from: usize, to: usize) -> Vec<Option<String>> {
    texts(read(file, from, to))
}

#[test]
fn a_slice_reads_its_pages_only_and_finds_its_rows() {
    let keys = (0..3 * PAGE_ROWS as u32 + 5).map(|n| (n % 7 != 0).then_some(n * n % 1000));
    let batch = (keys.collect::<Vec<_>>(), (0..1000).map(|n| format!("name {n}")).collect());
    let rows = meant(std::slice::from_ref(&batch));
    let file = name_file(NOTE, &[batch]);
    for (from, to) in
        [(0, 1), (PAGE_ROWS - 1, PAGE_ROWS + 1), (2 * PAGE_ROWS + 9, rows.len()), (0, rows.len())]
    {
        assert_eq!(read_names(&file, from, to), rows[from..to]);
    }
    assert_eq!((chunk(&file).num_values(), chunk(&file).statistics()), (rows.len() as i64, None));
}

#[test]
fn a_full_dictionary_gives_way_to_names() {
    let long = |n: u32| format!("{n}{}", "x".repeat(100));
    let count = 30_000;
    let batch = ((0..count).map(|n| (n % 9 != 0).then_some(n / 2)).collect(), (0..count).map(long).collect());
    let rows = meant(std::slice::from_ref(&batch));
    let file = name_file(NOTE, &[batch]);
    assert_eq!(read_names(&file, 0, rows.len()), rows);
    assert_eq!(read_names(&file, 25_000, 25_010), rows[25_000..25_010]);
    assert!(chunk(&file).compressed_size() < 200_000);
}

#[test]
fn keys_that_change_their_meaning_are_looked_at_again() {
    let texts = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect();
    let all = |values: &[&str]| ((0..values.len() as u32).map(Some).collect(), texts(values));
    let batches =
        [all(&["a", "b"]), all(&["a", "b", "c"]), all(&["a", "x", "c"]), all(&["ab", ""]), all(&["b", "b"])];
    assert_eq!(read_names(&name_file(TARGET, &batches), 0, 12), meant(&batches));
}

#[test]
fn a_column_without_values_and_one_without_rows_can_be_read() {
    let none = (vec![None; 3], vec![]);
    assert_eq!(read_names(&name_file(NOTE, &[none]), 0, 3), vec![None; 3]);
    assert_eq!(read_names(&name_file(NOTE, &[]), 0, 0), Vec::<Option<String>>::new());
    assert_eq!(read(&file(INSTANCE, &[numbers([None, None])]), 0, 2), Some(numbers([None, None])));
    assert!(read(&file(TIME, &[]), 0, 0).is_none());
}

#[test]
fn a_row_without_a_value_where_each_must_have_one_is_an_error() {
    let leaf = || {
        let schema = tables::BTF_EVENT.arrow_schema();
        let parquet = ArrowSchemaConverter::new().convert(&schema).unwrap();
        parquet.column(0)
    };
    let mut compressor = Compressor::new(compression()).unwrap();
    let mut column = Column::new(tables::BTF_EVENT.column("time").unwrap(), leaf(), 0);
    column.write(&numbers([Some(1), None]), &mut compressor).unwrap();
    assert!(column.close(&mut compressor).is_err());
    let mut column = Column::new(tables::BTF_EVENT.column("time").unwrap(), leaf(), 0);
    assert!(column.write(&(Arc::new(BooleanArray::from(vec![true])) as ArrayRef), &mut compressor).is_err());
}

#[test]
fn pages_of_numbers_tell_their_range() {
    let count = 2 * PAGE_ROWS as i64 + 7;
    let times = file(TIME, &[numbers((0..count).map(|n| Some(n - 5)))]);
    let ColumnIndexMetaData::INT64(pages) = index(&times) else { panic!("times are 64 bits wide") };
    assert_eq!(index(&times).get_boundary_order(), Some(BoundaryOrder::ASCENDING));
    let page = PAGE_ROWS as i64;
    let ranges = [(-5, page - 6), (page - 5, 2 * page - 6), (2 * page - 5, count - 6)];
    let found: Vec<_> =
        (0..3).map(|n| (*pages.min_value(n).unwrap(), *pages.max_value(n).unwrap())).collect();
    assert_eq!(found, ranges);
    let encodings: Vec<Encoding> = chunk(&times).encodings().collect();
    assert_eq!(encodings, [Encoding::RLE, Encoding::DELTA_BINARY_PACKED]);

    // A page without a value has no range, and unsigned numbers have an order of their own.
    let none = vec![None; PAGE_ROWS];
    let values = none.iter().copied().chain([Some(u64::MAX), Some(3), None]).collect::<UInt64Array>();
    let values = file(VALUE, &[Arc::new(values)]);
    let ColumnIndexMetaData::INT64(pages) = index(&values) else { panic!("values are 64 bits wide") };
    assert_eq!((pages.min_value(0), pages.min_value(1), pages.max_value(1)), (None, Some(&3), Some(&-1)));
    assert_eq!((pages.null_count(0), pages.null_count(1)), (Some(PAGE_ROWS as i64), Some(1)));
    let chunk = chunk(&values);
    let statistics = chunk.statistics().unwrap();
    assert_eq!(
        (statistics.null_count_opt(), statistics.min_bytes_opt()),
        (Some(PAGE_ROWS as u64 + 1), Some(&3u64.to_le_bytes()[..]))
    );
}

#[test]
fn numbers_that_do_not_repeat_are_not_put_into_a_dictionary() {
    let repeating = (0..PAGE_ROWS as i64).map(|n| Some(n % 50 * 1_000_003));
    let rising = (0..2 * PAGE_ROWS as i64).map(|n| Some(n * 7));
    let rows = numbers(repeating.clone().chain(rising.clone()));
    let file = file(INSTANCE, std::slice::from_ref(&rows));
    let all = rows.len();
    assert_eq!(read(&file, 0, all).unwrap().as_primitive::<Int64Type>(), rows.as_primitive::<Int64Type>());
    let encodings: Vec<Encoding> = chunk(&file).encodings().collect();
    for encoding in [Encoding::RLE_DICTIONARY, Encoding::DELTA_BINARY_PACKED] {
        assert!(encodings.contains(&encoding), "{encodings:?}");
    }
    assert_eq!(read(&file, PAGE_ROWS - 2, PAGE_ROWS + 2), Some(rows.slice(PAGE_ROWS - 2, 4)));
}

/// Numbers of all kinds: small, repeated, rising, and any.
fn any_numbers() -> impl Strategy<Value = Vec<Vec<Option<i64>>>> {
    let number = prop_oneof![-3i64..3, any::<i64>(), Just(i64::MIN), Just(i64::MAX), 1_000_000i64..1_001_000];
    prop::collection::vec(prop::collection::vec(prop::option::weighted(0.8, number), 0..400), 0..5)
}

proptest! {
    #[test]
    fn names_come_back(
        batches in prop::collection::vec(
            prop::collection::vec("[ab\\PC]{0,3}", 1..20).prop_flat_map(|values| {
                let keys = prop::option::weighted(0.8, 0..values.len() as u32);
                (prop::collection::vec(keys, 0..60), Just(values))
            }),
            0..5,
        ),
    ) {
        let rows = meant(&batches);
        prop_assert_eq!(read_names(&name_file(NOTE, &batches), 0, rows.len()), rows);
    }

    #[test]
    fn numbers_come_back(batches in any_numbers()) {
        let all: Vec<Option<i64>> = batches.iter().flatten().copied().collect();
        let arrays: Vec<ArrayRef> = batches.iter().map(|b| numbers(b.iter().copied())).collect();
        let read_back = read(&file(INSTANCE, &arrays), 0, all.len());
        prop_assert!(read_back.unwrap_or_else(|| numbers([])) == numbers(all.iter().copied()));

        let times: Vec<ArrayRef> = batches.iter().map(|b| numbers(b.iter().copied().filter(Option::is_some))).collect();
        let present: Vec<Option<i64>> = all.into_iter().filter(Option::is_some).collect();
        let file = file(TIME, &times);
        prop_assert!(read(&file, 0, present.len()).unwrap_or_else(|| numbers([])) == numbers(present.iter().copied()));
        let chunk = chunk(&file);
        let statistics = chunk.statistics().unwrap();
        let bytes = |n: Option<Option<i64>>| n.flatten().map(|n| n.to_le_bytes().to_vec());
        prop_assert_eq!(statistics.min_bytes_opt().map(<[u8]>::to_vec), bytes(present.iter().min().copied()));
        prop_assert_eq!(statistics.max_bytes_opt().map(<[u8]>::to_vec), bytes(present.iter().max().copied()));
    }

    #[test]
    fn flags_and_texts_come_back(flags: Vec<bool>, lines: Vec<String>) {
        let rows: ArrayRef = Arc::new(BooleanArray::from(flags.clone()));
        let back = read(&file(COMPLETE, &[rows.slice(0, flags.len() / 3), rows.slice(flags.len() / 3, flags.len() - flags.len() / 3)]), 0, flags.len());
        prop_assert_eq!(back.map(|b| b.as_boolean().iter().flatten().collect::<Vec<_>>()).unwrap_or_default(), flags);
        let array: ArrayRef = Arc::new(StringArray::from_iter_values(&lines));
        let back = texts(read(&file(LINE, &[array]), 0, lines.len()));
        prop_assert_eq!(back, lines.into_iter().map(Some).collect::<Vec<_>>());
    }
}
