//! Running statements: errors with a place, read-only, interrupts, damage.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::fixture::{accesses, begin, empty, engine, open, put};
use super::{collect, rows};
use crate::engine::split;
use crate::error::{Error, ErrorKind};
use crate::schema::{TABLES, tables};

fn failure(sql: &str) -> Error {
    let (_dir, session) = empty();
    collect(&session, sql, &[]).unwrap_err()
}

#[test]
fn every_table_exists_even_when_it_is_empty() {
    let (_dir, session) = empty();
    for table in TABLES {
        assert_eq!(rows(&session, &format!("SELECT count(*) FROM {}", table.name)), ["0"], "{}", table.name);
        let columns = collect(&session, &format!("SELECT * FROM {}", table.name), &[]).unwrap();
        let planned: Vec<_> = columns.schema().fields().iter().map(|f| f.name().clone()).collect();
        assert_eq!(planned, table.columns.iter().map(|c| c.name).collect::<Vec<_>>());
    }
}

#[test]
fn an_unknown_column_is_shown_where_it_stands() {
    let e = failure("SELECT time,\n  variabel FROM data_event");
    assert_eq!(e.kind(), ErrorKind::Query);
    let expected =
        "column 'variabel' not found (line 2, column 3)\n    variabel FROM data_event\n    ^^^^^^^^";
    assert_eq!(e.to_string(), expected);
    assert_eq!(e.hints(), ["did you mean 'variable'?"]);
}

#[test]
fn an_unknown_table_is_shown_where_it_stands() {
    let e = failure("SELECT * FROM data_events");
    assert_eq!(
        e.to_string(),
        "table 'data_events' not found (line 1, column 15)\n  SELECT * FROM data_events\n                ^^^^^^^^^^^"
    );
    assert_eq!(e.hints(), ["did you mean 'data_event'?"]);
    assert!(failure("SELECT * FROM xyzzy").hints()[0].starts_with("the tables are: btf_event, "));
}

#[test]
fn a_syntax_error_is_shown_where_it_stands() {
    let e = failure("SELECT 1\nFROM WHERE");
    assert!(e.to_string().contains("(line 2, column "), "{e}");
    let e = failure("SELECT sum(time FROM data_event");
    assert!(e.to_string().contains("(line 1, column 17)"), "{e}");
}

/// The parser would take `true AND false` as the right side: true where SQL has false.
#[test]
fn a_comparison_that_the_parser_takes_otherwise_is_refused() {
    let e = failure("SELECT 1,\n  true IS DISTINCT FROM true AND false");
    assert!(
        e.to_string().starts_with("what 'IS DISTINCT FROM' compares with is not clear before AND"),
        "{e}"
    );
    assert!(e.to_string().contains("(line 2, column 3)"), "{e}");
    failure("EXPLAIN SELECT 1 FROM data_event WHERE true IS NOT DISTINCT FROM false OR true");
    failure("SELECT (SELECT max(time) FROM data_event WHERE core IS DISTINCT FROM variable OR value > 3)");
    let (_dir, session) = empty();
    for clear in ["(true IS DISTINCT FROM true) AND false", "false AND true IS DISTINCT FROM true"] {
        assert_eq!(rows(&session, &format!("SELECT {clear}")), ["false"], "{clear}");
    }
    assert_eq!(rows(&session, "SELECT true IS DISTINCT FROM (true AND false)"), ["true"]);
}

#[test]
fn an_unknown_function_comes_with_a_suggestion() {
    let e = failure("SELECT couunt(time) FROM data_event");
    assert_eq!((e.kind(), e.hints()), (ErrorKind::Query, &["did you mean 'count'?".to_owned()][..]));
    let e = failure("SELECT * FROM interval_merg(gap, core)");
    assert_eq!(e.hints(), ["did you mean 'interval_merge'?"], "{e}");
}

