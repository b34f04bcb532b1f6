//! Which columns of a result are known to be times, and results of which only the first rows are wanted.

use super::fixture::engine;
use super::lines;
use crate::engine::{Param, split};
use arrow::array::RecordBatch;

/// The columns of a statement that hold times.
fn times(sql: &str) -> Vec<String> {
    let (_dir, session) = engine(&["r"]);
    let result = session.sql(sql, &[]).unwrap();
    let fields = result.schema().fields().iter().zip(result.times());
    fields.filter(|(_, time)| **time).map(|(f, _)| f.name().clone()).collect()
}

#[test]
fn columns_of_tables_and_views() {
    assert_eq!(times("SELECT * FROM process_state"), ["begin_at", "end_at"]);
    assert_eq!(times("SELECT seq, time AS t FROM btf_event"), ["t"]);
    assert_eq!(
        times("SELECT * FROM (SELECT * FROM gap ORDER BY begin_at LIMIT 1) x"),
        ["begin_at", "end_at"]
    );
    assert_eq!(times("SELECT start_at, instance FROM process_pair"), ["start_at"]);
    assert_eq!(times("WITH s AS (SELECT end_at AS e FROM gap) SELECT e, 1 AS one FROM s"), ["e"]);
}

/// What the header of a view calls a time or a duration is converted by `--unit`.
#[test]
fn columns_that_views_declare() {
    let (_dir, session) = engine(&["r"]);
    let mut wrong = Vec::new();
    for view in session.queries().views() {
        let params: Vec<_> = view.params.iter().map(|param| (&*param.name, Param::Int(1000))).collect();
        let result = session.sql(&format!("SELECT * FROM {} LIMIT 0", view.name), &params).unwrap();
        for (field, is_time) in result.schema().fields().iter().zip(result.times()) {
            let declared = view.columns.iter().find(|column| column.name == *field.name());
            let is_declared = declared.is_some_and(|column| matches!(&*column.ty, "time" | "duration"));
            if is_declared != *is_time {
                wrong.push(format!("{}.{}: {is_declared} {is_time}", view.name, field.name()));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn what_is_computed_from_them() {
    let sql = "SELECT max(end_at - begin_at) AS longest, avg(CAST(end_at AS DOUBLE)) AS mean, count(*) AS n, \
               sum(end_at - begin_at) / count(*) AS each, max(end_at) / max(begin_at) AS ratio, min(begin_at) + max(end_at) AS both \
               FROM process_state GROUP BY process HAVING max(end_at) > 0 ORDER BY longest";
    assert_eq!(times(sql), ["longest", "mean", "each", "both"]);
    let sql = "SELECT lag(time) OVER (ORDER BY seq) AS before, row_number() OVER (ORDER BY time) AS n, \
               coalesce(NULL, time) AS c, CASE WHEN seq > 1 THEN time ELSE 0 END AS d, -time AS e, time > 5 AS f, \
               (SELECT max(time) FROM btf_event) AS g, time % 10 AS h, time * time AS square FROM btf_event";
    assert_eq!(times(sql), ["before", "c", "d", "e", "g", "h"]);
}

#[test]
fn a_time_that_is_converted_already_is_a_number() {
    let sql = "SELECT (end_at - begin_at) / 1e6 AS ms, begin_at / 1000 AS us, round(begin_at / 1000000.0, 3) AS rounded, \
               begin_at * 1e-9 AS s, 1000 * begin_at AS ps, CAST(begin_at AS DOUBLE) / CAST(1000 AS DOUBLE) AS cast, \
               begin_at / 1e3 + 5 AS later, begin_at / 2 AS half, 10 * begin_at AS ten, begin_at / 60000 AS sixtieth, \
               begin_at + 1000 AS moved FROM process_state";
    assert_eq!(times(sql), ["moved"]);
    let sql = "SELECT begin_at / (1000 * 1000) AS a, begin_at / power(10, 6) AS b, begin_at * 100 / 200000000 AS c, \
               begin_at / 60000000000.0 AS d, sum(begin_at) OVER () / (count(*) OVER () * 1000) AS e, begin_at::BIGINT AS f, \
               begin_at - begin_at % 10 AS g, sum(begin_at / 1e6) OVER () AS h FROM process_state";
    assert_eq!(times(sql), ["f", "g"]);
}

#[test]
fn what_comes_from_several_must_agree() {
    let sql = "SELECT CASE WHEN instance > 1 THEN begin_at ELSE instance END AS a, coalesce(end_at, instance) AS b, \
               CASE WHEN instance > 1 THEN begin_at ELSE begin_at / 1000 END AS c, coalesce(end_at, 0) AS d, \
               CASE WHEN instance > 1 THEN begin_at END AS e, nvl2(begin_at, instance, 1) AS f FROM process_state";
    assert_eq!(times(sql), ["d", "e"]);
    assert_eq!(times("SELECT begin_at AS x FROM process_state UNION ALL SELECT count(*) FROM gap"), [""; 0]);
    assert_eq!(times("SELECT begin_at AS x FROM process_state UNION ALL SELECT 7"), [""; 0]);
    assert_eq!(times("SELECT begin_at AS x FROM process_state UNION ALL SELECT NULL"), ["x"]);
    let steps = |next: &str| {
        times(&format!(
            "WITH RECURSIVE t AS (SELECT min(time) AS x FROM btf_event UNION ALL SELECT {next} FROM t WHERE x < 100) \
             SELECT x FROM t"
        ))
    };
    assert_eq!((steps("x + 10"), steps("x * 2")), (vec!["x".to_owned()], Vec::new()));
    assert_eq!(times("SELECT DISTINCT ON (instance) instance, end_at FROM process_state"), ["end_at"]);
    // Its columns have times and other values.
    assert_eq!(times("SUMMARIZE process_state"), [""; 0]);
}

#[test]
fn through_joins_unions_and_groups() {
    let join =
        "SELECT a.begin_at, b.end_at, b.process FROM process_state a JOIN process_state b USING (process)";
    assert_eq!(times(join), ["begin_at", "end_at"]);
    let semi = "SELECT * FROM gap LEFT SEMI JOIN process_state s ON gap.begin_at = s.begin_at";
    assert_eq!(times(semi), ["begin_at", "end_at"]);
    assert_eq!(times("SELECT 1 AS n, time FROM btf_event UNION ALL SELECT 2, end_at FROM gap"), ["time"]);
    assert_eq!(times("SELECT time, count(*) AS n FROM btf_event GROUP BY ROLLUP (time)"), ["time"]);
    assert_eq!(times("EXPLAIN SELECT time FROM btf_event"), [""; 0]);
    assert_eq!(times("SELECT DISTINCT time FROM btf_event"), ["time"]);
}

#[test]
fn only_the_first_rows_are_made() {
    let (_dir, session) = engine(&["r"]);
    let first = |sql: &str, most: usize| -> Vec<String> {
        let result = session.run_first(&split(sql).unwrap()[0], &[], Some(most)).unwrap();
        result.flat_map(|batch: crate::error::Result<RecordBatch>| lines(&batch.unwrap())).collect()
    };
    let sorted = "SELECT time FROM btf_event ORDER BY time DESC";
    assert_eq!(first(sorted, 1), ["150", "100"]);
    assert_eq!(first("SELECT time FROM btf_event ORDER BY time LIMIT 1", 1), ["0"]);
    assert_eq!(first("SELECT count(*) FROM btf_event", 2), ["12"]);
    // More rows than could ever be counted.
    let cross = "SELECT 1 FROM btf_event a, btf_event b, btf_event c, btf_event d, btf_event e, btf_event f, \
                 btf_event g, btf_event h, btf_event i, btf_event j";
    assert_eq!(first(cross, 3).len(), 4);
    // Statements about statements stay whole.
    assert!(!first("EXPLAIN SELECT 1", 0).is_empty());
    assert!(!first("EXPLAIN ANALYZE SELECT 1", 1).is_empty());
    assert!(!first("DESCRIBE gap", 100).is_empty());
    assert!(!first("SHOW TABLES", 2).is_empty());
}
