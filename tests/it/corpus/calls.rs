//! Compares stimuli, activations and OS events with `truth_calls.tsv`. That file has every service call of
//! the application with its caller, its target and the returned status, every alarm that expired, and every
//! begin and end of a task's body.
//!
//! * ActivateTask and ChainTask: the caller triggers a stimulus within [`CALL`] ns, and this very stimulus
//!   activates the target (status 0), or loses the activation (E_OS_LIMIT), or does nothing (any other
//!   error). The caller is the real one, also when the call is carried out on another core.
//! * SetEvent: while the call lasts, the caller sets every event of the mask for the target that was not set
//!   already.
//! * Alarms: the alarm triggers a stimulus; it activates the target of the alarm or loses the activation, or
//!   it sets the event, unless that was set already. Targets are those of `meta.json`.
//! * Bodies: a task starts at most [`START`] ns before its body, and ends at most [`END`] ns after it;
//!   longer, by at most [`INTERRUPTED`] ns, only when an ISR starts in between.
//!
//! Nothing else is triggered, set, started or ended. At the edges of a recording, an event whose partner is
//! beyond the edge may be missing.

use super::{Event, Recording, corpus, none};
use btfdb::internals::orti::OsHeader;
use std::collections::{BTreeMap, HashMap};

const CALL: i64 = 100;
const ALARM: i64 = 2_500;
const START: i64 = 600;
const END: i64 = 1_000;
const INTERRUPTED: i64 = 200_000;
const E_OS_LIMIT: i64 = 4;

/// A row of the file.
struct Call {
    time: i64,
    caller: String,
    /// ActivateTask, ChainTask, SetEvent, alarm_fires, body_start, body_end.
    what: String,
    target: String,
    mask: u64,
    /// When it returned, and its status; `None` if the call does not return within the recording.
    returned: Option<(i64, i64)>,
}

fn calls(rows: &[Vec<String>]) -> Vec<Call> {
    let mut out: Vec<Call> = Vec::new();
    for row in rows {
        let (time, caller, what) = (row[0].parse().unwrap(), row[2].clone(), row[4].clone());
        let (target, value) = (row[5].clone(), row.get(6).map(String::as_str).unwrap_or_default());
        match what.as_str() {
            "ActivateTask" | "ChainTask" | "SetEvent" | "alarm_fires" | "body_start" | "body_end" => {
                let mask = if what == "SetEvent" { value.parse().unwrap() } else { 0 };
                out.push(Call { time, caller, what, target, mask, returned: None });
            }
            "return" | "SetEvent_return" => {
                let sets = what == "SetEvent_return";
                let open = out.iter_mut().rev().find(|c| {
                    c.caller == caller
                        && c.target == target
                        && (c.what == "SetEvent") == sets
                        && c.returned.is_none()
                        && !c.what.starts_with("body")
                        && c.what != "alarm_fires"
                });
                // A call from before the recording has no row.
                if let Some(call) = open {
                    call.returned = Some((time, value.parse().unwrap()));
                }
            }
            _ => {}
        }
    }
    out
}

/// BTF names have the core in front if two cores use the same name.
fn same(btf: &str, name: &str) -> bool {
    btf == name || btf.split_once('.').is_some_and(|(_, bare)| bare == name)
}

/// Pairs what the host saw with what was mapped, both in time order: `mapped − seen` must be in `window`. An
/// unpaired item is a problem, unless it is so near to an edge that its partner may be beyond.
fn pair<'a, A, B>(
    what: &str,
    seen: &'a [(i64, A)],
    mapped: &'a [(i64, B)],
    window: (i64, i64),
    edges: (i64, i64),
    problems: &mut Vec<String>,
) -> Vec<(&'a A, &'a B)> {
    let reach = window.0.abs().max(window.1);
    let at_edge = |time: i64| time <= edges.0 + reach || time >= edges.1 - reach;
    let (mut n, mut m, mut pairs) = (0, 0, Vec::new());
    while n < seen.len() || m < mapped.len() {
        match (seen.get(n), mapped.get(m)) {
            (Some(s), Some(b)) if (window.0..=window.1).contains(&(b.0 - s.0)) => {
                pairs.push((&s.1, &b.1));
                (n, m) = (n + 1, m + 1);
            }
            (Some(s), b) if b.is_none_or(|b| b.0 - s.0 > window.1) => {
                if !at_edge(s.0) {
                    problems.push(format!("{what} at {} is not mapped", s.0));
                }
                n += 1;
            }
            (_, Some(b)) => {
                if !at_edge(b.0) {
                    problems.push(format!("{what} at {} never happened", b.0));
                }
                m += 1;
            }
            _ => break,
        }
    }
    pairs
}

