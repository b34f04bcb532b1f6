//! Compares counts with `truth_counts.json`, in which the application and the host counted by themselves and
//! not from the trace. All counts are of the recorded time only, so they must agree exactly.

use super::{Event, corpus, none};
use serde_json::Value;

/// BTF names have the core in front if two cores use the same name.
fn is(btf: &str, name: &str) -> bool {
    btf == name || btf.split_once('.').is_some_and(|(_, bare)| bare == name)
}

struct Counted<'a> {
    events: &'a [Event],
    problems: Vec<String>,
    compared: usize,
}

impl Counted<'_> {
    fn count(&self, kind: &str, name: &str, action: &str) -> i64 {
        let wanted = |e: &&Event| e.kind == kind && e.action == action && is(&e.target, name);
        self.events.iter().filter(wanted).count() as i64
    }

    /// `counted` may be one less for each call that the end of the recording cut in two.
    fn same(&mut self, what: &str, mapped: i64, counted: Option<i64>, in_flight: i64) {
        let Some(counted) = counted else { return };
        self.compared += 1;
        if !(counted..=counted + in_flight).contains(&mapped)
            && !(counted - in_flight..=counted).contains(&mapped)
        {
            self.problems.push(format!("{what}: {mapped} mapped, {counted} counted"));
        }
    }
}

fn number(object: &Value, key: &str) -> Option<i64> {
    object.get(key).and_then(Value::as_i64)
}

fn members(truth: &Value, key: &str) -> Vec<(String, Value)> {
    let object = truth.get(key).and_then(Value::as_object);
    object.map(|o| o.iter().map(|(k, v)| (k.clone(), v.clone())).collect()).unwrap_or_default()
}

#[test]
fn nothing_happens_more_or_less_often_than_counted() {
    let Some(recordings) = corpus() else { return };
    for recording in recordings {
        let Some(truth) = recording.json("truth_counts.json") else { continue };
        let mut c = Counted { events: &recording.events, problems: Vec::new(), compared: 0 };
        for (task, counts) in members(&truth, "tasks") {
            let in_flight = number(&counts, "in_flight").unwrap_or(0);
            let activated = c.count("T", &task, "activate");
            c.same(&format!("{task} activations"), activated, number(&counts, "accepted"), 0);
            let lost = c.count("T", &task, "mtalimitexceeded");
            c.same(&format!("{task} activations lost"), lost, number(&counts, "lost"), in_flight);
            let ended = c.count("T", &task, "terminate");
            c.same(&format!("{task} terminations"), ended, number(&counts, "terminations"), 0);
            let started = c.count("T", &task, "start");
            c.same(&format!("{task} starts"), started, number(&counts, "start").or(Some(0)), 0);
            let before = number(&counts, "active_at_begin").unwrap_or(0);
            c.same(
                &format!("{task} at the end"),
                before + activated - ended,
                number(&counts, "active_at_end"),
                0,
            );
            // Only autostart activates without a request.
            if recording.from_start {
                let by_itself = c.count("STI", &format!("STI_{task}"), "trigger");
                let alarm = members(&truth, "alarms").iter().any(|(a, _)| *a == format!("STI_{task}"));
                let counted = number(&counts, "autostart").filter(|_| !alarm);
                c.same(&format!("{task} autostarts"), by_itself, counted, 0);
            }
        }
        for (alarm, count) in members(&truth, "alarms") {
            let triggers = c.count("STI", &alarm, "trigger");
            c.same(&format!("alarm {alarm}"), triggers, count.as_i64(), 0);
        }
        for (runnable, count) in members(&truth, "runnable_calls") {
            let starts = c.count("R", &runnable, "start");
            c.same(&format!("runnable {runnable}"), starts, count.as_i64(), 0);
        }
        let calls: i64 = members(&truth, "runnable_calls").iter().filter_map(|(_, n)| n.as_i64()).sum();
        let starts = c.events.iter().filter(|e| e.kind == "R" && e.action == "start").count();
        c.same("all runnables", starts as i64, Some(calls), 0);
        for (access, count) in members(&truth, "signal_accesses") {
            let (signal, how) = access.split_once(':').unwrap();
            let action = if how == "w" { "write" } else { "read" };
            let accesses = c.count("SIG", signal, action);
            c.same(&format!("signal {access}"), accesses, count.as_i64(), 0);
        }
        let software = recording.tsv("full.tsv").map(|rows| rows.len() as i64);
        c.same("software events", software.unwrap_or(-1), number(&truth, "trace_events"), 0);
        eprintln!("{}: {} counts", recording.name, c.compared);
        none(&recording.name, &c.problems);
    }
}
