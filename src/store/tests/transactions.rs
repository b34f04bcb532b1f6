//! What a transaction promises when nothing goes wrong.

use std::fs;

use super::*;
use crate::error::ErrorKind;
use crate::store::verify;

#[test]
fn what_was_committed_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("engine.db");
    database_with_a(&path);
    let db = Database::open(&path).unwrap();
    let files = db.files(tables::DATA_EVENT, Some("a")).unwrap();
    let paths: Vec<_> = files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "data_event/recording=a/core=Core_0/part-00000.parquet",
            "data_event/recording=a/core=Core_1/part-00000.parquet"
        ]
    );
    assert_eq!((files[0].rows, files[0].begin_at, files[0].end_at), (5, Some(0), Some(40)));
    let states = &db.files(tables::PROCESS_STATE, None).unwrap()[0];
    assert_eq!((states.begin_at, states.end_at), (Some(0), Some(30)), "of both columns");
    assert_eq!(blob(&db, "setup").unwrap().unwrap(), b"{\"start\":0}");
    assert_eq!(blob(&db, "state").unwrap(), None);
    assert_eq!(db.time_scale(), TimeScale::Ns);
    assert_eq!(contents(&path).rows["data_event a Some(\"Core_0\")"], accesses(0, 5));
    assert_tidy(&path);
}

#[test]
fn nothing_is_visible_before_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    database_with_a(&path);
    let (before, files) = (contents(&path), everything_in(&path));

    let mut tx = begin(&path).unwrap();
    record(&mut tx, "b", 100).unwrap();
    tx.drop_recording("a").unwrap();
    assert_eq!(contents(&path), before);
    let parquet =
        |names: &[String]| names.iter().filter(|n| n.ends_with(".parquet")).cloned().collect::<Vec<_>>();
    assert_eq!(parquet(&everything_in(&path)), parquet(&files));
    assert!(tx.has_recording("b").unwrap() && !tx.has_recording("a").unwrap());
    let staged = tx.files(tables::DATA_EVENT, "b").unwrap();
    assert_eq!(staged.len(), 2);
    assert!(
        staged.iter().all(|(_, place)| place.exists().unwrap()),
        "the files can be read before the commit"
    );
    drop(tx);

    assert_eq!(contents(&path), before);
    assert_eq!(everything_in(&path), files);
}

#[test]
fn a_first_transaction_that_fails_leaves_no_folder() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let mut tx = begin(&path).unwrap();
    record(&mut tx, "a", 0).unwrap();
    assert!(Database::open(&path).is_err());
    drop(tx);
    assert!(!path.exists());

    fs::create_dir(&path).unwrap();
    drop(begin(&path).unwrap());
    assert_eq!(everything_in(&path), Vec::<String>::new(), "a folder that was there stays, and stays empty");
    database_with_a(&path);
    assert_tidy(&path);
}

#[test]
fn a_name_is_never_given_to_another_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let table = tables::PROCESS_STATE;
    let mut seen = Vec::new();
    database_with_a(&path);
    for round in 1..4 {
        let old = Database::open(&path).unwrap();
        let old_file = old.files(table, Some("a")).unwrap().remove(0);
        assert!(!seen.contains(&old_file.path), "{} again", old_file.path);
        seen.push(old_file.path.clone());

        let mut tx = begin(&path).unwrap();
        if round == 2 {
            tx.drop_recording("a").unwrap();
            tx.commit().unwrap();
            tx = begin(&path).unwrap();
            record(&mut tx, "a", round).unwrap();
        } else {
            derive(&mut tx, "a", round).unwrap();
        }
        tx.commit().unwrap();
        assert!(old.place_of(&old_file).exists().unwrap(), "an old reader finds its file");
        assert_ne!(
            old.place_of(&old_file).path(),
            path.join(&old_file.path),
            "out of the sight of other engines"
        );
        assert_tidy(&path);
    }
}

