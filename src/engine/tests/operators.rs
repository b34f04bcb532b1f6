//! Our operators against the engine's plans without them, and which plans they are used in.

use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::SessionContext;
use proptest::prelude::*;
use tempfile::TempDir;

use super::fixture::{begin, empty, engine, open, put};
use super::lines;
use crate::engine::{AssumedOrder, Session, SessionOptions, context};
use crate::error::Result;
use crate::library::Queries;
use crate::schema::{DataEventRow, DataEventRows, tables};

/// The session of a database without our operators.
pub(crate) fn plain(session: &Session) -> SessionContext {
    let state = session.context().state();
    let ours = ["UseOperators", "BalanceScans", "DictionaryScans"];
    let rules = state.physical_optimizers().iter().filter(|r| !ours.contains(&r.name())).cloned().collect();
    let state = SessionStateBuilder::new_from_existing(state).with_physical_optimizer_rules(rules).build();
    SessionContext::new_with_state(state)
}

/// The same context, with small batches.
pub(crate) fn in_steps(context: &SessionContext, rows: usize) -> SessionContext {
    let state = context.state();
    let config = state.config().clone().with_batch_size(rows);
    SessionContext::new_with_state(SessionStateBuilder::new_from_existing(state).with_config(config).build())
}

pub(crate) fn rows_in(session: &Session, context: &SessionContext, sql: &str) -> Vec<String> {
    let batches = session
        .runner()
        .with_context(context.clone())
        .sql(sql, &[])
        .unwrap()
        .collect::<Result<Vec<_>>>()
        .unwrap();
    batches.iter().flat_map(lines).collect()
}

/// The operators of the plan of a statement, outermost first.
pub(crate) fn operators(session: &Session, context: &SessionContext, sql: &str) -> String {
    let plan = rows_in(session, context, &format!("EXPLAIN {sql}")).join("\n");
    let (_, plan) = plan.split_once("physical_plan ").unwrap();
    let names =
        plan.lines().filter_map(|l| l.trim().split([':', ' ']).next()).filter(|n| n.ends_with("Exec"));
    names.collect::<Vec<_>>().join(" ")
}

/// `(time to the row before, variable, is it a write, value)`
type Access = (i64, usize, bool, Option<u64>);

fn accesses() -> impl Strategy<Value = Vec<Access>> {
    prop::collection::vec((0i64..3, 0usize..4, any::<bool>(), prop::option::of(0u64..5)), 1..60)
}

/// A database of two recordings with two cores; the accesses of a core are in two files if there are enough.
fn traced(streams: &[Vec<Access>]) -> (TempDir, Session) {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    for (i, accesses) in streams.iter().enumerate() {
        let (recording, core) = (["a", "b"][i % 2], ["Core_0", "Core_1"][i / 2]);
        tx.set_recording(recording, Some(0), Some(1000)).unwrap();
        let (mut time, mut files) = (0, vec![DataEventRows::new()]);
        for (seq, (step, variable, write, value)) in accesses.iter().enumerate() {
            time += step;
            if seq == 40 {
                // The later file must not touch the earlier one.
                time += 1;
                files.push(DataEventRows::new());
            }
            files.last_mut().unwrap().push(DataEventRow {
                time,
                seq: seq as i64,
                record: None,
                variable: ["x", "y", "a variable with a long name", ""][*variable].into(),
                access: if *write { "write" } else { "read" }.into(),
                value: *value,
            });
        }
        for mut rows in files {
            put(&mut tx, tables::DATA_EVENT, recording, Some(core), &rows.take_batch().unwrap());
        }
    }
    tx.commit().unwrap();
    let session = open(dir.path());
    (dir, session)
}

const FUNCTIONS: &str = "recording, core, time, seq, variable, lag(value) OVER w, lag(variable) IGNORE NULLS OVER w, \
    lag(value) IGNORE NULLS OVER w, first_value(value) OVER w, first_value(value) IGNORE NULLS OVER w, \
    last_value(value) IGNORE NULLS OVER w, last_value(time) OVER w, row_number() OVER w";
