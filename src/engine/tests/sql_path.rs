//! SQL files of the user: what they add, and every mistake in them with its file and line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::fixture::{empty, engine};
use super::rows;
use crate::engine::{Session, SessionOptions, queries_with_folders};
use crate::error::{Error, ErrorKind, Result};
use crate::library::Queries;
use crate::metrics::{MetricFilter, summaries};

const VIEW: &str = "-- The longest instances.\n-- column: process text Task or ISR.\n-- column: longest duration Longest run.\n\
                    SELECT process, max(running) AS longest FROM process_instance GROUP BY process;\n-- The end.\n";
const METRIC: &str = "-- How often a signal is written.\n-- unit: count\n-- fold: sum\n-- alias: WR Of ours.\n\
                      SELECT recording, target AS entity, 'SIG' AS type, CAST(NULL AS VARCHAR) AS core,\n\
                      target_instance AS instance, 1 AS value, time AS at FROM btf_event WHERE action = 'write'\n";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("mine");
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    (dir, root)
}

/// The database of `session` opened with those files.
fn open(session: &Session, files: &[(&str, &str)]) -> Result<Session> {
    let (_dir, root) = folder(files);
    let queries = queries_with_folders(&[root])?;
    let options =
        SessionOptions { threads: Some(2), memory_limit: Some(64 << 20), ..SessionOptions::default() };
    Session::open_with(session.database().clone(), options, queries)
}

#[test]
fn files_of_the_user_are_metrics_and_views() {
    let (_dir, session) = engine(&["r"]);
    let reader = "-- Reads another view.\n-- column: n integer How many.\nSELECT count(*) AS n FROM longest";
    let files =
        [("signals/Writes.sql", METRIC), ("a_reader.sql", reader), ("longest.sql", VIEW), ("notes.txt", "x")];
    let session = open(&session, &files).unwrap();
    // Net execution times of T_1: 30, 15, 20 and 10; of I_1: 10.
    assert_eq!(rows(&session, "SELECT * FROM longest ORDER BY process"), ["I_1 10", "T_1 30"]);
    assert_eq!(rows(&session, "SELECT * FROM a_reader"), ["2"]);
    let summary = summaries(&session, &["wr".into()], &MetricFilter::default()).unwrap();
    assert_eq!(summary.num_rows(), 1);
    let shipped = Queries::shipped();
    let (queries, at) = (session.queries(), shipped.views().len());
    let added: Vec<_> = queries.views()[at..].iter().map(|v| (v.name.as_str(), v.area.as_str())).collect();
    assert_eq!(
        added,
        [("longest", "mine"), ("a_reader", "mine")],
        "a view stands behind those that it reads"
    );
    assert_eq!(queries.metrics().len(), shipped.metrics().len() + 1);
    assert!(session.relations().iter().any(|r| r.name == "longest" && r.columns == ["process", "longest"]));
    let view = queries.views().iter().find(|v| v.name == "longest").unwrap();
    assert!(view.sql.ends_with("GROUP BY process"), "without the semicolon");
}

/// The kind and text of the error for a file, without its folder.
fn mistake(name: &str, text: &str) -> (ErrorKind, String) {
    let (_dir, session) = empty();
    let error: Error = open(&session, &[(name, text)]).err().unwrap_or_else(|| panic!("{text} is accepted"));
    let shown = error.to_string();
    let at = shown.find("mine/").unwrap_or_else(|| panic!("no file in: {shown}"));
    (error.kind(), shown[at + "mine/".len()..].lines().next().unwrap().to_owned())
}

