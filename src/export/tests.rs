//! Exports of the database with known content.

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::btf::{BtfCounts, BtfOptions, export_btf};
use super::table::export_table;
use crate::engine::tests::fixture::{EVENTS, accesses, begin, empty, engine, events, gap, open, put};
use crate::engine::{Session, SessionOptions};
use crate::error::{ErrorKind, Result};
use crate::render::Format;
use crate::schema::{BtfEventRow, BtfEventRows, ProcessInstanceRow, ProcessInstanceRows, TABLES, tables};
use crate::selection::Selection;
use crate::store::Database;

fn btf(session: &Session, selection: &Selection) -> Result<(String, BtfCounts)> {
    let mut out = Vec::new();
    let (_, exported) = export_btf(session, selection, &BtfOptions::default(), &mut out)?;
    Ok((String::from_utf8(out).unwrap(), exported))
}

/// A recording of these files; `input` is what is ingested of them.
pub(super) fn ingested(input: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Session) {
    let dir = tempfile::TempDir::new().unwrap();
    for (name, content) in files {
        let file = dir.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, content).unwrap();
    }
    let input = dir.path().join(input);
    let plans = crate::description::plan(&[input], &Default::default(), crate::formats::FORMATS).unwrap();
    let control = std::sync::Arc::new(crate::ops::Control::default());
    let options = crate::ops::IngestOptions::default();
    let disk = std::sync::Arc::new(crate::store::RealDisk);
    crate::ops::ingest::ingest(disk, dir.path().join("db"), &plans, &options, &control).unwrap();
    let session = open(dir.path());
    (dir, session)
}

fn body(text: &str) -> Vec<&str> {
    text.lines().filter(|l| !l.starts_with('#')).collect()
}

#[test]
fn the_whole_recording() {
    let (_dir, session) = engine(&["r"]);
    let (text, exported) = btf(&session, &Selection::default()).unwrap();
    let header: Vec<_> = text.lines().take_while(|l| l.starts_with('#')).collect();
    let creator = format!("#creator btfdb {}", env!("CARGO_PKG_VERSION"));
    assert_eq!(header, ["#version 2.1.5", &creator, "#creationDate 2026-11-21T00:00:00Z", "#timeScale ns"]);
    let lines = body(&text);
    // A value of a signal is a number (BTF 2.1.5 table 16), and this one has a comma.
    let said = EVENTS.len() - 1;
    assert_eq!((lines.len(), exported.events, exported.shifted_by), (said, said as u64, 0));
    assert_eq!(exported.inexpressible, 1);
    assert!(text.contains("\n# 40,T_1,0,SIG,SIG_1,0,write,1,5\n"), "{text}");
    assert_eq!(lines[0], "0,STI_1,0,T,T_1,0,activate");
    // Events of the same time keep their order.
    assert_eq!(lines[3], "20,STI_2,0,I,I_1,0,activate");
    assert_eq!(lines[5], "20,Core_1,0,I,I_1,0,start");
    assert!(text.ends_with('\n'));
}

#[test]
fn entities_are_sources_or_targets() {
    let (_dir, session) = engine(&["r"]);
    let of = |entities: &[&str], types: &[&str]| {
        let [entities, types] = [entities, types].map(|l| l.iter().map(|s| (*s).to_owned()).collect());
        body(&btf(&session, &Selection { entities, types, ..Selection::default() }).unwrap().0).len()
    };
    assert_eq!(of(&["R_1"], &[]), 1);
    assert_eq!(of(&["R_1", "STI_2"], &[]), 2);
    assert_eq!(of(&["T_1"], &[]), 8, "as target, and as source of a start");
    assert_eq!(of(&["T_1"], &["SIG", "R"]), 1);
    assert_eq!(of(&[], &["I"]), 3);
    assert_eq!(of(&["it's; DROP"], &[]), 0);
}

#[test]
fn negative_times_are_shifted_and_it_is_said() {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(-100), Some(50)).unwrap();
    put(&mut tx, tables::BTF_EVENT, "r", None, &events(-100));
    tx.commit().unwrap();
    let (text, exported) =
        btf(&open(dir.path()), &Selection { from: Some(-60), ..Selection::default() }).unwrap();
    assert!(text.contains("\n# times shifted by 100 ns: "), "{text}");
    assert_eq!(exported.shifted_by, 100);
    assert_eq!(body(&text)[0], "50,Core_1,0,T,T_1,0,terminate", "the window is that of the database");
}

