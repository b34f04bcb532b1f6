//! Compares the occupation of each core with what really executed, at every record.
//!
//! `full.tsv` has two columns for every record of a core that the simulator knows and the exports do not
//! contain: the task whose context is loaded (`-`: none), and the level of the interrupt being served (0:
//! none; each handler has a priority, so the level is no depth). Both change when the host switches, not when
//! the kernel writes a variable. The handler that runs at a level is known from its entry and its exit. So,
//! for each record of a core:
//!
//! * **In an ISR** (level > 0, from the entry of the handler that has this level to its exit, both included):
//!   the process on the core must be this handler. At the entry of a category 1 handler only *after* the
//!   record, and at its exit only *before* it, because these records are what starts and ends that ISR.
//! * **In a task or idle** (level 0): the process on the core must be the task, or none.
//! * **Not comparable by itself** are the records in which the kernel is between two processes, and only
//!   those:
//!   - level > 0 before the entry of the handler and after its exit: the kernel saves and restores
//!     RUNNINGISR2 here, and after the last ISR dispatches the next task before the level falls;
//!   - level 0 from the write of a task state from or to RUNNING (the kernel writes it up to 0.5 µs before it
//!     switches) to the next change of context or level, or to the entry of a task's body, when a task is
//!     followed by its own next instance.
//!
//!   In such a span the process on the core must change in this order: the last comparable one, the
//!   interrupted process (the kernel gives it the core back before it looks for a better one), none, the next
//!   comparable one. A step may be left out, none may be repeated, and nothing else may occur.

use super::occupancy::{Timeline, occupancy};
use super::{Recording, corpus, none};
use std::collections::HashMap;

/// One record of `full.tsv` with what must be on the core.
struct Record {
    time: i64,
    text: String,
    /// Context and level, which distinguish the spans.
    oracle: (String, i64),
    /// The process that must be on the core; `None` when not comparable by itself.
    expected: Option<String>,
    /// What the interrupt being entered or left interrupted; outside of interrupts the context.
    beneath: String,
    /// What was written to SERVICETRACE.
    service: Option<i64>,
    /// Entry of a category 1 handler (or exit): the process is there only after (before) the record.
    begins: bool,
    ends: bool,
}

fn records(recording: &Recording, full: &[Vec<String>], core: usize) -> Vec<Record> {
    let (handlers, category1) = (recording.handlers(), recording.category1());
    let bodies = &recording.description.task_functions;
    let number = core.to_string();
    let rows: Vec<&Vec<String>> = full.iter().filter(|row| row[1] == number).collect();
    let mut open = entered_before(&rows, &handlers);
    let mut dispatching = false;
    let mut states: HashMap<&str, &str> = HashMap::new();
    let mut oracle = (String::new(), 0);
    let mut out = Vec::new();
    for row in rows {
        let (what, name, value) = (row[2].as_str(), row[3].as_str(), row[4].as_str());
        let level: i64 = row[7].parse().unwrap();
        let now = (row[6].clone(), level);
        let is_handler = handlers.iter().any(|h| h == name);
        if oracle != now || (what == "E" && bodies.contains_key(name)) {
            dispatching = false;
        }
        oracle = now;
        if what == "W" && name.starts_with("EE_th_status[") {
            // 0 is RUNNING in this kernel.
            let left = states.get(name).map_or(!recording.from_start, |old| *old == "0");
            dispatching |= value == "0" || left;
            states.insert(name, value);
        }
        if what == "E" && is_handler {
            open.push((name.to_owned(), level));
        }
        let top = open.last();
        let expected = match (level, top) {
            (0, _) => (!dispatching).then(|| oracle.0.clone()),
            (_, Some((handler, served))) if *served == level => Some(handler.clone()),
            _ => None,
        };
        let context = oracle.0.clone();
        let beneath =
            top.filter(|(_, served)| *served < level).map_or(context, |(handler, _)| handler.clone());
        let is_category1 = category1.iter().any(|c| c == name);
        out.push(Record {
            time: row[0].parse().unwrap(),
            text: row.join(" "),
            oracle: oracle.clone(),
            expected,
            beneath,
            service: (name == "EE_ORTI_servicetrace").then(|| value.parse().unwrap()),
            begins: what == "E" && is_category1,
            ends: what == "X" && is_category1,
        });
        if what == "X" && is_handler {
            let (handler, _) = open.pop().unwrap();
            assert_eq!(handler, name, "handlers are nested");
        }
    }
    out
}

