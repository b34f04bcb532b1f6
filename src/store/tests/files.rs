//! What the files of a table look like, and what happens when one is damaged.

use std::fs;

use arrow::array::AsArray as _;
use arrow::datatypes::Int64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::schema::{BtfEventRow, BtfEventRows, table};
use crate::store::{FileEntry, Place, occurrences_in, row_groups_with, verify};

/// Writes one file of `table` from these batches and commits it; the entry of the log comes back.
fn write(path: &Path, batches: &[RecordBatch]) -> Vec<FileEntry> {
    let mut tx = begin(path).unwrap();
    let mut writer = tx.writer(tables::BTF_EVENT, "a", None).unwrap();
    batches.iter().for_each(|b| writer.write(b).unwrap());
    tx.add(writer.finish().unwrap()).unwrap();
    tx.set_recording("a", None, None).unwrap();
    tx.commit().unwrap();
    Database::open(path).unwrap().files(tables::BTF_EVENT, None).unwrap()
}

/// Where the file of an entry is.
fn place(path: &Path, file: &FileEntry) -> Place {
    Database::open(path).unwrap().place_of(file)
}

/// Events with names of all kinds: one, some, and too many for a dictionary.
fn events(count: i64) -> RecordBatch {
    let mut rows = BtfEventRows::new();
    for n in 0..count {
        let target = format!("a rather long name of target number {}", n * 7919 % 100_000);
        let note = (n % 2 == 0).then_some("note".into());
        rows.push(BtfEventRow {
            time: n / 2,
            seq: n,
            source: ["SIM", "Task"][n as usize % 2].into(),
            source_instance: Some(n * n % 1_000_003),
            target_type: "T".into(),
            target: target.as_str().into(),
            target_instance: Some(0),
            action: "activate".into(),
            note,
        });
    }
    rows.take_batch().unwrap()
}

#[test]
fn row_groups_are_found_by_their_names() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let file = place(&path, &write(&path, &[events(90_000)])[0]);
    let with =
        |column: &str, names: &[&str]| row_groups_with(&file, column, &|name| names.contains(&name)).unwrap();
    assert_eq!(with("action", &["start", "activate"]), [true]);
    assert_eq!(with("action", &["start", "activat", ""]), [false]);
    assert_eq!((with("note", &["note"]), with("note", &["other"])), (vec![true], vec![false]));
    assert_eq!(with("target", &["nobody"]), [true], "more names than a dictionary holds");
    assert_eq!(with("time", &["nobody"]), [true], "no names");
}

/// A task that has so many semaphores, one after the other, between events of other kinds.
fn semaphores(count: i64) -> RecordBatch {
    let mut rows = BtfEventRows::new();
    for n in 0..3 * count {
        let (kind, action) = [("T", "start"), ("SEM", "assigned"), ("sem", "released")][n as usize % 3];
        rows.push(BtfEventRow {
            time: n,
            seq: n,
            source: "Task".into(),
            source_instance: Some(0),
            target_type: kind.into(),
            target: format!("S_{}", n / 3).as_str().into(),
            target_instance: Some(0),
            action: action.into(),
            note: None,
        });
    }
    rows.take_batch().unwrap()
}

#[test]
fn footers_tell_who_does_what_with_which_semaphore() {
    let dir = tempfile::tempdir().unwrap();
    let stated = |name: &str, batches: &[RecordBatch]| {
        let path = dir.path().join(name);
        occurrences_in(&place(&path, &write(&path, batches)[0])).unwrap()
    };
    let two = semaphores(2);
    let found = stated("two", &[two.slice(0, 4), two.slice(4, 2)]).unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.names.join(" "), one.first, one.last)).collect();
    let one = |names: &str, time: i64| (names.to_owned(), time, time);
    assert_eq!(
        found,
        [
            one("Task assigned S_0", 1),
            one("Task assigned S_1", 4),
            one("Task released S_0", 2),
            one("Task released S_1", 5)
        ]
    );
    let first = two.slice(0, 3);
    let twice = stated("twice", &[first.clone(), first]).unwrap();
    assert_eq!((twice.len(), twice[0].first, twice[0].last), (2, 1, 1));
    assert_eq!(stated("none", &[events(10)]), Some(Vec::new()));
    assert_eq!(stated("most", &[semaphores(2048)]).unwrap().len(), 4096);
    assert_eq!(stated("more", &[semaphores(2049)]), None, "too much for a footer");
    let long = "S".repeat(100 << 10);
    let mut rows = BtfEventRows::new();
    for (n, action) in ["requestsemaphore", "assigned", "released"].into_iter().enumerate() {
        rows.push(BtfEventRow {
            time: n as i64,
            seq: n as i64,
            source: "Task".into(),
            source_instance: Some(0),
            target_type: "SEM".into(),
            target: long.as_str().into(),
            target_instance: Some(0),
            action: action.into(),
            note: None,
        });
    }
    let long = rows.take_batch().unwrap();
    assert_eq!(stated("long", &[long.slice(0, 2)]).unwrap().len(), 2);
    assert_eq!(stated("longer", &[long]), None, "names that are too long for a footer");
}