#[test]
fn what_btf_cannot_express_is_replaced_and_counted() {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(0)).unwrap();
    let mut rows = BtfEventRows::new();
    let (source, target, note) = ("operator,(a, b)", "ä", Some("x\ny,z".into()));
    let (time, seq, source_instance, target_instance) = (0, 0, Some(-1), Some(7));
    let row = BtfEventRow {
        time,
        seq,
        source: source.into(),
        source_instance,
        target_type: "R".into(),
        target: target.into(),
        target_instance,
        action: "start".into(),
        note,
    };
    rows.push(row);
    put(&mut tx, tables::BTF_EVENT, "r", None, &rows.take_batch().unwrap());
    tx.commit().unwrap();
    let (text, exported) = btf(&open(dir.path()), &Selection::default()).unwrap();
    assert_eq!(body(&text), ["0,operator_(a_ b),-1,R,ä,7,start,x_y,z"]);
    assert_eq!(exported.altered, 2);
}

#[test]
fn the_recording_must_be_clear() {
    let (_dir, session) = engine(&["r", "s"]);
    let e = btf(&session, &Selection::default()).unwrap_err();
    assert_eq!(
        (e.kind(), e.hints()),
        (ErrorKind::Usage, &["choose one with --recording: r, s".to_owned()][..])
    );
    let named = |name: &str| Selection { recording: Some(name.into()), ..Selection::default() };
    assert_eq!(body(&btf(&session, &named("s")).unwrap().0).len(), EVENTS.len() - 1);
    assert_eq!(btf(&session, &named("t")).unwrap_err().kind(), ErrorKind::Usage);
    let (_dir, session) = empty();
    assert_eq!(btf(&session, &Selection::default()).unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn slices_of_any_table_concatenate_to_the_whole() {
    let (_dir, session) = engine(&["r"]);
    let csv = |table: &str, from, to| {
        let mut out = Vec::new();
        let selection = Selection { from, to, ..Selection::default() };
        let (count, _) = export_table(&session, table, Format::Csv, (&selection, ""), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let mut rows: Vec<_> = text.lines().skip(1).map(str::to_owned).collect();
        assert_eq!(rows.len() as u64, count, "{table}");
        rows.sort();
        rows
    };
    for table in TABLES.iter().map(|t| t.name) {
        let whole = csv(table, None, None);
        let mut slices: Vec<_> = [(None, Some(20)), (Some(20), Some(105)), (Some(105), None)].to_vec();
        if [tables::RECORDING.name, tables::SOURCE.name, tables::DIAGNOSTIC.name].contains(&table) {
            slices.truncate(1);
        }
        let mut parts: Vec<_> = slices.into_iter().flat_map(|(from, to)| csv(table, from, to)).collect();
        parts.sort();
        assert_eq!(parts, whole, "{table}");
    }
}

#[test]
fn tables_are_exported_with_their_partition_columns() {
    let (dir, _) = engine(&["r"]);
    let mut tx = begin(&dir.path().join("db"));
    put(&mut tx, tables::DATA_EVENT, "r", Some("Core_1"), &accesses(0, 3));
    put(&mut tx, tables::DATA_EVENT, "r", Some("Core_0"), &accesses(1, 3));
    tx.commit().unwrap();
    let session = open(dir.path());
    let mut out = Vec::new();
    let entities = vec!["SIG_1".to_owned()];
    let selection = Selection { entities, types: vec!["T".into()], ..Selection::default() };
    let exported = export_table(&session, "data_event", Format::Csv, (&selection, ""), &mut out).unwrap();
    let expected = "recording,core,time,seq,record,variable,access,value\n\
                    r,Core_0,10,1,,SIG_1,write,1\n\
                    r,Core_1,10,1,,SIG_1,write,1\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    assert_eq!(exported, (2, vec!["the types"]));

    let mut out = tempfile::tempfile().unwrap();
    let everything = Selection::default();
    export_table(&session, "process_instance", Format::Parquet, (&everything, ""), &mut out).unwrap();
    let mut reader = ParquetRecordBatchReader::try_new(out, 100).unwrap();
    let batch = reader.next().unwrap().unwrap();
    assert_eq!(batch.num_rows(), 5);
    let activations = batch.column_by_name("activate_at").unwrap().as_primitive::<Int64Type>();
    assert_eq!(activations.values(), &[0, 20, 100, 210, 300], "ordered by their first moment");
    let e =
        export_table(&session, "proces_state", Format::Csv, (&everything, ""), &mut Vec::new()).unwrap_err();
    assert_eq!(e.hints(), ["did you mean 'process_state'?"]);
}

/// Wherever a recording is cut, the event lines of its slices are those of the whole.
#[test]
fn slices_of_btf_concatenate_to_the_whole() {
    let (_dir, session) = engine(&["r"]);
    let whole = btf(&session, &Selection::default()).unwrap().0;
    let cuts = prop::collection::vec(-5i64..160, 0..4);
    let mut runner = TestRunner::new(ProptestConfig::with_cases(10));
    let result = runner.run(&cuts, |mut cuts| {
        cuts.sort_unstable();
        let edges: Vec<_> = [None].into_iter().chain(cuts.into_iter().map(Some)).chain([None]).collect();
        let mut parts = Vec::new();
        for edge in edges.windows(2) {
            let selection = Selection { from: edge[0], to: edge[1], ..Selection::default() };
            let (text, _) = btf(&session, &selection).unwrap();
            parts.extend(body(&text).into_iter().map(str::to_owned));
        }
        prop_assert_eq!(parts, body(&whole));
        Ok(())
    });
    result.unwrap();
}

/// The last events before them are at 50 and 150.
#[test]
fn gaps_behind_the_last_event_are_in_the_file() {
    let (dir, _) = engine(&["r"]);
    let mut tx = begin(&dir.path().join("db"));
    for (from, to) in [(60, 90), (200, 320)] {
        put(&mut tx, tables::GAP, "r", None, &gap(Some("Core_1"), from, to));
    }
    tx.commit().unwrap();
    let session = open(dir.path());
    let gaps = |from, to| -> Vec<String> {
        let text = btf(&session, &Selection { from, to, ..Selection::default() }).unwrap().0;
        text.lines().filter(|line| line.starts_with("# gap of ")).map(str::to_owned).collect()
    };
    let line = |from, to| format!("# gap of Core_1: fifo_overflow, from {from} to {to} ns");
    assert_eq!(gaps(None, None), [line(60, 90), line(200, 320)]);
    // Of slices, each gap is in that in which it begins, although no event of the first one follows it.
    assert_eq!(gaps(None, Some(80)), [line(60, 90)]);
    assert_eq!(gaps(Some(80), None), [line(200, 320)]);
    // Events of one kind only: the first one is at 20, the last one at 30.
    let isr = Selection { types: vec!["I".into()], ..Selection::default() };
    let text = btf(&session, &isr).unwrap().0;
    assert!(text.ends_with(&format!("\n{}\n{}\n", line(60, 90), line(200, 320))), "{text}");
}

/// Two sorts at a time occasionally took the memory that the other had reserved.
#[test]
fn tables_that_need_a_sort_take_little_memory() {
    const ROWS: i64 = 200_000;
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(ROWS + 1)).unwrap();
    let mut instances = ProcessInstanceRows::new();
    for n in 0..ROWS {
        // Four files, each of which the engine would sort separately. Every instant once, unordered.
        if n > 0 && n % (ROWS / 4) == 0 {
            put(&mut tx, tables::PROCESS_INSTANCE, "r", None, &instances.take_batch().unwrap());
        }
        let at = n * 7_919 % ROWS;
        instances.push(ProcessInstanceRow {
            process: ["T_1", "T_2", "T_3"][n as usize % 3].into(),
            r#type: "T".into(),
            instance: n,
            core: Some("Core_1".into()),
            activate_at: Some(at),
            start_at: Some(at),
            terminate_at: Some(at + 1),
            running: 1,
            ready: 0,
            waiting: 0,
            polling: 0,
            parking: 0,
            preemptions: 0,
            complete: true,
            lost: Some(0),
        });
    }
    put(&mut tx, tables::PROCESS_INSTANCE, "r", None, &instances.take_batch().unwrap());
    tx.commit().unwrap();
    let database = Database::open(dir.path().join("db")).unwrap();
    for _ in 0..3 {
        let options =
            SessionOptions { threads: Some(4), memory_limit: Some(12 << 20), ..SessionOptions::default() };
        let session = Session::open(database.clone(), options).unwrap();
        let mut out = Vec::new();
        let selection = Selection::default();
        let (rows, _) =
            export_table(&session, "process_instance", Format::Csv, (&selection, ""), &mut out).unwrap();
        assert_eq!(rows, ROWS as u64);
        let moments = String::from_utf8(out).unwrap();
        let moments =
            moments.lines().skip(1).map(|line| line.split(',').nth(5).unwrap().parse::<i64>().unwrap());
        assert!(moments.eq(0..ROWS), "in the order of activation");
    }
}