#[test]
fn a_parameter_without_a_value_says_how_to_give_it_one() {
    let e = failure("SELECT * FROM core_peak");
    assert_eq!((e.kind(), e.to_string()), (ErrorKind::Query, "the parameter '$window' has no value".into()));
    assert_eq!(e.hints(), ["give it one, e.g. --param window=10ms, or .param window=10ms in the shell"]);
}

#[test]
fn a_failure_while_running_is_a_query_error() {
    let (_dir, session) = engine(&["r"]);
    let e = collect(&session, "SELECT 1 / (time - time) FROM btf_event", &[]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Query, "{e}");
}

#[test]
fn places_are_those_of_the_script() {
    let (_dir, session) = empty();
    let script = split("SELECT 1;\n  SELECT nope FROM gap").unwrap();
    assert!(session.run(&script[0], &[]).is_ok());
    let e = session.run(&script[1], &[]).unwrap_err();
    assert!(e.to_string().contains("(line 2, column 10)"), "{e}");
}

#[test]
fn one_statement_is_one_statement() {
    assert_eq!(failure("SELECT 1; SELECT 2").kind(), ErrorKind::Usage);
    assert_eq!(failure("-- nothing").kind(), ErrorKind::Usage);
}

#[test]
fn statements_cannot_change_anything() {
    let (dir, session) = engine(&["r"]);
    let file = dir.path().join("out.csv");
    for sql in [
        "CREATE TABLE btf_event AS SELECT 1 AS one",
        "CREATE OR REPLACE VIEW process_state AS SELECT 1 AS one",
        "DROP TABLE btf_event",
        "INSERT INTO gap VALUES ('r', NULL, 0, 1, 'x')",
        "DELETE FROM btf_event",
        "SET datafusion.execution.batch_size = 1",
        &format!("COPY (SELECT 1) TO '{}' STORED AS CSV", file.display()),
        &format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{}'", dir.path().display()),
    ] {
        assert_eq!(collect(&session, sql, &[]).unwrap_err().kind(), ErrorKind::Query, "{sql}");
    }
    assert!(!file.exists());
    assert!(collect(&session, "SELECT * FROM '/etc/passwd'", &[]).is_err());
    for sql in ["EXPLAIN SELECT 1", "SHOW TABLES", "DESCRIBE btf_event"] {
        assert!(collect(&session, sql, &[]).unwrap().num_rows() > 0, "{sql}");
    }
}

#[test]
fn parameters_have_names() {
    let (_dir, session) = engine(&["r"]);
    let sql = "SELECT count(*) FROM btf_event WHERE target = $name AND time >= $from";
    let batch = collect(&session, sql, &[("name", "T_1".into()), ("from", 10.into())]).unwrap();
    assert_eq!(super::lines(&batch), ["6"]);
    assert_eq!(collect(&session, sql, &[]).unwrap_err().kind(), ErrorKind::Query);
}

