//! What a transaction promises when something goes wrong: every operation of it is made to fail, one after
//! the other, and the database must be the old one or the new one each time.

use std::sync::Arc;

use super::*;
use crate::store::faulty_disk::{Fault, FaultyDisk};
use crate::store::verify;

/// What goes wrong, and whether for ever. A full disk and a broken one are the same to the store, so that one
/// is tried once and the other for ever.
const FAULTS: [(Fault, bool); 5] = [
    (Fault::NoSpace, false),
    (Fault::Device, true),
    (Fault::TornWrite, false),
    (Fault::TornWrite, true),
    (Fault::ShortWrite, true),
];

/// A change that does everything at once: adds `b`, replaces a table and the blob of `a`.
fn change(disk: &FaultyDisk, path: &Path) -> Result<()> {
    let mut tx = Database::begin(Arc::new(disk.clone()), path, Some(TimeScale::Ns))?;
    record(&mut tx, "b", 100)?;
    if tx.has_recording("a")? {
        derive(&mut tx, "a", 7)?;
        tx.put_blob("setup", "a", "setup.json", b"{\"start\":7}")?;
    }
    tx.commit()
}

/// Runs `work` on a copy of `template`, again and again, with a fault at each operation in turn.
fn with_every_fault(template: &Path, work: impl Fn(&FaultyDisk, &Path, &str)) {
    for (fault, for_ever) in FAULTS {
        for at in 1.. {
            let dir = scratch();
            let path = dir.path().join("db");
            if template.exists() {
                copy(template, &path);
            }
            let disk = FaultyDisk::new(fault, at, for_ever);
            work(&disk, &path, &format!("{fault:?} at operation {at}, for ever: {for_ever}"));
            if disk.log().len() < at {
                assert!(at > 12, "only {at} operations: this tests nothing");
                break;
            }
        }
    }
}

/// A folder in memory where the system has one: there will be hundreds, with many small files.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn assert_sound(path: &Path, case: &str) {
    assert_eq!(verify(path).unwrap().problems, [], "{case}");
    drop(Database::begin(Arc::new(FaultyDisk::sound()), path, None).unwrap());
    assert_tidy(path);
    let report = verify(path).unwrap();
    assert_eq!((report.problems, report.pending), (vec![], vec![]), "{case}");
}

#[test]
fn a_change_happens_or_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let template = dir.path().join("template");
    database_with_a(&template);
    let old = contents(&template);
    let goal = dir.path().join("goal");
    copy(&template, &goal);
    change(&FaultyDisk::sound(), &goal).unwrap();
    let new = contents(&goal);
    assert_ne!(old, new);

    with_every_fault(&template, |disk, path, case| {
        let done = change(disk, path).is_ok();
        assert_eq!(contents(path), *if done { &new } else { &old }, "{case}");
        assert_sound(path, case);
        assert_eq!(contents(path), *if done { &new } else { &old }, "{case}, tidied up");
        if !done {
            change(&FaultyDisk::sound(), path).unwrap();
            assert_eq!(contents(path), new, "{case}, tried again");
        }
    });
}

#[test]
fn a_database_comes_into_being_or_does_not() {
    let dir = tempfile::tempdir().unwrap();
    with_every_fault(&dir.path().join("nothing"), |disk, path, case| {
        if change(disk, path).is_ok() {
            assert_eq!(contents(path).recordings.len(), 1, "{case}");
            assert_sound(path, case);
        } else {
            assert!(Database::open(path).is_err(), "{case}");
            assert!(!path.exists() || case.contains("for ever: true"), "{case}");
            change(&FaultyDisk::sound(), path).unwrap();
            assert_tidy(path);
        }
    });
}

/// The disk fails for ever after the first operation of that name on a file whose name ends so.
fn interrupted_after(operation: &str, file: &str, path: &Path) -> Result<()> {
    let probe = path.with_extension("probe");
    copy(path, &probe);
    let sound = FaultyDisk::sound();
    change(&sound, &probe).unwrap();
    let at = sound.log().iter().position(|l| l.starts_with(operation) && l.ends_with(file)).unwrap() + 1;
    change(&FaultyDisk::new(Fault::Device, at + 1, true), path)
}

/// The next writer, which can fail as well, at every step, finds and leaves the contents as they are.
fn finished_by_the_next_writer(template: &Path, expected: &Contents) {
    with_every_fault(template, |disk, path, case| {
        let begun = Database::begin(Arc::new(disk.clone()), path, None).map(drop);
        assert_eq!(contents(path), *expected, "{case}: {begun:?}");
        assert_sound(path, case);
        assert_eq!(contents(path), *expected, "{case}");
    });
}