#[test]
fn other_engines_read_names_as_strings() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let files = write(&path, &[events(3)]);
    let file = fs::File::open(path.join(&files[0].path)).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    assert_eq!(builder.schema().fields(), tables::BTF_EVENT.read_schema().fields());
    let metadata = builder.metadata().clone();
    assert_eq!(metadata.file_metadata().created_by(), Some("btfdb"));
    assert_eq!(metadata.file_metadata().key_value_metadata().unwrap().len(), 1, "occurrences");
    assert_eq!(metadata.row_group(0).sorting_columns().unwrap().len(), 2);
    assert!(metadata.row_group(0).column(0).statistics().is_some(), "time");
    assert!(metadata.row_group(0).column(0).column_index_offset().is_some(), "time, page by page");
    assert!(metadata.row_group(0).column(2).statistics().is_none(), "source");
}

#[test]
fn the_bytes_depend_on_the_rows_alone() {
    let dir = tempfile::tempdir().unwrap();
    let all = events(150_000);
    let mut checksums = Vec::new();
    for (n, sizes) in [&[150_000][..], &[1, 65_535, 2], &[997], &[40_000, 1]].iter().enumerate() {
        let (mut batches, mut at) = (Vec::new(), 0);
        for size in sizes.iter().cycle() {
            let size = (all.num_rows() - at).min(*size);
            batches.push(all.slice(at, size));
            at += size;
            if at == all.num_rows() {
                break;
            }
        }
        let path = dir.path().join(n.to_string());
        let file = write(&path, &batches).remove(0);
        assert_eq!(file.rows, 150_000);
        checksums.push(file.checksum);
    }
    checksums.dedup();
    assert_eq!(checksums.len(), 1, "{checksums:?}");
    assert_eq!(contents(dir.path().join("2")).rows["btf_event a None"], all);
}

#[test]
fn a_table_without_rows_has_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    assert_eq!(write(&path, &[]), []);
    assert_eq!(write(&path, &[events(0)]), []);
    assert_tidy(&path);
}

#[test]
fn a_batch_of_another_table_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut tx = begin(dir.path().join("db")).unwrap();
    let mut writer = tx.writer(tables::BTF_EVENT, "a", None).unwrap();
    assert_eq!(writer.write(&accesses(0, 1)).unwrap_err().kind(), ErrorKind::Bug);
}

#[test]
fn columns_are_chosen_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let file = place(&path, &write(&path, &[events(5)])[0]);
    let batches: Vec<_> = read_batches(&file, tables::BTF_EVENT, Some(&["target", "seq"]), 2)
        .unwrap()
        .collect::<Result<_>>()
        .unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [2, 2, 1]);
    let schema = batches[0].schema();
    let types: Vec<_> = schema.fields().iter().map(|f| f.to_string()).collect();
    assert_eq!(schema.fields().len(), 2, "{types:?}");
    assert_eq!(batches[2]["seq"].as_primitive::<Int64Type>().value(0), 4);
    assert!(batches[0]["target"].as_any_dictionary_opt().is_some());

    let wrong = read_batches(&file, tables::BTF_EVENT, Some(&["recording"]), 2).err().unwrap();
    assert_eq!(wrong.kind(), ErrorKind::Bug, "a partition column is not in the file");
    let other = read_batches(&file, tables::GAP, None, 2).err().unwrap();
    assert_eq!(other.kind(), ErrorKind::Database);
}

/// For any damaged byte of any file, and any end that is missing: verify names the file, and reading it gives
/// the rows that were written, or an error.
#[test]
fn damage_is_found_and_no_answer_comes_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    database_with_a(&path);
    let db = Database::open(&path).unwrap();
    let a = db.recording("a").unwrap().unwrap();
    let rows = |file: &FileEntry| -> Result<Vec<RecordBatch>> {
        read_batches(&db.place_of(file), table(&file.table).unwrap(), None, 100)?.collect()
    };
    let check = |name: &str, what: String| {
        let problems = verify(&path).unwrap().problems;
        assert!(problems.len() == 1 && problems[0].path == Path::new(name), "{what}: {problems:?}");
    };
    for name in a.paths() {
        let file = path.join(name);
        let good = fs::read(&file).unwrap();
        let entry = a.files.iter().find(|entry| entry.path == name);
        let sound = entry.map(|entry| rows(entry).unwrap());
        let mut refused = 0;
        let mut look = |bad: &[u8], what: String| {
            fs::write(&file, bad).unwrap();
            if let (Some(entry), Some(sound)) = (entry, &sound) {
                match rows(entry) {
                    Ok(found) => assert_eq!(found, *sound, "{name}: {what}"),
                    Err(e) => {
                        assert_eq!(e.kind(), ErrorKind::Database, "{name}: {what}: {e}");
                        refused += 1;
                    }
                }
            }
            check(name, what);
        };
        let places = (0..good.len()).step_by(13);
        for at in places.clone() {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            look(&bad, format!("a bit of byte {at}"));
        }
        for at in places.clone().step_by(7) {
            look(&good[..at], format!("the first {at} bytes"));
        }
        // All but the first bytes of the file, which nobody needs.
        assert!(
            entry.is_none() || refused >= places.len() - 1 + places.step_by(7).len(),
            "{name}: {refused}"
        );
        fs::write(&file, &good).unwrap();
    }
    fs::write(path.join("setup/recording=a/setup-00000.json"), "{}").unwrap();
    assert_eq!(blob(&db, "setup").unwrap_err().kind(), ErrorKind::Database);
}

