//! Every format on the same awkward rows.

use std::io;
use std::sync::Arc;

use arrow::array::{
    BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, StringViewArray, UInt64Array,
};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use proptest::prelude::*;

use super::*;

fn sample() -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([
        ("time", Arc::new(Int64Array::from(vec![-5, i64::MAX])) as _, true),
        ("name", Arc::new(StringViewArray::from(vec![Some("a,\"b\"\n\tc\\"), Some("")])) as _, true),
        ("note", Arc::new(StringArray::from(vec![None, Some("x\u{1b}[0m")])) as _, true),
        ("share", Arc::new(Float64Array::from(vec![Some(1.0 / 3.0), Some(4.0)])) as _, true),
        ("bits", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None])) as _, true),
        ("ok", Arc::new(BooleanArray::from(vec![true, false])) as _, true),
    ])
    .unwrap()
}

fn bytes(batches: Vec<RecordBatch>, format: Format, limit: Option<usize>) -> (Vec<u8>, Rendered) {
    let schema = batches[0].schema();
    let mut out = Vec::new();
    let rendered = render(&schema, &mut batches.into_iter().map(Ok), format, &mut out, limit, 2).unwrap();
    (out, rendered)
}

fn text(format: Format) -> String {
    String::from_utf8(bytes(vec![sample()], format, None).0).unwrap()
}

#[test]
fn formats_that_find_columns_by_name_get_distinct_names() {
    let numbers = |n| Arc::new(Int64Array::from(vec![n])) as arrow::array::ArrayRef;
    let batch = || {
        let fields = ["core", "n", "core"].map(|name| Field::new(name, DataType::Int64, true));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        RecordBatch::try_new(schema, vec![numbers(1), numbers(2), numbers(3)]).unwrap()
    };
    let text = |format| String::from_utf8(bytes(vec![batch()], format, None).0).unwrap();
    assert_eq!(text(Format::Csv), "core,n,core\n1,2,3\n");
    assert_eq!(text(Format::Jsonl), "{\"core\":1,\"n\":2,\"core_1\":3}\n");
    assert_eq!(text(Format::Json), "[{\"core\":1,\"n\":2,\"core_1\":3}]\n");
    let parquet = bytes(vec![batch()], Format::Parquet, None).0;
    let read = ParquetRecordBatchReader::try_new(bytes::Bytes::from(parquet), 10).unwrap().next().unwrap();
    assert_eq!(read.unwrap().schema().field(2).name(), "core_1");
    assert!(!bytes(vec![batch()], Format::Arrow, None).0.is_empty());
}

#[test]
fn csv_is_exact() {
    let expected = "time,name,note,share,bits,ok\n\
                    -5,\"a,\"\"b\"\"\n\tc\\\",,0.3333333333333333,18446744073709551615,true\n\
                    9223372036854775807,\"\",x\u{1b}[0m,4,,false\n";
    assert_eq!(text(Format::Csv), expected);
}

#[test]
fn tsv_escapes() {
    let lines: Vec<_> = text(Format::Tsv).lines().map(str::to_owned).collect();
    assert_eq!(lines[1], "-5\ta,\"b\"\\n\\tc\\\\\t\t0.3333333333333333\t18446744073709551615\ttrue");
    assert_eq!(lines.len(), 3);
}

#[test]
fn records_show_one_column_a_line() {
    let sample = sample();
    let text = records(&sample.schema(), &[sample.slice(0, 1), sample.slice(1, 1)]).unwrap();
    let expected = "time   -5\nname   a,\"b\"\\n\\tc\\\nnote   NULL\nshare  0.333333\nbits   18446744073709551615\nok     true\n\ntime   9";
    assert!(
        text.starts_with(expected) && text.ends_with("ok     false\n") && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[test]
fn tables_are_aligned_and_harmless() {
    let expected = "               time  name           note          share                  bits  ok\n\
                    -------------------  -------------  ----------  -------  --------------------  -----\n\
                    \u{20}                -5  a,\"b\"\\n\\tc\\  NULL        0.333333  18446744073709551615  true\n";
    let table = text(Format::Table);
    assert!(table.contains("x\\u{1b}[0m") && !table.contains('\u{1b}'), "{table}");
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[2].trim(), expected.lines().nth(2).unwrap().trim());
    assert_eq!(lines[0].find("name"), lines[2].find("a,"));
    assert_eq!(lines[0].find("note"), lines[3].find("x\\u"));
    assert!(lines.iter().all(|l| l.trim_end() == *l));
}

#[test]
fn json_is_an_array_of_objects_and_jsonl_one_object_per_line() {
    let json: serde_json::Value = serde_json::from_str(&text(Format::Json)).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 2);
    assert_eq!(json[0]["bits"], serde_json::json!(u64::MAX));
    assert_eq!(json[0]["note"], serde_json::Value::Null);
    assert_eq!(json[0]["name"], serde_json::json!("a,\"b\"\n\tc\\"));
    let lines = text(Format::Jsonl);
    let second: serde_json::Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second, json[1]);
}

