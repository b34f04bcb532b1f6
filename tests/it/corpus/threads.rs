//! The tables do not depend on the number of threads: their files are the same, byte for byte.

use super::{Ingested, corpus, ingested};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every file of a database by its path in it.
fn files(ingested: &Ingested) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                walk(root, &path, out);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                out.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut out = BTreeMap::new();
    walk(ingested.db.location().path(), ingested.db.location().path(), &mut out);
    out
}

#[test]
fn one_two_and_three_threads_write_the_same_bytes() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let one = files(&ingested(&recording.folder, 1));
        assert!(one.keys().any(|f| f.starts_with("btf_event/")), "{}: not mapped", recording.name);
        for threads in [2, 3] {
            let more = files(&ingested(&recording.folder, threads));
            let (names, expected): (Vec<_>, Vec<_>) = (more.keys().collect(), one.keys().collect());
            assert_eq!(names, expected, "{}: files of {threads} threads", recording.name);
            for (name, bytes) in &more {
                assert!(*bytes == one[name], "{}: {name} differs with {threads} threads", recording.name);
            }
        }
    }
}
