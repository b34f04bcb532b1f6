//! Table functions: their rows on intervals that can be checked by hand, and the operators in their plans.

use super::fixture::{empty, engine};
use super::operators::{in_steps, operators, rows_in};
use super::rows;
use crate::engine::Session;
use crate::error::ErrorKind;
use crate::library::{MADE_FUNCTIONS, TABLE_FUNCTIONS};

/// On core a: two that overlap, one that touches them, one apart. On core b: one, and one within it. Then one
/// without length, one without end, one without core.
const JOBS: &str = "WITH job(core, name, begin_at, end_at) AS (VALUES ('a', 'p', 10, 20), ('a', 'q', 15, 30), ('a', 'r', 30, 35), \
     ('a', 's', 50, 60), ('b', 'p', 0, 100), ('b', 'q', 40, 45), ('b', 'x', 7, 7), ('b', 'y', 8, NULL), (NULL, 'z', 1, 2))";

#[track_caller]
fn gives(session: &Session, select: &str, expected: &[&str]) {
    let sql = format!("{JOBS} {select}");
    assert_eq!(rows(session, &sql), expected, "{select}");
    let small = in_steps(session.context(), 1);
    assert_eq!(rows_in(session, &small, &sql), expected, "row by row: {select}");
}

#[test]
fn intervals_are_merged() {
    let (_dir, session) = empty();
    gives(
        &session,
        "SELECT * FROM interval_merge(job, core) ORDER BY core, begin_at",
        // NULL is a key like any other, as in GROUP BY.
        &["a 10 35 3", "a 50 60 1", "b 0 100 2", "- 1 2 1"],
    );
    gives(&session, "SELECT * FROM interval_merge(job)", &["0 100 7"]);
    gives(
        &session,
        "SELECT m.end_at FROM interval_merge((SELECT begin_at, end_at FROM job WHERE core = 'a')) AS m ORDER BY 1",
        &["35", "60"],
    );
    gives(
        &session,
        "SELECT count(*) FROM interval_merge((SELECT * FROM job WHERE core = 'no'), core)",
        &["0"],
    );
    // Numbers and conditions can be keys.
    gives(
        &session,
        "SELECT * FROM interval_merge((SELECT *, begin_at >= 40 AS late, 7 AS n FROM job WHERE core = 'a'), n, late) ORDER BY late",
        &["7 false 10 35 3", "7 true 50 60 1"],
    );
}

#[test]
fn gaps_are_between() {
    let (_dir, session) = empty();
    gives(&session, "SELECT * FROM interval_gaps(job, core) ORDER BY core, begin_at", &["a 35 50"]);
    gives(
        &session,
        "SELECT * FROM interval_gaps(job, core, from => 0, to => 70) ORDER BY core, begin_at",
        &["a 0 10", "a 35 50", "a 60 70", "- 0 1", "- 2 70"],
    );
    // Intervals outside the bounds are ignored, those at them are cut.
    gives(
        &session,
        "SELECT * FROM interval_gaps((SELECT * FROM job WHERE core = 'a'), core, from => 32, to => 40)",
        &["a 35 40"],
    );
    // Bounds may differ from key to key.
    gives(
        &session,
        "SELECT * FROM interval_gaps((SELECT *, CASE core WHEN 'a' THEN 55 ELSE 110 END AS last_at FROM job), core, to => last_at) \
         WHERE core IS NOT NULL ORDER BY core, begin_at",
        &["a 35 50", "b 100 110"],
    );
}

#[test]
fn what_is_open_is_counted() {
    let (_dir, session) = empty();
    gives(
        &session,
        "SELECT * FROM concurrency(job, core) ORDER BY core, begin_at",
        &[
            "a 10 15 1",
            "a 15 20 2", // q goes on to 30, where r takes over: still one.
            "a 20 35 1",
            "a 35 50 0",
            "a 50 60 1",
            "b 0 40 1",
            "b 40 45 2",
            "b 45 100 1",
            "- 1 2 1",
        ],
    );
    gives(&session, "SELECT max(open) FROM concurrency((SELECT * FROM job WHERE core IS NOT NULL))", &["3"]);
}