/// What the mapping says, by subject.
struct Mapped<'a> {
    events: &'a [Event],
    /// Stimulus → the event on a task that it caused.
    caused: HashMap<(String, i64), &'a Event>,
    /// Task → what events were set, after each change.
    set: BTreeMap<String, Vec<(i64, u64)>>,
    masks: HashMap<String, u64>,
}

impl<'a> Mapped<'a> {
    fn new(recording: &'a Recording) -> Self {
        let events = &recording.events;
        let headers = recording.description.core.iter().filter_map(|c| c.os_header.as_deref());
        let headers = headers.map(|h| OsHeader::parse(&std::fs::read(recording.folder.join(h)).unwrap()));
        let masks: HashMap<String, u64> = headers.flat_map(|h| h.events).collect();
        let caused = events.iter().filter(|e| matches!(e.action.as_str(), "activate" | "mtalimitexceeded"));
        let caused = caused.filter(|e| e.kind == "T").map(|e| (e.by(), e)).collect();
        let mut mapped = Self { events, caused, set: BTreeMap::new(), masks };
        let mut alive: HashMap<&str, i64> = HashMap::new();
        for e in events {
            let owner = e.note.as_deref().unwrap_or(&e.source);
            let task = if e.kind == "T" { &e.target } else { owner };
            let history = mapped.set.entry(task.to_owned()).or_default();
            let now = history.last().map_or(0, |(_, mask)| *mask);
            let mask = mapped.masks.get(&e.target).copied().unwrap_or(0);
            match e.action.as_str() {
                "set_event" => history.push((e.time, now | mask)),
                "clear_event" => history.push((e.time, now & !mask)),
                "activate" if e.kind == "T" => {
                    let alive = alive.entry(&e.target).or_default();
                    if *alive == 0 {
                        history.push((e.time, 0));
                    }
                    *alive += 1;
                }
                "terminate" if e.kind == "T" => *alive.entry(&e.target).or_default() -= 1,
                _ => {}
            }
        }
        mapped
    }

    /// Events of `task` that were set at any time in `[begin, end]`.
    fn set_within(&self, task: &str, begin: i64, end: i64) -> u64 {
        let Some(history) = self.set.iter().find(|(t, _)| same(t, task)).map(|(_, h)| h) else { return 0 };
        let before = history.iter().take_while(|(t, _)| *t < begin).last().map_or(0, |(_, mask)| *mask);
        let within = history.iter().filter(|(t, _)| (begin..=end).contains(t));
        within.fold(before, |all, (_, mask)| all | mask)
    }

    fn times<'s>(&'s self, action: &'s str, task: &'s str) -> Vec<(i64, &'a Event)> {
        let wanted =
            self.events.iter().filter(|e| e.kind == "T" && e.action == action && same(&e.target, task));
        wanted.map(|e| (e.time, e)).collect()
    }
}

/// The calls of one kind, by caller or by target.
fn grouped<'a>(
    calls: &'a [Call],
    key: impl Fn(&'a Call) -> &'a str,
    wanted: impl Fn(&Call) -> bool,
) -> BTreeMap<&'a str, Vec<(i64, &'a Call)>> {
    let mut out: BTreeMap<&str, Vec<(i64, &Call)>> = BTreeMap::new();
    for call in calls.iter().filter(|c| wanted(c)) {
        out.entry(key(call)).or_default().push((call.time, call));
    }
    out
}

