//! What table `process_state` says and the events do not show: that the state of a process is not known, and
//! that a task is an idle task.

use super::{data, ingested};
use arrow::array::AsArray;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use btfdb::columns::process_state as column;
use btfdb::{Database, read_batches, tables};
use std::collections::BTreeSet;
use std::fs;

/// A row of the table.
struct Row {
    process: String,
    state: String,
    span: (i64, i64),
    idle: bool,
}

/// The rows of a recording, in the order of their begins.
fn rows(recording: &str) -> Vec<Row> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    ingested(&data().join(recording), 1, &path);
    let db = Database::open(&path).unwrap();
    let mut rows = Vec::new();
    for file in db.files(tables::PROCESS_STATE, None).unwrap() {
        for batch in read_batches(&db.place_of(&file), tables::PROCESS_STATE, None, 1000).unwrap() {
            let batch = batch.unwrap();
            let column_of = |name: &str| batch.column_by_name(name).unwrap();
            let text =
                |name: &str| cast(column_of(name), &DataType::Utf8).unwrap().as_string::<i32>().clone();
            let number = |name: &str| column_of(name).as_primitive::<Int64Type>().clone();
            let (process, state, idle) =
                (text(column::PROCESS), text(column::STATE), column_of(column::IDLE).as_boolean());
            let (begin, end) = (number(column::BEGIN_AT), number(column::END_AT));
            rows.extend((0..batch.num_rows()).map(|n| Row {
                process: process.value(n).into(),
                state: state.value(n).into(),
                span: (begin.value(n), end.value(n)),
                idle: idle.value(n),
            }));
        }
    }
    rows.sort_by_key(|row| row.span);
    rows
}

/// Rule H6. The other core has a gap from 3000 to 6000, in which it may free the lock. The process parks at
/// 2500 and at 4000, has its core again at 3500 and 4500, and shows that it polls 100 later.
#[test]
fn a_process_that_parks_for_a_lock_of_a_core_in_a_gap_has_no_known_state() {
    let rows = rows("erika2/gap_parking");
    let of = rows.iter().filter(|row| row.process == "T_0" && row.span.0 >= 2000);
    let of: Vec<_> = of.map(|row| (row.state.as_str(), row.span)).collect();
    let polling = [(2010, 2500), (3600, 4000), (4600, 7100)].map(|span| ("polling", span));
    assert_eq!(of[..4], [polling[0], ("parking", (2500, 3000)), polling[1], polling[2]]);
}

/// Rule H6. T_0 parks while the other core has a gap, and the lock is seen freed behind it: whether T_0 was
/// released from parking before is not known, but it is ready then.
#[test]
fn a_process_that_parked_at_a_gap_is_ready_once_its_lock_is_free() {
    let rows = rows("erika2/gap_parking_freed");
    let of = rows.iter().filter(|row| row.process == "T_0" && row.span.0 >= 2000);
    let of: Vec<_> = of.map(|row| (row.state.as_str(), row.span)).collect();
    assert_eq!(of[..3], [("polling", (2010, 4000)), ("ready", (7010, 7300)), ("running", (7300, 8040))]);
    let events = fs::read_to_string(data().join("erika2/gap_parking_freed/expected.btf")).unwrap();
    assert!(!events.contains("release_parking"), "{events}");
}

/// Rules H1 and H3. Core_0 has a gap from 3000 to 4500, in which it may release T_W, which waits on Core_1,
/// and run T_1, which Core_1 activates then.
#[test]
fn a_gap_of_one_core_hides_the_tasks_that_no_other_core_of_the_os_runs() {
    let rows = rows("osek/gap_smp");
    let of = |process: &str| -> Vec<_> {
        let of = rows.iter().filter(|row| row.process == process);
        of.map(|row| (row.state.as_str(), row.span)).collect()
    };
    let expected = [("active", (1100, 1300)), ("running", (1300, 2100)), ("waiting", (2100, 3000))];
    assert_eq!(of("T_W"), [&expected[..], &[("running", (5100, 6200))]].concat());
    assert_eq!(of("T_1"), [("running", (7000, 7300))]);
    let expected = [("active", (2200, 2400)), ("running", (2400, 5000)), ("ready", (5000, 6300))];
    assert_eq!(of("T_2"), [&expected[..], &[("running", (6300, 6700))]].concat(), "it has its core still");
}

