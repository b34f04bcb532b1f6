//! A small database whose every metric can be computed by hand.

use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use tempfile::TempDir;

use crate::engine::{Session, SessionOptions};
use crate::schema::{
    BtfEventRow, BtfEventRows, DataEventRow, DataEventRows, GapRow, GapRows, ProcessInstanceRow,
    ProcessInstanceRows, ProcessStateRow, ProcessStateRows, RecordingRow, RecordingRows, RunnableInstanceRow,
    RunnableInstanceRows, RunnableStateRow, RunnableStateRows, TableSpec, tables,
};
use crate::store::{Database, RealDisk, Transaction};
use crate::time::TimeScale;

pub(crate) fn begin(path: &Path) -> Transaction {
    Database::begin(Arc::new(RealDisk), path, Some(TimeScale::Ns)).unwrap()
}

pub(crate) fn put(
    tx: &mut Transaction,
    table: &'static TableSpec,
    recording: &str,
    core: Option<&str>,
    rows: &RecordBatch,
) {
    let mut writer = tx.writer(table, recording, core).unwrap();
    writer.write(rows).unwrap();
    let file = writer.finish().unwrap();
    tx.add(file).unwrap();
}

/// A session on an empty database.
pub(crate) fn empty() -> (TempDir, Session) {
    let dir = TempDir::new().unwrap();
    begin(&dir.path().join("db")).commit().unwrap();
    let session = open(dir.path());
    (dir, session)
}

pub(crate) fn open(dir: &Path) -> Session {
    open_with(
        dir,
        SessionOptions { threads: Some(2), memory_limit: Some(64 << 20), ..SessionOptions::default() },
    )
}

pub(crate) fn open_with(dir: &Path, options: SessionOptions) -> Session {
    Session::open(Database::open(dir.join("db")).unwrap(), options).unwrap()
}

/// A session on a database with the recording `r`; `names` are further recordings with the same content.
pub(crate) fn engine(names: &[&str]) -> (TempDir, Session) {
    let dir = TempDir::new().unwrap();
    let mut tx = begin(&dir.path().join("db"));
    for name in names {
        record(&mut tx, name);
    }
    tx.commit().unwrap();
    let session = open(dir.path());
    (dir, session)
}

