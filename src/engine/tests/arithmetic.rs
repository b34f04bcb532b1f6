//! Whole numbers in SQL: exact, or an error that names the expression; and the names of casts.

use super::fixture::{begin, engine, open_with};
use super::operators::{in_steps, operators, rows_in};
use super::{collect, rows};
use crate::engine::{Session, SessionOptions};
use crate::error::ErrorKind;

/// An instant of our days in nanoseconds since 1970, with a name and a number for each row.
const EPOCH: &str = "WITH t AS (SELECT n, arrow_cast('p' || CAST(n % 3 AS VARCHAR), 'Utf8View') AS name, \
    1672924880617000000 + n AS time FROM (SELECT unnest(windows(0, 90, 1, 1)) AS n))";

#[track_caller]
fn refuses(session: &Session, sql: &str, named: &str) {
    let error = collect(session, sql, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Query, "{sql}: {error}");
    let text = error.to_string();
    assert!(text.contains("does not fit into") && text.contains(named), "{sql}: {text}");
    assert!(error.hints().iter().any(|hint| hint.contains("DECIMAL(38, 0)")), "{sql}: {error:?}");
}

#[test]
fn what_does_not_fit_is_an_error_that_names_the_expression() {
    let dir = tempfile::TempDir::new().unwrap();
    begin(&dir.path().join("db")).commit().unwrap();
    for threads in [1, 2, 3, 8] {
        let session =
            open_with(dir.path(), SessionOptions { threads: Some(threads), ..SessionOptions::default() });
        for (select, named) in [
            ("sum(time) FROM t", "sum(t.time)"),
            ("name, sum(time) FROM t GROUP BY name", "sum(t.time)"),
            ("n % 2, sum(time) FROM t GROUP BY 1", "sum(t.time)"),
            ("name, min(time), max(time), sum(time), count(time) FROM t GROUP BY name", "sum(t.time)"),
            ("sum(DISTINCT time) FROM t", "sum"),
            ("sum(DISTINCT time), sum(DISTINCT n) FROM t", "sum(DISTINCT t.time)"),
            ("sum(time) FILTER (WHERE n > 3) FROM t", "sum(t.time)"),
            ("sum(time) OVER (ORDER BY n) FROM t", "sum(t.time)"),
            (
                "sum(time) OVER (PARTITION BY name ORDER BY n ROWS BETWEEN 7 PRECEDING AND CURRENT ROW) FROM t",
                "sum(t.time)",
            ),
            (
                "sum(DISTINCT time) OVER (ORDER BY n ROWS BETWEEN 7 PRECEDING AND CURRENT ROW) FROM t",
                "sum(DISTINCT t.time)",
            ),
            ("max(time) + max(time) * 6 FROM t", "max(t.time) * 6"),
            ("time * 6 FROM t", "t.time * 6"),
            ("(time + n) * (time - n) FROM t", "(t.time + t.n) * (t.time - t.n)"),
            ("n FROM t WHERE time + 8000000000000000000 > 3", "t.time + 8000000000000000000"),
            ("-time - 8000000000000000000 FROM t", "(- t.time) - 8000000000000000000"),
            ("-(-9223372036854775807 - n) FROM t WHERE n = 1", "(- -9223372036854775807 - t.n)"),
            ("a.n FROM t a JOIN t b ON a.time * 7 = b.time", "a.time * 7"),
            ("n FROM t ORDER BY time * time LIMIT 1", "t.time * t.time"),
            ("CASE WHEN n = 80 THEN time * 9 END FROM t", "t.time * 9"),
            ("9223372036854775807 + 1", "9223372036854775807 + 1"),
            ("time << 3 FROM t", "t.time << 3"),
            ("1 << 63", "1 << 63"),
            ("1 >> -1", "1 >> "),
            ("arrow_cast(n, 'UInt64') - arrow_cast(5, 'UInt64') FROM t", "arrow_cast"),
            ("sum(arrow_cast(9000000000000000000 + n, 'UInt64')) FROM t", "sum("),
            ("sum(CAST(time AS DECIMAL(38, 0)) * 1000000000000000000) FROM t", "sum("),
        ] {
            refuses(&session, &format!("{EPOCH} SELECT {select}"), named);
        }
    }
}

