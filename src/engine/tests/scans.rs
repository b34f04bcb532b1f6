//! What a scan reads: only the files and pages it has to, in order, exactly those of the log.

use super::fixture::{accesses, begin, empty, open, open_with, put};
use super::rows;
use crate::engine::{Session, SessionOptions};
use crate::schema::tables;
use arrow::array::RecordBatch;
use datafusion::physical_plan::collect;
use tempfile::TempDir;
use tokio::runtime::Builder;

/// Two recordings, two cores, two consecutive files each, 30 000 rows a file: two pages of a file.
fn big() -> (TempDir, Session) {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    for recording in ["a b/ü=%", "b"] {
        tx.set_recording(recording, Some(0), Some(600_000)).unwrap();
        for core in ["Core_0", "Core_1"] {
            put(&mut tx, tables::DATA_EVENT, recording, Some(core), &accesses(0, 30_000));
            put(&mut tx, tables::DATA_EVENT, recording, Some(core), &accesses(30_000, 60_000));
        }
    }
    tx.commit().unwrap();
    let session = open(dir.path());
    (dir, session)
}

fn explain(session: &Session, sql: &str) -> String {
    rows(session, &format!("EXPLAIN ANALYZE {sql}")).join("\n")
}

/// How many files a plan reads.
fn files(plan: &str) -> usize {
    plan.matches(".parquet").count()
}

#[test]
fn names_of_any_kind_are_found_and_shown() {
    let (_dir, session) = big();
    let sql = "SELECT recording, core, count(*), sum(value) FROM data_event GROUP BY 1, 2 ORDER BY 1, 2";
    let sum = (0..60_000u64).map(|n| n % 7).sum::<u64>();
    let expected =
        ["a b/ü=% Core_0", "a b/ü=% Core_1", "b Core_0", "b Core_1"].map(|n| format!("{n} 60000 {sum}"));
    assert_eq!(rows(&session, sql), expected);
}

#[test]
fn partition_values_leave_files_unread() {
    let (_dir, session) = big();
    let sql = "SELECT count(value) FROM data_event WHERE recording = 'b' AND core <> 'Core_0'";
    assert_eq!(rows(&session, sql), ["60000"]);
    let plan = explain(&session, sql);
    assert_eq!(files(&plan), 2, "{plan}");
    assert!(!plan.contains("FilterExec"), "the filter is fully used up: {plan}");
    assert_eq!(rows(&session, "SELECT count(*) FROM data_event WHERE upper(core) = 'CORE_1'"), ["120000"]);
    assert_eq!(rows(&session, "SELECT count(*) FROM data_event WHERE recording = 'none'"), ["0"]);
}

/// What is known of one aggregate must not leave out rows that another one needs: the least `time` is in the
/// file that is read first, the greatest name in another one.
#[test]
fn an_aggregate_leaves_no_row_out_for_another_one() {
    let (_dir, session) = big();
    let sql = "SELECT max(recording || core), min(time) FROM data_event";
    let plan = explain(&session, sql);
    assert!(!plan.contains("DynamicFilter"), "{plan}");
    for _ in 0..20 {
        assert_eq!(rows(&session, sql), ["bCore_1 0"]);
    }
}

#[test]
fn a_time_window_reads_only_its_files_and_pages() {
    let (_dir, session) = big();
    let sql = "SELECT count(value) FROM data_event \
               WHERE time >= 100000 AND time < 100100 AND recording = 'b' AND core = 'Core_1'";
    assert_eq!(rows(&session, sql), ["10"]);
    let plan = explain(&session, sql);
    assert_eq!(files(&plan), 1, "the second file begins at 300 000: {plan}");
    // The file has two pages, the first of 20 000 rows, rounded up to batches of 1024.
    let pruned = "page_index_rows_pruned=30.00 K total → 20.48 K matched";
    assert!(plan.contains(pruned), "{plan}");
    assert!(plan.contains("pruning_predicate="), "{plan}");
}

