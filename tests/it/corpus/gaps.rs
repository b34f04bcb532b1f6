//! A gap in the trace of one core: the exports say that the trace memory overflowed, and lines are missing.
//! The mapping goes on, knows nothing of that core until it sees it again, and invents nothing (rules H1 to
//! H5).

use super::checker::Checker;
use super::occupancy::occupancy;
use super::{Event, Ingested, Recording, corpus, cuts, ingested, none};
use btfdb::tables;
use std::collections::{HashMap, HashSet};
use std::fs;

/// A gap `[from, to)` in both exports of core number `core`.
#[derive(Debug, Clone, Copy)]
struct Hole {
    core: usize,
    from: i64,
    to: i64,
}

/// Maps the recording with this gap. Also returns what table `gap` must say, by the lines around the gap.
/// `None` if an export has no line on one side of the gap: then it is the edge of the recording.
fn mapped_with(recording: &Recording, hole: Hole) -> Option<(Ingested, Vec<(i64, i64)>)> {
    let folder = cuts::part(recording, i64::MIN, i64::MAX);
    let core = &recording.description.core[hole.core];
    let mut gaps = Vec::new();
    for (file, overflow) in [
        (&core.data, "-0000000000,,\"\",\"TARGET FIFO OVERFLOW\",\n"),
        (&core.functions, "; TARGET FIFO OVERFLOW; \n"),
    ] {
        let path = folder.path().join(file.as_ref().unwrap());
        let text = fs::read_to_string(&path).unwrap();
        let time = |l: &&str| cuts::time_of(l);
        let before: Vec<&str> = text.lines().filter(|l| time(l) < hole.from).collect();
        let after: Vec<&str> = text.lines().filter(|l| time(l) >= hole.to).collect();
        gaps.push((before.last().map(time)?, after.first().map(time)?));
        let lines = |l: &[&str]| -> String { l.iter().flat_map(|l| [l, "\n"]).collect() };
        fs::write(&path, lines(&before) + overflow + &lines(&after)).unwrap();
    }
    gaps.sort_unstable();
    Some((ingested(folder.path(), 1), gaps))
}

/// The core on which each task runs.
fn homes(recording: &Recording) -> HashMap<String, String> {
    let ran = recording.events.iter().filter(|e| e.kind == "T" && e.action == "start");
    ran.map(|e| (e.target.clone(), e.source.clone())).collect()
}

/// What breaks a chart, given that nothing of the core is known after the gaps.
fn broken_charts(recording: &Recording, events: &[Event], core: &str, gaps: &[(i64, i64)]) -> Vec<String> {
    let homes = homes(recording);
    let mut checker = Checker::new(recording.from_start);
    let mut gaps = gaps.iter().peekable();
    for e in events {
        while gaps.next_if(|g| g.0 < e.time).is_some() {
            checker.forget(core, &homes);
        }
        checker.event(e);
    }
    checker.finish()
}

/// Compares the occupation of the cores with that of the recording without a gap. It must be the same before
/// the gap and on other cores. After the gap, on its core, it is the same process or none, and none only
/// until that process is seen.
fn misplaced(recording: &Recording, events: &[Event], hole: Hole, gaps: &[(i64, i64)]) -> Vec<String> {
    let cores = recording.description.core.iter().map(|c| c.name.as_str());
    let whole = occupancy(cores.clone(), &recording.events, recording.from_start);
    let found = occupancy(cores.clone(), events, recording.from_start);
    let (begin, end) = (gaps[0].0, gaps.iter().map(|g| g.1).max().unwrap());
    let mut problems = Vec::new();
    for (number, core) in cores.enumerate() {
        let seen_at: HashMap<&str, i64> = events
            .iter()
            .rev()
            .filter(|e| e.is_process() && e.source == core && e.time > begin)
            .map(|e| (e.target.as_str(), e.time))
            .collect();
        let mut times: Vec<i64> = whole[core].stretches(recording.range.0).iter().map(|s| s.0).collect();
        times.extend(found[core].stretches(recording.range.0).iter().map(|s| s.0));
        times.sort_unstable();
        times.dedup();
        for time in times {
            let (expected, now) = (whole[core].at(time).name(), found[core].at(time).name());
            let in_hole = number == hole.core && (begin..end).contains(&time);
            let unseen = number == hole.core
                && time >= end
                && now == "-"
                && seen_at.get(expected).is_none_or(|seen| *seen > time);
            if expected != now && !in_hole && !unseen {
                problems.push(format!("{core} at {time}: {now}, not {expected}"));
            }
        }
    }
    problems
}