/// `(time, source, target type, target, instance, action, note)`
type Event = (i64, &'static str, &'static str, &'static str, i64, &'static str, Option<&'static str>);

pub(crate) const EVENTS: &[Event] = &[
    (0, "STI_1", "T", "T_1", 0, "activate", None),
    (10, "Core_1", "T", "T_1", 0, "start", None),
    (12, "T_1", "R", "R_1", 0, "start", None),
    (20, "STI_2", "I", "I_1", 0, "activate", None),
    (20, "Core_1", "T", "T_1", 0, "preempt", None),
    (20, "Core_1", "I", "I_1", 0, "start", None),
    (30, "Core_1", "I", "I_1", 0, "terminate", None),
    (30, "Core_1", "T", "T_1", 0, "resume", None),
    (40, "T_1", "SIG", "SIG_1", 0, "write", Some("1,5")),
    (50, "Core_1", "T", "T_1", 0, "terminate", None),
    (100, "STI_1", "T", "T_1", 1, "activate", None),
    (150, "STI_1", "T", "T_1", 2, "mtalimitexceeded", None),
];

/// `(instance, activate, start, terminate, running, ready, polling, preemptions, complete)`
type Instance = (i64, Option<i64>, Option<i64>, Option<i64>, i64, i64, i64, i64, bool);

const INSTANCES: &[Instance] = &[
    (0, Some(0), Some(10), Some(50), 30, 10, 0, 1, true),
    (1, Some(100), Some(105), Some(125), 15, 0, 5, 0, true),
    (2, Some(210), Some(240), Some(260), 20, 0, 0, 0, true),
    (3, Some(300), Some(310), None, 10, 0, 0, 0, false),
];

/// `(process, type, instance, core, state, begin, end)`
type State = (&'static str, &'static str, i64, &'static str, &'static str, i64, i64);

const STATES: &[State] = &[
    ("T_1", "T", 0, "Core_1", "active", 0, 10),
    ("T_1", "T", 0, "Core_1", "running", 10, 20),
    ("I_1", "I", 0, "Core_1", "running", 20, 30),
    ("T_1", "T", 0, "Core_1", "ready", 20, 30),
    ("T_1", "T", 0, "Core_1", "running", 30, 50),
    ("T_1", "T", 1, "Core_1", "running", 105, 120),
    ("T_1", "T", 1, "Core_1", "polling", 120, 125),
    ("T_1", "T", 2, "Core_2", "running", 240, 250),
    ("T_1", "T", 2, "Core_1", "running", 250, 260),
    ("T_1", "T", 3, "Core_1", "running", 310, 320),
];

fn record(tx: &mut Transaction, name: &str) {
    tx.set_recording(name, Some(0), Some(320)).unwrap();
    let mut rows = RecordingRows::new();
    rows.push(RecordingRow {
        os: Some("osek".into()),
        time_scale: "ns".into(),
        begin_at: Some(0),
        end_at: Some(320),
        creator: Some("by hand"),
        created: Some("2026-11-21T00:00:00Z"),
        tick: None,
        sources: 0,
        software_events: 0,
        btf_events: EVENTS.len() as i64,
        gaps: 0,
        diagnostics: 0,
    });
    put(tx, tables::RECORDING, name, None, &rows.take_batch().unwrap());
    put(tx, tables::BTF_EVENT, name, None, &events(0));
    let mut rows = ProcessInstanceRows::new();
    for &(instance, activate_at, start_at, terminate_at, running, ready, polling, preemptions, complete) in
        INSTANCES
    {
        rows.push(ProcessInstanceRow {
            process: "T_1".into(),
            r#type: "T".into(),
            instance,
            core: Some("Core_1".into()),
            activate_at,
            start_at,
            terminate_at,
            running,
            ready,
            waiting: 0,
            polling,
            parking: 0,
            preemptions,
            complete,
            lost: Some(0),
        });
    }
    rows.push(ProcessInstanceRow {
        process: "I_1".into(),
        r#type: "I".into(),
        instance: 0,
        core: Some("Core_1".into()),
        activate_at: Some(20),
        start_at: Some(20),
        terminate_at: Some(30),
        running: 10,
        ready: 0,
        waiting: 0,
        polling: 0,
        parking: 0,
        preemptions: 0,
        complete: true,
        lost: Some(0),
    });
    put(tx, tables::PROCESS_INSTANCE, name, None, &rows.take_batch().unwrap());
    let mut rows = ProcessStateRows::new();
    for &(process, r#type, instance, core, state, begin_at, end_at) in STATES {
        rows.push(ProcessStateRow {
            process: process.into(),
            r#type: r#type.into(),
            instance,
            core: Some(core.into()),
            state: state.into(),
            begin_at,
            end_at,
            idle: false,
        });
    }
    put(tx, tables::PROCESS_STATE, name, None, &rows.take_batch().unwrap());
    let mut rows = RunnableInstanceRows::new();
    for (instance, start_at, terminate_at, running, complete) in
        [(0, 12, Some(45), 23, true), (1, 310, None, 10, false)]
    {
        rows.push(RunnableInstanceRow {
            runnable: "R_1".into(),
            instance,
            process: Some("T_1".into()),
            process_instance: Some(instance),
            core: Some("Core_1".into()),
            depth: 0,
            start_at: Some(start_at),
            terminate_at,
            running,
            suspended: 0,
            callees: Some(0),
            complete,
        });
    }
    put(tx, tables::RUNNABLE_INSTANCE, name, None, &rows.take_batch().unwrap());
    let mut rows = RunnableStateRows::new();
    for (instance, state, begin_at, end_at) in
        [(0, "running", 12, 20), (0, "suspended", 20, 30), (0, "running", 30, 45), (1, "running", 310, 320)]
    {
        rows.push(RunnableStateRow {
            runnable: "R_1".into(),
            instance,
            process: Some("T_1".into()),
            process_instance: Some(instance),
            core: Some("Core_1".into()),
            depth: 0,
            state: state.into(),
            begin_at,
            end_at,
        });
    }
    put(tx, tables::RUNNABLE_STATE, name, None, &rows.take_batch().unwrap());
}

/// [`EVENTS`], `shift` ticks later.
pub(crate) fn events(shift: i64) -> RecordBatch {
    let mut rows = BtfEventRows::new();
    for (seq, &(time, source, target_type, target, target_instance, action, note)) in
        EVENTS.iter().enumerate()
    {
        let (time, seq, source_instance) = (time + shift, seq as i64, Some(0));
        rows.push(BtfEventRow {
            time,
            seq,
            source: source.into(),
            source_instance,
            target_type: target_type.into(),
            target: target.into(),
            target_instance: Some(target_instance),
            action: action.into(),
            note: note.map(Into::into),
        });
    }
    rows.take_batch().unwrap()
}

/// A gap of a core, or of all cores.
pub(crate) fn gap(core: Option<&str>, begin_at: i64, end_at: i64) -> RecordBatch {
    let mut rows = GapRows::new();
    rows.push(GapRow { core: core.map(Into::into), begin_at, end_at, reason: "fifo_overflow".into() });
    rows.take_batch().unwrap()
}

/// Accesses number `from` to `to`, one every 10 ticks.
pub(crate) fn accesses(from: i64, to: i64) -> RecordBatch {
    let mut rows = DataEventRows::new();
    for n in from..to {
        let variable = ["EE_ORTI_runningtask", "SIG_1"][n as usize % 2].into();
        let value = Some(n as u64 % 7);
        rows.push(DataEventRow {
            time: n * 10,
            seq: n,
            record: None,
            variable,
            access: "write".into(),
            value,
        });
    }
    rows.take_batch().unwrap()
}
