//! A recording that starts in the middle, or stops there, gives the same system events as the whole (rules
//! L1–L5): parts of recordings are written, mapped, and compared with the whole (see `compare`).

use super::checker::Checker;
use super::compare::{differences, moved};
use super::oracle::Kernel;
use super::{Recording, corpus, ingested, none};
use btfdb::tables;
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

/// Time of a line of an export, in ns.
pub fn time_of(line: &str) -> i64 {
    match line.split_once(';') {
        Some((time, _)) => time.parse().unwrap(),
        None => {
            let seconds = line.split(',').nth(1).unwrap();
            seconds.replace('.', "").parse::<i64>().unwrap() / 10
        }
    }
}

/// The exports, with only the lines whose time is in `[from, to)`, and all other files as they are. A core
/// that does nothing in this time has no export.
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

/// Instants at which to cut, and the situation there: two occurrences of each situation, and the end of the
/// start of the OS. A cut is never within a service call, between TerminateTask and the end of the task, or
/// at the entry or exit of an ISR (a few 100 ns each): the variables that tell about these are written before
/// the cut.
fn instants(recording: &Recording) -> Vec<(i64, &'static str)> {
    let Some(full) = recording.tsv("full.tsv") else { return Vec::new() };
    let kernel = Kernel::new(recording, &full);
    let category1 = recording.category1();
    let mut found: BTreeMap<&'static str, Vec<i64>> = BTreeMap::new();
    let mut states: BTreeMap<(String, i64), (&str, &str)> = BTreeMap::new();
    let mut runnables: BTreeMap<(String, i64), usize> = BTreeMap::new();
    let mut locks = 0;
    for (n, e) in recording.events.iter().enumerate() {
        match (e.kind.as_str(), e.action.as_str()) {
            ("T" | "I", "terminate") => drop(states.remove(&e.to())),
            ("T" | "I", "mtalimitexceeded") => {}
            (kind @ ("T" | "I"), action) => drop(states.insert(e.to(), (kind, action))),
            ("R", "start") => *runnables.entry(e.by()).or_default() += 1,
            ("R", "terminate") => *runnables.entry(e.by()).or_default() -= 1,
            ("SEM", "lock") => locks += 1,
            ("SEM", "unlock") => locks -= 1,
            _ => {}
        }
        let Some(next) = recording.events.get(n + 1) else { break };
        let middle = e.time + (next.time - e.time) / 2;
        if next.time - e.time < 50 || kernel.works_at(middle) {
            continue;
        }
        let task = |actions: &[&str]| states.values().any(|(kind, s)| *kind == "T" && actions.contains(s));
        let isr = |actions: &[&str]| states.values().any(|(kind, s)| *kind == "I" && actions.contains(s));
        for (what, holds) in [
            ("in an ISR", isr(&["start", "resume"])),
            ("in a nested ISR", isr(&["preempt"])),
            ("in a category 1 ISR", states.keys().any(|(name, _)| category1.contains(name))),
            ("in a runnable", runnables.values().any(|n| *n == 1)),
            ("in a nested runnable", runnables.values().any(|n| *n > 1)),
            ("while a lock is held", locks > 0),
            ("while a task is activated and not started", task(&["activate"])),
            ("while a task is preempted", task(&["preempt"])),
            ("while a task waits", task(&["wait"])),
            ("while a released task is ready", task(&["release"])),
            ("while a task polls", task(&["poll", "poll_parking"])),
            ("while a task is parked", task(&["park"])),
            ("while a task that was parked is ready", task(&["release_parking"])),
        ] {
            if holds {
                found.entry(what).or_default().push(middle);
            }
        }
    }
    let two = |all: &[i64]| [all[all.len() / 3], all[all.len() * 2 / 3]];
    let mut out: Vec<_> = found.iter().flat_map(|(what, all)| two(all).map(|t| (t, *what))).collect();
    let started = full.iter().filter(|row| row[2] == "X" && row[3].ends_with("StartOS"));
    out.extend(started.map(|row| (row[0].parse::<i64>().unwrap() + 5, "after the start of the OS")).max());
    out.dedup_by_key(|(time, _)| *time);
    out
}

#[test]
fn a_recording_that_starts_in_the_middle_gives_the_same_events() {
    let Some(recordings) = corpus() else { return };
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for recording in recordings.iter().filter(|r| r.from_start) {
        for (cut, what) in instants(recording) {
            none(&format!("{} from {cut} on ({what})", recording.name), &cut_at(recording, cut));
            *shown.entry(what).or_default() += 1;
        }
    }
    eprintln!("{shown:?}");
}

/// A recording that stops earlier gives the events up to then, and guesses none.
#[test]
fn a_recording_that_stops_earlier_gives_the_first_part_of_the_events() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let (begin, end) = recording.range;
        for share in [2, 5, 7] {
            let stop = begin + (end - begin) * share / 8;
            let folder = part(recording, i64::MIN, stop);
            let ingested = ingested(folder.path(), 1);
            let expected = &recording.events[..recording.events.partition_point(|e| e.time < stop)];
            let events = ingested.events();
            assert_eq!(events.len(), expected.len(), "{} until {stop}", recording.name);
            for (found, expected) in events.iter().zip(expected) {
                assert_eq!(found, expected, "{} until {stop}", recording.name);
            }
            let whole = ingested.rows(tables::PROCESS_INSTANCE, None, |r| {
                let times = [r.int("activate_at"), r.int("start_at"), r.int("terminate_at")];
                (r.flag("complete"), times.iter().all(Option::is_some))
            });
            assert!(whole.iter().all(|(complete, has_all)| complete == has_all), "{}", recording.name);
        }
    }
}
