//! A database that an earlier btfdb wrote: it opens, answers as it did then, and can be written to. Each
//! version on the disk has a folder in `data/databases`, which stays as it is for ever.

use std::fs;
use std::path::PathBuf;

use crate::support::{Bench, copy_dir, root};

/// The folders of all versions, with their numbers.
fn versions() -> Vec<(u32, PathBuf)> {
    let folders = fs::read_dir(root().join("tests/data/databases")).unwrap();
    let version = |folder: PathBuf| (folder.file_name().unwrap().to_str().unwrap().parse().unwrap(), folder);
    let mut all: Vec<_> = folders.map(|entry| version(entry.unwrap().path())).collect();
    all.sort();
    all
}

/// The version that this btfdb writes, from a file of the log of a new database.
fn written_now() -> u64 {
    let bench = Bench::engine();
    let log = fs::read_to_string(bench.path().join("engine.db/log/00000000000000000001.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&log).unwrap()["version"].as_u64().unwrap()
}

#[test]
fn each_version_is_read_and_answers_as_it_did() {
    for (version, folder) in versions() {
        let bench = Bench::new();
        copy_dir(&folder.join("written.db"), &bench.path().join("old.db"));
        assert!(bench.ok(&["verify", "old.db"]).all().contains("all as written"), "version {version}");
        let questions = folder.join("questions.sql");
        let run = bench.ok(&["query", "old.db", "-f", questions.to_str().unwrap()]);
        let answers = fs::read_to_string(folder.join("answers.csv")).unwrap();
        assert_eq!(run.stdout, answers.trim_end(), "version {version}");
    }
}

/// Mapping again, one more recording, another one removed: what was there stays readable.
#[test]
fn each_version_can_be_written_to() {
    for (version, folder) in versions() {
        let bench = Bench::new();
        copy_dir(&folder.join("written.db"), &bench.path().join("old.db"));
        let recordings = |bench: &Bench| {
            bench.ok(&["query", "old.db", "SELECT recording FROM recording ORDER BY recording"]).stdout
        };
        let before = recordings(&bench);
        let input = root().join("tests/data/btf/metrics.btf");
        bench.ok(&["ingest", "old.db", input.to_str().unwrap(), "--name", "zz-new"]);
        assert_eq!(recordings(&bench), format!("{before}\nzz-new"), "version {version}");
        bench.ok(&["map", "old.db"]);
        bench.ok(&["remove", "old.db", "--recording", "zz-new"]);
        bench.ok(&["vacuum", "old.db", "--older-than", "0s"]);
        assert_eq!(recordings(&bench), before, "version {version}");
        assert!(bench.ok(&["verify", "old.db"]).all().contains("all as written"), "version {version}");
    }
}

/// Whoever changes the version on the disk adds a folder for it.
#[test]
fn the_version_that_is_written_has_a_folder() {
    let now = written_now();
    assert!(versions().iter().any(|(version, _)| u64::from(*version) == now), "no folder for version {now}");
}

#[test]
fn a_newer_version_is_refused_with_the_next_step() {
    let bench = Bench::engine();
    let tip = bench.path().join("engine.db/log/00000000000000000001.json");
    let now = written_now();
    let log = fs::read_to_string(&tip).unwrap();
    let newer = log.replace(&format!("\"version\":{now}"), &format!("\"version\":{}", now + 1));
    assert_ne!(log, newer);
    fs::write(&tip, newer).unwrap();
    for command in ["info", "verify", "map", "metrics", "vacuum"] {
        let run = bench.run(&[command, "engine.db"]);
        assert_eq!(run.code, Some(1), "{command:?}: {}", run.stderr);
        let says = |text: &str| run.stderr.contains(text);
        assert!(says(&format!("has format {}", now + 1)) && says("hint: "), "{}", run.stderr);
    }
}