#[test]
fn common_stretches_are_found() {
    let (_dir, session) = empty();
    gives(
        &session,
        "SELECT * FROM interval_intersect(job, (SELECT core, name, 18 AS begin_at, 52 AS end_at FROM job WHERE name = 'q'), core) \
         ORDER BY core, begin_at, name",
        &["a 18 20 p q", "a 18 30 q q", "a 30 35 r q", "a 50 52 s q", "b 18 52 p q", "b 40 45 q q"],
    );
    // Without keys, and with names that are already taken.
    gives(
        &session,
        "SELECT begin_at, end_at, core, core_2, name_2 FROM interval_intersect((SELECT * FROM job WHERE name = 's'), job) \
         ORDER BY core_2",
        &["50 60 a a s", "50 60 a b p"],
    );
}

#[test]
fn intervals_are_cut_at_windows() {
    let (_dir, session) = empty();
    gives(
        &session,
        "SELECT * FROM buckets((SELECT name, begin_at, end_at FROM job WHERE core = 'a'), 20) ORDER BY name, begin_at",
        // r ends before 40, s lies in [40, 60).
        &["p 10 20 0", "q 15 20 0", "q 20 30 20", "r 30 35 20", "s 50 60 40"],
    );
    let sql = format!(
        "{JOBS} SELECT core, bucket_at, sum(end_at - begin_at) FROM buckets(job, $width) WHERE core = 'b' \
                       GROUP BY core, bucket_at ORDER BY bucket_at"
    );
    let found = super::collect(&session, &sql, &[("width", 50.into())]).unwrap();
    assert_eq!(super::lines(&found), ["b 0 55", "b 50 50"]);
}

#[test]
fn events_are_paired() {
    let (_dir, session) = empty();
    // f( g( g) f) f( f( f) on core a, an end and a begin alone on core b; without `seq` an end of an instant
    // comes first.
    let events = "WITH event(core, time, seq, what, name) AS (VALUES ('a', 1, 0, 'in', 'f'), ('a', 2, 1, 'in', 'g'), \
         ('a', 2, 2, 'out', 'g'), ('a', 5, 3, 'out', 'f'), ('a', 6, 4, 'in', 'f'), ('a', 7, 5, 'in', 'f'), ('a', 9, 6, 'out', 'f'), \
         ('b', 3, 0, 'out', 'h'), ('b', 4, 1, 'in', 'h'), ('b', 5, 2, 'noise', 'h'), ('b', NULL, 3, 'out', 'h'))";
    let call = "begin => what = 'in', end => what = 'out'";
    let select = format!(
        "{events} SELECT core, name, begin_at, end_at, depth, complete FROM pair(event, core, {call}) \
         ORDER BY core, coalesce(begin_at, end_at), depth"
    );
    let expected = [
        "a f 1 5 0 true",
        "a g 2 2 1 true",
        "a f 6 - 0 false",
        "a f 7 9 1 true",
        "b h - 3 - false",
        "b h 4 - 0 false",
    ];
    assert_eq!(rows(&session, &select), expected);
    assert_eq!(rows_in(&session, &in_steps(session.context(), 1), &select), expected);
    let plan = operators(&session, session.context(), &select);
    assert!(plan.contains("PairExec"), "{plan}");
    let unordered = format!(
        "{events} SELECT name, begin_at, end_at FROM pair((SELECT core, time, what, name FROM event WHERE core = 'a'), core, \
         name => name, {call}) WHERE name = 'g' ORDER BY begin_at NULLS LAST"
    );
    assert_eq!(rows(&session, &unordered), ["g 2 -", "g - 2"]);
}