/// Instances that span the gap on its core and are marked as complete.
fn whole_over_gap(ingested: &Ingested, core: &str, begin: i64) -> Vec<String> {
    let over = |from: Option<i64>, to: Option<i64>| from.zip(to).is_some_and(|(a, b)| a < begin && begin < b);
    let processes = ingested.rows(tables::PROCESS_INSTANCE, None, |r| {
        let spans = over(r.int("activate_at"), r.int("terminate_at")) && r.text("core") == Some(core);
        (spans && r.flag("complete")).then(|| format!("{:?} {:?}", r.text("process"), r.int("instance")))
    });
    let runnables = ingested.rows(tables::RUNNABLE_INSTANCE, None, |r| {
        let spans = over(r.int("start_at"), r.int("terminate_at")) && r.text("core") == Some(core);
        (spans && r.flag("complete")).then(|| format!("{:?} {:?}", r.text("runnable"), r.int("instance")))
    });
    processes.into_iter().chain(runnables).flatten().collect()
}

/// Processes and runnables that are alive on the core when the gap begins.
fn alive(recording: &Recording, core: &str, begin: i64) -> HashSet<(String, i64)> {
    let homes = homes(recording);
    let mut alive = HashSet::new();
    for e in recording.events.iter().take_while(|e| e.time <= begin) {
        let here = match e.kind.as_str() {
            "T" => homes.get(&e.target).is_some_and(|c| c == core),
            "I" => e.source == core,
            _ => false,
        };
        match e.action.as_str() {
            "activate" | "start" if here => drop(alive.insert(e.to())),
            "terminate" if here => drop(alive.remove(&e.to())),
            _ => {}
        }
    }
    alive
}

/// What is wrong after a gap `[from, to)`; `None` if it would not be one.
pub fn check(recording: &Recording, core: usize, from: i64, to: i64) -> Option<Vec<String>> {
    let hole = Hole { core, from, to };
    let name = recording.description.core[core].name.as_str();
    let (ingested, gaps) = mapped_with(recording, hole)?;
    let mut problems = Vec::new();
    let stored = ingested.rows(tables::GAP, None, |r| {
        let is_overflow = r.text("reason").is_some_and(|t| t.contains("fifo overflow"));
        (r.text("core") == Some(name) && is_overflow, r.int("begin_at").unwrap(), r.int("end_at").unwrap())
    });
    let expected: Vec<_> = gaps.iter().map(|(begin, end)| (true, *begin, *end)).collect();
    if stored != expected {
        problems.push(format!("gaps {stored:?}, not {expected:?}"));
    }
    let accounts = ingested.rows(tables::SOURCE, None, |r| {
        r.int("records").unwrap()
            - r.int("rows").unwrap()
            - r.int("rejected").unwrap()
            - r.int("skipped").unwrap()
    });
    if accounts.iter().any(|left| *left != 0) {
        problems.push(format!("lines that are not accounted for: {accounts:?}"));
    }
    let events = ingested.events();
    let begin = gaps[0].0;
    let first = |events: &[Event]| events.partition_point(|e| e.time <= begin);
    if events[..first(&events)] != recording.events[..first(&recording.events)] {
        problems.push("the events before the hole are different".into());
    }
    problems.extend(broken_charts(recording, &events, name, &gaps));
    problems.extend(misplaced(recording, &events, hole, &gaps));
    problems.extend(whole_over_gap(&ingested, name, begin).into_iter().map(|i| format!("{i} is complete")));
    let incomplete: HashSet<(String, i64)> = ingested
        .rows(tables::PROCESS_INSTANCE, None, |r| {
            (!r.flag("complete")).then(|| (r.text("process").unwrap().to_owned(), r.int("instance").unwrap()))
        })
        .into_iter()
        .flatten()
        .collect();
    let missing: Vec<_> = alive(recording, name, begin).difference(&incomplete).cloned().collect();
    problems.extend(missing.iter().map(|i| format!("{i:?} was cut by the hole and is not incomplete")));
    Some(problems)
}

#[test]
fn the_mapping_survives_a_hole() {
    let Some(recordings) = corpus() else { return };
    let (mut problems, mut holes) = (Vec::new(), 0);
    for recording in recordings {
        let (begin, end) = recording.range;
        for core in 0..recording.description.core.len() {
            for (share, length) in [(2, 20_000), (3, 300_000), (5, 4_000_000), (6, 60_000_000)] {
                let from = begin + (end - begin) * share / 9;
                let what = format!("{} core {core}, hole from {from}, {length} ns", recording.name);
                let Some(found) = check(recording, core, from, from + length) else { continue };
                holes += 1;
                problems.extend(found.into_iter().map(|p| format!("{what}: {p}")));
            }
        }
    }
    assert!(holes > recordings.len(), "{holes} holes");
    none("holes", &problems);
}
