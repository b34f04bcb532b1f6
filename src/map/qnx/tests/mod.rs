//! The mapping of kernel events against results worked out by hand, and against general rules.

mod corpus;
mod gaps;
mod native;
mod random;
mod rules;

use super::*;
use crate::btf::{Names, Note};
use crate::derive::{Derive, Rows, Violations};
use crate::diagnostics::Log;
use crate::map::Output;
use crate::qnx::{Class, Status};

/// A kernel event that owns its words.
#[derive(Debug, Clone)]
struct Ev {
    time: i64,
    cpu: u8,
    class: Class,
    event: u16,
    words: Vec<u32>,
    text: Option<String>,
    is64: bool,
    flags: u8,
    status: Status,
}

fn ev(time: i64, cpu: u8, class: Class, event: u16, words: &[u32]) -> Ev {
    let (text, is64, flags, status) = (None, false, 0, Status::Ok);
    Ev { time, cpu, class, event, words: words.to_vec(), text, is64, flags, status }
}

const RUNNING: u16 = 1;
const READY: u16 = 2;
const SEND: u16 = 4;
const RECEIVE: u16 = 5;
const REPLY: u16 = 6;
const MUTEX: u16 = 13;
const CREATE: u16 = 24;
const DESTROY: u16 = 25;
const DEAD: u16 = 0;

/// A thread event on CPU 0.
fn th(time: i64, state: u16, pid: u32, tid: u32) -> Ev {
    ev(time, 0, Class::Thread, state, &[pid, tid])
}

/// The end of the list of what exists.
fn begun(time: i64) -> Ev {
    ev(time, 0, Class::KerExit, 1, &[0, 0])
}

fn process(time: i64, pid: u32, name: &str) -> Ev {
    Ev { text: Some(name.to_owned()), ..ev(time, 0, Class::Process, 3, &[0, pid]) }
}

/// The output of a mapping.
struct Run {
    lines: Vec<String>,
    outputs: Vec<Output>,
    names: Names,
    rows: KernelRows,
    derived: Rows,
    log: Log,
    violations: Violations,
}

/// A step of a recording: an event, or a gap.
#[derive(Debug, Clone)]
enum Step {
    Event(Ev),
    Gap(i64, i64),
}

fn run(setup: &Settings, events: &[Ev]) -> Run {
    let steps: Vec<Step> = events.iter().cloned().map(Step::Event).collect();
    let begin = events.first().map_or(0, |e| e.time);
    run_steps(setup, &steps, begin, events.last().map_or(0, |e| e.time))
}

fn run_steps(setup: &Settings, steps: &[Step], begin: i64, end: i64) -> Run {
    fn occurrence(n: usize, e: &Ev) -> Occurrence<'_> {
        let event = Event {
            record: n as u64,
            cpu: e.cpu,
            flags: e.flags,
            class: e.class,
            event: e.event,
            is64: e.is64,
            status: e.status,
            cycles: e.time as u64,
            words: &e.words,
        };
        Occurrence { time: e.time, event, text: e.text.as_deref() }
    }
    let mut mapper = QnxMapper::at_begin(setup.clone(), (begin, end));
    for (n, step) in steps.iter().enumerate() {
        if let Step::Event(e) = step {
            assert!(mapper.look_ahead(0, &occurrence(n, e)).is_continue());
        }
    }
    let mut outputs = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        match step {
            Step::Event(e) => mapper.event(&occurrence(n, e)),
            Step::Gap(begin, end) => mapper.gap(&Gap { core: None, begin: *begin, end: *end }),
        }
        outputs.extend(mapper.take(3).unwrap_or_default());
    }
    let finished = mapper.finish();
    outputs.extend(finished.outputs);
    let (names, rows) = (mapper.entities.names, finished.rows);
    let mut derive = Derive::default();
    for output in &outputs {
        match output {
            Output::Event(e) => derive.event(e, &names),
            Output::Assumed(e) => derive.assumed(e, &names),
            Output::Known(known) => derive.known(known, &names),
            Output::Lost { process, time } => derive.lose(*process, *time, &names),
            Output::Closing(e) => derive.closing(e, &names),
            Output::Handler { .. } => {}
            Output::Gap { core, begin, end } => derive.gap(Some(*core), (*begin, *end), &names),
        }
    }
    let violations = derive.finish(end, &names);
    let lines = outputs.iter().map(|o| line(o, &names)).collect();
    Run { lines, outputs, names, rows, derived: derive.rows, log: finished.log, violations }
}

fn line(output: &Output, names: &Names) -> String {
    let e = match output {
        Output::Handler { isr, process } => return format!("{isr:?} is {process:?}"),
        Output::Gap { core, begin, end } => return format!("gap {} {begin} {end}", names.text(*core)),
        Output::Event(e) | Output::Closing(e) | Output::Assumed(e) => e,
        Output::Known(_) | Output::Lost { .. } => return format!("{output:?}"),
    };
    let note = match e.note {
        Note::None => String::new(),
        Note::Name(n) => format!(", {}", names.text(n)),
        Note::Value(v) => format!(", {v}"),
        Note::Hex(v) => format!(", {v:x}"),
    };
    let (source, target) = (names.text(e.source), names.text(e.target));
    let (s, t) = (e.source_instance, e.target_instance);
    format!("{}, {source}, {s}, {}, {target}, {t}, {}{note}", e.time, e.target_type, e.action)
}

/// Compares the events of a mapping, line by line.
fn assert_lines(run: &Run, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    let in_btf = |line: &&str| !line.starts_with("Known") && !line.starts_with("Lost");
    let lines: Vec<&str> = run.lines.iter().map(String::as_str).filter(in_btf).collect();
    assert_eq!(lines.join("\n"), expected.join("\n"));
    assert_eq!(run.violations, Violations::default());
}