/// A commit may take a file out of its place between the look for it and each opening.
#[test]
fn a_reader_finds_a_file_that_is_put_away_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let table = tables::PROCESS_STATE;
    database_with_a(&path);
    let db = Database::open(&path).unwrap();
    let file = db.files(table, Some("a")).unwrap().remove(0);
    let (before, after) = (db.place_of(&file), db.place_of(&file));
    let rows = |batches: &mut dyn Iterator<Item = Result<RecordBatch>>| {
        batches.map(|batch| batch.unwrap().num_rows() as u64).sum::<u64>()
    };
    let mut begun = read_batches(&before, table, None, 1).unwrap();
    let mut tx = begin(&path).unwrap();
    tx.drop_recording("a").unwrap();
    tx.commit().unwrap();
    assert_eq!(rows(&mut begun), file.rows);
    assert_eq!(rows(&mut read_batches(&after, table, None, 1).unwrap()), file.rows);
}

#[test]
fn a_recording_can_be_replaced_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    database_with_a(&path);
    let mut tx = begin(&path).unwrap();
    tx.drop_recording("a").unwrap();
    record(&mut tx, "a", 1000).unwrap();
    assert_eq!(tx.files(tables::DATA_EVENT, "a").unwrap().len(), 2, "of the new state");
    tx.commit().unwrap();
    let new = contents(&path);
    assert_eq!(new.blobs["setup a"], b"{\"start\":1000}");
    assert_eq!(new.rows["process_state a None"], states(1000, 3));
    assert_eq!(new.recordings.len(), 1);
    assert_tidy(&path);

    let mut tx = begin(&path).unwrap();
    tx.drop_recording("a").unwrap();
    tx.commit().unwrap();
    assert_tidy(&path);
    assert!(
        everything_in(&path)
            .iter()
            .all(|name| [".lock", ".reserve"].contains(&name.as_str()) || name.starts_with("log"))
    );
    assert_eq!(verify(&path).unwrap().problems, []);
}

#[test]
fn changes_of_mind_leave_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    database_with_a(&path);
    let mut tx = begin(&path).unwrap();
    record(&mut tx, "a", 1).unwrap();
    record(&mut tx, "b", 1).unwrap();
    tx.drop_recording("a").unwrap();
    tx.drop_recording("b").unwrap();
    record(&mut tx, "b", 2).unwrap();
    tx.commit().unwrap();
    assert_tidy(&path);
    let contents = contents(&path);
    assert_eq!(contents.recordings.len(), 1);
    assert_eq!(contents.blobs["setup b"], b"{\"start\":2}");
}

#[test]
fn writers_of_different_recordings_do_not_disturb_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let (mut first, mut second) = (begin(&path).unwrap(), begin(&path).unwrap());
    record(&mut first, "a", 0).unwrap();
    record(&mut second, "b", 100).unwrap();
    let mut third = begin(&path).unwrap();
    record(&mut third, "a", 200).unwrap();
    first.commit().unwrap();
    second.commit().unwrap();
    let refused = third.commit().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Database);
    assert!(refused.to_string().contains("another btfdb has just changed the recording 'a'"), "{refused}");
    assert_tidy(&path);
    let recordings = contents(&path).recordings;
    assert_eq!(recordings.iter().map(|r| r.0.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(Database::open(&path).unwrap().generation(), 2);
}

/// Each thread adds its own recordings, and one reader looks at the database all the time.
#[test]
fn many_writers_lose_and_double_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    std::thread::scope(|scope| {
        let path = &path;
        let write = |writer| {
            move || {
                for n in 0..6 {
                    let mut tx = begin(path).unwrap();
                    record(&mut tx, &format!("r{writer}-{n}"), 0).unwrap();
                    tx.commit().unwrap();
                }
            }
        };
        let writers: Vec<_> = (0..4).map(|writer| scope.spawn(write(writer))).collect();
        let mut seen = 0;
        while seen < 24 && !writers.iter().all(|writer| writer.is_finished()) {
            let Ok(db) = Database::open(path) else { continue };
            let found = db.recordings().unwrap().len() as u64;
            assert!(found >= seen && found == db.count());
            seen = found;
        }
    });
    assert_eq!(Database::open(&path).unwrap().generation(), 24);
    assert_tidy(&path);
    assert_eq!(verify(&path).unwrap().problems, []);
}