fn activations(calls: &[Call], mapped: &Mapped<'_>, edges: (i64, i64), problems: &mut Vec<String>) -> usize {
    let mut compared = 0;
    let by_caller =
        grouped(calls, |c| c.caller.as_str(), |c| c.what == "ActivateTask" || c.what == "ChainTask");
    let triggers = mapped.events.iter().filter(|e| e.kind == "STI" && e.source != "SIM");
    let mut by_source: BTreeMap<&str, Vec<(i64, &Event)>> = BTreeMap::new();
    triggers.for_each(|e| by_source.entry(e.source.as_str()).or_default().push((e.time, e)));
    for (source, triggers) in &by_source {
        let calls = by_caller.iter().find(|(caller, _)| same(source, caller)).map(|(_, c)| c.as_slice());
        let what = format!("activation by {source}");
        let pairs = pair(&what, calls.unwrap_or_default(), triggers, (0, CALL), edges, problems);
        compared += pairs.len();
        for (call, trigger) in pairs {
            let caused = mapped.caused.get(&trigger.to());
            let action = match (call.returned, call.what.as_str()) {
                (Some((_, 0)), _) | (None, "ChainTask") => Some("activate"),
                (Some((_, E_OS_LIMIT)), _) => Some("mtalimitexceeded"),
                (Some(_), _) => None,
                // Its target took the core and kept it to the end of the recording, or the end cut the call.
                (None, _) => caused.map(|e| e.action.as_str()),
            };
            let until = call.returned.map_or(i64::MAX, |(time, _)| time);
            let target = caused.is_none_or(|e| same(&e.target, &call.target) && e.time <= until);
            if caused.map(|e| e.action.as_str()) != action || !target {
                let caused = caused.map(|e| e.line());
                problems
                    .push(format!("{what} at {}: {action:?} of {}, not {caused:?}", call.time, call.target));
            }
        }
    }
    let silent = by_caller.iter().filter(|(caller, _)| !by_source.keys().any(|s| same(s, caller)));
    for (caller, calls) in silent {
        let none: [(i64, ()); 0] = [];
        pair(&format!("activation by {caller}"), calls, &none, (0, CALL), edges, problems);
    }
    compared
}

fn events_set(calls: &[Call], mapped: &Mapped<'_>, edges: (i64, i64), problems: &mut Vec<String>) -> usize {
    let is_stimulus = |name: &str| mapped.events.iter().any(|e| e.kind == "STI" && e.target == name);
    let set: Vec<&Event> = mapped.events.iter().filter(|e| e.action == "set_event").collect();
    let mut explained = vec![false; set.len()];
    let mut compared = 0;
    for call in calls.iter().filter(|c| c.what == "SetEvent" && c.time >= edges.0 && c.time <= edges.1 - CALL)
    {
        let end = call.returned.map_or(edges.1, |(time, _)| time);
        let mut mask = 0;
        for (n, e) in set.iter().enumerate() {
            let owner = e.note.as_deref().unwrap_or_default();
            let within = (call.time..=end).contains(&e.time);
            if within && same(&e.source, &call.caller) && same(owner, &call.target) && !explained[n] {
                mask |= mapped.masks[&e.target];
                explained[n] = true;
            }
        }
        let already = mapped.set_within(&call.target, call.time, end) & !mask;
        let failed = call.returned.is_some_and(|(_, status)| status != 0);
        let complete = (mask | already) & call.mask == call.mask;
        if mask & !call.mask != 0
            || (failed && mask != 0)
            || (!failed && !complete && call.returned.is_some())
        {
            let (caller, target, wanted) = (&call.caller, &call.target, call.mask);
            let text = format!("SetEvent by {caller} on {target} at {}", call.time);
            problems.push(format!("{text}: {mask:#x} set and {already:#x} set before, of {wanted:#x}"));
        }
        compared += 1;
    }
    let odd = set.iter().zip(explained).filter(|(e, known)| !known && !is_stimulus(&e.source));
    problems.extend(odd.map(|(e, _)| format!("{}: nobody called SetEvent", e.line())));
    compared
}