#[test]
fn binary_formats_can_be_read_back() {
    let (file, _) = bytes(vec![sample(), sample()], Format::Parquet, None);
    let mut on_disk = tempfile::tempfile().unwrap();
    on_disk.write_all(&file).unwrap();
    let reader = ParquetRecordBatchReader::try_new(on_disk, 100).unwrap();
    let batches: Vec<_> = reader.map(|b| b.unwrap()).collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 4);
    assert_eq!(*batches[0].schema().field(1).data_type(), DataType::Utf8);
    let (file, _) = bytes(vec![sample()], Format::Arrow, None);
    let mut reader = arrow::ipc::reader::FileReader::try_new(io::Cursor::new(file), None).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().column(0), sample().column(0));
}

#[test]
fn no_rows_have_a_header() {
    let none = sample().slice(0, 0);
    let render = |format| String::from_utf8(bytes(vec![none.clone()], format, None).0).unwrap();
    assert_eq!(render(Format::Csv), "time,name,note,share,bits,ok\n");
    assert!(render(Format::Table).starts_with("time  name"));
    assert_eq!(render(Format::Json), "[]\n");
    assert_eq!(render(Format::Jsonl), "");
}

#[test]
fn a_limit_cuts_and_says_so() {
    let batches = || vec![sample(), sample(), sample()];
    for (limit, rows, more) in [(3, 3, true), (6, 6, false), (0, 0, true), (4, 4, true)] {
        let (out, rendered) = bytes(batches(), Format::Jsonl, Some(limit));
        assert_eq!(rendered, Rendered { rows, more }, "{limit}");
        assert_eq!(out.iter().filter(|b| **b == b'\n').count() as u64, rows);
    }
    assert_eq!(Rendered { rows: 3, more: true }.footer(), "first 3 rows; there are more");
    assert_eq!(Rendered { rows: 1, more: false }.footer(), "1 row");
}

#[test]
fn plans_keep_their_lines() {
    let plan = RecordBatch::try_from_iter([
        ("plan_type", Arc::new(StringArray::from(vec!["physical_plan"])) as _),
        ("plan", Arc::new(StringArray::from(vec!["A\n  B"])) as _),
    ]);
    let (out, _) = bytes(vec![plan.unwrap()], Format::Table, None);
    let out = String::from_utf8(out).unwrap();
    assert!(out.ends_with("physical_plan  A\n                 B\n"), "{out}");
}

/// A closed pipe must be recognisable in every format.
#[test]
fn the_cause_of_a_failure_is_the_error_of_the_output() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for format in Format::ALL {
        let schema = sample().schema();
        for threads in [1, 2] {
            let mut rows = [Ok(sample())].into_iter();
            let e = render(&schema, &mut rows, format, &mut Closed, None, threads).unwrap_err();
            let cause = std::error::Error::source(&e).and_then(|s| s.downcast_ref::<io::Error>());
            assert_eq!(cause.map(io::Error::kind), Some(io::ErrorKind::BrokenPipe), "{}", format.name());
        }
    }
}

#[test]
fn names_of_formats_are_found() {
    assert!(Format::ALL.into_iter().all(|f| Format::parse(f.name()) == Some(f)));
    assert_eq!(Format::parse("xml"), None);
}

proptest! {
    /// Another reader gets all strings back from CSV.
    #[test]
    fn csv_survives_the_way_back(cells in prop::collection::vec("[ -~\n\r\t\"é]{1,12}", 1..20)) {
        let batch = RecordBatch::try_from_iter([("a", Arc::new(StringArray::from(cells.clone())) as _),
            ("b", Arc::new(StringArray::from(cells.clone())) as _)]).unwrap();
        let schema = batch.schema();
        let (out, _) = bytes(vec![batch], Format::Csv, None);
        let mut reader = arrow::csv::ReaderBuilder::new(schema).with_header(true).build(io::Cursor::new(out)).unwrap();
        let back = reader.next().unwrap().unwrap();
        let read: Vec<_> = back.column(1).as_any().downcast_ref::<StringArray>().unwrap().iter().flatten().collect();
        prop_assert_eq!(read, cells);
    }
}

/// The writer of Parquet panics on a dictionary of views, and an IPC file has one dictionary for all batches.
#[test]
fn texts_in_dictionaries_and_lists_are_plain_in_files() {
    let views = cast(&StringArray::from(vec!["a", "b"]), &DataType::Utf8View).unwrap();
    let keyed = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8View));
    let keyed = cast(&views, &keyed).unwrap();
    let batch = RecordBatch::try_from_iter([("views", views), ("keyed", keyed)]).unwrap();
    for format in [Format::Parquet, Format::Arrow] {
        let mut out = Vec::new();
        let mut rows = [Ok(batch.clone()), Ok(batch.slice(1, 1))].into_iter();
        render(&batch.schema(), &mut rows, format, &mut out, None, 1).unwrap();
        assert!(out.len() > 100, "{format:?}");
    }
}
