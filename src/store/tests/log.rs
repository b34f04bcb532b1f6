//! The log: what is read of it, its checkpoints, what is kept for readers of older states, and what a vacuum
//! deletes.

use std::fs;

use super::*;
use crate::error::ErrorKind;
use crate::store::log::{as_written, audit, files_of_log, pieces_of};
use crate::store::verify;
use crate::store::{layout, repair_log};

/// A small recording: one table, one file.
fn add(path: &Path, name: &str, start: i64) {
    let mut tx = begin(path).unwrap();
    derive(&mut tx, name, start).unwrap();
    tx.set_recording(name, Some(start), None).unwrap();
    tx.commit().unwrap();
}

fn drop_one(path: &Path, name: &str) {
    let mut tx = begin(path).unwrap();
    tx.drop_recording(name).unwrap();
    tx.commit().unwrap();
}

/// The recordings and their begins, looked up one by one and all at once.
fn known(path: &Path, names: &[String]) -> Vec<(String, i64)> {
    let db = Database::open(path).unwrap();
    let all: Vec<_> =
        db.recordings().unwrap().iter().map(|r| (r.name.clone(), r.begin_at.unwrap())).collect();
    let one = Database::open(path).unwrap();
    for name in names {
        let found = one.recording(name).unwrap().map(|r| r.begin_at.unwrap());
        assert_eq!(found, all.iter().find(|(n, _)| n == name).map(|(_, begin)| *begin), "{name}");
    }
    for every in 1..4 {
        let asked: Vec<&str> = names.iter().step_by(every).map(String::as_str).collect();
        let found = one.named(&asked).unwrap();
        let is_asked = |(name, _): &&(String, i64)| asked.contains(&name.as_str());
        let expected: Vec<_> = all.iter().filter(is_asked).map(|(name, _)| name).collect();
        assert_eq!(found.iter().map(|r| &r.name).collect::<Vec<_>>(), expected);
    }
    assert_eq!(one.count(), all.len() as u64);
    for (prefix, max) in [("", 2), ("", 100), ("r1", 3), ("r1", 100), ("r24", 1), ("s", 9)] {
        let mut expected: Vec<_> =
            all.iter().map(|(n, _)| n.clone()).filter(|n| n.starts_with(prefix)).collect();
        expected.sort();
        expected.truncate(max);
        assert_eq!(one.names(prefix, max).unwrap(), expected, "{prefix}, {max}");
    }
    let rows = 3 * all.len() as u64;
    assert_eq!((one.rows(tables::PROCESS_STATE), one.rows(tables::DATA_EVENT)), (rows, 0));
    all
}

/// 150 commits that add, change and remove, against a list in memory; also without the checkpoints.
#[test]
fn the_log_says_what_the_commits_did() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let mut expected: Vec<(String, i64)> = Vec::new();
    let names: Vec<_> = (0..25).map(|n| format!("r{n}")).collect();
    for n in 0..150_i64 {
        let name = &names[(n * 7919 % 25) as usize];
        match expected.iter().position(|(present, _)| present == name) {
            Some(at) if n % 3 == 0 => {
                drop_one(&path, name);
                expected.remove(at);
            }
            Some(at) => {
                add(&path, name, n);
                expected[at].1 = n;
            }
            None => {
                add(&path, name, n);
                expected.push((name.clone(), n));
            }
        }
        if n % 10 == 9 {
            assert_eq!(known(&path, &names), expected, "after {n}");
        }
    }
    assert_eq!(verify(&path).unwrap().problems, []);
    // 150 = 2 · 64 + 2 · 8 + 6
    let pieces = pieces_of(&(&path).into(), 150).unwrap();
    let levels = |level: Option<u32>| pieces.iter().filter(|piece| piece.level == level).count();
    assert_eq!([None, Some(0), Some(1), Some(2), Some(3)].map(levels), [6, 0, 2, 2, 0]);

    let copied = dir.path().join("copy");
    copy(&path, &copied);
    for file in files_of_log(&(&copied).into()).unwrap().into_iter().filter(|file| file.level.is_some()) {
        fs::remove_file(copied.join(file.path())).unwrap();
    }
    fs::remove_file(copied.join(layout::TIP)).unwrap();
    assert_eq!(known(&copied, &names), expected, "the commits alone say it");

    assert!(vacuum(real(), &path, SystemTime::now(), Duration::ZERO).unwrap().files > 80);
    assert_eq!(known(&path, &names), expected, "after the vacuum");
    assert_eq!(verify(&path).unwrap().problems, []);
    for n in 150..280 {
        add(&path, "last", n);
    }
    expected.push(("last".into(), 279));
    assert_eq!(known(&path, &names), expected, "more commits on top of what is left");
    assert_tidy(&path);
}