#[test]
fn writers_work_on_threads_and_the_order_of_the_files_is_that_of_the_calls() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let mut tx = begin(&path).unwrap();
    let writers: Vec<_> = (0..4).map(|_| tx.writer(tables::PROCESS_STATE, "a", None).unwrap()).collect();
    let finished = std::thread::scope(|scope| {
        let work = |(n, mut w): (usize, super::super::TableWriter)| {
            w.write(&states(n as i64 * 100, 2)).unwrap();
            w.finish().unwrap()
        };
        let threads: Vec<_> = writers.into_iter().enumerate().map(|w| scope.spawn(move || work(w))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>()
    });
    finished.into_iter().rev().for_each(|f| tx.add(f).unwrap());
    tx.set_recording("a", None, None).unwrap();
    tx.commit().unwrap();
    let files = Database::open(&path).unwrap().files(tables::PROCESS_STATE, Some("a")).unwrap();
    assert_eq!(files.iter().filter_map(|f| f.begin_at).collect::<Vec<_>>(), [0, 100, 200, 300]);
}

#[test]
fn a_file_without_a_recording_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let mut tx = begin(&path).unwrap();
    derive(&mut tx, "nobody", 0).unwrap();
    assert_eq!(tx.commit().unwrap_err().kind(), ErrorKind::Bug);
    assert!(!path.exists());
}

#[test]
fn what_is_no_database_is_named_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    assert!(Database::open(&missing).unwrap_err().to_string().contains("does not exist"));
    assert!(Database::begin(real(), &missing, None).is_err());
    assert!(!missing.exists());
    assert!(begin(missing.join("db")).unwrap_err().to_string().contains("no folder"));

    let folder = dir.path().join("photos");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("cat.jpg"), "").unwrap();
    assert!(Database::open(&folder).unwrap_err().to_string().contains("not a btfdb database"));
    assert!(begin(&folder).unwrap_err().to_string().contains("cat.jpg"));
    assert!(Database::begin(real(), &folder, None).is_err());
    assert_eq!(everything_in(&folder), ["cat.jpg"]);

    let file = folder.join("cat.jpg");
    assert!(Database::open(&file).unwrap_err().to_string().contains("is a file"));
    assert!(begin(&file).unwrap_err().to_string().contains("is a file"));
}

/// Others call folders `log`, `.staging` or `.removed`, and files `.lock`, too.
#[test]
fn what_others_call_as_a_database_does_is_left_alone() {
    let foreign = [
        &["log/app.log"][..],
        &["log"],
        &[".lock", "log/app.log", "main.c"],
        &[".lock", "main.c"],
        &[".lock", ".staging/mine/x"],
        &[".staging/17-mine/x"],
        &[".removed/old/x"],
        &[".lock", "log/app.log"],
    ];
    for (case, empty_lock) in foreign.into_iter().flat_map(|case| [(case, false), (case, true)]) {
        let dir = tempfile::tempdir().unwrap();
        for name in case {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if empty_lock && *name == ".lock" { "" } else { "precious" }).unwrap();
        }
        let before = everything_in(dir.path());
        let refused = begin(dir.path()).unwrap_err();
        assert!(refused.to_string().contains("neither a btfdb database nor empty"), "{refused}");
        assert_eq!(everything_in(dir.path()), before);
        for name in case.iter().filter(|name| !empty_lock || **name != ".lock") {
            assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"precious", "{name}");
        }
    }
}

/// A place that cannot be read may be a database.
#[cfg(unix)]
#[test]
fn nothing_is_done_where_it_is_not_known_whether_there_is_a_database() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    fs::create_dir_all(path.join("log")).unwrap();
    // Looking at it fails: a link to itself.
    std::os::unix::fs::symlink("tip", path.join("log/tip")).unwrap();
    assert_eq!(Database::is_at(&path).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(begin(&path).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(everything_in(&path), ["log", "log/tip"]);
}

#[test]
fn the_time_scale_of_a_database_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let in_ps = || Database::begin(real(), &path, Some(TimeScale::Ps));
    in_ps().unwrap().commit().unwrap();
    assert_eq!(Database::open(&path).unwrap().time_scale(), TimeScale::Ps);
    assert_eq!(begin(&path).unwrap().time_scale(), TimeScale::Ps);
}
