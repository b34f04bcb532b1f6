//! Every verb that changes a database, on a disk that fails: each of its operations goes wrong, one after the
//! other. Then the database is the one from before, or the one from after, and the next writer is not
//! disturbed. Not ingests of new recordings (see `faults`), and not the store alone (`store::tests::faults`).

use crate::faulty_disk::{Fault, FaultyDisk};
use crate::support::{copy_dir, root};
use btfdb::internals::{Disk, repair};
use btfdb::{
    Choice, Control, Database, Description, FORMATS, IngestOptions, Location, MapOptions, Plan, RealDisk,
    TABLES, ingest, map_again, plan, publish_delta, remove, vacuum, verify,
};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// What goes wrong, and whether for ever.
const FAULTS: [(Fault, bool); 3] = [(Fault::NoSpace, true), (Fault::Device, false), (Fault::TornWrite, true)];

/// What changes a database.
struct Verb {
    name: &'static str,
    run: fn(Arc<dyn Disk>, &Path) -> btfdb::Result<()>,
    /// The fewest operations that it can do with.
    operations: usize,
}

const VERBS: [Verb; 5] = [
    Verb { name: "ingest --continue", run: continues, operations: 20 },
    Verb { name: "map", run: maps, operations: 60 },
    Verb { name: "remove", run: |disk, db| remove(disk, db, &["mapped".to_owned()]), operations: 10 },
    Verb { name: "publish", run: |disk, db| publish_delta(disk, db, 1).map(drop), operations: 20 },
    Verb { name: "vacuum", run: vacuums, operations: 4 },
];

fn continues(disk: Arc<dyn Disk>, db: &Path) -> btfdb::Result<()> {
    // The path of an input is in the database.
    static PIECE: LazyLock<TempDir> = LazyLock::new(scratch);
    let piece = export(&PIECE.path().join("piece"), &[500, 600]);
    let options = IngestOptions { continues: Some("plain".into()), ..IngestOptions::default() };
    ingest(disk, db, &piece, &options, &Arc::new(Control::default())).map(drop)
}

fn maps(disk: Arc<dyn Disk>, db: &Path) -> btfdb::Result<()> {
    map_again(disk, db, &Choice::default(), MapOptions::default(), &Arc::new(Control::default())).map(drop)
}

fn vacuums(disk: Arc<dyn Disk>, db: &Path) -> btfdb::Result<()> {
    let later = SystemTime::now() + Duration::from_secs(3600);
    vacuum(disk, db, later, Duration::ZERO).map(drop)
}

/// An export of one core with a read of a variable at some nanoseconds.
fn export(dir: &Path, times: &[u32]) -> Vec<Plan> {
    let row = |(n, at): (usize, &u32)| format!("-{:010},0.{at:010},\"V\",\"rd-data\",{n}\n", times.len() - n);
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("c_data.csv"), times.iter().enumerate().map(row).collect::<String>()).unwrap();
    plan(&[dir.to_path_buf()], &Description::default(), FORMATS).unwrap()
}

/// A database with a recording that is mapped, one that is not, and files that a vacuum takes away.
fn base(dir: &Path) -> std::path::PathBuf {
    let db = dir.join("base.db");
    let mut mapped =
        plan(&[root().join("tests/data/erika2/events")], &Description::default(), FORMATS).unwrap();
    let mut plain = export(&dir.join("plain"), &[300, 400]);
    let mut gone = export(&dir.join("gone"), &[300, 400]);
    (mapped[0].name, plain[0].name, gone[0].name) = ("mapped".into(), "plain".into(), "gone".into());
    let plans: Vec<Plan> = [mapped, plain, gone].into_iter().flatten().collect();
    let options = IngestOptions::default();
    ingest(Arc::new(RealDisk), &db, &plans, &options, &Arc::new(Control::default())).unwrap();
    remove(Arc::new(RealDisk), &db, &["gone".to_owned()]).unwrap();
    db
}

/// What is in a database: the rows and the sums of each table of each recording. Where files lie is left out.
fn state(db: &Path) -> Vec<(String, String, u64, String)> {
    let database = Database::open(db).unwrap();
    let files = TABLES.iter().flat_map(|table| database.files(table, None).unwrap());
    files.map(|file| (file.table, file.recording, file.rows, file.checksum)).collect()
}

/// A folder in memory where the system has one.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Runs `work` on copies of `base`, with a fault at each operation in turn, until it has no more.
fn with_every_fault(
    faults: &[(Fault, bool)],
    base: &Path,
    operations: usize,
    work: impl Fn(Arc<FaultyDisk>, &Path, &str),
) {
    for &(fault, for_ever) in faults {
        for at in 1usize.. {
            let dir = scratch();
            let db = dir.path().join("t.db");
            copy_dir(base, &db);
            let disk = Arc::new(FaultyDisk::new(fault, at, for_ever));
            work(Arc::clone(&disk), &db, &format!("{fault:?} at operation {at}, for ever: {for_ever}"));
            if disk.log().len() < at {
                assert!(at > operations, "only {at} operations were tried");
                break;
            }
        }
    }
}

#[test]
fn every_verb_survives_every_fault() {
    let dir = TempDir::new().unwrap();
    let base = base(dir.path());
    let old = state(&base);
    for Verb { name, run, operations } in VERBS {
        let goal = dir.path().join("goal.db");
        copy_dir(&base, &goal);
        run(Arc::new(RealDisk), &goal).unwrap();
        let new = state(&goal);
        std::fs::remove_dir_all(&goal).unwrap();
        with_every_fault(&FAULTS, &base, operations, |disk, db, case| {
            let done = run(disk, db);
            let case = format!("{name}, {case}: {done:?}");
            assert_eq!(state(db), *if done.is_ok() { &new } else { &old }, "{case}");
            assert_eq!(verify(db).unwrap().problems, [], "{case}");
            // The next writers find nothing in their way, and do what is left to do.
            if done.is_err() {
                run(Arc::new(RealDisk), db).unwrap_or_else(|e| panic!("{case}, tried again: {e}"));
            }
            vacuums(Arc::new(RealDisk), db).unwrap();
            assert_eq!(state(db), new, "{case}, tried again");
            let after = verify(db).unwrap();
            assert_eq!((after.problems, after.pending), (Vec::new(), Vec::new()), "{case}, tried again");
        });
    }
}

#[test]
fn a_repair_survives_every_fault() {
    let dir = TempDir::new().unwrap();
    let base = base(dir.path());
    let whole = state(&base);
    let damaged = Database::open(&base).unwrap().files(btfdb::tables::PROCESS_STATE, None).unwrap();
    let path = base.join(&damaged[0].path);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[10] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let mended = |disk: Arc<dyn Disk>, db: &Path| {
        repair(&disk, &Location::from(db), 1, &Arc::new(Control::default())).map(|report| report.after)
    };
    with_every_fault(&FAULTS[..1], &base, 60, |disk, db, case| {
        let done = mended(disk, db).map(|after| after.problems.is_empty());
        let case = format!("{case}: {done:?}");
        assert_eq!(state(db), whole, "{case}");
        let is_whole = verify(db).unwrap().problems.is_empty();
        assert!(is_whole || !matches!(done, Ok(true)), "{case}");
        assert_eq!(mended(Arc::new(RealDisk), db).unwrap().problems, [], "{case}, tried again");
        assert_eq!(state(db), whole, "{case}, tried again");
    });
}
