//! Compares the mapping of a part of a recording with the mapping of the whole, from the cut on. The list
//! below says what a part cannot know. Everything else must be the same, event by event.
//!
//! First the events of the whole are changed into what its part can show at best. At the cut,
//!
//! 1. *runnables that are open* have no entry in the part: none of their later events is expected;
//! 2. *a stimulus that has fired and not yet activated anything* is not known: the activation comes from a
//!    stimulus of its own, `SIM → STI_<task>`, that fires at the same time. An event that such a stimulus
//!    sets may have any source;
//! 3. *a process that waits actively for a semaphore*, polling or parked, looks like one that runs or is
//!    ready: until it gets the semaphore, its leaving and entering the core are compared without the
//!    difference of park and preempt or poll_parking and resume, its poll, run and release_parking not at
//!    all, and neither the semaphore's events;
//! 4. *semaphores* are ready in both, at the begin of each.
//!
//! Instances are compared modulo their numbers: in both sequences, the instances of each entity are numbered
//! by their first appearance. That the numbers of the part rise without gaps is tested by `checker`.

use super::Event;
use super::occupancy::{Occupant, occupancy};
use std::collections::{HashMap, HashSet};

type Key = (String, i64);

/// What holds at the cut, by the events of the whole before it.
#[derive(Default)]
struct AtCut {
    runnables: HashSet<Key>,
    fired: HashSet<Key>,
    /// Process → the semaphore that it waits for actively.
    waiting: HashMap<Key, String>,
}

impl AtCut {
    fn new(before: &[Event]) -> Self {
        let mut cut = Self::default();
        for e in before {
            match (e.kind.as_str(), e.action.as_str()) {
                ("R", "start") => drop(cut.runnables.insert(e.to())),
                ("R", "terminate") => drop(cut.runnables.remove(&e.to())),
                ("STI", "trigger") => drop(cut.fired.insert(e.to())),
                ("T" | "I", "activate" | "mtalimitexceeded") => drop(cut.fired.remove(&e.by())),
                ("T" | "I", "terminate") => drop(cut.waiting.remove(&e.to())),
                ("SEM", "waiting") => drop(cut.waiting.insert(e.by(), e.target.clone())),
                ("SEM", "assigned") => drop(cut.waiting.remove(&e.by())),
                _ => {}
            }
        }
        cut
    }
}

/// The events of the whole from the cut on, as a part of it can show them.
fn expected(before: &[Event], after: &[Event]) -> Vec<Event> {
    let cut = AtCut::new(before);
    let mut out = Vec::new();
    for e in after {
        let mut e = e.clone();
        let known = !cut.fired.contains(&e.by());
        match (e.kind.as_str(), e.action.as_str()) {
            ("R", _) if cut.runnables.contains(&e.to()) => continue,
            ("SEM", "ready") => continue,
            ("T" | "I", "activate" | "mtalimitexceeded") if !known => {
                let stimulus = format!("STI_{}", e.target);
                let mut trigger = e.clone();
                (trigger.source, trigger.source_instance) = ("SIM".into(), -1);
                (trigger.kind, trigger.action) = ("STI".into(), "trigger".into());
                // A number that the whole cannot have.
                (trigger.target, trigger.instance) = (stimulus.clone(), i64::MIN + out.len() as i64);
                (e.source, e.source_instance) = (stimulus, trigger.instance);
                out.push(trigger);
            }
            ("EVENT", "set_event") if !known => e.source = "any".into(),
            _ => {}
        }
        out.push(e);
    }
    out
}