#[test]
fn the_latest_row_is_found() {
    let (_dir, session) = empty();
    let tables = "WITH access(n, core, time) AS (VALUES (1, 'a', 5), (2, 'a', 10), (3, 'b', 11), (4, 'a', 30), (5, NULL, 30), \
         (6, 'a', NULL), (7, 'c', 50)), \
         state(core, time, seq, task) AS (VALUES ('a', 10, 1, 'y'), ('a', 10, 0, 'x'), ('b', 1, 0, 'z'), ('a', 20, 2, 'w'), \
         ('b', 12, 1, 'v'), (NULL, 0, 0, 'u'), ('c', NULL, 0, 't'))";
    let select = format!("{tables} SELECT n, task, time_2 FROM as_of(access, state, core) ORDER BY n");
    let expected = ["1 - -", "2 y 10", "3 z 1", "4 w 20", "5 - -", "6 - -", "7 - -"];
    assert_eq!(rows(&session, &select), expected);
    assert_eq!(rows_in(&session, &in_steps(session.context(), 1), &select), expected);
    // Without keys, the latest one of all: at 12 on core b, and at 20 on core a.
    let select = format!(
        "{tables} SELECT n, task, core, core_2 FROM as_of(access, state) WHERE n > 2 AND n < 5 ORDER BY n"
    );
    assert_eq!(rows(&session, &select), ["3 y b a", "4 w a a"]);
}

/// Accesses, of a core or of none, and states, some at the same instant.
const ACCESSES: &str = "WITH a AS (SELECT n, n * 7 % 401 AS time, CASE WHEN n % 9 > 0 THEN n % 3 END AS core \
         FROM (SELECT unnest(windows(0, 500, 1, 1)) AS n)), \
     s AS (SELECT n AS seq, n * 3 % 97 * 4 AS time, n % 4 AS core, concat('task_', n) AS task \
         FROM (SELECT unnest(windows(0, 300, 1, 1)) AS n))";

#[test]
fn the_latest_row_is_found_in_plain_sql() {
    let (_dir, session) = empty();
    // By the number of the row that a group by hand finds.
    let naive = |condition: &str| {
        let sql = format!(
            "{ACCESSES}, l AS (SELECT a.n, max(s.time * 1000 + s.seq) AS latest FROM a JOIN s ON {condition} GROUP BY a.n) \
             SELECT a.n, latest % 1000 FROM a LEFT JOIN l ON a.n = l.n ORDER BY a.n"
        );
        rows(&session, &sql)
    };
    for (condition, conditions) in [
        ("s.core = a.core AND s.time <= a.time", "s.core = a.core AND s.time <= a.time"),
        (
            "s.core = a.core AND s.time < a.time AND s.seq % 2 = 0",
            "a.time > s.time AND s.seq % 2 = 0 AND a.core = s.core",
        ),
        ("s.time <= a.time", "a.time >= s.time"),
    ] {
        let expected = naive(condition);
        let query = format!("FROM s WHERE {conditions} ORDER BY s.time DESC, s.seq DESC LIMIT 1");
        let joined = format!(
            "{ACCESSES} SELECT a.n, w.seq FROM a LEFT JOIN LATERAL (SELECT * {query}) AS w ON true ORDER BY a.n"
        );
        let selected = format!("{ACCESSES} SELECT n, (SELECT seq {query}) AS latest FROM a ORDER BY n");
        for sql in [&joined, &selected] {
            assert_eq!(rows(&session, sql), expected, "{sql}");
            assert_eq!(rows_in(&session, &in_steps(session.context(), 7), sql), expected, "{sql}");
            let plan = operators(&session, session.context(), sql);
            assert!(plan.contains("AsOfJoinExec"), "{plan}");
        }
        let inner = joined.replace("LEFT JOIN", "JOIN");
        let there: Vec<String> = expected.into_iter().filter(|row| !row.ends_with('-')).collect();
        assert_eq!(rows(&session, &inner), there);
    }
    let function = format!("{ACCESSES} SELECT n, seq FROM as_of(a, s, core) ORDER BY n");
    assert_eq!(rows(&session, &function), naive("s.core = a.core AND s.time <= a.time"));
}

