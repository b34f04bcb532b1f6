//! File systems that are not like that of the machine of the tests: of a network, or with names whose capital
//! letters do not matter. Also what is done while others want to commit. Not for disks that fail (see
//! `faults`).

use std::fs::{self, File};
use std::io;

use super::*;
use crate::error::ErrorKind;
use crate::store::folder::Folder;
use crate::store::layout::LOCK;
use crate::store::lock::Lock;
use crate::store::{DiskFile, verify};

type Hook = fn(&Path, &Path) -> io::Result<()>;

/// A real disk that does something before it removes, and after it has renamed.
#[derive(Debug, Clone, Copy)]
struct OddDisk {
    /// Of a file or a folder, which is given twice.
    before_removing: Hook,
    after_renaming: Hook,
}

impl Disk for OddDisk {
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_dir_all(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        RealDisk.create(path)
    }

    fn open_lock(&self, path: &Path) -> io::Result<File> {
        RealDisk.open_lock(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)?;
        (self.after_renaming)(from, to)
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.publish(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        (self.before_removing)(path, path)?;
        RealDisk.remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_dir(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        (self.before_removing)(path, path)?;
        RealDisk.remove_dir_all(path)
    }

    fn check_rights(&self, folder: &Path) -> io::Result<()> {
        RealDisk.check_rights(folder)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_dir(path)
    }
}

const NOTHING: Hook = |_, _| Ok(());

/// NFS keeps a removed file that is open under another name, so that its folder is not empty.
fn keep_what_is_open(folder: &Path, _: &Path) -> io::Result<()> {
    let lock = folder.join(LOCK);
    if folder.is_dir() && File::open(&lock).is_ok_and(|file| file.try_lock().is_err()) {
        for name in everything_in(folder) {
            fs::remove_file(folder.join(name)).unwrap();
        }
        fs::write(folder.join(".nfs0001"), "").unwrap();
        return Err(io::ErrorKind::DirectoryNotEmpty.into());
    }
    Ok(())
}

#[test]
fn commands_follow_each_other_on_a_file_system_that_keeps_open_files() {
    let disk: Arc<dyn Disk> =
        Arc::new(OddDisk { before_removing: keep_what_is_open, after_renaming: NOTHING });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    for n in 0..3 {
        let mut tx = Database::begin(Arc::clone(&disk), &path, Some(TimeScale::Ns)).unwrap();
        record(&mut tx, &format!("r{n}"), n).unwrap();
        tx.commit().unwrap();
        let left = everything_in(&path).into_iter().find(|name| name.starts_with(".staging"));
        assert_eq!(left, None, "after commit {n}");
    }
    assert_tidy(&path);
}

/// A folder of a writer that cannot be removed, with nothing in it that counts, keeps nobody away.
#[test]
fn an_empty_folder_that_stays_is_no_unfinished_change() {
    fn never(path: &Path, _: &Path) -> io::Result<()> {
        if path.parent().is_some_and(|parent| parent.ends_with(".staging")) {
            everything_in(path).iter().for_each(|name| fs::remove_file(path.join(name)).unwrap());
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        Ok(())
    }
    let disk: Arc<dyn Disk> = Arc::new(OddDisk { before_removing: never, after_renaming: NOTHING });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    for n in 0..3 {
        let mut tx = Database::begin(Arc::clone(&disk), &path, Some(TimeScale::Ns)).unwrap();
        record(&mut tx, &format!("r{n}"), n).unwrap();
        tx.commit().unwrap();
    }
    assert!(everything_in(&path).iter().any(|name| name.starts_with(".staging/")), "this tests nothing");
    drop(begin(&path).unwrap());
    assert_tidy(&path);
}

/// A vacuum deletes much, and others wait for the lock meanwhile.
#[test]
fn a_vacuum_deletes_while_others_commit() {
    fn others_can_commit(path: &Path, _: &Path) -> io::Result<()> {
        let root = path.ancestors().find(|root| root.ends_with("db")).unwrap();
        // The folder of the writer is removed at last.
        if path.parent().is_some_and(|parent| parent.ends_with(".staging")) {
            return Ok(());
        }
        let lock = Lock::try_take(&Folder::new(real(), root), LOCK).unwrap();
        lock.map(drop).ok_or_else(|| io::Error::other("the lock is held"))
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    for n in 0..90 {
        let mut tx = begin(&path).unwrap();
        tx.drop_recording("a").unwrap();
        derive(&mut tx, "a", n).unwrap();
        tx.set_recording("a", None, None).unwrap();
        tx.commit().unwrap();
    }
    let disk = Arc::new(OddDisk { before_removing: others_can_commit, after_renaming: NOTHING });
    let report = vacuum(disk, &path, SystemTime::now(), Duration::ZERO).unwrap();
    assert!(report.files > 89 + 16, "{report:?}");
    assert_tidy(&path);
}

/// Two names that are one place: as of `idle` and `Idle` where capital letters do not matter.
#[cfg(unix)]
#[test]
fn a_recording_does_not_take_the_place_of_another_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    database_with_a(&path);
    for table in ["data_event", "process_state", "setup"] {
        let other = path.join(table).join("recording=A");
        std::os::unix::fs::symlink("recording=a", other).unwrap();
    }
    let (before, files) = (contents(&path), everything_in(&path));
    let mut tx = begin(&path).unwrap();
    record(&mut tx, "A", 1000).unwrap();
    let refused = tx.commit().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Database);
    assert!(refused.to_string().contains("there is a file already where a new one"), "{refused}");
    assert_eq!((contents(&path), everything_in(&path)), (before, files));
}

#[test]
fn two_new_recordings_do_not_take_one_place() {
    fn appear_as_the_other(_: &Path, to: &Path) -> io::Result<()> {
        let (text, other) = (to.to_str().unwrap(), to.to_str().unwrap().replace("=B", "=b"));
        if text != other {
            fs::create_dir_all(Path::new(&other).parent().unwrap())?;
            fs::hard_link(to, other)?;
        }
        Ok(())
    }
    let disk: Arc<dyn Disk> =
        Arc::new(OddDisk { before_removing: NOTHING, after_renaming: appear_as_the_other });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    database_with_a(&path);
    let before = contents(&path);
    let mut tx = Database::begin(disk, &path, None).unwrap();
    record(&mut tx, "B", 1000).unwrap();
    record(&mut tx, "b", 2000).unwrap();
    let refused = tx.commit().unwrap_err();
    assert!(refused.to_string().contains("there is a file already where a new one"), "{refused}");
    assert_eq!(contents(&path), before);
    assert_eq!(verify(&path).unwrap().problems, []);
    assert_tidy(&path);
}