#[test]
fn what_fits_in_the_end_is_exact_in_any_order() {
    let dir = tempfile::TempDir::new().unwrap();
    begin(&dir.path().join("db")).commit().unwrap();
    // No two of the large numbers fit, all together they do.
    let parts = "WITH t AS (SELECT n, arrow_cast('p' || CAST(n % 2 AS VARCHAR), 'Utf8View') AS name, \
        CASE WHEN n < 40 THEN 9223372036854775807 - n ELSE -9223372036854775807 + n END AS x \
        FROM (SELECT unnest(windows(0, 80, 1, 1)) AS n))";
    // 40 pairs: each is its n of the second half less that of the first half: 40.
    for threads in [1, 2, 3, 8] {
        let session =
            open_with(dir.path(), SessionOptions { threads: Some(threads), ..SessionOptions::default() });
        for batch in [3, 8192] {
            let context = in_steps(session.context(), batch);
            for (select, expected) in [
                ("sum(x), avg(n) FROM t", vec!["1600 39.5"]),
                ("name, sum(x) FROM t GROUP BY name ORDER BY name", vec!["p0 800", "p1 800"]),
                (
                    "name, count(x), min(n), sum(x), max(n), avg(n) FROM t GROUP BY name ORDER BY name",
                    vec!["p0 40 0 800 78 39.0", "p1 40 1 800 79 40.0"],
                ),
                ("n % 2, sum(x) FROM t GROUP BY 1 ORDER BY 1", vec!["0 800", "1 800"]),
                ("sum(DISTINCT x), sum(DISTINCT n % 7) FROM t", vec!["1600 21"]),
                ("max(s) FROM (SELECT sum(x) OVER () AS s FROM t)", vec!["1600"]),
                (
                    "min(s), max(s) FROM (SELECT sum(n) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s FROM t)",
                    vec!["0 157"],
                ),
                (
                    "sum(CAST(x AS DECIMAL(38, 0)) * 1000000000000000000) FROM t",
                    vec!["1600000000000000000000"],
                ),
                ("sum(x) FROM t WHERE n > 100", vec!["-"]),
                ("sum(arrow_cast(n, 'UInt16')), sum(0.5) FROM t", vec!["3160 40.0"]),
            ] {
                assert_eq!(
                    rows_in(&session, &context, &format!("{parts} SELECT {select}")),
                    expected,
                    "{select}"
                );
            }
        }
    }
}

#[test]
fn checks_leave_names_and_orders_alone() {
    let (_dir, session) = engine(&["r"]);
    let sql = "SELECT end_at - begin_at, count(*), -begin_at FROM process_state WHERE end_at - begin_at > 11 \
               GROUP BY end_at - begin_at, -begin_at HAVING max(end_at - begin_at) < 20 ORDER BY end_at - begin_at, -begin_at";
    assert_eq!(rows(&session, sql), ["15 1 -105"]);
    let sql = "SELECT process, count(*) FILTER (WHERE end_at - begin_at > 9 + 5), sum(end_at) FILTER (WHERE -begin_at < -200) \
               FROM process_state GROUP BY process ORDER BY process";
    assert_eq!(rows(&session, sql), ["I_1 0 -", "T_1 2 830"]);
    // A time that is moved is in the order of the time.
    let sql = "SELECT time - 5 AS t FROM btf_event WHERE recording = 'r' ORDER BY t";
    let plan = operators(&session, session.context(), sql);
    assert!(!plan.contains("SortExec"), "{plan}");
}

#[test]
fn casts_have_names_of_their_own() {
    let (_dir, session) = engine(&["r"]);
    let sql = "SELECT sum(running) AS s, sum(CAST(running AS DOUBLE)) AS d, max(running), max(CAST(running AS INT)) \
               FROM process_instance WHERE process = 'T_1'";
    assert_eq!(rows(&session, sql), ["75 75.0 30 30"]);
    let sql = "SELECT lag(instance) OVER w, lag(CAST(instance AS DOUBLE)) OVER w, sum(CAST(running AS DOUBLE)) OVER w \
               FROM process_instance WHERE process = 'T_1' WINDOW w AS (ORDER BY instance) ORDER BY instance";
    assert_eq!(rows(&session, sql), ["- - 30.0", "0 0.0 45.0", "1 1.0 65.0", "2 2.0 75.0"]);
    let sql = "SELECT process, sum(CAST(running AS DOUBLE)) FROM process_instance GROUP BY process \
               HAVING sum(CAST(running AS DOUBLE)) > 20 AND sum(running) > 20 ORDER BY sum(CAST(running AS DOUBLE))";
    assert_eq!(rows(&session, sql), ["T_1 75.0"]);
    let sql = "SELECT count(DISTINCT running), count(DISTINCT CAST(running AS VARCHAR)) FROM process_instance \
               WHERE process = 'T_1'";
    assert_eq!(rows(&session, sql), ["4 4"]);
}

#[test]
fn a_query_may_begin_with_from() {
    let (_dir, session) = engine(&["r"]);
    for sql in
        ["FROM gap", "FROM process_instance WHERE process = 'I_1' LIMIT 1", "(FROM gap) UNION ALL FROM gap"]
    {
        let selected = sql.replace("FROM", "SELECT * FROM");
        assert_eq!(rows(&session, sql), rows(&session, &selected), "{sql}");
    }
    assert_eq!(rows(&session, "FROM process_instance SELECT running WHERE process = 'I_1'"), ["10"]);
    let error = collect(&session, "SELECT FROM gap", &[]).unwrap_err();
    assert!(
        error.to_string().contains("no columns") && error.to_string().contains("line 1, column 1"),
        "{error}"
    );
    // Places in errors are those of the text.
    let error = collect(&session, "FROM process_instance WHERE proces = 'I_1'", &[]).unwrap_err();
    assert!(error.to_string().contains("line 1, column 29"), "{error}");
}
