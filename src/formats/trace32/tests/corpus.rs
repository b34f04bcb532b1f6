//! Real and simulated recordings, compared with a much simpler reader. Not for single kinds of lines.

use std::path::{Path, PathBuf};

use super::*;
use crate::input::Source;

/// The files of the corpus whose names end with `ending`; empty, with a note, if there is no corpus.
fn corpus(ending: &str) -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("skipped: BTFDB_CORPUS is not set");
        return Vec::new();
    };
    let mut folders = vec![Path::new(&root).join("ee"), Path::new(&root).join("trace32")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "the corpus has no *{ending}");
    files
}

/// Seconds with ten decimals as nanoseconds, without any code of the project.
fn nanoseconds(text: &str) -> i64 {
    let (seconds, fraction) = text.split_once('.').unwrap();
    assert!(fraction.len() == 10 && fraction.ends_with('0'));
    format!("{seconds}{}", &fraction[..9]).parse().unwrap()
}

#[test]
fn every_access_of_the_corpus_is_read() {
    for path in corpus("data.csv").into_iter().chain(corpus("data_event_sample.csv")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut source = Source::open(&path).unwrap();
        let head = source.head().unwrap().to_vec();
        assert_eq!(probe(&head), Some(Kind::Data), "{}", path.display());
        let layout = detect_data_layout(&head, None).unwrap();
        let mut expected = text.lines();
        while let Some(chunk) = source.next_chunk().unwrap() {
            let rows = parse_data(&chunk.bytes, chunk.index == 0, &layout, &settings());
            assert_eq!(rows.counts.lines, rows.counts.rows, "{}: {:?}", path.display(), rows.log.entries());
            assert_eq!((rows.counts.inexact_times, rows.log.is_empty()), (0, true));
            for (n, record) in rows.record.iter().enumerate() {
                let cells: Vec<&str> = expected.next().unwrap().split(',').collect();
                assert_eq!(record, cells[0].parse::<i64>().ok());
                assert_eq!(rows.time[n], nanoseconds(cells[1]));
                assert_eq!(rows.names.get(rows.name[n]), cells[2].trim_matches('"'));
                assert_eq!((rows.kind[n] == 1), cells[3] == "\"wr-data\"");
                assert_eq!(rows.value[n], u64::from_str_radix(cells[4], 16).unwrap());
                assert_eq!(rows.lines.line(n) as usize, n);
            }
        }
        assert_eq!(expected.next(), None);
        assert_eq!(source.finish().unwrap().bytes, text.len() as u64);
    }
}

#[test]
fn every_function_event_of_the_corpus_is_read() {
    for path in corpus("func.csv").into_iter().chain(corpus("func_event_sample.csv")) {
        let text = std::fs::read(&path).unwrap();
        assert_eq!(probe(&text[..text.len().min(crate::input::HEAD_BYTES)]), Some(Kind::Functions));
        let rows = parse_functions(&text, &settings());
        assert_eq!(rows.counts.lines, rows.counts.rows, "{}: {:?}", path.display(), rows.log.entries());
        assert!(rows.log.is_empty() && rows.gaps.is_empty());
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), rows.time.len());
        for (n, line) in text.lines().enumerate() {
            let cells: Vec<&str> = line.split("; ").collect();
            assert_eq!(rows.time[n], cells[0].parse::<i64>().unwrap());
            assert_eq!(rows.names.get(rows.name[n]), cells[1]);
            assert_eq!(format!("f{}", FUNCTION_KINDS[usize::from(rows.kind[n])]), cells[2]);
        }
    }
}

#[test]
fn other_files_of_the_corpus_are_not_taken_for_exports() {
    for ending in [".orti", ".toml", "truth.tsv", ".btf", ".h", ".json"] {
        for path in corpus(ending) {
            let text = std::fs::read(&path).unwrap();
            assert_eq!(probe(&text[..text.len().min(crate::input::HEAD_BYTES)]), None, "{}", path.display());
        }
    }
}