fn alarms(
    calls: &[Call],
    mapped: &Mapped<'_>,
    meta: Option<&serde_json::Value>,
    edges: (i64, i64),
    problems: &mut Vec<String>,
) -> usize {
    let mut compared = 0;
    let described: Vec<&serde_json::Value> = meta
        .and_then(|m| m["alarms"].as_array())
        .map(|cores| cores.iter().filter_map(|c| c.as_array()).flatten().collect())
        .unwrap_or_default();
    for (alarm, calls) in grouped(calls, |c| c.target.as_str(), |c| c.what == "alarm_fires") {
        let fired =
            mapped.events.iter().filter(|e| e.kind == "STI" && e.source == "SIM" && same(&e.target, alarm));
        let fired: Vec<(i64, &Event)> = fired.map(|e| (e.time, e)).collect();
        let pairs = pair(&format!("alarm {alarm}"), &calls, &fired, (0, ALARM), edges, problems);
        compared += pairs.len();
        let Some(description) = described.iter().find(|d| d["name"] == alarm) else { continue };
        let target = description["target"].as_str().unwrap_or_default();
        for (_, stimulus) in pairs.iter().filter(|(c, _)| c.time < edges.1 - ALARM) {
            let right = match description["kind"].as_str() {
                Some("task") => mapped.caused.get(&stimulus.to()).is_some_and(|e| same(&e.target, target)),
                Some("event") => {
                    let bit = mapped.masks[description["ev"].as_str().unwrap()];
                    mapped.set_within(target, stimulus.time, stimulus.time + ALARM) & bit != 0
                }
                _ => true,
            };
            if !right {
                problems.push(format!("{} did nothing to {target}", stimulus.line()));
            }
        }
        let names: Vec<_> =
            mapped.events.iter().filter(|e| e.action == "set_event" && same(&e.source, alarm)).collect();
        for e in names {
            let right =
                description["ev"] == e.target.as_str() && e.note.as_deref().is_some_and(|n| same(n, target));
            if !right {
                problems.push(format!("{}: not what the alarm does", e.line()));
            }
        }
    }
    compared
}

fn bodies(calls: &[Call], mapped: &Mapped<'_>, edges: (i64, i64), problems: &mut Vec<String>) -> usize {
    let mut compared = 0;
    let ends = |c: &Call| c.what == "body_end" || (c.what == "ChainTask" && c.returned.is_none());
    let starts = grouped(calls, |c| c.target.as_str(), |c| c.what == "body_start");
    let ends = grouped(calls, |c| c.caller.as_str(), ends);
    let isrs = mapped.events.iter().filter(|e| e.kind == "I" && e.action == "start");
    let isrs: Vec<i64> = isrs.map(|e| e.time).collect();
    for (groups, action, window, limit) in
        [(starts, "start", (-INTERRUPTED, 0), START), (ends, "terminate", (0, INTERRUPTED), END)]
    {
        for (task, seen) in groups {
            let what = format!("{action} of {task}");
            for (call, event) in pair(&what, &seen, &mapped.times(action, task), window, edges, problems) {
                compared += 1;
                let (from, to) = (call.time.min(event.time), call.time.max(event.time));
                if to - from > limit && !isrs.iter().any(|t| (from..to).contains(t)) {
                    problems.push(format!("{what} at {}: {} ns from its body", event.time, to - from));
                }
            }
        }
    }
    compared
}

#[test]
fn callers_targets_and_outcomes_are_the_real_ones() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let Some(rows) = recording.tsv("truth_calls.tsv") else { continue };
        let calls = calls(&rows);
        let mapped = Mapped::new(recording);
        let meta = recording.json("meta.json");
        let (edges, mut problems) = (recording.range, Vec::new());
        let activated = activations(&calls, &mapped, edges, &mut problems);
        let set = events_set(&calls, &mapped, edges, &mut problems);
        let alarms = alarms(&calls, &mapped, meta.as_ref(), edges, &mut problems);
        let bodies = bodies(&calls, &mapped, edges, &mut problems);
        let name = &recording.name;
        eprintln!("{name}: {activated} activations, {set} events, {alarms} alarms, {bodies} begins and ends");
        none(name, &problems);
    }
}
