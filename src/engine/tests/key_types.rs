//! Table functions and as-of joins under keys of all types, also of another type on each side, with any
//! number of threads and with sorts that go to the disk: their rows are those of definitions written here,
//! which compare everything with everything.

use std::collections::BTreeMap;
use std::path::Path;

use datafusion::prelude::SessionContext;

use super::fixture::{begin, open_with};
use super::operators::{in_steps, rows_in};
use crate::engine::{Session, SessionOptions};

const THREADS: [usize; 4] = [1, 2, 3, 8];
const TEXTS: [&str; 5] =
    ["Utf8", "LargeUtf8", "Utf8View", "Dictionary(Int32, Utf8)", "Dictionary(UInt32, Utf8View)"];
const NUMBERS: [&str; 8] =
    ["Int64", "Int32", "UInt8", "Int8", "UInt64", "Int16", "Dictionary(Int16, Int32)", "UInt32"];

/// A row of a relation: its number, its key, and two times.
#[derive(Debug, Clone, Copy)]
struct Row {
    n: i64,
    key: Option<i64>,
    begin: i64,
    end: i64,
}

fn left(rows: i64) -> Vec<Row> {
    let row =
        |n: i64| Row { n, key: (n % 9 > 0).then_some(n % 5), begin: n * 7 % 401, end: n * 7 % 401 + n % 6 };
    (0..rows).map(row).collect()
}

fn right(rows: i64) -> Vec<Row> {
    let row = |n: i64| Row {
        n,
        key: (n % 7 > 0).then_some(n * 3 % 4),
        begin: n * 3 % 97 * 4,
        end: n * 3 % 97 * 4 + n % 9,
    };
    (0..rows).map(row).collect()
}

/// The same rows in SQL, with keys of the type; a text is the number after a letter.
fn relations(rows: [i64; 2], types: [&str; 2]) -> String {
    let key = |ty: &str, key: &str| match NUMBERS.contains(&ty) {
        true => format!("arrow_cast({key}, '{ty}')"),
        false => format!("arrow_cast('c' || CAST({key} AS VARCHAR), '{ty}')"),
    };
    let [of_left, of_right] = [
        key(types[0], "CASE WHEN n % 9 > 0 THEN n % 5 END"),
        key(types[1], "CASE WHEN n % 7 > 0 THEN n * 3 % 4 END"),
    ];
    format!(
        "WITH one AS (SELECT n, {of_left} AS key, n * 7 % 401 AS time, n * 7 % 401 AS begin_at, n * 7 % 401 + n % 6 AS end_at \
             FROM (SELECT unnest(windows(0, {}, 1, 1)) AS n)), \
         two AS (SELECT n AS seq, {of_right} AS key, n * 3 % 97 * 4 AS time, n * 3 % 97 * 4 AS begin_at, \
             n * 3 % 97 * 4 + n % 9 AS end_at FROM (SELECT unnest(windows(0, {}, 1, 1)) AS n))",
        rows[0], rows[1]
    )
}

fn shown(n: Option<i64>) -> String {
    n.map_or_else(|| "-".to_owned(), |n| n.to_string())
}

/// For every row of the left relation, the latest row of the right one.
fn latest(left: &[Row], right: &[Row]) -> Vec<String> {
    let found = |l: &Row| {
        let there = right.iter().filter(|r| l.key.is_some() && r.key == l.key && r.begin <= l.begin);
        there.max_by_key(|r| (r.begin, r.n)).map(|r| r.n)
    };
    left.iter().map(|l| format!("{} {}", l.n, shown(found(l)))).collect()
}

/// All pairs of rows whose intervals have an instant in common.
fn common(left: &[Row], right: &[Row]) -> Vec<String> {
    let mut found = Vec::new();
    for l in left {
        let there = right
            .iter()
            .filter(|r| l.key.is_some() && l.key == r.key && l.begin.max(r.begin) < l.end.min(r.end));
        found.extend(there.map(|r| format!("{} {}", l.n, r.n)));
    }
    found
}

/// `(begin, end, open intervals)` of every key, from instant to instant, from the first begin to the last
/// end.
fn stretches(rows: &[Row]) -> BTreeMap<Option<i64>, Vec<(i64, i64, usize)>> {
    let mut found: BTreeMap<Option<i64>, Vec<(i64, i64, usize)>> = BTreeMap::new();
    let real: Vec<&Row> = rows.iter().filter(|r| r.begin < r.end).collect();
    for key in real.iter().map(|r| r.key) {
        let of: Vec<_> = real.iter().filter(|r| r.key == key).collect();
        let (first, last) = (of.iter().map(|r| r.begin).min(), of.iter().map(|r| r.end).max());
        let stretches = found.entry(key).or_default();
        if !stretches.is_empty() {
            continue;
        }
        for at in first.unwrap()..last.unwrap() {
            let open = of.iter().filter(|r| r.begin <= at && at < r.end).count();
            match stretches.last_mut() {
                Some(last) if last.2 == open => last.1 = at + 1,
                _ => stretches.push((at, at + 1, open)),
            }
        }
    }
    found
}

