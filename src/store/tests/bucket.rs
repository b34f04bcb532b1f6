//! A database in a bucket holds what one in a folder holds; each commit is made once or not at all, whatever
//! the network does; and a vacuum deletes what nobody needs.

use std::sync::atomic::Ordering;

use object_store::memory::InMemory;

use super::faulty_store::{Fault, FaultyStore};
use super::*;
use crate::error::ErrorKind;
use crate::store::bucket::Bucket;
use crate::store::layout;
use crate::store::location::Kind;
use crate::store::{repair_log, verify};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A store, and a folder for what is not in it yet.
struct Stored {
    store: Arc<InMemory>,
    scratch: tempfile::TempDir,
}

impl Stored {
    fn new() -> Self {
        Self { store: Arc::new(InMemory::new()), scratch: tempfile::tempdir().unwrap() }
    }

    /// The bucket, as a program sees it whose requests go wrong.
    fn with(&self, fault: Fault) -> (Location, Arc<FaultyStore>) {
        let faulty = FaultyStore::over(&self.store, fault);
        let bucket = Bucket::over(Arc::clone(&faulty) as _, self.scratch.path().to_path_buf());
        (Location(Kind::Bucket(Arc::new(bucket))), faulty)
    }

    fn at(&self) -> Location {
        self.with(Fault::None).0
    }

    fn objects(&self) -> Vec<String> {
        let Kind::Bucket(bucket) = self.at().0 else { return Vec::new() };
        let mut names: Vec<_> = bucket.list("").unwrap().into_iter().map(|object| object.name).collect();
        names.sort();
        names
    }

    fn assert_sound(&self) {
        let report = verify(self.at()).unwrap();
        assert!(report.problems.is_empty(), "{report:?}");
    }
}

fn add(at: &Location, name: &str, start: i64) -> Result<()> {
    let mut tx = begin(at)?;
    record(&mut tx, name, start)?;
    tx.commit()
}

fn names(at: Location) -> Vec<String> {
    let db = Database::open(at).unwrap();
    db.recordings().unwrap().iter().map(|r| r.name.clone()).collect()
}

#[test]
fn a_bucket_holds_what_a_folder_holds() {
    let (stored, dir) = (Stored::new(), tempfile::tempdir().unwrap());
    let folder = Location::from(&dir.path().join("db"));
    assert_eq!(Database::open(stored.at()).unwrap_err().kind(), ErrorKind::Database);
    for at in [&stored.at(), &folder] {
        for n in 0..20 {
            add(at, &format!("r{n}"), n * 1000).unwrap();
        }
        let mut tx = begin(at).unwrap();
        tx.drop_recording("r3").unwrap();
        derive(&mut tx, "r4", 7).unwrap();
        tx.commit().unwrap();
    }
    assert_eq!(contents(stored.at()), contents(&folder));
    let (db, other) = (Database::open(stored.at()).unwrap(), Database::open(&folder).unwrap());
    assert_eq!((db.count(), db.generation()), (other.count(), other.generation()));
    assert_eq!(db.names("r1", 4).unwrap(), other.names("r1", 4).unwrap());
    stored.assert_sound();
    let left = stored.scratch.path().join(".staging");
    assert!(!left.exists() || everything_in(&left).is_empty(), "nothing stays on this machine");
}

#[test]
fn readers_keep_what_they_opened_until_a_vacuum() {
    let stored = Stored::new();
    add(&stored.at(), "a", 0).unwrap();
    let before = contents(stored.at());
    let reader = Database::open(stored.at()).unwrap();
    let mut tx = begin(stored.at()).unwrap();
    tx.drop_recording("a").unwrap();
    tx.commit().unwrap();
    assert!(names(stored.at()).is_empty());
    for table in [tables::DATA_EVENT, tables::PROCESS_STATE] {
        for file in reader.files(table, None).unwrap() {
            let batches = read_batches(&reader.place_of(&file), table, None, 100).unwrap();
            assert!(batches.map(|batch| batch.unwrap().num_rows()).sum::<usize>() > 0);
        }
    }
    let report = verify(stored.at()).unwrap();
    assert_eq!((report.problems.len(), report.removed_files), (0, 4));
    let vacuum = |age| vacuum(real(), stored.at(), SystemTime::now(), age).unwrap();
    let young = vacuum(Duration::from_secs(3600));
    assert_eq!((young.files, young.kept), (0, 4), "a reader may be at work");
    assert_eq!(vacuum(Duration::ZERO).files, 4);
    assert_eq!(stored.objects().iter().filter(|name| name.contains("recording=")).count(), 0);
    add(&stored.at(), "a", 0).unwrap();
    assert_eq!(contents(stored.at()), before);
}

