//! Compares the occupation of each core with `truth.tsv`, the context switches as the host made them.
//!
//! The kernel writes that a task runs at most 0.5 µs before it switches to it, and that an ISR runs some 30
//! ns after the interrupt was taken. So exactly one span of the mapping belongs to every switch of the host.
//! It is of the same process, and begins at most [`EARLY`] before and at most [`LATE`] after the switch.
//! Further spans of the mapping are allowed only as long as such a difference can last: no process, or the
//! interrupted task between the end of its ISR and its own end on the core. A task that ends and starts again
//! is one span for the host.

use super::occupancy::{Occupant, occupancy};
use super::{Recording, corpus, none};

const EARLY: i64 = 500;
const LATE: i64 = 50;

/// A switch: time, what executes from then on, the task underneath.
struct Switch {
    time: i64,
    name: String,
    task: String,
}

fn switches(recording: &Recording, rows: &[Vec<String>], core: usize) -> Vec<Switch> {
    let (begin, end) = recording.range;
    let mut out: Vec<Switch> = Vec::new();
    if recording.from_start {
        out.push(Switch { time: begin, name: "-".into(), task: "-".into() });
    }
    for row in rows.iter().filter(|row| row[1] == core.to_string()) {
        let (time, name, task) = (row[0].parse().unwrap(), row[2].clone(), row[4].clone());
        if time > end - EARLY || time < begin {
            continue;
        }
        if out.last().is_none_or(|last| last.name != name) {
            out.push(Switch { time, name, task });
        }
    }
    out
}

/// Checks one core; returns the earliest and the latest begin of a span relative to its switch.
fn check(
    switches: &[Switch],
    stretches: &[(i64, Occupant)],
    end: i64,
    problems: &mut Vec<String>,
) -> (i64, i64) {
    let (mut earliest, mut latest) = (0, 0);
    let mut at = 0;
    let mut last: Option<&Switch> = None;
    let extra = |n: usize, last: Option<&Switch>, next: Option<&Switch>| {
        let (begin, occupant) = &stretches[n];
        let lasts = stretches.get(n + 1).map_or(end, |s| s.0) - begin;
        let goes_on = last.is_none_or(|l| l.name == occupant.name());
        let task = [last, next].into_iter().flatten().any(|s| s.task == occupant.name());
        goes_on || (lasts <= EARLY && (*occupant == Occupant::Nobody || task))
    };
    for switch in switches {
        let fits =
            |s: &(i64, Occupant)| s.1.name() == switch.name && (-EARLY..=LATE).contains(&(s.0 - switch.time));
        let Some(found) = stretches[at..].iter().take(8).position(fits).map(|n| at + n) else {
            problems.push(format!(
                "{} at {}: no such stretch, but {:?}",
                switch.name,
                switch.time,
                stretches.get(at)
            ));
            continue;
        };
        let odd = (at..found).filter(|n| !extra(*n, last, Some(switch)));
        problems
            .extend(odd.map(|n| format!("before {} at {}: {:?}", switch.name, switch.time, stretches[n])));
        let difference = stretches[found].0 - switch.time;
        earliest = earliest.min(difference);
        latest = latest.max(difference);
        at = found + 1;
        last = Some(switch);
    }
    // The last moments of the host are not compared.
    let odd = (at..stretches.len()).filter(|n| stretches[*n].0 < end - 2 * EARLY && !extra(*n, last, None));
    problems.extend(odd.map(|n| format!("no switch of the host: {:?}", stretches[n])));
    (earliest, latest)
}

#[test]
fn the_process_on_each_core_changes_when_the_host_switches() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let Some(rows) = recording.tsv("truth.tsv") else { continue };
        let (begin, end) = recording.range;
        let cores = recording.description.core.iter().map(|c| c.name.as_str());
        let timelines = occupancy(cores.clone(), &recording.events, recording.from_start);
        for (number, core) in cores.enumerate() {
            let switches = switches(recording, &rows, number);
            let mut problems = Vec::new();
            let stretches = timelines[core].stretches(begin.min(0));
            let (earliest, latest) = check(&switches, &stretches, end, &mut problems);
            eprintln!("{} {core}: {} switches, {earliest} … {latest} ns", recording.name, switches.len());
            none(&format!("{} {core}", recording.name), &problems);
        }
    }
}