/// The union of the intervals of every key and how many are in each, and the gaps between them.
fn merged(rows: &[Row], covered: bool) -> Vec<String> {
    let mut found = Vec::new();
    for (key, stretches) in stretches(rows) {
        let mut runs: Vec<(i64, i64, bool)> = Vec::new();
        for (begin, end, open) in stretches {
            match runs.last_mut() {
                Some(last) if last.2 == (open > 0) => last.1 = end,
                _ => runs.push((begin, end, open > 0)),
            }
        }
        for (begin, end, _) in runs.into_iter().filter(|run| run.2 == covered) {
            let within =
                rows.iter().filter(|r| r.key == key && r.begin < r.end && begin <= r.begin && r.end <= end);
            let count = if covered { format!(" {}", within.count()) } else { String::new() };
            found.push(format!("{} {begin} {end}{count}", shown(key)));
        }
    }
    found
}

fn counted(rows: &[Row]) -> Vec<String> {
    let all = stretches(rows).into_iter();
    all.flat_map(|(key, of)| of.into_iter().map(move |(b, e, open)| format!("{} {b} {e} {open}", shown(key))))
        .collect()
}

/// A session for each number of threads, with small batches, so that all of them get rows.
fn sessions(folder: &Path, memory_limit: Option<u64>) -> Vec<(Session, SessionContext)> {
    let session = |threads| {
        let session = open_with(
            folder,
            SessionOptions { threads: Some(threads), memory_limit, ..SessionOptions::default() },
        );
        let context = in_steps(session.context(), if memory_limit.is_some() { 256 } else { 16 });
        (session, context)
    };
    THREADS.into_iter().map(session).collect()
}

fn assert_rows(session: &(Session, SessionContext), sql: &str, expected: &[String]) {
    let mut found = rows_in(&session.0, &session.1, sql);
    // Keys that are texts have a letter.
    found.iter_mut().for_each(|row| *row = row.trim_start_matches('c').to_owned());
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(found, expected, "{} threads: {sql}", session.0.threads());
}

const AS_OF: &str = "SELECT n, seq FROM as_of(one, two, key)";
const LATERAL: &str = "SELECT a.n, w.seq FROM one AS a LEFT JOIN LATERAL (SELECT b.seq FROM two AS b WHERE b.key = a.key AND \
    b.time <= a.time ORDER BY b.time DESC, b.seq DESC LIMIT 1) AS w ON true";
const SELECTED: &str = "SELECT a.n, (SELECT b.seq FROM two AS b WHERE a.key = b.key AND a.time >= b.time \
    ORDER BY b.time DESC, b.seq DESC LIMIT 1) FROM one AS a";
const COMMON: &str = "SELECT n, seq FROM interval_intersect(one, two, key)";

/// All pairs of types of texts, and of numbers each with two others.
fn pairs() -> Vec<[&'static str; 2]> {
    let mut pairs: Vec<[&str; 2]> = TEXTS.iter().flat_map(|l| TEXTS.iter().map(|r| [*l, *r])).collect();
    for (at, ty) in NUMBERS.iter().enumerate() {
        pairs.extend([1, 4].map(|step| [*ty, NUMBERS[(at + step) % NUMBERS.len()]]));
    }
    pairs
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::TempDir::new().unwrap();
    begin(&dir.path().join("db")).commit().unwrap();
    dir
}

#[test]
fn keys_of_another_type_on_each_side_are_equal_with_any_number_of_threads() {
    let dir = folder();
    let sessions = sessions(dir.path(), None);
    let (l, r) = (left(70), right(60));
    for (at, types) in pairs().into_iter().enumerate() {
        let with = relations([70, 60], types);
        for (threads, session) in sessions.iter().enumerate() {
            assert_rows(session, &format!("{with} {AS_OF}"), &latest(&l, &r));
            // The other forms in turns.
            let (select, expected) = match at % 3 {
                0 => (LATERAL, latest(&l, &r)),
                1 => (SELECTED, latest(&l, &r)),
                _ => (COMMON, common(&l, &r)),
            };
            if threads == at / 3 % THREADS.len() {
                assert_rows(session, &format!("{with} {select}"), &expected);
            }
        }
    }
}

