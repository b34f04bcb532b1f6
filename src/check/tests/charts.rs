//! Every action in every state of the three charts, against a separate list of the legal ones.

use super::{check_events, check_with, ids};
use crate::btf::spec::{State, Version};
use crate::check::CheckOptions;
use crate::diagnostics::Severity;

/// The edges, typed from the figures: state, action, next state.
/// The states of a process (2.1.5: table 6; since 2.2.0: table 2-10).
const PROCESS_STATES: &[State] = &[
    State::Active,
    State::Running,
    State::Ready,
    State::Waiting,
    State::Polling,
    State::Parking,
    State::Terminated,
];
/// The states of a runnable (2.1.5: table 10; since 2.2.0: table 2-25).
const RUNNABLE_STATES: &[State] = &[State::Running, State::Suspended, State::Terminated];

#[rustfmt::skip]
const PROCESS: &[(&str, &str, &str)] = &[
    ("terminated", "activate", "active"), ("active", "start", "running"), ("running", "preempt", "ready"),
    ("ready", "resume", "running"), ("running", "terminate", "terminated"), ("running", "poll", "polling"),
    ("polling", "run", "running"), ("polling", "park", "parking"), ("parking", "poll_parking", "polling"),
    ("parking", "release_parking", "ready"), ("running", "wait", "waiting"), ("waiting", "release", "ready"),
    ("terminated", "mtalimitexceeded", "terminated"),
];
const RUNNABLE: &[(&str, &str, &str)] = &[
    ("terminated", "start", "running"),
    ("running", "suspend", "suspended"),
    ("suspended", "resume", "running"),
    ("running", "terminate", "terminated"),
];
#[rustfmt::skip]
const SEMAPHORE: &[(&str, &str, &str)] = &[
    ("used", "free", "free"), ("free", "used", "used"), ("used", "used", "used"), ("free", "lock", "full"),
    ("used", "lock_used", "full"), ("full", "unlock", "free"), ("full", "unlock_full", "used"),
    ("full", "overfull", "overfull"), ("overfull", "overfull", "overfull"), ("overfull", "full", "full"),
];

/// Events that bring instance 0 of `E` into a state, each line without its time.
fn into_state(chart: &str, state: &str) -> Vec<&'static str> {
    let running = || vec!["S,0,T,E,0,activate", "C0,0,T,E,0,start"];
    let with = |mut lines: Vec<&'static str>, more: &[&'static str]| {
        lines.extend(more);
        lines
    };
    match (chart, state) {
        ("process", "active") => vec!["S,0,T,E,0,activate"],
        ("process", "running") => running(),
        ("process", "ready") => with(running(), &["C0,0,T,E,0,preempt"]),
        ("process", "waiting") => with(running(), &["C0,0,T,E,0,wait"]),
        ("process", "polling") => with(running(), &["C0,0,T,E,0,poll"]),
        ("process", "parking") => with(running(), &["C0,0,T,E,0,poll", "C0,0,T,E,0,park"]),
        ("process", "terminated") => with(running(), &["C0,0,T,E,0,terminate"]),
        ("runnable", "running") => vec!["P,0,R,E,0,start"],
        ("runnable", "suspended") => vec!["P,0,R,E,0,start", "P,0,R,E,0,suspend"],
        ("runnable", "terminated") => vec!["P,0,R,E,0,start", "P,0,R,E,0,terminate"],
        ("semaphore", "free") => vec!["E,0,SEM,E,0,unlock"],
        ("semaphore", "used") => vec!["E,0,SEM,E,0,used"],
        ("semaphore", "full") => vec!["E,0,SEM,E,0,lock"],
        ("semaphore", "overfull") => vec!["E,0,SEM,E,0,overfull"],
        other => panic!("{other:?} is no state"),
    }
}

fn event(chart: &str, action: &str) -> String {
    match (chart, action) {
        ("process", "activate" | "mtalimitexceeded") => format!("S,0,T,E,0,{action}"),
        ("process", _) => format!("C0,0,T,E,0,{action}"),
        ("runnable", _) => format!("P,0,R,E,0,{action}"),
        _ => format!("E,0,SEM,E,0,{action}"),
    }
}