#[test]
fn mistakes_name_the_file_and_the_line() {
    let input = |name: &str, text: &str, expected: &str| {
        assert_eq!(mistake(name, text), (ErrorKind::Input, expected.to_owned()));
    };
    let of = |name: &str, from: &str, to: &str| (name.to_owned(), VIEW.replace(from, to));
    let (name, text) = of("v.sql", "duration Longest", "tme Longest");
    assert!(mistake(&name, &text).1.starts_with("v.sql:3: 'tme' is no type"));
    input(
        "v.sql",
        &of("", "longest duration", "shortest duration").1,
        "v.sql:3: column 2 of the SQL is 'longest', that of the header is 'shortest'",
    );
    input(
        "v.sql",
        &of("", "longest duration", "longest text").1,
        "v.sql:3: the column 'longest' of the SQL is Int64, not text",
    );
    input(
        "v.sql",
        &of("", "SELECT process,", "SELECT 1 AS one, process,").1,
        "v.sql:2: column 1 of the SQL is 'one', that of the header is 'process'",
    );
    input(
        "v.sql",
        &of("", " FROM", ", 7 AS seven FROM").1,
        "v.sql:1: the header does not describe the column 'seven' of the SQL",
    );
    input(
        "v.sql",
        &of("", "process, max(running) AS longest", "process").1,
        "v.sql:3: the SQL has no column 'longest' of the header",
    );
    input(
        "v.sql",
        &of("", "FROM process_instance", "FROM process_instance WHERE running > $least").1,
        "v.sql:1: the header does not say what the parameter $least is",
    );
    input("v.sql", &format!("-- param: x time T.\n{VIEW}"), "v.sql:1: the SQL has no parameter $x");
    input("v.sql", "SELECT 1; SELECT 2", "v.sql:1: a file holds one SELECT, this one has 2 statements");
    input(
        "v.sql",
        "-- Nothing.\n-- column: n integer One.\n",
        "v.sql:1: a file holds one SELECT, this one has 0 statements",
    );
    input(
        "Big.sql",
        VIEW,
        "Big.sql:1: 'Big' is no name: letters (small ones for a view), digits and _, a letter first",
    );
    input(
        "m.sql",
        &METRIC.replace("time AS at", "time AS t"),
        "m.sql:1: a metric has the columns recording, entity, type, core, instance, value, at, in this order",
    );
    input(
        "m.sql",
        &METRIC.replace("1 AS value", "1.5 AS value"),
        "m.sql:1: the column 'value' of the metric is Float64; it must be BIGINT, as it is folded",
    );
    input(
        "v.sql",
        "-- It.\n-- column: n integer One.\nSELECT n FROM v",
        "v.sql:1: a view cannot read itself: v → v",
    );
}

#[test]
fn mistakes_in_the_sql_have_the_line_of_the_file() {
    let (kind, shown) = mistake("v.sql", &VIEW.replace("process_instance", "proces_instance"));
    assert_eq!(kind, ErrorKind::Query);
    assert!(shown.starts_with("v.sql:4: table ") && shown.contains("(line 4, column "), "{shown}");
    let (kind, shown) = mistake("v.sql", &VIEW.replace("max(running)", "max(runing)"));
    assert_eq!(
        (kind, shown.starts_with("v.sql:4: column 'runing' not found")),
        (ErrorKind::Query, true),
        "{shown}"
    );
    let (_, shown) = mistake("v.sql", &VIEW.replace("GROUP BY", "GROUP GROUP"));
    assert!(shown.starts_with("v.sql:4: "), "{shown}");
    let (_, shown) = mistake("v.sql", "-- It.\n-- column: n integer One.\nSELECT 'open");
    assert!(shown.starts_with("v.sql:3: "), "{shown}");
    // What changes something is no query.
    let (_, shown) = mistake("v.sql", "-- It.\n-- column: n integer One.\nCREATE TABLE t AS SELECT 1 AS n");
    assert!(shown.starts_with("v.sql:"), "{shown}");
}

#[test]
fn names_that_are_taken_are_refused() {
    for (name, owner) in [
        ("gap.sql", "a table"),
        ("core_load.sql", "a view"),
        ("responsetime.sql", "the metric ResponseTime"),
        ("wcrt.sql", "the metric ResponseTime"),
    ] {
        let (kind, shown) = mistake(name, VIEW);
        assert_eq!(kind, ErrorKind::Input);
        assert!(shown.starts_with(&format!("{name}:1: the name ")) && shown.ends_with(owner), "{shown}");
    }
    let (_, shown) = mistake("m.sql", &METRIC.replace("alias: WR", "alias: RT"));
    assert!(shown.ends_with("the name 'RT' is taken already, by the metric ResponseTime"), "{shown}");
    let (_dir, session) = empty();
    let twice = open(&session, &[("a/v.sql", VIEW), ("b/v.sql", VIEW)]).err().unwrap();
    assert!(twice.to_string().contains("b/v.sql:1: the name 'v' is taken already, by '"), "{twice}");
}

#[test]
fn circles_are_refused() {
    let (_dir, session) = empty();
    let reads = |other: &str| format!("-- It.\n-- column: n integer One.\nSELECT n FROM {other}");
    let (a, b, c) = (reads("b"), reads("c"), reads("a"));
    let error = open(&session, &[("a.sql", &a), ("b.sql", &b), ("c.sql", &c)]).err().unwrap();
    assert!(error.to_string().ends_with("a view cannot read itself: a → b → c → a"), "{error}");
}

#[test]
fn folders_that_hold_nothing_are_refused() {
    let (_dir, root) = folder(&[("notes.txt", "x")]);
    for path in [root.as_path(), Path::new("nowhere"), &root.join("notes.txt")] {
        let error = queries_with_folders(&[path.to_owned()]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    }
    assert!(Arc::ptr_eq(&queries_with_folders(&[]).unwrap(), &Queries::shipped()));
}