const TO_HERE: &str = "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW";

/// Windows whose result does not depend on the order of equal rows.
fn windows() -> Vec<String> {
    let write = "last_value(CASE WHEN access = 'write' THEN time END) IGNORE NULLS";
    vec![
        format!(
            "SELECT {FUNCTIONS} FROM data_event WINDOW w AS (PARTITION BY recording, core, variable ORDER BY time, seq)"
        ),
        format!(
            "SELECT {FUNCTIONS}, lead(time) OVER w, lead(value) OVER w FROM data_event \
                 WINDOW w AS (PARTITION BY variable, core, recording ORDER BY time, seq)"
        ),
        format!(
            "SELECT {FUNCTIONS} FROM data_event WHERE recording = 'b' AND core = 'Core_1' AND value > 0 \
                 WINDOW w AS (ORDER BY time, seq {TO_HERE})"
        ),
        format!(
            "SELECT time, seq, {write} OVER (ORDER BY time) FROM data_event WHERE recording = 'a' AND core = 'Core_0'"
        ),
        format!(
            "SELECT recording, core, time, seq, {write} OVER (ORDER BY time), \
                 {write} OVER (PARTITION BY variable ORDER BY time) FROM data_event"
        ),
        format!(
            "SELECT time, seq, lag(task) OVER (PARTITION BY variable ORDER BY time, seq) FROM (SELECT *, \
                 {write} OVER (ORDER BY time, seq) AS task FROM data_event WHERE recording = 'a' AND core = 'Core_0')"
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn windows_in_one_pass_are_those_of_the_engine(
        streams in prop::collection::vec(accesses(), 4), size in 1usize..20
    ) {
        let (_dir, session) = traced(&streams);
        let (plain, small) = (plain(&session), in_steps(session.context(), size));
        for sql in windows() {
            let used = operators(&session, &small, &sql);
            prop_assert!(used.contains("KeyedWindowExec") && !used.contains("SortExec"), "{}: {}", sql, used);
            let sorted = |context| {
                let mut rows = rows_in(&session, context, &sql);
                rows.sort();
                rows
            };
            prop_assert_eq!(sorted(&small), sorted(&plain), "{}", sql);
        }
        let sql = "SELECT time, seq, lag(value) OVER (PARTITION BY variable ORDER BY time, seq) FROM data_event \
                   WHERE recording = 'a' AND core = 'Core_0'";
        let order: Vec<i64> =
            rows_in(&session, &small, sql).iter().map(|r| r.split(' ').nth(1).unwrap().parse().unwrap()).collect();
        prop_assert!(order.is_sorted(), "rows keep their order: {:?}", order);
    }

    #[test]
    fn groups_by_number_are_those_of_the_engine(streams in prop::collection::vec(accesses(), 4), size in 1usize..20) {
        let (_dir, session) = traced(&streams);
        let (plain, small) = (plain(&session), in_steps(session.context(), size));
        for sql in [
            "SELECT variable, count(*), sum(value), max(time) FROM data_event GROUP BY variable",
            "SELECT access, recording, core, variable, count(value), min(variable) FROM data_event GROUP BY 1, 2, 3, 4",
            "SELECT DISTINCT core, variable FROM data_event WHERE value > 1",
            "SELECT max(n) FROM (SELECT variable || access AS v, count(*) AS n FROM data_event GROUP BY v HAVING n > 2)",
            "SELECT variable, stddev(n), count(n), avg(n), min(n), sum(n), max(n), count(value), max(time), \
             avg(n) FILTER (WHERE access = 'read'), count(DISTINCT n) FROM (SELECT *, CASE WHEN time % 3 > 0 THEN \
             (time - 5) * 1000000 END AS n FROM data_event) GROUP BY variable",
            "SELECT core, count(time), sum(time * 30000000000000), min(time * 30000000000000), \
             max(time * 30000000000000), max(time), avg(time), avg(value) FROM data_event GROUP BY core",
            "SELECT variable, value, count(*), max(time) FROM data_event GROUP BY variable, value",
            "SELECT value, core, time % 2, variable, count(*) FROM data_event GROUP BY 1, 2, 3, 4",
            "SELECT count(DISTINCT variable), count(DISTINCT access), count(DISTINCT value), count(*) FROM data_event",
            "SELECT variable, count(DISTINCT value) FROM data_event GROUP BY variable",
            "SELECT value, count(DISTINCT CASE WHEN time % 3 > 0 THEN variable END), count(DISTINCT core) \
             FROM data_event GROUP BY value",
            "SELECT core, count(DISTINCT variable) FILTER (WHERE value > 1), count(DISTINCT value) \
             FROM data_event GROUP BY core",
        ] {
            let sorted = |context| {
                let mut rows = rows_in(&session, context, sql);
                rows.sort();
                rows
            };
            prop_assert_eq!(sorted(&small), sorted(&plain), "{}", sql);
        }
    }
}

#[test]
fn what_is_random_is_not_shared() {
    let (_dir, session) = traced(&vec![vec![(1, 0, true, Some(1))]; 4]);
    let drawn = "CAST(random() * 1e15 AS BIGINT)";
    let sql = format!(
        "SELECT count(*) AS groups, count(*) FILTER (WHERE a = b AND b = c) AS alike FROM (SELECT recording, core, \
         min({drawn}) AS a, max({drawn}) AS b, sum({drawn}) AS c FROM data_event GROUP BY recording, core)"
    );
    assert_eq!(rows_in(&session, session.context(), &sql), ["4 0"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn names_by_key_are_those_of_the_engine(streams in prop::collection::vec(accesses(), 4), size in 1usize..20) {
        let (_dir, session) = traced(&streams);
        let (plain, small) = (plain(&session), in_steps(session.context(), size));
        for sql in [
            "SELECT count(*), sum(value) FROM data_event WHERE variable = 'x' AND access <> 'write'",
            "SELECT access, count(*), max(time) FROM data_event WHERE variable IN ('x', '') AND time > 3 GROUP BY access",
            "SELECT variable, time, seq, core FROM data_event WHERE variable = 'y' OR 'write' = access ORDER BY 2, 3, 4",
            "SELECT access, count(*) FILTER (WHERE variable = 'x'), sum(CASE WHEN variable <> 'y' THEN 1 END) \
             FROM data_event GROUP BY access",
            "SELECT variable, access, count(*) FROM data_event WHERE variable <> 'x' GROUP BY 1, 2",
            "SELECT count(*), min(value) FROM data_event WHERE variable = 'nobody' OR variable = 'none'",
            "SELECT variable, max(d) FROM (SELECT variable, access, row_number() OVER (PARTITION BY variable, access \
             ORDER BY time, seq) AS d FROM data_event WHERE recording = 'a' AND core = 'Core_0') \
             WHERE access = 'read' GROUP BY variable",
        ] {
            let sorted = |context| {
                let mut rows = rows_in(&session, context, sql);
                rows.sort();
                rows
            };
            prop_assert_eq!(sorted(&small), sorted(&plain), "{}", sql);
        }
    }
}

#[test]
fn a_group_that_another_thread_has_numbers_of_stays_empty() {
    let (dir, _) = traced(&[vec![(1, 0, true, Some(1)); 30], vec![(1, 1, true, None); 30]]);
    // Of 'y' and of the rows after it, each thread sees the ids before their first rows.
    let sql = "SELECT variable, sum(v), min(v), max(v), avg(v), count(v) FROM (SELECT variable, CASE WHEN variable <> 'y' \
               THEN time END AS v FROM data_event UNION ALL SELECT 'x', time FROM data_event WHERE variable = 'x' \
               UNION ALL SELECT 'y', NULL FROM data_event) GROUP BY variable ORDER BY variable";
    for threads in [1, 2, 3, 8] {
        let options = SessionOptions { threads: Some(threads), ..SessionOptions::default() };
        let session = super::fixture::open_with(dir.path(), options);
        for size in [1, 2, 5, 8192] {
            let found = rows_in(&session, &in_steps(session.context(), size), sql);
            assert_eq!(found, ["x 930 1 30 15.5 60", "y - - - - 0"], "{threads} threads, {size} rows");
        }
    }
}

#[test]
fn missing_names_by_key_are_those_of_the_engine() {
    let (_dir, session) = engine(&["r", "s"]);
    let plain = plain(&session);
    for sql in [
        "SELECT note, count(*) FROM btf_event GROUP BY note",
        "SELECT action, count(*) FROM btf_event WHERE note <> 'x' OR note IS NULL GROUP BY action",
        "SELECT count(*) FROM btf_event WHERE NOT (note = 'x') AND target_type = 'T'",
        "SELECT count(DISTINCT note), count(DISTINCT action) FROM btf_event",
        "SELECT action, count(DISTINCT note), count(DISTINCT target) FROM btf_event GROUP BY action",
        "SELECT note, time, count(*) FROM btf_event GROUP BY note, time",
        "SELECT core, state, sum(end_at - begin_at) FROM process_state WHERE core <> 'Core_0' GROUP BY core, state",
    ] {
        let sorted = |context| {
            let mut rows = rows_in(&session, context, sql);
            rows.sort();
            rows
        };
        assert_eq!(sorted(session.context()), sorted(&plain), "{sql}");
    }
}

#[test]
fn hot_queries_sort_nothing() {
    let (_dir, session) = traced(&vec![vec![(1, 0, true, Some(1)); 30]; 4]);
    let one = "recording = 'a' AND core = 'Core_0'";
    let lag = format!(
        "SELECT variable, max(d), avg(d) FROM (SELECT variable, time - lag(time) OVER \
         (PARTITION BY variable ORDER BY time, seq) AS d FROM data_event WHERE {one}) GROUP BY variable"
    );
    assert_eq!(
        operators(&session, session.context(), &lag),
        "ProjectionExec AggregateExec RepartitionExec TallyExec ProjectionExec RepartitionExec KeyedWindowExec \
         InOrderExec DataSourceExec"
    );
    let running = format!(
        "SELECT task, count(*) FROM (SELECT last_value(CASE WHEN variable = 'x' AND access = 'write' THEN value END) \
         IGNORE NULLS OVER (ORDER BY time, seq) AS task FROM data_event WHERE {one}) GROUP BY task"
    );
    assert_eq!(
        operators(&session, session.context(), &running),
        "ProjectionExec AggregateExec RepartitionExec AggregateExec RepartitionExec ProjectionExec KeyedWindowExec \
         InOrderExec DataSourceExec"
    );
}

#[test]
fn distinct_names_are_counted_by_number() {
    let (_dir, session) = traced(&vec![vec![(1, 0, true, Some(1)); 30]; 4]);
    let sql = "SELECT core, count(DISTINCT variable), count(DISTINCT access) FROM data_event GROUP BY core";
    // The engine has no groups of distinct texts, and no `TallyExec` would be used.
    let plan = operators(&session, session.context(), sql);
    assert_eq!(plan, "ProjectionExec AggregateExec RepartitionExec TallyExec DataSourceExec");
}

#[test]
fn metrics_sort_nothing() {
    let (_dir, session) = engine(&["r"]);
    // What is merged by core comes from processes, whose spans are in the order of their ends.
    let merged = |sql: &str| sql.contains("interval_merge");
    for metric in Queries::shipped().metrics().iter().filter(|metric| !merged(&metric.sql)) {
        let sql = metric.sql.replace("$from", "0").replace("$to", "300");
        let plan = operators(&session, &context::assuming(session.context(), AssumedOrder::Fully), &sql);
        assert!(!plan.contains("Sort") && !plan.contains("WindowAgg"), "{}: {plan}", metric.name);
    }
}