/// Leaves out of both sequences what 3 says. `waiting` is from the whole: processes with the semaphore that
/// they wait for, and when they got it.
fn without_polling(events: Vec<Event>, waiting: &HashMap<Key, String>) -> Vec<Event> {
    let mut waiting: Vec<(&str, &str, Option<i64>)> = waiting
        .iter()
        .map(|((process, _), semaphore)| (process.as_str(), semaphore.as_str(), None))
        .collect();
    let mut out = Vec::new();
    for mut e in events {
        // What belongs to the moment in which it gets the semaphore has the same time.
        waiting.retain(|(_, _, got)| got.is_none_or(|time| time == e.time));
        if let Some(w) = waiting.iter_mut().find(|w| e.kind == "SEM" && w.1 == e.target) {
            if e.action == "assigned" && e.source == w.0 {
                w.2 = Some(e.time);
            }
            continue;
        }
        if e.is_process() && waiting.iter().any(|w| w.0 == e.target) {
            match e.action.as_str() {
                "poll" | "run" | "release_parking" => continue,
                "park" => e.action = "preempt".into(),
                "poll_parking" => e.action = "resume".into(),
                _ => {}
            }
        }
        out.push(e);
    }
    out
}

/// Numbers the instances of each entity by their first appearance.
fn renumbered(events: &mut [Event]) {
    let mut numbers: HashMap<(String, String), HashMap<i64, i64>> = HashMap::new();
    let mut number = |kind: &str, name: &str, instance: i64| {
        let of_entity = numbers.entry((kind.to_owned(), name.to_owned())).or_default();
        let next = of_entity.len() as i64;
        *of_entity.entry(instance).or_insert(next)
    };
    for e in events {
        // Processes, stimuli and runnables never share a name, so a name identifies a source.
        e.source_instance = number("", &e.source, e.source_instance);
        e.instance = number("", &e.target, e.instance);
    }
}

/// The differences between the mapping of a part, which begins at `cut`, and that of the whole.
pub fn differences(whole: &[Event], part: &[Event], cut: i64) -> Vec<String> {
    let at = whole.partition_point(|e| e.time < cut);
    let (before, after) = whole.split_at(at);
    let waiting = AtCut::new(before).waiting;
    // Locks that were taken before the cut are taken when the part begins.
    let begin = part.first().map(|e| e.time);
    let of_edge = |e: &Event| e.action == "ready" || e.action == "lock" && Some(e.time) == begin;
    let part = part.iter().filter(|e| e.time >= cut && !of_edge(e)).cloned().collect();
    let mut expected = without_polling(expected(before, after), &waiting);
    let mut found = without_polling(part, &waiting);
    for (expected, found) in expected.iter().zip(&mut found) {
        if expected.source == "any" {
            (found.source, found.source_instance) = (expected.source.clone(), expected.source_instance);
        }
    }
    let shown: Vec<(Event, Event)> = expected.iter().cloned().zip(found.iter().cloned()).collect();
    renumbered(&mut expected);
    renumbered(&mut found);
    let mut out = Vec::new();
    if expected.len() != found.len() {
        out.push(format!("{} events, not {}", found.len(), expected.len()));
    }
    let differ = expected.iter().zip(&found).zip(shown).filter(|((a, b), _)| a != b);
    out.extend(differ.map(|(_, (a, b))| format!("expected {}\n    found    {}", a.line(), b.line())));
    out
}

/// The differences in the occupation of each core from the cut on.
pub fn moved<'a>(
    cores: impl Iterator<Item = &'a str> + Clone,
    whole: &[Event],
    part: &[Event],
    cut: i64,
) -> Vec<String> {
    let (whole, part) = (occupancy(cores.clone(), whole, true), occupancy(cores.clone(), part, false));
    let mut out = Vec::new();
    for core in cores {
        let (expected, found) = (whole[core].stretches(cut), part[core].stretches(cut));
        // If nothing enters or leaves the core any more, the part cannot know its process.
        if found == [(cut, Occupant::Unknown)] && expected.len() == 1 {
            continue;
        }
        let names = |s: &[(i64, Occupant)]| -> Vec<(i64, String)> {
            s.iter().map(|(time, occupant)| (*time, occupant.name().to_owned())).collect()
        };
        let (expected, found) = (names(&expected), names(&found));
        if let Some((a, b)) = expected.iter().zip(&found).find(|(a, b)| a != b) {
            out.push(format!("{core}: {b:?}, not {a:?}"));
        } else if expected.len() != found.len() {
            out.push(format!("{core}: {} changes, not {}", found.len(), expected.len()));
        }
    }
    out
}
