//! A disk that fails: the 1st, 2nd, 3rd … operation of an ingest fails until it completes untouched. After
//! each failure the database opens and holds the old state whole.

use crate::faulty_disk::{Fault, FaultyDisk};
use crate::support::{copy_dir, root};
use btfdb::internals::Disk;
use btfdb::{
    Control, Database, Description, ErrorKind, FORMATS, IngestOptions as Options, Plan, RealDisk, ingest,
    plan, tables, verify,
};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

fn small(dir: &Path) -> Vec<Plan> {
    let data = "-0000000002,0.0000000300,\"V\",\"wr-data\",2\n-0000000001,0.0000000400,\"V\",\"rd-data\",A\n";
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("c_data.csv"), data).unwrap();
    plan(&[dir.to_path_buf()], &Description::default(), FORMATS).unwrap()
}

fn run(disk: Arc<dyn Disk>, db: &Path, plans: &[Plan]) -> btfdb::Result<()> {
    let options = Options::default();
    ingest(disk, db, plans, &options, &Arc::new(Control::default())).map(|_| ())
}

fn names(db: &Path) -> Vec<String> {
    Database::open(db).unwrap().recordings().unwrap().iter().map(|r| r.name.clone()).collect()
}

/// Fails every operation of one ingest in turn; returns how many there were.
fn loop_over(fault: Fault, plans: &[Plan], base: &Path, for_ever: bool) -> usize {
    for at in 1usize.. {
        let dir = TempDir::new().unwrap();
        let db = dir.path().join("t.db");
        copy_dir(base, &db);
        let disk = Arc::new(FaultyDisk::new(fault, at, for_ever));
        let result = run(disk.clone(), &db, plans);
        let report = verify(&db).unwrap();
        assert!(report.problems.is_empty(), "{fault:?} at {at}: {:?}", report.problems);
        if let Err(e) = result {
            assert_eq!(names(&db), ["old"], "{fault:?} at {at}: {e}");
            // The next writer finds nothing in its way.
            run(Arc::new(RealDisk), &db, plans).unwrap();
        }
        assert_eq!(names(&db), ["old", &plans[0].name], "{fault:?} at {at}");
        if disk.log().len() < at {
            return at - 1;
        }
    }
    unreachable!("the loop ends when nothing fails any more")
}

#[test]
fn an_ingest_survives_every_fault() {
    let dir = TempDir::new().unwrap();
    let base = dir.path().join("base.db");
    let mut old = small(&dir.path().join("old"));
    old[0].name = "old".into();
    run(Arc::new(RealDisk), &base, &old).unwrap();
    let new = small(&dir.path().join("new"));
    for (fault, for_ever) in [(Fault::NoSpace, true), (Fault::Device, false), (Fault::TornWrite, true)] {
        let operations = loop_over(fault, &new, &base, for_ever);
        assert!(operations > 20, "only {operations} operations were tried");
    }
}

#[test]
fn an_ingest_that_maps_survives_a_full_disk() {
    let dir = TempDir::new().unwrap();
    let base = dir.path().join("base.db");
    let mut old = small(&dir.path().join("old"));
    old[0].name = "old".into();
    run(Arc::new(RealDisk), &base, &old).unwrap();
    let demo = plan(&[root().join("demo/recording")], &Description::default(), FORMATS).unwrap();
    // Every third operation keeps the test short; the small recording tries them all.
    for at in (1usize..).step_by(3) {
        let db = dir.path().join(format!("{at}.db"));
        copy_dir(&base, &db);
        let disk = Arc::new(FaultyDisk::new(Fault::NoSpace, at, true));
        let result = run(disk.clone(), &db, &demo);
        assert!(verify(&db).unwrap().problems.is_empty());
        if result.is_err() {
            assert_eq!(names(&db), ["old"]);
        }
        std::fs::remove_dir_all(&db).unwrap();
        if disk.log().len() < at {
            assert!(at > 40, "only {at} operations");
            return;
        }
    }
}

#[test]
fn an_import_survives_every_fault() {
    let dir = TempDir::new().unwrap();
    let base = dir.path().join("base.db");
    let mut old = small(&dir.path().join("old"));
    old[0].name = "old".into();
    run(Arc::new(RealDisk), &base, &old).unwrap();
    let trace = root().join("tests/data/btf/compare/hardware.btf");
    let new = plan(&[trace], &Description::default(), FORMATS).unwrap();
    for (fault, for_ever) in [(Fault::NoSpace, true), (Fault::Device, false), (Fault::TornWrite, true)] {
        let operations = loop_over(fault, &new, &base, for_ever);
        assert!(operations > 20, "only {operations} operations were tried");
    }
}

/// An export of several chunks. Times restart in each chunk, so every chunk becomes a file, written while
/// others are read.
fn long(dir: &Path) -> String {
    std::fs::create_dir_all(dir).unwrap();
    (0..160_000u32)
        .map(|n| {
            format!(
                "-{:010},{}.0000000300,\"V_{}\",\"wr-data\",{:X}\n",
                160_000 - n,
                n % 20_000,
                n % 7,
                n % 9
            )
        })
        .collect()
}

#[test]
fn many_chunks_are_one_ingest_whatever_the_number_of_threads() {
    let dir = TempDir::new().unwrap();
    let input = dir.path().join("input");
    let text = long(&input);
    std::fs::write(input.join("c_data.csv"), &text).unwrap();
    let plans = plan(&[input], &Description::default(), FORMATS).unwrap();
    let ingest_with = |threads, disk: Arc<dyn Disk>, name: &str| {
        let db = dir.path().join(format!("{name}-{threads}.db"));
        let options = Options { threads, ..Options::default() };
        let done = ingest(disk, &db, &plans, &options, &Arc::new(Control::default()));
        (done.map(|reports| reports[0].sources[0].1.rows), db)
    };
    let mut files = Vec::new();
    for threads in [1, 2, 8] {
        let (rows, db) = ingest_with(threads, Arc::new(RealDisk), "whole");
        assert_eq!(rows.unwrap(), 160_000);
        let found: Vec<_> = Database::open(&db)
            .unwrap()
            .files(tables::DATA_EVENT, None)
            .unwrap()
            .into_iter()
            .map(|f| f.checksum)
            .collect();
        assert!(found.len() > 3, "{} files", found.len());
        files.push(found);
        // The disk is full while chunks are still to come, or later.
        for at in [12, 30, 45] {
            let disk = Arc::new(FaultyDisk::new(Fault::NoSpace, at, true));
            let (rows, db) = ingest_with(threads, disk, &format!("full-{at}"));
            assert_eq!(rows.unwrap_err().kind(), ErrorKind::Io, "{threads} threads, {at}");
            assert!(Database::open(&db).is_err());
        }
    }
    assert!(files.iter().all(|found| *found == files[0]));
}

#[test]
fn an_input_that_is_damaged_far_inside_leaves_nothing() {
    let dir = TempDir::new().unwrap();
    let input = dir.path().join("input");
    let text = long(&input);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    std::fs::write(input.join("c_data.csv.gz"), &packed[..packed.len() * 3 / 4]).unwrap();
    let plans = plan(&[input], &Description::default(), FORMATS).unwrap();
    for threads in [1, 2, 8] {
        let db = dir.path().join(format!("{threads}.db"));
        let options = Options { threads, ..Options::default() };
        let error =
            ingest(Arc::new(RealDisk), &db, &plans, &options, &Arc::new(Control::default())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{error}");
        assert!(!db.exists(), "{threads} threads");
    }
}