#[test]
fn keys_may_be_constants_or_null() {
    let dir = folder();
    let sessions = sessions(dir.path(), None);
    let (l, r) = (left(70), right(60));
    let with = relations([70, 60], ["Utf8View", "Utf8View"]);
    let keyed = |key: Option<i64>| l.iter().map(|row| Row { key, ..*row }).collect::<Vec<_>>();
    for (constant, key) in
        [("'c3'", Some(3)), ("arrow_cast('c3', 'Dictionary(Int32, Utf8)')", Some(3)), ("NULL", None)]
    {
        let l = keyed(key);
        let outer = format!("(SELECT n, {constant} AS key, time, begin_at, end_at FROM one)");
        for session in &sessions {
            for select in [AS_OF, COMMON, LATERAL, SELECTED] {
                let select = select
                    .replace("FROM one AS a", &format!("FROM {outer} AS a"))
                    .replace("(one, ", &format!("({outer}, "));
                let expected = if select.contains("intersect") { common(&l, &r) } else { latest(&l, &r) };
                assert_rows(session, &format!("{with} {select}"), &expected);
            }
        }
    }
    // What `=` cannot compare cannot be a key either.
    let session = &sessions[1].0;
    let sql = format!("{with} SELECT * FROM as_of((SELECT time, 0.5 * n AS key FROM one), two, key)");
    let error = super::collect(session, &sql, &[]).unwrap_err().to_string();
    assert!(error.contains("'key' cannot be a key of as_of: DOUBLE"), "{error}");
}

#[test]
fn one_relation_has_keys_of_any_type() {
    let dir = folder();
    let sessions = sessions(dir.path(), None);
    let rows = left(70);
    for (at, ty) in TEXTS.into_iter().chain(NUMBERS).enumerate() {
        let with = relations([70, 1], [ty, "Utf8"]);
        for (threads, session) in sessions.iter().enumerate() {
            let (function, expected) = match (at + threads) % 3 {
                0 => ("interval_merge", merged(&rows, true)),
                1 => ("interval_gaps", merged(&rows, false)),
                _ => ("concurrency", counted(&rows)),
            };
            assert_rows(session, &format!("{with} SELECT * FROM {function}(one, key)"), &expected);
            // The end of a row is the innermost begin of its key: a row begins at its begin and ends at its
            // end.
            let pairs = format!(
                "{with} SELECT key, count(*), count(begin_at), count(end_at), sum(end_at - begin_at) FROM pair((SELECT key, \
                 begin_at AS time, true AS b, n AS seq FROM one UNION ALL SELECT key, end_at, false, n + 1000 FROM one), key, \
                 begin => b, end => NOT b) GROUP BY key"
            );
            assert_rows(session, &pairs, &paired(&rows));
        }
    }
}

/// Of every key: pairs, begins, ends, and the sum of the durations.
fn paired(rows: &[Row]) -> Vec<String> {
    let mut of_keys: BTreeMap<Option<i64>, Vec<(i64, i64, bool)>> = BTreeMap::new();
    for row in rows {
        let events = of_keys.entry(row.key).or_default();
        events.extend([(row.begin, row.n, true), (row.end, row.n + 1000, false)]);
    }
    let line = |(key, mut events): (Option<i64>, Vec<(i64, i64, bool)>)| {
        events.sort_unstable();
        let (mut open, mut alone, mut whole, mut sum) = (Vec::new(), 0, 0, 0);
        for (time, _, begins) in events {
            match (begins, open.pop()) {
                (true, last) => open.extend(last.into_iter().chain([time])),
                (false, Some(begin)) => (whole, sum) = (whole + 1, sum + time - begin),
                (false, None) => alone += 1,
            }
        }
        let open = open.len() as i64;
        format!("{} {} {} {} {sum}", shown(key), whole + open + alone, whole + open, whole + alone)
    };
    of_keys.into_iter().map(line).collect()
}

#[test]
fn sorts_on_the_disk_change_nothing() {
    let dir = folder();
    let sessions = sessions(dir.path(), Some(4 << 20));
    let size = [30_000, 2000];
    let (l, r) = (left(size[0]), right(size[1]));
    for (at, types) in [["Utf8", "Utf8View"], ["LargeUtf8", "Dictionary(Int32, Utf8)"], ["Int64", "UInt8"]]
        .into_iter()
        .enumerate()
    {
        let with = relations(size, types);
        for session in &sessions[at % 2..] {
            assert_rows(session, &format!("{with} {AS_OF}"), &latest(&l, &r));
        }
    }
    let plan = rows_in(
        &sessions[1].0,
        &sessions[1].1,
        &format!("EXPLAIN ANALYZE {} {AS_OF}", relations(size, ["Utf8", "Utf8View"])),
    );
    let spilled = plan.join(" ").split("spill_count=").skip(1).any(|rest| !rest.starts_with('0'));
    assert!(spilled, "{plan:?}");
}
