//! The database of random statements: two recordings with random rows, some columns NULL here and there, and
//! some tables in several files. Not the statements.

use std::path::Path;

use super::Random;
use crate::engine::tests::fixture::{begin, gap, put};
use crate::schema::{
    BtfEventRow, BtfEventRows, DataEventRow, DataEventRows, ProcessInstanceRow, ProcessInstanceRows,
    ProcessStateRow, ProcessStateRows, tables,
};

/// Processes, some with names that are longer than what a view of a string holds.
pub(super) const PROCESSES: [&str; 5] = ["T_1", "T_2", "a task with a long name", "I_1", "T_11"];
pub(super) const STATES: [&str; 4] = ["running", "ready", "waiting", "polling"];
pub(super) const VARIABLES: [&str; 4] = ["x", "y", "a variable with a long name", ""];

pub(super) fn make(folder: &Path) {
    let mut random = Random::new(7);
    let mut tx = begin(&folder.join("db"));
    for recording in ["a", "b"] {
        tx.set_recording(recording, Some(0), Some(4000)).unwrap();
        for core in ["Core_0", "Core_1"] {
            let (mut time, mut seq) = (0, 0);
            for _ in 0..2 {
                let mut rows = DataEventRows::new();
                for _ in 0..40 {
                    time += random.below(30) as i64;
                    rows.push(DataEventRow {
                        time,
                        seq,
                        record: None,
                        variable: random.pick(&VARIABLES).into(),
                        access: random.pick(&["read", "write"]).into(),
                        value: random.chance(80).then(|| random.below(9)),
                    });
                    seq += 1;
                }
                time += 1;
                put(&mut tx, tables::DATA_EVENT, recording, Some(core), &rows.take_batch().unwrap());
            }
        }
        let mut rows = BtfEventRows::new();
        let mut time = 0;
        for seq in 0..130 {
            time += random.below(40) as i64;
            let process = random.pick(&PROCESSES);
            rows.push(BtfEventRow {
                time,
                seq,
                source: random.pick(&["Core_0", "Core_1", "STI_1"]).into(),
                source_instance: Some(0),
                target_type: if process.starts_with('I') { "I" } else { "T" }.into(),
                target: process.into(),
                target_instance: random.chance(95).then(|| random.below(6) as i64),
                action: random.pick(&["activate", "start", "preempt", "resume", "terminate"]).into(),
                note: random.chance(15).then(|| random.pick(&["1", "0,5", "note"]).into()),
            });
        }
        put(&mut tx, tables::BTF_EVENT, recording, None, &rows.take_batch().unwrap());
        let mut rows = ProcessInstanceRows::new();
        for process in PROCESSES {
            let mut at = 0;
            for instance in 0..12 {
                let mut next = |random: &mut Random, most: u64| {
                    at += random.below(most) as i64;
                    at
                };
                let (activate, start, terminate) =
                    (next(&mut random, 200), next(&mut random, 30), next(&mut random, 90));
                let some = |random: &mut Random| random.below(40) as i64;
                rows.push(ProcessInstanceRow {
                    process: process.into(),
                    r#type: if process.starts_with('I') { "I" } else { "T" }.into(),
                    instance,
                    core: random.chance(90).then(|| random.pick(&["Core_0", "Core_1"]).into()),
                    activate_at: random.chance(90).then_some(activate),
                    start_at: random.chance(95).then_some(start),
                    terminate_at: random.chance(90).then_some(terminate),
                    running: some(&mut random),
                    ready: some(&mut random),
                    waiting: some(&mut random),
                    polling: 0,
                    parking: 0,
                    preemptions: random.below(4) as i64,
                    complete: random.chance(85),
                    lost: random.chance(90).then(|| random.below(2) as i64),
                });
            }
        }
        put(&mut tx, tables::PROCESS_INSTANCE, recording, None, &rows.take_batch().unwrap());
        // No two begins are equal, so that they tell the rows apart.
        let (mut states, mut at) = (Vec::new(), 0);
        for _ in 0..150 {
            at += 1 + random.below(25) as i64;
            states.push((at + random.below(60) as i64, at));
        }
        // In the order of the table.
        states.sort_unstable();
        let mut rows = ProcessStateRows::new();
        for (end_at, begin_at) in states {
            let process = random.pick(&PROCESSES);
            rows.push(ProcessStateRow {
                process: process.into(),
                r#type: if process.starts_with('I') { "I" } else { "T" }.into(),
                instance: random.below(12) as i64,
                core: random.chance(92).then(|| random.pick(&["Core_0", "Core_1"]).into()),
                state: random.pick(&STATES).into(),
                begin_at,
                end_at,
                idle: false,
            });
        }
        put(&mut tx, tables::PROCESS_STATE, recording, None, &rows.take_batch().unwrap());
        for (core, begin) in [(None, 500), (Some("Core_1"), 1500)] {
            put(&mut tx, tables::GAP, recording, None, &gap(core, begin, begin + 40));
        }
    }
    tx.commit().unwrap();
}