#[test]
fn values_of_the_latest_row_can_be_computed() {
    let (_dir, session) = empty();
    let sql = format!(
        "{ACCESSES} SELECT a.n, coalesce((SELECT upper(task) FROM s WHERE s.core = a.core AND s.time <= a.time \
             ORDER BY time DESC, seq DESC LIMIT 1), 'none') AS task, \
         (SELECT a.time - s.time FROM s WHERE s.time <= a.time ORDER BY time DESC LIMIT 1) IS NULL AS left_alone \
         FROM a WHERE n < 3 ORDER BY n"
    );
    // A value computed from both sides is not an as-of join, and the engine has no other way to run it.
    assert!(super::collect(&session, &sql, &[]).is_err());
    let sql = format!(
        "{ACCESSES} SELECT n, coalesce((SELECT upper(task) FROM s WHERE s.core = a.core AND s.time <= a.time \
             ORDER BY time DESC, seq DESC LIMIT 1), 'none') AS task, time - (SELECT s.time FROM s WHERE s.time <= a.time \
             ORDER BY time DESC LIMIT 1) AS age FROM a WHERE n < 4 ORDER BY n"
    );
    // a: (0, time 0, core -), (1, 7, 1), (2, 14, 2), (3, 21, 0). s has time 4 * (3n mod 97): 0 for n = 0, 97,
    // 194, 291 (cores 0, 1, 2, 3), 4 for n = 65, 162, 259 (cores 1, 2, 3), 8 for n = 33, 130, 227 (cores 1,
    // 2, 3), 12 for n = 1, 98, 195, 292 (cores 1, 2, 3, 0), 16 for n = 66, 163, 260 (cores 2, 3, 0), 20 for n
    // = 34, 131, 228 (cores 2, 3, 0).
    assert_eq!(rows(&session, &sql), ["0 none 0", "1 TASK_65 3", "2 TASK_98 2", "3 TASK_228 1"]);
}

#[test]
fn other_queries_inside_are_left_to_the_engine() {
    let (_dir, session) = empty();
    for select in [
        "SELECT n, (SELECT max(s.time) FROM s WHERE s.core = a.core) FROM a ORDER BY n LIMIT 2",
        "SELECT n, (SELECT s.time FROM s ORDER BY s.time DESC LIMIT 1) FROM a ORDER BY n LIMIT 2",
        "SELECT a.n, w.seq FROM a LEFT JOIN LATERAL (SELECT * FROM s WHERE s.seq = a.n) AS w ON true ORDER BY a.n LIMIT 2",
    ] {
        let sql = format!("{ACCESSES} {select}");
        assert_eq!(rows(&session, &sql).len(), 2, "{select}");
        assert!(!operators(&session, session.context(), &sql).contains("AsOfJoinExec"), "{select}");
    }
    // The earliest row, two rows, another column than the compared one: these are not as-of joins.
    for query in [
        "SELECT s.seq FROM s WHERE s.time <= a.time ORDER BY s.time LIMIT 1",
        "SELECT s.seq FROM s WHERE s.time <= a.time ORDER BY s.time DESC LIMIT 2",
        "SELECT s.seq FROM s WHERE s.time <= a.time ORDER BY s.seq DESC LIMIT 1",
        "SELECT s.seq FROM s WHERE s.time <= a.time ORDER BY s.time DESC LIMIT 1 OFFSET 1",
        "SELECT s.seq FROM s WHERE s.time <= a.time AND s.seq <= a.n ORDER BY s.time DESC LIMIT 1",
        "SELECT s.seq FROM s WHERE s.time <= a.time AND s.task <> concat('task_', a.n) ORDER BY s.time DESC LIMIT 1",
    ] {
        let sql = format!("{ACCESSES} SELECT a.n, w.seq FROM a LEFT JOIN LATERAL ({query}) AS w ON true");
        let plan = super::collect(&session, &format!("EXPLAIN {sql}"), &[])
            .map(|plan| super::lines(&plan).join(" "));
        assert!(!plan.is_ok_and(|plan| plan.contains("AsOfJoin")), "{query}");
    }
}