#[test]
fn what_a_dead_writer_left_is_deleted_when_it_is_old() {
    let stored = Stored::new();
    add(&stored.at(), "a", 0).unwrap();
    let before = contents(stored.at());
    let (dying, _) = stored.with(Fault::Dead(2));
    add(&dying, "b", 10).unwrap_err();
    let report = verify(stored.at()).unwrap();
    assert_eq!((report.problems.len(), report.removed_files), (0, 2));
    let at = |now| vacuum(real(), stored.at(), now, Duration::ZERO).unwrap();
    assert_eq!(at(SystemTime::now()).files, 0, "its writer could be at work");
    assert_eq!(at(SystemTime::now() + Duration::from_secs(2 * 24 * 3600)).files, 2);
    assert_eq!(contents(stored.at()), before);
}

#[test]
fn what_a_trial_of_the_bucket_left_waits_for_a_vacuum() {
    let stored = Stored::new();
    let (first, faulty) = stored.with(Fault::None);
    add(&first, "a", 0).unwrap();
    assert!(!stored.objects().iter().any(|name| name.starts_with(layout::PROMISE)));
    faulty.repeat();
    assert!(stored.objects().iter().any(|name| name.starts_with(layout::PROMISE)), "made again, late");
    let report = verify(stored.at()).unwrap();
    assert_eq!((report.problems.len(), report.removed_files), (0, 1), "{report:?}");
    let later = SystemTime::now() + Duration::from_secs(2 * 24 * 3600);
    assert_eq!(vacuum(real(), stored.at(), later, Duration::ZERO).unwrap().files, 1);
    stored.assert_sound();
    assert_eq!(names(stored.at()), ["a"]);
}

#[test]
fn a_vacuum_shortens_the_log_and_keeps_what_it_says() {
    let stored = Stored::new();
    for n in 0..90 {
        let mut tx = begin(stored.at()).unwrap();
        tx.set_recording(&format!("r{n}"), Some(n), None).unwrap();
        tx.commit().unwrap();
    }
    let (before, recordings) = (stored.objects().len(), names(stored.at()));
    let after = |time| vacuum(real(), stored.at(), SystemTime::now() + time, Duration::ZERO).unwrap().files;
    assert_eq!(after(HOUR), 0, "a writer could believe that one of the numbers is the next one");
    assert!(after(2 * DAY) > 20);
    assert!(stored.objects().len() + 20 < before);
    assert_eq!((names(stored.at()), recordings.len()), (recordings, 90));
    stored.assert_sound();
}

/// A commit that is made after a vacuum has deleted the one that had its number is none, and says so.
#[test]
fn a_number_that_was_deleted_is_not_used_again() {
    // One of those that are deleted, and the last one.
    for seen in [2, 15] {
        let stored = Stored::new();
        let empty = |n: i64| {
            let mut tx = begin(stored.at()).unwrap();
            tx.set_recording(&format!("r{n}"), Some(n), None).unwrap();
            tx.commit().unwrap();
        };
        (0..seen).for_each(empty);
        let old = stored.store.fork();
        (seen..80).for_each(empty);
        let state = || (names(stored.at()), Database::open(stored.at()).unwrap().generation());
        let before = state();
        vacuum(real(), stored.at(), SystemTime::now() + 2 * DAY, Duration::ZERO).unwrap();
        let next = layout::commit(u64::try_from(seen).unwrap() + 1);
        assert!(!stored.objects().contains(&next));
        let (late, faulty) = stored.with(Fault::None);
        faulty.see(old);
        let refused = add(&late, "late", 0).unwrap_err();
        assert!(refused.to_string().contains("it is not known whether the commit was made"), "{refused}");
        assert_eq!(state(), before);
        // Also when the network makes it again, late.
        faulty.repeat();
        assert_eq!(state(), before);
        add(&stored.at(), "next", 0).unwrap();
        assert_eq!(state().1, 81);
        stored.assert_sound();
    }
}