#[test]
fn verify_names_what_is_missing_too_much_or_out_of_order() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let report = |path: &Path| {
        let problems = verify(path).unwrap().problems;
        problems.into_iter().map(|p| format!("{}: {}", p.path.display(), p.what)).collect::<Vec<_>>()
    };
    let events = events(4);
    let file = write(&path, &[events.slice(2, 2), events.slice(0, 2)]).remove(0);
    let [unsorted] = &report(&path)[..] else { panic!("one problem") };
    assert!(unsorted.starts_with(&file.path) && unsorted.ends_with("not sorted by time, seq"), "{unsorted}");

    fs::remove_dir_all(&path).unwrap();
    let file = write(&path, &[events]).remove(0);
    assert_eq!(report(&path), Vec::<String>::new());
    let (bytes, place) = (fs::read(path.join(&file.path)).unwrap(), path.join(&file.path));

    let stray = place.with_file_name("part-00001.parquet");
    fs::write(&stray, "").unwrap();
    fs::write(place.with_file_name(".hidden"), "").unwrap();
    let [found] = &report(&path)[..] else { panic!("one problem") };
    assert_eq!(found, "btf_event/recording=a/part-00001.parquet: the file is not part of the database");
    fs::remove_file(&stray).unwrap();

    fs::write(&place, &bytes[..bytes.len() - 1]).unwrap();
    assert!(report(&path)[0].contains(&format!("has {} bytes", bytes.len() - 1)));
    fs::remove_file(&place).unwrap();
    assert!(report(&path)[0].contains("is gone"));
}

/// Other engines read files of any name, and what a link leads to.
#[cfg(unix)]
#[test]
fn stray_files_are_found_whatever_they_are_called() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let file = write(&path, &[events(4)]).remove(0);
    let part = path.join(&file.path);
    let named = |name: &[u8]| part.with_file_name(OsStr::from_bytes(name));
    fs::copy(&part, named(b"part-\xff.parquet")).unwrap();
    fs::create_dir(path.join(OsStr::from_bytes(b"\xfe"))).unwrap();
    fs::copy(&part, path.join(OsStr::from_bytes(b"\xfe")).join("x.parquet")).unwrap();
    symlink("nowhere", named(b"y.parquet")).unwrap();
    let problems = verify(&path).unwrap().problems;
    let found: Vec<_> = problems.into_iter().map(|problem| path.join(problem.path)).collect();
    let folder = path.join(OsStr::from_bytes(b"\xfe"));
    assert_eq!(found, [named(b"part-\xff.parquet"), named(b"y.parquet"), folder.join("x.parquet")]);
}

/// What cannot be read is wrong, but nobody knows whether it is damaged.
#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_not_taken_for_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db");
    let file = path.join(&write(&path, &[events(4)]).remove(0).path);
    let good = fs::read(&file).unwrap();
    let is_unread = || {
        let [problem] = &verify(&path).unwrap().problems[..] else { panic!("one problem") };
        problem.is_unread
    };
    fs::write(&file, vec![0; good.len()]).unwrap();
    assert!(!is_unread(), "damaged");
    fs::remove_file(&file).unwrap();
    assert!(!is_unread(), "gone");
    std::os::unix::fs::symlink(&file, &file).unwrap();
    assert!(is_unread(), "a link to itself");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Rows come back as they were written, with extreme values and without values.
    #[test]
    fn rows_come_back(values in prop::collection::vec((any::<i64>(), any::<Option<i64>>(), any::<Option<u64>>(), "\\PC{0,8}"), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("db");
        let mut rows = DataEventRows::new();
        for (n, (time, record, value, variable)) in values.iter().enumerate() {
            let (time, record, value) = (*time, *record, *value);
            rows.push(DataEventRow { time, seq: n as i64, record, variable: variable.as_str().into(), access: "read".into(), value });
        }
        let batch = rows.take_batch().unwrap();
        let mut tx = begin(&path).unwrap();
        let mut writer = tx.writer(tables::DATA_EVENT, "ä b", Some("0/1")).unwrap();
        writer.write(&batch).unwrap();
        tx.add(writer.finish().unwrap()).unwrap();
        tx.set_recording("ä b", None, None).unwrap();
        tx.commit().unwrap();
        let files = Database::open(&path).unwrap().files(tables::DATA_EVENT, None).unwrap();
        prop_assert_eq!(files[0].begin_at, values.iter().map(|v| v.0).min());
        prop_assert_eq!(files[0].end_at, values.iter().map(|v| v.0).max());
        let read = contents(&path);
        prop_assert_eq!(read.rows.values().next(), Some(&batch));
    }
}