#[test]
fn mistakes_are_reported() {
    let (_dir, session) = engine(&["r"]);
    for (call, message) in [
        ("interval_merge()", "takes 1 relation"),
        ("interval_merge(process_stat, core)", "table 'process_stat' not found"),
        ("interval_merge(process_state, kore)", "column 'kore' not found"),
        ("interval_merge(process_state, core || 'x')", "has to be a column"),
        ("interval_merge(process_state, core, core)", "has to be a column, once"),
        ("interval_merge(process_instance, process)", "needs a column 'begin_at'"),
        ("interval_merge((SELECT 'x' AS begin_at, 2 AS end_at))", "which are integers: VARCHAR"),
        ("interval_merge((SELECT 1 AS begin_at, 2 AS end_at, 0.5 AS half), half)", "'half' cannot be a key"),
        ("interval_merge(1)", "takes the name of a table"),
        ("interval_merge(process_state, core, from => 0)", "has no argument 'from'"),
        ("interval_gaps(process_state, core, form => 0)", "did you mean 'from'"),
        ("buckets(process_state)", "takes intervals and a width"),
        ("buckets(process_state, 0)", "must be greater than 0"),
        ("pair(btf_event, target, end => action = 'terminate')", "has to be told 'begin =>'"),
        ("as_of(btf_event)", "takes 2 relation(s)"),
    ] {
        let error = super::collect(&session, &format!("SELECT * FROM {call}"), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Query, "{call}: {error}");
        assert!(error.to_string().contains(message), "{call}: {error}");
    }
}

#[test]
fn every_example_shows_its_operator() {
    let (_dir, session) = engine(&["r"]);
    for function in TABLE_FUNCTIONS {
        let plan = operators(&session, session.context(), function.example);
        let operator = match function.name {
            "interval_merge" => "IntervalMergeExec",
            "interval_gaps" => "IntervalGapsExec",
            "concurrency" => "ConcurrencyExec",
            "pair" => "PairExec",
            "as_of" => "AsOfJoinExec",
            "interval_intersect" => "JoinExec",
            _ => "UnnestExec",
        };
        assert!(plan.contains(operator), "{}: {plan}", function.name);
    }
}

#[test]
fn the_queries_of_the_page_run() {
    let (_dir, session) = engine(&["r"]);
    let page = include_str!("../../../docs/library.md");
    let all = page.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next());
    // Those of operations are tested with these.
    let is_made = |sql: &&str| MADE_FUNCTIONS.iter().any(|made| sql.contains(made.function.name));
    let queries: Vec<&str> = all.filter(|sql| !is_made(sql)).collect();
    // One explains what a join is for, one is an example of a file.
    assert_eq!(queries.len(), TABLE_FUNCTIONS.len() + 2);
    for sql in &queries {
        rows(&session, sql);
    }
    assert!(operators(&session, session.context(), queries[0]).contains("AsOfJoinExec"));
}

#[test]
fn a_condition_on_a_key_goes_to_the_files() {
    let (_dir, session) = engine(&["r", "s"]);
    let sql = "SELECT * FROM interval_merge(process_state, recording, core) WHERE recording = 's' AND begin_at > 0 ORDER BY core, begin_at";
    let plan = rows(&session, &format!("EXPLAIN {sql}")).join("\n");
    assert!(!plan.contains("recording=r"), "{plan}");
    // T_1 and I_1 have Core_1 from 0 to 50, then from 105 to 125, from 250 to 260 and from 310 to 320.
    assert_eq!(
        rows(&session, sql),
        ["s Core_1 105 125 2", "s Core_1 250 260 1", "s Core_1 310 320 1", "s Core_2 240 250 1"]
    );
}
