//! Promises of what reads the files of a database that are no tables: the log, and the JSON about the mapping
//! and the end of a recording. Checksums find accidents, not attacks: here they are those of the content,
//! whatever that is. Not the tails of tables (see `page_sums`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use btfdb::internals::stored::{
    Ends, GraspMapper, Mapper, MappingSetup, OsekMapper, QnxMapper, Recording, StoredSetup, as_written,
    repair_log,
};
use btfdb::{Database, ErrorKind, Log, RealDisk, TimeScale, remove, vacuum, verify};

/// How a recording is mapped is refused with the name of the recording, or is the same when it is written
/// again; it makes a mapper, or is refused by it with a sentence.
pub fn setup_json(data: &[u8]) {
    let setup = match MappingSetup::from_json(data, "engine-1") {
        Ok(setup) => setup,
        Err(error) => return assert!(error.to_string().contains("'engine-1'"), "{error}"),
    };
    let written = setup.to_json().expect("a setup is JSON");
    let again = MappingSetup::from_json(&written, "engine-1").expect("it was written");
    assert_eq!((&again.mapper, again.left_out), (&setup.mapper, setup.left_out));
    assert_eq!(again.idle_tasks, setup.idle_tasks);
    makes_a_mapper::<OsekMapper>(&setup);
    makes_a_mapper::<QnxMapper>(&setup);
    makes_a_mapper::<GraspMapper>(&setup);
    let Ok(described) = setup.settings_as::<StoredSetup>("engine-1") else { return };
    assert_eq!(again.settings_as::<StoredSetup>("engine-1").ok().as_ref(), Some(&described));
    assert_eq!(described.difference(&described), None);
    for scale in [TimeScale::Ps, TimeScale::Ns, TimeScale::S] {
        let mut log = Log::default();
        match described.for_mapping(scale, &mut log) {
            Ok(Some(application)) => assert_eq!(application.cores.len(), described.cores.len()),
            Ok(None) => assert!(described.os.is_none()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn makes_a_mapper<M: Mapper>(setup: &MappingSetup) {
    let Ok(settings) = setup.settings_as::<M::Settings>("engine-1") else { return };
    let recording = Recording { begin: 0, end: 1000, time_scale: TimeScale::Ns, gaps: &[] };
    match M::new(settings, &recording) {
        // Nothing happened.
        Ok(mut mapper) => assert_eq!(mapper.finish().relevant, 0),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Where a recording ended is refused with the name of the recording, or is the same when it is written
/// again. A piece that ends like the one before is the end of the whole.
pub fn ends_json(data: &[u8]) {
    let ends = match Ends::from_json(data, "engine-1") {
        Ok(ends) => ends,
        Err(error) => return assert!(error.to_string().contains("'engine-1'"), "{error}"),
    };
    let written = ends.to_json().expect("ends are JSON");
    assert_eq!(Ends::from_json(&written, "engine-1").ok().as_ref(), Some(&ends));
    let whole = ends.then(ends.clone());
    let written = whole.to_json().expect("ends are JSON");
    assert_eq!(Ends::from_json(&written, "engine-1").ok(), Some(whole));
}

/// A log is read, or refused with a file of it. Each line of the input is a file: its name, a blank and its
/// content, which gets its sums if a writer could write it, and is taken as it is if not. `begun` is a commit
/// that was not finished. Nothing outside of the database is touched.
pub fn log(data: &[u8]) {
    let folder = Folder::new();
    let root = folder.0.join("db");
    fs::create_dir_all(root.join("log")).expect("a folder");
    let canary = folder.0.join("canary");
    fs::write(&canary, "alive").expect("a file");
    for line in data.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(20) {
        let at = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (name, content) = (&line[..at], line.get(at + 1..).unwrap_or_default());
        // What a writer that is gone has begun.
        let is_begun = name == b"begun";
        let Some(name) = name_of(if is_begun { b"1.json" } else { name }) else { continue };
        let content = as_written(&name, content).unwrap_or_else(|| content.to_vec());
        let path =
            if is_begun { root.join(".staging/left/commit.json") } else { root.join("log").join(name) };
        fs::create_dir_all(path.parent().unwrap_or(&root)).expect("a folder");
        fs::write(path, content).expect("a file");
    }
    look_up(&root);
    read(verify(&root), &root);
    if read(repair_log(Arc::new(RealDisk), &root), &root).is_some() {
        let again = read(repair_log(Arc::new(RealDisk), &root), &root);
        assert!(again.is_none_or(|repaired| repaired.is_empty()), "what was repaired is damaged again");
    }
    if let Some(first) = look_up(&root) {
        read(remove(Arc::new(RealDisk), &root, &[first]), &root);
    }
    read(vacuum(Arc::new(RealDisk), &root, SystemTime::now(), Duration::ZERO), &root);
    look_up(&root);
    assert_eq!(fs::read(&canary).ok().as_deref(), Some(b"alive".as_slice()));
}

/// The name of the first recording. All of them are found, by each way to look for them.
fn look_up(root: &Path) -> Option<String> {
    let db = read(Database::open(root), root)?;
    let all = read(db.recordings(), root)?;
    let one = Database::open(root).expect("it was opened before");
    for recording in all.iter().take(20) {
        read(one.recording(&recording.name), root);
        read(one.named(&[&recording.name, "x"]), root);
        read(one.names(&recording.name, 2), root);
        assert_eq!(
            db.recording(&recording.name).ok().flatten().map(|r| r.name.clone()).as_ref(),
            Some(&recording.name)
        );
    }
    let mut names: Vec<_> = all.iter().map(|recording| recording.name.clone()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(db.names("", usize::MAX).ok(), Some(names));
    read(one.names("", 100), root);
    read(one.check_window(None, Some(0), Some(1)), root);
    all.first().map(|recording| recording.name.clone())
}

/// What was read; an error of a damaged log names a file of it, and is no fault of btfdb.
fn read<T>(result: btfdb::Result<T>, root: &Path) -> Option<T> {
    match result {
        Ok(found) => Some(found),
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Database | ErrorKind::Usage), "{error:?}");
            let shown = error.to_string();
            assert!(
                error.kind() == ErrorKind::Usage || shown.contains(&root.display().to_string()),
                "{shown}"
            );
            None
        }
    }
}

/// `8.1.checkpoint` is short for a name with 20 digits. `None` for what could be a path.
fn name_of(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
    if name.starts_with('.') || name.is_empty() || name.len() > 50 || !name.chars().all(is_plain) {
        return None;
    }
    Some(match name.split_once('.') {
        Some((number, end)) if number.bytes().all(|b| b.is_ascii_digit()) => format!("{number:0>20}.{end}"),
        _ => name.to_owned(),
    })
}

/// A folder for one input.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("btfdb-log-{process}-{count}"));
        fs::create_dir_all(&path).expect("a folder for the log");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