fn every_pair(version: Version, chart: &str, states: &[State], edges: &[(&str, &str, &str)]) {
    let rule = format!("{chart}-transition");
    for state in states.iter().map(|state| state.as_str()) {
        for (_, action, to) in edges {
            let mut lines: Vec<String> = into_state(chart, state).iter().map(|s| (*s).to_owned()).collect();
            let count = |lines: &[String]| {
                let text: Vec<_> = lines.iter().enumerate().map(|(t, line)| format!("{t},{line}")).collect();
                let report = check_events(version, &text.join("\n"));
                report.findings.iter().find(|f| f.rule.id == rule).map_or(0, |f| f.count)
            };
            assert_eq!(count(&lines), 0, "the way to {state}");
            lines.push(event(chart, action));
            let legal = edges.contains(&(state, *action, *to));
            let faults = u64::from(!legal);
            assert_eq!(count(&lines), faults, "{version}: {action} while {state}");
            // Legal or not, the next state allows what it always allows.
            for (from, next, _) in edges {
                // A lost activation leaves the instance as it was.
                let to = if *action == "mtalimitexceeded" { state } else { to };
                let mut more = lines.clone();
                more.push(event(chart, next));
                let legal = edges.iter().any(|(f, n, _)| f == &to && n == next);
                let then = faults + u64::from(!legal);
                assert_eq!(count(&more), then, "{version}: {state}, {action}, {next} (from {from})");
            }
        }
    }
}

#[test]
fn every_process_pair() {
    for version in Version::ALL {
        every_pair(version, "process", PROCESS_STATES, PROCESS);
    }
}

#[test]
fn every_runnable_pair() {
    for version in Version::ALL {
        every_pair(version, "runnable", RUNNABLE_STATES, RUNNABLE);
    }
}

#[test]
fn every_semaphore_pair() {
    let states = [State::Free, State::Used, State::Full, State::Overfull];
    for version in [Version::V2_2_1, Version::V2_3_0] {
        every_pair(version, "semaphore", &states, SEMAPHORE);
    }
    // 2.1.5 has `free` after `ready`, and `ready` only at the beginning.
    let mut edges = SEMAPHORE.to_vec();
    edges.push(("free", "free", "free"));
    every_pair(Version::V2_1_5, "semaphore", &states, &edges);
    for state in states {
        let mut lines = vec!["0,E,0,SEM,E,0,ready".to_owned()];
        lines.extend(into_state("semaphore", state.as_str()).iter().map(|line| format!("1,{line}")));
        lines.push("2,E,0,SEM,E,0,ready".to_owned());
        let report = check_events(Version::V2_1_5, &lines.join("\n"));
        assert!(ids(&report, Severity::Error).contains(&"semaphore-transition"), "ready while {state:?}");
    }
}

#[test]
fn an_interrupt_can_be_held_back_only_while_active() {
    for state in PROCESS_STATES.iter().map(|state| state.as_str()) {
        let mut lines: Vec<_> = into_state("process", state)
            .iter()
            .map(|line| format!("0,{}", line.replace(",T,", ",I,")))
            .collect();
        lines.push("1,Os,0,I,E,0,interrupt_suspended".to_owned());
        let report = check_events(Version::V2_2_1, &lines.join("\n"));
        let expected = if state == "active" { vec![] } else { vec!["process-transition"] };
        assert_eq!(ids(&report, Severity::Warning), expected, "{state}");
    }
}

#[test]
fn a_trace_may_start_anywhere() {
    for (chart, edges) in [("process", PROCESS), ("runnable", RUNNABLE), ("semaphore", SEMAPHORE)] {
        for (_, action, _) in edges {
            let report = check_events(Version::V2_3_0, &format!("0,{}", event(chart, action)));
            assert_eq!(report.violations(Severity::Info), 0, "{chart} {action}");
        }
    }
}

#[test]
fn a_gap_of_another_core_may_hide_what_becomes_of_who_has_none() {
    // T waits, and who releases it may be on the core of the gap; U keeps its core.
    let waits = "0,A,0,T,T,0,activate\n1,C,0,T,T,0,start\n2,C,0,T,T,0,wait";
    let runs = "2,A,0,T,U,0,activate\n3,C,0,T,U,0,start";
    let gap = "# gap of D: fifo_overflow, from 4 to 6 ns";
    let check = |text: &str| {
        let options = CheckOptions { version: Some(Version::V2_2_1), header: true };
        let text = format!("#version 2.2.1\n{text}");
        ids(&check_with(options, &text), Severity::Error).contains(&"process-transition")
    };
    let resumes = "7,C,0,T,U,0,preempt\n8,C,0,T,T,0,resume";
    assert!(check(&format!("{waits}\n{runs}\n{resumes}")));
    assert!(!check(&format!("{waits}\n{runs}\n{gap}\n{resumes}")));
    assert!(check(&format!("{waits}\n{runs}\n{gap}\n7,C,0,T,U,0,start")));
}