#[test]
fn row_groups_without_a_name_are_not_read() {
    let (_dir, session) = big();
    let count = |condition: &str| format!("SELECT count(value) FROM data_event WHERE {condition}");
    for (condition, expected) in [
        ("variable = 'SIG_1'", "120000"),
        ("variable = 'nobody'", "0"),
        ("variable IN ('nobody', 'SIG_1') AND access = 'write'", "120000"),
        ("variable = 'SIG_1' AND access = 'read'", "0"),
        ("variable = 'nobody' OR access = 'write'", "240000"),
        ("variable <> 'nobody'", "240000"),
    ] {
        assert_eq!(rows(&session, &count(condition)), [expected], "{condition}");
    }
    let plan = explain(&session, &count("variable IN ('nobody', 'none', 'SIG') AND value > 3"));
    assert!(plan.contains("output_rows=0,"), "{plan}");
    assert!(plan.contains("bytes_scanned=0"), "{plan}");
}

/// As for the instance that `explain` looks for: the scan itself leaves out rows.
#[test]
fn conditions_that_a_scan_applies_to_rows_are_all_kept() {
    let (_dir, session) = big();
    let mut state = session.context().state();
    state.config_mut().options_mut().execution.parquet.pushdown_filters = true;
    let count = |sql: &str| {
        let plan = async {
            let plan = state.create_logical_plan(sql).await?;
            collect(state.create_physical_plan(&plan).await?, state.task_ctx()).await
        };
        let batches = Builder::new_multi_thread().build().unwrap().block_on(plan).unwrap();
        batches.iter().map(RecordBatch::num_rows).sum::<usize>()
    };
    // The name is in a condition, and only its identity is in the result.
    let sql = "SELECT time, variable = 'SIG_1' FROM data_event WHERE recording = 'b' AND core = 'Core_0' \
               AND variable = 'SIG_1' AND value = 1 AND time < 200";
    assert_eq!(count(sql), 2);
    assert_eq!(rows(&session, sql).len(), 2);
}

#[test]
fn rows_of_a_core_come_sorted_without_sorting() {
    let (_dir, session) = big();
    let sql = "SELECT time, seq FROM data_event WHERE recording = 'b' AND core = 'Core_0' ORDER BY time, seq";
    let plan = explain(&session, sql);
    assert!(!plan.contains("SortExec"), "{plan}");
    let read = rows(&session, sql);
    assert_eq!((read.len(), read[0].as_str(), read[59_999].as_str()), (60_000, "0 0", "599990 59999"));
    // Two cores are merged, not sorted.
    let merged =
        explain(&session, "SELECT time, seq, core FROM data_event WHERE recording = 'b' ORDER BY time, seq");
    assert!(merged.contains("SortPreservingMergeExec") && !merged.contains("SortExec"), "{merged}");
}

#[test]
fn the_log_answers_what_it_knows() {
    let (_dir, session) = big();
    let sql = "SELECT count(*), min(time), max(time) FROM data_event";
    assert_eq!(rows(&session, sql), ["240000 0 599990"]);
    assert_eq!(files(&explain(&session, sql)), 0);
}

#[test]
fn overlapping_files_are_still_sorted() {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(900)).unwrap();
    for (from, to) in [(40, 80), (0, 50), (79, 90)] {
        put(&mut tx, tables::DATA_EVENT, "r", Some("c"), &accesses(from, to));
    }
    tx.commit().unwrap();
    let session = open(dir.path());
    let read = rows(&session, "SELECT time FROM data_event ORDER BY time, seq");
    let times: Vec<i64> = read.iter().map(|t| t.parse().unwrap()).collect();
    assert_eq!(times.len(), 101);
    assert!(times.is_sorted());
}