/// A commit of many recordings has a checkpoint of its own: one of them is found without the others.
#[test]
fn a_large_commit_is_not_read_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    add(&path, "first", 0);
    let names: Vec<_> = (0..150).map(|n| format!("r{n:03}")).collect();
    let mut tx = begin(&path).unwrap();
    for (n, name) in (1..).zip(&names) {
        derive(&mut tx, name, n).unwrap();
        tx.set_recording(name, Some(n), None).unwrap();
    }
    tx.commit().unwrap();
    drop_one(&path, "r007");
    let pieces = pieces_of(&(&path).into(), 3).unwrap();
    assert_eq!(pieces.iter().map(|file| file.level).collect::<Vec<_>>(), [None, Some(0), None]);
    let expected = known(&path, &names);
    assert_eq!(expected.len(), 150);
    assert_eq!(verify(&path).unwrap().problems, []);
    // It can do without.
    fs::remove_file(path.join(layout::checkpoint(2, 0))).unwrap();
    assert_eq!(known(&path, &names), expected);
    assert_tidy(&path);
}

#[test]
fn readers_of_an_older_state_keep_their_files_until_the_vacuum() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    database_with_a(&path);
    let old = Database::open(&path).unwrap();
    let file = old.files(tables::PROCESS_STATE, Some("a")).unwrap().remove(0);
    drop_one(&path, "a");
    assert!(Database::open(&path).unwrap().recordings().unwrap().is_empty());
    let rows = |db: &Database| -> Result<usize> {
        let batches = read_batches(&db.place_of(&file), tables::PROCESS_STATE, None, 100)?;
        batches.map(|batch| batch.map(|b| b.num_rows())).sum()
    };
    assert_eq!(rows(&old).unwrap(), 3);

    let young = vacuum(real(), &path, SystemTime::now(), Duration::from_secs(3600)).unwrap();
    assert_eq!((young.files, young.kept), (0, 4));
    assert_eq!(rows(&old).unwrap(), 3, "taken out later");
    let done = vacuum(real(), &path, SystemTime::now(), Duration::ZERO).unwrap();
    assert_eq!((done.files, done.kept), (4, 0));
    assert!(done.bytes > 1000);
    assert_eq!(rows(&old).unwrap_err().kind(), ErrorKind::Io);
    assert_tidy(&path);
}

/// Any damaged byte of the log is an error that says so, or changes nothing.
#[test]
fn damage_of_the_log_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    for n in 0..17 {
        add(&path, &format!("r{n}"), n);
    }
    let expected = known(&path, &[]);
    for file in pieces_of(&(&path).into(), 17).unwrap() {
        let name = file.path();
        let file = path.join(&name);
        let good = fs::read(&file).unwrap();
        for at in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            fs::write(&file, &bad).unwrap();
            let read = Database::open(&path).and_then(|db| {
                Ok(db.recordings()?.iter().map(|r| (r.name.clone(), r.begin_at.unwrap())).collect::<Vec<_>>())
            });
            match read {
                Ok(found) => assert_eq!(found, expected, "{name}, byte {at}"),
                Err(e) => assert_eq!(e.kind(), ErrorKind::Database, "{name}, byte {at}: {e}"),
            }
        }
        fs::write(&file, &good).unwrap();
    }
    fs::remove_file(path.join(layout::commit(17))).unwrap();
    let missing = Database::open(&path).unwrap_err();
    assert!(missing.to_string().contains("a commit of the log is missing"), "{missing}");
}

/// A checkpoint of checkpoints is compared with those, and a wrong one is found once.
#[test]
fn a_checkpoint_that_says_something_else_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    for n in 0..64 {
        let mut tx = begin(&path).unwrap();
        tx.set_recording(&format!("r{}", n % 5), Some(n), None).unwrap();
        tx.commit().unwrap();
    }
    assert!(audit(&(&path).into()).unwrap().is_empty());
    for file in [(64, 2), (24, 1)].map(|(number, level)| layout::checkpoint(number, level)) {
        let place = path.join(&file);
        let good = fs::read(&place).unwrap();
        let number: u64 = if file.contains("24") { 24 } else { 64 };
        let after = number - if number == 24 { 8 } else { 64 };
        let content = format!(
            r#"[{after},{{"number":{number},"creator":"","time_scale":"ns","recordings":0,"rows":{{}},"next_ordinal":0,"next_part":0}},[],[]]"#
        );
        let name = file.strip_prefix("log/").unwrap();
        fs::write(&place, as_written(name, content.as_bytes()).unwrap()).unwrap();
        let found: Vec<_> = audit(&(&path).into()).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, [file]);
        fs::write(&place, good).unwrap();
    }
}