#[test]
fn stopping_does_not_wait_for_a_long_step() {
    let (_dir, session) = engine(&["r"]);
    let flag = Arc::new(AtomicBool::new(false));
    let session = session.with_interrupt(Arc::clone(&flag));
    // Without a key, a row of one side meets a whole batch of the other before it can be interrupted.
    let sql = "SELECT max(a.value - b.value) FROM generate_series(1, 4000000) a JOIN generate_series(1, 100000000) b \
               ON a.value * 7 > b.value";
    let stream = session.sql(sql, &[]).unwrap();
    let begun = Instant::now();
    std::thread::sleep(Duration::from_millis(500));
    flag.store(true, Ordering::Relaxed);
    assert!(stream.collect::<crate::error::Result<Vec<_>>>().is_err());
    drop(session);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn an_interrupt_stops_a_statement() {
    let (_dir, session) = engine(&["r"]);
    let flag = Arc::new(AtomicBool::new(false));
    let session = session.with_interrupt(Arc::clone(&flag));
    let crowd = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b \
                 WHERE a.value % 7 = b.value % 11";
    let stream = session.sql(crowd, &[]).unwrap();
    let begun = Instant::now();
    let setter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        flag.store(true, Ordering::Relaxed);
    });
    let items: Vec<_> = stream.collect();
    setter.join().unwrap();
    assert_eq!(items.last().unwrap().as_ref().unwrap_err().kind(), ErrorKind::Interrupted);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn a_dropped_stream_stops_its_statement() {
    let (_dir, session) = engine(&["r"]);
    let mut stream = session.sql("SELECT value FROM generate_series(1, 100000000000)", &[]).unwrap();
    assert!(stream.next().unwrap().unwrap().num_rows() > 0);
    let begun = Instant::now();
    drop(stream);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

/// Damage anywhere in a file is an error or a wrong answer, never a crash; a missing file is an error.
#[test]
fn damage_is_an_error() {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(1_000)).unwrap();
    put(&mut tx, tables::DATA_EVENT, "r", Some("c"), &accesses(0, 100));
    tx.commit().unwrap();
    let session = open(dir.path());
    let entry = &session.database().files(tables::DATA_EVENT, None).unwrap()[0];
    let path = session.database().place_of(entry).path().to_owned();
    let good = std::fs::read(&path).unwrap();
    let sql = "SELECT variable, sum(time), sum(value) FROM data_event WHERE time > 5 GROUP BY variable";
    let mut errors = 0;
    for at in (0..good.len()).step_by(good.len() / 60) {
        let mut bad = good.clone();
        bad[at] ^= 0x41;
        std::fs::write(&path, bad).unwrap();
        if let Err(e) = collect(&open(dir.path()), sql, &[]) {
            assert!(
                matches!(e.kind(), ErrorKind::Database | ErrorKind::Query | ErrorKind::Limit),
                "byte {at}: {e}"
            );
            errors += usize::from(e.kind() == ErrorKind::Database);
        }
    }
    assert!(errors > 5, "{errors}");
    std::fs::remove_file(&path).unwrap();
    let e = collect(&open(dir.path()), sql, &[]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Database, "{e}");
    assert!(e.to_string().contains("is gone") && e.hints()[1].contains("verify"), "{e:?}");
}

#[test]
fn sorts_use_temporary_files_when_memory_is_short() {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(1_000_000)).unwrap();
    put(&mut tx, tables::DATA_EVENT, "r", Some("c"), &accesses(0, 100_000));
    tx.commit().unwrap();
    let database = crate::store::Database::open(dir.path().join("db")).unwrap();
    let options = crate::engine::SessionOptions {
        threads: Some(1),
        memory_limit: Some(4 << 20),
        ..crate::engine::SessionOptions::default()
    };
    let session = crate::engine::Session::open(database, options).unwrap();
    let sql = "SELECT * FROM data_event ORDER BY value, variable DESC, time DESC";
    let sorted = collect(&session, sql, &[]).unwrap();
    assert_eq!(sorted.num_rows(), 100_000);
    let plan = rows(&session, &format!("EXPLAIN ANALYZE {sql}")).join("\n");
    assert!(plan.contains("spill_count=") && !plan.contains("spill_count=0,"), "{plan}");
}

#[test]
fn too_little_memory_is_a_limit() {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(1_000_000)).unwrap();
    put(&mut tx, tables::DATA_EVENT, "r", Some("c"), &accesses(0, 60_000));
    tx.commit().unwrap();
    let database = crate::store::Database::open(dir.path().join("db")).unwrap();
    let options = crate::engine::SessionOptions {
        threads: Some(2),
        memory_limit: Some(100_000),
        ..crate::engine::SessionOptions::default()
    };
    let session = crate::engine::Session::open(database, options).unwrap();
    let e =
        collect(&session, "SELECT a.time FROM data_event a JOIN data_event b ON a.time = b.time + 1", &[]);
    assert_eq!(e.unwrap_err().kind(), ErrorKind::Limit);
}