#[test]
fn files_outside_the_log_are_not_read() {
    let (dir, session) = big();
    let entry = &session.database().files(tables::DATA_EVENT, Some("b")).unwrap()[0];
    let path = session.database().place_of(entry).path().to_owned();
    std::fs::copy(&path, path.with_file_name("part-99999.parquet")).unwrap();
    assert_eq!(
        rows(&open(dir.path()), "SELECT count(value) FROM data_event WHERE recording = 'b'"),
        ["120000"]
    );
}

#[test]
fn the_first_rows_are_those_of_the_first_file() {
    let (_dir, session) = big();
    for sql in [
        "SELECT recording, core, seq FROM data_event LIMIT 2",
        "SELECT * FROM (SELECT recording, core, seq FROM data_event) LIMIT 2",
    ] {
        assert_eq!(rows(&session, sql), ["a b/ü=% Core_0 0", "a b/ü=% Core_0 1"]);
        assert!(explain(&session, sql).contains("file_groups={1 group"));
    }
    // Not if an order is required.
    let last = "SELECT seq FROM data_event ORDER BY time DESC LIMIT 1";
    assert_eq!(rows(&session, last), ["59999"]);
}

/// A sort above an operator that needs an order does not replace the sort below it.
#[test]
fn windows_over_a_limit_have_their_orders() {
    let (dir, session) = big();
    let sql = "SELECT seq, lag(time) OVER (ORDER BY recording, core, seq) AS before, \
               rank() OVER (PARTITION BY access, core ORDER BY seq) AS place FROM \
               (SELECT * FROM data_event ORDER BY recording, core, seq LIMIT 7) t ORDER BY seq";
    let rows_of = |threads| {
        let options = SessionOptions { threads: Some(threads), ..SessionOptions::default() };
        rows(&open_with(dir.path(), options), sql)
    };
    assert_eq!(rows(&session, sql)[..3], ["0 - 1", "1 0 2", "2 10 3"]);
    assert_eq!((rows_of(1), rows_of(3)), (rows(&session, sql), rows(&session, sql)));
}

/// What is asked of the rows of a limit does not decide which rows these are.
#[test]
fn a_limit_comes_before_what_is_above_it() {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(900)).unwrap();
    // Three files, the second one with the first times.
    for (from, to) in [(5_000, 10_000), (0, 5_000), (20_000, 25_000)] {
        put(&mut tx, tables::DATA_EVENT, "r", Some("c"), &accesses(from, to));
    }
    tx.commit().unwrap();
    let last = "(SELECT time FROM data_event ORDER BY time DESC LIMIT 1)";
    let early = |rows: u32| format!("(SELECT * FROM data_event ORDER BY time, seq LIMIT {rows})");
    let stored = |rows: u32| format!("(SELECT * FROM data_event LIMIT {rows})");
    let cases = [
        (format!("SELECT seq FROM {} ORDER BY seq DESC LIMIT 2", stored(7000)), "9999 9998"),
        (format!("SELECT seq FROM {} ORDER BY time DESC LIMIT 2", early(7000)), "6999 6998"),
        (format!("SELECT seq FROM {} ORDER BY seq + 0 DESC LIMIT 2", early(7000)), "6999 6998"),
        (format!("SELECT count(*) FROM {} a JOIN {last} b ON a.time = b.time", early(5001)), "0"),
        (format!("SELECT count(*) FROM {} a JOIN {last} b ON a.time = b.time", stored(10_001)), "0"),
        (format!("SELECT count(*) FROM {} a JOIN {last} b ON a.time = b.time", stored(10)), "0"),
        (format!("SELECT min(seq), max(seq) FROM {} WHERE seq > 3", early(9)), "4 8"),
    ];
    for threads in [1, 2, 5] {
        let session =
            open_with(dir.path(), SessionOptions { threads: Some(threads), ..SessionOptions::default() });
        for (sql, expected) in &cases {
            assert_eq!(rows(&session, sql).join(" "), *expected, "{threads} threads: {sql}");
        }
    }
}