/// A reader that was opened before a checkpoint was made reads those that it replaces.
#[test]
fn what_was_replaced_lately_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    for n in 0..80 {
        let mut tx = begin(&path).unwrap();
        tx.set_recording(&format!("r{n}"), Some(n), None).unwrap();
        tx.commit().unwrap();
    }
    let old = SystemTime::now() - Duration::from_secs(7200);
    let age = |name: &str| fs::File::open(path.join(name)).unwrap().set_modified(old).unwrap();
    let last = layout::checkpoint(64, 2);
    for file in files_of_log(&(&path).into()).unwrap().into_iter().map(layout::LogFile::path) {
        if file != last {
            age(&file);
        }
    }
    let vacuum = || {
        vacuum(real(), &path, SystemTime::now(), Duration::from_secs(3600)).unwrap();
        let left = files_of_log(&(&path).into()).unwrap();
        left.into_iter().filter(|file| file.number <= 16).map(|f| (f.number, f.level)).collect::<Vec<_>>()
    };
    assert_eq!(vacuum(), [(8, Some(1)), (16, Some(1))], "the commits were replaced long ago");
    age(&last);
    assert_eq!(vacuum(), []);
    assert_eq!(Database::open(&path).unwrap().recordings().unwrap().len(), 80);
}

/// Checkpoints that could not be made are not needed: a commit with one of its own is found without them.
#[test]
fn a_vacuum_keeps_a_large_commit_that_was_not_folded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    add(&path, "first", 0);
    let mut tx = begin(&path).unwrap();
    for n in 0..150 {
        let name = format!("r{n:03}");
        derive(&mut tx, &name, n).unwrap();
        tx.set_recording(&name, Some(n), None).unwrap();
    }
    tx.commit().unwrap();
    assert!(path.join(layout::checkpoint(2, 0)).exists());
    for n in 0..80 {
        add(&path, "last", n);
    }
    for (number, level) in [(8, 1), (64, 2)] {
        fs::remove_file(path.join(layout::checkpoint(number, level))).unwrap();
    }
    assert!(vacuum(real(), &path, SystemTime::now(), Duration::ZERO).unwrap().files > 0);
    assert_eq!(Database::open(&path).unwrap().recordings().unwrap().len(), 152);
}

/// Sums find accidents only. A file of the log that no writer has written is damage, too: nothing is counted
/// on from its numbers.
#[test]
fn what_no_writer_writes_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    (0..8).for_each(|n| add(&path, "a", n));
    let known = Database::open(&path).unwrap().recordings().unwrap().to_vec();
    let head = |number: u64| {
        format!(
            r#"{{"number":{number},"creator":"","time_scale":"ns","recordings":0,"rows":{{}},"next_ordinal":0,"next_part":0}}"#
        )
    };
    let write = |name: &str, content: &str| {
        fs::write(path.join("log").join(name), as_written(name, content.as_bytes()).unwrap()).unwrap();
    };
    let is_refused = || {
        let error = Database::open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Database, "{error}");
        assert!(error.to_string().contains("name of another one"), "{error}");
    };
    let checkpoint = layout::checkpoint(8, 1).strip_prefix("log/").unwrap().to_owned();
    for (after, last) in [(1, 8), (8, 8), (9, 8), (u64::MAX, 8), (0, 9), (0, 0)] {
        write(&checkpoint, &format!("[{after},{},[],[]]", head(last)));
        is_refused();
        assert_eq!(audit(&(&path).into()).unwrap().len(), 1, "{after}, {last}");
        assert_eq!(repair_log(real(), &path).unwrap(), [layout::checkpoint(8, 1)]);
        assert_eq!(Database::open(&path).unwrap().recordings().unwrap(), known, "{after}, {last}");
        assert_eq!(repair_log(real(), &path).unwrap(), [""; 0]);
    }
    // Numbers and levels that there are not.
    let last = [layout::checkpoint(8, 2), layout::checkpoint(9, u32::MAX), layout::commit(u64::MAX)];
    for name in last.iter().map(|name| name.strip_prefix("log/").unwrap()) {
        fs::write(path.join("log").join(name), "x").unwrap();
        assert_eq!(Database::open(&path).unwrap().generation(), 8, "{name}");
        assert!(repair_log(real(), &path).unwrap().is_empty(), "{name}");
        vacuum(real(), &path, SystemTime::now(), Duration::ZERO).unwrap();
        fs::remove_file(path.join("log").join(name)).unwrap();
    }
    let name = layout::commit(9).strip_prefix("log/").unwrap().to_owned();
    write(&name, &format!(r#"{{"head":{},"puts":[]}}"#, head(0)));
    is_refused();
}