#[test]
fn a_commit_that_is_interrupted_after_it_was_made_is_finished_by_the_next_writer() {
    let dir = tempfile::tempdir().unwrap();
    let template = dir.path().join("template");
    database_with_a(&template);
    let old_reader = Database::open(&template).unwrap();
    interrupted_after("publish ", "commit.json", &template).unwrap();

    let report = verify(&template).unwrap();
    assert_eq!(report.problems, []);
    let put_away = report.pending.iter().filter(|p| p.starts_with("put away")).count();
    assert_eq!(put_away, 2, "the table and the blob of before: {:?}", report.pending);
    let new = contents(&template);
    assert_eq!(new.blobs["setup a"], b"{\"start\":7}");
    for file in old_reader.files(tables::PROCESS_STATE, None).unwrap() {
        assert!(old_reader.place_of(&file).exists().unwrap(), "nothing was taken from an old reader");
    }
    finished_by_the_next_writer(&template, &new);
}

#[test]
fn a_commit_that_is_interrupted_before_it_was_made_is_taken_back_by_the_next_writer() {
    let dir = tempfile::tempdir().unwrap();
    let template = dir.path().join("template");
    database_with_a(&template);
    let old = contents(&template);
    interrupted_after("rename ", "-setup-00000.json.staged", &template).unwrap_err();

    let report = verify(&template).unwrap();
    assert_eq!(report.problems, []);
    let take_back = report.pending.iter().filter(|p| p.starts_with("take back")).count();
    assert!(take_back > 0, "{:?}", report.pending);
    assert_eq!(contents(&template), old);
    finished_by_the_next_writer(&template, &old);
}

#[test]
fn what_may_not_be_put_away_is_refused_before_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let (path, probe) = (dir.path().join("db"), dir.path().join("probe"));
    database_with_a(&path);
    let old = contents(&path);
    copy(&path, &probe);
    let sound = FaultyDisk::sound();
    change(&sound, &probe).unwrap();
    let at = sound.log().iter().position(|line| line.starts_with("check rights")).unwrap();

    let refused = change(&FaultyDisk::new(Fault::Device, at + 1, false), &path).unwrap_err();
    assert!(refused.to_string().starts_with("cannot take files out of "), "{refused}");
    let report = verify(&path).unwrap();
    assert_eq!((report.problems, report.pending), (vec![], vec![]));
    assert_eq!(contents(&path), old);
}

/// What a power cut can do is decided by the order of syncs and renames.
#[test]
fn everything_is_synced_before_it_is_relied_upon() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    database_with_a(&path);
    let disk = FaultyDisk::sound();
    change(&disk, &path).unwrap();
    let log = disk.log();
    let place = |what: &str| log.iter().position(|l| l == what).unwrap();
    let commit = place("publish commit.json");

    // Each file is synced after its last write, and all of them before the commit.
    for (n, line) in log[..commit].iter().enumerate().filter(|(_, l)| l.starts_with("write ")) {
        let name = line.strip_prefix("write ").unwrap();
        let is_synced = log[n..commit].iter().any(|l| *l == format!("sync {name}"));
        assert!(is_synced, "{name} is not synced: {log:#?}");
    }
    let begun = place("sync commit.json");
    let is_rename = |(_, line): &(usize, &String)| line.starts_with("rename");
    let moved: Vec<_> = log.iter().enumerate().filter(is_rename).map(|(n, _)| n).collect();
    let (first, last) = (moved[0], moved.iter().copied().filter(|n| *n < commit).max().unwrap());
    assert!(begun < first && last < commit, "what is moved is written down before: {log:#?}");
    for folder in ["core=Core_0", "core=Core_1", "recording=a", "recording=b", "data_event", "setup", "db"] {
        let synced = log[last..commit].contains(&format!("sync folder {folder}"));
        assert!(synced, "'{folder}' is not synced after the moves: {log:#?}");
    }
    assert_eq!(log[commit + 1], "sync folder log", "the commit is on the disk before anything is put away");
    assert!(moved.iter().filter(|n| **n > commit).count() >= 3, "the old table and blob, and the tip");
    let of_writer = format!("remove tree {}-", std::process::id());
    let removed = log.iter().position(|l| l.starts_with(&of_writer)).unwrap();
    assert!(removed > commit, "the folder of the writer is there until all is done");
}

#[test]
fn the_name_of_a_new_database_is_synced_before_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let disk = FaultyDisk::sound();
    change(&disk, &dir.path().join("db")).unwrap();
    let log = disk.log();
    let place = |what: &str| log.iter().position(|l| l == what).unwrap();
    let parent_of = dir.path().file_name().unwrap().to_str().unwrap();
    assert!(place(&format!("sync folder {parent_of}")) < place("publish commit.json"));
}