/// Rule H2. Core_0 has gaps from 3000 to 4500 and from 10000 to 12000. In the first one, Core_1 activates
/// T_1, which runs at its end, and releases T_W, which has ended then. In the second one, it releases T_W,
/// which runs at its end, and reads that T_1 is ready, which may end unseen; it is ready again at 12710.
#[test]
fn what_another_core_tells_in_a_gap_comes_before_what_holds_at_its_end() {
    let rows = rows("osek/gap_touched");
    let of = |process: &str| -> Vec<_> {
        let of = rows.iter().filter(|row| row.process == process);
        of.map(|row| (row.state.as_str(), row.span)).collect()
    };
    assert_eq!(of("T_1"), [("running", (4500, 10000)), ("ready", (12710, 13000))]);
    let first = [("active", (1100, 1300)), ("running", (1300, 2100)), ("waiting", (2100, 3000))];
    let second = [("active", (6000, 6200)), ("running", (6200, 7100)), ("waiting", (7100, 10000))];
    assert_eq!(of("T_W"), [&first[..], &second, &[("running", (12000, 13000))]].concat());
}

/// Rules H1 and H2. Both cores of an OS have a gap at 3000, until 4500 and 4400, and later from 10000 to
/// 14000 and from 10200 to 12000. What a core runs is known behind its own gap; T_3, which none runs, behind
/// both.
#[test]
fn gaps_of_two_cores_of_an_os_are_known_by_what_follows_both() {
    let rows = rows("osek/gap_smp_both");
    let of = |process: &str| -> Vec<_> {
        let of = rows.iter().filter(|row| row.process == process && row.span.0 >= 3000);
        of.map(|row| (row.state.as_str(), row.span)).collect()
    };
    assert_eq!(of("T_1"), [("running", (4500, 10000)), ("running", (14000, 15000))]);
    assert_eq!(of("T_2"), [("running", (4400, 10200)), ("running", (12000, 15000))]);
    assert_eq!(of("T_3"), [("ready", (4500, 10000)), ("ready", (14000, 15000))]);
}

/// Rule H1. Core_0 has a gap from 3000 to 6000, in which it may run T_1, which Core_1 activates at 3510.
/// Core_2, which has another OS, has a gap from 4000 to 5000.
#[test]
fn a_gap_of_one_os_says_nothing_of_the_tasks_of_another_one() {
    assert!(rows("osek/gap_other_os").is_empty());
}

/// Rule H1. The data have a gap from 3000 to 5000, and the functions have none. An ISR that is in the gap has
/// the core at its end.
#[test]
fn functions_in_a_gap_of_the_data_say_nothing_of_tasks() {
    let rows = rows("osek/gap_functions");
    let of = rows.iter().filter(|row| row.process == "T_B");
    let of: Vec<_> = of.map(|row| (row.state.as_str(), row.span)).collect();
    assert_eq!(of, [("running", (5300, 6000))]);
}

/// Rule T14. T_C, which was preempted at 4100, ends without a core, which no task can.
#[test]
fn a_task_that_ends_without_a_core_has_a_state_until_then() {
    let rows = rows("osek/scheduler_isr");
    let of = rows.iter().filter(|row| row.process == "T_C" && row.span.0 >= 3200);
    let of: Vec<_> = of.map(|row| (row.state.as_str(), row.span)).collect();
    assert_eq!(of[..2], [("running", (3200, 4100)), ("ready", (4100, 5000))]);
}

/// Rule H3. The first of three instances has ended in the gap from 3000 to 5000, as the count says at 5500:
/// what was seen of the task since then was of the second one.
#[test]
fn an_instance_that_has_ended_unseen_has_no_state_once_that_is_known() {
    let rows = rows("osek/gap_late_count");
    let of = rows.iter().filter(|row| row.process == "T_A" && row.span.0 >= 3000);
    let of: Vec<_> = of.map(|row| (row.state.as_str(), row.span)).collect();
    assert_eq!(of, [("ready", (5000, 5500)), ("running", (6000, 6520)), ("running", (6530, 7000))]);
}

/// Rule O12.
#[test]
fn idle_tasks_are_known_by_their_names() {
    let rows = rows("osek/idle_tasks");
    let idle: BTreeSet<_> = rows.iter().filter(|row| row.idle).map(|row| row.process.as_str()).collect();
    assert_eq!(idle, BTreeSet::from(["IdleCore0", "OsTask_Idle_Core1"]));
    assert!(rows.iter().any(|row| row.process == "IdleSpeedControl"));
}
