//! Instances that are not written in order: wrong assumptions, rows that come late, the same results.

use proptest::prelude::*;
use tempfile::TempDir;

use super::fixture::{begin, empty, open, put};
use super::lines;
use super::operators::{in_steps, operators, plain, rows_in};
use crate::engine::{AssumedOrder, Session, context};
use crate::error::Result;
use crate::metrics::{self, MetricFilter};
use crate::schema::{ProcessInstanceRow, ProcessInstanceRows, ProcessStateRow, ProcessStateRows, tables};

/// The process of an instance (two of them), and its number.
type Instance = (bool, i64);

const PROCESSES: [&str; 2] = ["T_1", "a task with a long name"];

/// A database with these instances in this order, in two files. Each was running once, on one of two cores.
fn written(instances: &[Instance]) -> (TempDir, Session) {
    let (dir, _) = empty();
    let mut tx = begin(&dir.path().join("db"));
    tx.set_recording("r", Some(0), Some(10_000)).unwrap();
    for (part, instances) in instances.chunks(instances.len().div_ceil(2).max(1)).enumerate() {
        let (mut rows, mut states) = (ProcessInstanceRows::new(), ProcessStateRows::new());
        for (place, (process, instance)) in instances.iter().enumerate() {
            let core = ["Core_0", "Core_1"][*instance as usize / 3 % 2];
            let process = PROCESSES[usize::from(*process)];
            rows.push(ProcessInstanceRow {
                process: process.into(),
                r#type: "T".into(),
                instance: *instance,
                core: Some(core.into()),
                activate_at: Some(instance * 10),
                start_at: Some(instance * 10 + 1),
                terminate_at: Some(instance * 10 + 25),
                running: 5,
                ready: 0,
                waiting: 0,
                polling: 0,
                parking: 0,
                preemptions: 0,
                complete: true,
                lost: Some(0),
            });
            states.push(ProcessStateRow {
                process: process.into(),
                r#type: "T".into(),
                instance: *instance,
                core: Some(core.into()),
                state: "running".into(),
                begin_at: (part * 1000 + place) as i64,
                end_at: (part * 1000 + place) as i64 + 1,
                idle: false,
            });
        }
        put(&mut tx, tables::PROCESS_INSTANCE, "r", None, &rows.take_batch().unwrap());
        put(&mut tx, tables::PROCESS_STATE, "r", None, &states.take_batch().unwrap());
    }
    tx.commit().unwrap();
    let session = open(dir.path());
    (dir, session)
}

const PAIRS: &str = "SELECT entity, instance, next_activate_at, next_start_at FROM process_pair";
/// Windows within instances; some rows belong to the same instance.
const PARTS: &str = "SELECT process, instance / 2, begin_at, lag(core) OVER w, first_value(begin_at) OVER w, \
    row_number() OVER w FROM (SELECT *, instance / 2 AS half FROM process_state) \
    WINDOW w AS (PARTITION BY recording, process, half ORDER BY begin_at \
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)";

fn sorted(mut rows: Vec<String>) -> Vec<String> {
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn rows_that_come_late_are_put_back(
        keys in prop::collection::vec((any::<bool>(), 0usize..100), 1..60), size in 1usize..9
    ) {
        // Most instances are in order, some come much later.
        let mut numbers = [0; 2];
        let mut instances: Vec<(usize, Instance)> = keys.iter().enumerate().map(|(place, (process, late))| {
            let number = &mut numbers[usize::from(*process)];
            *number += 1;
            (if *late < 10 { place + late * 7 } else { place }, (*process, *number))
        }).collect();
        instances.sort_by_key(|(place, _)| *place);
        let instances: Vec<Instance> = instances.into_iter().map(|(_, instance)| instance).collect();
        let (_dir, session) = written(&instances);
        let mostly = in_steps(&context::assuming(session.context(), AssumedOrder::Mostly), size);
        for sql in [PAIRS, PARTS] {
            let plan = operators(&session, &mostly, sql);
            prop_assert!(plan.contains("ReorderExec") && !plan.contains("SortExec"), "{}: {}", sql, plan);
            let rows = rows_in(&session, &mostly, sql);
            prop_assert_eq!(sorted(rows), sorted(rows_in(&session, &plain(&session), sql)), "{}", sql);
        }
    }
}

#[test]
fn an_order_that_was_wrongly_taken_for_granted_changes_no_result() {
    let (_dir, session) = written(&[0, 2, 1, 3, 3, 4].map(|number| (false, number)));
    let failed = session.sql_assuming(AssumedOrder::Fully, PAIRS, &[]);
    assert!(failed.and_then(|rows| rows.collect::<Result<Vec<_>>>()).is_err());
    let batch =
        metrics::summaries(&session, &["ActivateToActivate".into()], &MetricFilter::default()).unwrap();
    assert_eq!(lines(&batch)[0].split(' ').nth(6), Some("4"), "0 to 1, 1 to 2, 2 to 3, 3 to 4");
}
