//! Are the steps of processes that hook variables tell those of the recordings that they were made of?

use super::{Ingested, ingested, none};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The folders of recordings of hook variables; `None`, and a line that says so, where there is no corpus.
fn folders() -> Option<Vec<PathBuf>> {
    let Some(root) = std::env::var_os("BTFDB_CORPUS") else {
        eprintln!("skipped: BTFDB_CORPUS is not set");
        return None;
    };
    let listing = PathBuf::from(root).join("hooks").read_dir().unwrap();
    let mut folders: Vec<PathBuf> = listing.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("recording.toml").is_file());
    folders.sort();
    assert!(!folders.is_empty());
    Some(folders)
}

/// The source of an activation is not in the words; what they do not show, the recording behind them may.
fn without_source(line: &str) -> String {
    let line = line.strip_suffix(",unseen").unwrap_or(line);
    let fields: Vec<&str> = line.split(',').collect();
    match fields[..] {
        [time, _, _, kind, target, instance, action @ "activate"] => {
            [time, "", "", kind, target, instance, action].join(",")
        }
        _ => line.to_owned(),
    }
}

fn differences(name: &str, folder: &Path, found: &Ingested) -> Vec<String> {
    let expected = std::fs::read_to_string(folder.join("expected.btf")).unwrap();
    let expected: Vec<String> =
        expected.lines().filter(|line| !line.starts_with('#')).map(without_source).collect();
    let events = found.events();
    let found: Vec<String> =
        events.iter().filter(|event| event.is_process()).map(|event| without_source(&event.line())).collect();
    assert!(expected.len() > 300, "{name}");
    let pairs = expected.iter().zip(&found).filter(|(expected, found)| expected != found);
    let mut differences: Vec<String> =
        pairs.map(|(expected, found)| format!("{name}: {expected} but {found}")).collect();
    if expected.len() != found.len() {
        differences.push(format!("{name}: {} events, not {}", found.len(), expected.len()));
    }
    differences
}

#[test]
fn words_of_hooks_are_the_events_of_the_recordings_behind_them() {
    let mut problems = Vec::new();
    for folder in folders().into_iter().flatten() {
        let name = folder.file_name().unwrap().to_string_lossy();
        problems.extend(differences(&name, &folder, &ingested(&folder, 2)));
        let all = folder.join("all_cores_data.csv");
        if all.is_file() {
            problems.extend(differences(&format!("{name}, one export"), &folder, &of_one_export(&folder)));
        }
    }
    none("hooks", &problems);
}

/// The same recording, of an export that has the words of all cores.
fn of_one_export(folder: &Path) -> Ingested {
    let copy = TempDir::new().unwrap();
    for file in ["ids.csv", "all_cores_data.csv"] {
        std::fs::copy(folder.join(file), copy.path().join(file)).unwrap();
    }
    let text = std::fs::read_to_string(folder.join("recording.toml")).unwrap();
    let text =
        text.replace("\"core0_data.csv\"", "\"all_cores_data.csv\"").replace("data = \"core1_data.csv\"", "");
    std::fs::write(copy.path().join("recording.toml"), text).unwrap();
    ingested(copy.path(), 2)
}
