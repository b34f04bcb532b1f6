//! `response_parts()`: the same rows however those of its tables are spread over files, and on however many
//! threads. Not how a response is cut (see [`crate::explain`]).

use std::path::Path;
use std::sync::Arc;

use arrow::array::UInt32Array;
use arrow::compute::take_record_batch;
use tempfile::TempDir;

use super::fixture::{open_with, put};
use super::rows;
use crate::description::{Description, plan};
use crate::engine::{Session, SessionOptions};
use crate::formats::FORMATS;
use crate::ops::{Control, IngestOptions, ingest};
use crate::schema::tables;
use crate::store::{Database, RealDisk, read_batches};

/// Copies a recording under another name, its rows in turns to three files of each table.
fn spread(path: &Path, from: &str, to: &str) {
    let database = Database::open(path).unwrap();
    let mut tx = Database::begin(Arc::new(RealDisk), path, None).unwrap();
    tx.set_recording(to, Some(0), Some(i64::MAX)).unwrap();
    for table in [
        tables::RECORDING,
        tables::ENTITY,
        tables::BTF_EVENT,
        tables::PROCESS_STATE,
        tables::RUNNABLE_STATE,
        tables::PROCESS_INSTANCE,
        tables::OS_CALL,
    ] {
        for file in database.files(table, Some(from)).unwrap() {
            for batch in read_batches(&database.place_of(&file), table, None, 1 << 20).unwrap() {
                let batch = batch.unwrap();
                for turn in 0..3 {
                    let these: UInt32Array = (turn..batch.num_rows() as u32).step_by(3).collect();
                    if !these.is_empty() {
                        put(&mut tx, table, to, None, &take_record_batch(&batch, &these).unwrap());
                    }
                }
            }
        }
    }
    tx.commit().unwrap();
}

/// The parts of a recording, in order.
fn parts_of(session: &Session, recording: &str) -> Vec<String> {
    let parts = format!(
        "SELECT process, type, instance, part, begin_at, end_at, kind, state, core, runnable, by_process, by_type, \
         by_instance, reason, held, object, holder_state, behind_process, behind_instance, activated_by, \
         activated_by_instance, triggered_by, triggered_by_instance FROM response_part \
         WHERE recording = '{recording}' ORDER BY process, instance, part"
    );
    rows(session, &parts)
}

#[test]
fn files_that_overlap_give_the_same_parts() {
    let mut parts = 0;
    for input in [
        "demo/recording",
        "tests/data/osek/polling_errors",
        "tests/data/btf/library.btf",
        "tests/data/btf/metrics.btf",
        "tests/data/btf/thesis_t52.btf",
    ] {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("db");
        let plans =
            plan(&[Path::new(env!("CARGO_MANIFEST_DIR")).join(input)], &Description::default(), FORMATS)
                .unwrap();
        let control = Arc::new(Control::default());
        let done = ingest::ingest(Arc::new(RealDisk), &path, &plans, &IngestOptions::default(), &control);
        let name = done.unwrap().remove(0).name;
        spread(&path, &name, "spread");
        let database = Database::open(&path).unwrap();
        let files = |of: &str| database.files(tables::BTF_EVENT, Some(of)).unwrap().len();
        assert_eq!(files("spread"), 3 * files(&name), "{input}");
        let options = |threads| SessionOptions { threads: Some(threads), ..SessionOptions::default() };
        let expected = parts_of(&open_with(dir.path(), options(1)), &name);
        for threads in [1, 2, 5] {
            let session = open_with(dir.path(), options(threads));
            assert_eq!(parts_of(&session, &name), expected, "{input}, {threads} threads");
            assert_eq!(parts_of(&session, "spread"), expected, "{input} in files, {threads} threads");
            // Several recordings at once.
            let counts = rows(&session, "SELECT count(*), sum(length) FROM response_part GROUP BY recording");
            assert_eq!((counts.len(), &counts[0]), (2, &counts[1]), "{input}, {threads} threads");
        }
        parts += expected.len();
    }
    assert!(parts > 300, "{parts}");
}

/// The engine shares rows of a statement that computes something out to threads, and takes them as they come.
#[test]
fn rows_of_a_recording_come_in_their_order() {
    let (_dir, session) = super::fixture::engine(&["r"]);
    let shares_out = |what: &str| {
        let plan = rows(&session, &format!("EXPLAIN SELECT {what} FROM response_part")).join("\n");
        assert!(plan.contains("StreamingTableExec"), "{plan}");
        plan.contains("RepartitionExec")
    };
    assert!(!shares_out("*") && shares_out("begin_at + 1"));
}