/// Handlers that were entered before the recording began, outermost first: their exits have no entry.
fn entered_before(rows: &[&Vec<String>], handlers: &[String]) -> Vec<(String, i64)> {
    let (mut depth, mut open) = (0, Vec::new());
    for row in rows.iter().filter(|row| handlers.contains(&row[3])) {
        match row[2].as_str() {
            "E" => depth += 1,
            "X" if depth > 0 => depth -= 1,
            "X" => open.push((row[3].clone(), row[7].parse().unwrap())),
            _ => {}
        }
    }
    open.reverse();
    open
}

/// When the kernel is at work on a core: between two processes, or in a service call that changes more than
/// locks.
pub struct Kernel {
    /// Per core: time of a record, and whether the kernel is at work from there on.
    cores: Vec<Vec<(i64, bool)>>,
}

impl Kernel {
    pub fn new(recording: &Recording, full: &[Vec<String>]) -> Self {
        let cores = (0..recording.description.core.len()).map(|core| {
            let (mut serving, mut ending) = (false, false);
            let records = records(recording, full, core);
            let working = records.iter().map(|r| {
                if let Some(service) = r.service {
                    // The entry of a service is odd, its exit even: ActivateTask 2, TerminateTask 4,
                    // ChainTask 6, SetEvent 30, ClearEvent 32, WaitEvent 36. A task that ends leaves the
                    // service before it ends.
                    serving = matches!(service, 3 | 5 | 7 | 31 | 33 | 37);
                    ending = matches!(service, 4..=7);
                }
                ending &= r.expected.is_some();
                (r.time, r.expected.is_none() || serving || ending)
            });
            working.collect()
        });
        Self { cores: cores.collect() }
    }

    /// True when the kernel is at work on any core at `time`, or from then on.
    pub fn works_at(&self, time: i64) -> bool {
        self.cores.iter().any(|records| {
            let next = records.partition_point(|r| r.0 < time);
            let before = next.checked_sub(1).is_some_and(|n| records[n].1);
            before || records.get(next).is_some_and(|r| r.1)
        })
    }
}

/// Compares; returns how many records were comparable by themselves.
fn compare(records: &[Record], timeline: &Timeline, problems: &mut Vec<String>) -> usize {
    let mut comparable = 0;
    let mut last: Option<&str> = None;
    let mut n = 0;
    while let Some(record) = records.get(n) {
        let (before, after) = (timeline.before(record.time).name(), timeline.at(record.time).name());
        if let Some(expected) = record.expected.as_deref() {
            let known = before != "?" || after != "?";
            if known && (!record.begins && before != expected || !record.ends && after != expected) {
                problems.push(format!("{}: {expected} runs, not {before} / {after}", record.text));
            }
            comparable += usize::from(known);
            last = Some(expected);
            n += 1;
            continue;
        }
        let end = records[n..].iter().position(|r| r.expected.is_some()).map_or(records.len(), |m| n + m);
        let between = &records[n..end];
        let mut allowed: Vec<&str> = last.into_iter().collect();
        for (m, r) in between.iter().enumerate() {
            let same = m
                .checked_sub(1)
                .is_some_and(|p| between[p].oracle == r.oracle && between[p].beneath == r.beneath);
            if !same {
                allowed.extend([r.beneath.as_str(), "-"]);
            }
        }
        allowed.extend(records.get(end).and_then(|r| r.expected.as_deref()));
        let mut seen: Vec<&str> = Vec::new();
        for r in between {
            for name in [timeline.before(r.time).name(), timeline.at(r.time).name()] {
                if name != "?" && seen.last() != Some(&name) {
                    seen.push(name);
                }
            }
        }
        let mut path = allowed.iter();
        if !seen.iter().all(|s| path.any(|a| a == s)) {
            problems.push(format!("from {}: {seen:?} is not a way along {allowed:?}", record.text));
        }
        n = end;
    }
    comparable
}

#[test]
fn the_process_on_each_core_is_the_one_that_executes_at_every_record() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let Some(full) = recording.tsv("full.tsv") else { continue };
        let cores = recording.description.core.iter().map(|c| c.name.as_str());
        let timelines = occupancy(cores.clone(), &recording.events, recording.from_start);
        let mut problems = Vec::new();
        for (number, core) in cores.enumerate() {
            let records = records(recording, &full, number);
            let comparable = compare(&records, &timelines[core], &mut problems);
            eprintln!("{} {core}: {comparable} of {} records comparable", recording.name, records.len());
            assert!(comparable * 3 > records.len(), "{}: hardly anything was compared", recording.name);
        }
        none(&recording.name, &problems);
    }
}