/// A writer that sleeps before it hears that its commit was made, while others make so many that a vacuum
/// deletes it and those behind it, says that it was made, and takes nothing back.
#[test]
fn a_commit_is_not_taken_back_after_a_vacuum() {
    let stored = Stored::new();
    let (slow, faulty) = stored.with(Fault::None);
    let at = stored.at();
    faulty.after_commit(move || {
        (0..80).for_each(|n| add(&at, &format!("r{n}"), n).unwrap());
        vacuum(real(), at, SystemTime::now() + 2 * DAY, Duration::ZERO).unwrap();
    });
    add(&slow, "slow", 0).unwrap();
    assert!(!stored.objects().contains(&layout::commit(1)), "the vacuum has deleted it");
    assert_eq!(names(stored.at()).len(), 81);
    stored.assert_sound();
}

/// Azure does not answer a request for the last bytes of an object.
#[test]
fn a_store_without_ranges_from_the_end_is_read() {
    let stored = Stored::new();
    let mut tx = begin(stored.at()).unwrap();
    for n in 0..60 {
        record(&mut tx, &format!("r{n}"), n).unwrap();
    }
    tx.commit().unwrap();
    (0..20).for_each(|n| add(&stored.at(), &format!("s{n}"), n).unwrap());
    let at = || stored.with(Fault::NoSuffix).0;
    assert_eq!(contents(at()), contents(stored.at()));
    assert_eq!(verify(at()).unwrap().problems, []);
    let Kind::Bucket(bucket) = at().0 else { return };
    bucket.put("x", bytes::Bytes::new()).unwrap();
    assert_eq!(bucket.tail("x", 10).unwrap(), Some((bytes::Bytes::new(), 0)));
    assert_eq!(bucket.tail("y", 10).unwrap(), None);
}

/// Only bytes that are right are kept for the next one who asks, and `verify` asks the store.
#[test]
fn damaged_bytes_are_not_kept() {
    let stored = Stored::new();
    add(&stored.at(), "a", 0).unwrap();
    let file = Database::open(stored.at()).unwrap().files(tables::PROCESS_STATE, None).unwrap().remove(0);
    let Kind::Bucket(other) = stored.at().0 else { return };
    let good = other.content(&file.path).unwrap().unwrap();
    let bad: Vec<u8> = good.iter().map(|byte| !byte).collect();
    let tail = good.len() - usize::try_from(file.seal().tail).unwrap();
    assert!(tail > 0);
    // The pages are damaged, and also the tail.
    for damaged in [[&bad[..tail], &good[tail..]].concat(), bad] {
        let at = stored.at();
        let db = Database::open(&at).unwrap();
        let is_read = || {
            read_batches(&db.place_of(&file), tables::PROCESS_STATE, None, 100)
                .and_then(|batches| batches.collect::<Result<Vec<_>>>())
                .is_ok()
        };
        other.put(&file.path, damaged.clone().into()).unwrap();
        assert!(!is_read());
        other.put(&file.path, good.clone()).unwrap();
        assert!(is_read());
        other.put(&file.path, damaged.into()).unwrap();
        assert_eq!(verify(&at).unwrap().problems.len(), 1);
        other.put(&file.path, good.clone()).unwrap();
    }
}

/// The repair of a checkpoint is seen by who has read it before.
#[test]
fn a_repaired_log_is_read_again() {
    let stored = Stored::new();
    let at = stored.at();
    let mut tx = begin(&at).unwrap();
    for _ in 0..6000 {
        tx.set_recording(&super::super::id::fresh(), None, None).unwrap();
    }
    tx.commit().unwrap();
    let checkpoint = layout::checkpoint(1, 0);
    let Kind::Bucket(other) = stored.at().0 else { return };
    let good = other.content(&checkpoint).unwrap().unwrap();
    assert!(good.len() > 64 << 10, "{}: the first blocks are not read with the index", good.len());
    let mut bad = good.to_vec();
    bad[100] ^= 1;
    other.put(&checkpoint, bad.into()).unwrap();
    Database::open(&at).unwrap().recordings().unwrap_err();
    assert_eq!(repair_log(real(), &at).unwrap(), std::slice::from_ref(&checkpoint));
    assert_eq!(Database::open(&at).unwrap().recordings().unwrap().len(), 6000);
    assert_eq!(repair_log(real(), &at).unwrap(), [""; 0]);
}

