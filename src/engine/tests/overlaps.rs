//! Joins of intervals that overlap: which plans are swept, and that their rows are those of the engine.

use super::fixture::{empty, engine};
use super::operators::{operators, plain, rows_in};
use crate::engine::Session;

/// Intervals `a` and `c` of three cores, some of them empty, and `p`, points.
const INTERVALS: &str = "WITH s AS (SELECT unnest(windows(0, 600, 1, 1)) AS n), \
     a AS (SELECT n, concat('core_', n % 3) AS core, n * 5 % 701 AS begin_at, n * 5 % 701 + n % 7 AS end_at FROM s), \
     c AS (SELECT n, concat('core_', n % 4) AS core, n * 7 % 703 AS begin_at, n * 7 % 703 + n % 11 AS end_at FROM s), \
     p AS (SELECT n, concat('core_', n % 5) AS core, n * 3 % 707 AS time FROM s)";

const OVERLAP: &str = "a.begin_at < c.end_at AND c.begin_at < a.end_at";

/// Whether a statement over [`INTERVALS`] is swept; its rows must be those of the engine.
#[track_caller]
fn is_swept(session: &Session, select: &str) -> bool {
    let sql = format!("{INTERVALS} {select}");
    let ours = rows_in(session, session.context(), &sql);
    assert_eq!(ours, rows_in(session, &plain(session), &sql), "{select}");
    assert!(ours.len() > 1, "{select}");
    operators(session, session.context(), &sql).contains("OverlapJoinExec")
}

#[test]
fn joins_of_intervals_are_swept() {
    let (_dir, session) = empty();
    for select in [
        &format!("SELECT a.n, c.n FROM a JOIN c ON a.core = c.core AND {OVERLAP} ORDER BY 1, 2"),
        &format!("SELECT a.n, c.n FROM a JOIN c ON {OVERLAP} ORDER BY 1, 2"),
        &format!(
            "SELECT a.n, c.n FROM a, c WHERE a.core = c.core AND {OVERLAP} AND a.n < c.n + 3 ORDER BY 1, 2"
        ),
        &format!(
            "SELECT a.core, count(*) FROM a JOIN c USING (core) WHERE {OVERLAP} GROUP BY a.core ORDER BY 1"
        ),
        "SELECT c.end_at, a.n FROM a JOIN c ON a.core = c.core AND a.end_at >= c.begin_at AND c.end_at >= a.begin_at ORDER BY 2, 1",
        "SELECT p.n, a.n FROM p JOIN a ON p.core = a.core AND a.begin_at <= p.time AND p.time < a.end_at ORDER BY 1, 2",
        "SELECT p.n, a.n FROM a JOIN p ON p.core = a.core AND p.time BETWEEN a.begin_at AND a.end_at - 1 ORDER BY 1, 2",
        &format!("SELECT a.n, c.n FROM a LEFT JOIN c ON a.core = c.core AND {OVERLAP} ORDER BY 1, 2"),
        &format!("SELECT a.n, c.n, c.core FROM c RIGHT JOIN a ON {OVERLAP} AND c.n % 5 = 0 ORDER BY 1, 2"),
        &format!(
            "SELECT a.n, c.n FROM a FULL JOIN c ON a.core = c.core AND {OVERLAP} AND a.n < c.n AND a.n % 2 = 0 ORDER BY 1, 2"
        ),
        &format!(
            "SELECT a.n, c.n FROM a LEFT JOIN c ON a.core = c.core AND {OVERLAP} WHERE c.n IS NULL ORDER BY 1"
        ),
        &format!(
            "SELECT a.n FROM a LEFT SEMI JOIN c ON a.core = c.core AND {OVERLAP} AND a.n < c.n ORDER BY 1"
        ),
        &format!(
            "SELECT a.n FROM a WHERE EXISTS (SELECT 1 FROM c WHERE a.core = c.core AND {OVERLAP}) ORDER BY 1"
        ),
        &format!(
            "SELECT a.n FROM a WHERE NOT EXISTS (SELECT 1 FROM c WHERE a.core = c.core AND {OVERLAP}) ORDER BY 1"
        ),
        "SELECT p.n, a.n FROM p LEFT JOIN a ON p.core = a.core AND a.begin_at <= p.time AND p.time < a.end_at ORDER BY 1, 2",
        "SELECT a.n, c.n FROM a JOIN c ON a.n % 3 = c.n % 3 AND a.begin_at < c.end_at AND c.begin_at < a.end_at ORDER BY 1, 2",
    ] {
        assert!(is_swept(&session, select), "{select}");
    }
}

#[test]
fn other_joins_are_left_to_the_engine() {
    let (_dir, session) = empty();
    for select in [
        // A row is in the output for another reason than a match.
        &format!(
            "SELECT a.n FROM a WHERE n > 300 OR EXISTS (SELECT 1 FROM c WHERE a.core = c.core AND {OVERLAP}) ORDER BY 1"
        ),
        // The condition is not part of the match.
        &format!(
            "SELECT a.n, c.n FROM a LEFT JOIN c ON a.core = c.core WHERE {OVERLAP} OR c.n IS NULL ORDER BY 1, 2"
        ),
        "SELECT a.n, c.n FROM a JOIN c ON a.core = c.core AND a.begin_at < c.end_at AND a.end_at < 9 ORDER BY 1, 2",
        "SELECT a.n, c.n FROM a JOIN c ON a.core = c.core AND a.begin_at = c.begin_at ORDER BY 1, 2",
        "SELECT a.n, c.n FROM a JOIN c ON a.core = c.core AND a.begin_at + 0.5 < c.end_at AND c.begin_at < a.end_at + 0.5 ORDER BY 1, 2",
    ] {
        assert!(!is_swept(&session, select), "{select}");
    }
}

#[test]
fn small_sides_are_compared_row_by_row() {
    let (_dir, session) = engine(&["r"]);
    let sql = "SELECT a.process, b.process FROM process_state a JOIN process_state b \
               ON a.core = b.core AND a.begin_at < b.end_at AND b.begin_at < a.end_at ORDER BY 1, 2";
    assert_eq!(rows_in(&session, session.context(), sql), rows_in(&session, &plain(&session), sql));
    assert!(!operators(&session, session.context(), sql).contains("OverlapJoinExec"));
}