/// Each fault at each request of a commit: the database is the old one or the new one; an error says that
/// it is the old one, unless it says that this is not known; and the next writer is not disturbed.
#[test]
fn a_commit_is_made_once_or_not_at_all() {
    type Kind = fn(usize) -> Fault;
    let faults: [(Kind, bool); 4] =
        [(Fault::Before, true), (Fault::After, true), (Fault::Dead, false), (Fault::DeadAfter, false)];
    for (fault, writer_lives) in faults {
        for n in 0.. {
            let stored = Stored::new();
            // The eighth commit completes a checkpoint, too.
            for other in 0..7 {
                add(&stored.at(), &format!("r{other}"), other).unwrap();
            }
            let old = contents(stored.at());
            let (at, faulty) = stored.with(fault(n));
            let done = add(&at, "new", 100);
            let found = contents(stored.at());
            let is_new = found.recordings.len() == 8;
            assert_eq!(found.recordings.len() - usize::from(is_new), 7);
            let what = format!("{:?}: {done:?}", fault(n));
            match &done {
                Ok(()) => assert!(is_new, "{what}"),
                Err(e) if e.to_string().contains("not known") => {}
                Err(_) => assert_eq!(found, old, "{what}"),
            }
            stored.assert_sound();
            faulty.repeat();
            // A commit of which it was not known may be made late; everything else stays.
            let is_unknown = done.as_ref().is_err_and(|e| e.to_string().contains("not known"));
            let later = contents(stored.at());
            assert!(later == found || is_unknown && later.recordings.len() == 8, "{what}");
            let is_new = later.recordings.len() == 8;
            stored.assert_sound();
            add(&stored.at(), "next", 200).unwrap();
            assert_eq!(names(stored.at()).len(), 8 + usize::from(is_new), "{what}");
            if faulty.requests.load(Ordering::SeqCst) <= n {
                assert!(n > 6, "every file, the commit, its number and the checkpoint are requests: {n}");
                break;
            }
            assert!(!writer_lives || done.is_ok() || !is_new, "{what}");
        }
    }
}

#[test]
fn many_writers_lose_no_commit_and_make_none_twice() {
    let stored = Stored::new();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let stored = &stored;
            scope.spawn(move || {
                for n in 0..5 {
                    // Lost answers at places that differ.
                    let (at, _) = stored.with(Fault::After((writer * 3 + n * 5) % 9));
                    let name = format!("w{writer}-{n}");
                    if let Err(e) = add(&at, &name, n as i64) {
                        assert!(!e.to_string().contains("not known"), "{e}");
                        add(&stored.at(), &name, n as i64).unwrap();
                    }
                }
            });
        }
    });
    let mut found = names(stored.at());
    found.sort();
    let mut expected: Vec<_> =
        (0..8).flat_map(|writer| (0..5).map(move |n| format!("w{writer}-{n}"))).collect();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(Database::open(stored.at()).unwrap().generation(), 40);
    stored.assert_sound();
}

#[test]
fn of_two_writers_of_one_recording_the_second_fails() {
    let stored = Stored::new();
    let (mut first, mut second) = (begin(stored.at()).unwrap(), begin(stored.at()).unwrap());
    record(&mut first, "a", 0).unwrap();
    record(&mut second, "a", 1).unwrap();
    first.commit().unwrap();
    let before = contents(stored.at());
    let refused = second.commit().unwrap_err();
    assert!(refused.to_string().contains("another btfdb has just changed the recording 'a'"), "{refused}");
    assert_eq!(contents(stored.at()), before);
    assert_eq!(
        stored.objects().iter().filter(|name| name.contains("recording=a")).count(),
        4,
        "its own are gone"
    );
}

#[test]
fn a_store_that_makes_an_object_twice_is_refused() {
    let stored = Stored::new();
    let (at, _) = stored.with(Fault::MakesTwice);
    let refused = begin(&at).unwrap_err();
    assert!(refused.to_string().contains("it makes an object twice"), "{refused}");
    assert!(stored.objects().is_empty());
}

#[test]
fn a_bucket_with_other_objects_is_refused() {
    let stored = Stored::new();
    let Kind::Bucket(bucket) = stored.at().0 else { return };
    bucket.put("photos/cat.png", bytes::Bytes::from_static(b"cat")).unwrap();
    let refused = begin(stored.at()).unwrap_err();
    assert!(refused.to_string().contains("it holds 'photos/cat.png'"), "{refused}");
}
